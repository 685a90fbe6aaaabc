//! Reading what SPIN's verifier prints.
//!
//! In goes the output of `pan`, out comes a [`VerifierReport`] and, together with how the program
//! ended, a [`VerifierVerdict`]. The verifier's exit status says nothing: it is 0 also after an
//! error, without memory, and after a search that was cut. `errors: 0` alone says nothing either:
//! it is printed as well when the depth limit or the memory limit cut the search short. So a
//! property [`VerifierVerdict::Holds`] only if *all* signs of a complete, exhaustive search are
//! there.

use serde::{Deserialize, Serialize};

use tickbound_os::process::{Ended, ProcessStop};

/// Bytes of what the verifier calls a megabyte.
const MEGABYTE: f64 = 1_048_576.0;

/// How the states were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// Every state in full: what was not found does not exist.
    Full,
    /// As bits, or as hashes: states may have been taken for others.
    Partial,
}

/// What one run of the verifier has printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifierReport {
    /// The claim that was checked; `None` without one.
    pub claim: Option<String>,
    /// How states were stored; `None` if the run did not come that far.
    pub coverage: Option<Coverage>,
    /// The final figures were printed.
    pub summary: bool,
    /// The verifier states that it did not search everything, as it does also after an error.
    pub unfinished: bool,
    /// Violations of assertions are looked for.
    pub assertions: bool,
    /// Errors counted.
    pub errors: u64,
    /// The errors' texts, each once, without the depth.
    pub error_texts: Vec<String>,
    /// A state lay below the depth limit, so something was left out.
    pub depth_cut: bool,
    /// The line that states that memory ran out.
    pub out_of_memory: Option<String>,
    /// The state vector is larger than the verifier was compiled for.
    pub vector_too_small: bool,
    /// Another fatal remark, such as too many processes.
    pub fatal: Option<String>,
    /// The verifier caught an interrupt.
    pub interrupted: bool,
    /// Greatest depth reached, in steps.
    pub depth: u64,
    /// States stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Bytes of memory that the verifier counts.
    pub memory_bytes: u64,
    /// Bits of the hash array for each state of a bitstate search; below 100 coverage is poor.
    pub hash_factor: Option<f64>,
    /// Trail files written, in order.
    pub trails: Vec<String>,
}

/// One line of progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProgressLine {
    /// Greatest depth reached, in steps.
    pub depth: u64,
    /// States stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Bytes of memory that the verifier counts.
    pub memory_bytes: u64,
}

impl ProgressLine {
    /// Reads `Depth= 1811 States= 1e+06 Transitions= 1.49e+06 Memory= 182.147 ...`.
    pub fn parse(line: &str) -> Option<ProgressLine> {
        let after = |name: &str| {
            let rest = line.split_once(name)?.1;
            rest.split_whitespace().next().and_then(number)
        };
        line.starts_with("Depth=").then_some(())?;
        Some(ProgressLine {
            depth: count(after("Depth=")?),
            states: count(after("States=")?),
            transitions: count(after("Transitions=")?),
            memory_bytes: bytes(after("Memory=")?),
        })
    }
}

fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)
}

/// Large counts are printed as `1.6548571e+08`. The conversion saturates.
fn count(n: f64) -> u64 {
    n as u64
}

fn bytes(megabytes: f64) -> u64 {
    (megabytes * MEGABYTE) as u64
}

impl VerifierReport {
    /// Reads the lines that the verifier has printed.
    pub fn parse<S: AsRef<str>>(lines: &[S]) -> VerifierReport {
        let mut report = VerifierReport::default();
        for line in lines {
            report.line(line.as_ref());
        }
        report
    }

    /// What kept a run that ended in this way from searching everything.
    pub fn cut(&self, ended: Ended) -> Option<VerifierVerdict> {
        if self.out_of_memory.is_some() {
            return Some(VerifierVerdict::OutOfMemory);
        }
        match ended {
            Ended::Stopped(why) => return Some(VerifierVerdict::Stopped(why)),
            Ended::Exit(_) | Ended::Signal(_) if self.interrupted => {
                return Some(VerifierVerdict::Stopped(ProcessStop::Interrupted));
            }
            // The kernel's way to end a process that takes too much.
            Ended::Signal(9) => return Some(VerifierVerdict::OutOfMemory),
            Ended::Signal(n) => {
                return Some(VerifierVerdict::Unreadable(format!("it ended by signal {n}")));
            }
            Ended::Exit(_) => {}
        }
        self.depth_cut.then_some(VerifierVerdict::DepthLimit)
    }

    /// The search went over all states, stored in full; it may have found errors on the way.
    pub fn complete(&self, ended: Ended) -> bool {
        let figures = self.summary && !self.unfinished && self.coverage == Some(Coverage::Full);
        figures && ended == Ended::Exit(0) && self.cut(ended).is_none() && self.fatal.is_none()
    }

