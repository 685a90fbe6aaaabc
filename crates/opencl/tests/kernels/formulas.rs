//! The instrumented run itself, held against closed formulas and faulty kernels.

use std::fs;

use tempfile::TempDir;

use crate::kernels::example::Kernel;
use crate::kernels::instrument;
use crate::kernels::instrumented::{Argument, Content, Counts, Instrument, Outcome, Run};

#[test]
fn counts_of_minimum() {
    let Some(mut instrument) = instrument() else { return };
    let kernel = Kernel::load("minimum", "small").unwrap();
    for (wg, ts) in [(4u64, 256u64), (32, 2), (256, 64)] {
        let bound = kernel.bind(&[("WG", wg), ("TS", ts)]);
        let outcome = kernel.run(&mut instrument, &bound).unwrap();
        let (size, groups) = (65536, 65536 / (wg * ts));
        let expected = Counts {
            global_loads: size,
            global_stores: groups,
            local_loads: size + groups * wg,
            local_stores: size + groups * wg,
            ..Counts::default()
        };
        assert_eq!(outcome.counts, expected);
        let first = Counts {
            global_loads: ts,
            global_stores: 1,
            local_loads: ts + wg,
            local_stores: ts + 1,
            ..Counts::default()
        };
        let second = Counts { global_stores: 0, local_loads: ts, ..first };
        assert_eq!(outcome.items[..2], [first, second]);
    }
}

#[test]
fn counts_of_transpose() {
    let Some(mut instrument) = instrument() else { return };
    let kernel = Kernel::load("transpose", "small").unwrap();
    for (tile, rows, pad) in [(8, 1, 0), (32, 8, 1), (64, 16, 1)] {
        let bound = kernel.bind(&[("TILE", tile), ("ROWS", rows), ("PAD", pad)]);
        let outcome = kernel.run(&mut instrument, &bound).unwrap();
        let each = tile / rows;
        let item = Counts {
            global_loads: each,
            global_stores: each,
            local_loads: each,
            local_stores: each,
            ..Counts::default()
        };
        assert!(outcome.items.iter().all(|i| *i == item));
        assert_eq!(outcome.counts.global_loads, 256 * 128);
    }
}

#[test]
fn counts_of_gemm() {
    let Some(mut instrument) = instrument() else { return };
    let kernel = Kernel::load("gemm", "small").unwrap();
    for configuration in kernel.sample(12) {
        let p = |name| kernel.value(&configuration, name) as u64;
        let outcome = kernel.run(&mut instrument, &configuration).unwrap();
        let (m, n, k) = (p("m"), p("n"), p("k"));
        let groups = m / p("MWG") * (n / p("NWG"));
        let items = groups * p("MDIMC") * p("NDIMC");
        // For each of the items and each k, an item's vectors; or, where a group copies them, the
        // tile's vectors for each group and each k.
        let reads_a = items * k * p("MWG") / p("MDIMC") / p("VWM");
        let reads_b = items * k * p("NWG") / p("NDIMC") / p("VWN");
        let copies_a = groups * k * p("MWG") / p("VWM");
        let copies_b = groups * k * p("NWG") / p("VWN");
        let (sa, sb) = (p("SA"), p("SB"));
        let expected = Counts {
            global_loads: if sa == 1 { copies_a } else { reads_a }
                + if sb == 1 { copies_b } else { reads_b },
            global_stores: m * n / p("VWM"),
            local_loads: sa * reads_a + sb * reads_b,
            local_stores: sa * copies_a + sb * copies_b,
            ..Counts::default()
        };
        assert_eq!(outcome.counts, expected, "{}", kernel.describe(&configuration));
    }
}

