//! A connector's circuit: its nodes in even columns, its channels in odd ones, data from left to
//! right where they do not go in circles.

use indexmap::IndexMap;
use thiserror::Error;

use super::columns::{Placed, Route, Vertex, number, place};
use super::picture::{GraphPicture, PictureItem, PicturePoint, Piece, Shape, at, head, text};
use super::rows;
use super::sign::{self, RING, Sign};
use super::words::{self, LINE, size};
use crate::components::components;
use crate::connector::{Channel, ChannelEnd, Connector};

/// Most channels and components that are readable, and most ends of all together.
pub const MAX_CHANNELS: usize = 300;
const MAX_ENDS: usize = 1_200;

/// Why a connector cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a drawing of {channels} channels with {ends} ends would not be readable (at most \
     {MAX_CHANNELS} and {MAX_ENDS}); draw a smaller size of it"
)]
pub struct Crowded {
    pub channels: usize,
    pub ends: usize,
}

/// Pixels: the radius of a node, where lines begin to lean, between lines that meet there.
const NODE: f64 = 5.0;
const LEAN: f64 = 18.0;
const NODE_GAP: f64 = 8.0;
/// Between lines at a component, around its word.
const PORT_GAP: f64 = 14.0;
const PADDING: f64 = 8.0;
/// The length of a straight channel; of one that turns back, before the turn and after it.
const STRAIGHT: f64 = 44.0;
const TURN: f64 = 16.0;
const TURNED: f64 = 48.0;
/// Half the width of all signs.
const SIGN: f64 = 9.0;
/// Most letters of a node's name.
const NAME: usize = 18;

/// The circuit of a connector as its text has it; parts that are automata are components.
///
/// Items are called `n0`, `n1` and so on in the order of `nodes`, and `c0`, `c1` in that of the
/// channels; the line of end 1 of channel 0 is `c0.1`. What is wider than `width` pixels is drawn
/// in several rows.
///
/// # Errors
/// More channels or ends than are readable.
pub fn circuit(connector: &Connector, width: Option<f64>) -> Result<GraphPicture, Crowded> {
    let channels = channels(connector);
    let ends = channels.iter().map(|c| c.ends.len()).sum();
    if channels.len() > MAX_CHANNELS || ends > MAX_ENDS {
        return Err(Crowded { channels: channels.len(), ends });
    }
    Ok(Plan::new(connector, &channels).draw(width))
}

/// What is drawn: the circuit, or a component for each part.
pub(super) fn channels(connector: &Connector) -> Vec<Channel> {
    if !connector.circuit.is_empty() {
        return connector.circuit.clone();
    }
    let symbols = &connector.symbols;
    let channel = |part: &crate::connector::ConnectorPart| {
        let names = part.automaton.alphabet().to_vec();
        let end = |name: &crate::symbol::NameId| ChannelEnd {
            node: symbols.word(name.0).to_owned(),
            writes: connector.written.contains(name),
        };
        let ends = names.iter().map(end).collect();
        Channel { kind: part.kind.clone(), ends, names, ..Channel::default() }
    };
    connector.parts.iter().map(channel).collect()
}

/// The nodes of a drawing by their names, numbered: those of the interface come first.
pub(super) fn nodes(connector: &Connector, channels: &[Channel]) -> IndexMap<String, bool> {
    let outer = connector.interface.iter().map(|n| connector.symbols.word(n.0).to_owned());
    let mut nodes: IndexMap<String, bool> = outer.map(|name| (name, true)).collect();
    for end in channels.iter().flat_map(|c| &c.ends) {
        nodes.entry(end.node.clone()).or_insert(false);
    }
    nodes
}

/// A circuit before it has places.
struct Plan<'a> {
    channels: &'a [Channel],
    signs: Vec<(Sign, Vec<String>)>,
    nodes: IndexMap<String, bool>,
    /// Nodes, then channels.
    boxes: Vec<Vertex>,
    /// For each end of each channel: from where data flow to where they do.
    links: Vec<[usize; 2]>,
}

