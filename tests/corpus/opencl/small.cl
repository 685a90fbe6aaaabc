kernel void k(global int *a)
{
    __local int t[WG][2];
    int i = 0;
    do { t[get_local_id(0)][i & 1] = a[i]; } while (++i < TS);
    switch (TS) { case 1: a[0] = 1; break; default: atomic_add(&a[1], t[0][0]); }
}
