//! Proposals for the project's own kernels, and for small ones with something special each.

mod host;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_model::platforms;
use tickbound_opencl::ReaderSetup;
use tickbound_propose::{InitRequest, Proposal, ProposeError, print, propose, reference};

fn request() -> InitRequest {
    InitRequest { platform: "h200".to_owned(), ..InitRequest::default() }
}

fn of_file(path: &Path, request: &InitRequest) -> Result<Proposal, ProposeError> {
    propose(path, request, &platforms::find, &ReaderSetup::default())
}

fn of_text(text: &str, request: &InitRequest) -> Result<Proposal, ProposeError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, text).unwrap();
    of_file(&path, request)
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels").join(name)
}

#[test]
fn minimum() {
    let proposal = of_file(&example("minimum.cl"), &request()).unwrap();
    assert_eq!(proposal.fault, None);
    insta::assert_snapshot!(print(&proposal.problem));
    insta::assert_snapshot!(reference(&proposal.kernel, &proposal.outputs));
}

/// Items that go on by the width of the launch have as many elements as their loop has iterations.
#[test]
fn launches_of_strided_items() {
    let launch = |count: &str| {
        let text = format!(
            "__kernel void k(const int n, __global const float4 *a, __global float4 *b) \
             {{ for (int w = 0; w < {count}; w++) \
                {{ int i = w * get_global_size(0) + get_global_id(0); b[i] = a[i]; }} }}"
        );
        problem_of(&text)["launch"]["global_size"][0].as_str().unwrap().to_owned()
    };
    // Of vectors, as the lengths say.
    assert_eq!(launch("WPT"), "n / (LOCAL_SIZE * WPT) * LOCAL_SIZE");
    assert_eq!(launch("2"), "n / (2 * LOCAL_SIZE) * LOCAL_SIZE");
}

/// The launch, the groups and the lengths that accesses state, in kernels with one of each kind.
#[test]
fn what_accesses_state() {
    let of = |text: &str| {
        let proposal = of_text(text, &request()).unwrap();
        assert_eq!(proposal.fault, None, "{text}");
        let words = |value: &Value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let list = |value: &Value| value.as_array().unwrap().iter().map(words).collect::<Vec<_>>();
        let problem = &proposal.problem;
        let arguments = problem["kernel"]["arguments"].as_array().unwrap();
        let lengths = arguments.iter().filter(|a| a.get("length").is_some());
        let lengths: Vec<String> = lengths.map(|a| words(&a["length"])).collect();
        let launch = &problem["launch"];
        let guesses = proposal.notes.iter().find_map(|n| n.strip_prefix("guesses: "));
        [
            list(&launch["local_size"]).join(", "),
            list(&launch["global_size"]).join(", "),
            lengths.join(", "),
            guesses.unwrap_or_default().to_owned(),
        ]
    };
    let float = "__global const float *a, __global float *b";
    let x = "get_group_id(0)";
    for (text, [local, global, lengths, guesses]) in [
        // Bits of ids.
        (
            format!(
                "({float}, int n) {{ int i = ({x} << 6) | get_local_id(0); if (i < n) b[i] = \
                a[i]; }}"
            ),
            ["64", "ceil_div(n, 64) * 64", "n, n", "n = 1048576"],
        ),
        // Columns are stored where rows are loaded.
        (
            format!(
                "({float}, int w, int h) {{ __local float t[TS][TS + 1]; \
                 int l = get_local_id(0), m = get_local_id(1), g = {x}, f = get_group_id(1); \
                 t[m][l] = a[(f * TS + m) * w + g * TS + l]; barrier(1); \
                 b[(g * TS + m) * h + f * TS + l] = t[l][m]; }}"
            ),
            ["TS, TS", "w, h", "w * h, w * h", "w = 1024; h = 1024"],
        ),
        // A stride that is a row, and one that is not.
        (
            format!(
                "({float}, int stride, int n) {{ int x = get_global_id(0), y = \
                get_global_id(1); b[y * stride + x] = a[y * stride + x]; }}"
            ),
            [
                "LOCAL_SIZE_X, LOCAL_SIZE_Y",
                "stride, n",
                "stride * n, stride * n",
                "n = 1024; \
            stride = 1024",
            ],
        ),
        (
            format!(
                "({float}, int stride, int w, int h) {{ int x = get_global_id(0), y = \
                get_global_id(1); if (x < w && y < h) b[y * w + x] = a[(y * w + x) * stride]; }}"
            ),
            [
                "LOCAL_SIZE_X, LOCAL_SIZE_Y",
                "ceil_div(w, LOCAL_SIZE_X) * LOCAL_SIZE_X, \
            ceil_div(h, LOCAL_SIZE_Y) * LOCAL_SIZE_Y",
                "w * h, w * h",
                "w = 1024; h = 1024; \
            stride = 1",
            ],
        ),
        // What multiplies an id is not how many there are of it.
        (
            format!(
                "({float}, int m, int n) {{ int j = get_global_id(0), i = get_global_id(1), \
                k = get_global_id(2); b[(k * m + i) * n + j] = a[(k * m + i) * n + j]; }}"
            ),
            [
                "LOCAL_SIZE_X, LOCAL_SIZE_Y, LOCAL_SIZE_Z",
                "n, m, items_z",
                "m * n * items_z, m * \
            n * items_z",
                "m = 1024; n = 1024; items_z = 128",
            ],
        ),
        // Limits that are products, quotients and numbers.
        (
            format!(
                "({float}, int w, int h) {{ int i = get_global_id(0); if (i < w * h) b[i] = \
                a[i]; }}"
            ),
            [
                "LOCAL_SIZE",
                "ceil_div(w * h, LOCAL_SIZE) * LOCAL_SIZE",
                "w * h, w * h",
                "w = \
            1024; h = 1024",
            ],
        ),
        (
            format!(
                "({float}, int w, int h) {{ int i = get_global_id(0), y = i / w; if (y < h) \
                b[(i % w) * h + y] = a[i]; }}"
            ),
            [
                "LOCAL_SIZE",
                "ceil_div(h * w, LOCAL_SIZE) * LOCAL_SIZE",
                "w * h, w * h",
                "w = \
            1024; h = 1024",
            ],
        ),
        (
            format!("({float}) {{ int i = get_global_id(0); if (i < 5000) b[i] = a[i]; }}"),
            ["LOCAL_SIZE", "ceil_div(5000, LOCAL_SIZE) * LOCAL_SIZE", "5000, 5000", ""],
        ),
        // Borders, three numbers for each item, structures.
        (
            format!(
                "({float}, int w) {{ int i = {x} * BX + get_local_id(0); float s = 0; for \
                (int k = 0; k < 7; k++) s += a[i + k]; b[i] = s; }}"
            ),
            ["BX", "w", "w + 6, w", "w = 1048576"],
        ),
        (
            format!(
                "({float}, int n) {{ int i = get_global_id(0); b[i] = a[3 * i] + a[3 * i + \
                2]; }}"
            ),
            ["LOCAL_SIZE", "n", "3 * n, n", "n = 1048576"],
        ),
        (
            "(__global const struct p { float x, y; int z[3]; } *a, __global struct p *b) { int \
                i = get_global_id(0); b[i] = a[i]; }"
                .to_owned(),
            ["LOCAL_SIZE", "items", "20 * items, 20 * items", "items = 1048576"],
        ),
        // A choice by data.
        (
            format!(
                "({float}, int n) {{ int i = get_global_id(0); switch ((int) a[i]) {{ case \
                0: b[i] = 1; break; case 1: b[i] = 2; default: b[i] = 3; }} }}"
            ),
            ["LOCAL_SIZE", "n", "n, n", "n = 1048576; both sides of branches on data (1)"],
        ),
        // A row for each group, and vectors whose width is a parameter.
        (
            format!(
                "({float}, int rows, int cols) {{ int r = {x}; \
                 for (int c = get_local_id(0); c < cols; c += get_local_size(0)) \
                 b[r * cols + c] = a[r * cols + c]; }}"
            ),
            [
                "LOCAL_SIZE",
                "rows * LOCAL_SIZE",
                "rows * cols, rows * cols",
                "rows = 1024; cols = 1024",
            ],
        ),
        (
            "(__global VEC(float, VW) *a) { a[get_global_id(0)] *= 2.0f; }".to_owned(),
            [
                "LOCAL_SIZE",
                "ceil_div(items, LOCAL_SIZE) * LOCAL_SIZE",
                "items * VW",
                "items = 1048576; an item for each element in x (else give --global-size)",
            ],
        ),
        // Memory for squares of a guess.
        (
            format!("({float}, int n) {{ int i = get_global_id(0); b[i] = a[i * n]; }}"),
            ["LOCAL_SIZE", "n", "n * n, n", "n = 16384"],
        ),
    ] {
        let own = [local, global, lengths, guesses].map(str::to_owned);
        let text =
            format!("#define VEC_(t, n) t##n\n#define VEC(t, n) VEC_(t, n)\n__kernel void k{text}");
        assert_eq!(of(&text), own, "{text}");
    }
}

