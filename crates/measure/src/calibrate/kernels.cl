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

// The same chain by groups that take local memory: `tile` has a cell for each item or more.
kernel void hold(global float *out, local float *tile, float4 k, uint iterations)
{
    tile[get_local_id(0)] = (float)(get_global_id(0) & 15);
    WAIT
    float x = tile[get_local_id(0)];
    for (uint r = 0; r < iterations; r++) {
        ITERATION ITERATION
    }
    out[get_global_id(0)] = x;
}

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

// What follows is for the resources of a unit. SUFFIX is how many numbers a vector of the device has,
// nothing for one: an instruction of a processor works on a vector, so that is what is counted.
#define JOIN(a, b) a##b
#define OF(name, suffix) JOIN(name, suffix)
#define VECTOR(name) OF(name, SUFFIX)
typedef VECTOR(float) reals;
typedef VECTOR(uint) integers;

// The sum of a vector's numbers.
uint lanes(uint v) { return v; }
uint lanes2(uint2 v) { return v.x + v.y; }
uint lanes4(uint4 v) { return lanes2(v.lo + v.hi); }
uint lanes8(uint8 v) { return lanes4(v.lo + v.hi); }
uint lanes16(uint16 v) { return lanes8(v.lo + v.hi); }

// Chains that do not wait for each other: enough to hide the latency of a multiply-add on two lanes,
// few enough for 16 registers.
#define HALF(op) op(0) op(1) op(2) op(3) op(4) op(5)
#define EACH(op) HALF(op) op(6) op(7) op(8) op(9) op(10) op(11)

// No two numbers of an item begin alike, as far as the compiler knows.
#define BEGIN(j) (((global const integers *)table)[j] & 15u) + (uint)(get_global_id(0) & 15)
#define REAL(j) reals x##j = VECTOR(convert_float)(BEGIN(j));
#define INTEGER(j) integers y##j = BEGIN(j);
#define SUM_REAL(j) sum += VECTOR(as_uint)(x##j);
#define SUM_INTEGER(j) sum += y##j;
#define ADD_REAL(j) total += x##j;

#define MULTIPLY(j) x##j = fma(x##j, a, b);
#define DIVIDE(j) x##j = fma(x##j, c, d);
#define STEP(j) y##j = (y##j & mask) + step;
// The square grows by `a`, so that the result tells how many steps there were.
#define ROOT(j) x##j = native_sqrt(fma(x##j, x##j, a));

// 96 multiply-adds.
kernel void throughput_real(global const uint *table, global uint *out, float4 k, uint mask, uint step,
                            uint iterations)
{
    reals a = k.x, b = k.y, c = k.z, d = k.w;
    EACH(REAL)
    for (uint r = 0; r < iterations; r++) {
        R4(EACH(MULTIPLY) EACH(DIVIDE))
    }
    integers sum = 0;
    EACH(SUM_REAL)
    out[get_global_id(0)] = VECTOR(lanes)(sum);
}

// 96 operations on whole numbers.
kernel void throughput_integer(global const uint *table, global uint *out, float4 k, uint mask, uint step,
                               uint iterations)
{
    EACH(INTEGER)
    for (uint r = 0; r < iterations; r++) {
        R4(EACH(STEP))
    }
    integers sum = 0;
    EACH(SUM_INTEGER)
    out[get_global_id(0)] = VECTOR(lanes)(sum);
}

// 48 multiply-adds and 48 operations on whole numbers, by turns.
kernel void throughput_mixed(global const uint *table, global uint *out, float4 k, uint mask, uint step,
                             uint iterations)
{
    reals a = k.x, b = k.y, c = k.z, d = k.w;
    HALF(REAL) HALF(INTEGER)
    for (uint r = 0; r < iterations; r++) {
        R4(HALF(MULTIPLY) HALF(STEP) HALF(DIVIDE))
    }
    integers sum = 0;
    HALF(SUM_REAL) HALF(SUM_INTEGER)
    out[get_global_id(0)] = VECTOR(lanes)(sum);
}

