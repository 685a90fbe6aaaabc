//! `tune --over` and `--emit`: rules against the simulator run on every configuration at every
//! size, and emitted code compiled and run.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use assert_cmd::cargo::cargo_bin_cmd;
use indexmap::IndexMap;
use insta::assert_snapshot;
use serde_json::{Value, json};
use tickbound_expr::Expr;
use tickbound_model::random::SplitMix64;
use tickbound_model::{Problem, platforms};
use tickbound_rules::{
    ClosedForm, DecisionTree, MixRequest, Rule, RuleError, RuleRequest, RuleSizes, mix, rule,
};
use tickbound_simulator::simulate;
use tickbound_solver::SearchOptions;

/// What `tickbound` prints in a folder, what it complains about, and its exit status.
fn run_in(folder: &Path, arguments: &[&str]) -> (String, String, i32) {
    let output = cargo_bin_cmd!("tickbound").current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

fn run(arguments: &[&str]) -> (String, String, i32) {
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

fn read(file: &Value, inputs: &IndexMap<String, i64>) -> Problem {
    Problem::from_value(file, inputs, &platforms::find).unwrap_or_else(|e| panic!("{e}: {file}"))
}

/// The problem with its sizes as parameters.
fn joint(file: &Value, sizes: &RuleSizes) -> Problem {
    let mut file = file.clone();
    sizes.into_parameters(file.as_object_mut().unwrap()).unwrap();
    read(&file, &IndexMap::new())
}

fn found(
    joint: &Problem,
    sizes: &RuleSizes,
    loss: u64,
    (variants, tree): (Option<usize>, bool),
) -> Result<Rule, RuleError> {
    let problem_at = |size: usize| {
        Ok(joint.with_values(&sizes.values(size).into_iter().map(Some).collect::<Vec<_>>()))
    };
    rule(&RuleRequest {
        sizes,
        problem_at: &problem_at,
        loss,
        variants,
        tree,
        options: SearchOptions::default(),
        interrupt: &AtomicBool::new(false),
        progress: &|_| {},
    })
}

/// Closed forms of the variants; `None` if one cannot be written.
fn forms(joint: &Problem, sizes: &RuleSizes, rule: &Rule) -> Option<Vec<ClosedForm>> {
    let first = sizes.names().count();
    let form = |variant: &Vec<i64>| {
        let values = std::iter::repeat_n(None, first).chain(variant.iter().copied().map(Some));
        ClosedForm::new(&joint.with_values(&values.collect::<Vec<_>>()), sizes).ok()
    };
    rule.variants.iter().map(form).collect()
}

/// The times of all valid configurations at a size, by the simulator.
fn all_at(file: &Value, sizes: &RuleSizes, size: usize) -> HashMap<Vec<i64>, i64> {
    let values = sizes.values(size);
    let inputs = sizes.names().map(str::to_owned).zip(values).collect();
    let problem = read(file, &inputs);
    let Ok(space) = problem.space() else { return HashMap::new() };
    let time = |bound| simulate(&problem, bound, &Default::default()).unwrap().time;
    space.bound.iter().map(|b| (b.configuration.0.clone(), time(b))).collect()
}

/// A problem over `n` and `m`, some of whose configurations are valid at some sizes only.
fn random_problem(random: &mut SplitMix64) -> Value {
    let mut of = |all: &[&str]| all[random.draw() as usize % all.len()].to_owned();
    let constraints: Vec<String> = [
        of(&["n % WG == 0", "WG <= n", "n % (WG * TS) == 0 or TS == 1"]),
        of(&["m % TS == 0", "n / TS >= 2", "True", "WG * TS <= m + 8"]),
    ]
    .into();
    let amount = of(&["n // WG", "ceil_div(n * m, WG * TS)", "TS + n % 5", "m - m // TS"]);
    let count = of(&["ceil_div(m, TS)", "min(n, 7)", "TS", "n % 3"]);
    let inner = of(&["WG", "TS * 3", "1 + m % TS"]);
    let domain = of(&["powers_of_two(1, n)", "range(1, 9, 2)", "divisors(m)"]);
    let usage = json!({ "real": format!("40 * ({amount})"), "integer": inner, "registers": 24,
        "l2_bytes": format!("32 * ({count})"), "dram_bytes": "4 * n * m" });
    let kernel = json!([{ "global": amount }, { "repeat": count, "body": [
        { "compute": inner }, "barrier"] }]);
    let mut file = json!({
        "name": "random", "inputs": { "n": 8, "m": 8 }, "platform": "h200",
        "parameters": { "WG": domain, "TS": [1, 2, 3, 4] }, "constraints": constraints,
        "launch": { "global_size": "ceil_div(n, WG) * WG * TS", "local_size": "WG" }, "kernel": [],
    });
    match random.draw() % 2 {
        0 => (file["profile"], file["kernel"]) = (json!("opencl"), kernel),
        _ => (file["profile"], file["usage"]) = (json!("resources"), usage),
    }
    file
}

/// Every claim of a rule against the times of all configurations. The number of sizes whose
/// closed forms were compared.
fn agrees(file: &Value, sizes: &RuleSizes, rule: &Rule, loss: u64) -> usize {
    let joint = joint(file, sizes);
    let forms = forms(&joint, sizes, rule);
    let (mut served, mut compared) = (0, 0);
    let mut worst = 0.0f64;
    for size in 0..sizes.count() {
        let all = all_at(file, sizes, size);
        let by_tree = |tree: &DecisionTree| tree.pick(&sizes.tree_arguments_at(size));
        let Some(least) = all.values().min() else {
            assert!(rule.infeasible.contains(&size), "{}", sizes.name(size));
            assert!(rule.tree.as_ref().is_none_or(|tree| by_tree(tree).is_none()));
            continue;
        };
        assert!(rule.valid.contains(&(size, *least)), "{}: {least}", sizes.name(size));
        let picked = match &rule.tree {
            Some(tree) => by_tree(tree).and_then(|v| all.get(&rule.variants[v])),
            None => rule.variants.iter().filter_map(|v| all.get(v)).min(),
        };
        let picked = *picked.unwrap_or_else(|| panic!("nothing at {}", sizes.name(size)));
        let lost = (picked - least) as f64 / (*least).max(1) as f64;
        assert!(lost <= loss as f64 / 1e6 + 1e-12, "{}: {lost}", sizes.name(size));
        worst = worst.max(lost);
        served += 1;
        for (variant, form) in rule.variants.iter().zip(forms.iter().flatten()) {
            let time = form.times(sizes, &[size]).unwrap()[0];
            assert_eq!(time, all.get(variant).copied(), "{variant:?} at {}", sizes.name(size));
            compared += 1;
        }
    }
    assert_eq!(served, rule.valid.len());
    assert_eq!(rule.serves.iter().sum::<usize>(), served);
    assert!((rule.worst.loss() as f64 / 1e6 - worst).abs() < 2e-6, "{worst}");
    compared
}

#[test]
fn random_rules_keep_their_loss() {
    let seed = std::env::var("RULES_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("RULES_SEED={seed}");
    let mut random = SplitMix64(seed);
    let sizes: RuleSizes = "n=4..24:4,m=3,5..17:4".parse().unwrap();
    let (mut rules, mut compared, mut leaves) = (0, 0, 0);
    for round in 0..40 {
        let file = random_problem(&mut random);
        let loss = u64::from(random.draw() % 3) * 50_000;
        println!("{round}: {loss} {file}");
        let rule = match found(&joint(&file, &sizes), &sizes, loss, (None, false)) {
            Err(RuleError::Infeasible(_)) => continue,
            rule => rule.unwrap(),
        };
        assert_eq!(rule.simulated, rule.valid.len());
        compared += agrees(&file, &sizes, &rule, loss);
        rules += 1;
        // As many variants as that cannot lose more, and fewer lose what the curve says.
        let count = rule.variants.len();
        let same = found(&joint(&file, &sizes), &sizes, 0, (Some(count), false)).unwrap();
        assert!(same.worst.loss() <= rule.worst.loss().max(loss), "{same:?}");
        agrees(&file, &sizes, &same, same.worst.loss());
        let by_tree = found(&joint(&file, &sizes), &sizes, loss, (None, true)).unwrap();
        assert_eq!(by_tree.simulated, by_tree.valid.len());
        agrees(&file, &sizes, &by_tree, loss);
        let same = found(&joint(&file, &sizes), &sizes, 0, (Some(count), true)).unwrap();
        assert!(same.worst.loss() <= rule.worst.loss().max(loss), "{same:?}");
        let count = by_tree.tree.as_ref().unwrap().leaves();
        assert!(count <= sizes.count() && by_tree.variants.len() <= rule.variants.len());
        leaves += count;
    }
    println!("{leaves} leaves");
    assert!((100..600).contains(&leaves), "{leaves} leaves");
    assert!(rules >= 30 && compared >= 1000, "{rules} rules, {compared} times");
}

/// The least total over sizes, by the simulator run on every configuration at every size.
fn least_total(file: &Value, sizes: &RuleSizes, weights: &[i64]) -> Option<i64> {
    let all: Vec<_> = (0..sizes.count()).map(|size| all_at(file, sizes, size)).collect();
    let total = |variant: &Vec<i64>| {
        let times = all.iter().zip(weights).map(|(at, weight)| Some(at.get(variant)? * weight));
        times.sum::<Option<i64>>()
    };
    all[0].keys().filter_map(total).min()
}

#[test]
fn random_mixes_are_least() {
    let seed = std::env::var("RULES_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("RULES_SEED={seed}");
    let mut random = SplitMix64(seed);
    let sizes: RuleSizes = "n=4..24:10,m=3,13".parse().unwrap();
    let (mut found, mut none, mut apart) = (0, 0, 0);
    for round in 0..120 {
        let mut file = random_problem(&mut random);
        if round % 8 == 0 {
            // Something is valid at each size, and nothing at all of them.
            file["constraints"] = json!(["TS % 3 == n % 3"]);
        }
        let weights: Vec<i64> = (0..sizes.count()).map(|_| 1 << (random.draw() % 8)).collect();
        println!("{round}: {weights:?} {file}");
        let named: Vec<(String, i64)> =
            weights.iter().enumerate().map(|(size, weight)| (sizes.name(size), *weight)).collect();
        let problem_at = |size: usize| {
            let inputs = sizes.names().map(str::to_owned).zip(sizes.values(size));
            Ok(read(&file, &inputs.collect()))
        };
        let result = mix(&MixRequest {
            sizes: &named,
            problem_at: &problem_at,
            options: SearchOptions::default(),
            interrupt: &AtomicBool::new(false),
            progress: &|_| {},
        });
        let Some(least) = least_total(&file, &sizes, &weights) else {
            assert!(matches!(result, Err(RuleError::NoMix(_))), "{result:?}");
            none += 1;
            continue;
        };
        let mix = result.unwrap();
        assert!(mix.is_proved() && mix.total == least, "{mix:?} is not {least}");
        let sum = |times: &[i64]| times.iter().zip(&weights).map(|(t, w)| t * w).sum::<i64>();
        assert_eq!(sum(&mix.times), least);
        apart += usize::from(sum(&mix.least) < least);
        found += 1;
    }
    // Most are no configuration that is best at every size.
    println!("{found} found, {none} without, {apart} apart");
    assert!(found >= 40 && none >= 5 && apart >= 20, "{found} {none} {apart}");
}

#[test]
fn a_mix_of_named_sizes() {
    let folder = with_example("matmul.json");
    let path = folder.path().join("p.json");
    let mut file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    file["sizes"] = json!({ "small": { "n": 64 }, "odd": { "n": 1040 }, "large": { "n": 4096 } });
    let write = |file: &Value| std::fs::write(&path, file.to_string()).unwrap();
    file["weights"] = json!({ "small": 500, "odd": 20 });
    write(&file);
    let (text, error, code) = run_in(folder.path(), &["tune", "p.json", "--mix"]);
    assert_eq!(code, 0, "{error}");
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("in:")).collect();
    assert_snapshot!(text.join("\n").replace(" over the least there", ""), @r"
    tiled matrix multiplication, 521 launches at 3 sizes
    model:      profile opencl, platform h200
    best:       TM=16, TN=16, TK=8
    time:       349934.100 microseconds (692,869,518 ticks) over all launches
    sizes:      small, 500 launches: 8.597 microseconds (17,022 ticks), 61.45 %
                odd, 20 launches: 4366.633 microseconds (8,645,934 ticks), the least there
                large, 1 launch: 258302.948 microseconds (511,439,838 ticks), 33.02 %
    proved in the model: no configuration takes less over all launches
    ");
    // The total is that of the three sizes.
    let tune = |size: &str| {
        let (text, ..) = run_in(folder.path(), &["tune", "p.json", "--size", size, "--json"]);
        serde_json::from_str::<Value>(&text).unwrap()["upper"].as_i64().unwrap()
    };
    let (text, _, code) = run_in(folder.path(), &["tune", "p.json", "--mix", "--json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    let sizes = answer["sizes"].as_array().unwrap();
    assert_eq!((code, &answer["lower"], &answer["launches"]), (0, &answer["total"], &json!(521)));
    let total: i64 =
        sizes.iter().map(|s| s["ticks"].as_i64().unwrap() * s["launches"].as_i64().unwrap()).sum();
    assert_eq!(answer["total"], total);
    for size in sizes {
        assert_eq!(size["least"], tune(size["name"].as_str().unwrap()));
    }
    // As code, which can be checked.
    let emit = ["tune", "p.json", "--mix", "--emit", "matmul.h"];
    assert_eq!(run_in(folder.path(), &emit).2, 0);
    let header = std::fs::read_to_string(folder.path().join("matmul.h")).unwrap();
    assert!(header.contains("launches: 500 x small, 20 x odd, 1 x large"), "{header}");
    assert_eq!(run_in(folder.path(), &["emit", "--check", "matmul.h"]).2, 0);
    // Without it, one size is searched, and a note mentions it.
    let (_, error, _) = run_in(folder.path(), &["tune", "p.json"]);
    assert!(error.contains("--mix takes all"), "{error}");
    for (weights, said) in [
        (json!({ "tiny": 2 }), "weights.tiny: no size has this name"),
        (json!({ "odd": 0 }), "weights.odd: found 0; write a number of launches, at least 1"),
        (json!({ "odd": i64::MAX }), "beyond 2^63 ticks"),
    ] {
        file["weights"] = weights;
        write(&file);
        let (_, error, code) = run_in(folder.path(), &["tune", "p.json", "--mix"]);
        assert!(code == 2 && error.contains(said), "{error}");
    }
    file.as_object_mut().unwrap().shift_remove("weights");
    file["sizes"] = json!({ "small": { "n": 64 }, "none": { "n": 3 } });
    write(&file);
    let (_, error, code) = run_in(folder.path(), &["tune", "p.json", "--mix"]);
    assert!(code == 2 && error.contains("at none: parameters.TM: the domain is empty"), "{error}");
    file["sizes"] = json!({});
    write(&file);
    let (_, error, code) = run_in(folder.path(), &["tune", "p.json", "--mix"]);
    assert!(code == 2 && error.contains("the problem has no `sizes`"), "{error}");
}

#[test]
fn a_wrong_closed_form_is_found() {
    let file = std::fs::read_to_string("examples/problems/matmul.json").unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let sizes: RuleSizes = "n=16..2048:16".parse().unwrap();
    let joint = joint(&file, &sizes);
    let rule = found(&joint, &sizes, 0, (None, false)).unwrap();
    let mut forms = forms(&joint, &sizes, &rule).unwrap();
    assert_eq!(rule.loss_of(&sizes, &forms).unwrap().loss(), 0);
    // A variant that is said to take no time is picked where it is the wrong one.
    forms[3].ticks = Expr::Int(0);
    assert!(rule.loss_of(&sizes, &forms).unwrap().loss() > 100_000);
    // One that is said to be valid where it is not.
    forms[3].conditions.clear();
    let error = rule.loss_of(&sizes, &forms).unwrap_err().to_string();
    assert!(error.contains("nothing valid is picked at n=16"), "{error}");
}

#[test]
fn matmul_over_all_sizes() {
    let over = "n=16..8192:16";
    let (text, _, status) = run(&["tune", "examples/problems/matmul.json", "--over", over]);
    assert_eq!(status, 0);
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("in:")).collect();
    assert_snapshot!(text.join("\n"), @r"
    tiled matrix multiplication, 512 sizes at n=16..8192:16
    model:      profile opencl, platform h200
    rule:       of 4 configurations the one with the least predicted time
    variants:   TM=16, TN=16, TK=8 (254 sizes)
                TM=32, TN=32, TK=16 (242 sizes)
                TM=8, TN=16, TK=16 (9 sizes)
                TM=16, TN=32, TK=32 (7 sizes)
    loss:       0 % at every size
    fewer:      1: 66.08 %; 2: 25.29 %; 3: 14.24 %
    proved in the model: the least time at each of 512 sizes
    replayed:   as many ticks in the simulator at 500 sizes
    ");
    let arguments = ["tune", "examples/problems/matmul.json", "--over", over];
    let (text, _, status) = run(&[&arguments[..], &["--variants", "2", "--json"]].concat());
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &answer["worst"]["size"]), (0, &json!("n=8144")));
    assert_eq!(answer["worst"]["ticks"], 5_029_688_898u64);
    assert_eq!(answer["worst"]["least"], 4_014_535_226u64);
}

#[test]
fn what_cannot_be_a_rule() {
    let matmul = "examples/problems/matmul.json";
    for (arguments, status, said) in [
        (&["--over", "n=8..4"][..], 2, "the range `8..4` is empty"),
        (&["--over", "q=1..4"], 2, "--over q: no input has this name"),
        (&["--over", "n=1..3"], 2, "no configuration is valid at any of these sizes"),
        (&["--over", "n=16,24", "--input", "n=3"], 2, "--input n: no input"),
        (&["--over", "n=16", "--emit", "x.txt"], 2, "end the name with one of .flags, .h, .json"),
        (&["--over", "n=16", "--loss=-1"], 2, "write a share in percent"),
        (&["--over", "n=16", "--top", "3"], 2, "cannot be used with"),
        (&["--variants", "3"], 2, "--over"),
    ] {
        let (text, error, code) = run(&[&["tune", matmul], arguments].concat());
        assert_eq!(code, status, "{arguments:?}: {text}{error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
    // Many sizes, of which most have no valid configuration.
    let (text, error, code) = run(&["tune", matmul, "--over", "n=1..4096"]);
    assert_eq!(code, 0, "{error}");
    assert!(text.contains("proved in the model: the least time at each of 1024 sizes"), "{text}");
    // Sizes without a valid configuration are named, and the rule holds at the others.
    let (text, _, code) = run(&["tune", matmul, "--over", "n=1..8"]);
    assert_eq!(code, 0);
    assert!(text.contains("invalid:    6 sizes, n=1 first; nothing is picked"), "{text}");
}

/// A copy of the example in a folder of its own.
fn with_example(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems").join(name);
    std::fs::copy(path, folder.path().join("p.json")).unwrap();
    folder
}

/// What a program prints that is built by `compiler` from a file of this text.
fn built(folder: &Path, compiler: &[&str], file: &str, text: &str) -> String {
    std::fs::write(folder.join(file), text).unwrap();
    let mut command = Command::new(compiler[0]);
    let output = command.current_dir(folder).args(&compiler[1..]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(Command::new(folder.join("program")).output().unwrap().stdout).unwrap()
}

/// What the rule of a command is as C, Rust and Python, which agree: for each argument from 1 to
/// 2199 whether it is proved, and the options that are picked. `first` are arguments before it.
fn emitted(folder: &Path, arguments: &[&str], first: &str) -> String {
    let emit =
        ["--emit", "rule.h", "--emit", "rule.rs", "--emit", "rule.py", "--emit", "rule.json"];
    let command = [&["tune", "p.json", "-q"], arguments, &emit].concat();
    let (_, error, status) = run_in(folder, &command);
    assert_eq!((error.as_str(), status), ("", 0));
    let c = format!(
        "#include <stdio.h>\n#include \"rule.h\"\nint main(void) {{\n\
         for (int64_t n = 1; n < 2200; n++) {{ int v = p_pick({first}n);\n\
         const char *options = v < 0 ? \"-\" : p_variants[v].options;\n\
         printf(\"%d %d %s\\n\", (int)n, p_is_proved({first}n), options);\n\
         }}\n return 0; }}\n"
    );
    let c = built(folder, &["cc", "-std=c99", "-Wall", "-Werror", "-o", "program"], "m.c", &c);
    let rust = format!(
        "mod rule;\nfn main() {{\nfor n in 1..2200 {{\n\
         let options = rule::pick({first}n).map_or(\"-\", |v| rule::VARIANTS[v].options);\n\
         println!(\"{{n}} {{}} {{options}}\", i32::from(rule::is_proved({first}n)));\n}}\n}}\n"
    );
    let rustc = ["rustc", "--edition=2021", "-A", "dead_code", "-o", "program"];
    assert_eq!(built(folder, &rustc, "m.rs", &rust), c);
    let python = format!(
        "import rule\nfor n in range(1, 2200):\n    v = rule.pick({first}n)\n    \
         print(n, int(rule.is_proved({first}n)), '-' if v is None else rule.OPTIONS[v])\n"
    );
    std::fs::write(folder.join("m.py"), python).unwrap();
    let output = Command::new("python3").current_dir(folder).arg("-B").arg("m.py").output();
    assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), c);
    c
}

/// The sizes that are proved in such a list, with the variants that are picked.
fn picked(list: &str) -> Vec<Vec<i64>> {
    let proved = list.lines().filter(|line| line.split(' ').nth(1) == Some("1"));
    let values = |line: &str| {
        line.split('=').skip(1).map(|v| v.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    proved.map(values).collect()
}

#[test]
fn emitted_code_picks_what_is_proved() {
    let folder = with_example("matmul.json");
    let folder = folder.path();
    let over = ["--over", "n=16..2048:16"];
    let file: Value =
        serde_json::from_slice(&std::fs::read(folder.join("p.json")).unwrap()).unwrap();
    let sizes: RuleSizes = "n=16..2048:16".parse().unwrap();
    let least = picked(&emitted(folder, &over, ""));
    let by_tree = picked(&emitted(folder, &[&over[..], &["--tree"]].concat(), ""));
    let rule = std::fs::read_to_string(folder.join("rule.json")).unwrap();
    let nodes = serde_json::from_str::<Value>(&rule).unwrap()["tree"].as_array().unwrap().len();
    assert!((3..60).contains(&nodes), "{rule}");
    // What is picked takes the least time, at every size for which that is proved; by a tree it
    // takes at most 5 % more.
    assert_eq!((least.len(), by_tree.len()), (128, 128));
    for size in (0..128).step_by(9) {
        let all = all_at(&file, &sizes, size);
        let min = all.values().min().unwrap();
        assert_eq!(all.get(&least[size]), Some(min), "{}", sizes.name(size));
        assert!(all[&by_tree[size]] * 100 <= min * 105, "{}", sizes.name(size));
    }
}

/// One decision tree for two devices picks on each within the loss there.
#[test]
fn emitted_code_for_several_devices() {
    let folder = with_example("matmul.json");
    let folder = folder.path();
    let over = ["--over", "n=16..2048:16", "--devices", "h200,gtx-680", "--tree"];
    let sizes: RuleSizes = "n=16..2048:16".parse().unwrap();
    for (number, device) in ["h200", "gtx-680"].into_iter().enumerate() {
        let picked = picked(&emitted(folder, &over, &format!("{number}, ")));
        let mut file: Value =
            serde_json::from_slice(&std::fs::read(folder.join("p.json")).unwrap()).unwrap();
        file["platform"] = json!(device);
        for size in (0..128).step_by(13) {
            let all = all_at(&file, &sizes, size);
            let min = all.values().min().unwrap();
            assert!(all[&picked[size]] * 100 <= min * 105, "{} on {device}", sizes.name(size));
        }
        // A third device is not proved at any size.
        let text = std::fs::read_to_string(folder.join("rule.h")).unwrap();
        assert!(text.contains(&format!("// {number}: {device}\n")), "{text}");
    }
    assert!(emitted(folder, &over, "2, ").lines().all(|line| line.split(' ').nth(1) == Some("0")));
}

#[test]
fn a_file_is_what_its_command_writes() {
    let folder = with_example("matmul.json");
    let folder = folder.path();
    let one = ["tune", "p.json", "--emit", "one.h", "--emit", "one.cmake", "--emit", "one.flags"];
    assert_eq!(run_in(folder, &one).2, 0);
    let rule = ["tune", "p.json", "--over", "n=64..512:64", "--emit", "rule.json"];
    assert_eq!(run_in(folder, &rule).2, 0);
    let text = std::fs::read_to_string(folder.join("one.h")).unwrap();
    assert!(text.contains("#define P_TM 32\n#define P_TN 32\n#define P_TK 16\n"), "{text}");
    for file in ["one.h", "one.cmake", "one.flags", "rule.json"] {
        let (text, error, status) = run_in(folder, &["emit", "--check", file]);
        assert_eq!((text.as_str(), status), (&*format!("{file}: is what its command writes\n"), 0));
        assert_eq!(error, "");
    }
    std::fs::write(folder.join("one.h"), text.replace("P_TM 32", "P_TM 16")).unwrap();
    let (text, _, status) = run_in(folder, &["emit", "--check", "one.h"]);
    assert_eq!((text.contains("from line 10"), status), (true, 1), "{text}");
    std::fs::write(folder.join("other.h"), "int x;\n").unwrap();
    let (_, error, status) = run_in(folder, &["emit", "--check", "other.h"]);
    assert!(status == 2 && error.contains("no line with the command"), "{error}");
}

/// The rule for several devices loses at each of them what the searches for each device show.
#[test]
fn a_rule_for_several_devices() {
    let matmul = "examples/problems/matmul.json";
    let (devices, sizes) = (["h200", "gtx-680", "radeon-w7800"], [64, 256, 1024]);
    let over = ["--over", "n=64,256,1024", "--devices", "h200,gtx-680,radeon-w7800", "--json"];
    for variants in ["1", "2"] {
        let (text, error, status) =
            run(&[&["tune", matmul, "--variants", variants], &over[..]].concat());
        assert_eq!(status, 0, "{error}");
        let rule: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&rule["platforms"], &rule["sizes"]), (&json!(devices), &json!(9)));
        let mut worst: f64 = 0.0;
        for (device, n) in devices.iter().flat_map(|d| sizes.map(|n| (d, n))) {
            let n = format!("n={n}");
            let at = ["--platform", device, "--input", &n, "--json"];
            let time = |command: &[&str]| {
                let (text, error, _) = run(&[command, &at].concat());
                assert_eq!(error, "");
                serde_json::from_str::<Value>(&text).unwrap()["time"].as_i64().unwrap()
            };
            let least = time(&["tune", matmul]);
            let picked = rule["variants"].as_array().unwrap().iter().map(|variant| {
                let values = variant["configuration"].as_object().unwrap().iter();
                let set: Vec<String> = values.map(|(p, v)| format!("--set={p}={v}")).collect();
                let set: Vec<&str> = set.iter().map(String::as_str).collect();
                time(&[&["simulate", matmul], &set[..]].concat())
            });
            worst = worst.max(100.0 * (picked.min().unwrap() as f64 / least as f64 - 1.0));
        }
        let stated = rule["worst"]["percent"].as_f64().unwrap();
        assert!((stated - worst).abs() < 1e-3, "{stated} {worst}: {text}");
    }
    for (arguments, said) in [
        (&["--devices", "h200,h200"][..], "--devices h200,h200: `h200` is named twice"),
        (&["--devices", "h200,nope"], "no platform is called `nope`"),
        (&["--devices", "h200", "--platform", "h100"], "cannot be used with"),
        (&["--devices", "h200,h100", "--emit", "x.h"], "give --tree for code with a decision tree"),
    ] {
        let (_, error, status) = run(&[&["tune", matmul], arguments].concat());
        assert!(status == 2 && error.contains(said), "{arguments:?}: {error}");
    }
}

#[test]
fn the_configurations_of_a_rule_are_timed() {
    if !crate::measure::device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels");
    for file in ["minimum.json", "minimum.cl", "minimum.ref.c"] {
        std::fs::copy(kernels.join(file), folder.join(file)).unwrap();
    }
    let problem = ["minimum.json", "--platform", "pocl-xeon"];
    let over = ["--over", "size=1024..8192:1024", "--loss", "0%", "--json"];
    let (text, error, status) = run_in(folder, &[&["tune"], &problem[..], &over].concat());
    assert_eq!(status, 0, "{error}");
    std::fs::write(folder.join("rule.json"), text).unwrap();
    let measure = [&["measure"], &problem[..], &["--rule", "rule.json", "--json"]].concat();
    let (text, error, status) = run_in(folder, &[&measure[..], &["--sample", "3"]].concat());
    assert_eq!(status, 0, "{error}");
    let found: Value = serde_json::from_str(&text).unwrap();
    let sizes = found["sizes"].as_array().unwrap();
    let names: Vec<&str> = sizes.iter().map(|size| size["size"].as_str().unwrap()).collect();
    assert_eq!((names.len(), names[0], names[2]), (3, "size=1024", "size=8192"));
    let rule: Value =
        serde_json::from_slice(&std::fs::read(folder.join("rule.json")).unwrap()).unwrap();
    let variants = rule["variants"].as_array().unwrap();
    for size in sizes {
        let at = ["--input", size["size"].as_str().unwrap()];
        let is_valid = |variant: &&Value| {
            let values = variant["configuration"].as_object().unwrap().iter();
            let set: Vec<String> = values.map(|(p, v)| format!("--set={p}={v}")).collect();
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            run_in(folder, &[&["simulate"], &problem[..], &at, &set].concat()).2 == 0
        };
        assert_eq!(size["timed"], variants.iter().filter(is_valid).count());
        for one in ["picked", "fastest"] {
            assert!(variants.iter().any(|v| v["configuration"] == size[one]), "{size}");
        }
        let seconds = |key: &str| size[key].as_f64().unwrap();
        assert!(seconds("fastest_seconds") <= seconds("picked_seconds"), "{size}");
        // What is picked is what is best in the model there.
        let at = ["--input", size["size"].as_str().unwrap(), "--json"];
        let (text, ..) = run_in(folder, &[&["tune"], &problem[..], &at].concat());
        let best: Value = serde_json::from_str(&text).unwrap();
        assert!(best["optima"].as_array().unwrap().contains(&size["picked"]), "{size}");
    }
    for (file, text, said) in [
        ("none.json", None, "none.json: No such file"),
        ("one.json", Some("{\"variants\": []}"), "missing field `over`"),
        ("two.json", Some("{\"over\": \"size=8\", \"variants\": []}"), "it has no configuration"),
        (
            "three.json",
            Some("{\"over\": \"size=8\", \"variants\": [{\"configuration\": {\"WG\": 1}}]}"),
            "no configuration has a value of `TS`",
        ),
    ] {
        text.iter().for_each(|text| std::fs::write(folder.join(file), text).unwrap());
        let (_, error, status) =
            run_in(folder, &[&["measure"], &problem[..], &["--rule", file]].concat());
        assert!(status == 2 && error.contains(said), "{file}: {error}");
    }
}

/// The example host program picks by the header that its first lines name, and computes rightly.
#[test]
fn a_host_program_picks_by_the_emitted_header() {
    if !crate::measure::device() {
        return;
    }
    if !Path::new("/usr/include/CL/cl.h").exists() {
        assert!(std::env::var_os("CI").is_none(), "the headers of OpenCL are needed on CI");
        println!("skipped: there is no CL/cl.h");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let problem = root.join("examples/kernels/minimum.json").display().to_string();
    let over = ["--over", "size=65536..1048576:65536", "--tree", "--emit", "minimum.h"];
    let (_, error, status) = run_in(folder, &[&["tune", &problem], &over[..]].concat());
    assert_eq!(status, 0, "{error}");
    let host = root.join("examples/host/minimum.c").display().to_string();
    let options = ["-std=c99", "-Wall", "-Werror", "-I.", &host, "-l:libOpenCL.so.1", "-ohost"];
    let output = Command::new("cc").current_dir(folder).args(options).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kernel = root.join("examples/kernels/minimum.cl");
    let mut command = Command::new(folder.join("host"));
    let output = command.arg(kernel).args(["65536", "458752", "1048576", "131064"]).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[..3].iter().all(|line| line.ends_with(", right")), "{text}");
    assert_eq!(lines[3], "131064: no size of the rule");
}
