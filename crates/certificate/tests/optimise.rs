//! Texts for optimisers: Z3 reads OPB and SMT-LIB, and FlatZinc has the equations of OPB.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};

use itertools::Itertools;
use tickbound_certificate::Refusal;
use tickbound_certificate::optimise::{OptimiserFormat, optimisation};
use tickbound_model::Problem;

use crate::{least, never, problems, read, shared_problems};

/// What the program `z3` prints, which CI has.
fn z3(arguments: &[&str], text: &str) -> Option<String> {
    let mut command = Command::new("z3");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut run) = command.spawn() else {
        assert!(std::env::var_os("CI").is_none(), "z3 is missing");
        return None;
    };
    run.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Some(String::from_utf8(run.wait_with_output().unwrap().stdout).unwrap())
}

/// Whether a formula in OPB has a solution whose objective is at most `most`.
fn reaches(opb: &str, most: i64) -> Option<bool> {
    let objective = opb.lines().find_map(|line| line.strip_prefix("min: ")).unwrap();
    let sum = objective.trim_end_matches(" ;").split(' ').map(|word| match word.split_at(1) {
        ("+", n) => format!("-{n}"),
        ("-", n) => format!("+{n}"),
        _ => word.to_owned(),
    });
    let bound = format!("{} >= {} ;\n", sum.collect_vec().join(" "), -most);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("formula.opb");
    std::fs::write(&path, opb.to_owned() + &bound).unwrap();
    let said = z3(&[path.to_str().unwrap()], "")?;
    match said.trim() {
        "sat" => Some(true),
        "unsat" => Some(false),
        said => panic!("{said}"),
    }
}

/// The equations of a text in FlatZinc as OPB writes them.
fn equations(flatzinc: &str) -> Vec<String> {
    let lists = flatzinc.lines().filter_map(|line| {
        let (kind, inside) = line.strip_prefix("constraint int_lin_")?.split_once("([")?;
        let (factors, rest) = inside.strip_suffix(");")?.split_once("],[")?;
        let (names, right) = rest.split_once("],")?;
        let (sign, sense) = if kind == "le" { (-1, ">=") } else { (1, "=") };
        let terms = factors.split(',').zip(names.split(','));
        let terms = terms.map(|(n, x)| format!("{:+} {x}", sign * n.parse::<i64>().unwrap()));
        let right = sign * right.parse::<i64>().unwrap();
        Some(format!("{} {sense} {right} ;", terms.collect_vec().join(" ")))
    });
    lists.collect()
}

/// What `format` is for a problem; `None` if that does not cover it.
fn text(problem: &Problem, format: OptimiserFormat) -> Option<String> {
    match optimisation(problem, format, &never) {
        Ok(text) => Some(text),
        Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => None,
        Err(refusal) => panic!("{refusal}: {}", problem.name),
    }
}

/// The least time is the least objective of the formula, and FlatZinc has the same constraints.
fn formulas_reach(problem: &Problem, opb: &str, time: Option<i64>) {
    let most = time.unwrap_or(1 << 40);
    let found = [most - 1, most].map(|most| reaches(opb, most));
    let wanted = [Some(false), Some(time.is_some())];
    assert!(found == wanted || found == [None; 2], "{found:?} at {time:?}: {}", problem.name);
    let own = equations(&text(problem, OptimiserFormat::FlatZinc).unwrap());
    let of_opb = opb.lines().filter(|line| line.starts_with(['+', '-'])).collect_vec();
    assert_eq!(own[..of_opb.len()], of_opb);
    let objective = opb.lines().find_map(|line| line.strip_prefix("min: ")).unwrap();
    let sum = format!("{} -1 time = 0 ;", objective.trim_end_matches(" ;"));
    assert_eq!(*own.last().unwrap(), sum);
    assert_eq!(own.len(), of_opb.len() + problem.parameters.len() + 1);
}

#[test]
fn the_least_time_is_that_of_z3() {
    let (mut formulas, mut sums) = (0, 0);
    for seed in 0..60 {
        let problem = read(&problems::problem(seed));
        let Some((_, time)) = least(&problem) else { continue };
        if let Some(opb) = text(&problem, OptimiserFormat::Opb) {
            formulas_reach(&problem, &opb, Some(time));
            formulas += 1;
        }
        if let Some(smt2) = text(&problem, OptimiserFormat::Smt2) {
            let Some(said) = z3(&["-smt2", "-in"], &smt2) else { continue };
            assert!(said.starts_with(&format!("sat\n(objectives\n (time {time})\n")), "{said}");
            sums += 1;
        }
    }
    assert!(formulas > 20 && sums > 20, "{formulas} {sums}");
}

/// Budgets, windows, orders and maxima are inequalities; products are not written.
#[test]
fn accumulators_are_inequalities() {
    let (mut written, mut valid) = (HashMap::new(), 0);
    for seed in 0..150 {
        let (kind, value) = shared_problems::problem(seed);
        let problem = read(&value);
        let Some(opb) = text(&problem, OptimiserFormat::Opb) else { continue };
        let time = least(&problem).map(|(_, time)| time);
        formulas_reach(&problem, &opb, time);
        valid += usize::from(time.is_some());
        if opb.contains(" >= ") {
            *written.entry(format!("{kind:?}")).or_insert(0) += 1;
        }
    }
    println!("{written:?}, {valid} have a configuration");
    assert!(written.len() >= 8 && valid > 80);
}
