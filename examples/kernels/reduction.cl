// The sum of an array of floats, as far as one launch can take it: one sum a group.
//
// WG   work items in a group, a power of two
// VPI  values that each item adds before the group combines its sums
// VW   values that an item loads at once (1, 2 or 4); neighbouring items load neighbouring vectors

#if VW == 1
typedef float vector;
#define LOAD(i, p) ((p)[i])
#define SUM(v) (v)
#elif VW == 2
typedef float2 vector;
#define LOAD(i, p) vload2(i, p)
#define SUM(v) ((v).x + (v).y)
#else
typedef float4 vector;
#define LOAD(i, p) vload4(i, p)
#define SUM(v) (((v).x + (v).y) + ((v).z + (v).w))
#endif

kernel void reduction(global const float *input, global float *sums)
{
    local float partial[WG];
    const int item = get_local_id(0);
    global const float *block = input + get_group_id(0) * (WG * VPI);

    vector sum = 0.0f;
    for (int i = 0; i < VPI / VW; i++) {
        sum += LOAD(i * WG + item, block);
    }
    partial[item] = SUM(sum);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int s = WG / 2; s > 0; s >>= 1) {
        if (item < s) {
            partial[item] += partial[item + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) {
        sums[get_group_id(0)] = partial[0];
    }
}
