//! The engines by name, and the command line that runs each.
//!
//! ```text
//! ENGINES := ENGINE,ENGINE,...
//! ENGINE  := smt[:ENCODING][:STRATEGY]     Z3; without more: summary, several strategies at once
//!          | smt-fresh[:ENCODING]          Z3, a new solver for every question, as the papers do
//!          | enumerate                     the simulator on what the lower bounds leave over
//!          | cp-sat[:ENCODING]             CP-SAT of OR-Tools
//!          | spin[:STYLE][:SEARCH]         SPIN; without more: lockstep, branch and bound
//!          | swarm                         spin:swarm
//!          | smt:all | spin:all | all      each of its kind; each of all kinds
//! ```
//!
//! ```
//! use tickbound_compare::engine;
//!
//! let engines = engine::parse("smt:bisect:event, enumerate").unwrap();
//! assert_eq!(engines[0].to_string(), "smt:event:bisect");
//! let fault = engine::parse("smt:evnt").unwrap_err();
//! assert!(fault.to_string().ends_with("did you mean `event`?"));
//! ```

use std::fmt;

use thiserror::Error;

use tickbound_input::message::suggest;
use tickbound_input::named::Named;
use tickbound_solver::{Encoding, Strategy};
use tickbound_spin::Search;
use tickbound_spin::promela::Style;

/// A search for the least time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Z3 on an encoding.
    Smt {
        /// The encoding; `None` leaves the choice to the program.
        encoding: Option<Encoding>,
        /// Any but [`Strategy::Enumerate`].
        strategy: Strategy,
    },
    /// The simulator, configuration by configuration.
    Enumerate,
    /// CP-SAT on an encoding.
    CpSat {
        /// The encoding; `None` takes `summary`.
        encoding: Option<Encoding>,
    },
    /// SPIN on the Promela model.
    Spin {
        /// How elements run.
        style: Style,
        /// How the least time is searched for.
        search: Search,
    },
}

/// What is compared by default.
pub const DEFAULT: &str = "smt,enumerate,cp-sat,spin";

/// An engine's name that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("--engines {engine}: {what}; {fix}")]
pub struct EngineError {
    /// The name as given.
    pub engine: String,
    /// What is wrong with it.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl EngineError {
    fn new(engine: &str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        EngineError { engine: engine.to_owned(), what: what.into(), fix: fix.into() }
    }
}

/// The first words of the grammar.
const KINDS: [&str; 7] = ["smt", "smt-fresh", "enumerate", "cp-sat", "spin", "swarm", "all"];

/// The engines of a list; one that is named twice is run once.
///
/// # Errors
/// A name that is not in the grammar, with the nearest one.
pub fn parse(list: &str) -> Result<Vec<Engine>, EngineError> {
    let mut engines = Vec::new();
    for name in list.split(',').map(str::trim) {
        for engine in parse_one(name)? {
            if !engines.contains(&engine) {
                engines.push(engine);
            }
        }
    }
    Ok(engines)
}

fn parse_one(name: &str) -> Result<Vec<Engine>, EngineError> {
    let (kind, rest) = name.split_once(':').map_or((name, None), |(k, r)| (k, Some(r)));
    let words: Vec<&str> = rest.map_or_else(Vec::new, |r| r.split(':').collect());
    match (kind, words.as_slice()) {
        ("smt", ["all"]) => Ok(every_smt()),
        ("spin", ["all"]) => Ok(every_spin()),
        ("all", []) => Ok(every()),
        ("smt", _) => smt(name, &words),
        ("smt-fresh", _) => {
            let encoding = only_encoding(name, &words)?;
            Ok(vec![Engine::Smt { encoding, strategy: Strategy::BisectFresh }])
        }
        ("cp-sat", _) => Ok(vec![Engine::CpSat { encoding: only_encoding(name, &words)? }]),
        ("spin", _) => spin(name, &words),
        ("enumerate", []) => Ok(vec![Engine::Enumerate]),
        ("swarm", []) => spin(name, &["swarm"]),
        ("enumerate" | "swarm" | "all", _) => Err(EngineError::new(
            name,
            format!("nothing can follow `{kind}`"),
            format!("write `{kind}` alone"),
        )),
        _ => Err(EngineError::new(
            name,
            format!("no engine is called `{kind}`"),
            suggest(kind, KINDS),
        )),
    }
}

