// The dense product of two constraint automata; see reo/src/product/dense. A label is a word whose
// bits are the names that fire, or EMPTY. Both factors are over the product's alphabet; `mask` is the
// names that both know, and the bit of EMPTY.

#define EMPTY (1UL << 63)

inline ulong joined(ulong a, ulong b, ulong mask)
{
    return ((a ^ b) & mask) == 0 ? (a | b) : EMPTY;
}

// Rows first .. first + rows of one product. Dimension 0 is the word within a row, so that
// neighbours write neighbours; dimension 1 is a group of `each` rows, over which the place of the
// word within its cells, which costs four divisions, is worked out once.
kernel void product(global const ulong *restrict left, ulong left_at,
                    global const ulong *restrict right, ulong right_at,
                    global ulong *restrict out, ulong out_at,
                    uint n, uint ka, uint m, uint kb, ulong mask,
                    uint first, uint rows, uint each)
{
    const uint slots = ka * kb;
    const uint width = n * m * slots;
    const uint word = get_global_id(0);
    if (word >= width)
        return;
    const uint cell = word / slots, slot = word - cell * slots;
    const uint to_left = cell / m, to_right = cell - to_left * m;
    const uint i = slot / kb, j = slot - i * kb;
    uint row = get_global_id(1) * each;
    const uint end = min(rows, row + each);
    uint p = (first + row) / m, q = (first + row) - p * m;
    left += left_at + (ulong)to_left * ka + i;
    right += right_at + (ulong)to_right * kb + j;
    out += out_at + word;
    for (; row < end; ++row) {
        const ulong a = left[(ulong)p * n * ka];
        const ulong b = right[(ulong)q * m * kb];
        out[(ulong)row * width] = joined(a, b, mask);
        if (++q == m) {
            q = 0;
            ++p;
        }
    }
}

// Many products, a workgroup each. A part is eight words: n, ka, m, kb, mask, and where its left
// factor, its right factor and its cells begin.
kernel void batch(global const ulong *restrict left, global const ulong *restrict right,
                  global ulong *restrict out, global const ulong *restrict parts)
{
    global const ulong *part = parts + 8 * (ulong)get_group_id(0);
    const uint n = part[0], ka = part[1], m = part[2], kb = part[3];
    const ulong mask = part[4];
    global const ulong *a = left + part[5];
    global const ulong *b = right + part[6];
    global ulong *cells = out + part[7];
    const uint slots = ka * kb, states = n * m;
    const uint width = states * slots;
    const uint words = states * width;
    for (uint at = get_local_id(0); at < words; at += get_local_size(0)) {
        const uint row = at / width, word = at - row * width;
        const uint p = row / m, q = row - p * m;
        const uint cell = word / slots, slot = word - cell * slots;
        const uint to_left = cell / m, to_right = cell - to_left * m;
        const uint i = slot / kb, j = slot - i * kb;
        cells[at] = joined(a[(p * n + to_left) * ka + i], b[(q * m + to_right) * kb + j], mask);
    }
}

// What `product` is measured by: the same words in the same order, without a product.
kernel void plain(global ulong *restrict out, ulong value, uint width, uint rows, uint each)
{
    const uint word = get_global_id(0);
    if (word >= width)
        return;
    uint row = get_global_id(1) * each;
    const uint end = min(rows, row + each);
    for (; row < end; ++row)
        out[(ulong)row * width + word] = value;
}
