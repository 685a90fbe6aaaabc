//! The timeline of a run, small enough for a page: elements that do the same share a lane, and what
//! is too short to be seen is drawn as one.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use serde::Serialize;

use super::figures::numbers_grouped;
use crate::timeline::TimelineSpan;

/// Most blocks that are drawn one by one.
const FEW: usize = 6_000;
/// Where there are more, a block is at least so great a part of the run.
const PARTS: i64 = 800;
/// Most lanes that are drawn.
const MAX_LANES: usize = 40;
/// The lanes of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LaneChart {
    /// What is drawn, for people.
    #[serde(skip)]
    pub about: String,
    /// The last tick.
    pub end: i64,
    /// Kinds of work, as blocks number them.
    pub kinds: Vec<String>,
    /// Names of steps, as blocks number them.
    pub steps: Vec<String>,
    /// The lanes.
    pub lanes: Vec<Lane>,
}

/// What some elements did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lane {
    /// Which ones.
    pub name: String,
    /// In sequence: first tick, the tick after the last, kind, step, number of spans.
    pub blocks: Vec<(i64, i64, usize, usize, usize)>,
}

/// A block of a lane before steps have numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Block<'s> {
    start: i64,
    end: i64,
    kind: &'s str,
    step: &'s str,
    spans: usize,
    /// Of the time, the ticks of `kind` and `step`.
    own: i64,
}

impl LaneChart {
    /// The timeline of spans of a run of `time` ticks; `truncated` if there were more spans. `None`
    /// if there are none.
    pub fn new(spans: &[TimelineSpan], time: i64, truncated: bool) -> Option<LaneChart> {
        let mut tracks = tracks(spans);
        let mut last = spans.iter().map(|s| s.end).max()?;
        if truncated {
            last = cut(&mut tracks, last);
        }
        let end = if truncated { last } else { last.max(time) }.max(1);
        let blocks: usize = tracks.values().map(Vec::len).sum();
        let coarse = (blocks > FEW).then(|| end / PARTS + 1);
        let mut alike: IndexMap<Vec<Block<'_>>, Vec<Track<'_>>> = IndexMap::new();
        for (track, blocks) in tracks {
            let blocks = coarse.map_or_else(|| blocks.clone(), |least| merged(&blocks, least));
            alike.entry(blocks).or_default().push(track);
        }
        let (mut kinds, mut steps) = (IndexSet::new(), IndexSet::new());
        let drawn = alike.iter().take(MAX_LANES).map(|(blocks, tracks)| Lane {
            name: named(tracks),
            blocks: blocks
                .iter()
                .map(|b| {
                    let (kind, step) = (kinds.insert_full(b.kind).0, steps.insert_full(b.step).0);
                    (b.start, b.end, kind, step, b.spans)
                })
                .collect(),
        });
        let lanes: Vec<Lane> = drawn.collect();
        let texts = |set: IndexSet<&str>| set.into_iter().map(str::to_owned).collect();
        Some(LaneChart {
            about: about(&alike, spans.len(), (end, time), truncated, coarse),
            end,
            kinds: texts(kinds),
            steps: texts(steps),
            lanes,
        })
    }
}

/// An element: its unit and its own name.
type Track<'s> = (&'s str, &'s str);

/// The blocks of each unit's elements, in order; equal steps that touch are one.
fn tracks(spans: &[TimelineSpan]) -> IndexMap<Track<'_>, Vec<Block<'_>>> {
    let mut tracks: IndexMap<Track<'_>, Vec<Block<'_>>> = IndexMap::new();
    for span in spans {
        tracks.entry((&span.process, &span.thread)).or_default().push(Block {
            start: span.start,
            end: span.end,
            kind: &span.category,
            step: &span.name,
            spans: 1,
            own: span.end - span.start,
        });
    }
    tracks.sort_by_key(|(unit, element), _| (number(unit), number(element)));
    for blocks in tracks.values_mut() {
        blocks.sort_by_key(|b| (b.start, b.end));
        let same =
            |a: &Block<'_>, b: &Block<'_>| a.end == b.start && (a.kind, a.step) == (b.kind, b.step);
        *blocks = folded(blocks.drain(..), same);
    }
    tracks
}

