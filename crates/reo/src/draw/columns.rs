//! Boxes in columns, and lines between them that meet no box.
//!
//! A link that passes columns gets a place in each. Boxes and places of one column have no height
//! in common; a line is horizontal within a column, at a height of its own box or place, and bends
//! only between columns. So no line meets a box but those it joins.
//!
//! Columns are ordered by barycentres (Sugiyama, Tagawa, Toda, *Methods for visual understanding of
//! hierarchical system structures*, 1981). Heights are means of those of the neighbours, by
//! isotonic regression (pooling adjacent violators).

use super::picture::{PicturePoint, Piece, at};

/// A box to be placed.
#[derive(Debug, Clone)]
pub(super) struct Vertex {
    pub column: usize,
    pub width: f64,
    /// How far it reaches above and below the height at which lines join it.
    pub above: f64,
    pub below: f64,
    /// How far apart lines are that join it from one side.
    pub gap: f64,
}

/// A line: it starts at the border of one box and ends at that of another.
#[derive(Debug, Clone)]
pub(super) struct Route {
    pub start: PicturePoint,
    pub pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) struct Placed {
    /// For each box the middle of its width at the height at which lines join it.
    pub places: Vec<PicturePoint>,
    /// For each link its line, from the first to the second of its boxes.
    pub routes: Vec<Route>,
    pub width: f64,
    pub height: f64,
    /// From the left.
    pub columns: Vec<PlacedColumn>,
}

/// A column: its right border, the heights from which to which it reaches, and those at which lines
/// go on to the next column, from the top.
#[derive(Debug)]
pub(super) struct PlacedColumn {
    pub right: f64,
    pub y: (f64, f64),
    pub lines: Vec<f64>,
}

/// Pixels between boxes of a column, around a line that passes a column, and around everything.
const APART: f64 = 12.0;
const PASSING: f64 = 4.0;
const MARGIN: f64 = 10.0;
/// Pixels between columns: at least, and at most where lines go far up or down.
const BETWEEN: (f64, f64) = (26.0, 84.0);
/// Rounds in which columns are ordered, and in which heights are found.
const ORDERINGS: usize = 24;
const HEIGHTS: usize = 24;

impl Route {
    pub fn end(&self) -> PicturePoint {
        match self.pieces.last() {
            Some(Piece::Line(p) | Piece::Curve(_, _, p)) => *p,
            None => self.start,
        }
    }

    fn reversed(&self) -> Route {
        let mut from = self.start;
        let mut back = Vec::new();
        for piece in &self.pieces {
            let (turned, end) = match piece {
                Piece::Line(end) => (Piece::Line(from), *end),
                Piece::Curve(a, b, end) => (Piece::Curve(*b, *a, from), *end),
            };
            back.push(turned);
            from = end;
        }
        back.reverse();
        Route { start: from, pieces: back }
    }
}

/// Places boxes and links; the boxes of a link are in different columns.
pub(super) fn place(boxes: &[Vertex], links: &[[usize; 2]]) -> Placed {
    let mut work = Work::new(boxes, links);
    work.order();
    work.heights();
    work.straighten();
    work.done(boxes, links)
}

/// Boxes and the places where links pass columns, all called cells.
struct Work {
    cells: Vec<Vertex>,
    passing: Vec<bool>,
    /// For each link its cells from left to right.
    ways: Vec<Vec<usize>>,
    /// For each cell those it is joined to on the left and on the right, once for each link.
    sides: [Vec<Vec<usize>>; 2],
    /// The cells of each column from the top, and for each cell its place there.
    columns: Vec<Vec<usize>>,
    rank: Vec<usize>,
    y: Vec<f64>,
}

