// The electrostatic potential of a molecule on a regular grid, by direct summation. An atom is a
// float4: its place and its charge.
//
// WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y  items of a group
// VECTOR_SIZE                           neighbouring grid points in x of an item, as a vector
// Z_ITERATIONS                          grid points in z of an item, each for every vector
// INNER_UNROLL_FACTOR                   the loop over atoms is unrolled by this; 0: by the compiler
// USE_CONSTANT_MEMORY                   atoms are in 1: constant, 0: global memory

#if USE_CONSTANT_MEMORY == 1
#define ATOMS constant float4 *
#else
#define ATOMS global const float4 *
#endif

#if VECTOR_SIZE == 1
typedef float vector;
#define STEPS 0.0f
#define STORE(v, at, p) ((p)[at] = (v))
#elif VECTOR_SIZE == 2
typedef float2 vector;
#define STEPS (float2)(0.0f, 1.0f)
#define STORE(v, at, p) vstore2(v, at, p)
#else
typedef float4 vector;
#define STEPS (float4)(0.0f, 1.0f, 2.0f, 3.0f)
#define STORE(v, at, p) vstore4(v, at, p)
#endif

kernel __attribute__((reqd_work_group_size(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y, 1))) void
coulomb(ATOMS atoms, global float *energy, int count, float spacing)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int z = get_global_id(2) * Z_ITERATIONS;
    const int width = get_global_size(0);
    const int height = get_global_size(1);
    const vector at_x = spacing * ((float)(x * VECTOR_SIZE) + STEPS);
    const float at_y = spacing * (float)y;
    vector sum[Z_ITERATIONS];

    for (int i = 0; i < Z_ITERATIONS; i++) {
        sum[i] = 0.0f;
    }
#if INNER_UNROLL_FACTOR > 0
#pragma unroll INNER_UNROLL_FACTOR
#endif
    for (int n = 0; n < count; n++) {
        const float4 atom = atoms[n];
        const vector dx = at_x - atom.x;
        const float dy = at_y - atom.y;
        const vector square = dx * dx + dy * dy;
        for (int i = 0; i < Z_ITERATIONS; i++) {
            const float dz = spacing * (float)(z + i) - atom.z;
            sum[i] += atom.w * rsqrt(square + dz * dz);
        }
    }
    for (int i = 0; i < Z_ITERATIONS; i++) {
        STORE(sum[i], ((z + i) * height + y) * width + x, energy);
    }
}
