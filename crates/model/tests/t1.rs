//! T1 files: exact sizes of published spaces, and problems written and read again.

use std::path::Path;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_model::{Bound, Configuration, Problem, t1};

fn problem(value: &Value) -> Problem {
    let none = |name: &str| panic!("no platform `{name}` here");
    Problem::from_value(value, &IndexMap::new(), &none).unwrap_or_else(|e| panic!("{e}"))
}

fn configurations(problem: &Problem) -> IndexSet<Configuration> {
    problem.space().unwrap().bound.into_iter().map(|b| b.configuration).collect()
}

/// Valid configurations, and choices before any condition.
fn sizes(t1: &Value) -> (usize, u64) {
    let problem = problem(&t1::read(t1).unwrap());
    (problem.space().unwrap().bound.len(), problem.choices().unwrap())
}

fn t1(parameters: &[(&str, &str)], conditions: &[&str]) -> Value {
    let parameters = parameters.iter().map(|(n, v)| json!({ "Name": n, "Values": v }));
    let conditions = conditions.iter().map(|c| json!({ "Expression": c, "Parameters": [] }));
    json!({ "ConfigurationSpace": { "TuningParameters": parameters.collect_vec(),
                                    "Conditions": conditions.collect_vec() } })
}

const GEMM: [&str; 7] = [
    "KWG % KWI == 0",
    "MWG % (MDIMC * VWM) == 0",
    "NWG % (NDIMC * VWN) == 0",
    "MWG % (MDIMA * VWM) == 0",
    "NWG % (NDIMB * VWN) == 0",
    "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
    "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
];

fn gemm(
    kwg: &'static str,
    kwi: &'static str,
    strides: &'static str,
) -> [(&'static str, &'static str); 14] {
    let (tile, threads, width) = ("[16, 32, 64, 128]", "[8, 16, 32]", "[1, 2, 4, 8]");
    [
        ("MWG", tile),
        ("NWG", tile),
        ("KWG", kwg),
        ("MDIMC", threads),
        ("NDIMC", threads),
        ("MDIMA", threads),
        ("NDIMB", threads),
        ("KWI", kwi),
        ("VWM", width),
        ("VWN", width),
        ("STRM", strides),
        ("STRN", strides),
        ("SA", "[0, 1]"),
        ("SB", "[0, 1]"),
    ]
}

#[test]
fn gemm_of_clblast_and_of_cltune() {
    assert_eq!(sizes(&t1(&gemm("[32]", "[2]", "[0]"), &GEMM)), (17_956, 82_944));

    let mut conditions = GEMM.to_vec();
    conditions.push("MDIMC * NDIMC <= 1024");
    conditions.push("4 * (SA * KWG * MWG + SB * KWG * NWG) <= 49152");
    let cltune = t1(&gemm("[16, 32]", "[2, 8]", "[0, 1]"), &conditions);
    assert_eq!(sizes(&cltune), (241_600, 1_327_104));
}

#[test]
fn published_files() {
    for (file, expected) in [
        ("convolution/convolution_milo.T1.json", (4_362, 10_240)),
        ("dedispersion/dedispersion_milo.T1.json", (11_130, 22_272)),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
        let Ok(text) = std::fs::read_to_string(path) else {
            eprintln!("{file} is not here: skipped");
            continue;
        };
        let file = serde_json::from_str(&text).unwrap();
        assert_eq!(sizes(&file), expected);

        // The grid is the problem's size over the divisors, rounded up, in whole groups.
        let read = problem(&t1::read(&file).unwrap());
        let space = read.space().unwrap();
        assert_eq!(space.unlaunchable, 0);
        let again = problem(&t1::read(&t1::write(&read).unwrap()).unwrap());
        assert_eq!(configurations(&again), configurations(&read));
    }
}

