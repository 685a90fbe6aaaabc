// Built-in functions of OpenCL C, written in OpenCL C and put before the kernel. What a kernel
// reads through vloadN or changes through an atomic function becomes an ordinary access in its own
// address space, and is counted like every other. Work-item functions and barriers: runtime.c.
//
// Not here: functions that return a second result through a pointer, images, events, printf,
// saturated and explicitly rounded conversions. A kernel that calls one does not compile or link.

#define BUILTIN static inline __attribute__((overloadable, unused))

// name(vector) element by element, for functions of one, two and three arguments of one type.
#define VECTORS_1(R, T, name)                                                                      \
    BUILTIN R##2 name(T##2 a) { return (R##2)(name(a.x), name(a.y)); }                             \
    BUILTIN R##3 name(T##3 a) { return (R##3)(name(a.x), name(a.y), name(a.z)); }                  \
    BUILTIN R##4 name(T##4 a) { return (R##4)(name(a.lo), name(a.hi)); }                           \
    BUILTIN R##8 name(T##8 a) { return (R##8)(name(a.lo), name(a.hi)); }                           \
    BUILTIN R##16 name(T##16 a) { return (R##16)(name(a.lo), name(a.hi)); }
#define VECTORS_2(T, name)                                                                         \
    BUILTIN T##2 name(T##2 a, T##2 b) { return (T##2)(name(a.x, b.x), name(a.y, b.y)); }           \
    BUILTIN T##3 name(T##3 a, T##3 b) { return (T##3)(name(a.xy, b.xy), name(a.z, b.z)); }         \
    BUILTIN T##4 name(T##4 a, T##4 b) { return (T##4)(name(a.lo, b.lo), name(a.hi, b.hi)); }       \
    BUILTIN T##8 name(T##8 a, T##8 b) { return (T##8)(name(a.lo, b.lo), name(a.hi, b.hi)); }       \
    BUILTIN T##16 name(T##16 a, T##16 b) { return (T##16)(name(a.lo, b.lo), name(a.hi, b.hi)); }