/// Names that only an error before them leaves without a meaning, and types that a switch decides.
#[test]
fn what_follows_from_errors() {
    let text = "__kernel void k(__global float *a) { __local float s[TS], t[TS]; int i = \
    get_local_id(0); \
                s[i] = t[i] = a[i]; a[i] = s[0] + t[1]; }";
    let proposal = of_text(text, &request()).unwrap();
    let names = proposal.problem["parameters"].as_object().unwrap().keys();
    assert_eq!(names.collect::<Vec<_>>(), ["TS", "LOCAL_SIZE"]);
    let text = "#if USE_DOUBLE\ntypedef double T;\n#else\ntypedef float T;\n#endif\n\
                __kernel void k(__global T *a) { a[get_global_id(0)] *= 2; }";
    let problem = problem_of(text);
    assert_eq!(problem["kernel"]["defines"]["USE_DOUBLE"], 0);
    assert_eq!(problem["kernel"]["arguments"][0]["type"], "float");
    // What an error demands, and words for address spaces.
    let text = "#ifndef REAL\n#error define REAL\n#endif\n\
                KERNEL_FQ void k(GLOBAL_AS REAL *a) { a[get_global_id(0)] += (REAL) 1; }";
    let defines = json!({
        "GLOBAL_AS": { "text": "__global" }, "KERNEL_FQ": { "text": "__kernel" },
        "REAL": { "text": "float" }
    });
    assert_eq!(problem_of(text)["kernel"]["defines"], defines);
}

/// What speaks against a proposal is among its guesses.
#[test]
fn doubts() {
    let guesses = |text: &str, request: &InitRequest| {
        let proposal = of_text(text, request).unwrap();
        assert_eq!(proposal.fault, None);
        proposal
            .notes
            .iter()
            .find(|note| note.starts_with("guesses: "))
            .cloned()
            .unwrap_or_default()
    };
    let stencil = |condition: &str| {
        format!(
            "__kernel void k(__global float *a, __global float *b, int n) \
             {{ int i = get_global_id(0); if ({condition}) b[i] = a[i - 1] + a[i]; }}"
        )
    };
    let doubt = "that a has elements before its first";
    assert!(guesses(&stencil("i < n"), &request()).contains(doubt));
    assert!(!guesses(&stencil("i > 0 && i < n"), &request()).contains(doubt));
    let wide = InitRequest { global: vec!["4 * n".into()], ..request() };
    let doubt = "the global size in x: its last group accesses nothing";
    assert!(guesses(&stencil("i > 0 && i < n"), &wide).contains(doubt));
    assert!(!guesses(&stencil("i > 0 && i < n"), &request()).contains(doubt));
    let tiles = "__kernel void k(__global const float *a, __global float *b) \
                 { int i = get_group_id(0) * 96 + get_local_id(0); b[i] = a[i]; }";
    let of_32 = InitRequest { local: vec!["32".into()], ..request() };
    let doubt = "of b need no value";
    assert!(!guesses(tiles, &request()).contains(doubt));
    assert!(guesses(tiles, &of_32).contains("that 672 of 1024 elements of b need no value"));
    // A stencil that leaves out its border is not reported.
    assert!(!guesses(&stencil("i > 0 && i < n"), &request()).contains(doubt));
    let every_second = "__kernel void k(__global const float *a, __global float *b) \
                        { int i = get_global_id(0); b[2 * i] = a[i]; }";
    assert!(
        guesses(every_second, &request()).contains("that 512 of 1024 elements of b need no value")
    );
}