fn smt(name: &str, words: &[&str]) -> Result<Vec<Engine>, EngineError> {
    let (mut encoding, mut strategy) = (None, None);
    for word in words {
        if let Some(e) = Encoding::find(word) {
            once(name, "encoding", &mut encoding, e)?;
        } else if *word == "enumerate" {
            return Err(EngineError::new(name, "this is no search with Z3", "write `enumerate`"));
        } else if let Some(s) = Strategy::find(word) {
            once(name, "strategy", &mut strategy, s)?;
        } else {
            let known = [names::<Encoding>(), names::<Strategy>(), vec!["all".into()]].concat();
            return Err(unknown(name, word, "encoding or strategy", &known));
        }
    }
    Ok(vec![Engine::Smt { encoding, strategy: strategy.unwrap_or(Strategy::Race) }])
}

fn only_encoding(name: &str, words: &[&str]) -> Result<Option<Encoding>, EngineError> {
    let mut encoding = None;
    for word in words {
        let Some(e) = Encoding::find(word) else {
            return Err(unknown(name, word, "encoding", &names::<Encoding>()));
        };
        once(name, "encoding", &mut encoding, e)?;
    }
    Ok(encoding)
}

fn spin(name: &str, words: &[&str]) -> Result<Vec<Engine>, EngineError> {
    let (mut style, mut search) = (None, None);
    for word in words {
        if let Some(s) = Style::find(word) {
            once(name, "style", &mut style, s)?;
        } else if let Some(s) = Search::find(word) {
            once(name, "search", &mut search, s)?;
        } else {
            let known = [names::<Style>(), names::<Search>(), vec!["all".into()]].concat();
            return Err(unknown(name, word, "style or search", &known));
        }
    }
    Ok(vec![Engine::Spin {
        style: style.unwrap_or(Style::Lockstep),
        search: search.unwrap_or(Search::BranchAndBound),
    }])
}

fn once<T>(name: &str, what: &str, slot: &mut Option<T>, value: T) -> Result<(), EngineError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(EngineError::new(name, format!("it has two of {what}"), "keep one")),
    }
}

fn unknown(name: &str, word: &str, what: &str, known: &[String]) -> EngineError {
    EngineError::new(
        name,
        format!("`{word}` is no {what}"),
        suggest(word, known.iter().map(String::as_str)),
    )
}

/// Every encoding with all strategies at once, then every strategy on the default encoding.
fn every_smt() -> Vec<Engine> {
    let race = |encoding| Engine::Smt { encoding: Some(encoding), strategy: Strategy::Race };
    let alone = |strategy| Engine::Smt { encoding: None, strategy };
    let strategies = Strategy::ALL.into_iter();
    let mut all: Vec<Engine> = Encoding::ALL.into_iter().map(race).collect();
    all.extend(strategies.filter(|s| s.needs_encoding() && *s != Strategy::Race).map(alone));
    all
}

fn every_spin() -> Vec<Engine> {
    let styles = Style::ALL.into_iter();
    let searches = || Search::ALL.into_iter();
    styles.flat_map(|style| searches().map(move |search| Engine::Spin { style, search })).collect()
}

fn every() -> Vec<Engine> {
    let alone = [Engine::Enumerate, Engine::CpSat { encoding: None }];
    every_smt().into_iter().chain(alone).chain(every_spin()).collect()
}

fn names<T: Named>() -> Vec<String> {
    T::VALUES.iter().map(|v| v.name().to_owned()).collect()
}

impl Engine {
    /// The arguments of `tickbound` that run this engine, but for the problem and the limits.
    pub(super) fn arguments(self) -> Vec<String> {
        let own = |parts: &[&str]| parts.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        let with = |mut start: Vec<String>, encoding: Option<Encoding>| {
            start.extend(encoding.iter().flat_map(|e| ["--encoding".to_owned(), e.to_string()]));
            start
        };
        match self {
            Engine::Smt { encoding, strategy } => {
                // Left to itself, the program asks no solver where simulating is cheaper.
                let strategy = match (encoding, strategy) {
                    (None, Strategy::Race) => Strategy::Descend,
                    _ => strategy,
                };
                with(own(&["tune", "--strategy", strategy.name()]), encoding)
            }
            Engine::Enumerate => own(&["tune", "--strategy", "enumerate"]),
            Engine::CpSat { encoding } => with(own(&["cp-sat"]), encoding),
            Engine::Spin { style, search } => {
                own(&["spin", "--style", style.name(), "--search", search.name()])
            }
        }
    }
}

