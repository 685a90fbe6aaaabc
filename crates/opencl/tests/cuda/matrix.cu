// Matrix operations of warps.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
constexpr int WARPS = 4, PAD = 0;

// A warp has a tile of 16 x 16 of C = A B, from global memory.
__global__ void product(const half *a, const half *b, float *c, int n) {
  const int row = blockIdx.y * 16, column = (blockIdx.x * WARPS + threadIdx.x / 32) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + k * n + column, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

// A tile in shared memory, whose rows PAD keeps apart.
__global__ void padded(const half *a, half *c) {
  __shared__ half tile[16 * (16 + PAD)];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * (16 + PAD) + i % 16] = a[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> fc;
  wmma::fill_fragment(fc, half(0.0f));
  wmma::load_matrix_sync(fa, tile, 16 + PAD);
  wmma::load_matrix_sync(fb, tile, 16 + PAD);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

// Other types, in other shapes.
template <class T, class C, int M, int N, int K, class L> __device__ void once(const T *a, const C *c, C *d) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, L> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, L> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc, fd;
  wmma::load_matrix_sync(fa, a, 64);
  wmma::load_matrix_sync(fb, a, 64);
  wmma::load_matrix_sync(fc, c, 64, wmma::mem_row_major);
  wmma::mma_sync(fd, fa, fb, fc);
  wmma::store_matrix_sync(d, fd, 64, wmma::mem_row_major);
}
__global__ void bytes(const signed char *a, const int *c, int *d) {
  once<signed char, int, 8, 32, 16, wmma::row_major>(a, c, d);
}
__global__ void doubles(const double *a, const double *c, double *d) {
  once<double, double, 8, 8, 4, wmma::col_major>(a, c, d);
}
__global__ void tf32(const float *a, float *d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, a, 8);
  for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(d, fc, 16, wmma::mem_row_major);
}
