#include <math.h>

void reference(const float *bodies, float *accelerations, int n, float softening)
{
    for (long i = 0; i < n; i++) {
        const float *body = bodies + 4 * i;
        double x = 0, y = 0, z = 0;
        for (long j = 0; j < n; j++) {
            const float *other = bodies + 4 * j;
            const double dx = (double)other[0] - body[0];
            const double dy = (double)other[1] - body[1];
            const double dz = (double)other[2] - body[2];
            const double square = dx * dx + dy * dy + dz * dz + softening;
            const double s = other[3] / (square * sqrt(square));
            x += s * dx;
            y += s * dy;
            z += s * dz;
        }
        accelerations[4 * i] = (float)x;
        accelerations[4 * i + 1] = (float)y;
        accelerations[4 * i + 2] = (float)z;
        accelerations[4 * i + 3] = 0;
    }
}
