// Convolution of an image with a small filter. The image is padded to whole groups, and the input has
// a border of filter_width - 1 columns and filter_height - 1 rows more, so every output element has its
// whole neighbourhood and nothing is guarded. Here width is that of the padded image.
//
// block_size_x, block_size_y  items of a group
// tile_size_x, tile_size_y    output elements of an item, a group's width (height) apart
// read_only                   1: nothing else writes what the input points to
// use_shmem                   1: a group first copies its part of the input to local memory; 0: it
//                             reads global memory
// use_padding                 1: a row in local memory is an element longer, against bank conflicts
// filter_width, filter_height the filter (inputs of the problem)

#define TILE_WIDTH (block_size_x * tile_size_x)
#define TILE_HEIGHT (block_size_y * tile_size_y)
#define AREA_WIDTH (TILE_WIDTH + filter_width - 1)
#define AREA_HEIGHT (TILE_HEIGHT + filter_height - 1)

#if read_only == 1
#define READ_ONLY restrict
#else
#define READ_ONLY
#endif

kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1))) void
convolution(global float *output, global const float *READ_ONLY input, constant float *filter, int width)
{
    const int x = get_local_id(0);
    const int y = get_local_id(1);
    const int left = get_group_id(0) * TILE_WIDTH;
    const int top = get_group_id(1) * TILE_HEIGHT;
    const int pitch = width + filter_width - 1;
    float sum[tile_size_y][tile_size_x];

#if use_shmem == 1
    local float area[AREA_HEIGHT][AREA_WIDTH + use_padding];
    for (int row = y; row < AREA_HEIGHT; row += block_size_y) {
        for (int column = x; column < AREA_WIDTH; column += block_size_x) {
            area[row][column] = input[(top + row) * pitch + left + column];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define INPUT(row, column) area[row][column]
#else
#define INPUT(row, column) input[(top + (row)) * pitch + left + (column)]
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
                    sum[ty][tx] +=
                        INPUT(y + ty * block_size_y + j, x + tx * block_size_x + i) * weight;
                }
            }
        }
    }
    for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
            output[(top + y + ty * block_size_y) * width + left + x + tx * block_size_x] =
                sum[ty][tx];
        }
    }
}