impl fmt::Display for Engine {
    /// The shortest name that [`parse`] reads as this engine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, name: String| write!(f, ":{name}");
        match self {
            Engine::Smt { encoding, strategy } => {
                f.write_str("smt")?;
                encoding.iter().try_for_each(|e| part(f, e.to_string()))?;
                if *strategy == Strategy::Race { Ok(()) } else { part(f, strategy.to_string()) }
            }
            Engine::Enumerate => f.write_str("enumerate"),
            Engine::CpSat { encoding } => {
                f.write_str("cp-sat")?;
                encoding.iter().try_for_each(|e| part(f, e.to_string()))
            }
            Engine::Spin { style, search } => {
                write!(f, "spin:{}:{}", style.name(), search.name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(list: &str) -> Result<Vec<String>, String> {
        match parse(list) {
            Ok(engines) => Ok(engines.iter().map(Engine::to_string).collect()),
            Err(e) => Err(e.to_string()),
        }
    }

    #[test]
    fn accepted() {
        for (list, expected) in [
            ("smt", vec!["smt"]),
            ("smt,enumerate , cp-sat", vec!["smt", "enumerate", "cp-sat"]),
            ("smt:event", vec!["smt:event"]),
            ("smt:bisect", vec!["smt:bisect"]),
            ("smt:bisect:summary", vec!["smt:summary:bisect"]),
            ("smt:race", vec!["smt"]),
            ("smt-fresh", vec!["smt:bisect-fresh"]),
            ("smt-fresh:event", vec!["smt:event:bisect-fresh"]),
            ("cp-sat:event", vec!["cp-sat:event"]),
            ("spin", vec!["spin:lockstep:branch-and-bound"]),
            ("spin:processes", vec!["spin:processes:branch-and-bound"]),
            ("spin:exhaustive:processes", vec!["spin:processes:exhaustive"]),
            ("swarm,spin:swarm", vec!["spin:lockstep:swarm"]),
            ("smt,smt:race,smt", vec!["smt"]),
        ] {
            assert_eq!(
                shown(list),
                Ok(expected.into_iter().map(str::to_owned).collect()),
                "{list}"
            );
        }
        assert_eq!(parse("smt:all").unwrap().len(), 8);
        assert_eq!(parse("spin:all").unwrap().len(), 8);
        assert_eq!(parse("all").unwrap().len(), 18);
        assert!(parse(DEFAULT).is_ok());
    }

    #[test]
    fn rejected() {
        for (list, part) in [
            ("", "no engine is called ``"),
            ("smt,", "no engine is called ``"),
            ("z3", "known here: smt, smt-fresh, enumerate, cp-sat, spin, swarm, all"),
            ("spinn", "did you mean `spin`?"),
            ("enumarate", "did you mean `enumerate`?"),
            ("smt:", "`` is no encoding or strategy"),
            ("smt:sumary", "did you mean `summary`?"),
            ("smt:event:tick", "two of encoding"),
            ("smt:bisect:race", "two of strategy"),
            ("smt:enumerate", "write `enumerate`"),
            ("smt-fresh:bisect", "`bisect` is no encoding"),
            ("cp-sat:processes", "`processes` is no encoding"),
            ("spin:lock-step", "did you mean `lockstep`?"),
            ("spin:swarm:bisect", "two of search"),
            ("enumerate:event", "nothing can follow `enumerate`"),
            ("all:all", "nothing can follow `all`"),
        ] {
            let fault = shown(list).unwrap_err();
            assert!(fault.contains(part), "{list}: {fault}");
            assert!(fault.starts_with("--engines "), "{list}: {fault}");
        }
    }

    #[test]
    fn a_name_is_read_as_what_it_shows() {
        for engine in parse("all").unwrap() {
            assert_eq!(parse(&engine.to_string()), Ok(vec![engine]));
        }
    }

    #[test]
    fn command_lines() {
        let line = |name: &str| parse(name).unwrap()[0].arguments().join(" ");
        assert_eq!(line("smt"), "tune --strategy descend");
        assert_eq!(line("smt-fresh:event"), "tune --strategy bisect-fresh --encoding event");
        assert_eq!(line("enumerate"), "tune --strategy enumerate");
        assert_eq!(line("cp-sat:event"), "cp-sat --encoding event");
        assert_eq!(line("swarm"), "spin --style lockstep --search swarm");
    }
}