#[test]
fn what_is_written_has_the_same_configurations() {
    let rich = json!({
        "inputs": { "n": 96 },
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
                      "max_group_size": 48 },
        "parameters": { "A": "divisors(n)", "B": "powers_of_two(1, A)", "C": "range(A, n, B)",
                        "D": [1, "A", "B + 1"], "E": "range(0, 1)" },
        "constraints": ["A * B <= half", "C / B == D or E", "not (A > 8 and D == 1)",
                        "ceil_div(C, D) % 2 == 0 if E else True"],
        "definitions": { "third": "n / 7", "half": "third * 4 + n % 5" },
        "launch": { "global_size": ["n", "C"], "local_size": ["A", "B"] },
        "kernel": []
    });
    let rich = problem(&rich);
    let before = configurations(&rich);
    assert!(before.len() > 20, "{}", before.len());
    assert!(rich.space().unwrap().unlaunchable > 0);
    let written = t1::write(&rich).unwrap();
    assert_eq!(configurations(&problem(&t1::read(&written).unwrap())), before);
}

#[test]
fn refused() {
    let wrong =
        |parameters: &[(&str, &str)]| t1::read(&t1(parameters, &[])).unwrap_err().to_string();
    let at = "ConfigurationSpace.TuningParameters[0] (`P`)";
    assert_eq!(
        wrong(&[("P", "['a']")]),
        format!(
            "{at}: `'a'` is a text; number the texts, and write the numbers, such as \"[0, 1]\""
        )
    );
    assert_eq!(
        wrong(&[("P", "[0.5]")]),
        format!(
            "{at}: `0.5` is no whole number; scale the values to whole numbers, such as \"[1, 2, \
             3]\" for \
             quarters"
        )
    );
    assert_eq!(
        wrong(&[("P", "range(x)")]),
        format!("{at}: `x` in `x` has no value here; write whole numbers, such as \"[16, 32]\"")
    );
    let twice = wrong(&[("P", "[1]"), ("P", "[2]")]);
    assert_eq!(
        twice,
        "ConfigurationSpace.TuningParameters[1] (`P`): is there twice; remove one of them"
    );
    let none = t1::read(&json!({ "ConfigurationSpace": {} })).unwrap_err().to_string();
    assert_eq!(none, "TuningParameters: is missing; T1 files have this part");
    assert_eq!(sizes(&t1(&[("P", "range(4)"), ("Q", "range(1, 10, 3)")], &[])), (12, 12));
}

/// The values and conditions of a published stencil, whose lists are sums and comprehensions;
/// Python counts as many.
#[test]
fn comprehensions() {
    let file = t1(
        &[
            ("x", "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))"),
            ("y", "[2**i for i in range(0, 6)]"),
            ("t", "[i for i in range(1, 10+1)]"),
            ("u", "[i for i in range(1, 33) if 32 % i == 0]"),
        ],
        &["32 <= x * y <= 1024", "t % u == 0"],
    );
    assert_eq!(sizes(&file), (1_404, 37 * 6 * 10 * 6));
}

