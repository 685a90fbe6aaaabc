//! Constructs of C++ in kernels, one at a time.

use super::CudaCase;

fn shown(text: &str) -> String {
    wrapped(&CudaCase::text(text))
}

/// What is shown, with messages in several lines.
fn wrapped(case: &CudaCase) -> String {
    case.shown().replace("; ", ";\n").replace(": ", ":\n")
}

#[test]
fn references_name_places() {
    // A number stays known through a reference; memory is loaded at each mention.
    let steps = shown(
        "__device__ void advance(int &i, int by) { i += by; }\n\
         __device__ float twice(const float &x) { return x + x; }\n\
         __global__ void k(float *o) {\n\
           int i = 4; advance(i, 3); float &r = o[i]; r = twice(o[threadIdx.x]);\n\
           const float4 &v = ((float4 *)o)[1]; r += v.y;\n\
         }",
    );
    insta::assert_snapshot!(steps, @r"
    o
       1  1 Index
       2  load global o 4 items [1]
       2  load global o 4 items [1]
       2  1 Real
       4  store global o 4 items [0]
       5  load global o 4x4 items [0]
       5  load global o 4 items [0]
       5  1 Real
       5  store global o 4 items [0]
    ");
}

#[test]
fn names_of_builtin_functions_are_free() {
    let steps = shown(
        "__device__ float length(float a, float b = 2) { return a * b; }\n\
         __global__ void k(float *o) { o[0] = length(o[1]) + sqrtf(o[2]) + __expf(1.0f); }",
    );
    insta::assert_snapshot!(steps, @r"
    o
       2  load global o 4 items [0]
       1  1 RealMultiply
       2  load global o 4 items [0]
       2  1 Special
       2  1 Real
       2  1 Special
       2  1 Real
       2  store global o 4 items [0]
    ");
}

#[test]
fn an_open_argument_decides_a_branch_at_compile_time() {
    let text = "template <int N, bool B> __global__ void k(float *o) {\n\
                  if constexpr (B) o[N] = 1; else o[0] = o[1];\n\
                  float a[N]; for (int i = 0; i < N; ++i) a[i] = o[i];\n\
                  const int m = N / 2; o[m] = a[0];\n}\n";
    let case = CudaCase::text(text).symbol("N", 8).symbol("B", 1);
    insta::assert_snapshot!(wrapped(&case), @r"
    o
       2  store global o 4 items [0]
       3  repeat N
       3    1 Index
       3    load global o 4 items [0] iterations [1]
       3    1 Index
       4  store global o 4 items [0]
    ");
    insta::assert_snapshot!(wrapped(&CudaCase::text(text)), @r#"
    k.cu:1:
    `k` is a template that nothing in the file uses;
    give "N", "B" with --template NAME=TEXT or kernel.defines
    "#);
    insta::assert_snapshot!(wrapped(&CudaCase::text(text).define("N", "4")), @r"
    k.cu:
    there is no instance k<(int)(4)>:
    its arguments do not fit;
    give all parameters of the template with --template NAME=TEXT or kernel.defines
    ");
}

#[test]
fn lambdas_see_what_they_capture() {
    let text = |body: &str| {
        format!("__global__ void k(float *o, int n) {{ float s = n; int i = 1; {body} }}")
    };
    let by_reference = "auto f = [&](float v, int &j) { j += 2; return v * s; };\n\
                        o[i] = f(o[n], i); o[i] = 1;";
    insta::assert_snapshot!(shown(&text(by_reference)), @r"
    o, n
       1  1 Convert
       2  load global o 4 items [0]
       1  1 Index
       1  1 RealMultiply
       2  store global o 4 items [0]
       2  store global o 4 items [0]
    ");
    let changed = "auto f = [=](int j) { return j + i; };\ni = 5;\no[f(1)] = 1;";
    insta::assert_snapshot!(shown(&text(changed)), @r"
    k.cu:3:
    a captured variable that changes is not read;
    write it in another way
    ");
}

#[test]
fn errors_count_inside_of_the_kernel() {
    let host = "void run(Missing m) { unknown<3>(m); }\n";
    let kernel = "__global__ void k(float *o) { o[SIZE] = 1; }\n";
    let case = CudaCase::text(&(host.to_owned() + kernel)).symbol("SIZE", 4);
    insta::assert_snapshot!(wrapped(&case), @r"
    o
       2  store global o 4 items [0]
    ");
    insta::assert_snapshot!(shown(&(host.to_owned() + kernel)), @r"
    k.cu:2:
    use of undeclared identifier 'SIZE';
    declare it, add it to kernel.defines, or set kernel.standard to the version that has it
    ");
}

#[test]
fn constructors_are_methods() {
    let steps = shown(
        "struct P { int at; float v; __device__ P(int i, float w) : at(i + 1) { v = w * w; } \
           __device__ P() : P(0, 0.0f) {} };\n\
         __global__ void k(float *o) {\n\
           const P p(threadIdx.x, o[0]);\n\
           o[p.at] = p.v;\n\
         }",
    );
    insta::assert_snapshot!(steps, @r"
    o
       3  load global o 4 items [0]
       1  1 Integer
       1  1 RealMultiply
       4  store global o 4 items [1]
    ");
}

#[test]
fn values_of_constructors_and_objects_in_memory() {
    // Template arguments in front of `()` are none of the constructor.
    let steps = shown(
        "template <class T, int N> struct V { T x[N]; };\n\
         struct P { int at; float v; __device__ P(int i, float w) : at(i) { v = w * w; } \
           __device__ float of(float y) const { return v + y; } };\n\
         __device__ P made(int i, float v) { return P(i + 1, v); }\n\
         __global__ void k(float *o, const P *p, int i) {\n\
           o[0] = p[i].of(2);\n\
           o[1] = made(threadIdx.x, o[2]).of(3);\n\
           auto v = V<float, 4>(); v.x[0] = o[3]; o[4] = v.x[0];\n\
         }",
    );
    insta::assert_snapshot!(steps, @r"
    o, p, i
       2  load global p 4 items [0]
       2  1 Real
       5  store global o 4 items [0]
       6  load global o 4 items [0]
       3  1 Integer
       2  1 RealMultiply
       2  1 Real
       6  store global o 4 items [0]
       7  load global o 4 items [0]
       7  store global o 4 items [0]
    ");
}

#[test]
fn textures_are_images() {
    let text = "__global__ void k(float *o, cudaTextureObject_t t, int w) {\n\
                  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;\n\
                  o[0] = tex2D<float>(t, x, y);\n\
                  float4 v = tex2DLod<float4>(t, x, y, 0); o[1] = v.x;\n\
                  o[2] = tex1Dfetch<float>(t, x + 3);\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o, t, w
       2  2 Index
       3  load global t 4 items [1]
       3  store global o 4 items [0]
       4  load global t 4x4 items [4]
       4  store global o 4 items [0]
       5  1 Index
       5  load global t 4 items [1]
       5  store global o 4 items [0]
    ");
}

#[test]
fn texture_references_are_arguments() {
    let text = "texture<float, 2, cudaReadModeElementType> plane; texture<int4> line;\n\
                __device__ float at(int x, int y) { return tex2D(plane, x, y); }\n\
                __global__ void k(float *o) {\n\
                  o[0] = at(threadIdx.x, 1) + tex1Dfetch(line, 3).x;\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o, plane, line
       2  load global plane 4 items [1]
       4  load global line 4x4 items [0]
       4  1 Real
       4  store global o 4 items [0]
    ");
}

#[test]
fn function_objects_are_operators() {
    // A function as an argument of a template, a lambda of the host, a function object.
    let text = "typedef float (*Function)(float);\n\
                __device__ float twice(float x) { return x + x; }\n\
                template <Function F> __device__ float applied(float x) { return F(x); }\n\
                template <class T, class F, class G> __global__ void k(T *o, F f, G g) {\n\
                  o[0] = f(o[1], o[2]); o[3] = g(o[4]); o[5] = applied<twice>(o[6]); }\n\
                void run(float *o) { auto g = [] __device__ (float x) { return x * x; };\n\
                  k<<<1, 32>>>(o, std::plus<float>(), g); }\n";
    insta::assert_snapshot!(shown(text), @r"
    o
       5  load global o 4 items [0]
       5  load global o 4 items [0]
       5  1 Real
       5  store global o 4 items [0]
       5  load global o 4 items [0]
       6  1 RealMultiply
       5  store global o 4 items [0]
       5  load global o 4 items [0]
       2  1 Real
       5  store global o 4 items [0]
    ");
}

#[test]
fn vectors_of_hip_have_operators() {
    let text = "__global__ void k(float4 *o, int2 *p) {\n\
                  o[0] = o[1] * o[1] + o[2] * 2.0f - -o[3];\n\
                  o[4] += o[5]; p[0] = 3 * p[1]; p[2] *= 2;\n}\n";
    insta::assert_snapshot!(wrapped(&CudaCase::text(text).hip()), @r"
    o, p
       2  load global o 4x4 items [0]
       2  load global o 4x4 items [0]
       2  1 RealMultiply of 4
       2  load global o 4x4 items [0]
       2  2 Real of 4
       2  load global o 4x4 items [0]
       2  2 Real of 4
       2  store global o 4x4 items [0]
       3  load global o 4x4 items [0]
       3  load global o 4x4 items [0]
       3  1 Real of 4
       3  store global o 4x4 items [0]
       3  load global p 4x2 items [0]
       3  1 IntegerMultiply of 2
       3  store global p 4x2 items [0]
       3  load global p 4x2 items [0]
       3  1 IntegerMultiply of 2
       3  store global p 4x2 items [0]
    ");
    insta::assert_snapshot!(shown(text), @r"
    k.cu:2:
    invalid operands to binary expression ('float4' and 'float4');
    correct the source
    ");
}

#[test]
fn copies_that_no_item_waits_for() {
    let text = "#include <cuda/pipeline>\n#include <cuda/barrier>\n\
                namespace cg = cooperative_groups;\n\
                __global__ void k(float *o, const float *a) {\n\
                  __shared__ alignas(16) float s[256]; int i = threadIdx.x;\n\
                  __shared__ cuda::barrier<cuda::thread_scope_block> b;\n\
                  const auto all = cuda::aligned_size_t<16>(sizeof(float4));\n\
                  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();\n\
                  pipe.producer_acquire();\n\
                  cuda::memcpy_async(&s[4 * i], &a[4 * i], all, pipe);\n\
                  cuda::memcpy_async(&s[i], &a[i], sizeof(float), pipe);\n\
                  pipe.producer_commit(); pipe.consumer_wait();\n\
                  auto token = b.arrive(); b.wait(std::move(token));\n\
                  cg::memcpy_async(cg::this_thread_block(), s, a, 512);\n\
                  cg::wait(cg::this_thread_block());\n\
                  __pipeline_memcpy_async(s + i, a + i, 8); __pipeline_commit();\n\
                  o[i] = s[i];\n}\n";
    let case = CudaCase::text(text);
    insta::assert_snapshot!(wrapped(&case), @r"
    o, a
       5  local s:
    1024 bytes
      10  2 Index
      10  1 Integer
      10  load global a 4x4 items [4]
      10  store local s 4x4 items [4]
      11  3 Integer
      11  load global a 4 items [1]
      11  store local s 4 items [1]
      13  barrier
      14  repeat max(0, (127 - $lid_0) // $local_0 + 1)
      14    2 Index
      14    load global a 4 items [1] iterations [$local_0]
      14    store local s 4 items [1] iterations [$local_0]
      14    1 Index
      15  barrier
      16  2 Index
      16  2 Integer
      16  load global a 4x2 items [1]
      16  store local s 4x2 items [1]
      17  load local s 4 items [1]
      17  store global o 4 items [1]
    ");
}

#[test]
fn active_items_of_a_warp_are_a_group() {
    let text = "__global__ void k(int *o) {\n\
                  auto g = cooperative_groups::coalesced_threads();\n\
                  o[1] = g.shfl(g.thread_rank(), 0) + g.size();\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o
       3  5 Integer
       3  1 Shuffle
       3  3 Integer
       3  store global o 4 items [0]
    ");
}

#[test]
fn surfaces_are_images() {
    // Places in rows are counted in bytes.
    let text = "__global__ void k(cudaSurfaceObject_t s, cudaSurfaceObject_t d) {\n\
                  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;\n\
                  float4 v = surf2Dread<float4>(s, x * sizeof(float4), y + 1);\n\
                  surf2Dwrite<float>(v.x, d, x * 4, y, 0);\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    s, d
       2  2 Index
       3  3 Index
       3  load global s 4x4 items [4]
       4  2 Index
       4  store global d 4 items [1]
    ");
}

#[test]
fn what_ldg_loads_is_never_written() {
    let text = "__device__ float sum(const float *p) { return __ldg(p) + p[1]; }\n\
                __global__ void k(float *o, float *a, float *b, float *c) {\n\
                  int i = threadIdx.x; o[i] = __ldg(a + i) + __ldg(&b[i]) + sum(c);\n}\n";
    assert_eq!(CudaCase::text(text).read_only(), ["a", "b"]);
}

#[test]
fn traits_and_limits_of_types() {
    let text = "#include <type_traits>\n#include <limits>\n\
                struct Op { static __device__ int twice(int x) { return x + x; } };\n\
                template <class T> __device__ T twice(T x) {\n\
                  if constexpr (std::is_integral_v<T>) return x << 1; else return x * T(2); }\n\
                __global__ void k(float *o, int *p, int n) {\n\
                  o[0] = twice(o[1]); p[0] = twice(p[1]);\n\
                  if (n < std::numeric_limits<signed char>::max()) p[Op::twice(n)] = 1;\n\
                  o[1] = fmaxf(o[0], -std::numeric_limits<float>::infinity());\n\
                  if (std::is_signed<unsigned>::value || !std::is_pointer_v<int *>) p[9] = 2;\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o, p, n
       7  load global o 4 items [0]
       5  1 RealMultiply
       7  store global o 4 items [0]
       7  load global p 4 items [0]
       5  1 Integer
       7  store global p 4 items [0]
       8  1 Integer
       8  if $n < 127
       3    1 Index
       8    store global p 4 items [0]
       9  load global o 4 items [0]
       9  1 Real
       9  store global o 4 items [0]
    ");
}

#[test]
fn functions_that_state_how_they_round() {
    let text = "__global__ void k(float *o, double *d, int n) {\n\
                  o[0] = __fmaf_rd(o[1], __frcp_ru(o[2]), __fdiv_rz(o[3], o[4]));\n\
                  o[5] = __int2float_rd(__float2int_ru(o[6]));\n\
                  d[0] = __dadd_ru(d[1], __dmul_rz(d[2], __ll2double_rn(n)));\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o, d, n
       2  load global o 4 items [0]
       2  load global o 4 items [0]
       2  1 RealDivide
       2  load global o 4 items [0]
       2  load global o 4 items [0]
       2  1 RealDivide
       2  1 RealMultiplyAdd
       2  store global o 4 items [0]
       3  load global o 4 items [0]
       3  2 Convert
       3  store global o 4 items [0]
       4  load global d 8 items [0]
       4  load global d 8 items [0]
       4  1 Convert
       4  1 RealMultiply
       4  1 Real
       4  store global d 8 items [0]
    ");
}

#[test]
fn two_results_of_one_angle() {
    let text = "__global__ void k(float *o) { float s, c; sincosf(o[0], &s, &c); o[1] = s * c;\n\
                  __sincosf(o[2], o + 3, &c); o[4] = c;\n\
                  sincosf(s, o + 5, o + 6);\n\
                  if (int i = threadIdx.x; i < 3) o[i] = 0;\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    o
       1  load global o 4 items [0]
       1  2 Special
       1  1 RealMultiply
       1  store global o 4 items [0]
       2  load global o 4 items [0]
       2  1 Special
       2  1 Index
       2  store global o 4 items [0]
       2  1 Special
       2  store global o 4 items [0]
       3  1 Special
       3  1 Index
       3  store global o 4 items [0]
       3  1 Special
       3  1 Index
       3  store global o 4 items [0]
       4  1 Integer
       4  if $lid_0 < 3 (item)
       4    store global o 4 items [1]
    ");
}

#[test]
fn what_is_not_read_is_refused() {
    let refused = |body: &str| {
        let classes = "struct B { int x; }; struct D : B { int y; }; \
                       struct C { int x; __device__ C(int y) { x = y; } };\n";
        shown(&format!("{classes}__global__ void k(float *o, int n) {{\n{body}\n}}"))
    };
    let all = [
        "D d; o[d.y] = 1;",
        "cooperative_groups::thread_group g = cooperative_groups::this_thread_block();\n\
         o[g.thread_rank()] = 1;",
        "float s, c; sincospif(o[0], &s, &c);",
        "for (int i : {1, 2}) o[i] = 1;",
        "int *p = new int[n];",
        "float (*f)(float) = nullptr; o[0] = f(1);",
        "auto f = [x = n](int i) { return x + i; };\no[f(1)] = 1;",
        "goto end; end: ;",
    ];
    let all = all.map(|body| refused(body).replace(";\nwrite it in another way", ""));
    insta::assert_snapshot!(all.join("\n"), @r"
    k.cu:3:
    a variable of type D, whose layout is not read is not read
    k.cu:4:
    `thread_rank` of a cooperative group is not read
    k.cu:3:
    a function with two results is not read
    k.cu:3:
    cannot deduce type of initializer list because std::initializer_list was not found;
    include <initializer_list>;
    correct the source
    k.cu:3:
    memory that the device allocates is not read
    k.cu:3:
    a call through a pointer is not read
    k.cu:4:
    a capture with a value is not read
    k.cu:3:
    goto is not read
    ");
}
