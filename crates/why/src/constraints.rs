//! Which constraints stand in the way of something faster.
//!
//! Without a constraint there are only more configurations, so the least time falls or stays. Hence
//! one search without all of them states that none matters, where it finds nothing faster;
//! otherwise each is left out alone. If none of them alone is in the way, several are together: of
//! those that the configuration found does not satisfy, each in turn is put back, unless that takes
//! away all that is faster. What is left is smallest in the sense that each of it is needed, not
//! that there is no other such set. Launch conditions and domains stay.
//!
//! Where no configuration is valid the same is asked: which constraints have to go for there to be
//! one.

use tickbound_model::Problem;
use tickbound_solver::SolveError;

use super::search::{Changed, WhyObserver, WhyRequest};
use tickbound_report::answer::why::{Finding, Together, Verdict, Why};

/// Leaves constraints out, and notes in `why` what is found.
pub(super) fn leave_out(
    asked: &WhyRequest<'_>,
    observer: &WhyObserver<'_>,
    why: &mut Why,
) -> Result<(), SolveError> {
    let number = why.constraints.each.len();
    let least = why.time;
    if number == 0 {
        return Ok(());
    }
    let every: Vec<usize> = (0..number).collect();
    let changed = without(asked.problem, &every, "without all constraints".to_owned());
    let all = asked.searches.changed(&changed, least, observer.search)?;
    let violated = violated(asked.problem, &every, &all);
    let (mut places, mut open) = (Vec::new(), Vec::new());
    for (one, without_it) in why.constraints.each.iter_mut().enumerate() {
        without_it.found = match violated.as_slice() {
            // What is valid without this one is valid without all of them.
            _ if all.is_known() && all.is_not_faster(least) => match all.status {
                Verdict::Infeasible => all.clone(),
                _ => Finding { configuration: why.configuration.clone(), ..follows(&all) },
            },
            [only] if *only == one && all.is_known() => follows(&all),
            _ => {
                places.push(one);
                let how = format!("without `{}`", without_it.constraint);
                open.push(without(asked.problem, &[one], how));
                continue;
            }
        };
    }
    why.constraints.all = Some(all.clone());
    (observer.why)(why);
    asked.searches.all_changed(&open, least, observer.search, |one, found| {
        why.constraints.each[places[one]].found = found;
        (observer.why)(why);
    })?;
    let alone = why.constraints.each.iter().all(|without| without.found.is_not_faster(least));
    if alone && all.is_faster(least) {
        why.constraints.together = Some(fewest(asked, observer, why, (violated, all))?);
        (observer.why)(why);
    }
    Ok(())
}

/// What is found without one constraint, if that is what is found without all.
fn follows(all: &Finding) -> Finding {
    Finding { status: Verdict::Follows, ..all.clone() }
}

/// Constraints without which something is faster, each of which is needed for that: some of `out`,
/// without which `found` is found.
fn fewest(
    asked: &WhyRequest<'_>,
    observer: &WhyObserver<'_>,
    why: &Why,
    (mut out, mut found): (Vec<usize>, Finding),
) -> Result<Together, SolveError> {
    let mut smallest = true;
    for back in out.clone() {
        let fewer: Vec<usize> = out.iter().copied().filter(|one| *one != back).collect();
        // It went with another one, or one alone would be left, which is known not to suffice.
        if fewer.len() == out.len() || fewer.len() < 2 {
            continue;
        }
        let how = format!("without {} constraints", fewer.len());
        let changed = without(asked.problem, &fewer, how);
        let tried = asked.searches.changed(&changed, why.time, observer.search)?;
        if tried.is_faster(why.time) {
            // Without those that this configuration does not satisfy it is valid, so the least time
            // is the same.
            out = violated(asked.problem, &fewer, &tried);
            found = tried;
        } else if !tried.is_not_faster(why.time) {
            smallest = false;
        }
    }
    let constraints = out.iter().map(|one| why.constraints.each[*one].constraint.clone());
    Ok(Together { constraints: constraints.collect(), smallest, found })
}

/// Those of the constraints left out that the configuration found does not satisfy.
fn violated(problem: &Problem, out: &[usize], found: &Finding) -> Vec<usize> {
    let Some(configuration) = &found.configuration else { return Vec::new() };
    let Changed { problem: changed, .. } = without(problem, out, String::new());
    let Ok(bound) = changed.bind(configuration) else { return out.to_vec() };
    let holds = |one: &usize| problem.constraints[*one].expr.holds(&bound.env) == Ok(true);
    out.iter().copied().filter(|one| !holds(one)).collect()
}

/// The problem without some of its constraints.
fn without(problem: &Problem, out: &[usize], how: String) -> Changed {
    let mut changed = problem.clone();
    let kept = problem.constraints.iter().enumerate().filter(|(i, _)| !out.contains(i));
    changed.constraints = kept.map(|(_, constraint)| constraint.clone()).collect();
    Changed { problem: changed, how }
}
