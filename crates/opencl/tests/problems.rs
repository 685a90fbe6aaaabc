//! Problem files with sources: several files, folders for includes, arguments that do not fit,
//! prices.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::count::count;
use tickbound_model::{AccessKind, Problem};
use tickbound_opencl::{KernelReading, attach};

use crate::parse::tree::ready;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A problem with this kernel, read, or the error.
fn read(folder: &Path, kernel: Value) -> Result<(Problem, KernelReading), String> {
    read_under("opencl", folder, kernel)
}

/// The same under a profile.
fn read_under(
    profile: &str,
    folder: &Path,
    kernel: Value,
) -> Result<(Problem, KernelReading), String> {
    let value = json!({
        "profile": profile,
        "platform": { "units_per_device": 1, "elements_per_unit": 2, "global_access": 4,
            "resources": { "warp_width": 2 } },
        "inputs": { "n": 3 }, "parameters": { "WG": [2, 4] },
        "launch": { "global_size": 8, "local_size": "WG" }, "kernel": kernel
    });
    let none = |_: &str| unreachable!("the platform is in the file");
    let mut problem =
        Problem::from_value(&value, &IndexMap::new(), &none).map_err(|e| e.to_string())?;
    let reading = attach(&mut problem, folder).map_err(|e| e.to_string())?;
    Ok((problem, reading.expect("a source")))
}

/// Accesses of one launch with the first configuration.
fn counted(problem: &Problem, access: AccessKind) -> i128 {
    let space = problem.space().unwrap();
    count(problem, &space.bound[0]).unwrap().of(access)
}

