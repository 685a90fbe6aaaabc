//! Names that a Promela text, and the verifier that SPIN makes from it, can bear.

use std::collections::HashSet;

use tickbound_expr::Slot;
use tickbound_input::names::{promela, short};
use tickbound_model::Problem;

/// Words that the models themselves use.
const OWN: &str = include_str!("own.txt");

/// All words that are taken.
fn taken() -> HashSet<String> {
    let own = OWN.lines().filter(|line| !line.starts_with('#'));
    promela().chain(own).map(str::to_owned).collect()
}

/// The Promela name of every slot of a problem: its name, with underscores behind it if taken.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    of_slot: Vec<String>,
}

impl Names {
    /// Names for all slots of `problem`; the names of work items (`lid`, `gid`, `group`) stay.
    pub fn new(problem: &Problem) -> Names {
        let mut taken = taken();
        let slots = 0..problem.scope.len();
        let of_slot = slots.map(|slot| {
            let name = problem.scope.name(slot);
            if problem.scope.is_item(slot) {
                return name.to_owned();
            }
            let name = free(name, &taken);
            taken.insert(name.clone());
            name
        });
        Names { of_slot: of_slot.collect() }
    }

    pub fn slot(&self, slot: Slot) -> &str {
        self.of_slot.get(slot).map_or("?", String::as_str)
    }
}

/// `name`, or the first free variant. Loop counters are `k1`, `f1`, ..., and the verifier numbers
/// processes; what begins with `_` or `tb_` belongs to SPIN and the embedded C.
fn free(name: &str, taken: &HashSet<String>) -> String {
    let name = short(name);
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let counter = ["k", "f", "Air", "maxseq", "minseq"].contains(&base) && base != name;
    let mut free = match name {
        _ if name.starts_with('_') => format!("x{name}"),
        _ if name.starts_with("tb_") || counter => format!("{name}_"),
        _ => name.to_owned(),
    };
    while taken.contains(&free) {
        free.push('_');
    }
    free
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use indexmap::IndexMap;
    use serde_json::{Map, Value, json};

    use super::*;

    #[test]
    fn names_keep_clear_of_promela_c_and_the_verifier() {
        let taken = taken();
        let cases = [
            ("WG", "WG"),
            ("size", "size"),
            ("time", "time_"),
            ("byte", "byte_"),
            ("NP", "NP_"),
            ("int", "int_"),
            ("_x", "x_x"),
            ("k1", "k1_"),
            ("k", "k"),
            ("kilo", "kilo"),
            ("tb_best", "tb_best_"),
            ("unsigned", "unsigned_"),
            ("SAFETY", "SAFETY_"),
            ("INT_MAX", "INT_MAX_"),
            // Found by giving a problem all 4,431 words of its verifiers as parameters.
            ("HAS_HIDDEN", "HAS_HIDDEN_"),
            ("Air5", "Air5_"),
            ("maxseq7", "maxseq7_"),
            ("Pclock", "Pclock_"),
            ("T0_init", "T0_init_"),
            ("fflush", "fflush_"),
            (&"W".repeat(520), &"W".repeat(200)),
        ];
        for (name, expected) in cases {
            assert_eq!(free(name, &taken), expected);
        }
    }

    /// The words of a template, but for those of its comments, strings and placeholders.
    fn words(template: &str) -> BTreeSet<String> {
        let mut text = template.to_owned();
        for (open, close) in [("{{", "}}"), ("{%", "%}"), ("/*", "*/"), ("\"", "\"")] {
            while let Some(start) = text.find(open) {
                let after = start + open.len();
                let end = text[after..].find(close).map_or(text.len(), |e| after + e + close.len());
                text.replace_range(start..end, " ");
            }
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c| !word(c)).filter(|w| w.starts_with(|c: char| c.is_alphabetic()));
        words.map(str::to_owned).collect()
    }

    #[test]
    fn a_problem_cannot_take_a_word_of_the_templates() {
        let of_format = ["if", "else", "and", "or", "not", "True", "False", "lid", "gid", "group"];
        let of_cpp = ["define", "ifdef", "endif"];
        let embedded = super::super::model::embedded_c(&["WG".to_owned()], "").join("\n");
        for (name, template) in [
            ("embedded", embedded.replace("now.WG", "").as_str()),
            ("claims", include_str!("templates/claims.pml.j2")),
            ("finished", include_str!("templates/finished.pml.j2")),
            ("lockstep", include_str!("templates/lockstep.pml.j2")),
            ("processes", include_str!("templates/processes.pml.j2")),
            ("open_lockstep", include_str!("open/lockstep.pml.j2")),
            ("open_processes", include_str!("open/processes.pml.j2")),
        ] {
            for word in words(template) {
                if of_format.contains(&word.as_str()) || of_cpp.contains(&word.as_str()) {
                    continue;
                }
                let mut inputs = Map::new();
                inputs.insert(word.clone(), json!(1));
                let value = json!({ "inputs": inputs,
                    "platform": {
                "units_per_device": 1, "elements_per_unit": 1, "global_access": 1
            },
                    "launch": { "global_size": 1, "local_size": 1 }, "kernel": [] });
                let platform = |_: &str| -> Result<Value, _> { unreachable!("no names") };
                let problem = Problem::from_value(&value, &IndexMap::new(), &platform);
                // The names of the platform are taken, too.
                let Ok(problem) = problem else { continue };
                assert_ne!(Names::new(&problem).slot(0), word, "{name}");
            }
        }
    }
}
