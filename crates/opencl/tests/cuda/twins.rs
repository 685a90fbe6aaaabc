//! Kernels of `examples/kernels` in CUDA: as many accesses and as much use of a device, for each
//! configuration, as in OpenCL C.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::count::count;
use tickbound_model::{AccessKind, Problem};
use tickbound_opencl::attach;

/// Ids and sizes that CUDA has no name for.
const PLAIN: [(&str, &str); 10] = [
    // CUDA has no arguments in constant memory.
    ("constant float *", "global const float *"),
    ("constant float4 *", "global const float4 *"),
    ("get_global_id(0)", "(get_group_id(0) * get_local_size(0) + get_local_id(0))"),
    ("get_global_id(1)", "(get_group_id(1) * get_local_size(1) + get_local_id(1))"),
    ("get_global_id(2)", "(get_group_id(2) * get_local_size(2) + get_local_id(2))"),
    ("get_global_size(0)", "(get_num_groups(0) * get_local_size(0))"),
    ("get_global_size(1)", "(get_num_groups(1) * get_local_size(1))"),
    // A requirement of OpenCL C that CUDA states as a bound.
    ("kernel __attribute__((reqd_work_group_size(", "REQUIRED(("),
    ("// everything is", ""),
    ("CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"),
];

/// Words of OpenCL C, and those of CUDA.
const WORDS: [(&str, &str); 35] = [
    ("kernel void", "__global__ void"),
    (", local int *scratch)", ")"),
    ("global const ", "const "),
    ("global ", ""),
    ("local float", "__shared__ float"),
    ("local vector", "__shared__ vector"),
    ("get_local_id(0)", "threadIdx.x"),
    ("get_local_id(1)", "threadIdx.y"),
    ("get_local_id(2)", "threadIdx.z"),
    ("get_group_id(0)", "blockIdx.x"),
    ("get_group_id(1)", "blockIdx.y"),
    ("get_group_id(2)", "blockIdx.z"),
    ("get_local_size(0)", "blockDim.x"),
    ("get_local_size(1)", "blockDim.y"),
    ("get_local_size(2)", "blockDim.z"),
    ("get_num_groups(0)", "gridDim.x"),
    ("get_num_groups(1)", "gridDim.y"),
    ("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", "__syncthreads()"),
    ("READ_ONLY restrict", "READ_ONLY __restrict__"),
    ("uchar", "unsigned char"),
    ("native_rsqrt(", "__frsqrt_rn("),
    ("(float4)(", "make_float4("),
    ("(float2)(", "make_float2("),
    ("vstore2(v, at, p)", "((float2 *)(p))[at] = (v)"),
    ("vstore4(v, at, p)", "((float4 *)(p))[at] = (v)"),
    ("vload2(i, p)", "((const float2 *)(p))[i]"),
    ("vload4(i, p)", "((const float4 *)(p))[i]"),
    (".s0", ".x"),
    (".s1", ".y"),
    (".s2", ".z"),
    (".s3", ".w"),
    ("int place(", "__device__ int place("),
    ("float4 pull(", "__device__ float4 pull("),
    ("scratch[item] = INT_MAX", "extern __shared__ int scratch[]; scratch[item] = INT_MAX"),
    ("__global__ void\n", "__global__ void "),
];

/// Arithmetic of vectors, which CUDA leaves to its users.
const VECTORS: &str = "\
template <class V> __device__ V all(float a);
template <> __device__ float all<float>(float a) { return a; }
template <> __device__ float2 all<float2>(float a) { return make_float2(a, a); }
template <> __device__ float4 all<float4>(float a) { return make_float4(a, a, a, a); }
#define OPERATOR(S) \\
  __device__ float2 operator S(float2 a, float2 b) { return make_float2(a.x S b.x, a.y S b.y); } \\
  __device__ float2 operator S(float2 a, float b) { return make_float2(a.x S b, a.y S b); } \\
  __device__ float2 operator S(float a, float2 b) { return make_float2(a S b.x, a S b.y); } \\
  __device__ float4 operator S(float4 a, float4 b) \\
  { return make_float4(a.x S b.x, a.y S b.y, a.z S b.z, a.w S b.w); } \\
  __device__ float4 operator S(float4 a, float b) \\
  { return make_float4(a.x S b, a.y S b, a.z S b, a.w S b); } \\
  __device__ float4 operator S(float a, float4 b) \\
  { return make_float4(a S b.x, a S b.y, a S b.z, a S b.w); }
