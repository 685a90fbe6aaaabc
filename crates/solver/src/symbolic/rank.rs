//! All optima, the next best, and what does not matter.

use std::cell::Cell;

use num_bigint::BigUint;
use tickbound_elimination::direct::DirectForm;
use tickbound_elimination::{Least, TableLimits, Ties, TooWide};
use tickbound_model::Configuration;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_timing::CostTables;

use crate::error::SolveError;
use crate::program_classes::{Fold, ProgramClass};
use crate::result::{MAX_OPTIMA, TuneResult};
use crate::search::{Eliminated, Search};
use crate::strategy;
use crate::top_list::TopList;

/// Most rows of an elimination that is made a second time, to count the optima.
const MAX_COUNTED: usize = 1 << 20;

/// Lists the optima, and at least `top` configurations, in a result with nothing else.
pub(super) fn ranking(search: &Search<'_>, top: usize) -> Result<TuneResult, SolveError> {
    let least = search.bracket.bounds().upper();
    if let Some(all) = search.all() {
        return of_all(search, all, top);
    }
    // Boxes say as much of a chain as its table, and sooner.
    let over_boxes = search.is_over_boxes();
    let eliminated = if over_boxes { None } else { search.eliminated() };
    let mut ranking = match eliminated {
        Some(found @ Eliminated { tables, tree, .. }) => {
            let few = tree.rows() <= MAX_COUNTED;
            let (count, next) = if few { ties(search, tables)? } else { (None, None) };
            let mut ranking = TuneResult { optima_count: count, next, ..TuneResult::default() };
            ranking.indifferent = indifferent(search, tables);
            let stop = || search.bracket.out_of_time();
            let limits = TableLimits { rows: crate::search::MAX_ROWS, divide: true, stop: &stop };
            let ticks = |indices: &[u32], sum| tables.ticks(&search.env(indices), sum);
            let all = tree.ascending_from(&found.root, &limits, ticks).map(|next| {
                next.map(|(time, indices)| (time, search.configurations.configuration(&indices)))
            });
            ascending(search, (top, least), all, &mut ranking)?;
            ranking
        }
        None if over_boxes => by_boxes(search, top, least)?,
        None => bounded(search, top, least)?,
    };
    sort(&mut ranking.optima);
    Ok(ranking)
}

/// Most partial assignments that are kept while the best are listed by labels.
const MAX_NEAR: usize = 20_000;
/// Those that are kept once there are more, to show some of many optima.
const SMALL_NEAR: usize = 256;
/// How often the time is raised up to which configurations are listed.
const RAISED: u32 = 9;

/// The same where the bracket was closed by labels. Parameters that do not matter are not found.
pub(super) fn by_labels(
    search: &Search<'_>,
    form: &DirectForm,
    top: usize,
) -> Result<TuneResult, SolveError> {
    let least = search.bracket.bounds().upper();
    let stop = || search.bracket.out_of_time();
    let room = (MAX_NEAR, top.max(SMALL_NEAR));
    let mut near = form.within(least, room, &stop).unwrap_or_default();
    let optimal = near.all.len();
    let count = near.whole.then_some(optimal);
    for raised in 0..RAISED {
        if near.all.len() >= top || !near.whole {
            break;
        }
        let most = least.saturating_add((least / 1000).max(1).saturating_mul(4i64.pow(raised)));
        match form.within(most, room, &stop) {
            Some(more) if more.whole => near = more,
            _ => break,
        }
    }
    let (mut optima, mut next) = (Vec::new(), None);
    for (cost, assignment) in near.all {
        if cost > least {
            next = next.or(Some(cost).filter(|_| count.is_some()));
        }
        if optima.len() < top.max(optimal.min(MAX_OPTIMA)) {
            let configuration = search.configurations.configuration(&assignment);
            let time = search.offer(configuration.clone(), Some(cost))?.unwrap_or(cost);
            optima.push(TimedConfiguration { configuration, time });
        }
    }
    if optima.is_empty() {
        optima.extend(search.bracket.bounds().best.map(|(best, _)| search.found(best)));
    }
    sort(&mut optima);
    let more = count.is_none_or(|n| n > optima.iter().filter(|o| o.time == least).count());
    let optima_count = count.map(BigUint::from);
    Ok(TuneResult { optima, more_optima: more, optima_count, next, ..TuneResult::default() })
}