#[test]
fn several_files_are_one() {
    if !ready() {
        return;
    }
    let folder = folder(&[
        ("lib/first.cl", "#include \"size.h\"\nint twice(int x) { return SIZE * x; }\n"),
        ("lib/size.h", "#define SIZE 2\n"),
        ("other/more.h", "int third(global int *p) {\n    return p[0] + p[1];\n}\n"),
        (
            "last.cl",
            "#include <more.h>\n\nkernel void k(global int *a) \
             {\n    a[SIZE] = third(a) + twice(1);\n}",
        ),
    ]);
    let kernel = |files: Value| json!({ "opencl": files, "include": ["other"], "entry": "k" });
    let (problem, reading) =
        read(folder.path(), kernel(json!(["lib/first.cl", "last.cl"]))).unwrap();
    assert_eq!(counted(&problem, AccessKind::Global), 8 * 3);
    assert_eq!(reading.name, "lib/first.cl");
    let steps = crate::steps::print(&reading.extracted.variants[0].steps);
    insta::assert_snapshot!(steps, @r"
    2  load global a 4 items [0]
    2  load global a 4 items [0]
    2  1 Integer
    2  1 IntegerMultiply
    4  1 Integer
    4  store global a 4 items [0]
    ");
    let files: Vec<String> =
        reading.extracted.variants[0].steps.body.iter().map(|s| s.at.file.to_string()).collect();
    assert!(files.contains(&"other/more.h".to_owned()), "{files:?}");
    assert!(files.contains(&"last.cl".to_owned()), "{files:?}");
    // One file by itself, in a list or not, is the same.
    let alone = |files| read(folder.path(), kernel(files)).unwrap_err();
    let missing = "last.cl:4: use of undeclared identifier 'SIZE'; declare it, add it to kernel.defines, or set \
                   kernel.standard to the version that has it";
    assert_eq!(alone(json!(["last.cl"])), missing);
    assert_eq!(alone(json!("last.cl")), missing);
    // Faults have the name of the file in which they are.
    let wrong = |text: &str| {
        std::fs::write(folder.path().join("last.cl"), text).unwrap();
        alone(json!(["lib/first.cl", "last.cl"]))
    };
    assert_eq!(
        wrong("\nkernel void k(global int *a) {\n    goto b; b: a[0] = 1;\n}"),
        "last.cl:3: goto is not read; write it in another way"
    );
    assert_eq!(
        wrong("\n#error no\n"),
        "last.cl:2: #error no; the source rejects these macros: check kernel.defines"
    );
    assert_eq!(
        alone(json!([])),
        "kernel.opencl: found []; write at least one path of a source file"
    );
    assert_eq!(
        alone(json!(["lib/first.cl", "none.cl"])),
        "none.cl: there is no such file; check kernel.opencl"
    );
}

#[test]
fn structural_macros_in_several_files() {
    if !ready() {
        return;
    }
    let folder = folder(&[
        ("a.cl", "#if WG == 2\n#define LOADS 1\n#else\n#define LOADS 3\n#endif\n"),
        (
            "inc/b.h",
            "#ifndef B\n#define B\nint b(global int *a) \
             { return LOADS == 3 ? a[0] + a[1] : a[2]; }\n#endif\n",
        ),
        (
            "b.cl",
            "#include \"b.h\"\n#include \"b.h\"\nkernel void k(global int *a) { a[0] = b(a); }\n",
        ),
    ]);
    let kernel = json!({ "opencl": ["a.cl", "b.cl"], "include": ["inc"], "entry": "k" });
    let (problem, reading) = read(folder.path(), kernel).unwrap();
    assert_eq!(reading.extracted.structural, ["WG"]);
    let loads = |i: usize| {
        count(&problem, &problem.space().unwrap().bound[i]).unwrap().of(AccessKind::Global)
    };
    assert_eq!((loads(0), loads(1)), (8 * 2, 8 * 3));
}

#[test]
fn arguments_fit_the_parameters() {
    if !ready() {
        return;
    }
    let text = "typedef struct { int a; float b; } pair;\n\
                kernel void k(global uchar *a, local float4 *l, int n, global pair *p, constant \
                ulong *c, double d) \
                { a[0] = n; }\n";
    let folder = folder(&[("k.cl", text)]);
    let right = [
        json!({ "name": "a", "type": "char", "length": 8 }),
        json!({ "name": "l", "type": "float", "length": "4 * WG", "space": "local" }),
        json!({ "name": "n", "type": "uint", "value": "n" }),
        json!({ "name": "p", "type": "uchar", "length": "8 * n" }),
        json!({ "name": "c", "type": "ulong", "length": 1 }),
        json!({ "name": "d", "type": "double", "real": 0.5 }),
    ];
    let with = |place: usize, argument: Value| {
        let mut arguments = right.to_vec();
        arguments[place] = argument;
        read(folder.path(), json!({ "opencl": "k.cl", "entry": "k", "arguments": arguments }))
            .map(drop)
    };
    assert_eq!(with(0, right[0].clone()), Ok(()));
    let wrong = [
        (
            0,
            json!({ "name": "a", "type": "float", "length": 8 }),
            "kernel.arguments.a: `a` of `k` is global uchar *, but this is a buffer of type float; \
             write \"type\": \"uchar\"",
        ),
        (
            0,
            json!({ "name": "a", "type": "uchar", "value": 8 }),
            "kernel.arguments.a: `a` of `k` is global uchar *, but this is a number; give it a \
             \"length\" without a \"space\"",
        ),
        (
            1,
            json!({ "name": "l", "type": "float", "length": 8 }),
            "kernel.arguments.l: `l` of `k` is local float4 *, but this is a buffer; give it a \
             \"length\" and \"space\": \"local\"",
        ),
        (
            1,
            json!({ "name": "l", "type": "int", "length": 8, "space": "local" }),
            "kernel.arguments.l: `l` of `k` is local float4 *, but this is local memory of type \
             int; write \"type\": \"float\"",
        ),
        (
            2,
            json!({ "name": "n", "type": "float", "real": 2.0 }),
            "kernel.arguments.n: `n` of `k` is int, but this is a number of type float; write \
             \"type\": \"int\"",
        ),
        (
            2,
            json!({ "name": "n", "type": "int", "length": 2 }),
            "kernel.arguments.n: `n` of `k` is int, but this is a buffer; give it a \"value\"",
        ),
        (
            4,
            json!({ "name": "c", "type": "uint", "length": 2 }),
            "kernel.arguments.c: `c` of `k` is constant ulong *, but this is a buffer of type \
             uint; write \"type\": \"ulong\"",
        ),
    ];
    for (place, argument, message) in wrong {
        assert_eq!(with(place, argument), Err(message.to_owned()));
    }
}

/// Atomic operations on local memory are told from others, and so are their prices.
#[test]
fn atomics_by_their_memory() {
    if !ready() {
        return;
    }
    let text = "kernel void k(global int *a) {\n    local int l[4];\n    int i = get_local_id(0);\n    \
                atomic_inc(&l[i]);\n    atomic_inc(&l[3 - i]);\n    atomic_add(a + \
                get_global_id(0), 1);\n}\n";
    let folder = folder(&[("k.cl", text)]);
    let (problem, _) = read(folder.path(), json!({ "opencl": "k.cl", "entry": "k" })).unwrap();
    assert_eq!(counted(&problem, AccessKind::LocalAtomic), 16);
    assert_eq!(counted(&problem, AccessKind::Atomic), 8);
}

/// One address of all items is told from others, unless one item of a group is picked out. Eight
/// items, two a group.
#[test]
fn atomics_on_one_address() {
    if !ready() {
        return;
    }
    let kinds = [
        AccessKind::Atomic,
        AccessKind::LocalAtomic,
        AccessKind::SharedAtomic,
        AccessKind::SharedLocalAtomic,
    ];
    for (statement, counts) in [
        ("atomic_add(a, 1);", [0, 0, 8, 0]),
        ("atomic_add(&a[get_group_id(0)], 1);", [8, 0, 0, 0]),
        ("atomic_add(&a[a[0]], 1);", [8, 0, 0, 0]),
        ("atomic_add(&l[get_group_id(0) % 2], 1);", [0, 0, 0, 8]),
        ("if (i == 0) atomic_add(a, 1);", [4, 0, 0, 0]),
        ("if (!i) atomic_add(l, 1);", [0, 4, 0, 0]),
        ("if (i != 0) ; else atomic_add(a, 1);", [4, 0, 0, 0]),
        ("if (get_global_id(0) < 7) atomic_add(a, 1);", [0, 0, 7, 0]),
        ("for (int k = 0; k < 3; k++) atomic_add(l, k);", [0, 0, 0, 24]),
        ("for (int k = 0; k < 3; k++) atomic_add(&a[k], k);", [24, 0, 0, 0]),
    ] {
        let text = format!(
            "kernel void k(global int *a) {{\n    local int l[4];\n    int i = get_local_id(0);\n    {statement}\n}}\n"
        );
        let folder = folder(&[("k.cl", &text)]);
        let (problem, _) = read(folder.path(), json!({ "opencl": "k.cl", "entry": "k" })).unwrap();
        assert_eq!(kinds.map(|kind| counted(&problem, kind)), counts, "{statement}");
    }
}

/// What one address of the launch is asked for, under the profile `resources`: groups of two, four
/// of them.
#[test]
fn atomics_on_one_address_of_the_launch_are_usage() {
    if !ready() {
        return;
    }
    for (statement, used) in [
        ("atomic_add(a, 1);", 8),
        ("atomic_add(l, 1);", 0),
        ("atomic_add(&a[i], 1);", 0),
        ("if (i == 0) atomic_add(a, 1);", 4),
        ("for (int k = 0; k < 3; k++) if (i == 1) atomic_add(a, k);", 12),
        ("if (i == 0) for (int k = 0; k < n; k++) atomic_add(a, k);", 12),
        ("if (i == 0) { if (n < 0) atomic_add(a, 1); else atomic_sub(a, 1); }", 4),
    ] {
        let text = format!(
            "kernel void k(global int *a, int n) {{\n    local int l[4];\n    int i = \
             get_local_id(0);\n    {statement}\n}}\n"
        );
        let folder = folder(&[("k.cl", &text)]);
        let arguments = json!([{ "name": "a", "type": "int", "length": 8 }, { "name": "n", "type": "int", "value": "n" }]);
        let kernel = json!({ "opencl": "k.cl", "entry": "k", "arguments": arguments });
        let (problem, _) = read_under("resources", folder.path(), kernel).unwrap();
        let space = problem.space().unwrap();
        let value = problem.usage().shared_atomics.eval(&space.bound[0].env);
        assert_eq!(value, Ok(used), "{statement}");
    }
}

/// A macro of a parameter's name can be made to stand for itself.
#[test]
fn names_that_the_source_uses_otherwise() {
    if !ready() {
        return;
    }
    let text = "#if WG\n#endif\nkernel void k(global int *a) { int WG = 1; for (int i = 0; i < WG; i++) a[i] = 1; }\n";
    let folder = folder(&[("k.cl", text)]);
    let kernel = |defines: Value| json!({ "opencl": "k.cl", "entry": "k", "defines": defines });
    assert!(read(folder.path(), kernel(json!({}))).is_err());
    let (problem, _) = read(folder.path(), kernel(json!({ "WG": { "text": "WG" } }))).unwrap();
    assert_eq!(counted(&problem, AccessKind::Global), 8);
}

/// Sizes of images are those of the argument, and sub-groups those of the platform.
#[test]
fn images_and_null_pointers() {
    if !ready() {
        return;
    }
    let folder = folder(&[(
        "k.cl",
        "kernel void k(read_only image2d_t in, sampler_t s, global float *out, \
         global float *none)\n\
         {\nfloat x = 0;\nfor (int i = 0; i < get_image_width(in); i++)\n\
         for (int j = 0; j < get_image_height(in); j++) x += read_imagef(in, s, (int2)(i, j)).x;\n\
         if (none) x += none[0];\nout[get_global_id(0)] = sub_group_reduce_add(x);\n}\n",
    )]);
    let kernel = |image: Value, none: i64| {
        json!({ "opencl": "k.cl", "entry": "k", "standard": "CL3.0", "arguments": [
            { "name": "in", "type": "uchar", "image": image },
            { "name": "s", "type": "uint", "value": 0 },
            { "name": "out", "type": "float", "length": 8 },
            { "name": "none", "type": "float", "length": none },
        ] })
    };
    let counts = |image: Value, none: i64| {
        let (problem, _) = read(folder.path(), kernel(image, none)).unwrap();
        [AccessKind::Global, AccessKind::Compute].map(|kind| counted(&problem, kind))
    };
    // An item loads all texels, adds, and stores; two items of a warp exchange once.
    assert_eq!(counts(json!(["n + 2", 4]), 0), [8 * (5 * 4 + 1), 8 * (5 * 4 + 2)]);
    assert_eq!(counts(json!([1, "n"]), 8), [8 * (3 + 1 + 1), 8 * (3 + 1 + 2)]);
    let fault = |image: Value| read(folder.path(), kernel(image, 0)).unwrap_err();
    assert_eq!(
        fault(json!([8])),
        "kernel.arguments.in: `in` of `k` is __read_only image2d_t, but this is an image; give it \
         \"image\": [WIDTH, HEIGHT]"
    );
    assert_eq!(
        fault(json!([])),
        "kernel.arguments[0].image: found []; write the texels in each of one to three dimensions, \
         [width, height]"
    );
}
