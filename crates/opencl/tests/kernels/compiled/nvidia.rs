//! Counts of the reading beside those of machine code: NVIDIA's compiler, without a device.
//!
//! `make tools` installs the compiler (NVRTC) and its disassembler where it can; without them
//! nothing is checked. `nvidia.cuh` maps OpenCL C to CUDA C++. The compiler knows the sizes of
//! groups, but no argument: what it unrolls may have a rest, which is code that no item executes.
//!
//! Compared is what one item does: instructions of the machine code, each as often as its loops
//! have iterations, which the configuration decides, with the usage of a warp. It is the same where
//! all items of all warps do the same. So these are left out:
//!
//! * what only some items do, such as the tree of the reduction and the borders of the stencil;
//! * whole numbers and branches: the reading says what they are on average;
//! * conversions of `coulomb`: the compiler moves them before the loop over atoms, the reading does
//!   not, and counts ten times as many;
//! * requests of `vload` and `vstore`: only what is aligned may be one, and OpenCL's compiler may
//!   know more than this one;
//! * reads of local memory in `minimum`, which the compiler joins by fours.
//!
//! No least count (rows `least`) may be above what is executed, in any configuration of the tables
//! and in those of a sample that have no loops. Where it is as much, one more would be found.
//!
//! Constant memory behind an argument is global memory in CUDA: its requests, which the reading
//! counts for the pipe of local memory, are compared together with both.

use super::machine::{Machine, python};
use super::{compare, compare_straight};

/// The table has the iterations that each loop of the machine code has for one of the loop around
/// it, by their first instructions; 0: not executed, or left out.
fn agrees(name: &str, table: &str) {
    let Some(python) = python() else { return };
    compare(name, "h200", table, |kernel, bound| {
        let machine = Machine::compile(&python, kernel, bound);
        Box::new(move |what, loops| Some(machine.count(what, loops)))
    });
}

#[test]
fn least_counts_without_loops() {
    let Some(python) = python() else { return };
    for name in ["minimum", "reduction", "transpose", "convolution", "stencil"] {
        compare_straight(name, "h200", |kernel, bound| {
            let machine = Machine::compile(&python, kernel, bound);
            if !machine.is_straight() {
                return None;
            }
            Some(Box::new(move |what, _| Some(machine.count(what, &[]))))
        });
    }
}

#[test]
fn minimum() {
    // Up to 32 registers cost no warp, so the compiler does not save them.
    let table = "
        WG=64 TS=8 loops
            global_requests       9       9   100 100
            barriers              1       1   100 100
            registers            20      30    60 105

        WG=256 TS=64 loops
            global_requests      65      65   100 100
            barriers              1       1   100 100
            registers            20      30    60 105";
    agrees("minimum", table);
}

#[test]
fn reduction() {
    let table = "
        WG=128 VPI=8 VW=1 loops
            global_requests       9       9   100 100
            barriers              8       8   100 100
            registers            20      22    80 130
            least.global_requests    8       9    88 100

        WG=1024 VPI=32 VW=1 loops
            global_requests      33      33   100 100
            barriers             11      11   100 100
            registers            20      30    60 105
            least.real              31      42    73 100
            least.global_requests   32      33    96 100";
    agrees("reduction", table);
}

#[test]
fn transpose() {
    // The first four rows of an item are straight-line code, the others a loop of four.
    let table = "
        TILE=32 ROWS=8 PAD=1 loops 0 0
            global_requests       8       8   100 100
            local_requests        8       8   100 100
            barriers              1       1   100 100
            registers            20      24    80 130
            least.global_requests    8       8   100 100

        TILE=64 ROWS=8 PAD=0 loops 1 1
            global_requests      16      16   100 100
            local_requests       16      16   100 100
            barriers              1       1   100 100
            registers            20      24    80 130
            least.global_requests   16      16   100 100";
    agrees("transpose", table);
}

