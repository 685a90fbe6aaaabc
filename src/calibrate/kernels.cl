// The kernels of `tickbound calibrate`. docs/calibrate.md says what each is for.
//
// An iteration is written out by macros, so that the loop's own work is spread over many operations. All
// numbers that decide what is computed are arguments or memory: nothing can be computed by the
// compiler. Every result is written and compared with what the host computes.

#define R2(x) x x
#define R4(x) R2(R2(x))
#define R8(x) R2(R4(x))
#define R16(x) R2(R8(x))

// Two fused multiply-adds, each of which needs the result of the one before. With a * c = 1, nearly,
// and b * c + d small, x moves slowly upwards: neither a fixed point nor an overflow.
#define FIRST x = fma(x, k.x, k.y);
#define SECOND x = fma(x, k.z, k.w);

// 32 operations.
#define ITERATION R16(FIRST SECOND)

kernel void chain(global float *out, float4 k, uint iterations)
{
    float x = (float)(get_global_id(0) & 15);
    for (uint r = 0; r < iterations; r++) {
        ITERATION ITERATION
    }
    out[get_global_id(0)] = x;
}

#define WAIT barrier(CLK_LOCAL_MEM_FENCE);

// Both have a barrier in the loop: compilers for processors make other code of loops without one.
kernel void one_barrier(global float *out, float4 k, uint iterations)
{
    float x = (float)(get_global_id(0) & 15);
    for (uint r = 0; r < iterations; r++) {
        R4(FIRST SECOND) WAIT
    }
    out[get_global_id(0)] = x;
}

kernel void barriers(global float *out, float4 k, uint iterations)
{
    float x = (float)(get_global_id(0) & 15);
    for (uint r = 0; r < iterations; r++) {
        R4(FIRST WAIT SECOND WAIT)
    }
    out[get_global_id(0)] = x;
}

// One item follows a cycle, from where the launch before it ended.
kernel void chase(global const uint *next, global uint *place, uint iterations)
{
    uint x = place[0];
    for (uint r = 0; r < iterations; r++) {
        R16(x = next[x];)
    }
    place[0] = x;
}

kernel void chase_constant(constant uint *next, global uint *place, uint iterations)
{
    uint x = place[0];
    for (uint r = 0; r < iterations; r++) {
        R16(x = next[x];)
    }
    place[0] = x;
}

kernel void chase_local(global const uint *next, global uint *place, local uint *tile, uint cells,
                        uint iterations)
{
    for (uint i = 0; i < cells; i++)
        tile[i] = next[i];
    uint x = place[0];
    for (uint r = 0; r < iterations; r++) {
        R16(x = tile[x];)
    }
    place[0] = x;
}

// A line of `line` cells for each place of the cycle `order`; its first cell names the next line's
// first cell, the others hold a hash of their own place.
kernel void spread(global const uint *order, global uint *cells, uint line)
{
    uint i = (uint)get_global_id(0);
    cells[i] = i % line == 0 ? order[i / line] * line : (i * 2654435761u) ^ (i >> 7);
}

// A group reads a piece of memory once, neighbouring items beside each other: the same lines at about
// the same time, whether items run side by side or one after another. Sums are written where `from`
// says so, or where they are `never`, which compilers cannot exclude: in timed launches hardly ever.
kernel void stream(global const uint *words, global uint *out, uint from, uint never)
{
    size_t n = get_local_size(0);
    global const uint *mine = words + get_group_id(0) * n * 8 + get_local_id(0);
    uint sum = mine[0];
    sum += mine[n];
    sum += mine[n * 2];
    sum += mine[n * 3];
    sum += mine[n * 4];
    sum += mine[n * 5];
    sum += mine[n * 6];
    sum += mine[n * 7];
    if (get_group_id(0) >= from || sum == never)
        out[get_global_id(0)] = sum;
}

// Additions and exclusive ors by turns: neither can be done for many loads at once.
#define TAKE(j) sum += from[j]; sum ^= from[j + 1];
#define TAKE16 TAKE(0) TAKE(2) TAKE(4) TAKE(6) TAKE(8) TAKE(10) TAKE(12) TAKE(14)

// `tile` has two cells an item and 16 more.
kernel void load_local(global const uint *table, global uint *out, local uint *tile, uint mask,
                       uint step, uint iterations)
{
    uint n = (uint)get_local_size(0), lid = (uint)get_local_id(0);
    for (uint i = lid; i < 2 * n + 16; i += n)
        tile[i] = table[i & mask];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = lid, at = 0;
    for (uint r = 0; r < iterations; r++) {
        local const uint *from = tile + at + lid;
        TAKE16
        at += step;
        at = at < n ? at : 0;
    }
    out[get_global_id(0)] = sum;
}

// All items read the same place at once, which is what constant memory is for.
kernel void load_constant(constant uint *table, global uint *out, uint cells, uint step, uint iterations)
{
    uint sum = (uint)get_local_id(0), at = 0;
    for (uint r = 0; r < iterations; r++) {
        constant uint *from = table + at;
        TAKE16
        at += step;
        at = at + 16 <= cells ? at : 0;
    }
    out[get_global_id(0)] = sum;
}

// Item i adds to counter i * apart: its own one, or the only one.
kernel void atomics(global uint *counters, global uint *out, uint apart, uint iterations)
{
    global uint *mine = counters + get_global_id(0) * apart;
    uint sum = 0;
    for (uint r = 0; r < iterations; r++) {
        R4(sum += atomic_add(mine, 1u);)
    }
    out[get_global_id(0)] = sum;
}

// The same in local memory, which has a counter for each item of a group.
kernel void local_atomics(global uint *out, local uint *counters, uint apart, uint iterations)
{
    counters[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    local uint *own = counters + get_local_id(0) * apart;
    uint sum = 0;
    for (uint r = 0; r < iterations; r++) {
        R4(sum += atomic_add(own, 1u);)
    }
    out[get_global_id(0)] = sum;
}

// Groups from `from` on leave a mark; in timed launches that is the last one.
kernel void start(global uint *out, uint from)
{
    uint group = (uint)get_group_id(0);
    if (group >= from && get_local_id(0) == 0)
        out[group] = group * 2654435761u + 1;
}
