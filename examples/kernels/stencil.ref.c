long value(const char *name);

void reference(const float *input, float *output, float centre_weight, float neighbour_weight)
{
    const long width = value("width");
    const long height = value("height");
    const long depth = value("depth");
    const long row = width + 2;
    const long plane = row * (height + 2);

    for (long z = 0; z < depth; z++) {
        for (long y = 0; y < height; y++) {
            for (long x = 0; x < width; x++) {
                const float *at = input + (z + 1) * plane + (y + 1) * row + x + 1;
                const double around = (double)at[-1] + at[1] + at[-row] + at[row] + at[-plane] +
                                      at[plane];
                output[(z * height + y) * width + x] =
                    (float)((double)centre_weight * at[0] + neighbour_weight * around);
            }
        }
    }
}
