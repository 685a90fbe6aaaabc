//! Which constraints stand in the way of something faster.
//!
//! Without a constraint there are only more configurations, so the least time falls or stays. Hence one search without all
//! of them says that none matters, where it finds nothing faster; otherwise each is left out alone. If none of them alone
//! is in the way, several are together: from all of them one after the other is put back, unless that takes away all that
//! is faster. What is left is smallest in the sense that each of it is needed, not that there is no other such set. Launch
//! conditions and domains stay.
//!
//! Where no configuration is valid the same is asked: which constraints have to go for there to be one.

use tickbound_model::Problem;
use tickbound_solve::SolveError;

use super::data::{Finding, Together, Verdict, Why};
use super::search::{Asked, Ears};

/// Leaves constraints out, and notes in `why` what is found.
pub(super) fn leave_out(
    asked: &Asked<'_>,
    ears: &Ears<'_>,
    why: &mut Why,
) -> Result<(), SolveError> {
    let number = why.constraints.each.len();
    let least = why.time;
    let search =
        |out: &[usize], how: &str| asked.changed(&without(asked.problem, out), how, least, ears);
    if number == 0 {
        return Ok(());
    }
    let every: Vec<usize> = (0..number).collect();
    let all = search(&every, "without all constraints")?;
    why.constraints.all = Some(all.clone());
    (ears.why)(why);
    for one in 0..number {
        let found = match (number, all.is_known() && all.is_not_faster(least)) {
            (1, _) => all.clone(),
            // Whatever is valid without this one is valid without all of them.
            (_, true) => follows(why, &all),
            (_, false) => {
                search(&[one], &format!("without `{}`", why.constraints.each[one].constraint))?
            }
        };
        why.constraints.each[one].found = found;
        (ears.why)(why);
    }
    let alone = why.constraints.each.iter().all(|without| without.found.is_not_faster(least));
    if alone && all.is_faster(least) {
        why.constraints.together = Some(fewest(why, all, &search)?);
        (ears.why)(why);
    }
    Ok(())
}

/// Nothing else than without any change.
fn follows(why: &Why, all: &Finding) -> Finding {
    let infeasible = all.status == Verdict::Infeasible;
    Finding {
        status: if infeasible { Verdict::Infeasible } else { Verdict::Follows },
        time: why.time,
        lower: why.time,
        saves: why.time.map(|_| 0),
        configuration: why.configuration.clone(),
        because: None,
    }
}

/// Constraints without which something is faster, each of which is needed for that; `all` is what is found without any.
fn fewest(
    why: &Why,
    all: Finding,
    search: &impl Fn(&[usize], &str) -> Result<Finding, SolveError>,
) -> Result<Together, SolveError> {
    let mut out: Vec<usize> = (0..why.constraints.each.len()).collect();
    let (mut found, mut smallest) = (all, true);
    for back in out.clone() {
        let fewer: Vec<usize> = out.iter().copied().filter(|one| *one != back).collect();
        // One alone is known not to suffice.
        if fewer.len() < 2 {
            continue;
        }
        let tried = search(&fewer, &format!("without {} constraints", fewer.len()))?;
        if tried.is_faster(why.time) {
            (out, found) = (fewer, tried);
        } else if !tried.is_not_faster(why.time) {
            smallest = false;
        }
    }
    let constraints = out.iter().map(|one| why.constraints.each[*one].constraint.clone());
    Ok(Together { constraints: constraints.collect(), smallest, found })
}

/// The problem without some of its constraints.
fn without(problem: &Problem, out: &[usize]) -> Problem {
    let mut changed = problem.clone();
    let kept = problem.constraints.iter().enumerate().filter(|(i, _)| !out.contains(i));
    changed.constraints = kept.map(|(_, constraint)| constraint.clone()).collect();
    changed
}
