// The reachable product of two constraint automata; see reo/src/product/halves.rs and explore.rs.
// A state is a key, l * right_states + r. Keys that are known stand in a table with open
// addressing, and in the order of their levels in a list.

#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#else
#error the device has no atomic operations on 64 bits (cl_khr_int64_base_atomics)
#endif

#define NONE (~0UL)

// Words of `totals`: keys that are known, steps, stuck states, broken steps, and whether there was
// no room for a key.
#define KNOWN 0
#define STEPS 1
#define STUCK 2
#define BROKEN 3
#define FULL 4

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
    atom_or(known->totals + FULL, 1UL);
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
        atom_or(known->totals + FULL, 1UL);
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
    ulong steps = 0, stuck = 0, broken = 0;
    for (ulong at = from + get_group_id(0); at < to; at += get_num_groups(0)) {
        const ulong key = keys[at];
        const uint l = key / right_states, r = key - l * right_states;
        const uint begin = right_rows[r], end = right_rows[r + 1];
        // Those with which no shared name fires come first.
        const uint alone = first_with(right_labels, begin, end, shared, 1);
        ulong before = steps;
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
        stuck += item == 0 && busy == 0;
    }
    if (steps != 0)
        atom_add(totals + STEPS, steps);
    if (stuck != 0)
        atom_add(totals + STUCK, stuck);
    if (broken != 0)
        atom_add(totals + BROKEN, broken);
}