fn sort(optima: &mut [TimedConfiguration]) {
    optima.sort_by(|a, b| a.time.cmp(&b.time).then_with(|| a.configuration.cmp(&b.configuration)));
}

/// The ranking where every time is known, in the order of the space.
fn of_all(
    search: &Search<'_>,
    all: &[TimedConfiguration],
    top: usize,
) -> Result<TuneResult, SolveError> {
    let mut order: Vec<&TimedConfiguration> = all.iter().collect();
    order.sort_by_key(|found| found.time);
    let least = order.first().map_or(0, |found| found.time);
    let count = order.partition_point(|found| found.time == least);
    let listed = top.max(count.min(MAX_OPTIMA));
    let mut fold = Fold::new(search.problem(), top);
    for found in &order {
        let Some(fold) = fold.as_mut().filter(|fold| fold.wants(found.time)) else { break };
        fold.add(&found.configuration, found.time)?;
    }
    Ok(TuneResult {
        optima: order.iter().take(listed).copied().cloned().collect(),
        programs: fold.map(|fold| fold.programs(true)).unwrap_or_default(),
        more_optima: count > listed,
        optima_count: Some(count.into()),
        next: order.get(count).map(|found| found.time),
        ..TuneResult::default()
    })
}

/// How many optima there are, and the least time of all others.
fn ties(
    search: &Search<'_>,
    tables: &CostTables,
) -> Result<(Option<BigUint>, Option<i64>), SolveError> {
    let stop = || search.bracket.out_of_time();
    let limits = crate::search::limits(search.rows(), &stop);
    let root =
        tables.network.eliminated::<Ties>(&tables.kept, &limits).and_then(|t| t.root(&limits));
    let Ok(root) = root else { return Ok((None, None)) };
    let mut indices = vec![0; search.configurations.values().len()];
    let mut all: Option<Ties> = None;
    for (key, ties) in root.rows() {
        root.scope().unpack(key, &mut indices);
        let env = search.env(&indices);
        let ticks = |sum: Least| Least(tables.ticks(&env, sum.0));
        // The scale is positive, so the order of costs is that of times.
        let own = Ties {
            least: ticks(ties.least),
            count: ties.count.clone(),
            next: ties.next.map(ticks),
        };
        match &mut all {
            None => all = Some(own),
            Some(all) => tickbound_elimination::Weight::plus(all, &own),
        }
    }
    Ok(all.map_or((None, None), |all| (Some(all.count.into()), all.next.map(|n| n.0))))
}

/// The parameters that no relation with a cost mentions, nor the scale.
fn indifferent(search: &Search<'_>, tables: &CostTables) -> Vec<String> {
    let costs = &tables.network.relations()[tables.conditions..];
    let matters = |p: &usize| tables.kept.contains(p) || costs.iter().any(|r| r.scope().has(*p));
    let parameters = search.problem().parameters.iter().enumerate();
    parameters
        .filter(|(p, parameter)| {
            !matters(p)
                && search.configurations.values()[*p].len() > 1
                && !parameter.name.is_empty()
        })
        .map(|(_, parameter)| parameter.name.clone())
        .collect()
}

/// Most optima that are counted one by one.
const MAX_TIES: usize = 100_000;

/// The ranking where a box of one configuration is bounded by its time.
fn by_boxes(search: &Search<'_>, top: usize, least: i64) -> Result<TuneResult, SolveError> {
    let (count, next, whole) = (Cell::new(0), Cell::new(None), Cell::new(true));
    let mut all = strategy::ascending(search).inspect(|found| match found {
        Ok((time, _)) if *time <= least => count.set(count.get() + 1),
        Ok((time, _)) => next.set(next.get().or(Some(*time))),
        Err(_) => whole.set(false),
    });
    let mut ranking = TuneResult::default();
    ascending(search, (top, least), &mut all, &mut ranking)?;
    // What is not listed is counted.
    while next.get().is_none() && count.get() < MAX_TIES && all.next().is_some() {}
    let counted = next.get().is_some() || (whole.get() && count.get() < MAX_TIES);
    ranking.optima_count = counted.then(|| count.get().into());
    ranking.next = next.get();
    Ok(ranking)
}

