//! Macros that a source only asks for: `#ifdef INTEL`.

use itertools::Itertools;
use tickbound_opencl::ReadError;

use crate::compiler::Compiler;
use crate::draft::Draft;
use crate::macros::declare;
use crate::names::few;

/// Most macros that are tried, alone and by two.
const MAX_SWITCHES: usize = 100;
const MAX_PAIRED: usize = 8;
/// Most of them that would do.
const MAX_OTHERS: usize = 4;

/// What defining a macro is for.
struct Purpose<'p> {
    /// Names that shall have a meaning. Without any: the kernel shall be there.
    wanted: &'p [String],
    /// How many of them may be left without one.
    left: usize,
    /// The error without the macro.
    before: Option<String>,
}

impl Compiler<'_> {
    /// Defines what the source only asks for, if all but `left` of these names have a meaning then;
    /// without names, if it has the kernel or names without a meaning. What the host names comes
    /// first, and what would do as well is noted.
    pub fn switch(&self, draft: &mut Draft, wanted: &[String], left: usize) -> bool {
        let macros = self.outline.macros.iter();
        let asked = macros.filter(|(_, m)| m.asked && !m.defined && m.default.is_none());
        let open = |name: &&String| !draft.knows(name) && !draft.without.contains(*name);
        let names = asked.map(|(name, _)| name).filter(open);
        let names = names.sorted_by_key(|name| !draft.request.host.mentions(name));
        let names = names.take(MAX_SWITCHES).cloned().collect_vec();
        let before = self.kernels(draft).err().map(|error| error.to_string());
        let purpose = Purpose { wanted, left, before };
        let mut good = 0;
        let ranked = |name| Some((self.rank(draft, &[name], &purpose)?, name));
        let alone = names.iter().filter_map(ranked).take_while(|(rank, _)| {
            good += usize::from(*rank < 2);
            good <= MAX_OTHERS
        });
        let alone = alone.sorted_by_key(|(rank, _)| *rank).map(|(_, name)| name).collect_vec();
        let mut pairs = names.iter().take(MAX_PAIRED).combinations(2);
        let some = match alone.first() {
            Some(first) => Some(vec![*first]),
            None => pairs.find(|some| self.rank(draft, some, &purpose) == Some(0)),
        };
        let Some(some) = some else { return false };
        let without = draft.clone();
        *draft = with(draft, &some);
        draft.switched = Some((Box::new(without), some.iter().copied().cloned().collect()));
        let what = match wanted {
            [] => "what there is to run".to_owned(),
            names => few(names),
        };
        let (names, stands) = (some.iter().join(", "), some.iter().join(" and "));
        let others = alone.iter().skip(1).map(|name| format!(", or of {name}")).join("");
        draft.note(format!("defines.{names}: 1, as {what} stands behind #ifdef {stands}{others}"));
        draft.guess(format!("{stands} is defined"));
        true
    }

    /// How well defining some macros does, if it does any good. 0: the source compiles and has the
    /// kernel; 1: names lack a meaning yet; 2: it compiles without a kernel; 3: another error comes
    /// after that of an `#error`; 4: it has other kernels.
    fn rank(&self, draft: &Draft, some: &[&String], purpose: &Purpose<'_>) -> Option<u8> {
        let Purpose { wanted, left, before } = purpose;
        match self.kernels(&with(draft, some)) {
            Ok(kernels) if self.wanted(draft, &kernels) => Some(0),
            Ok(kernels) if before.is_some() => Some(if kernels.is_empty() { 2 } else { 4 }),
            // What code mentions has a value or a text.
            Err(ReadError::Undeclared { .. })
                if wanted.is_empty() && some.iter().any(|n| self.outline.mentions(n)) =>
            {
                None
            }
            Err(ReadError::Undeclared { values, types, .. }) => {
                let open = values.iter().chain(&types).filter(|n| wanted.contains(n)).count();
                (open <= *left).then_some(1)
            }
            Err(error @ ReadError::Source { .. }) => {
                let passed = before.as_ref().filter(|before| before.contains("#error"));
                passed.is_some_and(|before| *before != error.to_string()).then_some(3)
            }
            _ => None,
        }
    }

    /// Goes back to before the macros that were last defined as the source only asks for them, to
    /// define others. False if none were, or all have been tried.
    pub fn other(&self, draft: &mut Draft) -> bool {
        let Some((before, names)) = draft.switched.take() else { return false };
        let mut before = *before;
        before.without.extend(names);
        before.without.extend(draft.without.iter().cloned());
        let goes_on = self.switch(&mut before, &[], 0);
        if goes_on {
            *draft = before;
        }
        goes_on
    }

    /// Gives a meaning to what the source asks for, uses and does not define itself. False if there
    /// is nothing.
    pub fn required(&self, draft: &mut Draft) -> bool {
        let asked = self.outline.macros.iter().filter(|(_, m)| m.asked && !m.defined && !m.valued);
        let names = asked.map(|(name, _)| name).filter(|name| self.outline.mentions(name));
        let names = names.cloned().collect_vec();
        declare(draft, self.outline, (&names, &[]))
    }
}

/// The draft with some macros defined.
fn with(draft: &Draft, some: &[&String]) -> Draft {
    let mut trial = draft.clone();
    trial.defines.extend(some.iter().map(|name| ((*name).clone(), 1.into())));
    trial
}
