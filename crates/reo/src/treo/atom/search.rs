//! The states that the cells of rules reach, and the steps between them.

use std::collections::HashMap;

use indexmap::IndexSet;

use super::template::TemplateStep;
use crate::syntax::condition::{ClaimValue, GuardClaim};
use crate::treo::error::{MAX_ATOM_STATES, MAX_ATOM_STEPS};

/// Most choices of next contents that are tried for one atom, times their claims.
const MAX_CHOICES: usize = 10_000_000;

/// What the states know of a cell: its constants, or whether it is full.
pub(super) enum Domain {
    Constants(IndexSet<String>),
    Full,
}

impl Domain {
    pub fn len(&self) -> u32 {
        match self {
            Domain::Constants(constants) => constants.len() as u32 + 1,
            Domain::Full => 2,
        }
    }
}

pub(super) struct Joint {
    pub fire: Vec<usize>,
    pub claims: Vec<GuardClaim>,
    pub touched: Vec<usize>,
}

pub(super) struct Search<'a> {
    cells: &'a IndexSet<String>,
    domains: &'a [Domain],
    joints: &'a [Joint],
    /// Values without a name that the rules mention.
    nameless: u32,
    /// The cell with most values, and by its value the joints that need it.
    guide: usize,
    by_guide: HashMap<u32, Vec<usize>>,
}