#[test]
fn matrix_multiplication() {
    let proposal = of_file(&example("gemm.cl"), &request()).unwrap();
    assert_eq!(proposal.fault, None);
    insta::assert_snapshot!(print(&proposal.problem));
}

/// Launches that people have written for these kernels, as far as the source says them.
#[test]
fn launches_of_the_examples() {
    let written = |name: &str| -> Value {
        let text = std::fs::read_to_string(example(&format!("{name}.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let proposal = of_file(&example("gemm.cl"), &request()).unwrap();
    assert_eq!(proposal.problem["launch"], written("gemm")["launch"]);
    for name in [
        "convolution",
        "coulomb",
        "coulomb-column",
        "dedispersion",
        "nbody",
        "reduction",
        "stencil",
        "transpose",
    ] {
        let proposal = of_file(&example(&format!("{name}.cl")), &request()).unwrap();
        assert_eq!(proposal.fault, None, "{name}");
        let (own, by_hand) =
            (&proposal.problem["launch"]["local_size"], &written(name)["launch"]["local_size"]);
        let dimensions = |v: &Value| v.as_array().map_or(1, Vec::len);
        assert_eq!(dimensions(own), dimensions(by_hand), "{name}: {own} {by_hand}");
        let global = match name {
            "stencil" => json!(["items_x", "items_y", "items_z / TILE_Z * 1"]),
            "coulomb-column" => json!(["items_x", "items_y", "items_z / Z_ITERATIONS * 1"]),
            "transpose" => json!(["width", "height / TILE * ROWS"]),
            _ => continue,
        };
        assert_eq!(proposal.problem["launch"]["global_size"], global, "{name}");
    }
}

#[test]
fn macros_become_parameters_inputs_and_types() {
    let text = "#ifndef BLOCK\n#define BLOCK 48\n#endif\n#if MODE == 3 || MODE == 5\n#endif\n\
                __kernel void k(__global const real *a, __global real *b) {\n\
                  int i = get_group_id(0) * BLOCK + get_local_id(0);\n\
                  float##VW x;\n\
                  if (i < N) b[i] = a[i] * USE_IT;\n}";
    let text = text.replace("float##VW x;", "");
    let proposal = of_text(&text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    let problem = &proposal.problem;
    // The source's own value is among them.
    assert_eq!(problem["parameters"]["BLOCK"], json!([32, 48, 64, 128, 256]));
    assert_eq!(problem["parameters"]["MODE"], json!([3, 5]));
    assert_eq!(problem["parameters"]["USE_IT"], json!([0, 1]));
    assert_eq!(problem["inputs"], json!({ "N": 1 << 20 }));
    assert_eq!(problem["kernel"]["defines"], json!({ "real": { "text": "float" } }));
    assert_eq!(problem["launch"]["global_size"], json!(["ceil_div(N, BLOCK) * BLOCK"]));
    assert_eq!(problem["kernel"]["arguments"][1]["output"], true);
    assert_eq!(proposal.outputs, ["b"]);
}

#[test]
fn what_the_reader_asks_is_answered() {
    let text = "__kernel void k(__global const int *a, __global int *b, int n) {\n\
                  int i = get_global_id(0);\n\
                  for (int j = 0; j < a[i]; j++) b[i] += 1;\n\
                  if (a[i] > 3) b[i] = a[i + 1];\n}";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    let kernel = &proposal.problem["kernel"];
    assert_eq!(kernel["bounds"], json!({ "k: j < a[i]": "n" }));
    assert_eq!(kernel["branches"], json!({ "k: a[i] > 3": "both" }));
}

#[test]
fn wishes_are_kept() {
    let text = "__kernel void one(__global int *a) { a[get_global_id(0)] = WG + REST; }\n\
                __kernel void two(__global int *a) { a[get_global_id(0)] = 2; }";
    let names = |all: &[(&str, &str)]| -> IndexMap<String, String> {
        all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    };
    let mut own = request();
    let error = of_text(text, &own).unwrap_err().to_string();
    assert!(
        error.ends_with("k.cl: it has several kernels; add --entry one or --entry two"),
        "{error}"
    );
    own.entry = Some("three".to_owned());
    let error = of_text(text, &own).unwrap_err().to_string();
    assert!(error.ends_with("there is no kernel `three`; --entry may be one or two"), "{error}");
    own.entry = Some("one".to_owned());
    own.parameters = names(&[("WG", "[16, 32]")]);
    own.defines = names(&[("REST", "7")]);
    own.inputs = [("count".to_owned(), 4096)].into_iter().collect();
    own.global = vec!["count".to_owned()];
    own.local = vec!["WG".to_owned()];
    let proposal = of_text(text, &own).unwrap();
    assert_eq!(proposal.fault, None);
    let problem = &proposal.problem;
    assert_eq!(problem["parameters"], json!({ "WG": [16, 32] }));
    assert_eq!(problem["kernel"]["defines"], json!({ "REST": 7 }));
    assert_eq!(problem["launch"], json!({ "global_size": ["count"], "local_size": ["WG"] }));
    own.parameters = names(&[("WG", "[]")]);
    let error = of_text(text, &own).unwrap_err().to_string();
    assert_eq!(error, "--parameter WG=[]: write a domain such as [1, 2, 4] or powers_of_two(1, 8)");
}

#[test]
fn what_cannot_be_proposed_says_why() {
    let none = of_text("void f(void) {}", &request()).unwrap_err().to_string();
    assert!(none.contains("k.cl: there is no kernel in it; declare one with __kernel"), "{none}");
    let broken = of_text("__kernel void k(__global int *a) { a[0] = ; }", &request()).unwrap_err();
    assert!(broken.to_string().starts_with("k.cl:1: expected expression"), "{broken}");
    let text = "int f(int n) { return n ? f(n - 1) : 0; } \
                __kernel void k(__global int *a) { a[0] = f(3); }";
    let recursive = of_text(text, &request()).unwrap();
    assert!(recursive.fault.unwrap().contains("functions call themselves: f -> f"));
}

/// Many names take no longer than few.
#[test]
fn many_names() {
    let names: Vec<String> = (0..40).map(|i| format!("q{i}")).collect();
    let arguments = names.iter().map(|name| format!(", int {name}")).collect::<String>();
    let asked: String = names.iter().map(|name| format!("#if A{name} > 2000\n#endif\n")).collect();
    let text = format!(
        "{asked}__kernel void k(__global int *a{arguments}) {{ a[get_global_id(1) * q30 + \
         get_global_id(0)] = 1; }}"
    );
    let mut own = request();
    own.inputs = names.iter().map(|name| (format!("A{name}"), 5)).collect();
    assert_eq!(of_text(&text, &own).unwrap().fault, None);
}

/// A length is that of the inputs that the access has, however many there are.
#[test]
fn lengths_take_the_inputs_of_the_access() {
    let text = "__kernel void k(__global int *a, int p, int q, int r, int s, int t, int u, int \
    v) {\n\
                  int x = get_global_id(0), y = get_global_id(1);\n\
                  if (x < v && y < q) a[y * v + x] = p + r + s + t + u;\n}";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.problem["kernel"]["arguments"][0]["length"], "q * v");
}

/// Macros that stand in other macros, and defaults that the source has, are passed on.
/// The source has the length of its rows as a number, and does not say how many rows there are.
#[test]
fn rows_of_a_fixed_length() {
    let text = "#define WIDTH 512\n\
        __kernel void k(__global float *out, __global const float *in) {\n\
        int x = get_group_id(0) * BLOCK_X + get_local_id(0);\n\
        int y = get_group_id(1) * BLOCK_Y + get_local_id(1);\n\
        out[y * WIDTH + x] = in[y * WIDTH + x] * 2.0f; }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    let problem = &proposal.problem;
    assert_eq!(problem["inputs"], json!({ "items_x": 512, "items_y": 512 }));
    assert_eq!(problem["launch"]["global_size"], json!(["items_x", "items_y"]));
    let constraints = json!(["items_x % BLOCK_X == 0", "items_y % BLOCK_Y == 0"]);
    assert_eq!(problem["constraints"], constraints);
    let of_inputs: Vec<&String> =
        proposal.notes.iter().filter(|note| note.starts_with("inputs")).collect();
    let expected =
        "inputs: items_x = 512, the length of a row in the source; as many in other dimensions";
    assert_eq!(of_inputs, [expected]);
}

/// In the manner of Kernel Tuner: two dimensions by `.y` alone, a macro that nothing uses, a border
/// of a filter, and a condition on the sizes of tiles that has a text for each of them.
#[test]
fn tiles_in_cuda() {
    let text = "#ifndef block_size_x\n#define block_size_x 16\n#endif\n\
        #ifndef block_size_y\n#define block_size_y 16\n#endif\n\
        #ifndef block_size_z\n#define block_size_z 1\n#endif\n\
        #ifndef tile_size_x\n#define tile_size_x 1\n#endif\n\
        #ifndef tile_size_y\n#define tile_size_y 1\n#endif\n\
        #ifndef filter_width\n#define filter_width 17\n#endif\n\
        __constant__ float weights[33];\n\
        __global__ void k(float *out, const float *in) {\n\
        int bx = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;\n\
        int by = blockIdx.y * block_size_y * tile_size_y + threadIdx.y;\n\
        for (int i = 0; i < tile_size_y; i++) for (int j = 0; j < tile_size_x; j++) {\n\
        int y = by + i * block_size_y, x = bx + j * block_size_x;\n\
        float sum = 0;\n\
        for (int k = 0; k < filter_width; k++) sum += in[y * 4160 + x + k] * weights[k];\n\
        #if 4096 % (block_size_x * tile_size_x) != 0 || 4096 % (block_size_y * tile_size_y) != 0\n\
        if (y < 4096 && x < 4096) out[y * 4096 + x] = sum;\n\
        #else\n out[y * 4096 + x] = sum;\n#endif\n} }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cu");
    std::fs::write(&path, text).unwrap();
    let mut wish = request();
    for (name, values) in [("tile_size_x", "[1, 2, 3, 4, 5]"), ("tile_size_y", "[1, 2, 3, 4, 5]")] {
        wish.parameters.insert(name.to_owned(), values.to_owned());
    }
    let proposal = of_file(&path, &wish).unwrap();
    assert_eq!(proposal.fault, None);
    let problem = &proposal.problem;
    assert_eq!(problem["launch"]["local_size"], json!(["block_size_x", "block_size_y"]));
    let global = ["x", "y"]
        .map(|d| format!("items_{d} / (tile_size_{d} * block_size_{d}) * block_size_{d}"));
    assert_eq!(problem["launch"]["global_size"], json!(global), "{:?}", proposal.notes);
    let names: Vec<_> = problem["parameters"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["tile_size_x", "tile_size_y", "block_size_x", "block_size_y"]);
    assert!(!problem.to_string().contains("if_line"), "{problem}");
}

#[test]
fn macros_of_macros_and_defaults() {
    let text = "#define AT(x, y) ((y) * N + (x))\n#ifndef M\n#define M 1024\n#endif\n\
                __kernel void k(__global int *a) {\n\
                  int x = get_global_id(0);\n  for (int y = 0; y < M; y++) a[AT(x, y)] = 1;\n}";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["inputs"], json!({ "M": 1024, "N": 1024 }));
    assert_eq!(proposal.problem["kernel"]["arguments"][0]["length"], "M * N");
}

#[test]
fn wishes_that_do_not_fit_are_refused() {
    let text = "__kernel void k(__global int *a, int count) { a[get_global_id(0)] = WG; }";
    let refused = |change: &dyn Fn(&mut InitRequest)| {
        let mut own = request();
        change(&mut own);
        of_text(text, &own).map(|_| ()).unwrap_err().to_string()
    };
    let one = || "1".to_owned();
    let four = refused(&|own| own.local = vec![one(), one(), one(), one()]);
    assert_eq!(
        four,
        "--local-size 1,1,1,1: a launch has at most three dimensions; remove the others"
    );
    let taken = refused(&|own| _ = own.parameters.insert("count".to_owned(), "[1]".to_owned()));
    assert!(
        taken.starts_with("--parameter count: the source gives that name a meaning of its own"),
        "{taken}"
    );
    let open = refused(&|own| _ = own.parameters.insert("WG".to_owned(), "[1, 2".to_owned()));
    assert!(open.starts_with("--parameter WG=[1, 2: write a domain"), "{open}");
    let word = refused(&|own| _ = own.parameters.insert("WG".to_owned(), "hello".to_owned()));
    assert!(word.starts_with("parameters.WG: "), "{word}");
    let platform = refused(&|own| own.platform = "h2000".to_owned());
    assert!(platform.starts_with("platform: no platform is called `h2000`"), "{platform}");
}

/// No text makes it panic. Pieces of kernels are put together at random.
#[test]
fn random_texts() {
    let pieces = [
        "__kernel void k(",
        "__global int *a",
        ", ",
        "int n",
        ") {",
        "}",
        "#if X == 1\n",
        "#endif\n",
        "#define ",
        "#ifndef WG\n",
        "get_global_id(0)",
        "a[",
        "]",
        " = ",
        ";",
        "reqd_work_group_size(",
        "WG",
        "/",
        "0",
        "1",
        "\n",
        "\"",
        "/*",
        "*/",
        "//",
        "for (int i = 0; i < n; i++)",
        "float##VW",
        "é",
    ];
    let mut state = 2026_u64;
    for _ in 0..60 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text += pieces[(state >> 33) as usize % pieces.len()];
        }
        _ = of_text(&text, &request());
    }
}

