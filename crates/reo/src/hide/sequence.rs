//! Two steps as one.

use crate::constraint::simplify::{Gone, around, read, written};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::symbol::Cell;

/// One step after another, as one: what the second reads of memory is what the first has left.
/// At most one of the two may speak of data at names. `None` if they cannot follow each other.
/// Cells in `dead`, sorted, are not read after the second.
pub fn sequence(
    first: &DataConstraint,
    second: &DataConstraint,
    dead: &[Cell],
) -> Option<DataConstraint> {
    if first.is_true() && dead.is_empty() {
        return Some(second.clone());
    }
    let (reads, again) = (read(second), written(second));
    let meets = |c: &Cell| reads.binary_search(c).is_ok() || again.binary_search(c).is_ok();
    let mut between = written(first);
    between.retain(meets);
    // Values between the steps are values without a name, behind those that are there already.
    const BETWEEN: u32 = 1 << 30;
    const SECOND: u32 = 1 << 29;
    let at = |cell: &Cell| between.binary_search(cell).ok().map(|k| BETWEEN + k as u32);
    let mut all = Vec::with_capacity(first.literals().len() + second.literals().len());
    all.extend(first.literals().iter().map(|l| {
        l.map(&mut |term| match term {
            DataTerm::After(cell) => at(cell).map_or_else(|| term.clone(), DataTerm::Some),
            other => other.clone(),
        })
    }));
    all.extend(second.literals().iter().map(|l| {
        l.map(&mut |term| match term {
            DataTerm::Before(cell) => at(cell).map_or_else(|| term.clone(), DataTerm::Some),
            DataTerm::Some(k) => DataTerm::Some(k + SECOND),
            other => other.clone(),
        })
    }));
    let kept = between.iter().filter(|c| again.binary_search(c).is_err());
    all.extend(
        kept.filter_map(|c| Some(Literal::Equal(DataTerm::After(*c), DataTerm::Some(at(c)?)))),
    );
    // What both speak of is where their classes meet.
    let fewer = if first.literals().len() < second.literals().len() { first } else { second };
    let mut touched = Vec::with_capacity(2 * fewer.literals().len());
    fewer.visit(|leaf| touched.push(leaf.clone()));
    touched.sort_unstable();
    around(all, &Gone { names: &[], cells: dead }, &touched)
}
