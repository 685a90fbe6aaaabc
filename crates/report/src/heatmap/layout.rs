//! Where everything in a heat map goes, in pixels, and which labels there is room for.

use super::map::HeatMap;

/// A horizontal text of `characters` characters is at most about this wide, in parts of its size.
/// Digits of the built-in font take 0.49; the rest is room for other fonts that show the SVG.
const CHARACTER_WIDTH: f64 = 0.54;

pub(super) const TITLE: i32 = 21;
pub(super) const AXIS_TITLE: i32 = 17;
pub(super) const TICK: i32 = 15;
pub(super) const MARGIN: i32 = 14;
pub(super) const BAR_WIDTH: i32 = 18;
const BAR_GAP: i32 = 26;
/// The colour bar stays readable beside a map of one row.
const LEAST_BAR: i32 = 150;

/// The geometry of one heat map. `left`, `top` is the upper left corner of the cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub size: (u32, u32),
    pub left: i32,
    pub top: i32,
    pub cell: (i32, i32),
    pub columns: i32,
    pub rows: i32,
    /// Text size of the times in the cells, if they fit.
    pub cell_text: Option<i32>,
    /// Every how many columns and rows an axis value is written.
    pub every: (usize, usize),
    pub bar_left: i32,
    pub bar_height: i32,
    /// Ticks on the colour bar, in increasing order of time.
    pub bar_ticks: Vec<i64>,
    /// Height at which the legend is written.
    pub legend: i32,
}

impl Layout {
    pub fn new(map: &HeatMap) -> Layout {
        let (columns, rows) = (count(map.x.values.len()), count(map.y.values.len()));
        let cell = ((880 / columns).clamp(2, 92), (600 / rows).clamp(2, 54));
        let grid = (cell.0 * columns, cell.1 * rows);

        let y_values = widest(map.y.values.iter().copied());
        let left = MARGIN + AXIS_TITLE + 12 + width(y_values, TICK);
        // The title has its own line above the caption of the colour bar.
        let top = MARGIN + TITLE + TICK + 24;
        let bar_left = left + grid.0 + BAR_GAP;
        let bar_height = grid.1.max(LEAST_BAR);
        let (least, greatest) = map.bounds().unwrap_or((0, 0));
        let bar_ticks = bar_ticks(least, greatest, bar_height);

        let bar_text = width(widest(bar_ticks.iter().copied()), TICK).max(width(12, TICK));
        let title = MARGIN * 2 + width(map.title.chars().count(), TITLE);
        let legend = top + bar_height.max(grid.1 + TICK + 8 + AXIS_TITLE + 8) + 20;
        let right = (bar_left + BAR_WIDTH + 10 + bar_text + MARGIN).max(title).max(420);
        Layout {
            size: (right.unsigned_abs(), (legend + MARGIN + 6).unsigned_abs()),
            left,
            top,
            cell,
            columns,
            rows,
            cell_text: cell_text(map, cell),
            every: (
                step(width(widest(map.x.values.iter().copied()), TICK) + 8, cell.0),
                step(TICK + 4, cell.1),
            ),
            bar_left,
            bar_height,
            bar_ticks,
            legend,
        }
    }

    /// Upper left corner of a cell; row 0 is at the bottom.
    pub fn corner(&self, column: usize, row: usize) -> (i32, i32) {
        let up = self.rows - 1 - count(row);
        (self.left + self.cell.0 * count(column), self.top + self.cell.1 * up)
    }
}

/// An index or count; never beyond [`super::map::MAX_VALUES`].
fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn widest(values: impl Iterator<Item = i64>) -> usize {
    values.map(|v| v.to_string().len()).max().unwrap_or(1)
}

fn width(characters: usize, size: i32) -> i32 {
    (f64::from(count(characters)) * f64::from(size) * CHARACTER_WIDTH).ceil() as i32
}

/// Every how many cells a label of this extent fits.
fn step(extent: i32, cell: i32) -> usize {
    usize::try_from(extent.div_euclid(cell) + i32::from(extent % cell != 0)).unwrap_or(1).max(1)
}

/// One size for all cells, so that sizes do not suggest a difference; none if one does not fit.
fn cell_text(map: &HeatMap, cell: (i32, i32)) -> Option<i32> {
    let longest = widest(map.cells.iter().flatten().flatten().copied());
    (10..=16).rev().find(|size| width(longest, *size) + 6 <= cell.0 && size + 4 <= cell.1)
}

/// Position of `time` on the logarithmic scale from `least` (0) to `greatest` (1).
pub(super) fn position(time: i64, least: i64, greatest: i64) -> f64 {
    // 0 and 1 tick share a place: the logarithm of 0 has none.
    let log = |t: i64| (t.max(1) as f64).ln();
    let span = log(greatest) - log(least);
    if span <= 0.0 { 0.0 } else { ((log(time) - log(least)) / span).clamp(0.0, 1.0) }
}

/// The bounds and the 1, 2, 5 x 10^n between them that stand apart on a bar of this height.
fn bar_ticks(least: i64, greatest: i64, height: i32) -> Vec<i64> {
    if least == greatest {
        return vec![least];
    }
    let apart = f64::from(TICK + 6) / f64::from(height.max(1));
    let at = |t: i64| position(t, least, greatest);
    let mut ticks = vec![least, greatest];
    let decades = |digits: &'static [i64]| {
        (0..19).flat_map(move |n| digits.iter().filter_map(move |d| d.checked_mul(10i64.pow(n))))
    };
    // Powers of ten first: they are what a reader looks for.
    for t in decades(&[1]).chain(decades(&[2, 5])).filter(|t| (least..=greatest).contains(t)) {
        if ticks.iter().all(|other| (at(*other) - at(t)).abs() >= apart) {
            ticks.push(t);
        }
    }
    ticks.sort_unstable();
    ticks.dedup_by(|b, a| (at(*b) - at(*a)).abs() < apart / 2.0);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_logarithmic() {
        assert_eq!(position(10, 1, 100), 0.5);
        assert_eq!(position(7, 7, 7), 0.0);
        assert_eq!(position(0, 0, 100), 0.0);
        assert_eq!(position(i64::MAX, 1, i64::MAX), 1.0);
    }

    #[test]
    fn ticks_of_the_bar_stand_apart() {
        assert_eq!(bar_ticks(44, 44, 300), [44]);
        assert_eq!(bar_ticks(1, 1000, 300), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
        assert_eq!(bar_ticks(44, 57, 300), [44, 50, 57]);
        let all = bar_ticks(0, i64::MAX, 300);
        assert!(all.len() > 4 && all.is_sorted(), "{all:?}");
    }
}