/// Where spans are missing, ends all elements where the last block of the first one to end begins,
/// unless that is less than half of the rest: what was recorded of the others beyond that would
/// look like something that only they do. Returns the last tick.
fn cut(tracks: &mut IndexMap<Track<'_>, Vec<Block<'_>>>, last: i64) -> i64 {
    let ends = tracks.values().filter_map(|blocks| blocks.last().map(|b| b.start));
    let Some(first) = ends.min().filter(|first| *first > last / 2) else { return last };
    for blocks in tracks.values_mut() {
        blocks.retain(|b| b.start < first);
        blocks.iter_mut().for_each(|b| b.end = b.end.min(first));
    }
    first
}

/// The blocks, those shorter than `least` ticks joined with what follows.
fn merged<'s>(blocks: &[Block<'s>], least: i64) -> Vec<Block<'s>> {
    let short = |b: &Block<'_>| b.end - b.start < least;
    // Within one window of the run, so that what is idle for long stays visible.
    let window = |b: &Block<'_>| b.start / least;
    folded(blocks.iter().cloned(), |a, b| {
        short(b) && b.end - a.start <= 2 * least && window(a) == window(b)
    })
}

/// The blocks, neighbours joined where `one` states that they are one.
fn folded<'s>(
    blocks: impl Iterator<Item = Block<'s>>,
    one: impl Fn(&Block<'s>, &Block<'s>) -> bool,
) -> Vec<Block<'s>> {
    let mut all: Vec<Block<'s>> = Vec::new();
    for block in blocks {
        match all.last_mut() {
            Some(last) if one(last, &block) => *last = joined(last, &block),
            _ => all.push(block),
        }
    }
    all
}

/// Two blocks as one, with the kind and step of the one that took longer.
fn joined<'s>(a: &Block<'s>, b: &Block<'s>) -> Block<'s> {
    let same = (a.kind, a.step) == (b.kind, b.step);
    let longer = if b.own > a.own { b } else { a };
    Block {
        start: a.start,
        end: b.end,
        kind: longer.kind,
        step: longer.step,
        spans: a.spans + b.spans,
        own: if same { a.own + b.own } else { longer.own },
    }
}

