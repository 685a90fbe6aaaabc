//! Registers of the reading beside those that LLVM takes for an AMD device: gfx90a, the MI250X.
//!
//! The clang of the tests that run kernels on the host compiles them, where it knows that target.
//! `amd.h` has the functions of OpenCL. Nothing else is compared: LLVM reads what is the same for
//! all items by scalar instructions, and unrolls more than the source asks for. Bounds hold for
//! clang 15, 16 and 19. Least counts are compared with all instructions, where there are no loops.
//! Of the registers are left out:
//!
//! * configurations that these compile with very different numbers, as they take registers for
//!   loads: `gemm` from global memory (70 to 78, the reading has 44), or with one tile in local
//!   memory (168 or 280, here 172), and `convolution` of 4 x 4 in local memory (51 or 90, here 36);
//! * kernels with few values: LLVM takes 8 to 18 registers, as addresses are in scalar ones, and
//!   the reading 20; and for `minimum` 83, as it takes all loads behind a condition to be live.

use std::path::{Path, PathBuf};
use std::process::Command;

use tickbound_model::Bound;

use super::{compare, compare_straight};
use crate::kernels::example::Kernel;
use crate::kernels::instrumented::available;

/// A clang that compiles for AMD's devices.
fn clang() -> Option<PathBuf> {
    let targets = |clang: &PathBuf| Command::new(clang).arg("--print-targets").output().ok();
    let knows = |clang: &PathBuf| {
        targets(clang).is_some_and(|o| String::from_utf8_lossy(&o.stdout).contains("amdgcn"))
    };
    let found = available().filter(knows);
    if found.is_none() {
        eprintln!("skipped: no clang 15 or later with the target amdgcn");
    }
    found
}

