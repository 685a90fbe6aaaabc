#define ROUND(n) (((n) + WG - 1) / WG)

inline float weight(const float x) { return x > 0 ? x * 0.5f : -x; }

kernel void k(global const float4 *a, global float *b, local float *part, const int n)
{
    const int item = get_local_id(0);
    float sum = 0;
    for (int i = 0; i < TS; i++) {
        const float4 v = a[get_global_id(0) * TS + i];
        sum += weight(v.x) + v.w;
    }
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int step = WG / 2; step > 0; step /= 2) {
        if (item < step) part[item] += part[item + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) b[get_group_id(0)] = part[0] + ROUND(TS);
}