/// The number that a name ends with.
fn number(name: &str) -> u64 {
    name.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// What a track is of, `element` or `dispatcher`.
pub(super) fn kind(track: &str) -> &str {
    track.split(' ').next().unwrap_or_default()
}

/// What elements that do the same are called together.
fn named(tracks: &[Track<'_>]) -> String {
    let mut units: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (unit, element) in tracks {
        units.entry(number(unit)).or_default().push(number(element));
    }
    let (unit, element) = tracks.first().copied().unwrap_or_default();
    // Those of warps have two numbers: `warp 1 of group 3`.
    if tracks.len() == 1 {
        return format!("{unit}, {element}");
    }
    let each: Vec<u64> = units.keys().copied().collect();
    match units.values().all_equal_value() {
        Ok(elements) if !element.contains(" of ") => {
            format!("{}, {}", range(kind(unit), &each), range(kind(element), elements))
        }
        _ => {
            format!(
                "{unit}, {element}, and {} others",
                numbers_grouped(&(tracks.len() - 1).to_string())
            )
        }
    }
}

/// Things of one kind with their numbers, which increase.
fn range(word: &str, numbers: &[u64]) -> String {
    let (first, last) = (numbers.first().unwrap_or(&0), numbers.last().unwrap_or(&0));
    match numbers.len() {
        1 => format!("{word} {first}"),
        n if last - first + 1 == n as u64 => format!("{word}s {first} to {last}"),
        ..=4 => format!("{word}s {}", numbers.iter().join(", ")),
        n => format!("{n} {word}s of {first} to {last}"),
    }
}

fn about(
    alike: &IndexMap<Vec<Block<'_>>, Vec<Track<'_>>>,
    spans: usize,
    (end, time): (i64, i64),
    truncated: bool,
    coarse: Option<i64>,
) -> String {
    let elements: usize = alike.values().map(Vec::len).sum();
    let track = alike.values().flatten().next();
    let kind = track.map_or("element", |(_, element)| kind(element));
    let mut text =
        format!("The run of the best configuration, {time} ticks; {elements} {kind}s work");
    if alike.len() < elements {
        text += ", and those that do the same at the same time share a lane";
    }
    if alike.len() > MAX_LANES {
        text += &format!("; the first {MAX_LANES} of {} lanes", alike.len());
    }
    text += ".";
    if truncated {
        text += &format!(
            " Only the first {spans} spans that the simulator recorded are here, up to tick {end}."
        );
    }
    if let Some(least) = coarse {
        text += &format!(
            " What is shorter than {least} ticks is drawn with its neighbours, as the longest of \
             them."
        );
    }
    numbers_grouped(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(unit: i64, element: i64, name: &str, start: i64, end: i64) -> TimelineSpan {
        TimelineSpan {
            process: format!("unit {unit}"),
            thread: format!("element {element}"),
            name: name.into(),
            category: name.split(' ').next().unwrap_or_default().into(),
            start,
            end,
            args: Vec::new(),
        }
    }

    #[test]
    fn elements_that_do_the_same_share_a_lane() {
        let mut spans = Vec::new();
        for (unit, element) in [(0, 0), (0, 1), (1, 0), (1, 1), (10, 0), (10, 1)] {
            spans.push(span(unit, element, "global a", 0, 4));
            spans.push(span(unit, element, "global a", 4, 8));
            spans.push(span(unit, element, "barrier", 8, 9));
        }
        spans.push(span(2, 0, "global a", 1, 9));
        let lanes = LaneChart::new(&spans, 9, false).unwrap();
        let names: Vec<&str> = lanes.lanes.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["units 0, 1, 10, elements 0 to 1", "unit 2, element 0"]);
        assert_eq!(lanes.lanes[0].blocks, [(0, 8, 0, 0, 2), (8, 9, 1, 1, 1)]);
        assert!(lanes.about.contains("7 elements work, and those"), "{}", lanes.about);
        spans.iter_mut().for_each(|s| s.thread = s.thread.replace("element", "dispatcher"));
        let lanes = LaneChart::new(&spans, 9, false).unwrap();
        assert!(lanes.about.contains("7 dispatchers work, and those"), "{}", lanes.about);
        assert_eq!((lanes.kinds.len(), lanes.end), (2, 9));
        assert_eq!(LaneChart::new(&[], 0, false), None);
    }

    #[test]
    fn long_runs_are_drawn_coarsely() {
        // The second element's were not all recorded.
        let steps = [(0, 20_000), (1, 19_900)].into_iter().flat_map(|(element, steps)| {
            (0..steps).flat_map(move |i| {
                [
                    span(0, element, "global a", i * 10, i * 10 + 7),
                    span(0, element, "compute b", i * 10 + 7, i * 10 + 10),
                ]
            })
        });
        let spans: Vec<TimelineSpan> = steps.collect();
        let lanes = LaneChart::new(&spans, 200_000, true).unwrap();
        assert_eq!((lanes.lanes.len(), lanes.end), (1, 198_997));
        assert_eq!(lanes.lanes[0].name, "unit 0, elements 0 to 1");
        let blocks = &lanes.lanes[0].blocks;
        assert!((400..=1700).contains(&blocks.len()), "{}", blocks.len());
        assert_eq!(blocks.iter().map(|b| b.4).sum::<usize>(), 39_799);
        assert_eq!(blocks.iter().map(|b| b.1 - b.0).sum::<i64>(), 198_997);
        assert!(blocks.iter().all(|b| lanes.kinds[b.2] == "global"));
        assert!(lanes.about.contains("79,800 spans"), "{}", lanes.about);
    }
}
