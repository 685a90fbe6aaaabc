//! What `why` answers, for a user: a paragraph and a table.

use tickbound_input::message::grouped;
use tickbound_model::verdict::Status;

use tickbound_report::Table;
use tickbound_report::answer::resources::Resources;
use tickbound_report::answer::why::{Constraints, Finding, Number, Share, Spent, Verdict, Why};
use tickbound_report::answer::{Tally, Values, named, titled};
use tickbound_report::table::wrapped;

/// Most numbers that are named in a sentence.
const NAMED: usize = 8;

const EXPLAINED: &str = "A `free` row is the best configuration with that left out; the others \
    are a new search each. \
                         `at` has what differs from the best configuration.";

/// The answer in words; its lines have at most `width` columns, if that can be.
pub fn words(why: &Why, width: usize) -> String {
    let sentences: Vec<String> =
        [least(why)].into_iter().chain(facts(why).into_iter().map(|(_, text)| text)).collect();
    let (name, model) = why.about.model();
    let heading = format!("{}\n{name} {model}", heading(why));
    let mut text = format!("{heading}\n{}\n", wrapped(&sentences.join(" "), width));
    let hints = why.resources.iter().flat_map(Resources::hints);
    text += &hints.map(|hint| wrapped(&format!("hint: {hint}"), width) + "\n").collect::<String>();
    let table = table(why);
    if !table.is_empty() {
        text += &format!("\n{}\n{}\n", table.fitted(width), wrapped(EXPLAINED, width));
    }
    if !why.not_known.is_empty() {
        text += &format!("\nnot known:  {}\n", why.not_known.join("; "));
    }
    text += &why.stopped_by.iter().map(|by| format!("stopped by: {by}\n")).collect::<String>();
    text
}

/// What is known beside the least time: what it is about, and sentences.
pub fn facts(why: &Why) -> Vec<(&'static str, String)> {
    let facts = [
        ("spent on", spent(why)),
        ("no matter", no_matter(why)),
        ("constraints", constraints(why)),
        ("platform", numbers(why)),
        ("next best", next(why)),
    ];
    facts.into_iter().filter_map(|(about, text)| Some((about, text?))).collect()
}

/// What was asked about.
pub fn heading(why: &Why) -> String {
    let of = why.configurations.as_ref().map(|n| format!(", {} configurations", count(n)));
    titled(&why.about.name, &why.about.inputs) + &of.unwrap_or_default()
}

fn count(tally: &Tally) -> String {
    match tally {
        Tally::Number(n) => grouped(n),
        Tally::Digits(digits) => grouped(digits),
    }
}

fn ticks(n: i64) -> String {
    if n == 1 { "1 tick".to_owned() } else { format!("{} ticks", grouped(n)) }
}

/// The least time, where it is, and where else.
pub fn least(why: &Why) -> String {
    let at = why.configuration.as_ref().map(named).unwrap_or_default();
    let units = &why.about.units;
    match (why.status, why.time) {
        (Status::Infeasible, _) => "No configuration satisfies the constraints.".to_owned(),
        (Status::Bounded, None) => {
            let lower = units.time(why.lower);
            format!("The least time is not known: nothing was found; it is at least {lower}.")
        }
        (Status::Bounded, Some(time)) => format!(
            "The least time is not known: it is between {}; best so far: {at}.",
            units.range(why.lower, time)
        ),
        (Status::Optimal, time) => {
            let time = units.time(time.unwrap_or_default());
            format!("The least time, proved in the model, is {time}, at {at}{}.", ties(why))
        }
    }
}

fn ties(why: &Why) -> String {
    if why.ties.is_empty() {
        return String::new();
    }
    let all = match (&why.optima_count, why.more_ties) {
        (Some(n), _) => format!("{} configurations take it", count(n)),
        (None, true) => "more configurations take it".to_owned(),
        (None, false) => "other configurations take it too".to_owned(),
    };
    let values = |(name, values): (&String, &Vec<i64>)| {
        format!("{name} ({})", either(&values.iter().map(i64::to_string).collect::<Vec<_>>()))
    };
    let differ: Vec<String> = why.ties.iter().map(values).collect();
    format!("; {all}, which differ in {}", both(&differ))
}

fn both(list: &[String]) -> String {
    joined(list, "and")
}

fn either(list: &[String]) -> String {
    joined(list, "or")
}

