//! Macros that the sources of a host program define.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use serde_json::{Value, json};
use tickbound_opencl::ReaderSetup;
use tickbound_propose::InitRequest;
use tickbound_propose::host::HostSources;

use super::{of_file, request};

/// The macros, the parameters and the inputs of a proposal for a kernel beside these files of a
/// host.
fn proposed(kernel: &str, host: &[(&str, &str)]) -> [Value; 3] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.cl");
    fs::write(&path, kernel).unwrap();
    for (name, text) in host {
        let file = folder.path().join("host").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let mut sources = HostSources::default();
    sources.add(&folder.path().join("host"), &ReaderSetup::default()).unwrap();
    let request = InitRequest { host: Rc::new(sources), ..request() };
    let proposal = of_file(&path, &request).unwrap();
    assert_eq!(proposal.fault, None, "{kernel}");
    let problem = proposal.problem;
    [&problem["kernel"]["defines"], &problem["parameters"], &problem["inputs"]].map(Value::clone)
}

const SUM: &str = "__kernel void sum(__global const T *a, __global T *b, const int n) { \
     int i = get_global_id(0) * WPT; \
     for (int k = 0; k < WPT; k++) if (i + k < n) b[i + k] = CONVERT(a[i + k] + DELTA); }";

/// Each way in which a host states a macro gives the same problem.
#[test]
fn ways_to_state_a_macro() {
    let cpp = r##"
        // "-D DELTA=9" in a comment states nothing.
        const int delta = 4;
        static const char *kernel = "sum";
        build("-D T=double -DDELTA=" + std::to_string(delta), "-D CONVERT=%s");
        tuner.AddParameter("WPT", std::vector<size_t>{1, 2, 8});
    "##;
    let defines = r#"
        defines["T"] = "double"; define(DELTA, 4); AddDefine("CONVERT", "");
        options += "-D CONVERT=%s";
        params.push_back({"WPT", {1, 2, 8}});
    "#;
    let python = r##"
        # "-D DELTA=9" in a comment states nothing.
        source = "#define T double\n#define DELTA 4\n" + text
        options = f"-D CONVERT={convert}"
        tune_params["WPT"] = [1, 2, 8]
    "##;
    for (name, text) in [("main.cpp", cpp), ("deep/down.h", defines), ("tune.py", python)] {
        let [defined, parameters, inputs] = proposed(SUM, &[(name, text)]);
        let expected = json!({ "T": { "text": "double" }, "DELTA": 4, "CONVERT": { "text": "" } });
        assert_eq!(defined, expected, "{name}");
        assert_eq!(parameters["WPT"], json!([1, 2, 8]), "{name}");
        assert_eq!(inputs, json!({ "n": 1 << 20 }), "{name}");
    }
}