type Found = (usize, Vec<TemplateStep>);
type Passed = (&'static str, usize);

/// What is known of a claim.
enum Decided {
    Always,
    Never,
    Later(GuardClaim),
}

impl<'a> Search<'a> {
    pub fn new(
        cells: &'a IndexSet<String>,
        domains: &'a [Domain],
        joints: &'a [Joint],
        nameless: u32,
    ) -> Self {
        let guide = (0..domains.len()).max_by_key(|c| domains[*c].len()).unwrap_or_default();
        let by_guide = HashMap::new();
        let mut search = Search { cells, domains, joints, nameless, guide, by_guide };
        if let Some(word) = cells.get_index(guide) {
            let before = ClaimValue::Before(word.clone());
            for (at, joint) in joints.iter().enumerate() {
                let all = 0..domains[guide].len();
                let wanted = search.wanted(joint, guide, &before);
                for value in wanted.map_or(all, |value| value..value + 1) {
                    search.by_guide.entry(value).or_default().push(at);
                }
            }
        }
        search
    }

    /// The only value of a cell's form that the claims of a joint leave, if there is an equation.
    fn wanted(&self, joint: &Joint, cell: usize, form: &ClaimValue) -> Option<u32> {
        let value = |v: &ClaimValue| match (v, &self.domains[cell]) {
            (ClaimValue::Null, _) => Some(0),
            (ClaimValue::Constant(held), Domain::Constants(all)) => {
                all.get_index_of(held).map(|k| k as u32 + 1)
            }
            _ => None,
        };
        joint.claims.iter().find_map(|claim| match claim {
            GuardClaim::Equal(a, b) if a == form => value(b),
            GuardClaim::Equal(a, b) if b == form => value(a),
            _ => None,
        })
    }

    /// The number of states, and the steps; or the limit that is passed.
    pub fn run(&self, start: Vec<u32>) -> Result<Found, Passed> {
        let after = |cell: &usize| ClaimValue::After(self.cells[*cell].clone());
        let fixed = |j: &Joint| j.touched.iter().map(|c| self.wanted(j, *c, &after(c))).collect();
        let fixed: Vec<Vec<Option<u32>>> = self.joints.iter().map(fixed).collect();
        let every: Vec<usize> = (0..self.joints.len()).collect();
        let mut states: IndexSet<Vec<u32>> = IndexSet::from([start]);
        let (mut steps, mut choices, mut next) = (Vec::new(), 0, 0);
        while let Some(before) = states.get_index(next).cloned() {
            let guided = before.get(self.guide).map(|value| self.by_guide.get(value));
            for at in guided.map_or(&every[..], |joints| joints.map_or(&[], Vec::as_slice)) {
                let joint = &self.joints[*at];
                let mut after = before.clone();
                for (cell, value) in joint.touched.iter().zip(&fixed[*at]) {
                    after[*cell] = value.unwrap_or(0);
                }
                loop {
                    choices += 1 + joint.claims.len();
                    if let Some(claims) = self.claims(joint, &before, &after) {
                        let to = states.insert_full(after.clone()).0;
                        let idle = to == next && joint.fire.is_empty() && claims.is_empty();
                        let (from, fire, to) = (next as u32, joint.fire.clone(), to as u32);
                        steps.extend((!idle).then_some(TemplateStep { from, fire, claims, to }));
                    }
                    within(choices, states.len(), steps.len())?;
                    if !self.advance(joint, &fixed[*at], &mut after) {
                        break;
                    }
                }
            }
            next += 1;
        }
        Ok((states.len(), steps))
    }

    /// The next choice of contents for the cells that change and are not fixed.
    fn advance(&self, joint: &Joint, fixed: &[Option<u32>], after: &mut [u32]) -> bool {
        let free = joint.touched.iter().zip(fixed).filter(|(_, value)| value.is_none());
        for (cell, _) in free.rev() {
            after[*cell] += 1;
            if after[*cell] < self.domains[*cell].len() {
                return true;
            }
            after[*cell] = 0;
        }
        false
    }

    /// What is left of the claims of `joint` as data constraints; nothing if they fail.
    fn claims(&self, joint: &Joint, before: &[u32], after: &[u32]) -> Option<Vec<GuardClaim>> {
        let mut left = Vec::new();
        for claim in &joint.claims {
            match self.decide(claim, before, after) {
                Decided::Always => {}
                Decided::Never => return None,
                Decided::Later(claim) => left.push(claim),
            }
        }
        for cell in &joint.touched {
            let written = matches!(self.domains[*cell], Domain::Full) && after[*cell] == 1;
            let word = &self.cells[*cell];
            if written && !left.iter().any(|c| c.after_cells().contains(&word.as_str())) {
                let any = ClaimValue::Some(self.nameless + *cell as u32);
                left.push(GuardClaim::Equal(ClaimValue::After(word.clone()), any));
            }
        }
        Some(left)
    }

    fn decide(&self, claim: &GuardClaim, before: &[u32], after: &[u32]) -> Decided {
        let value = |v: &ClaimValue| self.value(v, before, after);
        let (equal, a, b) = match claim {
            GuardClaim::Equal(a, b) => (true, value(a), value(b)),
            GuardClaim::Different(a, b) => (false, value(a), value(b)),
            GuardClaim::Predicate(holds, p, values) => {
                let values = values.iter().map(value).collect();
                return match GuardClaim::Predicate(*holds, p.clone(), values).decided() {
                    GuardClaim::Equal(..) => Decided::Always,
                    GuardClaim::Different(..) => Decided::Never,
                    open @ GuardClaim::Predicate(..) => Decided::Later(open),
                };
            }
        };
        let same = match (&a, &b) {
            (ClaimValue::Null, ClaimValue::Null) => true,
            (ClaimValue::Null, _) | (_, ClaimValue::Null) => false,
            (ClaimValue::Constant(x), ClaimValue::Constant(y)) => x == y,
            _ if a == b => true,
            _ if equal => return Decided::Later(GuardClaim::Equal(a, b)),
            _ => return Decided::Later(GuardClaim::Different(a, b)),
        };
        if same == equal { Decided::Always } else { Decided::Never }
    }

    /// A value, if the states know it.
    fn value(&self, value: &ClaimValue, before: &[u32], after: &[u32]) -> ClaimValue {
        let cell = |word: &String, contents: &[u32]| {
            let at = self.cells.get_index_of(word).unwrap_or_default();
            match (&self.domains[at], contents[at]) {
                (_, 0) => ClaimValue::Null,
                (Domain::Constants(all), k) => ClaimValue::Constant(all[k as usize - 1].clone()),
                (Domain::Full, _) => value.clone(),
            }
        };
        match value {
            ClaimValue::Before(word) => cell(word, before),
            ClaimValue::After(word) => cell(word, after),
            ClaimValue::Call(f, values) => {
                let values = values.iter().map(|v| self.value(v, before, after));
                ClaimValue::Call(f.clone(), values.collect())
            }
            other => other.clone(),
        }
    }
}

fn within(choices: usize, states: usize, steps: usize) -> Result<(), Passed> {
    let counts = [
        (choices, MAX_CHOICES, "choices of next contents in one atom"),
        (states, MAX_ATOM_STATES, "states of one atom"),
        (steps, MAX_ATOM_STEPS, "steps of one atom"),
    ];
    let passed = counts.into_iter().find(|(count, limit, _)| count > limit);
    passed.map_or(Ok(()), |(_, limit, what)| Err((what, limit)))
}