/// A kernel as LLVM compiles it for a processor of AMD.
fn compile(clang: &Path, processor: &str, kernel: &Kernel, bound: &Bound) -> String {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/compiled/amd.h");
    let mut command = Command::new(clang);
    command.args(["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-x", "cl", "-O3"]);
    command.arg(format!("-mcpu={processor}"));
    command.args(["-S", "-o", "-", "-include", header]).args(kernel.options(bound));
    let output = command.arg(kernel.folder.join(&kernel.source().path)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Vector registers of an item.
fn registers(clang: &Path, kernel: &Kernel, bound: &Bound) -> i64 {
    // Functions that are inlined in the kernel have such a line, too.
    let text = compile(clang, "gfx90a", kernel, bound);
    let lines = text.lines().filter_map(|line| line.strip_prefix("; TotalNumVgprs: "));
    lines.map(|number| number.trim().parse().unwrap()).max().expect("registers")
}

/// The instructions of a kernel; nothing where it has loops, or calls what `amd.h` does not have.
fn straight(text: &str, entry: &str) -> Option<Vec<String>> {
    let start = format!("{entry}:");
    let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with(&start));
    let lines = lines.take_while(|line| !line.starts_with(".Lfunc_end"));
    let (mut labels, mut instructions) = (Vec::new(), Vec::new());
    for line in lines {
        let line = line.split(';').next().unwrap_or_default().trim();
        if let Some(label) = line.strip_suffix(':') {
            labels.push(label);
            continue;
        }
        let jumps = line.starts_with("s_branch") || line.starts_with("s_cbranch");
        let back = jumps && labels.iter().any(|label| line.ends_with(label));
        if back || line.starts_with("s_swappc") {
            return None;
        }
        // RDNA 3 has two in one.
        instructions.extend(line.split("::").map(|half| half.trim().to_owned()));
    }
    assert!(!instructions.is_empty(), "no kernel {entry}");
    Some(instructions)
}

/// How often an instruction counts for a quantity. One that reads two places of local memory is
/// two requests, as it takes twice the time.
fn times(instruction: &str, what: &str) -> i64 {
    let code = instruction.split_whitespace().next().unwrap_or_default();
    let code = code.trim_end_matches("_e32").trim_end_matches("_e64");
    let real = ["add", "sub", "subrev", "mul", "fma", "fmac", "mac", "mad", "fmaak", "fmamk"];
    let special = ["rsq", "rcp", "sqrt", "exp", "log", "sin", "cos"];
    let vector = code.strip_prefix("v_").and_then(|code| code.strip_suffix("_f32"));
    let is_any = |names: &[&str], name: &str| i64::from(names.contains(&name));
    match (what, vector) {
        ("least.real", Some(name)) => match name.strip_prefix("pk_") {
            Some(name) => 2 * is_any(&real, name),
            None => is_any(&real, name.trim_start_matches("dual_")),
        },
        ("least.special", Some(name)) => is_any(&special, name),
        ("least.convert", _) => i64::from(code.starts_with("v_cvt_")),
        ("least.global_requests", _) => i64::from(code.starts_with("global_")),
        ("least.local_requests", _) if code.starts_with("ds_") => {
            let two = ["read2", "write2", "2addr"].iter().any(|name| code.contains(name));
            1 + i64::from(two)
        }
        _ => 0,
    }
}

/// Least counts beside the code for RDNA 2 and 3, where that has no loops.
#[test]
fn least_counts_without_loops() {
    let Some(clang) = clang() else { return };
    for (platform, processor) in [("radeon-w6600", "gfx1032"), ("radeon-w7800", "gfx1100")] {
        for name in ["transpose", "stencil"] {
            compare_straight(name, platform, |kernel, bound| {
                let text = compile(&clang, processor, kernel, bound);
                let code = straight(&text, &kernel.source().entry)?;
                Some(Box::new(move |what, _| Some(code.iter().map(|line| times(line, what)).sum())))
            });
        }
    }
}

/// Only registers are compared, which loops do not change.
fn agrees(name: &str, table: &str) {
    let Some(clang) = clang() else { return };
    compare(name, "mi250x", table, |kernel, bound| {
        let registers = registers(&clang, kernel, bound);
        Box::new(move |what, _| (what == "registers").then_some(registers))
    });
}

#[test]
fn gemm() {
    let table = "
        MWG=64 NWG=64 KWG=16 MDIMC=8 NDIMC=8 MDIMA=8 NDIMB=8 KWI=2 VWM=4 VWN=4 STRM=0 STRN=0 SA=1
          SB=1 loops
            registers   100   102    75 130

        MWG=64 NWG=64 KWG=16 MDIMC=16 NDIMC=16 MDIMA=16 NDIMB=16 KWI=8 VWM=4 VWN=4 STRM=0 STRN=0
          SA=1 SB=1 loops
            registers    44    48    75 130";
    agrees("gemm", table);
}

#[test]
fn convolution() {
    let table = "
        block_size_x=32 block_size_y=8 tile_size_x=1 tile_size_y=1 read_only=1 use_padding=0
          use_shmem=0 loops
            registers    21    19    75 130

        block_size_x=32 block_size_y=8 tile_size_x=4 tile_size_y=4 read_only=1 use_padding=0
          use_shmem=0 loops
            registers    36    48    60 105";
    agrees("convolution", table);
}

#[test]
fn nbody() {
    let table = "
        WG=256 OUTER=2 UNROLL=4 USE_LOCAL=1 NATIVE_RSQRT=1 loops
            registers    40    63    60 105

        WG=128 OUTER=8 UNROLL=1 USE_LOCAL=1 NATIVE_RSQRT=1 loops
            registers    88   102    75 130

        WG=256 OUTER=4 UNROLL=8 USE_LOCAL=0 NATIVE_RSQRT=1 loops
            registers    56    60    75 130";
    agrees("nbody", table);
}

#[test]
fn coulomb() {
    let table = "
        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 VECTOR_SIZE=1 Z_ITERATIONS=4 INNER_UNROLL_FACTOR=1
          USE_CONSTANT_MEMORY=0 loops
            registers    28    22    90 150

        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 VECTOR_SIZE=1 Z_ITERATIONS=16 INNER_UNROLL_FACTOR=1
          USE_CONSTANT_MEMORY=1 loops
            registers    40    56    60 105";
    agrees("coulomb", table);
}

#[test]
fn coulomb_by_columns() {
    let table = "
        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 Z_ITERATIONS=16 INNER_UNROLL_FACTOR=0 USE_SOA=0
          loops
            registers    40    31    90 150";
    agrees("coulomb-column", table);
}

#[test]
fn stencil() {
    let table = "
        BLOCK_X=32 BLOCK_Y=8 TILE_Z=4 USE_LOCAL=0 REUSE=0 loops
            registers    20    25    75 130

        BLOCK_X=32 BLOCK_Y=8 TILE_Z=8 USE_LOCAL=1 REUSE=1 loops
            registers    20    24    75 130";
    agrees("stencil", table);
}