// 24 roots, and as many multiply-adds.
kernel void throughput_special(global const uint *table, global uint *out, float4 k, uint mask, uint step,
                               uint iterations)
{
    reals a = k.x;
    EACH(REAL)
    for (uint r = 0; r < iterations; r++) {
        R2(EACH(ROOT))
    }
    reals total = 0;
    EACH(ADD_REAL)
    float all[sizeof(reals) / sizeof(float)];
    *(reals *)all = total;
    float sum = 0;
    for (uint i = 0; i < sizeof(reals) / sizeof(float); i++)
        sum += all[i];
    out[get_global_id(0)] = as_uint(sum);
}

// One item, one operation after another: a clock each on all processors that we know.
kernel void clock_rate(global uint *out, uint mask, uint step, uint iterations)
{
    uint y = (uint)get_global_id(0);
    for (uint r = 0; r < iterations; r++) {
        R16(y = (y & mask) + step;)
    }
    out[get_global_id(0)] = y;
}

// Loads of vectors that L1 has, by items that are `apart` vectors from each other, `wide` of them side by
// side. Four sums, which need not wait for each other.
#define PAIR(j, s) s += from[j]; s ^= from[j + 1];
#define PAIRS PAIR(0, s0) PAIR(2, s1) PAIR(4, s2) PAIR(6, s3) PAIR(8, s0) PAIR(10, s1) PAIR(12, s2) PAIR(14, s3)

kernel void load_near(global const uint *table, global uint *out, uint wide, uint apart, uint turns,
                      uint iterations)
{
    uint lid = (uint)get_local_id(0), at = 0;
    global const integers *mine = (global const integers *)table + lid % wide * apart;
    integers s0 = lid, s1 = 0, s2 = 0, s3 = 0;
    for (uint r = 0; r < iterations; r++) {
        global const integers *from = mine + at;
        PAIRS
        at++;
        at = at < turns ? at : 0;
    }
    out[get_global_id(0)] = VECTOR(lanes)(s0 + s1 + s2 + s3);
}

// Loads of local memory by items that are `apart` cells from each other: neighbours meet in a bank if
// that is a multiple of what they share. `tile` has `apart` cells an item and 32 more.
kernel void load_banks(global const uint *table, global uint *out, local uint *tile, uint mask, uint apart,
                       uint iterations)
{
    uint n = (uint)get_local_size(0), lid = (uint)get_local_id(0), at = 0;
    for (uint i = lid; i < n * apart + 32; i += n)
        tile[i] = table[i & mask];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s0 = lid, s1 = 0, s2 = 0, s3 = 0;
    for (uint r = 0; r < iterations; r++) {
        local const uint *from = tile + lid * apart + at;
        PAIRS
        at++;
        at = at < 16 ? at : 0;
    }
    out[get_global_id(0)] = s0 + s1 + s2 + s3;
}

// Groups walk through the same piece of memory, over and over, each from a place of its own, `apart` vectors
// after that of the group before: what a group reads is no longer in L1 if the piece is much larger, and still
// where it fits. `last` is a mask.
kernel void sweep(global const uint *cells, global uint *out, uint last, uint apart, uint iterations)
{
    uint n = (uint)get_local_size(0), at = (uint)get_group_id(0) * apart + (uint)get_local_id(0);
    global const integers *from = (global const integers *)cells;
    integers s0 = 0, s1 = 0;
    for (uint r = 0; r < iterations; r++) {
        s0 += from[at & last];
        s1 ^= from[at + n & last];
        s0 += from[at + 2 * n & last];
        s1 ^= from[at + 3 * n & last];
        s0 += from[at + 4 * n & last];
        s1 ^= from[at + 5 * n & last];
        s0 += from[at + 6 * n & last];
        s1 ^= from[at + 7 * n & last];
        at += 8 * n;
    }
    out[get_global_id(0)] = VECTOR(lanes)(s0 + s1);
}

// Groups from `from` on leave a mark; in timed launches that is the last one.
kernel void start(global uint *out, uint from)
{
    uint group = (uint)get_group_id(0);
    if (group >= from && get_local_id(0) == 0)
        out[group] = group * 2654435761u + 1;
}