impl<'a> Plan<'a> {
    fn new(connector: &Connector, channels: &'a [Channel]) -> Plan<'a> {
        let nodes = nodes(connector, channels);
        let signs = channels.iter().map(sign::of).collect();
        let ranks = ranks(&nodes, channels);
        let mut columns: Vec<i64> = ranks.iter().map(|rank| 2 * rank).collect();
        let numbers = |channel: &Channel, writes: bool| -> Vec<usize> {
            let ends = channel.ends.iter().filter(|e| e.writes == writes);
            ends.filter_map(|e| nodes.get_index_of(&e.node)).collect()
        };
        let middle = |channel| middle(&numbers(channel, false), &numbers(channel, true), &ranks);
        columns.extend(channels.iter().map(middle));
        let least = columns.iter().copied().min().unwrap_or(0);
        let links = channels.iter().enumerate().flat_map(|(k, channel)| {
            let number = |end: &ChannelEnd| nodes.get_index_of(&end.node).unwrap_or(0);
            let at = nodes.len() + k;
            let link = move |end: &ChannelEnd| match end.writes {
                true => [at, number(end)],
                false => [number(end), at],
            };
            channel.ends.iter().map(link).collect::<Vec<_>>()
        });
        let links: Vec<[usize; 2]> = links.collect();
        let mut plan = Plan { channels, signs, nodes: nodes.clone(), boxes: Vec::new(), links };
        let vertex = |k| plan.vertex(k, (columns[k] - least) as usize, &columns);
        plan.boxes = (0..columns.len()).map(vertex).collect();
        plan
    }

    /// The box of a node or channel.
    fn vertex(&self, k: usize, column: usize, columns: &[i64]) -> Vertex {
        let others = self.links.iter().filter_map(|[a, b]| match (*a == k, *b == k) {
            (true, _) => Some(*b),
            (_, true) => Some(*a),
            _ => None,
        });
        let left = others.clone().filter(|other| columns[*other] < columns[k]).count();
        let most = left.max(others.count() - left);
        let spread = |gap: f64| (most as f64 - 1.0).max(0.0) / 2.0 * gap;
        let Some(channel) = k.checked_sub(self.nodes.len()) else {
            let (width, height) = size(&self.name(k));
            let half = spread(NODE_GAP).max(NODE) + 2.0;
            let width = width.max(2.0 * (NODE + LEAN));
            return Vertex { column, width, above: half + height, below: half, gap: NODE_GAP };
        };
        let (sign, label) = &self.signs[channel];
        let (width, height) = size(label);
        match sign {
            Sign::Component => {
                let half = (height / 2.0 + PADDING / 2.0).max(spread(PORT_GAP) + PADDING);
                let width = width + 2.0 * PADDING;
                Vertex { column, width, above: half, below: half, gap: PORT_GAP }
            }
            Sign::Ring { .. } => {
                let half = spread(NODE_GAP).max(RING) + 2.0;
                let width = 2.0 * (RING + LEAN);
                Vertex { column, width, above: half, below: half, gap: NODE_GAP }
            }
            _ if left == 1 => {
                let width = width.max(STRAIGHT);
                Vertex { column, width, above: SIGN + height, below: SIGN, gap: TURNED }
            }
            _ => {
                let words = if label.is_empty() { 0.0 } else { width + 2.0 };
                let half = (TURNED / 2.0 + 2.0).max(height / 2.0);
                let width = TURN + SIGN + 2.0 + words;
                Vertex { column, width, above: half, below: half, gap: TURNED }
            }
        }
    }

    /// What stands at a node: its name without the components that it is in.
    fn name(&self, node: usize) -> Vec<String> {
        let name = self.nodes.get_index(node).map_or("", |(name, _)| name);
        let last = name.rsplit('/').next().unwrap_or(name);
        vec![words::short(last, NAME)]
    }

    fn draw(self, width: Option<f64>) -> GraphPicture {
        let placed = place(&self.boxes, &self.links);
        let mut items = Vec::new();
        let mut number = 0;
        for (k, channel) in self.channels.iter().enumerate() {
            let routes = &placed.routes[number..number + channel.ends.len()];
            number += channel.ends.len();
            items.extend(self.channel(k, &placed, routes));
        }
        items.extend((0..self.nodes.len()).map(|node| self.node(node, &placed)));
        rows::picture(items, &placed, width)
    }

    fn node(&self, node: usize, placed: &Placed) -> PictureItem {
        let (name, seen) = self.nodes.get_index(node).map_or(("", true), |(n, seen)| (n, *seen));
        let place = placed.places[node];
        let words = self.name(node);
        let up = self.boxes[node].above - LINE / 2.0;
        let shapes = vec![Shape::Circle(place, NODE, !seen), text(place.by(0.0, -up), &words)];
        PictureItem { key: format!("n{node}"), title: name.to_owned(), shapes }
    }

    /// A channel's lines, and its sign.
    fn channel(&self, k: usize, placed: &Placed, routes: &[Route]) -> Vec<PictureItem> {
        let channel = &self.channels[k];
        let (sign, label) = &self.signs[k];
        let vertex = self.nodes.len() + k;
        let site = Site::new(*sign, placed.places[vertex], &self.boxes[vertex], channel, routes);
        let title = match &channel.arguments[..] {
            [] => channel.kind.clone(),
            all => format!("{}<{}>", channel.kind, all.join(", ")),
        };
        let mut items = Vec::new();
        for (e, (end, route)) in channel.ends.iter().zip(routes).enumerate() {
            let node = self.nodes.get_index_of(&end.node).unwrap_or(0);
            let border = if end.writes { route.end() } else { route.start };
            let mut first = lean(placed.places[node], border, NODE, LEAN).to_vec();
            let mut last = site.joined(e, route);
            if end.writes {
                std::mem::swap(&mut first, &mut last);
            }
            first.reverse();
            let heads = end.writes || *sign == Sign::Component;
            let shapes = drawn(&first, route, &last, sign.dashed(e), heads);
            items.push(PictureItem { key: format!("c{k}.{e}"), title: title.clone(), shapes });
        }
        let mut shapes = sign.shapes(site.middle, site.flow);
        if *sign == Sign::Component {
            let Vertex { width, above, below, .. } = self.boxes[vertex];
            shapes.push(Shape::Box(site.middle.by(-width / 2.0, -above), width, above + below));
        }
        if !label.is_empty() {
            shapes.push(text(site.words(size(label)), label));
        }
        items.push(PictureItem { key: format!("c{k}"), title, shapes });
        items
    }
}

/// From the border of a round thing's box to the thing, bent `distance` pixels before it.
pub(super) fn lean(
    middle: PicturePoint,
    border: PicturePoint,
    radius: f64,
    distance: f64,
) -> [PicturePoint; 2] {
    let side = (border.x - middle.x).signum();
    let bend = at(middle.x + side * (radius + distance), border.y);
    let (dx, dy) = (bend.x - middle.x, bend.y - middle.y);
    let length = dx.hypot(dy).max(1e-9);
    [bend, middle.by(dx / length * radius, dy / length * radius)]
}

/// The line of a route with more points before and behind it, and a head at its end if it has one.
pub(super) fn drawn(
    first: &[PicturePoint],
    route: &Route,
    last: &[PicturePoint],
    dashed: bool,
    headed: bool,
) -> Vec<Shape> {
    let mut points = first.iter().copied().chain([route.start]);
    let start = points.next().unwrap_or(route.start);
    let pieces: Vec<Piece> = points
        .map(Piece::Line)
        .chain(route.pieces.iter().copied())
        .chain(last.iter().copied().map(Piece::Line))
        .collect();
    let before = match last {
        [.., before, _] => *before,
        [_] => route.end(),
        [] => match &route.pieces[..] {
            [front @ .., Piece::Line(_)] if !front.is_empty() => {
                Route { start, pieces: front.to_vec() }.end()
            }
            _ => route.start,
        },
    };
    let tip = last.last().copied().unwrap_or(route.end());
    let head = headed.then(|| head(before, tip));
    [Shape::Path { start, pieces, dashed }].into_iter().chain(head).collect()
}

/// Where a sign is, and which way data go through it.
struct Site {
    sign: Sign,
    middle: PicturePoint,
    flow: (f64, f64),
    /// Of a channel that turns back: the side from which both its lines come.
    turned: Option<f64>,
}

impl Site {
    fn new(
        sign: Sign,
        place: PicturePoint,
        vertex: &Vertex,
        channel: &Channel,
        routes: &[Route],
    ) -> Site {
        let straight = Site { sign, middle: place, flow: (1.0, 0.0), turned: None };
        let meet =
            |k: usize| if channel.ends[k].writes { routes[k].start } else { routes[k].end() };
        if !sign.is_inline() || channel.ends.len() != 2 {
            return straight;
        }
        let (first, second) = (meet(0), meet(1));
        let side = |point: PicturePoint| (point.x - place.x).signum();
        if side(first) != side(second) {
            return Site { flow: (-side(first), 0.0), ..straight };
        }
        let x = place.x + side(first) * (vertex.width / 2.0 - TURN);
        let flow = (0.0, (second.y - first.y).signum());
        Site { sign, middle: at(x, place.y), flow, turned: Some(side(first)) }
    }

