// One step of a seven-point stencil on a three-dimensional grid. The input has a border of one
// element on every side, the output has none: nothing is guarded.
//
// BLOCK_X, BLOCK_Y  items of a group; each walks along z
// TILE_Z            elements of an item in z
// USE_LOCAL         1: a group copies its plane and the plane's border to local memory; 0: the four
//                   neighbours in the plane are read from global memory
// REUSE             1: what was above is kept in registers as the next centre and what is below it;
//                   0: both are read again

kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1))) void
stencil(global const float *input, global float *output, float centre_weight,
        float neighbour_weight)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int z = get_global_id(2) * TILE_Z;
    const int width = get_global_size(0);
    const int height = get_global_size(1);
    const int row = width + 2;
    const int plane = row * (height + 2);
    int at = (z + 1) * plane + (y + 1) * row + x + 1;
    int to = (z * height + y) * width + x;
#if USE_LOCAL == 1
    local float tile[BLOCK_Y + 2][BLOCK_X + 2];
    const int lx = get_local_id(0) + 1;
    const int ly = get_local_id(1) + 1;
#endif
#if REUSE == 1
    float below = input[at - plane];
    float centre = input[at];
#endif

    for (int i = 0; i < TILE_Z; i++) {
#if REUSE == 0
        const float below = input[at - plane];
        const float centre = input[at];
#endif
        const float above = input[at + plane];
#if USE_LOCAL == 1
        tile[ly][lx] = centre;
        if (lx == 1) {
            tile[ly][0] = input[at - 1];
        }
        if (lx == BLOCK_X) {
            tile[ly][BLOCK_X + 1] = input[at + 1];
        }
        if (ly == 1) {
            tile[0][lx] = input[at - row];
        }
        if (ly == BLOCK_Y) {
            tile[BLOCK_Y + 1][lx] = input[at + row];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const float around =
            tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        const float around = input[at - 1] + input[at + 1] + input[at - row] + input[at + row];
#endif
        output[to] = centre_weight * centre + neighbour_weight * (around + below + above);
#if REUSE == 1
        below = centre;
        centre = above;
#endif
        at += plane;
        to += width * height;
    }
}