/// Takes configurations in the order of their times.
fn ascending(
    search: &Search<'_>,
    (top, least): (usize, i64),
    all: impl Iterator<Item = Result<(i64, Configuration), TooWide>>,
    ranking: &mut TuneResult,
) -> Result<(), SolveError> {
    let mut fold = Fold::new(search.problem(), top);
    let (mut listing, mut whole) = (true, true);
    for next in all {
        let (time, configuration) = match next {
            Ok(next) => next,
            Err(TooWide::Stopped | TooWide::Rows(_) | TooWide::Key(_)) => {
                ranking.more_optima |= listing;
                whole = false;
                break;
            }
        };
        let optimal = time == least;
        let room = ranking.optima.len() < top || (optimal && ranking.optima.len() < MAX_OPTIMA);
        if listing && !room {
            (listing, ranking.more_optima) = (false, optimal);
        }
        let folds = fold.as_ref().is_some_and(|fold| fold.wants(time));
        whole &= !folds || fold.as_ref().is_some_and(|fold| !fold.is_full());
        let folding = folds && whole;
        if !listing && !folding {
            break;
        }
        if let Some(fold) = fold.as_mut().filter(|_| folding) {
            fold.add(&configuration, time)?;
        }
        if listing {
            offer(search, &configuration, time)?;
            ranking.optima.push(TimedConfiguration { configuration, time });
        }
    }
    ranking.programs = fold.map(|fold| fold.programs(whole)).unwrap_or_default();
    for ProgramClass { first, .. } in &ranking.programs.list {
        offer(search, &first.configuration, first.time)?;
    }
    Ok(())
}

/// Has the simulator run what is listed, unless it has before.
fn offer(search: &Search<'_>, configuration: &Configuration, time: i64) -> Result<(), SolveError> {
    let claimed = Some(time).filter(|t| *t < i64::MAX);
    search.offer(configuration.clone(), claimed).map(|_| ())
}

/// Most configurations that are examined in the order of their bounds.
const MAX_BOUNDED: usize = 100_000;

/// The ranking where there are only bounds: of an elimination if there is one, else of boxes.
fn bounded(search: &Search<'_>, top: usize, least: i64) -> Result<TuneResult, SolveError> {
    let stop = || search.bracket.out_of_time();
    let (mut optima, complete) = match search.bounding(&stop) {
        Ok(tree) => by_bounds(search, tree, top, least)?,
        Err(_) => strategy::best(search, least, (top, MAX_OPTIMA))?,
    };
    sort(&mut optima);
    let optimal = optima.iter().filter(|f| f.time == least).count();
    let optima_count = complete.then(|| optimal.into());
    let more_optima = !complete;
    Ok(TuneResult { more_optima, optima, optima_count, ..TuneResult::default() })
}

/// Simulates in the order of lower bounds, until none that is left can belong to the list; the
/// second value states whether all optima are in it.
fn by_bounds(
    search: &Search<'_>,
    Eliminated { tables, tree, root }: &Eliminated,
    top: usize,
    least: i64,
) -> Result<(Vec<TimedConfiguration>, bool), SolveError> {
    let stop = || search.bracket.out_of_time();
    let limits = TableLimits { rows: crate::search::MAX_ROWS, divide: true, stop: &stop };
    let ticks = |indices: &[u32], sum| tables.ticks(&search.env(indices), sum);
    let mut list = TopList::new(top, least);
    for (looked, next) in tree.ascending_from(root, &limits, ticks).enumerate() {
        let few = looked < MAX_BOUNDED && list.optimal() <= MAX_OPTIMA.max(top);
        match next {
            Ok((bound, _)) if bound > list.worst() => break,
            Ok((_, indices)) if few => {
                if !search.configurations.allows(&indices) {
                    continue;
                }
                let configuration = search.configurations.configuration(&indices);
                let Some(time) = search.offer(configuration.clone(), None)? else { continue };
                list.add(TimedConfiguration { configuration, time });
            }
            Ok(_) | Err(_) => return Ok((list.into_found(MAX_OPTIMA), false)),
        }
    }
    let complete = list.optimal() <= MAX_OPTIMA.max(top);
    Ok((list.into_found(MAX_OPTIMA), complete))
}