/// A filter that takes its image's size from the launch.
#[test]
fn a_launch_that_says_its_size_itself() {
    let text =
        "kernel void blur(global const float *in, constant float *h, global float *out, int n) {
        int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
        float sum = 0;
        for (int i = 0; i < n; i++) sum += h[i] * in[x + i + y * w];
        out[x + y * w] = sum;
    }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(
        proposal.problem["launch"],
        json!({ "global_size": ["items_x", "items_y"], "local_size": ["LOCAL_SIZE_X", "LOCAL_SIZE_Y"] })
    );
    assert_eq!(proposal.problem["inputs"], json!({ "n": 1024, "items_x": 1024, "items_y": 1024 }));
    assert_eq!(proposal.problem["kernel"]["arguments"][2]["length"], "items_x * items_y");
}

/// Vectors and structures by value, structures and numbers of 16 bits in buffers.
#[test]
fn arguments_that_are_no_numbers() {
    let text = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
    typedef struct { char c; int n; float v[3]; } part;
    kernel void k(global half *h, global part *p, global uchar (*t)[6], float3 by, part q, half one, int n) {
        int i = get_global_id(0);
        if (i < n) { h[i] = t[i][1] + by.x; p[i].n = q.n; }
    }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    let arguments = &proposal.problem["kernel"]["arguments"];
    let said = |i: usize| {
        let a = &arguments[i];
        (a["type"].as_str().unwrap(), a.get("length"), a.get("space"), a.get("value"))
    };
    let private = json!("private");
    assert_eq!(said(0), ("ushort", Some(&json!("n")), None, None));
    assert_eq!(said(1).0, "uchar");
    assert_eq!(said(2).0, "uchar");
    assert_eq!(said(3), ("float", Some(&json!(4)), Some(&private), None));
    assert_eq!(said(4), ("uchar", Some(&json!(20)), Some(&private), None));
    assert_eq!(said(5), ("ushort", None, None, Some(&json!(14336))));
    assert_eq!(said(6), ("int", None, None, Some(&json!("n"))));
}