    fn line(&mut self, line: &str) {
        if let Some(progress) = ProgressLine::parse(line) {
            // The only figures of a run that is killed.
            (self.depth, self.states) = (progress.depth, progress.states);
            (self.transitions, self.memory_bytes) = (progress.transitions, progress.memory_bytes);
        } else if let Some(said) = line.strip_prefix("pan:") {
            self.remark(said);
        } else if line.starts_with("error: max search depth too small") {
            self.depth_cut = true;
        } else if line.starts_with("Warning: Search not completed") {
            self.unfinished = true;
        } else if line == "Interrupted" {
            self.interrupted = true;
        } else if let Some(kind) = line.strip_suffix(" search for:") {
            let full = kind == "Full statespace";
            self.coverage = Some(if full { Coverage::Full } else { Coverage::Partial });
        } else if let Some(rest) = line.strip_prefix("State-vector ") {
            self.summary_line(rest);
        } else if let Some(rest) = line.strip_prefix("hash factor: ") {
            self.hash_factor = rest.split_whitespace().next().and_then(number);
        } else {
            self.table_line(line.trim_start());
        }
    }

    /// A line that begins with `pan:`.
    fn remark(&mut self, said: &str) {
        let text = said.trim_start();
        if let Some(file) = text.strip_prefix("wrote ") {
            self.trails.push(file.trim().to_owned());
        } else if text.starts_with("out of memory") || text.starts_with("reached -DMEMLIM") {
            self.out_of_memory = Some(text.to_owned());
        } else if text.contains("VECTORSZ too small") || text.contains("VECTORSZ is too small") {
            self.vector_too_small = true;
        } else if text.starts_with("error: ") || text.starts_with("error, ") {
            self.fatal = Some(text["error: ".len()..].to_owned());
        } else if let Some((_, error)) = numbered(said) {
            let error = error.rsplit_once(" (at depth ").map_or(error, |(text, _)| text);
            self.error_texts.push(error.trim().to_owned());
        }
    }

    /// `48 byte, depth reached 88, errors: 1`, after `State-vector `.
    fn summary_line(&mut self, rest: &str) {
        let field = |name: &str| {
            let digits = rest.split_once(name)?.1;
            digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        if let (Some(depth), Some(errors)) = (field("depth reached "), field("errors: ")) {
            (self.depth, self.errors, self.summary) = (depth, errors, true);
        }
    }

    /// A figure and what it is, or a property and whether it is looked for.
    fn table_line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let (first, rest) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>().join(" "));
        match (number(first), rest.as_str()) {
            (Some(n), "states, stored") => self.states = count(n),
            // With the states of atomic sequences counted apart: `12 states, stored (15 visited)`.
            (Some(n), r) if r.starts_with("states, stored ") => self.states = count(n),
            (Some(n), r) if r.starts_with("transitions ") => self.transitions = count(n),
            (Some(n), "total actual memory usage") => self.memory_bytes = bytes(n),
            (None, r) if first == "never" && r.starts_with("claim + (") => {
                self.claim = r.strip_prefix("claim + (").map(|c| c.trim_end_matches(')').into());
            }
            (None, r) if first == "assertion" => self.assertions = r.starts_with("violations +"),
            _ => {}
        }
    }
}

/// `1: assertion violated ...`: the number and the text of an error.
fn numbered(said: &str) -> Option<(u64, &str)> {
    let (n, text) = said.split_once(": ")?;
    Some((n.parse().ok()?, text))
}

/// What a run means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum VerifierVerdict {
    /// The search was complete and exhaustive and has found no error.
    Holds,
    /// A bitstate search has ended without an error, which proves nothing.
    #[default]
    NothingFound,
    /// The claim or an assertion was violated.
    Violated,
    /// A state without a successor that is no valid end.
    Deadlock,
    /// The search was cut at its depth limit.
    DepthLimit,
    /// Memory ran out.
    OutOfMemory,
    /// The verifier was compiled for smaller states (`-DVECTORSZ`).
    VectorTooSmall,
    /// It was stopped from outside.
    Stopped(ProcessStop),
    /// A fault of the model, such as an index out of bounds or too many processes; what it says.
    Fault(String),
    /// It crashed, or printed nothing that can be understood; what is known.
    Unreadable(String),
}

impl VerifierVerdict {
    /// What a run's end and output mean; `stderr` is quoted if nothing else is available.
    pub fn of(report: &VerifierReport, ended: Ended, stderr: &str) -> VerifierVerdict {
        if report.vector_too_small {
            return VerifierVerdict::VectorTooSmall;
        }
        if let Some(fatal) = &report.fatal {
            return VerifierVerdict::Fault(fatal.clone());
        }
        if let Some(verdict) = from_errors(&report.error_texts).or_else(|| report.cut(ended)) {
            return verdict;
        }
        let partial = report.coverage == Some(Coverage::Partial);
        if report.complete(ended) && report.errors == 0 && report.assertions {
            VerifierVerdict::Holds
        } else if partial && report.summary && report.errors == 0 && !report.unfinished {
            VerifierVerdict::NothingFound
        } else {
            VerifierVerdict::Unreadable(quote(report, ended, stderr))
        }
    }