/// Files that name the kernel or its source come before others, whatever their names.
#[test]
fn files_that_name_the_kernel_come_first() {
    let other = ("a.c", r#"build("other.cl", "-D T=int -D DELTA=7 -D CONVERT=fabs")"#);
    let own = ("b.c", r#"build("kernels/sum.cl", "-D T=float -D DELTA=3")"#);
    let [defined, parameters, _] = proposed(SUM, &[other, own]);
    assert_eq!(defined["T"], json!({ "text": "float" }));
    assert_eq!(defined["DELTA"], json!(3));
    // What they leave open is taken from the others.
    assert_eq!(defined["CONVERT"], json!({ "text": "fabs" }));
    assert_eq!(parameters["WPT"], json!("powers_of_two(1, 8)"));
    // A constant that differs between two places has no value; what the host works out is 1.
    let twice = "int d = 3; int d = 5; build(\"-D T=float -D CONVERT=%s -D DELTA=\" << d);";
    assert_eq!(proposed(SUM, &[("c.c", twice)])[0]["DELTA"], json!(1));
    // A size of the host is a size.
    let kernel = "__kernel void sum(__global float *a) \
         { if (get_global_id(0) < N) a[get_global_id(0)] = 1; }";
    assert_eq!(proposed(kernel, &[("d.c", "\"-D N=500\"")])[2], json!({ "N": 500 }));
}

/// Formats: further options follow a number, and the first of several has the number 0.
#[test]
fn formats_of_options() {
    let kernel = "__kernel void sum(__global T *a) \
         { a[get_global_id(0)] = DELTA + PART0 + SMALLEST; }";
    let host = r#"f("-D T=%s%s -D DELTA=%d%s%s -D PART%zu=%d -D SMALLEST=%s", t, fp64);"#;
    // A text between operators is a number.
    let expected = json!({ "T": { "text": "float" }, "DELTA": 1, "PART0": 1, "SMALLEST": 1 });
    assert_eq!(proposed(kernel, &[("m.cpp", host)])[0], expected);
    // What is compared with several numbers is one of them.
    let kernel = "#if depth == 0\n#define T uchar\n#elif depth == 5\n#define T float\n#else\n\
         #error depth\n#endif\n__kernel void sum(__global T *a) { a[get_global_id(0)] = 1; }";
    let host = r#"f("-D depth=%d", depth);"#;
    assert_eq!(proposed(kernel, &[("m.cpp", host)])[0], json!({ "depth": 5 }));
    let kernel = "__kernel void sum(__global T *a) \
         { PROCESS; T v = (T)(1, 2); a[get_global_id(0)].x = v.y; }";
    let host = r#"f("-D T=%s -D PROCESS=%s", t, text);"#;
    let expected = json!({ "T": { "text": "float2" }, "PROCESS": { "text": "" } });
    assert_eq!(proposed(kernel, &[("m.cpp", host)])[0], expected);
    // Of several types of a host that of `float` is taken, also of vectors and conversions.
    let kernel = "__kernel void sum(__global T4 *a, __global int4 *b) \
         { a[get_global_id(0)] = TO(b[get_global_id(0)]); }";
    let host = r#"f(half ? "-DT4=half4 -DTO=convert_half4" : "-DT4=float4 -DTO=convert_float4");"#;
    let expected = json!({ "T4": { "text": "float4" }, "TO": { "text": "convert_float4" } });
    assert_eq!(proposed(kernel, &[("m.cpp", host)])[0], expected);
}

/// A text that the host joins from calls of a macro of the source has one call.
#[test]
fn joined_calls() {
    let kernel = "#define PARAM(i) , __global float *b##i\n#define STORE(i) b##i[x] = a[x];\n\
         __kernel void sum(__global float *a PARAMS) { int x = get_global_id(0); STORE_N }";
    let host = r#"for (i) { p += format("PARAM(%d)", i); s += format("STORE(%d)", i); }
                  f("-D PARAMS=%s -D STORE_N=%s", p, s);"#;
    let expected = json!({ "PARAMS": { "text": "PARAM(0)" }, "STORE_N": { "text": "STORE(0)" } });
    assert_eq!(proposed(kernel, &[("m.cpp", host)])[0], expected);
}

/// Macros are defined until the kernel that is asked for is there, each after another error too.
#[test]
fn switches_for_a_kernel() {
    let kernel = "#ifdef ONE\n__kernel void one(__global float *a) { a[get_global_id(0)] = 1; }\n\
         #elif defined TWO\n#if defined HALF\n#define V .5f\n#elif defined FULL\n#define V 2\n\
         #else\n#error no value\n#endif\n\
         __kernel void sum(__global float *a) { a[get_global_id(0)] = V; }\n\
         #else\n#error no kernel\n#endif";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.cl");
    fs::write(&path, kernel).unwrap();
    let defined = |entry: &str| {
        let request = InitRequest { entry: Some(entry.to_owned()), ..request() };
        of_file(&path, &request).map(|proposal| proposal.problem["kernel"]["defines"].clone())
    };
    assert_eq!(defined("one").unwrap(), json!({ "ONE": 1 }));
    assert_eq!(defined("sum").unwrap(), json!({ "TWO": 1, "HALF": 1 }));
    assert_eq!(
        defined("three").unwrap_err().to_string().rsplit('/').next(),
        Some("sum.cl: there is no kernel `three`; --entry may be one or sum")
    );
}

/// Parameters of other kernels have one value.
#[test]
fn parameters_of_other_kernels() {
    let kernel = "__kernel void sum(__global float *a) { a[get_global_id(0) * STRIDE] = 1; }\n\
         __kernel void other(__global float *a) { a[get_global_id(0) * TILE] = 2; }";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sum.cl");
    fs::write(&path, kernel).unwrap();
    let with = |parameters: &[(&str, &str)]| {
        let parameters =
            parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let request = InitRequest { entry: Some("sum".to_owned()), parameters, ..request() };
        of_file(&path, &request).unwrap().problem
    };
    let problem = with(&[]);
    assert_eq!(problem["kernel"]["defines"], json!({ "TILE": 8 }));
    assert_eq!(problem["parameters"].get("TILE"), None);
    assert!(problem["parameters"].get("STRIDE").is_some());
    // But for those that are asked for.
    assert_eq!(with(&[("TILE", "[2, 4]")])["parameters"]["TILE"], json!([2, 4]));
}

/// Of the macros without which nothing compiles the host's come first; folders of `#include` and
/// macros with arguments are the host's.
#[test]
fn switches_and_folders_of_the_host() {
    let kernel = "#ifdef A_BIT\n#define V 1\n#elif defined B_BIT\n#define V 2\n#else\n#error none\n\
         #endif\n\
         __kernel void sum(__global float *a) { a[get_global_id(0)] = V; }";
    assert_eq!(proposed(kernel, &[("m.c", r#"x = { "B_BIT" };"#)])[0], json!({ "B_BIT": 1 }));
    assert_eq!(proposed(kernel, &[("m.c", "")])[0], json!({ "A_BIT": 1 }));
    let included = "#ifdef STATIC\n#include PATH(FOLDER/types.h)\n#endif\n\
         FQ void sum(__global real *a, real z) { a[get_global_id(0)] = z; }";
    let host = [
        ("m.c", r#"f("-D STATIC "); f("-D FOLDER=%s -D TEXT(x)=#x -D PATH(x)=TEXT(x)", folder);"#),
        ("types.h", ""),
    ];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("types.h"), "typedef float real;\n#define FQ __kernel\n").unwrap();
    fs::write(folder.path().join("sum.cl"), included).unwrap();
    fs::write(folder.path().join("m.c"), host[0].1).unwrap();
    let mut sources = HostSources::default();
    sources.add(folder.path(), &ReaderSetup::default()).unwrap();
    let request =
        InitRequest { host: Rc::new(sources), include: vec![".".to_owned()], ..request() };
    let proposal = of_file(&folder.path().join("sum.cl"), &request).unwrap();
    assert_eq!(proposal.fault, None);
    assert_eq!(
        proposal.problem["kernel"]["defines"],
        json!({
            "FOLDER": { "text": "." }, "PATH(x)": { "text": "TEXT(x)" },
            "TEXT(x)": { "text": "#x" }, "STATIC": 1,
        })
    );
}

/// Sources that a list names before the kernel's stand before it.
#[test]
fn sources_before_the_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let before = |host: &str| {
        fs::write(folder.path().join("ops.cl"), "float twice(float x) { return 2 * x; }\n")
            .unwrap();
        fs::write(
            folder.path().join("k.cl"),
            "__kernel void k(__global float *a) { *a = twice(3); }",
        )
        .unwrap();
        fs::write(folder.path().join("host.cpp"), host).unwrap();
        let mut sources = HostSources::default();
        sources.add(folder.path(), &ReaderSetup::default()).unwrap();
        let request = InitRequest { host: Rc::new(sources), ..request() };
        let proposal = of_file(&folder.path().join("k.cl"), &request);
        proposal.map(|proposal| (proposal.problem["kernel"]["opencl"].clone(), proposal.notes))
    };
    let lists = [
        "{{ops_cl_src, k_cl_src}}",
        r#"load({"kernels/ops.cl", "kernels/k.cl"})"#,
        "#include \"ops.cl\"  // first\n#include \"../k.cl\"",
    ];
    for list in lists {
        let (files, notes) = before(list).unwrap();
        assert_eq!(files, json!(["ops.cl", "k.cl"]), "{list}");
        assert!(notes.contains(&"before: ops.cl, as host.cpp:1 has it".to_owned()), "{notes:?}");
    }
    // A file that is not there, and one that comes later.
    for list in ["{none_cl_src, k_cl_src}", "{k_cl_src, ops_cl_src}", "ops_cl_src; k_cl_src"] {
        let error = before(list).unwrap_err().to_string();
        assert!(error.contains("nothing defines `twice`"), "{error}");
    }
}

#[test]
fn folders_without_sources_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.bin"), [0xff, 0]).unwrap();
    let refused = |path: &Path| {
        HostSources::default().add(path, &ReaderSetup::default()).unwrap_err().to_string()
    };
    let text = refused(folder.path());
    assert!(text.ends_with("it has no sources of a host program; name another"), "{text}");
    let text = refused(&folder.path().join("none"));
    assert!(text.starts_with("--host ") && text.contains("No such file"), "{text}");
    // Bytes that are no text, and texts that end too early, state nothing.
    fs::write(folder.path().join("a.c"), [b'"', 0xff]).unwrap();
    fs::write(folder.path().join("b.c"), "\"-D ").unwrap();
    fs::write(folder.path().join("c.c"), "\"-D A=\\").unwrap();
    fs::write(folder.path().join("d.c"), "/* \"-D B=1\" define(").unwrap();
    HostSources::default().add(folder.path(), &ReaderSetup::default()).unwrap();
}
