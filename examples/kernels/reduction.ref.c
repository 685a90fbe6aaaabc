long value(const char *name);

void reference(const float *input, float *sums)
{
    const long block = value("WG") * value("VPI");
    const long groups = value("size") / block;

    for (long g = 0; g < groups; g++) {
        double sum = 0;
        for (long i = 0; i < block; i++) {
            sum += input[g * block + i];
        }
        sums[g] = (float)sum;
    }
}
