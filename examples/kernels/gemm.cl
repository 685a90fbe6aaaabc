// C = A * B in single precision, with the fourteen parameters of CLTune's matrix multiplication in
// their usual meaning. A is M x K with M contiguous (element (m, k) is a[k * M + m]), B is K x N
// with N contiguous (b[k * N + n]), C is M x N with M contiguous (c[n * M + m]).
//
// MWG, NWG, KWG  a group computes MWG x NWG elements of C, in steps of KWG along K
// MDIMC, NDIMC   items of a group in m and n; each computes MWG / MDIMC x NWG / NDIMC elements
// MDIMA, NDIMB   the same items as they copy A (MDIMA of them in m) and B (NDIMB of them in n)
// KWI            the loop over k within a step is unrolled by this
// VWM, VWN       width of vectors of A and C, and of B
// STRM, STRN     an item's vectors in m (n) are 0: neighbours, 1: a group's width apart
// SA, SB         A (B) goes 1: through local memory, 0: straight to registers

#define KDIMA (MDIMC * NDIMC / MDIMA) // items in k as they copy A
#define KDIMB (MDIMC * NDIMC / NDIMB) // items in k as they copy B
#define MVG (MWG / VWM)               // vectors of a tile in m
#define NVG (NWG / VWN)               // vectors of a tile in n
#define MVI (MVG / MDIMC)             // vectors of an item in m
#define NVI (NVG / NDIMC)             // vectors of an item in n
#define MVA (MVG / MDIMA)             // vectors in m that an item copies of A
#define NVB (NVG / NDIMB)             // vectors in n that an item copies of B

#if VWM == 1
typedef float vector_m;
#elif VWM == 2
typedef float2 vector_m;
#elif VWM == 4
typedef float4 vector_m;
#else
typedef float8 vector_m;
#endif

#if VWN == 1
typedef float vector_n;
#elif VWN == 2
typedef float2 vector_n;
#elif VWN == 4
typedef float4 vector_n;
#else
typedef float8 vector_n;
#endif

// The i-th vector of item `id`, of `items` that have `each`.
int place(int id, int i, int items, int each, int strided)
{
    return strided ? id + i * items : id * each + i;
}

kernel __attribute__((reqd_work_group_size(MDIMC, NDIMC, 1))) void
gemm(global const vector_m *a, global const vector_n *b, global vector_m *c, int m, int n, int k)
{
#if SA == 1
    local vector_m tile_a[KWG * MVG];
#endif
#if SB == 1
    local vector_n tile_b[KWG * NVG];
#endif
    vector_m sum[NVI * VWN][MVI];
    vector_m column[MVI];
    vector_n row[NVI];

    const int im = get_local_id(0);
    const int in = get_local_id(1);
#if SA == 1 || SB == 1
    const int item = im + in * MDIMC;
#endif
    const int first_m = get_group_id(0) * MVG;
    const int first_n = get_group_id(1) * NVG;
    const int width_m = m / VWM;
    const int width_n = n / VWN;

    for (int j = 0; j < NVI * VWN; j++) {
        for (int i = 0; i < MVI; i++) {
            sum[j][i] = 0.0f;
        }
    }

    for (int step = 0; step < k; step += KWG) {
#if SA == 1
        for (int l = item / MDIMA; l < KWG; l += KDIMA) {
            for (int i = 0; i < MVA; i++) {
                const int at = place(item % MDIMA, i, MDIMA, MVA, STRM);
                tile_a[l * MVG + at] = a[(step + l) * width_m + first_m + at];
            }
        }
#endif
#if SB == 1
        for (int l = item / NDIMB; l < KWG; l += KDIMB) {
            for (int j = 0; j < NVB; j++) {
                const int at = place(item % NDIMB, j, NDIMB, NVB, STRN);
                tile_b[l * NVG + at] = b[(step + l) * width_n + first_n + at];
            }
        }
#endif
#if SA == 1 || SB == 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        for (int outer = 0; outer < KWG; outer += KWI) {
#pragma unroll
            for (int inner = 0; inner < KWI; inner++) {
                const int l = outer + inner;
#pragma unroll
                for (int i = 0; i < MVI; i++) {
                    const int at = place(im, i, MDIMC, MVI, STRM);
#if SA == 1
                    column[i] = tile_a[l * MVG + at];
#else
                    column[i] = a[(step + l) * width_m + first_m + at];
#endif
                }
#pragma unroll
                for (int j = 0; j < NVI; j++) {
                    const int at = place(in, j, NDIMC, NVI, STRN);
#if SB == 1
                    row[j] = tile_b[l * NVG + at];
#else
                    row[j] = b[(step + l) * width_n + first_n + at];
#endif
                }
#pragma unroll
                for (int j = 0; j < NVI; j++) {
#pragma unroll
                    for (int i = 0; i < MVI; i++) {
#if VWN == 1
                        sum[j][i] += column[i] * row[j];
#else
                        sum[j * VWN][i] += column[i] * row[j].s0;
                        sum[j * VWN + 1][i] += column[i] * row[j].s1;
#endif
#if VWN >= 4
                        sum[j * VWN + 2][i] += column[i] * row[j].s2;
                        sum[j * VWN + 3][i] += column[i] * row[j].s3;
#endif
#if VWN == 8
                        sum[j * VWN + 4][i] += column[i] * row[j].s4;
                        sum[j * VWN + 5][i] += column[i] * row[j].s5;
                        sum[j * VWN + 6][i] += column[i] * row[j].s6;
                        sum[j * VWN + 7][i] += column[i] * row[j].s7;
#endif
                    }
                }
            }
        }
#if SA == 1 || SB == 1
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }

    for (int j = 0; j < NVI; j++) {
        const int at = (first_n + place(in, j, NDIMC, NVI, STRN)) * VWN;
        for (int v = 0; v < VWN; v++) {
            for (int i = 0; i < MVI; i++) {
                c[(at + v) * width_m + first_m + place(im, i, MDIMC, MVI, STRM)] =
                    sum[j * VWN + v][i];
            }
        }
    }
}