#[test]
fn kernels_in_opencl() {
    let file = json!({
        "ConfigurationSpace": { "TuningParameters": [ { "Name": "WG", "Values": [64, 128] } ] },
        "KernelSpecification": {
            "Language": "OpenCL", "KernelName": "add", "KernelFile": "add.cl",
            "CompilerOptions": ["-cl-std=CL3.0", "-std=c++11", "-DT=float", "-DFAST"],
            "GlobalSizeType": "OpenCL", "ProblemSize": [4096],
            "GlobalSize": { "X": "ProblemSize[0]" }, "LocalSize": { "X": "WG" },
            "Arguments": [
                { "Name": "out", "Type": "float4", "MemoryType": "Vector", "FillType": "Constant",
                  "Size": "ProblemSize[0]", "FillValue": 0.0, "Output": 1 },
                { "Name": "in", "Type": "float", "MemoryType": "Vector", "FillType": "Random",
                  "Size": "4 * ProblemSize[0]", "FillValue": 1.0 },
                { "Name": "n", "Type": "int", "MemoryType": "Scalar", "FillValue": 4096 } ] }
    });
    let read = t1::read(&file).unwrap();
    assert_eq!(
        read["kernel"]["arguments"],
        json!([
            { "name": "out", "type": "float", "length": "4 * (problem_size_0)", "fill": 0,
              "output": true },
            { "name": "in", "type": "float", "length": "4 * problem_size_0",
              "fill": { "random": [0, 1] } },
            { "name": "n", "type": "int", "value": 4096 } ])
    );
    let macros = json!({ "WG": "WG", "T": { "text": "float" }, "FAST": { "text": "1" } });
    assert_eq!(
        (&read["kernel"]["defines"], &read["kernel"]["standard"]),
        (&macros, &json!("CL3.0"))
    );
    let read = problem(&read);
    assert_eq!(read.space().unwrap().bound[1].launch.local(), 128);
    let written = t1::write(&read).unwrap();
    assert_eq!(t1::read(&written).unwrap()["kernel"]["defines"], macros);

    let with = |defines: Value| {
        let value = json!({
            "inputs": { "n": 64 }, "parameters": { "WG": [4] },
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
            "launch": { "global_size": "n", "local_size": "WG" },
            "kernel": { "opencl": "a.cl", "entry": "a", "defines": defines } });
        t1::write(&problem(&value))
            .map(|file| file["KernelSpecification"]["CompilerOptions"].clone())
    };
    let options = with(json!({ "WG": "WG", "HALF": "n / 2", "T": { "text": "int" } }));
    assert_eq!(options.unwrap(), json!(["-cl-std=CL1.2", "-DHALF=32", "-DT=int"]));
    // Macros with arguments have a text.
    let options = with(json!({ "M2S(x)": { "text": "#x" }, "ADD(a,b)": { "text": "(a+b)" } }));
    assert_eq!(options.unwrap(), json!(["-cl-std=CL1.2", "-DM2S(x)=#x", "-DADD(a,b)=(a+b)"]));
    assert_eq!(
        with(json!({ "W": "WG * 2" })).unwrap_err().to_string(),
        "kernel.defines.W: T1 has no place for a macro that is `WG * 2`; make it a parameter of \
         its own, \
         with a constraint that says what it is"
    );
    assert_eq!(written["KernelSpecification"]["KernelFile"], "add.cl");
    assert_eq!(configurations(&problem(&t1::read(&written).unwrap())).len(), 2);
}

/// Arguments without names, other names of types, and sizes by modifiers, as KTT's older files have
/// them.
#[test]
fn arguments_by_place_and_sizes_by_modifiers() {
    let mut file = json!({
        "ConfigurationSpace": { "TuningParameters": [
            { "Name": "OUTER", "Type": "UnsignedInt", "Values": [1, 2] },
            { "Name": "WG", "Type": "UnsignedInt", "Values": [4, 8] } ] },
        "KernelSpecification": {
            "Language": "OpenCL", "KernelName": "sum", "KernelFile": "sum.cl",
            "CompilerOptions": "-cl-fast-relaxed-math", "GlobalSize": { "X": 512, "Y": 64 },
            "Modifiers": [
                { "Type": "Global", "Dimension": "X", "Parameter": "OUTER", "Action": "Divide" },
                { "Type": "Local", "Dimension": "Y", "Parameter": "WG", "Action": "Multiply" } ],
            "Arguments": [
                { "Type": "UnsignedInt", "FillValue": 4000, "MemoryType": "Scalar", "Order": 2 },
                { "Type": "int32", "Size": 8, "FillType": "Generator", "DataSource": "i",
                  "MemoryType": "Vector", "Order": 1 },
                { "Type": "Float3", "Size": 8, "FillType": "Random", "FillValue": 40.0,
                  "MemoryType": "Vector", "Order": 0 } ] }
    });
    let read = t1::read(&file).unwrap();
    assert_eq!(
        read["kernel"]["arguments"],
        json!([
            { "name": "argument_0", "type": "float", "length": "4 * (8)",
                "fill": { "random": [0, 40] } },
            { "name": "argument_1", "type": "int", "length": "8", "fill": "index" },
            { "name": "argument_2", "type": "uint", "value": 4000 } ])
    );
    let read = problem(&read);
    let sizes = |b: &Bound| (read.grid_sizes(&b.env).unwrap(), b.launch.local());
    let space = read.space().unwrap();
    assert_eq!(sizes(&space.bound[3]), (vec![[256, 1], [64, 8]], 8));
    assert_eq!(t1::without_program(&file), None);

    let refused = |file: &Value| t1::read(file).unwrap_err().to_string();
    let arguments = "/KernelSpecification/Arguments";
    file.pointer_mut(arguments).unwrap()[1]["FillType"] = json!("BinaryRaw");
    assert_eq!(
        refused(&file),
        "KernelSpecification.Arguments[1].FillType: `BinaryRaw` with this content is not read; \
         write \
         Constant, Random, or Generator with the content `i`"
    );
    file.pointer_mut(arguments).unwrap()[0].as_object_mut().unwrap().remove("FillValue");
    file.pointer_mut(arguments).unwrap()[1]["FillType"] = json!("Constant");
    assert_eq!(refused(&file), "KernelSpecification.Arguments[0].FillValue: is missing; add it");
    file["KernelSpecification"]["Modifiers"][0]["Action"] = json!("Shrink");
    assert!(refused(&file).ends_with("write an Action: Multiply, Divide, Add or Subtract"));
    file["KernelSpecification"]["Language"] = json!("CUDA");
    let why = t1::without_program(&file).unwrap();
    assert_eq!(why, "its kernel is in CUDA, not in OpenCL");
}

