void reference(const float *input, float *output, int width, int height)
{
    for (long y = 0; y < height; y++) {
        for (long x = 0; x < width; x++) {
            output[x * height + y] = input[y * width + x];
        }
    }
}