/// Each body's loads and stores of global memory, of local memory, its loads of constant memory and
/// its atomic operations.
#[test]
fn one_access_each() {
    let cases = [
        ("b[0] += 1.0f;", "1 1 0 0 0 0"),
        ("vstore4(vload4(1, b), 0, b);", "1 1 0 0 0 0"),
        ("vstore3(vload3(1, b), 0, b);", "1 1 0 0 0 0"),
        ("vstore16(vload16(1, b), 0, b);", "1 1 0 0 0 0"),
        ("float p[8]; vstore8(vload8(0, b), 0, p); b[0] = vload4(0, p).x;", "1 1 0 0 0 0"),
        ("global float8 *v = (global float8 *)b; v[1] = v[0];", "1 1 0 0 0 0"),
        (
            "struct s { float f[9]; }; struct s p = *(global struct s *)b; b[9] = p.f[8];",
            "1 1 0 0 0 0",
        ),
        ("b[0] = t[(int)b[1]] + t[1];", "1 1 0 0 2 0"),
        ("b[0] = c[1] + dot(vload4(0, c), vload4(1, c));", "0 1 0 0 3 0"),
        ("l[0] = 1.0f; barrier(CLK_LOCAL_MEM_FENCE); b[0] = l[0] * l[0];", "0 1 2 1 0 0"),
        ("local int n; n = 0; atomic_add(&n, 2); b[0] = n;", "0 1 1 1 0 1"),
        ("atomic_inc(i); atomic_max(i, 3); atomic_cmpxchg(i, 3, 4);", "0 0 0 0 0 3"),
        ("b[0] > 0.0f && b[1] > 0.0f ? b[2] : 0.0f;", "1 0 0 0 0 0"),
        ("(void)(native_recip(b[0]) + mad24(i[0], 3, 4) + min(i[1], 5));", "3 0 0 0 0 0"),
    ];
    let Some(mut instrument) = instrument() else { return };
    for (body, expected) in cases {
        for standard in ["CL1.2", "CL3.0"] {
            let counts = run_body(&mut instrument, standard, body).map(|o| {
                let c = o.counts;
                let global = format!("{} {}", c.global_loads, c.global_stores);
                let local = format!("{} {}", c.local_loads, c.local_stores);
                format!("{global} {local} {} {}", c.constant_loads, c.atomics)
            });
            assert_eq!(counts.as_deref(), Ok(expected), "{body} in {standard}");
        }
    }
}

#[test]
fn faults_are_found() {
    let cases = [
        ("b[64] = 0.0f;", "out of bounds: store of 4 bytes in global memory, 256 bytes"),
        ("b[0] = b[-1];", "out of bounds: load of 4 bytes in global memory, -4 bytes"),
        ("b[0] = vload4(0, b + 61).x;", "out of bounds: load of 16 bytes"),
        ("b[0] = c[8];", "out of bounds: load of 4 bytes in constant memory"),
        ("b[0] = t[(int)b[0] + 4];", "out of bounds: load of 4 bytes in constant memory"),
        ("l[16] = 0.0f;", "out of bounds: store of 4 bytes in local memory"),
        ("local int n[3]; n[3] = 0;", "out of bounds: store of 4 bytes in local memory"),
        ("*(global float4 *)(b + 1) = 0.0f;", "misaligned: store of 16 bytes at byte 4 of `b`"),
        ("l[1] = l[0];", "byte 0 of local `l` is loaded, but nobody stored it"),
        ("if (b[0] == 0.0f) for (;;) i[0] = 0;", "took longer"),
    ];
    let Some(mut instrument) = instrument() else { return };
    instrument.set_time_limit(std::time::Duration::from_secs(2));
    for (body, expected) in cases {
        let message = run_body(&mut instrument, "CL1.2", body).unwrap_err();
        assert!(message.contains(expected), "{body}: {message}");
    }
    let cases = [
        ("l[get_local_id(0) / 2] = 0.0f;", "race: byte 0 of local `l` was stored by item 0"),
        ("l[get_local_id(0)] = 0.0f; b[0] = l[0];", "race: byte 0 of local `l` was stored by"),
        ("if (get_local_id(0) < 2) barrier(CLK_LOCAL_MEM_FENCE);", "barrier: 2 of 4 items"),
    ];
    for (body, expected) in cases {
        let message = run_items(&mut instrument, "CL1.2", body, 4).unwrap_err();
        assert!(message.contains(expected), "{body}: {message}");
    }
}

fn run_body(instrument: &mut Instrument, standard: &str, body: &str) -> Result<Outcome, String> {
    run_items(instrument, standard, body, 1)
}

/// Runs a kernel with this body: `b` has 64 floats, `i` 8 ints, `c` 8 constant floats, `l` 16
/// local floats; `t` is a table of 4 constants.
fn run_items(
    instrument: &mut Instrument,
    standard: &str,
    body: &str,
    items: usize,
) -> Result<Outcome, String> {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("body.cl");
    let text = format!(
        "constant float t[4] = {{1, 2, 3, 4}};\n\
         kernel void body(global float *b, global int *i, constant float *c, local float *l)\n\
         {{ {body} }}\n"
    );
    fs::write(&source, text).unwrap();
    let argument = |name: &str, element, content| Argument { name: name.into(), element, content };
    instrument.run(&Run {
        source: &source,
        entry: "body",
        standard,
        defines: Vec::new(),
        arguments: vec![
            argument("b", "float", Content::Buffer(vec![0; 256])),
            argument("i", "int", Content::Buffer(vec![0; 32])),
            argument("c", "float", Content::Buffer(vec![0; 32])),
            argument("l", "float", Content::Local(64)),
        ],
        global: vec![items],
        local: vec![items],
    })
}
