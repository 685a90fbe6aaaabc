//! The texts for programs of others: the formula against enumeration, and what the programs say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::check;
use itertools::Itertools;
use serde_json::Value;
use tickbound_certificate::Refusal;
use tickbound_certificate::folder::{CertificateKind, Text, Texts};
use tickbound_certificate::smt::induction::induction;
use tickbound_certificate::smt::question::question;
use tickbound_certificate::tools::{ProofTools, ToolReport, ask};
use tickbound_simulator::{SimulateOptions, simulate};
use tickbound_timing::obligation::Obligation;

use crate::{certificate, large, least, marked, never, problems, read};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Where `make tools` puts programs, then `PATH`.
fn path() -> OsString {
    let deps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.deps");
    let own = ["yices/bin", "veripb/bin"].map(|folder| deps.join(folder));
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).expect("a path")
}

/// Asks the programs that are there. In CI all four must be.
pub fn said(texts: &Texts, time: i64) -> Result<Vec<ToolReport>, Refusal> {
    let path = path();
    let tools = ProofTools {
        path: &path,
        time: Duration::from_secs(300),
        interrupt: &NEVER,
        show: &|_| {},
    };
    let mut all = Vec::new();
    ask(texts, time, &tools, &mut |said| all.push(said))?;
    let absent = all.iter().find(|s| matches!(s, ToolReport::NotChecked(_)));
    assert!(std::env::var_os("CI").is_none() || absent.is_none(), "{absent:?}");
    Ok(all)
}

/// A formula as VeriPB reads it: coefficients and truth values, and what they come to.
struct Formula {
    objective: Vec<(i64, usize)>,
    equations: Vec<(Vec<(i64, usize)>, i64)>,
}

fn terms(words: &[&str]) -> Vec<(i64, usize)> {
    let term = |(n, x): (&&str, &&str)| {
        (
            n.parse().expect("a number"),
            x.strip_prefix('x').expect("a truth value").parse().expect("its number"),
        )
    };
    words.iter().tuples().map(term).collect()
}

impl Formula {
    fn read(text: &str) -> Formula {
        let mut formula = Formula { objective: Vec::new(), equations: Vec::new() };
        for line in text.lines().filter(|l| !l.starts_with('*')) {
            let words = line.split_whitespace().collect_vec();
            match words.as_slice() {
                ["min:", sum @ .., ";"] => formula.objective = terms(sum),
                [sum @ .., "=", right, ";"] => {
                    formula.equations.push((terms(sum), right.parse().expect("a number")));
                }
                _ => panic!("{line}"),
            }
        }
        formula
    }

    /// The objective where these truth values hold, and no others of the same equations; `None` if
    /// that cannot be.
    fn solved(&self, known: &[(usize, bool)]) -> Option<i64> {
        let all = self.equations.iter().flat_map(|(sum, _)| sum).map(|(_, x)| *x);
        let mut value = vec![None; all.max().unwrap_or(0) + 1];
        known.iter().for_each(|(x, holds)| value[*x] = Some(*holds));
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (sum, right) in &self.equations {
                let fixed: i64 =
                    sum.iter().filter(|(_, x)| value[*x] == Some(true)).map(|(n, _)| n).sum();
                let mut open = sum.iter().filter(|(_, x)| value[*x].is_none());
                let (first, second) = (open.next().copied(), open.next());
                let holds = match (first, second, right - fixed) {
                    (None, _, 0) => continue,
                    (None, ..) => return None,
                    (Some((n, _)), None, rest) if rest == n => true,
                    (Some(_), None, 0) => false,
                    (Some(_), None, _) => return None,
                    // All coefficients but that of a value are 1, so what is open can only add.
                    (_, Some(_), 0) if sum.iter().all(|(n, x)| *n > 0 || value[*x].is_some()) => {
                        false
                    }
                    _ => continue,
                };
                changed = true;
                for (_, x) in sum {
                    value[*x].get_or_insert(holds);
                }
            }
        }
        let open =
            self.equations.iter().flat_map(|(sum, _)| sum).find(|(_, x)| value[*x].is_none());
        assert!(open.is_none(), "{open:?} is open");
        Some(self.objective.iter().filter(|(_, x)| value[*x] == Some(true)).map(|(n, _)| n).sum())
    }
}

/// The solutions of a formula are the valid configurations, and its objective is what the simulator
/// takes: over every choice of values.
#[test]
fn formulas() {
    let (mut formulas, mut valid, mut others) = (0, 0, 0);
    for seed in 0..2200 {
        let problem = read(&problems::problem(seed));
        let Some((configuration, time)) = least(&problem) else { continue };
        let written = certificate(&problem, &configuration, time);
        let written = written.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let Some(text) = written.texts.get(&Text::Formula) else { continue };
        formulas += 1;
        let formula = Formula::read(text);
        let obligation = Obligation::new(&problem).expect("it has been written");
        let space = problem.space().expect("it has been simulated");
        let times: BTreeMap<Vec<i64>, i64> = space
            .bound
            .iter()
            .map(|bound| {
                let run = simulate(&problem, bound, &SimulateOptions::default()).expect("a time");
                (bound.configuration.0.clone(), run.time)
            })
            .collect();
        let values = obligation.values.iter().map(|v| v.iter().copied().enumerate());
        for choice in values.multi_cartesian_product() {
            // The first equation is what always holds, the next ones say that a parameter has one
            // value.
            let mut known = Vec::new();
            for ((index, _), (sum, _)) in choice.iter().zip(&formula.equations[1..]) {
                known.extend(sum.iter().enumerate().map(|(i, (_, x))| (*x, i == *index)));
            }
            let of: Vec<i64> = choice.iter().map(|(_, v)| *v).collect();
            let solved = formula.solved(&known);
            assert_eq!(solved, times.get(&of).copied(), "seed {seed}: {of:?}");
            if solved.is_some() { valid += 1 } else { others += 1 }
        }
    }
    assert_eq!((formulas, valid, others), (1550, 57_092, 195_941));
}