#[test]
fn gemm() {
    // The last one has so few items in a group that the compiler takes 249 registers for loads.
    let table = "
        MWG=64 NWG=64 KWG=16 MDIMC=8 NDIMC=8 MDIMA=8 NDIMB=8 KWI=2 VWM=4 VWN=4 STRM=0 STRN=0 SA=1
          SB=1 loops 8 8
            real               8192    8192   100 100
            global_requests      80      80   100 100
            local_requests      576     576   100 100
            barriers             16      16   100 100
            registers           100      96    80 130
            least.real            8192    8192   100 100
            least.global_requests   80      80   100 100
            least.local_requests   512     576    88 100

        MWG=64 NWG=64 KWG=16 MDIMC=16 NDIMC=16 MDIMA=16 NDIMB=16 KWI=8 VWM=4 VWN=4 STRM=0 STRN=0
          SA=0 SB=0 loops 8
            real               2048    2048   100 100
            global_requests     260     260   100 100
            registers            44      56    60 105
            least.real            2048    2048   100 100
            least.global_requests  260     260   100 100

        MWG=128 NWG=128 KWG=16 MDIMC=16 NDIMC=16 MDIMA=16 NDIMB=16 KWI=2 VWM=8 VWN=8 STRM=0 STRN=0
          SA=1 SB=1 loops 8 8
            real               8192    8192   100 100
            global_requests      48      48   100 100
            local_requests      544     544   100 100
            barriers             16      16   100 100
            registers           100     118    80 130
            least.real            8192    8192   100 100
            least.global_requests   48      48   100 100
            least.local_requests   512     544    94 100

        MWG=128 NWG=64 KWG=16 MDIMC=8 NDIMC=8 MDIMA=8 NDIMB=8 KWI=8 VWM=4 VWN=2 STRM=0 STRN=0 SA=1
          SB=0 loops 8 2
            real              16384   16384   100 100
            global_requests     608     608   100 100
            local_requests      576     576   100 100
            registers           172     249    60 105
            least.real           16384   16384   100 100
            least.global_requests  352     608    57 100
            least.local_requests   512     576    88 100";
    agrees("gemm", table);
}

#[test]
fn nbody() {
    let table = "
        WG=256 OUTER=2 UNROLL=4 USE_LOCAL=1 NATIVE_RSQRT=1 loops 8 64
            real              65536   65536   100 100
            special            4096    4096   100 100
            global_requests      12      12   100 100
            local_requests     2056    2056   100 100
            barriers             16      16   100 100
            registers            40      39    80 130
            least.real           53248   61440    86 100
            least.special         4096    4096   100 100
            least.global_requests   10      12    83 100
            least.local_requests  2048    2056    99 100

        WG=256 OUTER=1 UNROLL=8 USE_LOCAL=0 NATIVE_RSQRT=0 loops 8 32
            real              32768   32768   100 100
            special            2048    2048   100 100
            global_requests    2050    2050   100 100
            registers            32      32    80 130
            least.real           26624   30720    86 100
            least.special         2048    2048   100 100

        WG=128 OUTER=8 UNROLL=1 USE_LOCAL=1 NATIVE_RSQRT=0 loops 16 128
            real             262144  262144   100 100
            special           16384   16384   100 100
            global_requests      32      32   100 100
            local_requests     2064    2064   100 100
            registers            88      63    90 150
            least.real          212992  245760    86 100
            least.special        16384   16384   100 100
            least.global_requests   24      32    75 100
            least.local_requests  2048    2064    99 100";
    agrees("nbody", table);
}

#[test]
fn coulomb() {
    let table = "
        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 VECTOR_SIZE=1 Z_ITERATIONS=4 INNER_UNROLL_FACTOR=1
          USE_CONSTANT_MEMORY=0 loops 16
            real                450     448    95 105
            special              64      64   100 100
            global_requests      20      20   100 100
            registers            28      26    80 130
            least.real             256     384    66 100
            least.special           64      64   100 100

        WORK_GROUP_SIZE_X=16 WORK_GROUP_SIZE_Y=4 VECTOR_SIZE=4 Z_ITERATIONS=8 INNER_UNROLL_FACTOR=1
          USE_CONSTANT_MEMORY=0 loops 16
            real               2853    2851    95 105
            special             512     512   100 100
            registers            68      64    80 130
            least.real            1315    2339    56 100
            least.special          512     512   100 100";
    agrees("coulomb", table);
}

