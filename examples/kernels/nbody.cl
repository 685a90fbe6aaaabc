// The accelerations that n bodies cause each other, every pair looked at. A body is a float4: its
// place and its mass.
//
// WG            work items in a group
// OUTER         bodies of an item, a group's width apart: each body read serves all of them
// UNROLL        the loop over bodies is unrolled by this, which divides WG
// USE_LOCAL     1: a group copies WG bodies at a time to local memory; 0: items read global memory
// NATIVE_RSQRT  1: the device's own reciprocal square root; 0: a division by the exact root

#if NATIVE_RSQRT == 1
#define RSQRT(x) native_rsqrt(x)
#else
#define RSQRT(x) (1.0f / sqrt(x))
#endif

float4 pull(float4 body, float4 other, float softening)
{
    const float dx = other.x - body.x;
    const float dy = other.y - body.y;
    const float dz = other.z - body.z;
    const float inverse = RSQRT(dx * dx + dy * dy + dz * dz + softening);
    const float s = other.w * inverse * inverse * inverse;
    return (float4)(s * dx, s * dy, s * dz, 0.0f);
}

kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void
nbody(global const float4 *bodies, global float4 *accelerations, int n, float softening)
{
    const int item = get_local_id(0);
    const int first = get_group_id(0) * (WG * OUTER) + item;
    float4 body[OUTER];
    float4 sum[OUTER];
#if USE_LOCAL == 1
    local float4 tile[WG];
#endif

    for (int o = 0; o < OUTER; o++) {
        body[o] = bodies[first + o * WG];
        sum[o] = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int start = 0; start < n; start += WG) {
#if USE_LOCAL == 1
        tile[item] = bodies[start + item];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int j = 0; j < WG; j += UNROLL) {
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
#if USE_LOCAL == 1
                const float4 other = tile[j + u];
#else
                const float4 other = bodies[start + j + u];
#endif
                for (int o = 0; o < OUTER; o++) {
                    sum[o] += pull(body[o], other, softening);
                }
            }
        }
#if USE_LOCAL == 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    for (int o = 0; o < OUTER; o++) {
        accelerations[first + o * WG] = sum[o];
    }
}