/// Headers in other folders of the source's project, and headers of theirs.
#[test]
fn headers_are_looked_up_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let path = write(
        "src/kernels/a.cl",
        "#include \"common/defs.h\"\n\
         kernel void k(global float *a) { a[get_global_id(0)] = FIVE; }",
    );
    write("include/common/defs.h", "#include \"five.h\"\n");
    write("include/detail/five.h", "#define FIVE 5.0f\n");
    // A repository ends at its `.git`.
    write("src/.git/config", "");
    let error = of_file(&path, &request()).unwrap_err().to_string();
    assert!(error.contains("cannot find common/defs.h"), "{error}");
    std::fs::remove_dir_all(folder.path().join("src/.git")).unwrap();
    let proposal = of_file(&path, &request()).unwrap();
    let include = json!(["../../include", "../../include/detail"]);
    assert_eq!(proposal.problem["kernel"]["include"], include);
    let notes =
        ["../../include, which has common/defs.h", "../../include/detail, which has five.h"];
    for note in notes.map(|note| format!("include: {note}")) {
        assert!(proposal.notes.contains(&note), "{:?}", proposal.notes);
    }
    // What is nearer is taken.
    write("src/kernels/near/common/defs.h", "#define FIVE 5\n");
    let proposal = of_file(&path, &request()).unwrap();
    assert_eq!(proposal.problem["kernel"]["include"], json!(["near"]));
}

/// A part of a source is read through the source that includes it.
#[test]
fn parts_are_read_through_the_source_that_includes_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let part = "__global__ void step(Node *nodes, int n) {\n\
                int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
                if (i < n) nodes[i].cost += nodes[i].edges; }\n";
    let path = write("part.cu", part);
    assert!(of_file(&path, &request()).is_err());
    write("bfs.cu", "struct Node { int edges, cost; };\n#include \"./part.cu\"\n");
    write("other.cu", "#include \"apart.cu\"\n");
    let proposal = of_file(&path, &request()).unwrap();
    assert_eq!((proposal.fault, &proposal.problem["kernel"]["opencl"]), (None, &json!("bfs.cu")));
    let note = "source: bfs.cu, which includes part.cu".to_owned();
    assert!(proposal.notes.contains(&note), "{:?}", proposal.notes);
}

/// Functions that another file defines, and folders for `#include`.
#[test]
fn files_before_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("lib.cl", "float twice(float x) { return x + x; }\n");
    put("more/size.h", "#define LAST 7\n");
    put(
        "k.cl",
        "#include \"size.h\"\nkernel void k(global float *a) \
         { a[LAST] = twice(a[get_global_id(0)]); }\n",
    );
    let path = folder.path().join("k.cl");
    let include = vec!["more".to_owned()];
    let without = InitRequest { include: include.clone(), ..request() };
    let error = of_file(&path, &without).unwrap_err().to_string();
    assert!(
        error.starts_with("k.cl:2: nothing defines `twice`, which the source calls; add the file"),
        "{error}"
    );
    let other = InitRequest { entry: Some("other".to_owned()), ..without };
    let error = of_file(&path, &other).unwrap_err().to_string();
    assert!(
        error.contains("k.cl: --entry other is not in its text; and k.cl:2: nothing"),
        "{error}"
    );
    let proposal =
        of_file(&path, &InitRequest { before: vec!["lib.cl".to_owned()], include, ..request() })
            .unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["kernel"]["opencl"], json!(["lib.cl", "k.cl"]));
    assert_eq!(proposal.problem["kernel"]["include"], json!(["more"]));
}