/// A kernel specification with `more` in it, over block_size_x 8, block_size_y 2 and a problem of
/// 64 x 32.
fn launched(more: &Value) -> Result<(Vec<[i64; 2]>, Value), String> {
    let mut file = json!({
        "ConfigurationSpace": { "TuningParameters": [
            { "Name": "block_size_x", "Values": [8] },
            { "Name": "block_size_y", "Values": [2] } ] },
        "KernelSpecification": {
            "Language": "OpenCL", "KernelName": "a", "KernelFile": "a.cl", "ProblemSize": [64, 32],
            "LocalSize": { "X": "block_size_x", "Y": "block_size_y" } } });
    for (key, value) in more.as_object().unwrap() {
        file["KernelSpecification"][key] = value.clone();
    }
    let read = t1::read(&file).map_err(|e| e.to_string())?;
    let problem = problem(&read);
    let sizes = problem.grid_sizes(&problem.space().unwrap().bound[0].env).unwrap();
    Ok((sizes, read["kernel"].clone()))
}

/// As Kernel Tuner launches it.
#[test]
fn absent_divisors_are_the_items_of_a_group() {
    let (x, y) = ([64, 8], [32, 2]);
    for more in [
        json!({}),
        json!({ "GridDivX": null, "GridDivY": [] }),
        json!({ "GridDivX": ["block_size_x"] }),
        json!({ "GridDivY": "block_size_y" }),
        json!({ "LocalSize": null }),
        json!({ "LocalSize": { "X": 8, "Y": 2, "Z": null } }),
        json!({ "GlobalSize": { "X": 64, "Y": 32 }, "GlobalSizeType": "opencl" }),
        json!({ "GlobalSize": { "X": 8, "Y": 16 }, "GlobalSizeType": "cuda", "GridDivX": [] }),
    ] {
        let mut sizes = launched(&more).unwrap().0;
        sizes.truncate(2);
        assert_eq!(sizes, [x, y], "{more}");
    }
    let sizes = |more: Value| launched(&more).unwrap().0;
    assert_eq!(sizes(json!({ "GridDivX": [4, 2], "GridDivY": [32] })), [[64, 8], [2, 2]]);
    let z = json!({ "LocalSize": { "X": 8, "Z": 2 }, "GlobalSize": { "X": 64, "Y": 1, "Z": 32 } });
    assert_eq!(sizes(z), [[64, 8], [1, 1], [32, 2]]);
    let plain = json!({ "ProblemSize": null, "GlobalSize": "64", "LocalSize": 8 });
    assert_eq!(sizes(plain), [[64, 8]]);

    let refused = |more: Value| launched(&more).unwrap_err();
    assert_eq!(
        refused(json!({ "LocalSize": { "x": 8 } })),
        "KernelSpecification.LocalSize.x: unknown field; did you mean `X`?"
    );
    assert_eq!(
        refused(json!({ "GlobalSize": { "X": 64 }, "GlobalSizeType": "items" })),
        "KernelSpecification.GlobalSizeType: found \"items\"; write \"OpenCL\" (items), \"CUDA\" \
         or \
         \"Vulkan\" (groups)"
    );
    assert_eq!(
        refused(json!({ "ProblemSize": null, "GridDivX": ["block_size_x"] })),
        "KernelSpecification.GlobalSize: is missing; add it, or ProblemSize"
    );
}

