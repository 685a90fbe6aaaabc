namespace nvcuda { namespace wmma {
struct matrix_a; struct matrix_b; struct accumulator; struct row_major; struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32; }
template <class T> struct element { typedef T type, word; };
template <> struct element<__half> { typedef __half type; typedef __half2 word, two; };
template <> struct element<__nv_bfloat16> { typedef __nv_bfloat16 type; typedef __nv_bfloat162 word; };
template <> struct element<signed char> { typedef signed char type; typedef char4 word; };
template <> struct element<unsigned char> { typedef unsigned char type; typedef uchar4 word; };
template <> struct element<precision::tf32> { typedef float type, word; };
template <> struct element<float> { typedef float type, word; typedef float2 two; };
template <> struct element<int> { typedef int type, word; typedef int2 two; };
template <> struct element<double> { typedef double type, word; typedef double2 two; };
template <class U, int M, int N, int K, class T, class L = void> struct fragment {
  typedef typename element<T>::type element_type, storage_element_type;
  static constexpr int num_elements = M * N / 32, num_storage_elements = M * N / 32; element_type x[M * N / 32]; };
template <int M, int N, int K, class T, class L> struct fragment<matrix_a, M, N, K, T, L> {
  typedef typename element<T>::type element_type, storage_element_type;
  static constexpr int num_elements = M * K / 32, num_storage_elements = M * K / 32; element_type x[M * K / 32]; };
template <int M, int N, int K, class T, class L> struct fragment<matrix_b, M, N, K, T, L> {
  typedef typename element<T>::type element_type, storage_element_type;
  static constexpr int num_elements = K * N / 32, num_storage_elements = K * N / 32; element_type x[K * N / 32]; };
template <int LINES, int LENGTH, class W, class T, int N = sizeof(W) / sizeof(T), int WORDS = LENGTH / N,
          int ACROSS = WORDS < 4 ? WORDS : LINES < 8 ? 32 / LINES : 4, int DOWN = 32 / ACROSS>
__device__ void load_lines(T *x, const T *from, unsigned ld) {
  for (int i = 0; i < LINES / DOWN; i++) for (int j = 0; j < WORDS / ACROSS; j++)
    *(W *)(x + (i * (WORDS / ACROSS) + j) * N) = *(const W *)(from + (i * DOWN + tb_lane() % 32 / ACROSS) * ld + (j * ACROSS + tb_lane() % 32 % ACROSS) * N);
}
template <int LINES, int LENGTH, class W, class T, int N = sizeof(W) / sizeof(T), int WORDS = LENGTH / N,
          int ACROSS = WORDS < 4 ? WORDS : LINES < 8 ? 32 / LINES : 4, int DOWN = 32 / ACROSS>
__device__ void store_lines(T *to, const T *x, unsigned ld) {
  for (int i = 0; i < LINES / DOWN; i++) for (int j = 0; j < WORDS / ACROSS; j++)
    *(W *)(to + (i * DOWN + tb_lane() % 32 / ACROSS) * ld + (j * ACROSS + tb_lane() % 32 % ACROSS) * N) = *(const W *)(x + (i * (WORDS / ACROSS) + j) * N);
}
template <int M, int N, int K, class T> __device__ void load_matrix_sync(fragment<matrix_a, M, N, K, T, row_major> &f, const typename element<T>::type *p, unsigned ld) { load_lines<M, K, typename element<T>::word>(f.x, p, ld); }
template <int M, int N, int K, class T> __device__ void load_matrix_sync(fragment<matrix_a, M, N, K, T, col_major> &f, const typename element<T>::type *p, unsigned ld) { load_lines<K, M, typename element<T>::word>(f.x, p, ld); }
template <int M, int N, int K, class T> __device__ void load_matrix_sync(fragment<matrix_b, M, N, K, T, row_major> &f, const typename element<T>::type *p, unsigned ld) { load_lines<K, N, typename element<T>::word>(f.x, p, ld); }
template <int M, int N, int K, class T> __device__ void load_matrix_sync(fragment<matrix_b, M, N, K, T, col_major> &f, const typename element<T>::type *p, unsigned ld) { load_lines<N, K, typename element<T>::word>(f.x, p, ld); }
template <int M, int N, int K, class T> __device__ void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const typename element<T>::type *p, unsigned ld, layout_t layout) {
  if (layout == mem_row_major) load_lines<M, N, typename element<T>::two>(f.x, p, ld); else load_lines<N, M, T>(f.x, p, ld);
}
template <int M, int N, int K, class T> __device__ void store_matrix_sync(typename element<T>::type *p, const fragment<accumulator, M, N, K, T> &f, unsigned ld, layout_t layout) {
  if (layout == mem_row_major) store_lines<M, N, typename element<T>::two>(p, f.x, ld); else store_lines<N, M, T>(p, f.x, ld);
}
template <class F, class V> __device__ void fill_fragment(F &f, V value) { for (int i = 0; i < F::num_elements; i++) f.x[i] = value; }
template <int M, int N, int K, class A, class I, class B, class J, class C, class D>
__device__ void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, I> &, const fragment<matrix_b, M, N, K, B, J> &, const fragment<accumulator, M, N, K, C> &, bool = false) {
  constexpr int bytes = sizeof(typename element<A>::type);
  for (int i = 0; i < M * N / 32; i++) d.x[i] = tb_multiply<D>(K * (bytes == 8 ? 32 : bytes) / 2);
}
__device__ inline float __float_to_tf32(float value) { return value; }
} }
