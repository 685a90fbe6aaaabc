//! Texts for optimisers: Z3 reads OPB and SMT-LIB, and FlatZinc has the equations of OPB.

use std::io::Write;
use std::process::{Command, Stdio};

use itertools::Itertools;
use tickbound_certificate::Refusal;
use tickbound_certificate::optimise::{OptimiserFormat, optimisation};

use crate::{least, never, problems, read};

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
        let inside = line.strip_prefix("constraint int_lin_eq([")?.strip_suffix(");")?;
        let (factors, rest) = inside.split_once("],[")?;
        let (names, right) = rest.split_once("],")?;
        let terms = factors.split(',').zip(names.split(','));
        let terms = terms.map(|(n, x)| format!("{:+} {x}", n.parse::<i64>().unwrap()));
        Some(format!("{} = {right} ;", terms.collect_vec().join(" ")))
    });
    lists.collect()
}

#[test]
fn the_least_time_is_that_of_z3() {
    let (mut formulas, mut sums) = (0, 0);
    for seed in 0..60 {
        let problem = read(&problems::problem(seed));
        let Some((_, time)) = least(&problem) else { continue };
        let text = |format| match optimisation(&problem, format, &never) {
            Ok(text) => Some(text),
            Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => None,
            Err(refusal) => panic!("seed {seed}: {refusal}"),
        };
        if let Some(opb) = text(OptimiserFormat::Opb) {
            let found = [time - 1, time].map(|most| reaches(&opb, most));
            assert!(found == [Some(false), Some(true)] || found == [None; 2], "seed {seed}");
            let flatzinc = text(OptimiserFormat::FlatZinc).unwrap();
            let own = equations(&flatzinc);
            let of_opb = opb.lines().filter(|line| line.starts_with(['+', '-'])).collect_vec();
            assert_eq!(own[..of_opb.len()], of_opb);
            let objective = opb.lines().find_map(|line| line.strip_prefix("min: ")).unwrap();
            let sum = format!("{} -1 time = 0 ;", objective.trim_end_matches(" ;"));
            assert_eq!(*own.last().unwrap(), sum);
            assert_eq!(own.len(), of_opb.len() + problem.parameters.len() + 1);
            formulas += 1;
        }
        if let Some(smt2) = text(OptimiserFormat::Smt2) {
            let Some(said) = z3(&["-smt2", "-in"], &smt2) else { continue };
            assert!(said.starts_with(&format!("sat\n(objectives\n (time {time})\n")), "{said}");
            sums += 1;
        }
    }
    assert!(formulas > 20 && sums > 20, "{formulas} {sums}");
}