    /// One word for logs and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            VerifierVerdict::Holds => "holds",
            VerifierVerdict::NothingFound => "nothing found",
            VerifierVerdict::Violated => "violated",
            VerifierVerdict::Deadlock => "deadlock",
            VerifierVerdict::DepthLimit => "depth limit",
            VerifierVerdict::OutOfMemory => "out of memory",
            VerifierVerdict::VectorTooSmall => "state vector too large",
            VerifierVerdict::Stopped(ProcessStop::Interrupted) => "interrupt",
            VerifierVerdict::Stopped(ProcessStop::Time(_)) => "time-out",
            VerifierVerdict::Stopped(ProcessStop::Memory(_)) => "out of memory",
            VerifierVerdict::Stopped(ProcessStop::Output(_)) => "output too long",
            VerifierVerdict::Stopped(ProcessStop::Unneeded) => "end of the round",
            VerifierVerdict::Fault(_) => "fault",
            VerifierVerdict::Unreadable(_) => "unreadable",
        }
    }
}

/// The gravest of the errors: what is no violated assertion comes first.
fn from_errors(texts: &[String]) -> Option<VerifierVerdict> {
    let fault = texts.iter().find(|t| {
        // Built-in checks read `assertion violated - invalid array index`.
        (!t.starts_with("assertion violated") || t.starts_with("assertion violated - "))
            && !t.starts_with("invalid end state")
            && !t.starts_with("depth limit reached")
    });
    let any = |what: &str| texts.iter().any(|t| t.starts_with(what));
    match fault {
        Some(text) => Some(VerifierVerdict::Fault(text.clone())),
        None if any("invalid end state") => Some(VerifierVerdict::Deadlock),
        None if any("assertion violated") => Some(VerifierVerdict::Violated),
        None if any("depth limit reached") => Some(VerifierVerdict::DepthLimit),
        None => None,
    }
}