OPERATOR(+) OPERATOR(-) OPERATOR(*)
template <class V> __device__ V &operator+=(V &a, const V &b) { a = a + b; return a; }
__device__ float2 rsqrt(float2 a) { return make_float2(rsqrt(a.x), rsqrt(a.y)); }
__device__ float4 rsqrt(float4 a)
{ return make_float4(rsqrt(a.x), rsqrt(a.y), rsqrt(a.z), rsqrt(a.w)); }
";

fn replaced(text: &str, table: &[(&str, &str)]) -> String {
    table.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Both texts of an example.
fn texts(name: &str, vectors: &[&str]) -> (String, String) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels");
    let text = std::fs::read_to_string(examples.join(name).with_extension("cl")).unwrap();
    let mut plain = replaced(&text, &PLAIN);
    while let Some(at) = plain.find("REQUIRED((") {
        let end = at + plain[at..].find("))) void").unwrap();
        plain.replace_range(at..end + 3, "kernel");
    }
    let mut cuda = plain.clone();
    for (zeroed, ty) in vectors.iter().filter_map(|pair| pair.split_once(": ")) {
        cuda = cuda.replace(&format!("{zeroed} = 0.0f"), &format!("{zeroed} = all<{ty}>(0.0f)"));
    }
    (plain, VECTORS.to_owned() + &replaced(&cuda, &WORDS))
}

/// The problem of an example with this source, for some values of parameters.
fn problem(name: &str, text: &str, language: Option<&str>, fewer: &Value) -> Problem {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels");
    let file = std::fs::read_to_string(examples.join(name).with_extension("json")).unwrap();
    let mut value: Value = serde_json::from_str(&file).unwrap();
    std::fs::write(folder.path().join("k"), text).unwrap();
    value["kernel"]["opencl"] = "k".into();
    value["profile"] = "resources".into();
    if let Some(language) = language {
        value["kernel"]["language"] = language.into();
    }
    for (name, domain) in fewer.as_object().unwrap() {
        value["parameters"][name] = domain.clone();
    }
    let platforms = |name: &str| tickbound_model::platforms::find(name);
    let mut problem = Problem::from_value(&value, &IndexMap::new(), &platforms).unwrap();
    attach(&mut problem, folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
    problem
}

/// How many configurations were compared.
fn same(name: &str, vectors: &[&str], fewer: Value) -> usize {
    let (plain, cuda) = texts(name, vectors);
    let opencl = problem(name, &plain, None, &fewer);
    let cuda = problem(name, &cuda, Some("cuda"), &fewer);
    let all = opencl.space().unwrap().bound;
    assert_eq!(all.len(), cuda.space().unwrap().bound.len());
    for bound in &all {
        let used = |problem: &Problem| {
            let each = problem.usage().entries();
            each.map(|(name, e)| (name, e.eval(&bound.env))).collect::<Vec<_>>()
        };
        let counted = |problem: &Problem| {
            let mut counts = count(problem, bound).map_err(|e| e.to_string())?;
            // An operation on a vector counts once in OpenCL C, and is several in CUDA.
            counts.accesses.retain(|kind, _| vectors.is_empty() || *kind != AccessKind::Compute);
            Ok::<_, String>(counts)
        };
        let values = opencl.name_values(&bound.configuration).to_string();
        assert_eq!(used(&opencl), used(&cuda), "{name} with {values}");
        assert_eq!(counted(&opencl), counted(&cuda), "{name} with {values}");
    }
    all.len()
}

macro_rules! twins {
    ($($test:ident: $name:literal, $vectors:expr, $fewer:tt => $count:literal;)+) => {
        $(#[test]
        fn $test() {
            assert_eq!(same($name, &$vectors, json!($fewer)), $count);
        })+
    };
}

twins! {
    transpose: "transpose", [], {} => 40;
    minimum: "minimum", [], {} => 56;
    reduction: "reduction", ["vector sum: vector"], {} => 144;
    stencil: "stencil", [], {} => 588;
    nbody: "nbody", ["vectors"], {} => 576;
    coulomb_column: "coulomb-column", ["sum[i]: float"], {} => 210;
    // Products of components are part of other additions than those of vectors.
    coulomb: "coulomb", [], { "VECTOR_SIZE": [1] } => 864;
    dedispersion: "dedispersion", [], { "block_size_x": [32, 64] } => 105;
    convolution: "convolution", [], { "block_size_x": [16, 32] } => 800;
    gemm: "gemm", ["sum[j][i]: vector_m"],
        { "MWG": [64], "NWG": [64], "VWM": [1, 4], "VWN": [1, 2] } => 10112;
}
