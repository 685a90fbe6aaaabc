//! Matrix operations of warps: counts that were made by hand.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::Problem;
use tickbound_opencl::attach;

use super::CudaCase;

/// What a kernel of `matrix.cu` uses on a platform, without what is 0; or why it is not read.
fn usage(platform: &str, groups: [i64; 2], parameters: &Value, kernel: &Value) -> String {
    let mut kernel = kernel.clone();
    kernel["opencl"] = "matrix.cu".into();
    kernel["language"] = "cuda".into();
    let items = if parameters.get("WARPS").is_some() { "32 * WARPS" } else { "32" };
    let value = json!({
        "profile": "resources", "platform": platform, "inputs": { "n": 1024 },
        "parameters": parameters,
        "launch": {
            "global_size": [format!("{} * ({items})", groups[0]), groups[1]],
            "local_size": [items, 1]
        },
        "kernel": kernel
    });
    let platforms = |name: &str| tickbound_model::platforms::find(name);
    let mut problem = Problem::from_value(&value, &IndexMap::new(), &platforms).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda");
    if let Err(error) = attach(&mut problem, &folder) {
        return error.to_string();
    }
    let bound = problem.space().unwrap().bound.remove(0);
    let used = problem.usage().entries().map(|(name, e)| (name, e.eval(&bound.env).unwrap()));
    let used = used.filter(|(_, n)| *n != 0).map(|(name, n)| format!("{name} {n}"));
    used.collect::<Vec<_>>().join("\n")
}

fn product(platform: &str) -> String {
    let kernel = json!({
        "entry": "product",
        "arguments": [
            { "name": "a", "type": "ushort", "length": "n * n" },
            { "name": "b", "type": "ushort", "length": "n * n" },
            { "name": "c", "type": "float", "length": "n * n", "output": true },
            { "name": "n", "type": "int", "value": "n" }
        ]
    });
    usage(platform, [16, 64], &json!({ "WARPS": [4] }), &kernel)
}

#[test]
fn a_product_from_global_memory() {
    // 64 iterations. 16 * 16 * 16 multiplications of a warp are 128 of an item. A request brings 8
    // rows of 16 bytes, so 4 bring 16 x 16 elements of 2 bytes, in 8 lines each; rows that are 2048
    // bytes apart share banks, so it takes 8 passes. What is stored is 4 requests of 8 rows of 32
    // bytes. A group reads 16 rows of A and 64 columns of B. 20 registers and 4 + 4 + 8.
    insta::assert_snapshot!(product("h200"), @r"
    real 8
    integer 322
    tensor 8192
    branches 64
    global_requests 516
    global_wavefronts 4128
    global_lines 4128
    l2_bytes 167936
    far_steps 64
    near_steps 64
    registers 36
    spill_uses 128
    dram_bytes 8388608
    ");
}

#[test]
fn rows_in_shared_memory() {
    // 8 requests to copy (8 elements of an item), and 4 for each of two fragments. Rows of 32 bytes
    // meet in banks two by two, rows of 48 bytes do not. A column of 16 bits is stored at a time.
    let padded = |pad: i64| {
        let kernel = json!({
            "entry": "padded",
            "arguments": [
                { "name": "a", "type": "ushort", "length": 256 },
                { "name": "c", "type": "ushort", "length": 256, "output": true }
            ]
        });
        let all = usage("a100", [1, 1], &json!({ "PAD": [pad] }), &kernel);
        let lines = all.lines().filter(|line| line.starts_with("local") || line.starts_with("ten"));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(padded(0), @r"
    tensor 128
    local_requests 16
    local_wavefronts 24
    local_bytes 512
    local_steps 1
    ");
    insta::assert_snapshot!(padded(8), @r"
    tensor 128
    local_requests 16
    local_wavefronts 16
    local_bytes 768
    local_steps 1
    ");
}

#[test]
fn types_and_shapes() {
    let shown = |entry: &str| {
        let all = CudaCase::file("matrix.cu").entry(entry).shown();
        all.lines().filter(|line| !line.contains("Index")).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(["bytes", "doubles", "tf32"].map(shown).join("\n"), @r"
    a, c, d
      43  load global a 1x4 items irregular
      44  repeat 2
      44    repeat 2
      44      load global a 1x4 items irregular iterations [16]
      45  1 Integer
      45  repeat 4
      45    load global c 4x2 items irregular iterations [8]
      46  repeat 8
      46    8 Tensor
      47  1 Integer
      47  repeat 4
      47    store global d 4x2 items irregular iterations [8]
    a, c, d
      43  load global a 8 items irregular
      44  load global a 8 items irregular
      45  1 Integer
      45  load global c 8x2 items irregular
      46  repeat 2
      46    64 Tensor
      47  1 Integer
      47  store global d 8x2 items irregular
    a, d
      59  repeat 8
      60  repeat 2
      60    repeat 2
      60      load global a 4 items irregular iterations [4]
      61  repeat 2
      61    repeat 2
      61      load global a 4 items irregular iterations [4]
      62  repeat 4
      63  repeat 8
      63    16 Tensor
      64  1 Integer
      64  repeat 2
      64    repeat 2
      64      store global d 4x2 items irregular iterations [8]
    ");
}

#[test]
fn a_platform_without_a_rate_of_tensor_cores() {
    insta::assert_snapshot!(product("mi250x").replace([';', ','], "\n"), @r"
    matrix.cu:17: mma_sync needs a rate of tensor cores
     which the platform does not have
     state platform.resources.tensor_lanes
     or choose another platform
    ");
}
