// Dedispersion of a radio telescope's signal: for every trial dispersion measure, the sum over all
// channels, each read later by its delay at that measure. The input has a row of 8-bit samples for
// each channel, long enough for the greatest delay; the output has a row for each measure.
//
// block_size_x, block_size_y    items of a group, along samples and along measures
// tile_size_x, tile_size_y      samples and measures of an item, one after another
// tile_stride_x, tile_stride_y  an item's samples (measures) are 0: neighbours, 1: a block apart
// guarded                       1: groups reach over the output's edge, and nothing is done there; 0:
//                               the output is one of whole groups

#define STEP_X (tile_stride_x ? block_size_x : 1)
#define STEP_Y (tile_stride_y ? block_size_y : 1)

#if guarded == 1
#define INSIDE(place, size) if ((place) < (size))
#else
#define INSIDE(place, size) // everything is
#endif

kernel __attribute__((reqd_work_group_size(block_size_x, block_size_y, 1))) void
dedispersion(global const uchar *input, global float *output, constant float *shifts,
             int channels, int samples, int measures, int pitch)
{
    const int first_x = get_group_id(0) * (block_size_x * tile_size_x) +
                        get_local_id(0) * (tile_stride_x ? 1 : tile_size_x);
    const int first_y = get_group_id(1) * (block_size_y * tile_size_y) +
                        get_local_id(1) * (tile_stride_y ? 1 : tile_size_y);

#if guarded == 0
    (void)measures;
#endif
    for (int ty = 0; ty < tile_size_y; ty++) {
        const int y = first_y + ty * STEP_Y;
        INSIDE(y, measures)
        for (int tx = 0; tx < tile_size_x; tx++) {
            const int x = first_x + tx * STEP_X;
            INSIDE(x, samples)
            {
                float sum = 0.0f;
                for (int channel = 0; channel < channels; channel++) {
                    const int delay = (int)((float)y * shifts[channel]);
                    sum += input[channel * pitch + x + delay];
                }
                output[y * samples + x] = sum;
            }
        }
    }
}