/// What differs between iterations is answered, and said.
#[test]
fn iterations_that_differ() {
    let text = "kernel void k(global float *a, int n) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i * i % 7; j++) a[j] = 0;
    }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["kernel"]["bounds"], json!({ "line 3": "n" }));
}

/// Sizes are guessed so that the launch has a time; what the user gives stays.
#[test]
fn guesses_are_small_where_loops_stand_in_loops() {
    let text = "kernel void k(global float *a, int n, int m) {
        int g = get_global_id(0);
        for (int h = 0; h < m; h++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    for (int l = 0; l < n; l++)
                        for (int m = 0; m < n; m++) a[g] += a[g + i * j * k * l * m];
    }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["inputs"], json!({ "n": 64, "m": 64 }));
    assert!(proposal.notes[0].starts_with("guesses: n = 64; m = 64"), "{:?}", proposal.notes);
    let request = InitRequest { inputs: IndexMap::from([("n".to_owned(), 1024)]), ..request() };
    let proposal = of_text(text, &request).unwrap();
    assert_eq!(proposal.problem["inputs"], json!({ "n": 1024, "m": 16 }));
}

/// A guard says how many elements a group has, also where each of them is a vector.
#[test]
fn guarded_vectors() {
    let text = "kernel void k(global const float4 *a, global float4 *b, int width, int height) {
        int x = get_global_id(0), y = get_global_id(1);
        if (x < width && y < height) b[y * width + x] = a[y * width + x];
    }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(
        proposal.problem["launch"]["global_size"],
        json!([
            "ceil_div(width, LOCAL_SIZE_X) * LOCAL_SIZE_X",
            "ceil_div(height, LOCAL_SIZE_Y) * LOCAL_SIZE_Y"
        ])
    );
    let each_two = "kernel void k(global float *a, int n) {
        int i = get_global_id(0) * 2;
        if (i < n) a[i] = 0;
    }";
    let proposal = of_text(each_two, &request()).unwrap();
    assert_eq!(
        proposal.problem["launch"]["global_size"],
        json!(["ceil_div(n, 2 * LOCAL_SIZE) * LOCAL_SIZE"])
    );
}

fn named(all: &[(&str, &str)]) -> IndexMap<String, String> {
    all.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

fn problem_of(text: &str) -> Value {
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None, "{text}");
    proposal.problem
}

/// Images have the sizes that are called so, or those of the launch; a sampler is a number.
#[test]
fn images() {
    let problem = problem_of(
        "__kernel void k(read_only image2d_t in, write_only image2d_t out, sampler_t s, \
         read_only image1d_buffer_t table, int width, int height) \
         { int x = get_global_id(0), y = get_global_id(1); \
         float4 v = read_imagef(in, s, (int2)(x, y)) * read_imagef(table, x); \
         if (x < width && y < height) write_imagef(out, (int2)(x, y), v); }",
    );
    let arguments = &problem["kernel"]["arguments"];
    assert_eq!(arguments[0]["image"], json!(["width", "height"]));
    assert_eq!(arguments[1]["image"], json!(["width", "height"]));
    assert_eq!(arguments[2]["value"], json!(0));
    assert_eq!(arguments[3]["image"].as_array().map(Vec::len), Some(1));
    assert_eq!(problem["kernel"].get("branches"), None);
}

/// A name that a host defines as a type, also where variables of it are named.
#[test]
fn macros_that_stand_for_types() {
    let kernel = |body: &str| {
        format!("__kernel void k(__global T *a) {{ int i = get_global_id(0); {body} }}")
    };
    for (body, ty) in [
        ("T x = a[i]; a[i] = x * x;", "float"),
        ("T v = a[i]; v.x += v.y; a[i] = v;", "float2"),
        ("a[i].s7 = a[i].s0;", "float8"),
        ("a[i] = (T)3 + (a[i] << 2);", "int"),
    ] {
        let problem = problem_of(&kernel(body));
        assert_eq!(problem["kernel"]["defines"], json!({ "T": { "text": ty } }), "{body}");
        assert_eq!(problem["parameters"], json!({ "LOCAL_SIZE": "powers_of_two(32, 256)" }));
    }
    let own = InitRequest { defines: named(&[("T", "double")]), ..request() };
    let proposal = of_text(&kernel("const T x = a[i]; a[i] = x;"), &own).unwrap();
    assert_eq!(proposal.problem["kernel"]["arguments"][0]["type"], "double");
}

/// A function that takes pointers to any memory needs a later version of the language.
#[test]
fn generic_pointers() {
    let text = "float get(const float *p, int i) { return p[i]; }\n\
                __kernel void k(__global const float *a, __global float *b) {\n\
                __local float t[64]; int l = get_local_id(0), g = get_global_id(0);\n\
                t[l] = a[g]; barrier(CLK_LOCAL_MEM_FENCE); b[g] = get(t, l) + get(a, g); }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["kernel"]["standard"], "CL3.0");
    let note = "standard: CL3.0, for pointers that may point to any memory".to_owned();
    assert!(proposal.notes.contains(&note), "{:?}", proposal.notes);
}

/// What the source only asks for is defined where it needs that; names before types are nothing.
#[test]
fn switches_that_a_source_needs() {
    let kernel = "INLINE float twice(float x) { return 2 * x; }\n\
                  KERNEL void k(__global float *a) { a[get_global_id(0)] = fold(twice(3)); }";
    let text = format!(
        "#ifdef DEBUG\n#endif\n#ifdef A\n#ifdef B\nfloat fold(float x) {{ return x; \
         }}\n#endif\n#endif\n{kernel}"
    );
    let problem = problem_of(&text);
    let expected =
        json!({ "A": 1, "B": 1, "INLINE": { "text": "" }, "KERNEL": { "text": "__kernel" } });
    assert_eq!(problem["kernel"]["defines"], expected);
}