impl Work {
    fn new(boxes: &[Vertex], links: &[[usize; 2]]) -> Work {
        let mut cells = boxes.to_vec();
        let mut ways = Vec::new();
        for link in links {
            let [left, right] = in_order(boxes, *link);
            let mut way = vec![left];
            for column in boxes[left].column + 1..boxes[right].column {
                way.push(cells.len());
                cells.push(Vertex { column, width: 0.0, above: PASSING, below: PASSING, gap: 0.0 });
            }
            way.push(right);
            ways.push(way);
        }
        let passing = (0..cells.len()).map(|k| k >= boxes.len()).collect();
        let mut sides = [vec![Vec::new(); cells.len()], vec![Vec::new(); cells.len()]];
        for pair in ways.iter().flat_map(|way| way.windows(2)) {
            sides[1][pair[0]].push(pair[1]);
            sides[0][pair[1]].push(pair[0]);
        }
        let columns = vec![Vec::new(); cells.iter().map(|c| c.column + 1).max().unwrap_or(0)];
        let (rank, y) = (vec![0; cells.len()], vec![0.0; cells.len()]);
        Work { cells, passing, ways, sides, columns, rank, y }
    }

    /// Finds an order of each column, with few crossings.
    fn order(&mut self) {
        // What hangs together begins together.
        let mut seen = vec![false; self.cells.len()];
        for start in 0..self.cells.len() {
            let mut open = vec![start];
            while let Some(cell) = open.pop() {
                if !std::mem::replace(&mut seen[cell], true) {
                    self.columns[self.cells[cell].column].push(cell);
                    open.extend(self.sides.iter().flat_map(|side| side[cell].iter().rev()));
                }
            }
        }
        let mut ranks = vec![0; self.cells.len()];
        self.columns.iter().for_each(|column| number(column, &mut ranks));
        let mut best = (self.crossings(&ranks), self.columns.clone());
        for round in 0..ORDERINGS {
            let side = round % 2;
            let count = self.columns.len();
            for k in 1..count {
                self.sort(if side == 0 { k } else { count - 1 - k }, side, &mut ranks);
            }
            let crossings = self.crossings(&ranks);
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
        self.columns.iter().for_each(|column| number(column, &mut ranks));
        self.rank = ranks;
    }

    /// Sorts a column by the mean `ranks`, places in columns, of neighbours on one side.
    fn sort(&mut self, column: usize, side: usize, ranks: &mut [usize]) {
        let key = |cell: usize| {
            let near = &self.sides[side][cell];
            let sum: usize = near.iter().map(|n| ranks[*n]).sum();
            if near.is_empty() { ranks[cell] as f64 } else { sum as f64 / near.len() as f64 }
        };
        let mut keyed: Vec<(f64, usize)> =
            self.columns[column].iter().map(|cell| (key(*cell), *cell)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.columns[column] = keyed.into_iter().map(|(_, cell)| cell).collect();
        number(&self.columns[column], ranks);
    }

    /// How many pairs of lines cross between two columns.
    fn crossings(&self, ranks: &[usize]) -> usize {
        let crossings = |column: &Vec<usize>| {
            let ends = |cell: &usize| {
                let mut ends: Vec<usize> = self.sides[1][*cell].iter().map(|n| ranks[*n]).collect();
                ends.sort_unstable();
                ends
            };
            inversions(&mut column.iter().flat_map(ends).collect::<Vec<usize>>())
        };
        self.columns.iter().map(crossings).sum()
    }

    fn heights(&mut self) {
        for column in self.columns.clone() {
            self.settle(&column, |_| Some(0.0));
        }
        let count = self.columns.len();
        for round in 0..HEIGHTS {
            let side = round % 2;
            for k in 0..count {
                let column = self.columns[if side == 0 { k } else { count - 1 - k }].clone();
                let y = self.y.clone();
                let both = round + 6 >= HEIGHTS;
                let near = |cell: usize| {
                    let sides = self.sides.iter().enumerate();
                    let sides = sides.filter(|(s, _)| both || *s == side);
                    let all: Vec<f64> =
                        sides.flat_map(|(_, all)| &all[cell]).map(|n| y[*n]).collect();
                    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
                };
                let wanted: Vec<Option<f64>> = column.iter().map(|c| near(*c)).collect();
                let mut wanted = wanted.into_iter();
                self.settle(&column, |_| wanted.next().flatten());
            }
        }
    }

    /// Straightens lines where there is room: runs of cells with one line on each side.
    fn straighten(&mut self) {
        let single = |work: &Work, cell: usize| work.sides.iter().all(|side| side[cell].len() == 1);
        for start in 0..self.cells.len() {
            // A run starts where the cell before is none of its kind.
            let before = self.sides[0][start].first();
            if !single(self, start) || before.is_some_and(|b| single(self, *b)) {
                continue;
            }
            let mut run: Vec<usize> = Vec::new();
            let mut room = (f64::NEG_INFINITY, f64::INFINITY);
            let mut next = Some(start);
            while let Some(cell) = next {
                let own = self.room(cell);
                let both = (room.0.max(own.0), room.1.min(own.1));
                if both.0 <= both.1 {
                    room = both;
                } else {
                    self.level(&run, room);
                    run.clear();
                    room = self.room(cell);
                }
                run.push(cell);
                next = self.sides[1][cell].first().copied().filter(|cell| single(self, *cell));
            }
            self.level(&run, room);
        }
    }

    /// Gives the cells of a run one height within `room`.
    fn level(&mut self, run: &[usize], room: (f64, f64)) {
        let Some(last) = run.last() else { return };
        // That of a neighbour at an end, if possible: then the line goes on straight there too.
        let ends = [self.sides[0][run[0]].first(), self.sides[1][*last].first()];
        let near: Vec<f64> = ends.into_iter().flatten().map(|cell| self.y[*cell]).collect();
        let inside = near.iter().copied().find(|y| (room.0..=room.1).contains(y));
        let mean = run.iter().map(|cell| self.y[*cell]).sum::<f64>() / run.len() as f64;
        let height = inside.unwrap_or(mean).clamp(room.0, room.1);
        run.iter().for_each(|cell| self.y[*cell] = height);
    }

    /// The heights that a cell may have where its neighbours in the column stay.
    fn room(&self, cell: usize) -> (f64, f64) {
        let column = &self.columns[self.cells[cell].column];
        let at = self.rank[cell];
        let least = at
            .checked_sub(1)
            .map_or(f64::NEG_INFINITY, |k| self.y[column[k]] + self.apart(column[k], cell));
        let most = column.get(at + 1).map_or(f64::INFINITY, |k| self.y[*k] - self.apart(cell, *k));
        (least, most.max(least))
    }

    /// The least distance between two cells of which the second follows below the first.
    fn apart(&self, above: usize, below: usize) -> f64 {
        let slim = self.passing[above] && self.passing[below];
        let apart = if slim { PASSING } else { APART };
        self.cells[above].below + apart + self.cells[below].above
    }

    /// Gives the cells of a column the heights nearest to those wanted, in their order.
    fn settle(&mut self, column: &[usize], mut wanted: impl FnMut(usize) -> Option<f64>) {
        // Heights less the least distances to the first cell only have to grow.
        let mut offset = 0.0;
        let mut offsets = Vec::new();
        // Weight, mean and length of each run of cells that stand as close as they may.
        let mut runs: Vec<(f64, f64, usize)> = Vec::new();
        for (k, cell) in column.iter().enumerate() {
            if let Some(before) = k.checked_sub(1).map(|k| column[k]) {
                offset += self.apart(before, *cell);
            }
            offsets.push(offset);
            let goal = wanted(*cell).unwrap_or(self.y[*cell]) - offset;
            let mut run = (if self.passing[*cell] { 4.0 } else { 1.0 }, goal, 1);
            while let Some(last) = runs.pop() {
                if last.1 <= run.1 {
                    runs.push(last);
                    break;
                }
                let weight = last.0 + run.0;
                run = (weight, (last.0 * last.1 + run.0 * run.1) / weight, last.2 + run.2);
            }
            runs.push(run);
        }
        let heights = runs.iter().flat_map(|(_, mean, length)| std::iter::repeat_n(*mean, *length));
        for ((cell, height), offset) in column.iter().zip(heights).zip(offsets) {
            self.y[*cell] = height + offset;
        }
    }

    fn done(mut self, boxes: &[Vertex], links: &[[usize; 2]]) -> Placed {
        let top = |k: usize| self.y[k] - self.cells[k].above;
        let least = (0..self.cells.len()).map(top).fold(f64::INFINITY, f64::min);
        // Whole pixels keep lines sharp and the text of a drawing the same everywhere.
        self.y.iter_mut().for_each(|y| *y = (*y - least + MARGIN).round());
        let low = |k: usize| self.y[k] + self.cells[k].below;
        let height = (0..self.cells.len()).map(low).fold(0.0, f64::max) + MARGIN;
        let ports = self.ports();
        let spans = self.spans(&ports);
        let place = |(of, y): (&Vertex, &f64)| {
            let (left, right) = spans[of.column];
            at(f64::midpoint(left, right), *y)
        };
        let places: Vec<PicturePoint> = boxes.iter().zip(&self.y).map(place).collect();
        let width = spans.last().map_or(0.0, |(_, right)| *right) + MARGIN;
        let route = |(k, link): (usize, &[usize; 2])| {
            let [left, right] = in_order(boxes, *link);
            let route = self.route(k, &ports, &spans, [&places[left], &places[right]]);
            if link[0] == left { route } else { route.reversed() }
        };
        let routes = links.iter().enumerate().map(route).collect();
        let columns = self.placed_columns(&ports, &spans);
        Placed { places, routes, width, height, columns }
    }

    fn placed_columns(&self, ports: &[Vec<[f64; 2]>], spans: &[(f64, f64)]) -> Vec<PlacedColumn> {
        let column = |(cells, (_, right)): (&Vec<usize>, &(f64, f64))| {
            let low = cells.iter().map(|c| self.y[*c] - self.cells[*c].above);
            let high = cells.iter().map(|c| self.y[*c] + self.cells[*c].below);
            let y = (low.fold(f64::INFINITY, f64::min), high.fold(0.0, f64::max));
            PlacedColumn { right: *right, y, lines: Vec::new() }
        };
        let mut columns: Vec<PlacedColumn> = self.columns.iter().zip(spans).map(column).collect();
        for (way, ports) in self.ways.iter().zip(ports) {
            for (cell, [from, _]) in way.iter().zip(ports) {
                columns[self.cells[*cell].column].lines.push(*from);
            }
        }
        columns.iter_mut().for_each(|column| column.lines.sort_by(f64::total_cmp));
        columns
    }

    /// For each part of each link the heights at which it leaves and reaches its cells.
    fn ports(&self) -> Vec<Vec<[f64; 2]>> {
        // For each side of each cell: the other cell, the link, its part.
        let mut ends = [vec![Vec::new(); self.cells.len()], vec![Vec::new(); self.cells.len()]];
        for (link, way) in self.ways.iter().enumerate() {
            for (part, pair) in way.windows(2).enumerate() {
                ends[1][pair[0]].push((pair[1], link, part));
                ends[0][pair[1]].push((pair[0], link, part));
            }
        }
        let parts = |way: &Vec<usize>| vec![[0.0; 2]; way.len() - 1];
        let mut ports: Vec<Vec<[f64; 2]>> = self.ways.iter().map(parts).collect();
        for (side, cells) in ends.iter_mut().enumerate() {
            for (cell, ends) in cells.iter_mut().enumerate() {
                ends.sort_by(|a, b| self.y[a.0].total_cmp(&self.y[b.0]).then(a.1.cmp(&b.1)));
                let middle = (ends.len() as f64 - 1.0) / 2.0;
                for (k, (_, link, part)) in ends.iter().enumerate() {
                    let y = self.y[cell] + (k as f64 - middle) * self.cells[cell].gap;
                    ports[*link][*part][1 - side] = y;
                }
            }
        }
        ports
    }

    /// Left and right border of each column.
    fn spans(&self, ports: &[Vec<[f64; 2]>]) -> Vec<(f64, f64)> {
        let mut steep = vec![0.0f64; self.columns.len()];
        for (way, ports) in self.ways.iter().zip(ports) {
            for (cell, [from, to]) in way.iter().zip(ports) {
                let column = self.cells[*cell].column;
                steep[column] = steep[column].max((from - to).abs());
            }
        }
        let mut x = MARGIN;
        let mut spans = Vec::new();
        for (column, steep) in self.columns.iter().zip(steep) {
            let width = column.iter().map(|c| self.cells[*c].width).fold(0.0, f64::max).ceil();
            spans.push((x, x + width));
            x += width + (BETWEEN.0 + steep * 0.3).min(BETWEEN.1).round();
        }
        spans
    }

    /// The line of a link, from left to right.
    fn route(
        &self,
        link: usize,
        ports: &[Vec<[f64; 2]>],
        spans: &[(f64, f64)],
        places: [&PicturePoint; 2],
    ) -> Route {
        let way = &self.ways[link];
        let column = |cell: usize| spans[self.cells[cell].column];
        let half = |cell: usize| self.cells[cell].width / 2.0;
        let (first, last) = (way[0], way[way.len() - 1]);
        let start = at(places[0].x + half(first), ports[link][0][0]);
        let mut pieces = Vec::new();
        for (pair, [from, to]) in way.windows(2).zip(&ports[link]) {
            let (left, right) = (column(pair[0]).1, column(pair[1]).0);
            let middle = f64::midpoint(left, right);
            pieces.push(Piece::Line(at(left, *from)));
            pieces.push(Piece::Curve(at(middle, *from), at(middle, *to), at(right, *to)));
        }
        let end = ports[link].last().map_or(0.0, |p| p[1]);
        pieces.push(Piece::Line(at(places[1].x - half(last), end)));
        Route { start, pieces }
    }
}

/// Notes the place of each cell of a column.
pub(super) fn number(column: &[usize], ranks: &mut [usize]) {
    column.iter().enumerate().for_each(|(rank, cell)| ranks[*cell] = rank);
}

/// How many pairs are in the wrong order; sorts them.
fn inversions(all: &mut [usize]) -> usize {
    if all.len() < 2 {
        return 0;
    }
    let (left, right) = all.split_at_mut(all.len() / 2);
    let mut count = inversions(left) + inversions(right);
    let mut begin = 0;
    for end in right.iter() {
        begin += left[begin..].iter().take_while(|l| *l <= end).count();
        count += left.len() - begin;
    }
    all.sort_unstable();
    count
}

/// The boxes of a link, the left one first.
fn in_order(boxes: &[Vertex], [a, b]: [usize; 2]) -> [usize; 2] {
    if boxes[a].column < boxes[b].column { [a, b] } else { [b, a] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slim(column: usize) -> Vertex {
        Vertex { column, width: 10.0, above: 5.0, below: 5.0, gap: 4.0 }
    }

    #[test]
    fn an_order_without_crossings_is_found() {
        let boxes: Vec<Vertex> = [0, 0, 0, 1, 1, 1].map(slim).to_vec();
        let links = [[0, 5], [1, 4], [2, 3]];
        let placed = place(&boxes, &links);
        let y = |k: usize| placed.places[k].y;
        assert_eq!([y(0), y(1), y(2)], [y(5), y(4), y(3)]);
    }

    #[test]
    fn a_link_that_passes_a_column_meets_no_box_of_it() {
        let boxes: Vec<Vertex> = [0, 1, 2].map(slim).to_vec();
        let placed = place(&boxes, &[[0, 1], [1, 2], [2, 0]]);
        // From the right to the left, as the link goes.
        let (left, right) = (placed.places[0].x + 5.0, placed.places[2].x - 5.0);
        assert_eq!((placed.routes[2].start.x, placed.routes[2].end().x), (right, left));
        let passing = placed.routes[2].pieces.iter().filter_map(|piece| match piece {
            Piece::Curve(_, _, p) => Some(p.y),
            Piece::Line(_) => None,
        });
        let height = passing.clone().next().unwrap();
        assert!((height - placed.places[1].y).abs() >= 5.0 + 4.0, "{placed:?}");
    }

    #[test]
    fn nothing_is_placed_nowhere() {
        let placed = place(&[], &[]);
        assert!(placed.places.is_empty() && placed.routes.is_empty());
        assert!(placed.width.is_finite() && placed.height.is_finite());
    }
}
