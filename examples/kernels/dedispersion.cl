// Dedispersion of a radio telescope's signal: for every trial dispersion measure, the sum over all
// channels, each read later by its delay at that measure. The input has a row of 8-bit samples for
// each channel, long enough for the greatest delay; the output has a row for each measure. Both are padded
// to whole groups, so nothing is guarded; samples are those of a padded row.
//
// block_size_x, block_size_y    items of a group, along samples and along measures
// tile_size_x, tile_size_y      samples and measures of an item
// tile_stride_x, tile_stride_y  an item's samples (measures) are 0: neighbours, 1: a block apart

#define STEP_X (tile_stride_x ? block_size_x : 1)
#define STEP_Y (tile_stride_y ? block_size_y : 1)

kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1))) void
dedispersion(global const uchar *input, global float *output, constant float *shifts,
             int channels, int samples, int pitch)
{
    const int x = get_group_id(0) * (block_size_x * tile_size_x) +
                  get_local_id(0) * (tile_stride_x ? 1 : tile_size_x);
    const int y = get_group_id(1) * (block_size_y * tile_size_y) +
                  get_local_id(1) * (tile_stride_y ? 1 : tile_size_y);
    float sum[tile_size_y][tile_size_x];

    for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
            sum[ty][tx] = 0.0f;
        }
    }
    for (int channel = 0; channel < channels; channel++) {
        const float shift = shifts[channel];
        for (int ty = 0; ty < tile_size_y; ty++) {
            const int delay = (int)((float)(y + ty * STEP_Y) * shift);
            for (int tx = 0; tx < tile_size_x; tx++) {
                sum[ty][tx] += input[channel * pitch + x + tx * STEP_X + delay];
            }
        }
    }
    for (int ty = 0; ty < tile_size_y; ty++) {
        for (int tx = 0; tx < tile_size_x; tx++) {
            output[(y + ty * STEP_Y) * samples + x + tx * STEP_X] = sum[ty][tx];
        }
    }
}
