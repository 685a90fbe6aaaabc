#include <stdlib.h>

void reference(const float *a, const float *b, float *c, int m, int n, int k)
{
    double *column = malloc(sizeof(double) * (size_t)m);

    for (long j = 0; j < n; j++) {
        for (long i = 0; i < m; i++) {
            column[i] = 0;
        }
        for (long l = 0; l < k; l++) {
            const double factor = b[l * n + j];
            for (long i = 0; i < m; i++) {
                column[i] += factor * a[l * m + i];
            }
        }
        for (long i = 0; i < m; i++) {
            c[j * m + i] = (float)column[i];
        }
    }
    free(column);
}
