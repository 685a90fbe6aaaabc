//! An automaton: states in columns by their distance from the start, labels of steps between.

use super::circuit::{drawn, lean};
use super::columns::{Vertex, place};
use super::picture::{GraphPicture, PictureItem, PicturePoint, Shape, head, line, text};
use super::rows;
use super::words::{Brief, label, short, size, wrapped};
use crate::automaton::{Automaton, Transition};
use crate::symbol::Symbols;

/// Pixels: the radius of a state, where lines begin to lean, between lines that meet there.
const STATE: f64 = 17.0;
const LEAN: f64 = 16.0;
const GAP: f64 = 9.0;
/// Around what stands at a step, between the lines of one that turns back.
const PADDING: f64 = 4.0;
const TURN: f64 = 11.0;
/// The arrow above an initial state.
const BEGIN: f64 = 15.0;

/// An automaton as states and steps; an arrow from above marks initial states. Steps of which there
/// are several between two states stand apart.
///
/// Items are called `s0`, `s1` and so on, the steps `t0`, `t1` in their order. What is wider than
/// `width` pixels is drawn in several rows.
pub fn automaton(automaton: &Automaton, symbols: &Symbols, width: Option<f64>) -> GraphPicture {
    let steps: Vec<Transition<'_>> = automaton.all_steps().collect();
    let words = |symbol| symbols.word(symbol);
    let names = automaton.alphabet().iter().map(|name| words(name.0));
    let brief = Brief(names.chain(automaton.cells().iter().map(|cell| words(cell.0))).collect());
    let labels: Vec<Vec<String>> =
        steps.iter().map(|step| lines(automaton, symbols, step, &brief)).collect();
    let states = automaton.states();
    let (boxes, links) = boxes(automaton, &steps, &labels);
    let placed = place(&boxes, &links);
    let mut items = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        let middle = placed.places[states + k];
        let (before, after) = (&placed.routes[2 * k], &placed.routes[2 * k + 1]);
        let ends = |state: u32, border: PicturePoint| {
            lean(placed.places[state as usize], border, STATE, LEAN)
        };
        let [bend, edge] = ends(step.from, before.start);
        let mut shapes = drawn(&[edge, bend], before, &[], false, false);
        shapes.extend(drawn(&[], after, &ends(step.to, after.end()), false, true));
        let (w, h) = (boxes[states + k].width, 2.0 * boxes[states + k].above);
        shapes.push(Shape::Shade(middle.by(-w / 2.0, -h / 2.0), w, h));
        shapes.push(text(middle, &labels[k]));
        let title = title(automaton, symbols, step);
        items.push(PictureItem { key: format!("t{k}"), title, shapes });
    }
    let state = |state: usize| shown(automaton, state, placed.places[state]);
    items.extend((0..states).map(state));
    rows::picture(items, &placed, width)
}

/// Boxes around the states and then the labels of the steps, and the links between them.
fn boxes(
    automaton: &Automaton,
    steps: &[Transition],
    labels: &[Vec<String>],
) -> (Vec<Vertex>, Vec<[usize; 2]>) {
    let levels = levels(automaton);
    let states = automaton.states();
    let level = |state: u32| levels[state as usize];
    let mut joined = vec![[0usize; 2]; states];
    let mut columns = Vec::new();
    let mut links = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        let (from, to) = (level(step.from), level(step.to));
        // A way back is before the state that it leaves. Columns of states are odd.
        let column = if to < from { 2 * from } else { 2 * from + 2 };
        for state in [step.from, step.to] {
            joined[state as usize][usize::from(2 * level(state) + 1 < column)] += 1;
        }
        columns.push(column);
        links.push([step.from as usize, states + k]);
        links.push([states + k, step.to as usize]);
    }
    let circle = |state: usize| {
        let most = joined[state].into_iter().max().unwrap_or(0);
        let half = ((most as f64 - 1.0) / 2.0 * GAP).max(STATE) + 2.0;
        let begins = automaton.initial().contains(&(state as u32));
        let above = if begins { half.max(STATE + BEGIN + 2.0) } else { half };
        let (column, width) = (2 * levels[state] + 1, 2.0 * (STATE + LEAN));
        Vertex { column, width, above, below: half, gap: GAP }
    };
    let words = |(label, column): (&Vec<String>, usize)| {
        let (width, height) = size(label);
        let half = (height / 2.0).max(TURN / 2.0) + PADDING / 2.0;
        Vertex { column, width: width + 2.0 * PADDING, above: half, below: half, gap: TURN }
    };
    ((0..states).map(circle).chain(labels.iter().zip(columns).map(words)).collect(), links)
}

fn shown(automaton: &Automaton, state: usize, place: PicturePoint) -> PictureItem {
    let mut shapes =
        vec![Shape::Circle(place, STATE, false), text(place, &[short(&state.to_string(), 4)])];
    if automaton.initial().contains(&(state as u32)) {
        let (from, to) = (place.by(0.0, -STATE - BEGIN), place.by(0.0, -STATE));
        shapes.extend(line(&[from, to], false).into_iter().chain([head(from, to)]));
    }
    PictureItem { key: format!("s{state}"), title: format!("state {state}"), shapes }
}

/// What stands at a step: the names that fire, below them what has to hold of the data.
fn lines(
    automaton: &Automaton,
    symbols: &Symbols,
    step: &Transition,
    brief: &Brief,
) -> Vec<String> {
    let mut lines = Vec::new();
    let names = automaton.words_of(step, symbols);
    let names: Vec<String> = names.into_iter().map(|name| brief.text(name)).collect();
    match &names[..] {
        [] => lines.push("τ".to_owned()),
        _ => wrapped(&names, &mut lines),
    }
    let constraint = automaton.constraint(step).lines(symbols);
    lines.extend(constraint.iter().map(|line| brief.text(line)));
    label(lines)
}

fn title(automaton: &Automaton, symbols: &Symbols, step: &Transition) -> String {
    let constraint = automaton.constraint(step);
    let names = automaton.words_of(step, symbols).join(", ");
    let text = constraint.text(symbols);
    let condition = if constraint.is_true() { String::new() } else { format!(" {text}") };
    format!("{} {{{names}}}{condition} {}", step.from, step.to)
}

/// For each state its distance from the initial ones, or from the first state without one.
fn levels(automaton: &Automaton) -> Vec<usize> {
    let mut levels = vec![usize::MAX; automaton.states()];
    let mut starts = automaton.initial().to_vec();
    loop {
        let mut level = 0;
        while !starts.is_empty() {
            starts.retain(|state| {
                std::mem::replace(&mut levels[*state as usize], level) == usize::MAX
            });
            let next = starts.iter().flat_map(|state| automaton.steps(*state)).map(|step| step.to);
            let next: Vec<u32> = next.filter(|to| levels[*to as usize] == usize::MAX).collect();
            (starts, level) = (next, level + 1);
        }
        match levels.iter().position(|level| *level == usize::MAX) {
            Some(state) => starts.push(state as u32),
            None => return levels,
        }
    }
}
