// The transpose of a height x width matrix, stored by rows, through tiles in local memory: rows are
// read and rows are written, so neighbouring items access neighbouring addresses both times.
//
// TILE  rows and columns of a tile; a group has TILE items in x
// ROWS  items of a group in y; each moves TILE / ROWS elements
// PAD   1: a column nobody uses keeps the columns of a tile apart in the memory's banks; 0: none

kernel void transpose(global const float *input, global float *output, int width, int height)
{
    local float tile[TILE][TILE + PAD];
    const int x = get_local_id(0);
    const int y = get_local_id(1);
    const int left = get_group_id(0) * TILE;
    const int top = get_group_id(1) * TILE;

    for (int row = y; row < TILE; row += ROWS) {
        tile[row][x] = input[(top + row) * width + left + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int row = y; row < TILE; row += ROWS) {
        output[(left + row) * height + top + x] = tile[x][row];
    }
}