/// Every program that is there agrees with every text; and none with one that claims a tick more.
#[test]
fn programs_agree() {
    let mut count = [0; 3];
    let all = (0..60).map(problems::problem).chain((0..20).map(marked::problem));
    for (number, value) in all.chain([large::chain(6, 5)]).enumerate() {
        let problem = read(&value);
        let Some((configuration, time)) = least(&problem) else { continue };
        let written = certificate(&problem, &configuration, time).expect("a certificate");
        for (n, text) in [Text::Question, Text::Induction, Text::FormulaProof].iter().enumerate() {
            count[n] += usize::from(written.texts.contains_key(text));
        }
        check(&written, None, &never).unwrap_or_else(|e| panic!("{number}: {e}"));
        for what in said(&written.texts, time).unwrap_or_else(|e| panic!("{number}: {e}")) {
            let ToolReport::NotChecked(what) = what else { continue };
            assert!(what.ends_with("which is not on PATH"), "{number}: {what}");
        }
        let Ok(obligation) = Obligation::new(&problem) else { continue };
        let wrong = [
            (Text::Question, question(&obligation, time + 1, &never)),
            (Text::Induction, induction(&obligation, time + 1, &never)),
        ];
        for (text, asked) in wrong {
            let Ok(asked) = asked else { continue };
            match said(&Texts::from([(text, asked)]), time + 1) {
                Err(e) => assert!(e.to_string().contains("satisfiable"), "{number}: {e}"),
                Ok(all) => assert!(
                    all.iter().all(|s| matches!(s, ToolReport::NotChecked(_))),
                    "{number}: {all:?}"
                ),
            }
        }
    }
    assert_eq!(count, [38, 37, 54]);
}

fn example(name: &str, inputs: &[(&str, i64)]) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/problems").join(name);
    let mut value: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("an example")).expect("JSON");
    for (name, number) in inputs {
        let of = if value["inputs"].get(name).is_some() { "inputs" } else { "platform" };
        value[of][name] = (*number).into();
    }
    value
}

/// All of tables 1 and 3 of [2023]: by inequalities, by every solver twice, and by VeriPB.
#[test]
fn the_tables() {
    let times = [44, 156, 584, 2224, 8672, 33_984, 134_528, 533_248];
    let first = (3..).zip(times).map(|(n, t)| (example("abstract.json", &[("size", 1 << n)]), t));
    let third =
        [(16, 4, 24), (64, 64, 36), (128, 64, 52), (256, 64, 68)].map(|(size, elements, t)| {
            (example("minimum.json", &[("size", size), ("elements_per_unit", elements)]), t)
        });
    for (value, time) in first.chain(third) {
        let problem = read(&value);
        let (configuration, own) = least(&problem).expect("a least time");
        assert_eq!(own, time);
        let written = certificate(&problem, &configuration, time).expect("a certificate");
        assert_eq!(written.claim.proof, CertificateKind::Inequalities);
        assert_eq!(written.texts.len(), Text::ALL.len(), "{time}");
        check(&written, None, &never).expect("it holds");
        let said = said(&written.texts, time).expect("no program finds it wrong");
        // cvc5 and Z3 two texts each, Yices one, VeriPB one; a program that is not there says so
        // once.
        let checked = said.iter().filter(|s| matches!(s, ToolReport::Checked(_))).count();
        assert!(checked == 6 || std::env::var_os("CI").is_none(), "{said:?}");
    }
}

/// Each question of an induction would be answered by `sat` without what it asks: nothing is proved
/// out of a contradiction.
#[test]
fn no_question_is_empty() {
    for value in [example("abstract.json", &[]), example("minimum.json", &[]), large::chain(4, 5)] {
        let problem = read(&value);
        let (_, time) = least(&problem).expect("a least time");
        let obligation = Obligation::new(&problem).expect("a sum");
        let asked = induction(&obligation, time, &never).expect("questions");
        let (lines, count): (Vec<&str>, usize) = {
            let lines = asked.lines().collect_vec();
            let is_asked =
                |i: usize| lines.get(i + 1).is_some_and(|next| next.starts_with("(check-sat)"));
            let count = (0..lines.len()).filter(|i| is_asked(*i)).count();
            ((0..lines.len()).filter(|i| !is_asked(*i)).map(|i| lines[i]).collect(), count)
        };
        let without = lines.join("\n");
        assert_eq!(asked.matches("(check-sat)").count(), count);
        // A solver that finds a text satisfiable names the first question: so every question is
        // asked alone.
        let first = without.find("(push 1)").expect("a question");
        let questions = without[first..].split("(push 1)").skip(1);
        for (n, question) in questions.enumerate() {
            let alone = format!("{}(push 1){question}", &without[..first]);
            match said(&Texts::from([(Text::Induction, alone)]), time) {
                Err(e) => assert!(e.to_string().contains("satisfiable"), "{n}: {e}"),
                Ok(all) => {
                    assert!(
                        all.iter().all(|s| matches!(s, ToolReport::NotChecked(_))),
                        "{n}: {all:?}"
                    )
                }
            }
        }
    }
}
