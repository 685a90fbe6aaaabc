//! Programs of others that check a certificate's texts: cvc5, Yices and Z3 for SMT-LIB, VeriPB for
//! pseudo-Boolean proofs.
//!
//! In go the texts, out comes for each text and program whether it agrees. What is not on `PATH`,
//! or gives no answer in time, has not checked anything.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tickbound_os::process::{Ended, Finished, ProcessLimits, Scratch, program, run};

use crate::folder::{Text, Texts};
use crate::refusal::Refusal;

/// How long a program may take to say its version.
const ASKING: Duration = Duration::from_secs(10);
/// What a text has for each of its questions.
const QUESTION: &str = "(check-sat)";
/// Bytes of memory that a program may take.
const MEMORY: u64 = 8 << 30;

/// Where programs are looked for, and how long they may take.
#[derive(Clone, Copy)]
pub struct ProofTools<'a> {
    /// As the variable `PATH`.
    pub path: &'a OsString,
    /// For each program and text.
    pub time: Duration,
    /// Stops them when true.
    pub interrupt: &'a AtomicBool,
    /// Called with what is run.
    pub show: &'a dyn Fn(&str),
}

/// A program's verdict on a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolReport {
    /// It agrees; in a sentence.
    Checked(String),
    /// It is not there, or gives no answer; in a sentence.
    NotChecked(String),
}

/// How a program is called.
struct Tool {
    name: &'static str,
    /// What it is given before the file.
    arguments: &'static [&'static str],
    /// Which texts it reads.
    reads: &'static [Text],
}

const TOOLS: [Tool; 4] = [
    Tool {
        name: "cvc5",
        arguments: &["--lang=smt2", "--incremental"],
        reads: &[Text::Question, Text::Induction],
    },
    Tool { name: "z3", arguments: &["-smt2"], reads: &[Text::Question, Text::Induction] },
    // It takes products of unknowns, but not these: it is only asked what is linear.
    Tool { name: "yices-smt2", arguments: &["--incremental"], reads: &[Text::Question] },
    Tool { name: "veripb", arguments: &[], reads: &[Text::FormulaProof] },
];

/// Asks every program about every text that it reads; `each` is called with each verdict.
///
/// # Errors
/// A program finds the claim wrong, no file can be written, or a stop.
pub fn ask(
    texts: &Texts,
    time: i64,
    tools: &ProofTools<'_>,
    each: &mut dyn FnMut(ToolReport),
) -> Result<(), Refusal> {
    let folder = written(texts.iter().map(|(text, own)| (text.name(), own.as_str())))?;
    for tool in &TOOLS {
        let reads: Vec<Text> =
            tool.reads.iter().copied().filter(|t| texts.contains_key(t)).collect();
        if reads.is_empty() {
            continue;
        }
        let files = reads.iter().map(|t| t.name()).collect::<Vec<_>>().join(" and ");
        let Some((found, name)) = located(tool.name, &files, tools, each) else { continue };
        for text in reads {
            (tools.show)(&format!("{name} on {}", text.name()));
            let mut command = Command::new(&found);
            command.args(tool.arguments).current_dir(folder.path());
            if text == Text::FormulaProof {
                command.arg(Text::Formula.name());
            }
            let finished = run_tool(command.arg(text.name()), &found, tools)?;
            each(match text {
                Text::FormulaProof => verified(&name, &finished, time)?,
                _ => unsatisfiable(&name, text.name(), &texts[&text], &finished)?,
            });
        }
    }
    Ok(())
}

/// Asks the solvers about questions in SMT-LIB, names of files and their texts: all are to be
/// unsatisfiable. `each` is called with what a solver has found.
///
/// # Errors
/// A solver finds a question satisfiable, no file can be written, or a stop.
pub fn ask_questions(
    questions: &[(String, String)],
    tools: &ProofTools<'_>,
    each: &mut dyn FnMut(ToolReport),
) -> Result<(), Refusal> {
    let folder = written(questions.iter().map(|(file, text)| (file.as_str(), text.as_str())))?;
    for tool in TOOLS.iter().filter(|tool| tool.reads.contains(&Text::Induction)) {
        let Some((found, name)) = located(tool.name, "the questions", tools, each) else {
            continue;
        };
        let (mut files, mut count) = (0, 0);
        for (file, text) in questions {
            (tools.show)(&format!("{name} on {file}"));
            let mut command = Command::new(&found);
            command.args(tool.arguments).current_dir(folder.path()).arg(file);
            let finished = run_tool(&mut command, &found, tools)?;
            match unsatisfiable(&name, file, text, &finished)? {
                ToolReport::Checked(_) => {
                    files += 1;
                    count += text.matches(QUESTION).count();
                }
                open => each(open),
            }
        }
        each(ToolReport::Checked(format!("{files} files by {name}: unsat, {count} times")));
    }
    Ok(())
}

