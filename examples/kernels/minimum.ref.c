long value(const char *name);

void reference(const int *input, int *minima)
{
    const long tile = value("WG") * value("TS");
    const long groups = value("size") / tile;

    for (long g = 0; g < groups; g++) {
        int least = input[g * tile];
        for (long i = 1; i < tile; i++) {
            if (input[g * tile + i] < least) {
                least = input[g * tile + i];
            }
        }
        minima[g] = least;
    }
}