/// A macro for which 1 does not compile has the least value for which it does.
#[test]
fn least_values_that_compile() {
    let body = "void k(__global float *a) { a[get_global_id(0)] *= 2; }";
    for (text, domain) in [
        (
            format!("__kernel __attribute__((reqd_work_group_size(P / 4, 1, 1))) {body}"),
            "powers_of_two(4, 16)",
        ),
        (format!("#if P < 8\n#error\n#endif\n__kernel {body}"), "powers_of_two(8, 128)"),
        (format!("#if P % 4\n#error\n#endif\n__kernel {body}"), "powers_of_two(4, 16)"),
    ] {
        assert_eq!(problem_of(&text)["parameters"]["P"], domain, "{text}");
    }
}

/// Arguments of templates that nothing in the file uses, and macros that `#if` divides by.
#[test]
fn arguments_of_templates_are_what_the_source_does_with_them() {
    let defines = |text: &str| {
        let proposal = of_text(text, &request()).unwrap();
        assert_eq!(proposal.fault, None, "{text}");
        let guesses = proposal.notes.into_iter().find(|note| note.starts_with("guesses"));
        (proposal.problem["kernel"]["defines"].clone(), guesses.unwrap_or_default())
    };
    let at = "int i = threadIdx.x + blockIdx.x * blockDim.x;";
    let text = format!(
        "template <class T, class F> __global__ void k(T *x, F f) {{ {at} x[i] = f(x[i], x[0]); }}"
    );
    let (found, guesses) = defines(&text);
    assert_eq!(found, json!({ "T": { "text": "float" }, "F": { "text": "std::plus<void>" } }));
    assert!(guesses.contains("T = float, a type; F = std::plus<void>"), "{guesses}");
    let text = format!(
        "template <class C> __global__ void k(C *x) {{ {at} C c = x[i]; x[i].x = c.x + c.y; }}"
    );
    assert_eq!(defines(&text).0, json!({ "C": { "text": "float2" } }));
    let text = format!(
        "enum Kind {{ A = 3, B = 8 }}; template <Kind K> struct Of;\n\
         template <> struct Of<B> {{ static const int n = 4; }};\n\
         template <Kind K> __global__ void k(float *x) {{ {at} x[i] = Of<K>::n; }}"
    );
    assert_eq!(defines(&text).0, json!({ "K": { "text": "B" } }));
    let text = format!(
        "#if 64 % BLOCK_SIZE == 0\n#define LAST 1\n#else\n#define LAST 0\n#endif\n\
         __global__ void k(float *x) {{ {at} x[i] = LAST + BLOCK_SIZE; }}"
    );
    let problem = of_text(&text, &request()).unwrap().problem;
    assert!(problem["parameters"]["BLOCK_SIZE"].is_string(), "{problem}");
}

#[test]
fn other_languages_and_plain_macros_are_named() {
    let cuda = "__global__ void k(float *x) { x[threadIdx.x + blockIdx.x * blockDim.x] = 1; }";
    let proposal = of_text(cuda, &request()).unwrap();
    assert_eq!(proposal.problem["kernel"]["language"], "cuda");
    assert_eq!(proposal.fault, None);
    let own = InitRequest { parameters: named(&[("TM", "[4, 8]")]), ..request() };
    let error = of_text("// tiles\n#define TM 4\n", &own).unwrap_err().to_string();
    let expected =
        "--parameter TM: k.cl:2 defines it; put #ifndef TM before that line and #endif behind it";
    assert_eq!(error, expected);
}

/// Sizes that the source requires are values, whatever they are written as; without a guard all
/// elements have an item.
#[test]
fn groups_that_are_required() {
    for (sizes, local, global) in [
        ("128 - 64, 1, 1", json!(["64"]), json!(["items"])),
        ("0x40, 1, 1", json!(["64"]), json!(["items"])),
        ("3 * 8, 1, 1", json!(["24"]), json!(["ceil_div(items, 24) * 24"])),
        ("sizeof(int) * LANES, LANES > 2 ? 4 : 1, 1", json!(["16", "4"]), json!(["items", "4"])),
        ("WG << 1, 1, 1", json!(["2 * WG"]), json!(["items"])),
    ] {
        let text = format!(
            "#define LANES 4\n__kernel __attribute__((reqd_work_group_size({sizes}))) void \
             k(__global float *a) {{ a[get_global_id(0)] *= 2; }}"
        );
        let launch = &problem_of(&text)["launch"];
        assert_eq!((&launch["local_size"], &launch["global_size"]), (&local, &global), "{sizes}");
    }
}

/// The size of a group that the source has no name for follows from how far groups are apart.
#[test]
fn groups_of_tiles() {
    let one = |body: &str| {
        format!(
            "__kernel void k(__global float *a, int n) {{ int l = get_local_id(0), g = \
             get_group_id(0); {body} }}"
        )
    };
    let two = |body: &str| one(&format!("int m = get_local_id(1), h = get_group_id(1); {body}"));
    for (text, local, global) in [
        (one("a[g * 64 + l] = 1;"), json!(["64"]), json!(["n"])),
        (one("a[mad24(g, TS, l)] = 1;"), json!(["TS"]), json!(["n"])),
        (
            one("for (int j = 0; j < 4; j++) a[g * 256 + l * 4 + j] = 1;"),
            json!(["64"]),
            json!(["n / 256 * 64"]),
        ),
        (two("a[(h * TS + m) * n + g * TS + l] = 1;"), json!(["TS", "TS"]), json!(["n", "n"])),
        (
            two("for (int j = 0; j < TS; j += ROWS) a[(h * TS + m + j) * n + g * TS + l] = 1;"),
            json!(["TS", "ROWS"]),
            json!(["n", "n / TS * ROWS"]),
        ),
        // A group for each row, and rows that no item of the second dimension shares.
        (
            one("for (int c = l; c < n; c += get_local_size(0)) a[n + g] += a[g * n + c];"),
            json!(["LOCAL_SIZE"]),
            json!(["n * LOCAL_SIZE"]),
        ),
        (
            one(
                "int w = get_local_size(0), i = (g * w + 2 * l) / 2; if (2 * l < w && i < n) a[i] \
                 = 1;",
            ),
            json!(["LOCAL_SIZE"]),
            json!(["ceil_div(n * 2, LOCAL_SIZE) * LOCAL_SIZE"]),
        ),
    ] {
        let launch = &problem_of(&text)["launch"];
        assert_eq!((&launch["local_size"], &launch["global_size"]), (&local, &global), "{text}");
    }
    let rows = "__kernel void k(__global float *a, int w, int h) { int i = get_global_id(0); if \
    (i < w) a[get_group_id(1) * w + i] = 1; }";
    assert_eq!(problem_of(rows)["launch"]["local_size"], json!(["LOCAL_SIZE_X", "1"]));
}