/// Where a tool is, and its name with its version. One that is not on `PATH` is reported with what
/// it would have checked.
fn located(
    tool: &str,
    what: &str,
    tools: &ProofTools<'_>,
    each: &mut dyn FnMut(ToolReport),
) -> Option<(PathBuf, String)> {
    let Some(found) = program(tool.as_ref(), tools.path) else {
        each(ToolReport::NotChecked(format!("{what} by {tool}, which is not on PATH")));
        return None;
    };
    let name = format!("{tool} {}", version(&found, tools)).trim_end().to_owned();
    Some((found, name))
}

/// A temporary folder with these files: names and texts.
fn written<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> Result<Scratch, Refusal> {
    let fault = |e: std::io::Error| Refusal::File("the temporary folder".into(), e.to_string());
    let folder = Scratch::new("check").map_err(fault)?;
    for (file, text) in files {
        std::fs::write(folder.path().join(file), text).map_err(fault)?;
    }
    Ok(folder)
}

/// Runs a program on a text within the limits.
fn run_tool(
    command: &mut Command,
    path: &Path,
    tools: &ProofTools<'_>,
) -> Result<Finished, Refusal> {
    let limits = ProcessLimits {
        time: Some(tools.time),
        memory: Some(MEMORY),
        interrupt: tools.interrupt,
        ..ProcessLimits::default()
    };
    let finished = run(command, "", limits).map_err(|e| {
        Refusal::File(path.display().to_string(), format!("cannot be started: {e}"))
    })?;
    if tools.interrupt.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Refusal::Stopped);
    }
    Ok(finished)
}

/// The version that a program prints; nothing if it prints none.
fn version(found: &Path, tools: &ProofTools<'_>) -> String {
    let limits = ProcessLimits {
        time: Some(ASKING),
        interrupt: tools.interrupt,
        ..ProcessLimits::default()
    };
    let said = run(Command::new(PathBuf::from(found)).arg("--version"), "", limits);
    let said = said.map(|f| f.stdout).unwrap_or_default();
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    let word = said.split([' ', '\n']).find(is_version);
    word.unwrap_or_default().trim_end_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned()
}

/// Whether a solver has answered every question with `unsat`.
fn unsatisfiable(
    name: &str,
    file: &str,
    asked: &str,
    finished: &Finished,
) -> Result<ToolReport, Refusal> {
    let questions = asked.matches(QUESTION).count();
    let answers: Vec<&str> =
        finished.stdout.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    if let Some(n) = answers.iter().position(|a| *a == "sat") {
        let n = if questions == 1 { String::new() } else { format!(", question {}", n + 1) };
        return Err(Refusal::File(file.into(), format!("{name} finds it satisfiable{n}")));
    }
    let unsat = answers.iter().filter(|a| **a == "unsat").count();
    Ok(match unsat == questions && answers.len() == questions {
        true if questions == 1 => ToolReport::Checked(format!("{file} by {name}: unsat")),
        true => ToolReport::Checked(format!("{file} by {name}: unsat, {questions} times")),
        false => ToolReport::NotChecked(format!("{file} by {name}: {}", why(finished))),
    })
}

/// Whether VeriPB has verified the claim. It also verifies a proof that assumes something, with a
/// warning: that is no proof.
fn verified(name: &str, finished: &Finished, time: i64) -> Result<ToolReport, Refusal> {
    let file = Text::FormulaProof.name();
    let bounds = format!("s VERIFIED BOUNDS {time} <= obj <= {time}");
    let verified = finished.stdout.lines().any(|line| line.trim() == bounds);
    let warned = [&finished.stdout, &finished.stderr].iter().any(|t| t.contains("Warning"));
    match finished.ended {
        Ended::Exit(0) if verified && !warned => {
            Ok(ToolReport::Checked(format!("{file} by {name}: the least objective is {time}")))
        }
        Ended::Stopped(why) => Ok(ToolReport::NotChecked(format!("{file} by {name}: {why}"))),
        _ => {
            let what = format!("{name} does not verify it: {}", why(finished));
            Err(Refusal::File(file.into(), what))
        }
    }
}

/// The reason for a missing answer: the first line that the program printed.
fn why(finished: &Finished) -> String {
    let first = |text: &str| text.lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_owned);
    match finished.ended {
        Ended::Stopped(why) => why.to_string(),
        _ => first(&finished.stderr)
            .or_else(|| first(&finished.stdout))
            .unwrap_or_else(|| "no answer".into()),
    }
}