fn quote(report: &VerifierReport, ended: Ended, stderr: &str) -> String {
    let said = stderr.lines().map(str::trim).find(|l| !l.is_empty() && !l.starts_with("warning:"));
    match (ended, said) {
        (_, Some(said)) => format!("it says: {said}"),
        (Ended::Exit(code), None) if !report.summary => {
            format!("it ended with status {code} and without its final figures")
        }
        _ => format!("it counts {} errors and names none", report.errors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What SPIN 6.5.2 printed when it was brought into each of these situations.
    macro_rules! printed {
        ($name:literal) => {
            include_str!(concat!("../tests/output/", $name, ".txt"))
        };
    }

    const TIME: ProcessStop = ProcessStop::Time(std::time::Duration::from_secs(1));

    fn verdict(text: &str, ended: Ended) -> VerifierVerdict {
        let lines: Vec<&str> = text.lines().collect();
        VerifierVerdict::of(&VerifierReport::parse(&lines), ended, "")
    }

    #[test]
    fn what_pan_prints_is_told_apart() {
        let exit = Ended::Exit(0);
        let fault = |text: &str| VerifierVerdict::Fault(text.to_owned());
        let cases = [
            ("holds", printed!("holds"), exit, VerifierVerdict::Holds),
            ("collapse", printed!("collapse"), exit, VerifierVerdict::Holds),
            ("violated", printed!("violated"), exit, VerifierVerdict::Violated),
            ("improvements", printed!("best"), exit, VerifierVerdict::Violated),
            ("deadlock", printed!("deadlock"), exit, VerifierVerdict::Deadlock),
            // All of these say `errors: 0`.
            ("depth", printed!("depth"), exit, VerifierVerdict::DepthLimit),
            ("MEMLIM", printed!("memlim"), exit, VerifierVerdict::OutOfMemory),
            ("memory", printed!("no-memory"), exit, VerifierVerdict::OutOfMemory),
            (
                "interrupt",
                printed!("interrupted"),
                exit,
                VerifierVerdict::Stopped(ProcessStop::Interrupted),
            ),
            (
                "stopped",
                printed!("interrupted"),
                Ended::Stopped(TIME),
                VerifierVerdict::Stopped(TIME),
            ),
            ("bits", printed!("bits-nothing"), exit, VerifierVerdict::NothingFound),
            ("hashes", printed!("hash-compact"), exit, VerifierVerdict::NothingFound),
            // And these count something else as an error.
            ("depth, stop", printed!("depth-stop"), exit, VerifierVerdict::DepthLimit),
            ("vector", printed!("vector"), exit, VerifierVerdict::VectorTooSmall),
            ("processes", printed!("processes"), exit, fault("too many processes")),
            ("index", printed!("index"), exit, fault("assertion violated - invalid array index")),
            ("bits, trails", printed!("bits-trails"), exit, VerifierVerdict::Violated),
            ("killed", printed!("killed"), Ended::Signal(9), VerifierVerdict::OutOfMemory),
            (
                "crashed",
                printed!("killed"),
                Ended::Signal(11),
                VerifierVerdict::Unreadable("it ended by signal 11".into()),
            ),
        ];
        for (about, text, ended, expected) in cases {
            assert_eq!(verdict(text, ended), expected, "{about}");
        }
    }

    #[test]
    fn nothing_that_is_incomplete_holds() {
        let unreadable =
            |text: &str, ended| matches!(verdict(text, ended), VerifierVerdict::Unreadable(_));
        assert!(unreadable(printed!("no-assertions"), Ended::Exit(0)));
        assert!(unreadable(printed!("usage"), Ended::Exit(1)));
        assert!(unreadable(printed!("holds"), Ended::Exit(1)));
        assert!(unreadable("", Ended::Exit(0)));
        let said = printed!("usage.stderr");
        let quoted = VerifierVerdict::of(&VerifierReport::default(), Ended::Exit(1), said);
        assert_eq!(quoted, VerifierVerdict::Unreadable("it says: saw option -N".into()));
        // Cut anywhere before the final figures, it is no proof.
        let lines: Vec<&str> = printed!("holds").lines().collect();
        let figures = lines.iter().position(|l| l.contains("errors: 0")).unwrap();
        for end in 0..figures {
            let text = lines[..end].join("\n");
            assert!(unreadable(&text, Ended::Exit(0)), "{end}");
        }
        let stopped = verdict(printed!("holds"), Ended::Stopped(ProcessStop::Interrupted));
        assert_eq!(stopped, VerifierVerdict::Stopped(ProcessStop::Interrupted));
    }

    #[test]
    fn figures_are_read() {
        let report = VerifierReport::parse(&printed!("holds").lines().collect::<Vec<_>>());
        assert_eq!(report.claim.as_deref(), Some("OverTime"));
        assert_eq!(report.coverage, Some(Coverage::Full));
        assert_eq!((report.depth, report.states, report.transitions), (61, 118, 124));
        assert_eq!(report.memory_bytes, (8.730 * MEGABYTE) as u64);
        assert!(report.complete(Ended::Exit(0)));
        let best = VerifierReport::parse(&printed!("best").lines().collect::<Vec<_>>());
        assert_eq!((best.claim, best.errors), (None, 4));
        assert_eq!(best.trails, (1..5).map(|n| format!("model.pml{n}.trail")).collect::<Vec<_>>());
        let bits = VerifierReport::parse(&printed!("bits-nothing").lines().collect::<Vec<_>>());
        assert!(bits.hash_factor.is_some_and(|f| f > 1000.0));
        // Of a run that was killed, the last progress.
        let killed = VerifierReport::parse(&printed!("killed").lines().collect::<Vec<_>>());
        assert_eq!((killed.states, killed.depth), (1_000_000, 1211));
        let large =
            VerifierReport::parse(&["1.6548571e+08 states, stored", "  2e+08 transitions (= x)"]);
        assert_eq!((large.states, large.transitions), (165_485_710, 200_000_000));
    }

    #[test]
    fn many_errors_may_be_cut_short() {
        // Improvements were found, and then memory ran out: the last one is not the least.
        let text = format!("{}{}", printed!("best"), printed!("memlim"));
        let report = VerifierReport::parse(&text.lines().collect::<Vec<_>>());
        assert_eq!(report.cut(Ended::Exit(0)), Some(VerifierVerdict::OutOfMemory));
        assert!(!report.complete(Ended::Exit(0)));
        assert!(
            VerifierReport::parse(&printed!("best").lines().collect::<Vec<_>>())
                .complete(Ended::Exit(0))
        );
    }

    #[test]
    fn progress_is_read() {
        let line = "Depth=    1811 States=  1.4e+07 Transitions=  2.1e+07 Memory=   929.453\tt=   \
            12 R=   1e+06";
        let progress = ProgressLine::parse(line).unwrap();
        assert_eq!(
            (progress.depth, progress.states, progress.transitions),
            (1811, 14_000_000, 21_000_000)
        );
        assert_eq!(progress.memory_bytes, (929.453 * MEGABYTE) as u64);
        for line in ["", "Depth=", "Depth= 3 States= x Transitions= 2 Memory= 1", "a Depth= 1"] {
            assert_eq!(ProgressLine::parse(line), None, "{line}");
        }
    }
}
