//! What is read of the eight sources.

use super::CudaCase;

#[test]
fn a_macro_sizes_the_launch() {
    let case = CudaCase::file("saxpy.cu").symbol("BLOCK", 256);
    insta::assert_snapshot!(case.launches(), @r"
    13 saxpy(n, a, dx, dy)
      (n + BLOCK - 1) / BLOCK, 1, 1 groups
      BLOCK, 1, 1 items, 0 bytes
    ");
    insta::assert_snapshot!(case.entry("saxpy").shown(), @r"
    n, a, x, y
       8  2 Index
       9  1 Integer
       9  if $group_0 * $local_0 + $lid_0 < $n (item)
       9    load global x 4 items [1]
       9    1 RealMultiply
       9    load global y 4 items [1]
       9    1 Real
       9    store global y 4 items [1]
    ");
}

#[test]
fn parameters_of_a_template_stay_open() {
    let case = CudaCase::file("tile.cu");
    insta::assert_snapshot!(case.launches(), @r"
    24 product<16, 4, float> of [TILE, WORK](a, b, c, n)
      n / (TILE * WORK), n / TILE, 1 groups
      TILE, TILE, 1 items, 0 bytes
    28 product<32, 2, float> of [32, 2](a, b, c, n)
      n / 64, n / 32, 1 groups
      32, 32, 1 items, 0 bytes
    29 product<16, 1, double> of [16, 1](d, d, e, n)
      n / 16, n / 16, 1 groups
      16, 16, 1 items, 0 bytes
    ");
    let case = case.dimensions(2).symbol("TILE", 16).symbol("WORK", 4).define("T", "float");
    insta::assert_snapshot!(case.entry("product").shown(), @r"
    a, b, c, n
       4  local as: 4 * TILE * (TILE + 1) bytes
       5  local bs: 4 * TILE * TILE * WORK bytes
       7  5 Index
       9  repeat max(0, ceil_div($n, TILE))
       9    1 Index
      10    3 Index
      10    load global a 4 items [1] iterations [TILE]
      10    store local as 4 items [1] iterations [0]
      12    repeat WORK
      12      6 Index
      12      load global b 4 items [1] iterations [TILE]
      12      2 Index
      12      store local bs 4 items [1] iterations [TILE]
      12      1 Index
      13    barrier
      14    repeat TILE
      14      1 Index
      15      repeat WORK
      15        1 Index
      15        load local as 4 items [0] iterations [0]
      15        2 Index
      15        load local bs 4 items [1] iterations [TILE]
      15        1 RealMultiply
      15        1 Real
      15        1 Index
      14      1 Index
      16    barrier
       9    1 Index
      18  repeat WORK
      18    5 Index
      18    store global c 4 items [1] iterations [TILE]
      18    1 Index
    ");
}

#[test]
fn constants_are_symbols() {
    let names = [("BX", 32), ("BY", 8), ("RADIUS", 3)];
    let case = names.iter().fold(CudaCase::file("stencil.cu"), |c, (n, v)| c.symbol(n, *v));
    insta::assert_snapshot!(case.launches(), @r"
    29 rows(in, out, width, height)
      width / BX, height / BY, 1 groups
      BX, BY, 1 items, 0 bytes
    31 scale4(out, 2, width * height / 4)
      width * height / 4 / 128, 1, 1 groups
      128, 1, 1 items, 0 bytes
    ");
    insta::assert_snapshot!(case.dimensions(2).entry("rows").shown(), @r"
    in, out, width, height
       6  local line: 4 * BY * (BX + 2 * RADIUS) bytes
       7  4 Index
       8  repeat max(0, ceil_div(2 * RADIUS - $lid_0, BX) + 1)
       8    1 Index
       9    6 Index
      10    2 Index
      10    load global in 4 items irregular iterations irregular
      10    store local line 4 items [1] iterations [BX]
       8    1 Index
      12  barrier
      15  repeat 2 * RADIUS + 1
      15    1 Index
      15    load constant weights 4 items [0] iterations [1]
      15    1 Index
      15    load local line 4 items [1] iterations [1]
      15    1 RealMultiplyAdd
      15    1 Index
      16  2 Index
      16  store global out 4 items [1]
    ");
    let case = CudaCase::file("stencil.cu").entry("scale4");
    insta::assert_snapshot!(case.shown(), @r"
    data, by, quads
      19  2 Index
      20  1 Integer
      20  if $group_0 * $local_0 + $lid_0 < $quads (item)
      21    load global data 4x4 items [4]
      22    4 RealMultiply
      23    store global data 4x4 items [4]
    ");
}

#[test]
fn warps_and_dynamic_shared_memory() {
    let case = CudaCase::file("reduce.cu");
    insta::assert_snapshot!(case.launches(), @r"
    30 reduce<1> of [1](in, out, n)
      (n + threads * 8 - 1) / (threads * 8), 1, 1 groups
      threads, 1, 1 items, threads / 32 * 4 bytes
    ");
    insta::assert_snapshot!(case.entry("reduce").shown(), @r"
    in, out, n, part
      11  2 Index
      11  repeat max(0, ceil_div($n - $group_0 * $local_0 - $lid_0, $global_0))
      11    1 Index
      12    load global in 4 items [1] iterations [$global_0]
      13    1 RealMultiply
       7    1 Real
      11    2 Index
       4  1 Index
       4  1 Shuffle
       4  1 Real
       4  2 Index
       4  1 Shuffle
       4  1 Real
       4  2 Index
       4  1 Shuffle
       4  1 Real
       4  2 Index
       4  1 Shuffle
       4  1 Real
       4  2 Index
       4  1 Shuffle
       4  1 Real
       4  2 Index
      17  2 Index
      18  1 Integer
      18  if $lid_0 % 32 == 0 (item)
      18    store local part 4 items irregular
      19  barrier
      20  1 Integer
      20  if $lid_0 // 32 == 0 (item)
      21    1 IntegerDivide
      21    1 Integer
      21    if $lid_0 % 32 < $local_0 // 32 (item)
      21      load local part 4 items irregular
       4    1 Index
       4    1 Shuffle
       4    1 Real
       4    2 Index
       4    1 Shuffle
       4    1 Real
       4    2 Index
       4    1 Shuffle
       4    1 Real
       4    2 Index
       4    1 Shuffle
       4    1 Real
       4    2 Index
       4    1 Shuffle
       4    1 Real
       4    2 Index
      23    1 Integer
      23    if $lid_0 % 32 == 0 (item)
      23      atomic global shared
    ");
}

#[test]
fn cooperative_groups_are_names() {
    let case = CudaCase::file("groups.cu");
    insta::assert_snapshot!(case.launches(), @"");
    insta::assert_snapshot!(case.entry("sums").shown(), @r"
    in, out
      11  local part: 128 bytes
      12  2 Index
      12  load global in 4 items [1]
       5  1 Index
       5  1 Shuffle
       5  1 Real
       5  2 Index
       5  1 Shuffle
       5  1 Real
       5  2 Index
       5  1 Shuffle
       5  1 Real
       5  2 Index
       5  1 Shuffle
       5  1 Real
       5  2 Index
       5  1 Shuffle
       5  1 Real
       5  2 Index
      13  1 IntegerDivide
      13  1 Integer
      13  if $lid_0 % 32 == 0 (item)
      13    1 Index
      13    store local part 4 items irregular
      14  barrier
      15  1 Integer
      15  if $lid_0 == 0 (item)
      17    repeat $local_0 // 32
      17      2 Index
      17      load local part 4 items [0] iterations [1]
      17      1 Real
      17      1 Index
      18    store global out 4 items [0]
    ");
}

#[test]
fn hip_is_the_same_language() {
    let case = CudaCase::file("scale.hip").symbol("block", 128);
    insta::assert_snapshot!(case.launches(), @r"
    12 scale(x, 2, n)
      (n + block - 1) / block, 1, 1 groups
      block, 1, 1 items, 0 bytes
    13 scale(x, 2, n)
      n / block, 1, 1 groups
      block, 1, 1 items, 0 bytes
    ");
    insta::assert_snapshot!(case.entry("scale").shown(), @r"
    x, by, n
       5  2 Index
       6  1 Integer
       6  if $group_0 * $local_0 + $lid_0 < $n (item)
       6    load global x 4 items [1]
       6    1 RealMultiply
       6    store global x 4 items [1]
    ");
}

#[test]
fn classes_and_lambdas() {
    let case = CudaCase::file("classes.cu").dimensions(2);
    insta::assert_snapshot!(case.launches(), @r"
    15 map<Twice> of [](in, w, h, out, 3)
      w / 64, h, 1 groups
      64, 1, 1 items, 64 * 4 bytes
    ");
    insta::assert_snapshot!(case.entry("map").shown(), @r"
    v_data, v_width, v_height, out, f_by, bytes
       7  2 Index
       2  2 Index
       2  load global v_data 4 items [1]
       9  store local bytes 4 items [1]
      10  barrier
      11  load local bytes 4 items [1]
       3  1 Real
       3  1 RealMultiply
       6  2 Index
      11  store global out 4 items [1]
    ");
}

#[test]
fn what_is_refused() {
    let shown = |entry: &str| CudaCase::file("refused.cu").entry(entry).shown();
    let refused = ["ptx", "whole_grid"].map(shown).join("\n");
    insta::assert_snapshot!(refused.replace("; write it in another way", ""), @r"
    refused.cu:5: asm is not read
    refused.cu:11: a barrier of all groups is not read
    ");
    insta::assert_snapshot!(shown("plain"), @r"
    x
      14  2 Index
      14  store global x 4 items [1]
    ");
    insta::assert_snapshot!(shown("absent").replace("; ", "\n"), @r"
    refused.cu: there is no kernel 'absent'
    kernel.entry may be ptx or whole_grid or plain
    ");
}
