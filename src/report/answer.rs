//! The result of a search, in words and as JSON.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use tickbound_model::{Configuration, Problem};

use tickbound_model::verdict::{Found, Status};
use tickbound_solve::Objective;
use tickbound_solve::TuneResult;

/// A result together with the problem it answers.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// What was found.
    pub result: &'a TuneResult,
}

/// Optimal configurations named in the words.
const NAMED: usize = 8;

/// A configuration as a JSON object, by the names of its parameters.
#[must_use]
pub fn values(problem: &Problem, configuration: &Configuration) -> Value {
    let pairs = problem.parameters.iter().zip(&configuration.0);
    Value::Object(pairs.map(|(p, v)| (p.name.clone(), json!(v))).collect::<Map<_, _>>())
}

/// Seconds as all results give them: to a tenth of a millisecond.
#[must_use]
pub fn rounded(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 1e4
}

impl Answer<'_> {
    /// The object that `tune --json` prints.
    #[must_use]
    pub fn json(&self) -> Value {
        let r = self.result;
        let optima: Vec<Value> = r.optima.iter().map(|f| self.found(f)).collect();
        json!({
            "time": r.upper,
            "status": r.status,
            "lower": r.lower,
            "upper": r.upper,
            "configuration": r.best.as_ref().map(|f| values(self.problem, &f.configuration)),
            "optima": optima,
            "more_optima": r.more_optima,
            "encoding": r.encoding.map_or(json!("none"), |e| json!(e)),
            "strategy": r.strategy,
            "solver_calls": r.solver_calls,
            "seconds": rounded(r.seconds),
            "stopped_by": r.stopped_by.as_ref().map(ToString::to_string),
            "objective": r.objective,
            "best_case": r.schedule.as_ref().map_or(r.upper, |s| s.best_case),
            "worst_case": r.schedule.as_ref().map_or(r.upper, |s| s.worst_case),
            "first_come": r.schedule.as_ref().map_or(r.upper, |s| Some(s.first_come)),
            "confirmed_uncut": r.confirmed_uncut,
            "replayed": r.replayed,
            "size": r.size,
        })
    }

    fn found(&self, found: &Found) -> Value {
        let mut value = values(self.problem, &found.configuration);
        if self.result.optima.iter().any(|f| f.time != found.time) {
            // A ranking: the time belongs to each entry.
            value = json!({ "time": found.time, "configuration": value });
        }
        value
    }

    /// The answer for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let r = self.result;
        let mut out = String::new();
        let inputs: Vec<String> =
            self.problem.inputs.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let about =
            if inputs.is_empty() { String::new() } else { format!(" ({})", inputs.join(", ")) };
        let _ =
            writeln!(out, "{}{about}, {} configurations", self.problem.name, r.size.configurations);
        match (r.status, &r.best) {
            (Status::Optimal, Some(best)) => self.optimal(best, &mut out),
            (Status::Infeasible, _) => {
                let _ = writeln!(out, "no configuration satisfies the constraints");
            }
            (_, Some(best)) if r.lower >= best.time => {
                let _ = writeln!(
                    out,
                    "not confirmed: by the lower bounds the least time is {} ticks at {}, but no solver \
                     has refuted {}",
                    best.time,
                    self.named(&best.configuration),
                    best.time - 1,
                );
            }
            (_, Some(best)) => {
                let _ = writeln!(
                    out,
                    "not finished: the least time is between {} and {} ticks; best so far: {}",
                    r.lower,
                    best.time,
                    self.named(&best.configuration),
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
        if let Some(reason) = &r.stopped_by {
            let _ = writeln!(out, "stopped by: {reason}");
        }
        out
    }

    fn named(&self, configuration: &Configuration) -> String {
        let named = self.problem.name_values(configuration).to_string();
        if named.is_empty() { "the only configuration".into() } else { named }
    }

    fn optimal(&self, best: &Found, out: &mut String) {
        let r = self.result;
        let optimal: Vec<String> = r
            .optima
            .iter()
            .filter(|f| f.time == best.time)
            .map(|f| self.named(&f.configuration))
            .collect();
        let what = match (&r.schedule, r.objective) {
            (Some(_), Objective::Worst) => "worst case:",
            (Some(_), Objective::Robust) => "least worst case:",
            _ => "least time:",
        };
        let _ = writeln!(out, "{what} {} ticks at {}", best.time, self.named(&best.configuration));
        if optimal.len() > 1 {
            let more = match optimal.len().saturating_sub(NAMED) {
                _ if r.more_optima => format!("; and more than {} others", optimal.len() - NAMED),
                0 => String::new(),
                n => format!("; and {n} more"),
            };
            let _ = writeln!(
                out,
                "as good:    {}{more}",
                optimal[1..].iter().take(NAMED - 1).cloned().collect::<Vec<_>>().join("; ")
            );
        }
        if let Some(s) = &r.schedule {
            let case = |c: Option<i64>| c.map_or_else(|| "not asked for".into(), |t| t.to_string());
            let _ = writeln!(
                out,
                "schedules:  best case {}, worst case {}, first come first served {}",
                case(s.best_case),
                case(s.worst_case),
                s.first_come,
            );
        }
        let proof = match r.encoding {
            None if r.schedule.is_some() => {
                "every schedule of every configuration explored, or bounded from below".to_owned()
            }
            None => format!(
                "all {} configurations simulated or bounded from below",
                r.size.configurations
            ),
            Some(e) => format!(
                "Z3 finds nothing within {} ticks ({} encoding, {} steps, {} calls){}",
                best.time - 1,
                json!(e).as_str().unwrap_or_default(),
                r.size.steps,
                r.solver_calls,
                if r.confirmed_uncut { ", confirmed over all configurations" } else { "" },
            ),
        };
        let _ = writeln!(out, "proved:     {proof}");
        let replay =
            if r.replayed { "the simulator takes as many ticks" } else { "too large to simulate" };
        let _ = writeln!(out, "replayed:   {replay}");
        let _ = writeln!(out, "in:         {:.3} s", r.seconds);
    }
}
