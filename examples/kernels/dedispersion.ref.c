#include <stdlib.h>

void reference(const unsigned char *input, float *output, const float *shifts, int channels,
               int samples, int measures, int pitch)
{
    int *sum = malloc(sizeof(int) * (size_t)samples);

    for (long y = 0; y < measures; y++) {
        for (long x = 0; x < samples; x++) {
            sum[x] = 0;
        }
        for (long channel = 0; channel < channels; channel++) {
            /* A float, as on the device: the delay is rounded down from its value. */
            const float delay = (float)y * shifts[channel];
            const unsigned char *from = input + channel * pitch + (long)delay;
            for (long x = 0; x < samples; x++) {
                sum[x] += from[x];
            }
        }
        for (long x = 0; x < samples; x++) {
            output[y * samples + x] = (float)sum[x];
        }
    }
    free(sum);
}
