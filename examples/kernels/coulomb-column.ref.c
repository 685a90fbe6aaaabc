#include <math.h>

long value(const char *name);

void reference(const float *atoms, float *energy, int count, float spacing)
{
    const long width = value("width");
    const long height = value("height");
    const long depth = value("depth");
    const long next = value("USE_SOA") ? 1 : 4;
    const long part = value("USE_SOA") ? count : 1;

    for (long z = 0; z < depth; z++) {
        for (long y = 0; y < height; y++) {
            for (long x = 0; x < width; x++) {
                double sum = 0;
                for (long n = 0; n < count; n++) {
                    const double dx = (double)spacing * x - atoms[next * n];
                    const double dy = (double)spacing * y - atoms[next * n + part];
                    const double dz = (double)spacing * z - atoms[next * n + 2 * part];
                    sum += atoms[next * n + 3 * part] / sqrt(dx * dx + dy * dy + dz * dz);
                }
                energy[(z * height + y) * width + x] += (float)sum;
            }
        }
    }
}