fn joined(list: &[String], last: &str) -> String {
    match list {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// Where the time of the best configuration goes.
fn spent(why: &Why) -> Option<String> {
    if let Some(resources) = &why.resources {
        return Some(bound_by(resources, why.spent.as_ref()));
    }
    let Spent { parts, steps, because } = why.spent.as_ref()?;
    if let Some(because) = because {
        return Some(format!("Where the time goes is not known: {because}."));
    }
    let most = |shares: &[Share]| -> Option<(String, i64, f64)> {
        let known = shares.iter().filter_map(|s| Some((s.name.clone(), s.saves?, s.percent?)));
        known.filter(|(_, saves, _)| *saves > 0).max_by_key(|(_, saves, _)| *saves)
    };
    let Some((name, saves, percent)) = most(parts) else {
        let known = !parts.is_empty() && parts.iter().all(|part| part.time.is_some());
        return known.then(|| {
            "No kind of statement alone bounds it: without any one of them the time is the same."
                .to_owned()
        });
    };
    let step = most(steps).filter(|(step, ..)| *step != name);
    let step = step.map(|(step, saves, _)| {
        format!("; the step that costs most is \"{step}\", {}", ticks(saves))
    });
    let of = if name == "group start" || name == "kernel launch" { "" } else { "`" };
    Some(format!(
        "What costs most there is {of}{name}{of}: without it the configuration takes {} less \
         ({percent:.2} %){}.",
        ticks(saves),
        step.unwrap_or_default()
    ))
}

fn bound_by(resources: &Resources, spent: Option<&Spent>) -> String {
    let lines = resources.lines();
    let line = |name: &str| lines.iter().find(|(n, _)| *n == name).map(|(_, text)| text.as_str());
    let mut text = format!("It is bound by {}", line("bound by:").unwrap_or_default());
    if let Some(each) = line("a group:") {
        text += &format!(": a group takes {each}");
    }
    let limit = &resources.limited_by;
    text += &format!("; a unit holds {} groups, limited by {limit}.", resources.groups);
    if let Some(because) = spent.and_then(|spent| spent.because.as_ref()) {
        text += &format!(" What its parts cost is not known: {because}.");
    }
    text
}

/// What is wrong, without what to do about it: the user did not request what was tried.
fn cause(because: Option<&String>) -> String {
    let text = because.map_or("", String::as_str);
    text.rsplit_once("; ").map_or(text, |(what, _)| what).to_owned()
}

fn no_matter(why: &Why) -> Option<String> {
    match why.indifferent.as_slice() {
        [] => None,
        some => Some(format!("No time at all depends on {}.", both(some))),
    }
}

/// Which constraints stand in the way.
fn constraints(why: &Why) -> Option<String> {
    let Constraints { all, each, together } = &why.constraints;
    if why.status == Status::Bounded {
        return None;
    }
    let Some(all) = all else {
        return (why.status == Status::Optimal).then(|| {
            "There are no constraints; domains and launch conditions are all that limits the \
             choice."
                .to_owned()
        });
    };
    let faster = |found: &Finding| found.is_faster(why.time);
    let in_the_way: Vec<String> = each
        .iter()
        .filter(|without| faster(&without.found))
        .map(|without| format!("`{}` ({})", without.constraint, gain(why, &without.found)))
        .collect();
    let all_gone = match (each.len(), faster(all)) {
        (2.., true) => format!(" Without all constraints: {}.", gain(why, all)),
        _ => String::new(),
    };
    let (what, verb) = match why.status {
        Status::Infeasible => ("a valid configuration", "is all that stands"),
        _ => ("something faster", "stands"),
    };
    if !in_the_way.is_empty() {
        return Some(format!("In the way of {what} {verb} {}.{all_gone}", both(&in_the_way)));
    }
    if let Some(together) = together {
        let names: Vec<String> = together.constraints.iter().map(|c| format!("`{c}`")).collect();
        let gone = gain(why, &together.found);
        let all = if names.len() == each.len() { "" } else { &all_gone };
        return Some(format!(
            "No constraint alone stands in the way of {what}, but {} do together ({gone}).{all}",
            both(&names)
        ));
    }
    let refused = |found: &Finding| found.status == Verdict::Refused;
    if let Some(because) = all.because.as_ref().filter(|_| refused(all)) {
        return Some(format!("Without all constraints there is no time: {because}."));
    }
    let settled = each.iter().all(|without| without.found.is_not_faster(why.time));
    (all.is_not_faster(why.time) && settled).then(|| none_in_the_way(why.status).to_owned())
}

/// That constraints exclude nothing better.
fn none_in_the_way(status: Status) -> &'static str {
    match status {
        Status::Infeasible => {
            "Without any constraint there is none either: domains and launch conditions exclude \
             all."
        }
        _ => {
            "No constraint stands in the way of something faster; domains and launch conditions \
             stay."
        }
    }
}

/// What a change brings.
fn gain(why: &Why, found: &Finding) -> String {
    let Some(time) = found.time else { return "not known".to_owned() };
    let at_most = if found.status == Verdict::Bounded { "at most " } else { "" };
    match why.time {
        Some(least) => format!("{at_most}{} instead of {}", ticks(time), grouped(least)),
        None => format!("{at_most}{}", ticks(time)),
    }
}

/// Which number of the platform would move the least time.
fn numbers(why: &Why) -> Option<String> {
    let known: Vec<&Number> = why.platform.iter().filter(|n| n.found.is_known()).collect();
    let saves = |number: &&Number| number.found.saves.unwrap_or_default();
    let mut moves: Vec<&Number> = known.iter().copied().filter(|n| saves(n) > 0).collect();
    moves.sort_by_key(|number| std::cmp::Reverse(saves(number)));
    let still: Vec<String> = known
        .iter()
        .filter(|number| number.found.saves == Some(0))
        .map(|number| number.name.clone())
        .collect();
    let most = moves.first().map(|number| {
        let others = match moves.len() {
            1 => "no other saves anything".to_owned(),
            2 => "one other saves less or as much".to_owned(),
            n => format!("{} others save less or as much", n - 1),
        };
        format!(
            "Of the platform's numbers one unit of {} moves it most: with {} instead of {} it \
             falls by {}; {others}.",
            number.name,
            grouped(number.to),
            grouped(number.from),
            ticks(saves(number)),
        )
    });
    let nothing = match still.len() {
        0 => None,
        1..=NAMED => Some(format!("One unit of {} saves nothing.", either(&still))),
        n => Some(format!("One unit of any of {n} others saves nothing.")),
    };
    let slower: Vec<String> =
        known.iter().filter(|number| saves(number) < 0).map(|n| n.name.clone()).collect();
    let slower =
        (!slower.is_empty()).then(|| format!("One unit of {} makes it slower.", either(&slower)));
    let said: Vec<String> = [most, nothing, slower].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

fn next(why: &Why) -> Option<String> {
    let (next, more) = (why.next?, why.next_more?);
    let percent = why.next_percent.map(|p| format!(", {p:.2} %")).unwrap_or_default();
    Some(format!("The next best takes {}, {} more{percent}.", ticks(next), grouped(more)))
}

/// What changes something, or is not known.
fn table(why: &Why) -> Table {
    let mut table = Table::new(["change", "ticks", "saves", "%", "at"]);
    for share in why.shares().filter(|share| share.saves != Some(0)) {
        let number = |n: Option<i64>| n.map_or("?".to_owned(), |n| n.to_string());
        let percent = share.percent.map_or("?".to_owned(), |p| format!("{p:.2}"));
        table.push([
            format!("{} free", share.name),
            number(share.time),
            number(share.saves),
            percent,
            cause(share.because.as_ref()),
        ]);
    }
    let constraints = &why.constraints;
    let mut searches: Vec<(String, &Finding)> = Vec::new();
    if constraints.each.len() > 1 {
        searches.extend(constraints.all.iter().map(|f| ("without all constraints".to_owned(), f)));
    }
    let each = constraints.each.iter();
    searches.extend(each.map(|w| (format!("without {}", w.constraint), &w.found)));
    let together =
        constraints.together.iter().filter(|t| t.constraints.len() < constraints.each.len());
    searches
        .extend(together.map(|t| (format!("without {}", t.constraints.join(" and ")), &t.found)));
    searches.extend(
        why.platform.iter().map(|n| (format!("{} {} -> {}", n.name, n.from, n.to), &n.found)),
    );
    for (what, found) in searches {
        if let Some(cells) = cells(why, found) {
            table.push([what].into_iter().chain(cells));
        }
    }
    table
}

/// The cells of a finding; nothing where it changes nothing or was not begun.
fn cells(why: &Why, found: &Finding) -> Option<[String; 4]> {
    let nothing = || ["-".to_owned(), "-".to_owned(), "-".to_owned()];
    let [ticks, saves, percent] = match (found.status, found.time) {
        (Verdict::NotKnown, _) => return None,
        _ if found.saves == Some(0) => return None,
        (Verdict::Refused, _) => {
            let [a, b, c] = nothing();
            return Some([a, b, c, cause(found.because.as_ref())]);
        }
        (Verdict::Infeasible, _) => {
            let [a, b, c] = nothing();
            let text = "no configuration satisfies the constraints";
            return (why.status != Status::Infeasible).then(|| [a, b, c, text.to_owned()]);
        }
        (Verdict::Bounded, time) => {
            let time = time.map_or("?".to_owned(), |time| time.to_string());
            [format!("{}..{time}", found.lower.unwrap_or_default()), "?".into(), "?".into()]
        }
        (Verdict::Optimal | Verdict::Follows, time) => {
            let percent = found
                .saves
                .zip(why.time)
                .and_then(|(s, of)| tickbound_report::answer::why::percent(s, of));
            [
                time.unwrap_or_default().to_string(),
                found.saves.map_or("-".to_owned(), |saves| saves.to_string()),
                percent.map_or("-".to_owned(), |p| format!("{p:.2}")),
            ]
        }
    };
    Some([ticks, saves, percent, elsewhere(why, found)])
}

/// In what a configuration differs from the best one of the problem itself.
fn elsewhere(why: &Why, found: &Finding) -> String {
    let Some(at) = &found.configuration else { return String::new() };
    let Some(best) = &why.configuration else { return named(at) };
    let differ = at.iter().filter(|(name, value)| best.get(*name) != Some(value));
    let differ: Values = differ.map(|(name, value)| (name.clone(), *value)).collect();
    if differ.is_empty() { "the same".to_owned() } else { named(&differ) }
}
