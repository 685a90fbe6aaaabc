//! Names that a Promela text, and the verifier that SPIN makes from it, can bear.

use std::collections::HashSet;

use tickbound_model::Problem;
use tickbound_model::expr::Slot;

/// Words that are taken: by Promela, by C, and by the verifier's macros.
const RESERVED: &str = include_str!("reserved.txt");

/// Words that the models themselves use.
const OWN: &[&str] = &[
    "BEST",
    "FIN",
    "NRP",
    "NRP_work",
    "NWE",
    "NWU",
    "NonTerm",
    "OverTime",
    "ROW",
    "T",
    "TIMES",
    "WGs",
    "activations",
    "all_arrived",
    "all_idle",
    "arrive",
    "arrived",
    "at",
    "b_pex",
    "barrier",
    "barrier_of",
    "begin",
    "clock",
    "cur_time",
    "d_hst",
    "dev_u",
    "device",
    "dispatcher",
    "done",
    "e",
    "each",
    "element",
    "finished",
    "gid",
    "go",
    "go_on",
    "going_on",
    "group",
    "group_left",
    "group_of",
    "groups_left",
    "host",
    "hst_d",
    "i",
    "idle",
    "item",
    "last_of_element",
    "lid",
    "main",
    "mark",
    "me",
    "meet",
    "my_turn",
    "n",
    "next",
    "next_group",
    "pass",
    "pass_time",
    "pex",
    "pex_b",
    "pex_u",
    "place",
    "print_line",
    "r",
    "report",
    "rounds",
    "runs",
    "slot",
    "start",
    "step",
    "stop",
    "take_group",
    "tb_best",
    "tb_line",
    "tick",
    "time",
    "turn",
    "u",
    "u_dev",
    "u_pex",
    "unit",
    "until_mark",
    "w",
    "wait_until",
    "wake",
    "warp",
    "work",
];

/// Words that the models themselves use, those of open schedules included.
fn own() -> impl Iterator<Item = &'static str> {
    OWN.iter().chain(super::open::WORDS).copied()
}

/// The Promela name of every slot of a problem.
///
/// A problem's name is kept where it can be; otherwise it gets underscores at its end.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    of_slot: Vec<String>,
}

impl Names {
    /// Names for all slots of `problem`; the names of work items (`lid`, `gid`, `group`) stay.
    pub fn new(problem: &Problem) -> Names {
        let words = RESERVED.lines().filter(|line| !line.starts_with('#'));
        let mut taken: HashSet<String> = words.chain(own()).map(str::to_owned).collect();
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

    /// The name of a slot.
    pub fn slot(&self, slot: Slot) -> &str {
        self.of_slot.get(slot).map_or("?", String::as_str)
    }
}

/// `name`, or the first variant of it that is not taken. Loop counters are `k1`, `f1`, ...; what begins
/// with `_` or `tb_` belongs to SPIN and to the embedded C.
fn free(name: &str, taken: &HashSet<String>) -> String {
    let counter =
        name.strip_prefix(['k', 'f']).is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
    let mut free = match name {
        _ if name.starts_with('_') => format!("x{name}"),
        _ if name.starts_with("tb_") || (counter && name.len() > 1) => format!("{name}_"),
        _ => name.to_owned(),
    };
    while taken.contains(&free) {
        free.push('_');
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_clear_of_promela_c_and_the_verifier() {
        let words = RESERVED.lines().chain(OWN.iter().copied());
        let taken: HashSet<String> = words.map(str::to_owned).collect();
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
        ];
        for (name, expected) in cases {
            assert_eq!(free(name, &taken), expected);
        }
    }
}
