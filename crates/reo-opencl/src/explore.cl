// The reachable product of two constraint automata; see reo/src/product/halves.rs and explore.rs.
// A state is a key, l * right_states + r. Keys that are known stand in a table with open
// addressing, and in the order of their levels in a list.

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#else
#error the device has no atomic operations on 64 bits (cl_khr_int64_base_atomics)
#endif

#define NONE (~0UL)

// Words of `totals`: keys that are known, steps, stuck states, broken steps, whether there was no
// room for a key, and the least keys of a stuck state and of one that a broken step leaves.
#define KNOWN 0
#define STEPS 1
#define STUCK 2
#define BROKEN 3
#define FULL 4
#define FIRST_STUCK 5
#define FIRST_BROKEN 6

// The finaliser of SplitMix64.
inline ulong hashed(ulong key)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9UL;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebUL;
    return key ^ (key >> 31);
}

struct known {
    global ulong *keys;
    ulong room;
    volatile global ulong *table;
    ulong capacity;
    volatile global ulong *totals;
};

// Whether a key was put into the table.
inline bool is_new(struct known *known, ulong key)
{
    ulong at = mul_hi(hashed(key), known->capacity);
    for (ulong probe = 0; probe < known->capacity; ++probe) {
        const ulong was = atom_cmpxchg(known->table + at, NONE, key);
        if (was == NONE || was == key)
            return was == NONE;
        if (++at == known->capacity)
            at = 0;
    }
    atom_xchg(known->totals + FULL, 1UL);
    return false;
}

inline void enter(struct known *known, ulong key)
{
    if (!is_new(known, key))
        return;
    const ulong at = atom_inc(known->totals + KNOWN);
    if (at < known->room)
        known->keys[at] = key;
    else
        atom_xchg(known->totals + FULL, 1UL);
}

// Lowers a word to `key`, by the atomic operations that all devices with 64 bits have.
inline void lower(volatile global ulong *word, ulong key)
{
    for (ulong was = NONE; key < was;) {
        const ulong now = atom_cmpxchg(word, was, key);
        if (now == was)
            return;
        was = now;
    }
}

// Empties a table.
kernel void clear(global ulong *table, ulong capacity)
{
    for (ulong at = get_global_id(0); at < capacity; at += get_global_size(0))
        table[at] = NONE;
}

// Puts the first `count` keys of the list into an empty table.
kernel void fill(global ulong *keys, ulong count, volatile global ulong *table, ulong capacity,
                 volatile global ulong *totals)
{
    struct known known = {keys, 0, table, capacity, totals};
    for (ulong at = get_global_id(0); at < count; at += get_global_size(0))
        is_new(&known, keys[at]);
}

// The first of labels `from` .. `to`, which are sorted by their shared names, with `names` or more.
inline uint first_with(global const ulong *labels, uint from, uint to, ulong shared, ulong names)
{
    while (from < to) {
        const uint middle = from + (to - from) / 2;
        if ((labels[middle] & shared) < names)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// Steps that leave the keys `from` .. `to` of the list. A workgroup takes one key after another;
// its items share the steps of the left half, and those of the right half that are taken alone.
// With `checked`, steps that fulfil none of the clauses are broken.
kernel void explore(global ulong *keys, ulong from, ulong to, ulong room,
                    volatile global ulong *table, ulong capacity, volatile global ulong *totals,
                    global const uint *left_rows, global const ulong *left_labels,
                    global const uint *left_targets, global const uint *right_rows,
                    global const ulong *right_labels, global const uint *right_targets,
                    ulong right_states, ulong shared, global const ulong *clauses, uint count,
                    uint checked)
{
    struct known known = {keys, room, table, capacity, totals};
    const uint item = get_local_id(0), items = get_local_size(0);
    local uint busy;
    ulong steps = 0, stuck = 0, broken = 0, first_stuck = NONE, first_broken = NONE;
    for (ulong at = from + get_group_id(0); at < to; at += get_num_groups(0)) {
        const ulong key = keys[at];
        const uint l = key / right_states, r = key - l * right_states;
        const uint begin = right_rows[r], end = right_rows[r + 1];
        // Those with which no shared name fires come first.
        const uint alone = first_with(right_labels, begin, end, shared, 1);
        const ulong before = steps, broken_before = broken;
        if (item == 0)
            busy = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint b = begin + item; b < alone; b += items) {
            enter(&known, l * right_states + right_targets[b]);
            broken += checked && !holds(right_labels[b], clauses, count);
            ++steps;
        }
        for (uint a = left_rows[l] + item; a < left_rows[l + 1]; a += items) {
            const ulong label = left_labels[a], names = label & shared;
            const ulong target = left_targets[a] * right_states;
            if (names == 0) {
                enter(&known, target + r);
                broken += checked && !holds(label, clauses, count);
                ++steps;
                // A silent step is taken alone.
                if (label == 0)
                    continue;
            }
            uint b = names == 0 ? begin : first_with(right_labels, alone, end, shared, names);
            for (; b < end && (right_labels[b] & shared) == names; ++b) {
                if (right_labels[b] == 0)
                    continue;
                enter(&known, target + right_targets[b]);
                broken += checked && !holds(label | right_labels[b], clauses, count);
                ++steps;
            }
        }
        if (steps != before)
            atomic_or(&busy, 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0 && busy == 0) {
            ++stuck;
            first_stuck = min(first_stuck, key);
        }
        if (broken != broken_before)
            first_broken = min(first_broken, key);
    }
    if (steps != 0)
        atom_add(totals + STEPS, steps);
    if (stuck != 0)
        atom_add(totals + STUCK, stuck);
    if (broken != 0)
        atom_add(totals + BROKEN, broken);
    lower(totals + FIRST_STUCK, first_stuck);
    lower(totals + FIRST_BROKEN, first_broken);
}

// The first of `count` sorted keys that stands in the list from `from` to `to`, if any does.
kernel void among(global const ulong *keys, ulong from, ulong to, global const ulong *wanted,
                  uint count, volatile global uint *first)
{
    for (ulong at = from + get_global_id(0); at < to; at += get_global_size(0)) {
        const ulong key = keys[at];
        uint low = 0, high = count;
        while (low < high) {
            const uint middle = low + (high - low) / 2;
            if (wanted[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count && wanted[low] == key)
            atomic_min(first, low);
    }
}