/// Kernel Tuner takes 1 where no parameter is the size of a group.
#[test]
fn a_group_without_a_size() {
    let file = |more: Value| {
        let mut file = t1(&[("W", "[2, 4]")], &[]);
        file["KernelSpecification"] = json!({ "Language": "OpenCL", "KernelName": "a" });
        for (key, value) in more.as_object().unwrap() {
            file["KernelSpecification"][key] = value.clone();
        }
        t1::read(&file).map(|read| read["launch"].clone()).map_err(|e| e.to_string())
    };
    let kernel = |more: Value| {
        let mut all = more;
        all["KernelFile"] = "a.cl".into();
        file(all)
    };
    assert_eq!(
        kernel(json!({ "ProblemSize": [64], "GridDivX": ["W"] })).unwrap(),
        json!({ "global_size": ["ceil_div(problem_size_0, W) * 1"], "local_size": ["1"] })
    );
    assert_eq!(
        kernel(json!({ "GlobalSize": { "X": 64 } })).unwrap_err(),
        "KernelSpecification.LocalSize: is missing; add it, such as { \"X\": \"64\" }"
    );
    assert_eq!(
        kernel(json!({})).unwrap_err(),
        "KernelSpecification.GlobalSize: is missing; add it, or ProblemSize"
    );
    assert_eq!(
        file(json!({ "ProblemSize": [64], "GridDivX": ["W"] })).unwrap(),
        json!({ "global_size": 1, "local_size": 1 })
    );
}

#[test]
fn keys_are_spelt_as_the_format_does() {
    for (key, at) in [
        ("gridDivX", "KernelSpecification.gridDivX: unknown field; write GridDivX"),
        ("problem_size", "KernelSpecification.problem_size: unknown field; write ProblemSize"),
        (
            "compileroptions",
            "KernelSpecification.compileroptions: unknown field; write CompilerOptions",
        ),
    ] {
        assert_eq!(launched(&json!({ key: null })).unwrap_err(), at);
    }
    let mut file = t1(&[("W", "[2, 4]")], &[]);
    file["ConfigurationSpace"]["conditions"] = json!([]);
    let refused = |file: &Value| t1::read(file).unwrap_err().to_string();
    assert_eq!(refused(&file), "ConfigurationSpace.conditions: unknown field; write Conditions");
    let arguments = json!({ "Arguments": [{ "Name": "n", "Type": "int", "fillValue": 2 }] });
    assert_eq!(
        launched(&arguments).unwrap_err(),
        "KernelSpecification.Arguments[0].fillValue: unknown field; write FillValue"
    );
    assert!(launched(&json!({ "Device": { "name": "x" }, "Profiling": true })).is_ok());
}

#[test]
fn options_are_words() {
    let kernel = |options: Value| launched(&json!({ "CompilerOptions": options })).map(|l| l.1);
    for (options, macros) in [
        (json!("-D REP=4"), json!({ "REP": "4" })),
        (json!("-D QUIET -DREP=4"), json!({ "QUIET": "1", "REP": "4" })),
        (json!("-DA=1 -U A -D B=-1"), json!({ "B": "-1" })),
        (
            json!("-D'T=unsigned int' \"-DS=a b\" -DC=\\\"x\\\""),
            json!({ "T": "unsigned int", "S": "a b", "C": "\"x\"" }),
        ),
        (
            json!(["-D", "REP=4", "-D QUIET", "-DT=unsigned int"]),
            json!({ "REP": "4", "QUIET": "1", "T": "unsigned int" }),
        ),
        (json!(["-DA=1 -D B"]), json!({ "A": "1", "B": "1" })),
    ] {
        let defines = kernel(options.clone()).unwrap()["defines"].clone();
        let own = |(name, _): &(&String, &Value)| !name.starts_with("block_size_");
        let of = |(name, value): (&String, &Value)| (name.clone(), value["text"].clone());
        let found = defines.as_object().unwrap().iter().filter(own).map(of);
        assert_eq!(Value::Object(found.collect()), macros, "{options}");
    }
    let read = kernel(json!("-I include -Imore -cl-std=CL3.0 -O3")).unwrap();
    assert_eq!(
        (&read["include"], &read["standard"]),
        (&json!(["include", "more"]), &json!("CL3.0"))
    );
    assert_eq!(
        kernel(json!("-cl-std=CL3.0 -D")).unwrap_err(),
        "KernelSpecification.CompilerOptions: nothing follows -D; write -DNAME, or remove it"
    );
    assert_eq!(
        kernel(json!("-DA -include a.h")).unwrap_err(),
        "KernelSpecification.CompilerOptions: -include is not read; write `#include` into the \
         source"
    );
}

