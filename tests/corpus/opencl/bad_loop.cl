kernel void k(global int *a) { while (a[0]) a[1]++; }
