#include <math.h>

long value(const char *name);

void reference(const float *atoms, float *energy, int count, float spacing)
{
    const long width = value("width");
    const long height = value("height");
    const long depth = value("depth");

    for (long z = 0; z < depth; z++) {
        for (long y = 0; y < height; y++) {
            for (long x = 0; x < width; x++) {
                double sum = 0;
                for (long n = 0; n < count; n++) {
                    const double dx = (double)spacing * x - atoms[4 * n];
                    const double dy = (double)spacing * y - atoms[4 * n + 1];
                    const double dz = (double)spacing * z - atoms[4 * n + 2];
                    sum += atoms[4 * n + 3] / sqrt(dx * dx + dy * dy + dz * dz);
                }
                energy[(z * height + y) * width + x] = (float)sum;
            }
        }
    }
}
