// The electrostatic potential of a molecule on a regular grid, by direct summation, added to what is
// there. An item computes a column of grid points, one loop for each atom.
//
// WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y  items of a group
// Z_ITERATIONS                          grid points in z of an item
// INNER_UNROLL_FACTOR                   the loop over them is unrolled by this; 0: by the compiler
// USE_SOA                               atoms are 1: four arrays, one after the other; 0: one of float4

#if USE_SOA == 1
#define ATOMS float
#define ATOM(n) (float4)(atoms[n], atoms[count + (n)], atoms[2 * count + (n)], atoms[3 * count + (n)])
#else
#define ATOMS float4
#define ATOM(n) atoms[n]
#endif

kernel __attribute__((reqd_work_group_size(WORK_GROUP_SIZE_X, WORK_GROUP_SIZE_Y, 1))) void
coulomb(global const ATOMS *atoms, global float *energy, int count, float spacing)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int z = get_global_id(2) * Z_ITERATIONS;
    const int width = get_global_size(0);
    const int slice = width * get_global_size(1);
    const int first = z * slice + y * width + x;
    const float at_x = spacing * (float)x;
    const float at_y = spacing * (float)y;
    const float at_z = spacing * (float)z;
    float sum[Z_ITERATIONS];

    for (int i = 0; i < Z_ITERATIONS; i++) {
        sum[i] = 0.0f;
    }
    for (int n = 0; n < count; n++) {
        const float4 atom = ATOM(n);
        const float dx = at_x - atom.x;
        const float dy = at_y - atom.y;
        const float square = dx * dx + dy * dy;
        float dz = at_z - atom.z;
#if INNER_UNROLL_FACTOR > 0
#pragma unroll INNER_UNROLL_FACTOR
#endif
        for (int i = 0; i < Z_ITERATIONS; i++) {
            sum[i] += atom.w * rsqrt(square + dz * dz);
            dz += spacing;
        }
    }
    for (int i = 0; i < Z_ITERATIONS; i++) {
        energy[first + i * slice] += sum[i];
    }
}
