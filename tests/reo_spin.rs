//! The Promela export of connectors: SPIN must say of deadlocks and invariants what `reo check`
//! says.

use crate::with_spin::here;

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).current_dir(folder).args(arguments).output();
    let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    output
}

/// Whether SPIN finds no deadlock, or with a formula, no run that breaks it.
fn spin_agrees(model: &str, formula: Option<&str>) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let ltl = formula.map(|f| format!("ltl always {{ [] ({f}) }}\n")).unwrap_or_default();
    std::fs::write(folder.path().join("model.pml"), format!("{model}{ltl}")).expect("a file");
    run(folder.path(), "spin", &["-a", "model.pml"]);
    let claim = if formula.is_some() { "-DNOFAIR" } else { "-DNOCLAIM" };
    run(folder.path(), here::compiler(), &["-O0", "-w", "-DSAFETY", claim, "-o", "pan", "pan.c"]);
    let pan = folder.path().join("pan");
    let output = run(folder.path(), &pan.to_string_lossy(), &[]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("errors: "), "{text}");
    text.contains("errors: 0")
}

fn tickbound(arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("tickbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    command.output().expect("the program runs")
}

fn ours(arguments: &[&str], more: &[&str]) -> bool {
    let output = tickbound(&[&["reo", "check"], arguments, more].concat());
    match output.status.code() {
        Some(0) => true,
        Some(1) => false,
        _ => panic!("{output:?}"),
    }
}

/// Arguments of a connector, and formulas as ours and as SPIN's.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);

#[test]
fn names_that_c_and_promela_take_do_not_reach_spin() {
    if !here::here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("k.treo");
    let long = "w".repeat(600);
    let text = format!(
        "k(main?, register?, exit?, chan?, S0?, sv?, connector?, {long}!) {{
            sync(main, {long}) syncdrain(register, exit) syncdrain(chan, S0) syncdrain(sv, \
            connector) }}"
    );
    std::fs::write(&path, text).expect("a file");
    let output = tickbound(&["reo", "compose", &path.to_string_lossy(), "--to", "promela"]);
    assert!(output.status.success(), "{output:?}");
    assert!(spin_agrees(&String::from_utf8_lossy(&output.stdout), None));
}

#[test]
fn spin_and_check_agree() {
    if !here::here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let stuck = folder.path().join("stuck.treo");
    // The second buffer waits for a signal that only it could give.
    let text = "stuck(a?, b!) { fifo1(a, x) fifo1(y, z) syncdrain(x, z) fifo1(z, y) sync(z, b) }";
    std::fs::write(&stuck, text).expect("a file");
    let stuck = stuck.to_string_lossy().into_owned();
    let cases: &[Case<'_>] = &[
        (
            &["examples/connectors/alternator.treo", "--set", "n=3"],
            &[
                ("in[1] -> in[2] & out[1]", "in_1 -> in_2 && out_1"),
                ("out[1] -> in[1]", "out_1 -> in_1"),
            ],
        ),
        (
            &["examples/connectors/sequencer.treo", "--set", "n=3", "--set", "start=go"],
            &[
                ("!(turn[1] & turn[2])", "!(turn_1 && turn_2)"),
                ("turn[1] | turn[2]", "turn_1 || turn_2"),
            ],
        ),
        (&[&stuck], &[]),
    ];
    let mut verdicts = Vec::new();
    for (arguments, formulas) in cases {
        let export = [&["reo", "compose"][..], arguments, &["--to", "promela"]].concat();
        let model = String::from_utf8(tickbound(&export).stdout).expect("UTF-8");
        let free = ours(arguments, &[]);
        assert_eq!(spin_agrees(&model, None), free, "{arguments:?}");
        verdicts.push(free);
        for (formula, ltl) in *formulas {
            let holds = ours(arguments, &["--invariant", formula]);
            // Before the first step no name has fired.
            let begun = model.lines().filter_map(|l| l.strip_prefix("bit "));
            let none: Vec<String> =
                begun.map(|n| format!("!{}", n.trim_end_matches(';'))).collect();
            let ltl = format!("({}) || ({ltl})", none.join(" && "));
            assert_eq!(spin_agrees(&model, Some(&ltl)), holds, "{arguments:?} {formula}");
            verdicts.push(holds);
        }
    }
    assert_eq!(verdicts, [true, true, false, true, true, false, false]);
}