/// What the schema T1 1.0.0 of Kernel Tuner asks for.
#[test]
fn written_arguments_are_those_of_the_schema() {
    let with = |more: Value, argument: Value| {
        let mut value = json!({
            "inputs": { "n": 64 }, "parameters": { "WG": [4] },
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
            "launch": { "global_size": "n", "local_size": "WG" },
            "kernel": { "opencl": "a.cl", "entry": "a", "arguments": [argument] } });
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let file = t1::write(&problem(&value)).map_err(|e| e.to_string())?;
        let again = t1::read(&file).unwrap();
        Ok::<_, String>((file["KernelSpecification"].clone(), again["kernel"].clone()))
    };
    for (ours, theirs) in [
        ("char", "int8"),
        ("uchar", "uint8"),
        ("short", "int16"),
        ("ushort", "uint16"),
        ("int", "int32"),
        ("uint", "uint32"),
        ("long", "int64"),
        ("ulong", "uint64"),
        ("float", "float"),
        ("double", "double"),
    ] {
        let buffer = json!({ "name": "x", "type": ours, "length": "n / WG", "fill": "index" });
        let (file, again) = with(json!({}), buffer).unwrap();
        assert_eq!(
            file["Arguments"],
            json!([{ "Name": "x", "Type": theirs, "MemoryType": "Vector", "AccessType": "ReadOnly",
                     "Output": 0, "Size": "64 // WG", "FillType": "Generator", "DataSource": "i" }])
        );
        let wanted = json!([{ "name": "x", "type": ours, "length": "64 // WG", "fill": "index" }]);
        assert_eq!(again["arguments"], wanted);
    }
    assert_eq!(
        with(json!({}), json!({ "name": "k", "type": "int", "value": "n / WG" })).unwrap_err(),
        "kernel.arguments.k: T1 has no place for a value that depends on parameters: `64 // WG`; \
         let the \
         kernel take it from the parameters, which are macros"
    );
    let abstract_kernel = json!({ "name": "none", "kernel": [] });
    let (file, again) = with(abstract_kernel, json!({})).unwrap();
    assert_eq!((&file["KernelName"], &file["KernelFile"]), (&json!("none"), &json!("")));
    assert_eq!(again, json!([]));
    for name in ["is", "lambda", "None", "max"] {
        let mut parameters = json!({ "parameters": { "WG": [4] } });
        parameters["parameters"][name] = json!([1, 2]);
        let said = with(parameters, json!({ "name": "k", "type": "int", "value": 1 })).unwrap_err();
        assert_eq!(
            said,
            format!(
                "parameters.{name}: `{name}` cannot be a name in a T1 file, whose conditions are \
                 in \
                     Python; rename the parameter"
            )
        );
    }
}

#[test]
fn conditions_in_python() {
    let values = ("a", "[1, 2, 3]");
    let count = |condition: &str| sizes(&t1(&[values, ("b", "[1, 2, 3]")], &[condition])).0;
    for (condition, expected) in [
        ("a in [1, 3]", 6),
        ("a not in (1, b)", 4),
        ("int(a / b) == 1", 4),
        ("(a / b) ** 2 <= 1", 6),
        ("(a / b) ** 3 < 2", 6),
        ("a / b >= 1.5", 3),
    ] {
        assert_eq!(count(condition), expected, "{condition}");
    }
    let said = t1::read(&t1(&[values], &["a is not 1"])).unwrap_err().to_string();
    assert!(said.ends_with("write `==` for `is`, and `!=` for `is not`"), "{said}");
}