    /// From the border of its box to the sign.
    fn joined(&self, end: usize, route: &Route) -> Vec<PicturePoint> {
        match self.sign {
            Sign::Component => return Vec::new(),
            Sign::Ring { .. } => {
                let near = |p: PicturePoint| (p.x - self.middle.x).abs();
                let border =
                    if near(route.start) < near(route.end()) { route.start } else { route.end() };
                return lean(self.middle, border, RING, LEAN).to_vec();
            }
            _ => {}
        }
        let away = if end == 0 { -self.sign.reach() } else { self.sign.reach() };
        let stop = self.middle.by(self.flow.0 * away, self.flow.1 * away);
        let way = if end == 0 { -TURNED / 2.0 } else { TURNED / 2.0 };
        let corner = self.middle.by(0.0, self.flow.1 * way);
        self.turned.map(|_| corner).into_iter().chain([stop]).collect()
    }

    /// The middle of the words beside a sign or in its box.
    fn words(&self, (width, height): (f64, f64)) -> PicturePoint {
        match (self.sign, self.turned) {
            (Sign::Component, _) => self.middle,
            (_, Some(side)) => self.middle.by(-side * (SIGN + 2.0 + width / 2.0), 0.0),
            _ => self.middle.by(0.0, -SIGN - height / 2.0),
        }
    }
}

/// The column of a channel between those of nodes: an odd number, where nodes have even ones.
fn middle(reads: &[usize], writes: &[usize], ranks: &[i64]) -> i64 {
    let least = |all: &[usize]| all.iter().map(|n| ranks[*n]).min();
    let most = |all: &[usize]| all.iter().map(|n| ranks[*n]).max();
    match (most(reads), least(writes)) {
        // A way back: half way.
        (Some(from), Some(to)) if from > to => 2 * (from + to).div_euclid(2) + 1,
        // A drain between two nodes stands right behind the first one.
        (Some(_), None) if reads.len() == 2 => 2 * least(reads).unwrap_or(0) + 1,
        (Some(from), _) => 2 * from + 1,
        (None, Some(to)) if writes.len() == 2 => 2 * to + 1,
        (None, Some(to)) => 2 * to - 1,
        (None, None) => 1,
    }
}

/// For each node the length of the longest way of data to it that does not go in circles.
fn ranks(nodes: &IndexMap<String, bool>, channels: &[Channel]) -> Vec<i64> {
    let of = |end: &ChannelEnd| nodes.get_index_of(&end.node).unwrap_or(0);
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut fed = vec![false; nodes.len()];
    for channel in channels {
        for from in channel.ends.iter().filter(|e| !e.writes).map(of) {
            for to in channel.ends.iter().filter(|e| e.writes).map(of) {
                next[from].push(to);
                fed[to] = true;
            }
        }
    }
    turn_rings(&mut next, &fed);
    let order = order(&next, &fed);
    let mut place = vec![0; nodes.len()];
    number(&order, &mut place);
    let mut ranks = vec![0i64; nodes.len()];
    for from in &order {
        for to in next[*from].iter().filter(|to| place[**to] > place[*from]) {
            ranks[*to] = ranks[*to].max(ranks[*from] + 1);
        }
    }
    // What nothing flows into stands near what it flows into, unless the environment writes there.
    for (node, outer) in nodes.values().enumerate() {
        if !fed[node]
            && !outer
            && let Some(least) = next[node].iter().map(|to| ranks[*to]).min()
        {
            ranks[node] = least - 1;
        }
    }
    beside_drains(&mut ranks, &next, &fed, channels, &of);
    ranks
}

/// The fewest nodes that are drawn as a ring.
const RING_NODES: usize = 4;

/// Turns the second half of each ring around, so that its columns go back to those of the first: a
/// component of the graph in which each node has one that follows it and one that it follows.
fn turn_rings(next: &mut [Vec<usize>], fed: &[bool]) {
    let onward = |node: u32| next[node as usize].iter().map(|to| *to as u32).collect();
    let (component, members) = components(next.len(), onward);
    let inside = |from: usize| {
        let is_own = |to: &&usize| component[**to] == component[from];
        next[from].iter().filter(is_own).copied().collect::<Vec<_>>()
    };
    let mut first = vec![usize::MAX; members.len()];
    for node in order(next, fed).into_iter().rev() {
        first[component[node] as usize] = node;
    }
    let mut turned = Vec::new();
    for (begin, members) in first.into_iter().zip(&members) {
        let mut ring = vec![begin];
        while let [to] = inside(ring[ring.len() - 1])[..]
            && to != begin
            && ring.len() < members.len()
        {
            ring.push(to);
        }
        if ring.len() == members.len()
            && ring.len() >= RING_NODES
            && inside(ring[ring.len() - 1]) == [begin]
        {
            let half = ring.len() / 2;
            ring.push(begin);
            turned.extend(ring[half..].windows(2).map(|pair| (pair[0], pair[1])));
        }
    }
    for (from, to) in turned {
        next[from].retain(|node| *node != to);
        next[to].push(from);
    }
}

/// Nodes that only drains and spouts join to others stand right before those.
fn beside_drains(
    ranks: &mut [i64],
    next: &[Vec<usize>],
    fed: &[bool],
    channels: &[Channel],
    number: &dyn Fn(&ChannelEnd) -> usize,
) {
    let alone = |node: usize| next[node].is_empty() && !fed[node];
    for channel in channels {
        if let [a, b] = &channel.ends[..]
            && a.writes == b.writes
        {
            match (number(a), number(b)) {
                (a, b) if alone(a) && !alone(b) => ranks[a] = ranks[b] - 1,
                (a, b) if alone(b) && !alone(a) => ranks[b] = ranks[a] - 1,
                _ => {}
            }
        }
    }
}

/// All nodes, each before those that follow it unless they follow in a circle.
fn order(next: &[Vec<usize>], fed: &[bool]) -> Vec<usize> {
    let starts = (0..next.len()).filter(|n| !fed[*n]).chain((0..next.len()).filter(|n| fed[*n]));
    let mut seen = vec![false; next.len()];
    let mut left = Vec::new();
    for start in starts {
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.pop() {
            if at == 0 && std::mem::replace(&mut seen[node], true) {
                continue;
            }
            match next[node].get(at) {
                Some(to) => {
                    path.push((node, at + 1));
                    path.push((*to, 0));
                }
                None => left.push(node),
            }
        }
    }
    left.reverse();
    left
}
