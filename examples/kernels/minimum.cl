// The minimum of an array, as far as one launch can take it: one minimum a group, the rest is the
// host's. After Listing 10 of Garanina, Staroletov, Gorlatch 2023.
//
// WG  work items in a group
// TS  elements that each item looks at, one after another

kernel void minimum(global const int *input, global int *minima, local int *scratch)
{
    const int item = get_local_id(0);
    const int first = get_global_id(0) * TS;

    scratch[item] = INT_MAX;
    for (int i = 0; i < TS; i++) {
        scratch[item] = min(scratch[item], input[first + i]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (item == 0) {
        int least = scratch[0];
        for (int i = 1; i < WG; i++) {
            least = min(least, scratch[i]);
        }
        minima[get_group_id(0)] = least;
    }
}