#define VECTORS_3(T, name)                                                                         \
    BUILTIN T##2 name(T##2 a, T##2 b, T##2 c)                                                      \
    {                                                                                              \
        return (T##2)(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                   \
    }                                                                                              \
    BUILTIN T##3 name(T##3 a, T##3 b, T##3 c)                                                      \
    {                                                                                              \
        return (T##3)(name(a.xy, b.xy, c.xy), name(a.z, b.z, c.z));                                \
    }                                                                                              \
    BUILTIN T##4 name(T##4 a, T##4 b, T##4 c)                                                      \
    {                                                                                              \
        return (T##4)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi));                             \
    }                                                                                              \
    BUILTIN T##8 name(T##8 a, T##8 b, T##8 c)                                                      \
    {                                                                                              \
        return (T##8)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi));                             \
    }                                                                                              \
    BUILTIN T##16 name(T##16 a, T##16 b, T##16 c)                                                  \
    {                                                                                              \
        return (T##16)(name(a.lo, b.lo, c.lo), name(a.hi, b.hi, c.hi));                            \
    }

// ---- mathematics -------------------------------------------------------------------------------

#define REAL_1(name, f, d)                                                                         \
    BUILTIN float name(float a) { return f; }                                                      \
    BUILTIN double name(double a) { return d; }                                                    \
    VECTORS_1(float, float, name)                                                                  \
    VECTORS_1(double, double, name)
#define REAL_2(name, f, d)                                                                         \
    BUILTIN float name(float a, float b) { return f; }                                             \
    BUILTIN double name(double a, double b) { return d; }                                          \
    VECTORS_2(float, name)                                                                         \
    VECTORS_2(double, name)
#define REAL_3(name, f, d)                                                                         \
    BUILTIN float name(float a, float b, float c) { return f; }                                    \
    BUILTIN double name(double a, double b, double c) { return d; }                                \
    VECTORS_3(float, name)                                                                         \
    VECTORS_3(double, name)
#define LIBM_1(name) REAL_1(name, __builtin_##name##f(a), __builtin_##name(a))
#define LIBM_2(name) REAL_2(name, __builtin_##name##f(a, b), __builtin_##name(a, b))
#define NATIVE_1(name, f)                                                                          \
    BUILTIN float native_##name(float a) { return f; }                                             \
    BUILTIN float half_##name(float a) { return f; }                                               \
    VECTORS_1(float, float, native_##name)                                                         \
    VECTORS_1(float, float, half_##name)
#define NATIVE_2(name, f)                                                                          \
    BUILTIN float native_##name(float a, float b) { return f; }                                    \
    BUILTIN float half_##name(float a, float b) { return f; }                                      \
    VECTORS_2(float, native_##name)                                                                \
    VECTORS_2(float, half_##name)

LIBM_1(sqrt)
LIBM_1(cbrt)
LIBM_1(exp)
LIBM_1(exp2)
LIBM_1(expm1)
LIBM_1(log)
LIBM_1(log2)
LIBM_1(log10)
LIBM_1(log1p)
LIBM_1(sin)
LIBM_1(cos)
LIBM_1(tan)
LIBM_1(asin)
LIBM_1(acos)
LIBM_1(atan)
LIBM_1(sinh)
LIBM_1(cosh)
LIBM_1(tanh)
LIBM_1(erf)
LIBM_1(erfc)
LIBM_1(fabs)
LIBM_1(floor)
LIBM_1(ceil)
LIBM_1(trunc)
LIBM_1(rint)
LIBM_1(round)
REAL_1(rsqrt, 1.0f / __builtin_sqrtf(a), 1.0 / __builtin_sqrt(a))
LIBM_2(pow)
LIBM_2(fmin)
LIBM_2(fmax)
LIBM_2(fmod)
LIBM_2(hypot)
LIBM_2(atan2)
REAL_2(powr, __builtin_powf(a, b), __builtin_pow(a, b))
REAL_3(fma, __builtin_fmaf(a, b, c), __builtin_fma(a, b, c))
REAL_3(mad, a * b + c, a * b + c)
REAL_3(mix, a + (b - a) * c, a + (b - a) * c)
NATIVE_1(sqrt, sqrt(a))
NATIVE_1(rsqrt, rsqrt(a))
NATIVE_1(exp, exp(a))
NATIVE_1(exp2, exp2(a))
NATIVE_1(log, log(a))
NATIVE_1(log2, log2(a))
NATIVE_1(log10, log10(a))
NATIVE_1(sin, sin(a))
NATIVE_1(cos, cos(a))
NATIVE_1(tan, tan(a))
NATIVE_1(recip, 1.0f / a)
NATIVE_2(divide, a / b)
NATIVE_2(powr, powr(a, b))

#define GEOMETRY(T)                                                                                \
    BUILTIN T dot(T a, T b) { return a * b; }                                                      \
    BUILTIN T dot(T##2 a, T##2 b) { return a.x * b.x + a.y * b.y; }                                \
    BUILTIN T dot(T##3 a, T##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                    \
    BUILTIN T dot(T##4 a, T##4 b) { return dot(a.lo, b.lo) + dot(a.hi, b.hi); }                    \
    BUILTIN T length(T a) { return fabs(a); }                                                      \
    BUILTIN T length(T##2 a) { return sqrt(dot(a, a)); }                                           \
    BUILTIN T length(T##3 a) { return sqrt(dot(a, a)); }                                           \
    BUILTIN T length(T##4 a) { return sqrt(dot(a, a)); }
GEOMETRY(float)
GEOMETRY(double)

// ---- comparisons and whole numbers -------------------------------------------------------------

#define ORDER(T)                                                                                   \
    BUILTIN T min(T a, T b) { return b < a ? b : a; }                                              \
    BUILTIN T max(T a, T b) { return a < b ? b : a; }                                              \
    BUILTIN T clamp(T a, T low, T high) { return min(max(a, low), high); }                         \
    VECTORS_2(T, min)                                                                              \
    VECTORS_2(T, max)                                                                              \
    VECTORS_3(T, clamp)                                                                            \
    ORDER_SCALAR(T, 2)                                                                             \
    ORDER_SCALAR(T, 3)                                                                             \
    ORDER_SCALAR(T, 4)                                                                             \
    ORDER_SCALAR(T, 8)                                                                             \
    ORDER_SCALAR(T, 16)
#define ORDER_SCALAR(T, N)                                                                         \
    BUILTIN T##N min(T##N a, T b) { return min(a, (T##N)(b)); }                                    \
    BUILTIN T##N max(T##N a, T b) { return max(a, (T##N)(b)); }                                    \
    BUILTIN T##N clamp(T##N a, T low, T high) { return clamp(a, (T##N)(low), (T##N)(high)); }
ORDER(char)
ORDER(uchar)
ORDER(short)
ORDER(ushort)
ORDER(int)
ORDER(uint)
ORDER(long)
ORDER(ulong)
ORDER(float)
ORDER(double)

#define WHOLE(T, U, bits)                                                                          \
    BUILTIN U abs(T a) { return a < 0 ? (U)(-(U)a) : (U)a; }                                       \
    BUILTIN U abs(U a) { return a; }                                                               \
    BUILTIN U abs_diff(T a, T b) { return a < b ? (U)((U)b - (U)a) : (U)((U)a - (U)b); }           \
    BUILTIN U abs_diff(U a, U b) { return a < b ? (U)(b - a) : (U)(a - b); }                       \
    BUILTIN U rotate(U a, U b)                                                                     \
    {                                                                                              \
        return (U)(a << (b & (bits - 1))) | (U)(a >> ((bits - b) & (bits - 1)));                   \
    }                                                                                              \
    BUILTIN T rotate(T a, T b) { return (T)rotate((U)a, (U)b); }                                   \
    BUILTIN U popcount(U a) { return (U)__builtin_popcountll(a); }                                 \
    BUILTIN T popcount(T a) { return (T)popcount((U)a); }                                          \
    BUILTIN U clz(U a) { return a == 0 ? bits : (U)(__builtin_clzll(a) - (64 - bits)); }           \
    BUILTIN T clz(T a) { return (T)clz((U)a); }                                                    \
    VECTORS_1(U, T, abs)                                                                           \
    VECTORS_1(U, U, abs)
WHOLE(char, uchar, 8)
WHOLE(short, ushort, 16)
WHOLE(int, uint, 32)
WHOLE(long, ulong, 64)

#define PRODUCTS(T, W)                                                                             \
    BUILTIN T mul24(T a, T b) { return a * b; }                                                    \
    BUILTIN T mad24(T a, T b, T c) { return a * b + c; }                                           \
    BUILTIN T mul_hi(T a, T b) { return (T)(((W)a * (W)b) >> 32); }                                \
    VECTORS_2(T, mul24)                                                                            \
    VECTORS_3(T, mad24)                                                                            \
    VECTORS_2(T, mul_hi)
PRODUCTS(int, long)
PRODUCTS(uint, ulong)

#define SELECT(T, C)                                                                               \
    BUILTIN T select(T a, T b, C c) { return c ? b : a; }                                          \
    BUILTIN T##2 select(T##2 a, T##2 b, C##2 c) { return c ? b : a; }                              \
    BUILTIN T##4 select(T##4 a, T##4 b, C##4 c) { return c ? b : a; }                              \
    BUILTIN T##8 select(T##8 a, T##8 b, C##8 c) { return c ? b : a; }                              \
    BUILTIN T##16 select(T##16 a, T##16 b, C##16 c) { return c ? b : a; }
SELECT(int, int)
SELECT(uint, int)
SELECT(float, int)
SELECT(long, long)
SELECT(ulong, long)
SELECT(double, long)

// ---- vectors in memory -------------------------------------------------------------------------

// One access each. A vector of three is a structure: it has no fourth element to touch.
#if defined(__opencl_c_generic_address_space)
#define IN_GENERIC(M, T, N) M(T, N, generic)
#else
#define IN_GENERIC(M, T, N)
#endif
#define IN_SPACES(M, T, N) M(T, N, global) M(T, N, local) M(T, N, private) IN_GENERIC(M, T, N)

#define LOAD(T, N, space)                                                                          \
    BUILTIN T##N vload##N(size_t i, const space T *p)                                              \
    {                                                                                              \
        return *(const space T##N##_of_elements *)(p + N * i);                                     \
    }
#define STORE(T, N, space)                                                                         \
    BUILTIN void vstore##N(T##N v, size_t i, space T *p)                                           \
    {                                                                                              \
        *(space T##N##_of_elements *)(p + N * i) = v;                                              \
    }
#define LOAD_3(T, N, space)                                                                        \
    BUILTIN T##3 vload3(size_t i, const space T *p)                                                \
    {                                                                                              \
        const T##3_of_elements v = *(const space T##3_of_elements *)(p + 3 * i);                   \
        return (T##3)(v.x, v.y, v.z);                                                              \
    }
#define STORE_3(T, N, space)                                                                       \
    BUILTIN void vstore3(T##3 v, size_t i, space T *p)                                             \
    {                                                                                              \
        const T##3_of_elements w = {v.x, v.y, v.z};                                                \
        *(space T##3_of_elements *)(p + 3 * i) = w;                                                \
    }
#define MEMORY_N(T, N)                                                                             \
    typedef T##N __attribute__((aligned(sizeof(T)))) T##N##_of_elements;                           \
    IN_SPACES(LOAD, T, N)                                                                          \
    LOAD(T, N, constant)                                                                           \
    IN_SPACES(STORE, T, N)
#define MEMORY(T)                                                                                  \
    typedef struct { T x, y, z; } T##3_of_elements;                                                \
    IN_SPACES(LOAD_3, T, 3)                                                                        \
    LOAD_3(T, 3, constant)                                                                         \
    IN_SPACES(STORE_3, T, 3)                                                                       \
    MEMORY_N(T, 2)                                                                                 \
    MEMORY_N(T, 4)                                                                                 \
    MEMORY_N(T, 8)                                                                                 \
    MEMORY_N(T, 16)
MEMORY(char)
MEMORY(uchar)
MEMORY(short)
MEMORY(ushort)
MEMORY(int)
MEMORY(uint)
MEMORY(long)
MEMORY(ulong)
MEMORY(float)
MEMORY(double)

// ---- atomic functions of OpenCL C 1.2 ----------------------------------------------------------

// The later ones, such as atomic_fetch_add_explicit, are the compiler's own.
#define ATOMIC(name, T, space, operation)                                                          \
    BUILTIN T atomic_##name(volatile space T *p, T v)                                              \
    {                                                                                              \
        return operation(p, v, __ATOMIC_RELAXED);                                                  \
    }                                                                                              \
    BUILTIN T atom_##name(volatile space T *p, T v) { return atomic_##name(p, v); }
#define ATOMICS(T, space)                                                                          \
    ATOMIC(add, T, space, __atomic_fetch_add)                                                      \
    ATOMIC(sub, T, space, __atomic_fetch_sub)                                                      \
    ATOMIC(min, T, space, __atomic_fetch_min)                                                      \
    ATOMIC(max, T, space, __atomic_fetch_max)                                                      \
    ATOMIC(and, T, space, __atomic_fetch_and)                                                      \
    ATOMIC(or, T, space, __atomic_fetch_or)                                                        \
    ATOMIC(xor, T, space, __atomic_fetch_xor)                                                      \
    ATOMIC(xchg, T, space, __atomic_exchange_n)                                                    \
    BUILTIN T atomic_inc(volatile space T *p) { return atomic_add(p, (T)1); }                      \
    BUILTIN T atomic_dec(volatile space T *p) { return atomic_sub(p, (T)1); }                      \
    BUILTIN T atomic_cmpxchg(volatile space T *p, T expected, T v)                                 \
    {                                                                                              \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);   \
        return expected;                                                                           \
    }
ATOMICS(int, global)
ATOMICS(int, local)
ATOMICS(uint, global)
ATOMICS(uint, local)

// The kernel sees none of these macros.
#undef BUILTIN
#undef VECTORS_1
#undef VECTORS_2
#undef VECTORS_3
#undef REAL_1
#undef REAL_2
#undef REAL_3
#undef LIBM_1
#undef LIBM_2
#undef NATIVE_1
#undef NATIVE_2
#undef GEOMETRY
#undef ORDER
#undef ORDER_SCALAR
#undef WHOLE
#undef PRODUCTS
#undef SELECT
#undef IN_GENERIC
#undef IN_SPACES
#undef LOAD
#undef STORE
#undef LOAD_3
#undef STORE_3
#undef MEMORY_N
#undef MEMORY
#undef ATOMIC
#undef ATOMICS
