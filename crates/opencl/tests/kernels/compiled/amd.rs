//! Registers of the reading beside those that LLVM takes for an AMD device: gfx90a, the MI250X.
//!
//! The clang of the tests that run kernels on the host compiles them, where it knows that target.
//! `amd.h` has the functions of OpenCL. Nothing else is compared: LLVM reads what is the same for
//! all items by scalar instructions, and unrolls more than the source asks for. Bounds hold for
//! clang 15, 16 and 19. Left out are:
//!
//! * configurations that these compile with very different numbers, as they take registers for
//!   loads: `gemm` from global memory (70 to 78, the reading has 44), or with one tile in local
//!   memory (168 or 280, here 172), and `convolution` of 4 x 4 in local memory (51 or 90, here 36);
//! * kernels with few values: LLVM takes 8 to 18 registers, as addresses are in scalar ones, and
//!   the reading 20; and for `minimum` 83, as it takes all loads behind a condition to be live.

use std::path::{Path, PathBuf};
use std::process::Command;

use tickbound_model::Bound;

use super::compare;
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

/// Vector registers of an item.
fn registers(clang: &Path, kernel: &Kernel, bound: &Bound) -> i64 {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/compiled/amd.h");
    let mut command = Command::new(clang);
    command.args(["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-x", "cl", "-O3"]);
    command.args(["-S", "-o", "-", "-include", header]).args(kernel.options(bound));
    let output = command.arg(kernel.folder.join(&kernel.source().path)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Functions that are inlined in the kernel have such a line, too.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("; TotalNumVgprs: "));
    lines.map(|number| number.trim().parse().unwrap()).max().expect("registers")
}

/// Only registers are compared, which loops do not change.
fn agrees(name: &str, table: &str) {
    let Some(clang) = clang() else { return };
    compare(name, "mi250x", table, |kernel, bound| {
        let registers = registers(&clang, kernel, bound);
        Box::new(move |_, _| registers)
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
