//! Macros that the sources of a host program define.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use serde_json::{Value, json};
use tickbound_opencl::ReaderSetup;
use tickbound_propose::Wishes;
use tickbound_propose::host::HostSources;

use super::{of_file, wishes};

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
    let wishes = Wishes { host: Rc::new(sources), ..wishes() };
    let proposal = of_file(&path, &wishes).unwrap();
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
    let wishes = Wishes { host: Rc::new(sources), include: vec![".".to_owned()], ..wishes() };
    let proposal = of_file(&folder.path().join("sum.cl"), &wishes).unwrap();
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
        let wishes = Wishes { host: Rc::new(sources), ..wishes() };
        let proposal = of_file(&folder.path().join("k.cl"), &wishes);
        proposal.map(|proposal| (proposal.problem["kernel"]["opencl"].clone(), proposal.notes))
    };
    for list in ["{{ops_cl_src, k_cl_src}}", r#"load({"kernels/ops.cl", "kernels/k.cl"})"#] {
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
