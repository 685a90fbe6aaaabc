//! Functions of sub-groups and groups, images, asynchronous copies and null pointers: priced by
//! hand, and in random kernels that are read and run.

use tickbound_model::source::Standard;
use tickbound_opencl::Passed;
use tickbound_opencl::steps::SymbolExpr;

use super::oracle::{Verdict, compare, program};
use super::support::{Case, case, number};
use crate::random::Random;

fn collective(body: &str) -> Case {
    let mut case = case(&format!(
        "kernel void k(global int *a, global float *f, read_only image2d_t in, \
         write_only image2d_t out, read_only image1d_buffer_t line, sampler_t s, local int *l, \
         global int *none, int n, uint u)\n{{\n{body}\n}}\n"
    ));
    case.standard = Standard::Cl30;
    case
}

/// The steps without their lines.
fn plain(case: &Case) -> String {
    let text = case.shown();
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches(char::is_numeric));
    lines.map(str::trim_start).collect::<Vec<_>>().join("; ")
}

fn shown(body: &str) -> String {
    plain(&collective(body))
}

/// What each function costs in sub-groups of 32.
#[test]
fn prices() {
    let wave = "qcom_sub_group_shuffle_xor(n, 1u, CLK_SUB_GROUP_SHUFFLE_WIDTH_WAVE_SIZE_QCOM, 0)";
    let table = [
        ("sub_group_broadcast(n, 3)", "1 Shuffle"),
        ("intel_sub_group_shuffle_xor((float4)(1), 3u)", "1 Shuffle of 4"),
        ("sub_group_shuffle_xor((double)(1), 3u)", "1 Shuffle of 2"),
        ("intel_sub_group_shuffle((ushort2)(1), 3u)", "1 Shuffle"),
        ("intel_sub_group_shuffle_down(n, n, 1u)", "1 Shuffle"),
        (wave, "1 Shuffle"),
        ("sub_group_reduce_add(1.0f)", "5 Shuffle; 5 Real"),
        ("sub_group_scan_inclusive_max(n)", "5 Shuffle; 5 Integer"),
        ("sub_group_scan_exclusive_add(n)", "6 Shuffle; 5 Integer"),
        ("sub_group_clustered_reduce_add(n, 4u)", "2 Shuffle; 2 Integer"),
        ("work_group_reduce_add(n)", "5 Shuffle; 5 Integer; barrier; 5 Shuffle; 5 Integer"),
        ("sub_group_all(n)", "1 Integer"),
        ("sub_group_ballot(n)", "1 Integer"),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE)", ""),
        ("dot_acc_sat_4x8packed_ss_int(u, u, n)", "1 IntegerMultiply"),
        ("arm_dot((char4)(n), (char4)(1))", "1 IntegerMultiply"),
        (
            "intel_sub_group_block_read2((global uint *)a)",
            "load global a 4 items irregular; load global a 4 items irregular",
        ),
        ("read_imagef(line, n)", "load global line 4x4 items [0]"),
        ("read_imageui(line, (int)get_global_id(0))", "load global line 4x4 items [4]"),
        (
            "read_imageh(in, s, (int2)(get_global_id(0), n + 2))",
            "1 Index; load global in 2x4 items [4]",
        ),
        (
            "read_imagef(in, s, (float2)(get_global_id(0) + 0.5f, 1))",
            "1 Real; load global in 4x4 items [4]",
        ),
        (
            "write_imagef(out, (int2)(n, get_global_id(0)), (float4)(1))",
            "store global out 4x4 items [4 * $out.width]",
        ),
        ("get_image_width(in) * get_image_height(out)", "1 IntegerMultiply"),
    ];
    let mut faults = Vec::new();
    for (call, price) in table {
        let own = shown(&format!("{call};"));
        if own != price {
            faults.push(format!("{call}: {own}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The size of sub-groups is that of the attribute, which may be a macro, or of the platform.
#[test]
fn sizes() {
    let mut case =
        collective("int x = sub_group_reduce_add(n);\nif (get_sub_group_id() == 1) a[0] = x;");
    case.warp = 64;
    let then = "1 Integer; if $lid_0 // 64 == 1 (item); store global a 4 items [0]";
    assert_eq!(plain(&case), format!("6 Shuffle; 6 Integer; {then}"));
    for (attribute, times) in [
        ("intel_reqd_sub_group_size(4 * 2)", "3 Shuffle; 3 Integer"),
        ("qcom_reqd_sub_group_size(\"full\")", "7 Shuffle; 7 Integer"),
        ("qcom_reqd_sub_group_size(\"half\")", "6 Shuffle; 6 Integer"),
    ] {
        let mut case = collective("sub_group_reduce_add(n);");
        case.text = format!("__attribute__(({attribute})) {}", case.text);
        assert_eq!(plain(&case), times, "{attribute}");
    }
    let mut case = collective("sub_group_reduce_add(n); a[0] = get_max_sub_group_size();");
    case.text = format!("__attribute__((intel_reqd_sub_group_size(SG))) {}", case.text);
    case.symbols.push(("SG", 8, 32));
    let larger = "(SG > 8) + (SG > 16) + 3";
    let steps = "1 Shuffle; 1 Integer; store global a 4 items [0]";
    assert_eq!(plain(&case), format!("repeat {larger}; {steps}"));
}

/// What all items of a group have is theirs also after an exchange; what differs is not known.
#[test]
fn values() {
    let same = "for (int i = 0; i < sub_group_broadcast(n, 0); i++) a[i] = 0;";
    assert_eq!(
        shown(same),
        "repeat max(0, $n); 1 Shuffle; 1 Index; store global a 4 items [0] iterations [1]; 1 Index"
    );
    let differs = "if (sub_group_shuffle_xor((int)get_local_id(0), 1) == 2) a[0] = 0;";
    assert!(shown(differs).contains("the branch depends on data"), "{}", shown(differs));
}

/// A pointer is null where its buffer has no elements.
#[test]
fn null() {
    let body = "if (none != NULL) a[0] = none[0]; if (!none) a[1] = 1; a[2] = none ? 1 : 2; \
                global int *p = 0; p = none; if (p == 0 && n > 2) a[3] = 1;";
    let mut case = collective(body);
    let one = "store global a 4 items [0]";
    let there = plain(&case);
    assert_eq!(there.matches("load global none 4 items [0]").count(), 1, "{there}");
    assert_eq!(there.matches(one).count(), 2);
    case.arguments = vec![Passed::Memory; 7];
    case.arguments.push(Passed::Null);
    let absent = plain(&case);
    assert!(!absent.contains("load global none"), "{absent}");
    assert_eq!(absent.matches(one).count(), 3, "{absent}");
    case.text = case.text.replace("none != NULL", "none == NULL");
    assert_eq!(
        case.shown(),
        "k.cl:3: this pointer is null; give its buffer a length in kernel.arguments"
    );
}

/// All items copy in turn, and wait as at a barrier.
#[test]
fn asynchronous_copies() {
    let mut case = collective(
        "event_t e = async_work_group_copy(l, a, 100, 0); e = async_work_group_strided_copy(a, l, \
         64, 2, e);\nwait_group_events(1, &e);",
    );
    case.local = vec![Some(SymbolExpr::Name("WG".to_owned()))];
    let text = case.shown();
    assert_eq!(text.matches("load global a 4 items [1]").count(), 1, "{text}");
    assert_eq!(text.matches("store local l 4 items [1]").count(), 1, "{text}");
    assert_eq!(text.matches("store global a 4 items [2]").count(), 1, "{text}");
    assert_eq!(text.matches("barrier").count(), 1, "{text}");
    // Where the call stands.
    assert!(
        text.lines().all(|line| line.starts_with("   3") || line.starts_with("   4")),
        "{text}"
    );
}

/// A function without a body is asked for.
#[test]
fn functions_without_a_body() {
    let mut case = collective("a[0] = helper(n) + 1;");
    case.text = format!("int helper(int x);\n{}", case.text);
    assert_eq!(
        case.shown(),
        "k.cl:4: the function 'helper' is not known and has no body; define it in the file, or add \
         \"bounds\": { \"helper\": 1 } to the kernel in the problem file, with the operations of a \
         call instead of 1"
    );
    case.bounds = vec![("helper", 7)];
    assert_eq!(plain(&case), "repeat $bound_0; 1 Integer; 1 Integer; store global a 4 items [0]");
}

/// Statements of random kernels.
const STATEMENTS: [&str; 20] = [
    "x += sub_group_reduce_add(x);",
    "x = sub_group_broadcast(x, 1);",
    "y = sub_group_scan_exclusive_max(y);",
    "y += intel_sub_group_shuffle(y, 1u);",
    "x += sub_group_shuffle_xor(x, 1u) * read_imagef(in, s, (int2)(lid, n)).x;",
    "write_imagef(out, (int2)(lid, sub), (float4)(x));",
    "y += read_imageui(line, lid + n).y;",
    "y += as_int4(intel_sub_group_block_read4((global uint *)a)).x;",
    "intel_sub_group_block_write2((global uint *)a, (uint2)(y));",
    "if (sub_group_any(n > 3)) f[lid] = x;",
    "l[lid] = work_group_reduce_add(y);",
    "if (none) { f[0] = 1; none[lid] += y; } else a[0] = 2;",
    "if (none == NULL || n > u) a[1] = 3;",
    "a[lid] = get_max_sub_group_size();",
    "e = async_work_group_copy(l, (const global int *)a, n + 3, e); wait_group_events(1, &e);",
    "e = async_work_group_strided_copy((global int *)a, (const local int *)l, u, 2, e);",
    "y = dot_acc_sat_4x8packed_uu_uint(y, y, y);",
    "f[lane] = vload_half(lid, (global half *)f);",
    "vstore_half4(vload_half4(lid, (global half *)a), n, (global half *)a);",
    "p[0] += helper(p, y);",
];

/// Conditions and loops around them.
const AROUND: [&str; 9] = [
    "if (lane == 0)",
    "if (sub < n)",
    "if (lane + 1 < u)",
    "for (int i = lane; i < n; i += get_sub_group_size())",
    "for (int i = sub; i < N; i += get_num_sub_groups())",
    "for (uint w = get_max_sub_group_size() / 2; w > 0; w /= 2)",
    "for (int i = 0; i < N; i++)",
    "if (none != 0)",
    "if (get_sub_group_size() > u)",
];

fn kernel(random: &mut Random) -> String {
    let mut body = String::from(
        "int lid = get_local_id(0), lane = get_sub_group_local_id(), sub = get_sub_group_id();\n\
         float x = f[lid]; int y = n; event_t e = 0; int *p = &y;\n",
    );
    for _ in 0..2 + random.below(6) {
        for _ in 0..random.below(3) {
            body += random.pick(&AROUND);
            body += " ";
        }
        body += &format!("{{ {} }}\n", random.pick(&STATEMENTS));
    }
    format!(
        "int helper(int *p, int x) {{ *p += x; return x * 2; }}\n{}",
        collective(&(body + "f[lid] = x; a[lid] = y;")).text
    )
}

/// Two hundred kernels count as they run, in sub-groups of several sizes.
#[test]
fn random_kernels_count_as_they_run() {
    let from = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let (mut read, mut runs) = (0, 0);
    for seed in from..from + 200 {
        let mut random = Random(seed);
        let mut case = program(seed);
        case.text = kernel(&mut random);
        case.standard = Standard::Cl30;
        case.warp = [1, 2, 4, 8][random.below(4) as usize];
        let none = if random.one_in(2) { Passed::Null } else { Passed::Memory };
        case.arguments = vec![Passed::Memory; 7];
        case.arguments.extend([none, number(-2, 9), number(0, 5)]);
        match compare(&case, seed).unwrap_or_else(|difference| panic!("{difference}")) {
            Verdict::Refused => {}
            Verdict::Agreed(compared) => {
                read += 1;
                runs += compared;
            }
        }
    }
    println!("seeds from {from}: {read} of 200 kernels are read and agree in {runs} runs");
    assert!(read >= 120, "{read} of 200 kernels are read");
}
