#include <stdlib.h>

long value(const char *name);

void reference(float *output, const float *input, const float *filter, int width,
               int height)
{
    const long filter_width = value("filter_width");
    const long filter_height = value("filter_height");
    const long pitch = width + filter_width - 1;
    double *row = malloc(sizeof(double) * (size_t)width);

    for (long y = 0; y < height; y++) {
        for (long x = 0; x < width; x++) {
            row[x] = 0;
        }
        for (long j = 0; j < filter_height; j++) {
            for (long i = 0; i < filter_width; i++) {
                const double weight = filter[j * filter_width + i];
                const float *from = input + (y + j) * pitch + i;
                for (long x = 0; x < width; x++) {
                    row[x] += from[x] * weight;
                }
            }
        }
        for (long x = 0; x < width; x++) {
            output[y * width + x] = (float)row[x];
        }
    }
    free(row);
}