#[test]
fn coulomb_by_columns() {
    let table = "
        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 Z_ITERATIONS=8 INNER_UNROLL_FACTOR=2 USE_SOA=0
          loops 16 4
            real                859     856    95 105
            special             128     128   100 100
            global_requests      32      32   100 100
            convert               3       3   100 100
            registers            32      26    80 130
            least.special          128     128   100 100

        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 Z_ITERATIONS=4 INNER_UNROLL_FACTOR=0 USE_SOA=1
          loops 4 0
            real                471     452    99 109
            special              64      64   100 100
            global_requests      72      72   100 100
            convert               3       3   100 100
            registers            28      32    80 130
            least.special           64      64   100 100

        WORK_GROUP_SIZE_X=32 WORK_GROUP_SIZE_Y=4 Z_ITERATIONS=16 INNER_UNROLL_FACTOR=0 USE_SOA=0
          loops 16
            real               1635    1616    96 106
            special             256     256   100 100
            global_requests      48      48   100 100
            convert               3       3   100 100
            registers            40      32    80 130
            least.special          256     256   100 100
            least.global_requests   32      48    66 100";
    agrees("coulomb-column", table);
}

#[test]
fn stencil() {
    let table = "
        BLOCK_X=32 BLOCK_Y=8 TILE_Z=4 USE_LOCAL=0 REUSE=0 loops
            real                 28      28   100 100
            global_requests      32      32   100 100
            registers            20      30    60 105
            least.real              28      28   100 100

        BLOCK_X=32 BLOCK_Y=8 TILE_Z=8 USE_LOCAL=0 REUSE=1 loops
            real                 56      56   100 100
            global_requests      50      50   100 100
            registers            20      30    60 105
            least.real              56      56   100 100

        BLOCK_X=32 BLOCK_Y=8 TILE_Z=8 USE_LOCAL=1 REUSE=1 loops
            real                 56      56   100 100
            barriers             16      16   100 100
            registers            20      32    60 105";
    agrees("stencil", table);
}

#[test]
fn dedispersion() {
    // In the second configuration the rest of the loop over channels, up to three, is straight-line
    // code: it counts once for each measure, though 8 channels have none.
    let table = "
        block_size_x=32 block_size_y=32 tile_size_x=1 tile_size_y=1 tile_stride_x=0 tile_stride_y=0
          loops 2 0
            real                                16      16   100 100
            convert                             16      17    89  99
            global_requests+local_requests      17      17   100 100
            registers                           20      25    80 130
            least.real                          15      16    93 100
            least.convert                       16      17    94 100
            least.global_requests                9      17    52 100

        block_size_x=32 block_size_y=32 tile_size_x=1 tile_size_y=4 tile_stride_x=0 tile_stride_y=0
          loops 4 2
            real                                64      88    68  78
            convert                             64      92    65  75
            global_requests+local_requests      68      96    66  76
            registers                           20      32    60 105
            least.real                          60      88    68 100
            least.convert                       64      92    69 100";
    agrees("dedispersion", table);
}

#[test]
fn convolution() {
    // With `use_shmem` the loop that copies the area is left out of the machine code's count, as
    // its iterations depend on the item: 18 requests in the third configuration, 8 in the fourth.
    let table = "
        block_size_x=32 block_size_y=8 tile_size_x=2 tile_size_y=2 read_only=1 use_padding=0
          use_shmem=0 loops
            real                                60      60   100 100
            global_requests+local_requests      79      79   100 100
            registers                           24      32    60 105
            least.real                          60      60   100 100
            least.global_requests               64      79    81 100

        block_size_x=32 block_size_y=8 tile_size_x=4 tile_size_y=4 read_only=1 use_padding=0
          use_shmem=0 loops
            real                               240     240   100 100
            global_requests+local_requests     271     271   100 100
            registers                           36      40    80 130
            least.real                         240     240   100 100
            least.global_requests              256     271    94 100

        block_size_x=32 block_size_y=8 tile_size_x=2 tile_size_y=2 read_only=0 use_padding=0
          use_shmem=1 loops 0
            real                                60      60   100 100
            global_requests+local_requests      97      79   118 128
            barriers                             1       1   100 100
            registers                           24      32    60 105
            least.real                          60      60   100 100
            least.local_requests                60      60   100 100

        block_size_x=16 block_size_y=16 tile_size_x=1 tile_size_y=1 read_only=0 use_padding=1
          use_shmem=1 loops 0
            real                                15      15   100 100
            global_requests+local_requests      39      31   121 131
            barriers                             1       1   100 100
            registers                           21      32    60 105
            least.real                          15      15   100 100
            least.local_requests                15      15   100 100";
    agrees("convolution", table);
}
