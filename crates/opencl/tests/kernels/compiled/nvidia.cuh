// OpenCL C of examples/kernels as CUDA C++, for machine.rs: only what those kernels use.
#define kernel extern "C" __global__
#define constant const
#define local __shared__
#define restrict __restrict__
#define UNWRAPPED(attribute) attribute
#define ATTRIBUTE(attribute) UNWRAPPED attribute
#define reqd_work_group_size(x, y, z) __launch_bounds__((x) * (y) * (z))
#define INT_MAX 2147483647
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) __syncthreads()
#define OF(d, place) ((d) == 0 ? place.x : (d) == 1 ? place.y : place.z)
// Sizes of groups are numbers, as `reqd_work_group_size` makes them.
inline int within(int id, int size)
{
    __builtin_assume(0 <= id && id < size);
    return id;
}
#define LOCAL_SIZE(d) ((d) == 0 ? LOCAL_X : (d) == 1 ? LOCAL_Y : LOCAL_Z)
#define get_local_id(d) within(OF(d, threadIdx), LOCAL_SIZE(d))
#define get_group_id(d) int(OF(d, blockIdx))
#define get_global_id(d) int(OF(d, blockIdx) * LOCAL_SIZE(d) + get_local_id(d))
#define get_global_size(d) int(OF(d, gridDim) * LOCAL_SIZE(d))
typedef unsigned char uchar;

// The native one takes the same time on an H200, so it scales denormal numbers, too.
inline float native_rsqrt(float x) { return rsqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }

template <int N> struct Names {};
template <> struct Names<2> {
    union { float s[2]; struct { float x, y; }; struct { float s0, s1; }; };
};
template <> struct Names<4> {
    union { float s[4]; struct { float x, y, z, w; }; struct { float s0, s1, s2, s3; }; };
};
template <> struct Names<8> {
    union { float s[8]; struct { float s0, s1, s2, s3, s4, s5, s6, s7; }; };
};
#define EACH for (int i = 0; i < N; i++)
template <int N> struct alignas(4 * N) Vector : Names<N> {
    Vector() {}
    Vector(float all) { EACH this->s[i] = all; }
    Vector(float x, float y) { this->x = x, this->y = y; }
    Vector(float x, float y, float z, float w) : Vector(x, y) { this->z = z, this->w = w; }
    friend Vector operator+(Vector a, Vector b) { EACH a.s[i] += b.s[i]; return a; }
    friend Vector operator-(Vector a, Vector b) { EACH a.s[i] -= b.s[i]; return a; }
    friend Vector operator*(Vector a, Vector b) { EACH a.s[i] *= b.s[i]; return a; }
    friend Vector rsqrt(Vector a) { EACH a.s[i] = rsqrtf(a.s[i]); return a; }
    Vector &operator+=(Vector b) { return *this = *this + b; }
};
typedef Vector<2> vec2;
typedef Vector<4> vec4;
typedef Vector<8> vec8;
#define float2 vec2
#define float4 vec4
#define float8 vec8
// Addresses that are aligned to one number only: each is a request.
inline vec2 vload2(int i, const float *p) { return vec2(p[2 * i], p[2 * i + 1]); }
inline vec4 vload4(int i, const float *p)
{
    return vec4(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);
}
inline void vstore2(vec2 v, int i, float *p) { p[2 * i] = v.x, p[2 * i + 1] = v.y; }
inline void vstore4(vec4 v, int i, float *p)
{
    p[4 * i] = v.x, p[4 * i + 1] = v.y, p[4 * i + 2] = v.z, p[4 * i + 3] = v.w;
}
