//! The cases of an obligation: its names replaced by numbers, and what that simplifies.

use std::collections::HashMap;

use tickbound_opencl::proof::terms::{FunctionKind, Node, TermId, Terms, VariableKind};

use crate::classes::number_kind;
use crate::obligations::SafetyObligation;
use crate::quick::KnownLimits;
use crate::replay::iterated;

/// Ids with as many values as there are items or groups, by the variable and that number.
type Limits = HashMap<(TermId, i64), TermId>;

/// An obligation whose names are replaced by numbers, case by case.
pub struct CaseMaker<'o> {
    obligation: &'o SafetyObligation,
    /// Variables that get a number, with its place; for ids it is how many there are.
    numbered: Vec<(TermId, VariableKind, usize)>,
    limits: Limits,
    /// Whether some number follows from iteration to iteration.
    pub iterates: bool,
}

impl<'o> CaseMaker<'o> {
    /// An obligation with the kinds of its numbers.
    pub fn new(
        terms: &Terms,
        obligation: &'o SafetyObligation,
        kinds: &[VariableKind],
    ) -> CaseMaker<'o> {
        let all = terms.inside(&obligation.roots());
        let iterates = all.iter().any(|term| match terms.node(*term) {
            Node::Apply(function, _) => {
                matches!(terms.functions[*function as usize].kind, FunctionKind::Iterated { .. })
            }
            _ => false,
        });
        let numbered = |term: &TermId| {
            let Node::Variable(index) = terms.node(*term) else { return None };
            let kind = terms.variables[*index as usize].kind.clone();
            let number = number_kind(&kind);
            let place = kinds.iter().position(|known| *known == number)?;
            Some((*term, kind, place))
        };
        let numbered = all.iter().filter_map(numbered).collect();
        CaseMaker { obligation, numbered, limits: Limits::new(), iterates }
    }

    /// The obligation with the values of its numbers; ids get the ranges of the sizes.
    pub fn case(&mut self, terms: &mut Terms, values: &[i64]) -> SafetyObligation {
        let mut by = HashMap::new();
        for (variable, kind, place) in &self.numbered {
            let Some(value) = values.get(*place).copied() else { continue };
            let is_id = matches!(kind, VariableKind::LocalId(_) | VariableKind::GroupId(_));
            let new = match value {
                1 if is_id => terms.int(0),
                size if is_id => *self
                    .limits
                    .entry((*variable, size))
                    .or_insert_with(|| terms.variable(kind.clone(), (0, i128::from(size) - 1))),
                value => terms.int(value.into()),
            };
            by.insert(*variable, new);
        }
        self.obligation.replaced(terms, by)
    }
}

/// The same where numbers that follow from iteration to iteration are computed.
pub fn folded(
    terms: &mut Terms,
    old: &SafetyObligation,
    by: HashMap<TermId, TermId>,
) -> SafetyObligation {
    let new = old.replaced(terms, by);
    let mut computed = HashMap::new();
    for term in terms.inside(&new.roots()) {
        let Node::Apply(_, parts) = terms.node(term).clone() else { continue };
        let count = parts.first().and_then(|count| terms.constant(*count));
        if let Some((_, values)) = iterated(terms, term)
            && let Some(value) = count.and_then(|k| values.get(usize::try_from(k).ok()?))
        {
            let value = terms.int(*value);
            computed.insert(term, value);
        }
    }
    new.replaced(terms, computed)
}

/// The conditions that are not known to hold.
pub fn open_conditions(terms: &Terms, case: &SafetyObligation) -> Vec<TermId> {
    case.given.iter().copied().filter(|c| terms.constant(*c).is_none()).collect()
}

/// The case with the numbers inside of wraps that change none of them. It is implied by the case;
/// with `equal` it implies it, too, as what makes a number fit its type may be a condition on the
/// wrap: `x <= x % 4` holds for `x <= 3`.
pub fn without_wraps(
    terms: &mut Terms,
    mut case: SafetyObligation,
    equal: bool,
) -> SafetyObligation {
    loop {
        let given = open_conditions(terms, &case);
        let conditions = [given.as_slice(), &case.faults].concat();
        let is_wrap = |term: &TermId| matches!(terms.node(*term), Node::Wrap(..));
        if !terms.inside(&conditions).iter().any(is_wrap) {
            return case;
        }
        let idle = KnownLimits::new(terms, &given).idle_wraps(&conditions);
        if idle.is_empty() {
            return case;
        }
        let mut fits = Vec::new();
        for (wrap, number) in idle.iter().filter(|_| equal) {
            let (low, high) = terms.range(*wrap);
            let (low, high) = (terms.int(low), terms.int(high));
            let outside = [terms.less(*number, low), terms.less(high, *number)];
            fits.extend(outside.map(|outside| terms.not(outside)));
        }
        case = case.replaced(terms, idle.into_iter().collect());
        case.given.extend(fits);
    }
}

/// The values of macros and arguments.
pub fn own_names<'v>(
    kinds: &'v [VariableKind],
    values: &'v [i64],
) -> impl Iterator<Item = (String, i64)> + 'v {
    kinds.iter().zip(values).filter_map(|(kind, value)| match kind {
        VariableKind::Name(name) if !name.starts_with('#') => Some((name.replace('$', ""), *value)),
        _ => None,
    })
}
