kernel void k(global int *a)
{
    local int part[4];
    int item = get_local_id(0);
    part[item] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
        if (item < s)
            part[item] += part[item + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        a[get_group_id(0)] = part[0] << 1 | part[0] & 3;
}
