use super::*;

/// The device's part without declarations and blanks at the ends of lines.
fn part(source: &str) -> String {
    let part = device_part("k.cu", source, &[], &[]);
    let (_, own) = part.split_once("#line 1\n").expect("declarations");
    own.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn what_the_host_has_becomes_blank() {
    let source = "\
#include <vector>
#define HD __host__ __device__
static std::vector<float> data = { 1.0f }; int counter; // } not
constexpr int R = 3; const int T = 1'000; enum { BX = 32 };
__constant__ float weights[2] = { 1, 2 };
inline int up(int a, int b = ')') { return \"}\"[0]; }
struct View { const float *data; float at(int i) const { return data[i]; } };
struct Host { std::vector<int> all; };
HD float twice(float v) { return 2 * v; }
namespace a { namespace {
void check() {
#ifdef DEBUG
  puts(\"{\");
#endif
}
template <typename T, int N = (1 > 0)> __device__ T f(T v) { return v; }
} }
extern \"C\" { void c(void); }
const char *name(int);
template <int N> __global__ void __launch_bounds__(N) k(View v) { v.at(0); }
template <int N> void run(View v) { k<N><<<1, N>>>(v); }
template void run<4>(View);
struct View make() { return View{}; }
auto add = [] __device__ (int a) { return a; };
template <> struct Of<float> { typedef float4 type; }; template <> void host<float>() {}
bool operator==(dim3 a, dim3 b) { return a.x == b.x; }
";
    let expected = "
#define HD __host__ __device__
                                                        // } not
constexpr int R = 3; const int T = 1'000; enum { BX = 32 };
__constant__ float weights[2] = { 1, 2 };

struct View { const float *data; float at(int i) const { return data[i]; } };

HD float twice(float v) { return 2 * v; }
namespace a { namespace {

#ifdef DEBUG

#endif

template <typename T, int N = (1 > 0)> __device__ T f(T v) { return v; }
} }
extern \"C\" {               }
const char *name(int);
template <int N> __global__ void __launch_bounds__(N) k(View v) { v.at(0); }



auto add = [] __device__ (int a) { return a; };
template <> struct Of<float> { typedef float4 type; };

";
    assert_eq!(part(source).trim_start_matches('\n'), expected.trim_start_matches('\n'));
}

fn defines(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn values_take_their_places() {
    let text = "#ifndef BLOCK\n#define BLOCK 256\n#endif\nconstexpr int R = 3;\nnamespace a {\n\
                template <bool S, int N, typename T, T V, typename U = int>\n\
                __global__ void k(T *x) { x[BLOCK] = R; }\n}\n__global__ void é() {}\n\
                template __global__ void k2<4>();\n__global__ void plain() {}\n";
    let all = [("BLOCK", "64"), ("R", "5"), ("S", "1"), ("N", "8"), ("T", "float"), ("V", "2")];
    let (own, kernel) = instance(text, "k", &defines(&all)).unwrap();
    assert_eq!(kernel, "a::k<1, 8, float, 2>");
    let (start, rest) = text.split_once("#define BLOCK 256").unwrap();
    let expected = format!("#define BLOCK 64\n#line 1\n{start}{rest}").replace("R = 3", "R = 5");
    // Other kernels are left out.
    let expected = expected.replace("__global__ void é() {}", &" ".repeat(23));
    let expected = expected.replace("template __global__ void k2<4>();", &" ".repeat(33));
    let expected = expected.replace("__global__ void plain() {}", &" ".repeat(26));
    assert_eq!(own, expected);
    let (_, kernel) = instance(text, "plain", &defines(&[("Q", "1")])).unwrap();
    assert_eq!(kernel, "plain");
    assert_eq!(
        instance(text, "k", &defines(&all[..3])),
        Err("`k` is a template; give its parameter `N` in kernel.defines".to_owned())
    );
    assert_eq!(instance(text, "kk", &[]), Err("there is no kernel `kk`".to_owned()));
}

/// Whatever a file has, it ends, with as many lines.
#[test]
fn any_text_ends() {
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "'",
        "\"",
        "\\",
        "\n",
        "#define x \\\n",
        "/*",
        "*/",
        "//",
        "template <",
        ">",
        ";",
        "=",
        "é",
        " namespace a ",
        "struct ",
        "__global__ void k(",
        "\u{a0}",
        "0'",
    ];
    let mut random = 1_u64;
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..20 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text += pieces[(random >> 33) as usize % pieces.len()];
        }
        let lines = text.lines().count();
        assert_eq!(part(&text).lines().count(), lines, "{text:?}");
        let _ = instance(&text, "k", &defines(&[("x", "1"), ("a", "2")]));
    }
}
