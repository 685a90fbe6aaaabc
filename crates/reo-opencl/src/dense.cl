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

// Many products, a workgroup each. From `table` on `arena` has eight words for each: n, ka, m, kb,
// mask, and where its left factor and its right factor are in `arena`, and its cells in `out`.
kernel void batch(global const ulong *restrict arena, ulong table, global ulong *restrict out)
{
    global const ulong *part = arena + table + 8 * (ulong)get_group_id(0);
    const uint n = part[0], ka = part[1], m = part[2], kb = part[3];
    const ulong mask = part[4];
    global const ulong *a = arena + part[5];
    global const ulong *b = arena + part[6];
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

// What rows come to: states, steps, sum, digest, stuck states, the first of them, broken steps,
// whether there is one, and the first one's states and label; CellTally::to_words has the order.
#define WORDS 11
#define NONE (~0UL)

inline void nothing(ulong *all)
{
    for (uint word = 0; word < WORDS; ++word)
        all[word] = 0;
    all[5] = NONE;
}

inline void merge(ulong *all, const ulong *one)
{
    const bool first = one[7] != 0 &&
        (all[7] == 0 || one[8] < all[8] ||
         (one[8] == all[8] && (one[9] < all[9] || (one[9] == all[9] && one[10] < all[10]))));
    for (uint word = 0; word < 5; ++word)
        all[word] += one[word];
    all[5] = min(all[5], one[5]);
    all[6] += one[6];
    for (uint word = 7; word < WORDS; ++word)
        all[word] = first ? one[word] : all[word];
}

// The part of a step in a digest: `mixed` of reo/src/product/dense/tally.rs.
inline ulong mixed(ulong cell, ulong label)
{
    const ulong seed = label + (cell + 1) * 0x9e3779b97f4a7c15UL;
    const ulong once = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9UL;
    const ulong twice = (once ^ (once >> 27)) * 0x94d049bb133111ebUL;
    return twice ^ (twice >> 31);
}

// Sums over some words, and the names that fire in any of them.
struct sums {
    ulong steps, sum, digest, labels;
};

inline void add(struct sums *sums, ulong cell, ulong slot, ulong label)
{
    const ulong kept = label == EMPTY ? 0 : NONE;
    sums->steps += kept & 1;
    sums->sum += (label + 1) * (slot + 1) & kept;
    sums->digest += mixed(cell, label) & kept;
    sums->labels |= label & kept;
}

#ifdef EIGHTS
// The same over cells side by side, for an item that is alone on a processor's vector unit: sums of
// eights are added up once a row, not once a run.
struct eights {
    ulong8 steps, sum, digest, labels;
};

// Adds a run of `wide` cells, a multiple of eight, of one slot each.
inline void add_eights(struct eights *sums, ulong a, global const ulong *b, uint wide, ulong mask,
                       ulong cells, ulong slot, ulong slots)
{
    for (uint at = 0; at < wide; at += 8) {
        const ulong8 right = vload8(0, b + at);
        const ulong8 differs = as_ulong8(((a ^ right) & mask) != 0);
        const ulong8 label = (differs & EMPTY) | (~differs & (a | right));
        const ulong8 kept = as_ulong8(label != EMPTY);
        const ulong8 index = (ulong8)(0, 1, 2, 3, 4, 5, 6, 7) + at;
        const ulong8 seed = label + (cells + index + 1) * 0x9e3779b97f4a7c15UL;
        const ulong8 once = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9UL;
        const ulong8 twice = (once ^ (once >> 27)) * 0x94d049bb133111ebUL;
        sums->steps -= kept;
        sums->sum += (label + 1) * (slot + index * slots + 1) & kept;
        sums->digest += (twice ^ (twice >> 31)) & kept;
        sums->labels |= label & kept;
    }
}

inline ulong total8(ulong8 of)
{
    const ulong4 four = of.lo + of.hi;
    return four.s0 + four.s1 + four.s2 + four.s3;
}

inline void add_up(struct sums *sums, const struct eights *eights)
{
    const ulong4 labels = eights->labels.lo | eights->labels.hi;
    sums->steps += total8(eights->steps);
    sums->sum += total8(eights->sum);
    sums->digest += total8(eights->digest);
    sums->labels |= labels.s0 | labels.s1 | labels.s2 | labels.s3;
}
#endif

// Counts rows first .. first + rows of a product, and keeps none of their words. A workgroup takes
// one row after another; its items share the cells of one step of the left factor. With `checked`,
// steps that fulfil none of the clauses are broken. Each group writes its eleven words.
kernel void tally(global const ulong *restrict left, global const ulong *restrict right,
                  global ulong *restrict out, uint n, uint ka, uint m, uint kb, ulong mask,
                  uint first, uint rows, global const ulong *restrict clauses, uint count,
                  uint checked, local ulong *scratch)
{
    const uint item = get_local_id(0), items = get_local_size(0);
    const uint wide = m * kb;
    const ulong states = (ulong)n * m, slots = (ulong)ka * kb;
    local uint busy;
    ulong all[WORDS];
    nothing(all);
    for (uint row = get_group_id(0); row < rows; row += get_num_groups(0)) {
        const uint from = first + row, p = from / m, q = from - p * m;
        if (item == 0)
            busy = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        global const ulong *b = right + (ulong)q * wide;
        struct sums sums = {0, 0, 0, 0};
#ifdef EIGHTS
        struct eights eights = {0, 0, 0, 0};
#endif
        for (uint to_left = 0; to_left < n; ++to_left) {
            for (uint i = 0; i < ka; ++i) {
                const ulong a = left[((ulong)p * n + to_left) * ka + i];
                if (a == EMPTY)
                    continue;
                const ulong cells = from * states + (ulong)to_left * m;
                // One slot is the rule, and the loop without a division becomes one of vectors.
                const ulong slot = cells * slots + (ulong)i * kb;
#ifdef EIGHTS
                if (kb == 1 && items == 1 && wide % 8 == 0)
                    add_eights(&eights, a, b, wide, mask, cells, slot, slots);
                else
#endif
                if (kb == 1)
                    for (ulong at = item; at < wide; at += items) {
                        const ulong label = joined(a, b[at], mask);
                        add(&sums, cells + at, slot + at * slots, label);
                    }
                else
                    for (uint at = item; at < wide; at += items) {
                        const ulong label = joined(a, b[at], mask);
                        const uint to_right = at / kb, j = at - to_right * kb;
                        add(&sums, cells + to_right, slot + to_right * slots + j, label);
                    }
                if (!checked)
                    continue;
                for (uint at = item; at < wide; at += items) {
                    const ulong label = joined(a, b[at], mask);
                    if (label == EMPTY || label == 0 || holds(label, clauses, count))
                        continue;
                    ulong one[WORDS];
                    nothing(one);
                    one[6] = one[7] = 1;
                    one[8] = from;
                    one[9] = (ulong)to_left * m + at / kb;
                    one[10] = label;
                    merge(all, one);
                }
            }
        }
#ifdef EIGHTS
        add_up(&sums, &eights);
#endif
        all[1] += sums.steps;
        all[2] += sums.sum;
        all[3] += sums.digest;
        if (sums.labels != 0)
            atomic_or(&busy, 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            all[0] += 1;
            all[4] += busy == 0;
            if (busy == 0)
                all[5] = min(all[5], (ulong)from);
        }
    }
    for (uint word = 0; word < WORDS; ++word)
        scratch[item * WORDS + word] = all[word];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item != 0)
        return;
    for (uint other = 1; other < items; ++other) {
        ulong one[WORDS];
        for (uint word = 0; word < WORDS; ++word)
            one[word] = scratch[other * WORDS + word];
        merge(all, one);
    }
    for (uint word = 0; word < WORDS; ++word)
        out[get_group_id(0) * WORDS + word] = all[word];
}

// The words of some groups as one, by one item.
kernel void total(global const ulong *restrict groups, uint count, global ulong *restrict out)
{
    ulong all[WORDS];
    nothing(all);
    for (uint group = 0; group < count; ++group) {
        ulong one[WORDS];
        for (uint word = 0; word < WORDS; ++word)
            one[word] = groups[group * WORDS + word];
        merge(all, one);
    }
    for (uint word = 0; word < WORDS; ++word)
        out[word] = all[word];
}