/// Lengths are those of all accesses, in components of vectors; local memory takes what groups
/// reach.
#[test]
fn lengths_that_accesses_reach() {
    let kernel = |arguments: &str, body: &str| {
        format!(
            "__kernel void k({arguments}, __global float *o, int n) {{ int i = get_global_id(0), l \
             = get_local_id(0); {body} }}"
        )
    };
    for (arguments, body, length) in [
        ("__global float *a", "if (i < n) o[i] = a[(i + 1) % n];", json!("n")),
        ("__global float *a", "if (i < n) o[i] = a[max(i - 1, 0)];", json!("n")),
        ("__global float *a", "if (i < n) o[i] = a[2 * i + 1];", json!("2 * n")),
        ("__global float4 *a", "if (i < n) o[i] = a[i].x;", json!("4 * n")),
        ("__global float3 *a", "if (i < n) o[i] = a[i].x;", json!("4 * n")),
        ("__global int *a", "if (l < 9) atomic_inc(&a[l]); o[i] = 1;", json!(9)),
        ("__local float4 *a", "a[l] = 1; o[i] = a[l].x;", json!("4 * LOCAL_SIZE")),
        (
            "__local int *a",
            "for (int b = l; b < 256; b += get_local_size(0)) a[b] = 0; o[i] = 1;",
            json!(256),
        ),
        ("__local int *a", "a[l + 2] = 0; o[i] = a[l];", json!("LOCAL_SIZE + 2")),
    ] {
        let problem = problem_of(&kernel(arguments, body));
        assert_eq!(problem["kernel"]["arguments"][0]["length"], length, "{arguments}: {body}");
    }
    let array = "__kernel void k(__global float *o) { __local float t[64]; int l = \
    get_local_id(0); t[l] = 1; o[get_global_id(0)] = t[l]; }";
    assert_eq!(
        problem_of(array)["constraints"],
        json!(["items % LOCAL_SIZE == 0", "LOCAL_SIZE <= 64"])
    );
}

/// What is a guess is the first line; what the source divides by is no 0.
#[test]
fn guesses_are_one_line() {
    let text = "__kernel void k(__global float *a, __global int *d, int n) {\n\
                  int i = get_global_id(0), step = get_local_size(0) / 64;\n\
                  for (int j = 0; j < 64; j += step) a[i] += 1;\n\
                  if (d[i] > 0) a[i] = 2;\n  if (d[i] > 1) a[i] = 3;\n}";
    let problem = problem_of(text);
    assert_eq!(problem["notes"][0], "guesses: n = 1048576; both sides of branches on data (2)");
    let constraints = problem["constraints"].to_string();
    assert!(constraints.contains("LOCAL_SIZE // 64) > 0"), "{constraints}");
}

/// A size that the source bounds by `#error` is a parameter, and the launch has another size.
#[test]
fn a_size_that_the_source_bounds() {
    let text = "#if LEN < 2 || LEN > 32\n#error \"LEN\"\n#endif
        kernel void f(global const float *a, global float *y) {
        int i = get_global_id(0); float s = 0;
        for (int k = 0; k < LEN; k++) s += a[i * LEN + k];
        y[i] = s; }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(proposal.problem["parameters"]["LEN"], json!([2, 3, 4, 5, 6, 7, 8, 16, 32]));
    assert_eq!(proposal.problem["launch"]["global_size"], json!(["items"]));
}

/// Conversions whose types only the host knows.
#[test]
fn conversions_that_the_host_defines() {
    let text = "typedef float real; kernel void f(global const T *a, global T *y) {
        int i = get_global_id(0); real s = convert_real(a[i]);
        y[i] = convertToT(s + convertToDT(1)); }";
    let proposal = of_text(text, &request()).unwrap();
    assert_eq!(proposal.fault, None);
    let defines = &proposal.problem["kernel"]["defines"];
    let text = |name: &str| defines[name]["text"].clone();
    assert_eq!([text("T"), text("convertToT")], ["float", "convert_float"]);
    assert_eq!([text("convert_real"), text("convertToDT")], ["", ""]);
    let said = proposal.notes.join("\n");
    assert!(said.contains("convert_real leaves its argument as it is"), "{said}");
}

/// With an iteration for each item, however few these are, they would be more than 64 bits count.
#[test]
fn loops_on_data_within_loops_on_data() {
    let bounds = |depth: usize| {
        let function = |n: usize| {
            let inner = if n == 0 { "a[k]".to_owned() } else { format!("f{}(a, k)", n - 1) };
            format!(
                "int f{n}(global const int *a, int n) {{ int s = 0;
                for (int k = 0; k < a[n]; k++) s += {inner}; return s; }}\n"
            )
        };
        let text: String = (0..depth).map(function).collect();
        let kernel = "kernel void h(global const int *a, global int *y) { \
            int i = get_global_id(0); y[i] = ";
        let text = format!("{text}{kernel}f{}(a, i); }}", depth - 1);
        let proposal = of_text(&text, &request()).unwrap();
        assert_eq!(proposal.fault, None);
        let bounds = proposal.problem["kernel"]["bounds"].as_object().expect("bounds");
        bounds.values().cloned().collect::<Vec<_>>()
    };
    assert_eq!(bounds(3), vec![json!("items"); 3]);
    assert_eq!(bounds(10), vec![json!(4); 10]);
}

/// The launch is checked as `tune` takes it: with the default profile.
#[test]
fn a_proposal_without_a_time_is_told() {
    let text = "kernel void f(global float *y, int n) { int i = get_global_id(0); if (i < n) \
    y[i] = 1.0f; }";
    let huge =
        InitRequest { inputs: IndexMap::from([("n".to_owned(), i64::MAX / 2)]), ..request() };
    let proposal = of_text(text, &huge).unwrap();
    let fault = proposal.fault.expect("more bytes than 64 bits count");
    assert!(fault.contains("overflow beyond 64 bits"), "{fault}");
}
