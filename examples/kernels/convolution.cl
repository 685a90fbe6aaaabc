// Convolution of an image with a small filter. The input has a border of filter_width - 1 columns and
// filter_height - 1 rows more than the output, so every output element has its whole neighbourhood.
//
// block_size_x, block_size_y  items of a group
// tile_size_x, tile_size_y    output elements of an item, a group's width (height) apart
// read_only                   1: nothing else writes what the input points to
// use_shmem                   1: a group first copies its part of the input to local memory; 0: it
//                             reads global memory
// use_padding                 1: rows in local memory are so much longer that rows of items do not
//                             meet in its 32 banks
// guarded                     1: groups reach over the image's edge, and nothing is done there; 0: the
//                             image is one of whole groups
// filter_width, filter_height the filter (inputs of the problem)

#define TILE_WIDTH (block_size_x * tile_size_x)
#define TILE_HEIGHT (block_size_y * tile_size_y)
#define AREA_WIDTH (TILE_WIDTH + filter_width - 1)
#define AREA_HEIGHT (TILE_HEIGHT + filter_height - 1)

#if use_padding == 1
#define PADDING ((32 - (AREA_WIDTH - block_size_x) % 32) % 32)
#else
#define PADDING 0
#endif

#if read_only == 1
#define READ_ONLY restrict
#else
#define READ_ONLY
#endif

#if guarded == 1
#define INSIDE(row, column, height, width) if ((row) < (height) && (column) < (width))
#else
#define INSIDE(row, column, height, width) // everything is
#endif

kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1))) void
convolution(global float *output, global const float *READ_ONLY input, constant float *filter,
            int width, int height)
{
    const int x = get_local_id(0);
    const int y = get_local_id(1);
    const int left = get_group_id(0) * TILE_WIDTH;
    const int top = get_group_id(1) * TILE_HEIGHT;
    const int pitch = width + filter_width - 1;
    float sum[tile_size_y][tile_size_x];

#if guarded == 0
    (void)height;
#endif
#if use_shmem == 1
    local float area[AREA_HEIGHT][AREA_WIDTH + PADDING];
    for (int row = y; row < AREA_HEIGHT; row += block_size_y) {
        for (int column = x; column < AREA_WIDTH; column += block_size_x) {
            INSIDE(top + row, left + column, height + filter_height - 1, pitch)
                area[row][column] = input[(top + row) * pitch + left + column];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
            sum[ty][tx] = 0.0f;
        }
    }
    for (int j = 0; j < filter_height; j++) {
        for (int i = 0; i < filter_width; i++) {
            const float weight = filter[j * filter_width + i];
            for (int ty = 0; ty < tile_size_y; ty++) {
                for (int tx = 0; tx < tile_size_x; tx++) {
                    const int row = y + ty * block_size_y;
                    const int column = x + tx * block_size_x;
#if use_shmem == 1
                    sum[ty][tx] += area[row + j][column + i] * weight;
#else
                    INSIDE(top + row, left + column, height, width)
                        sum[ty][tx] += input[(top + row + j) * pitch + left + column + i] * weight;
#endif
                }
            }
        }
    }
    for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
            const int row = top + y + ty * block_size_y;
            const int column = left + x + tx * block_size_x;
            INSIDE(row, column, height, width)
                output[row * width + column] = sum[ty][tx];
        }
    }
}
