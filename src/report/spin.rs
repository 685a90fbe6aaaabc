//! The result of a search with SPIN, in words and as JSON.
//!
//! The JSON has the names of `tune --json` for what both have.

use std::fmt::Write;

use serde_json::{Value, json};
use tickbound_model::{Configuration, Problem};

use crate::report::Table;
use crate::report::answer::{rounded, values};
use tickbound_model::simulate::Script;
use tickbound_model::verdict::Status;
use tickbound_spin::result::{Proof, RunLog, SpinResult};
use tickbound_spin::trail::Trail;

/// A result together with the problem it answers.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// What was found.
    pub result: &'a SpinResult,
}

/// Trails listed in the words.
const LISTED: usize = 10;

impl Answer<'_> {
    /// The object that `spin --json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let r = self.result;
        json!({
            "time": r.upper,
            "status": r.status,
            "lower": r.lower,
            "upper": r.upper,
            "configuration": r.best.as_ref().map(|f| values(self.problem, &f.configuration)),
            "search": r.search,
            "style": r.style.name(),
            "proof": r.proof,
            "states": r.states(),
            "transitions": r.transitions(),
            "memory_bytes": r.memory_bytes(),
            "depth": r.depth(),
            "runs": r.runs.iter().map(run).collect::<Vec<_>>(),
            "trails": r.trails.iter().map(|t| self.trail(t)).collect::<Vec<_>>(),
            "replayed": r.replayed(),
            "notes": r.notes,
            "tool": format!("SPIN {}", r.spin),
            "spin": r.spin,
            "compiler": r.compiler,
            "seconds": rounded(r.seconds),
            "stopped_by": r.stopped_by.as_ref().map(ToString::to_string),
        })
    }

    fn trail(&self, trail: &Trail) -> Value {
        let mut value = json!({
            "time": trail.found.time,
            "configuration": values(self.problem, &trail.found.configuration),
            "steps": trail.steps,
            "run": trail.run,
            "confirmed": trail.confirmed,
        });
        if let (Script::Starts { starts, units }, Some(map)) =
            (&trail.script, value.as_object_mut())
        {
            map.insert("starts".into(), json!(starts));
            map.insert("units".into(), json!(units));
        }
        value
    }

    fn named(&self, configuration: &Configuration) -> String {
        let named = self.problem.name_values(configuration).to_string();
        if named.is_empty() { "the only configuration".into() } else { named }
    }

    /// The answer for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let r = self.result;
        let mut out = String::new();
        let _ = writeln!(out, "{}, SPIN {}, {}", self.problem.name, r.spin, r.search.name());
        match (r.status, &r.best) {
            (Status::Infeasible, _) => {
                let _ = writeln!(out, "no configuration satisfies the constraints");
                return out;
            }
            (Status::Optimal, Some(best)) => {
                let at = self.named(&best.configuration);
                let _ = writeln!(out, "least time: {} ticks at {at}", best.time);
            }
            (_, Some(best)) => {
                let at = self.named(&best.configuration);
                let _ = writeln!(
                    out,
                    "not proved: the least time is between {} and {} ticks; best so far: {at}",
                    r.lower, best.time
                );
            }
            (_, None) => {
                let _ = writeln!(
                    out,
                    "not finished: nothing found; the least time is at least {} ticks",
                    r.lower
                );
            }
        }
        self.basis(&mut out);
        out
    }

    /// What the answer rests on, and what it took.
    fn basis(&self, out: &mut String) {
        let r = self.result;
        let below = r.lower - 1;
        match r.proof {
            Some(Proof::OverTime) if below < 0 => {
                let _ = writeln!(out, "proved:     no run takes less than 0 ticks");
            }
            Some(Proof::OverTime) => {
                let _ = writeln!(
                    out,
                    "proved:     a complete run finds nothing that ends within {below} ticks"
                );
            }
            Some(Proof::BranchAndBound) => {
                let _ = writeln!(
                    out,
                    "proved:     a complete branch-and-bound run finds nothing better"
                );
            }
            None => {}
        }
        if let Some(reason) = &r.stopped_by {
            let _ = writeln!(out, "stopped by: {reason}");
        }
        for note in &r.notes {
            let _ = writeln!(out, "note:       {note}");
        }
        if !r.trails.is_empty() {
            let confirmed = r.trails.iter().filter(|t| t.confirmed).count();
            let _ = writeln!(
                out,
                "trails:     {}, of which the simulator confirms {confirmed}",
                r.trails.len()
            );
        }
        let _ = writeln!(
            out,
            "runs:       {}, with {} states, {} transitions, {:.1} MiB at most, {} steps deep",
            r.runs.len(),
            r.states(),
            r.transitions(),
            r.memory_bytes() as f64 / f64::from(1 << 20),
            r.depth(),
        );
        let _ = writeln!(out, "in:         {:.3} s", r.seconds);
    }

    /// The best trails, in order.
    #[must_use]
    pub fn trails(&self) -> Table {
        let names = self.problem.parameters.iter().map(|p| p.name.clone());
        let mut table =
            Table::new(["rank", "ticks", "steps"].map(str::to_owned).into_iter().chain(names));
        for (rank, trail) in self.result.trails.iter().take(LISTED).enumerate() {
            let steps = trail.steps.map_or_else(|| "-".into(), |s| s.to_string());
            let head = [(rank + 1).to_string(), trail.found.time.to_string(), steps];
            let values = trail.found.configuration.0.iter().map(i64::to_string);
            table.push(head.into_iter().chain(values));
        }
        table
    }
}

fn run(r: &RunLog) -> Value {
    json!({
        "what": r.what,
        "bound": r.bound,
        "seed": r.seed,
        "verdict": r.verdict.word(),
        "coverage": r.coverage,
        "hash_factor": r.hash_factor,
        "states": r.states,
        "transitions": r.transitions,
        "depth": r.depth,
        "depth_limit": r.depth_limit,
        "memory_bytes": r.memory_bytes,
        "spin_seconds": rounded(r.spin_seconds),
        "compile_seconds": rounded(r.compile_seconds),
        "seconds": rounded(r.seconds),
        "trails": r.trails,
    })
}
