//! The plot of a series: the same problem for growing values of one input, seconds for each engine.

use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Ink, Mark, Plot, Scale, TEXT, svg, width};
use crate::answer::comparison::{Case, Row};
use crate::error::ReportError;
use crate::picture::Drawn;

/// Fewer points than this make no line.
const LEAST: usize = 3;
const PANEL: (i32, i32) = (560, 320);
const TOP: i32 = 40;
const LEFT: i32 = 66;
/// A line of the legend.
const LEGEND: i32 = 24;

/// The cases of one problem file in which one input grows and nothing else changes.
pub(super) struct Series<'a> {
    /// The problem's name.
    pub problem: &'a str,
    /// The input.
    pub input: &'a str,
    /// The input's values and the cases, in increasing order.
    cases: Vec<(i64, &'a Case)>,
}

impl<'a> Series<'a> {
    /// The series among the cases: for each file and each choice of other inputs, if long enough.
    pub fn among(cases: &'a [Case]) -> Vec<Series<'a>> {
        let mut series: Vec<Series<'a>> = Vec::new();
        for (i, first) in cases.iter().enumerate() {
            for input in first.inputs.keys() {
                let others = |case: &'a Case| case.inputs.iter().filter(move |(n, _)| *n != input);
                let alike = |case: &&'a Case| {
                    case.file == first.file
                        && case.inputs.contains_key(input)
                        && others(case).eq(others(first))
                };
                if cases[..i].iter().any(|earlier| alike(&earlier)) {
                    continue;
                }
                let members = cases.iter().filter(alike);
                let mut members: Vec<_> = members.map(|case| (case.inputs[input], case)).collect();
                members.sort_by_key(|(value, _)| *value);
                members.dedup_by_key(|(value, _)| *value);
                if members.len() >= LEAST && members[0].0 > 0 {
                    series.push(Series { problem: &first.problem, input, cases: members });
                }
            }
        }
        series
    }

    /// The engines that have run at least once, in the order of the rows.
    fn engines(&self) -> Vec<&'a str> {
        let mut engines: Vec<&str> = Vec::new();
        for row in self.cases.iter().flat_map(|(_, case)| &case.rows) {
            if seconds(row).is_some() && !engines.contains(&row.engine.as_str()) {
                engines.push(&row.engine);
            }
        }
        engines
    }

    /// For each value at which the engine ran: place, seconds, and whether the time is proved.
    fn points(&self, engine: &str) -> Vec<(usize, f64, bool)> {
        let row = |case: &'a Case| case.rows.iter().find(|r| r.engine == engine);
        let points = self.cases.iter().enumerate().filter_map(|(i, (_, case))| {
            let row = row(case)?;
            Some((i, seconds(row)?, row.proved()))
        });
        points.collect()
    }

    /// The plot as SVG text.
    pub fn plot(&self) -> Result<String, ReportError> {
        svg(self)
    }

    fn lines(&self, canvas: &Canvas<'_, '_>, engines: &[&str]) -> Drawn {
        let lines: Vec<_> = engines.iter().map(|e| self.points(e)).collect();
        let taken = lines.iter().flatten().map(|(_, s, _)| *s);
        let scale = Scale::decades(taken, (TOP + PANEL.1, TOP));
        self.axes(canvas, &scale)?;
        let mut labels = Vec::new();
        for (n, points) in lines.iter().enumerate() {
            let places: Vec<_> =
                points.iter().map(|(i, s, _)| (self.x(*i), scale.at(*s))).collect();
            canvas.line(&places, Ink::Line(n), 2)?;
            for (place, (_, _, proved)) in places.iter().zip(points) {
                canvas.mark(Mark::number(n), *place, Ink::Line(n), !proved)?;
            }
            labels.extend(places.last().map(|last| (last.1, n)));
        }
        // The legend in the order in which the lines end, from the top.
        labels.sort_unstable();
        for (row, (_, n)) in labels.into_iter().enumerate() {
            let (x, y) = (LEFT + PANEL.0 + 24, TOP + i32::try_from(row).unwrap_or(0) * LEGEND);
            canvas.mark(Mark::number(n), (x, y), Ink::Line(n), false)?;
            canvas.text(engines[n], (x + 14, y), HPos::Left, Ink::Text)?;
        }
        Ok(())
    }

    fn x(&self, i: usize) -> i32 {
        let steps = i32::try_from(self.cases.len() - 1).unwrap_or(1).max(1);
        LEFT + 14 + (PANEL.0 - 28) * i32::try_from(i).unwrap_or(0) / steps
    }

    fn axes(&self, canvas: &Canvas<'_, '_>, scale: &Scale) -> Drawn {
        let bottom = TOP + PANEL.1;
        let title = "seconds, start to end of the process; hollow: not proved";
        canvas.text(title, (LEFT, 16), HPos::Left, Ink::Faint)?;
        for (value, label) in scale.ticks(40) {
            let y = scale.at(value);
            canvas.line(&[(LEFT, y), (LEFT + PANEL.0, y)], Ink::Grid, 1)?;
            canvas.text(&label, (LEFT - 8, y), HPos::Right, Ink::Faint)?;
        }
        canvas.line(&[(LEFT, bottom), (LEFT + PANEL.0, bottom)], Ink::Faint, 1)?;
        let widest = self.cases.iter().map(|(v, _)| v.to_string().len()).max().unwrap_or(1);
        let step = PANEL.0 / i32::try_from(self.cases.len()).unwrap_or(1).max(1);
        let every = usize::try_from(width(widest + 2) / step.max(1) + 1).unwrap_or(1);
        for (i, (value, _)) in self.cases.iter().enumerate().step_by(every) {
            let at = (self.x(i), bottom + TEXT);
            canvas.text(&value.to_string(), at, HPos::Center, Ink::Faint)?;
        }
        canvas.text(self.input, (LEFT + PANEL.0 / 2, bottom + 3 * TEXT), HPos::Center, Ink::Text)
    }
}

impl Plot for Series<'_> {
    fn size(&self) -> (i32, i32) {
        let engines = self.engines();
        let longest = engines.iter().map(|e| e.chars().count()).max().unwrap_or(0);
        let rows = i32::try_from(engines.len()).unwrap_or(0);
        (LEFT + PANEL.0 + 34 + width(longest) + 10, TOP + PANEL.1.max(rows * (TEXT + 4)) + 76)
    }

    fn draw(&self, canvas: &Canvas<'_, '_>) -> Drawn {
        self.lines(canvas, &self.engines())
    }
}

/// Seconds for the plot, at least a millisecond; none if the engine did not search.
pub(super) fn seconds(row: &Row) -> Option<f64> {
    row.process_seconds.filter(|_| row.searched()).map(|s| s.max(0.001))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(file: &str, inputs: &[(&str, i64)]) -> Case {
        Case {
            about: None,
            problem: "a kernel".to_owned(),
            file: file.to_owned(),
            inputs: inputs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
            configurations: None,
            rows: Vec::new(),
            disagreements: Vec::new(),
        }
    }

    #[test]
    fn what_makes_a_series() {
        let one = |n| case("a.json", &[("n", n), ("m", 1)]);
        // Not in order, one value twice, another file, another value of the other input.
        let cases = [
            one(4),
            one(2),
            case("b.json", &[("n", 3), ("m", 1)]),
            one(8),
            one(2),
            case("a.json", &[("n", 16), ("m", 2)]),
        ];
        let series = Series::among(&cases);
        assert_eq!(series.len(), 1);
        let values: Vec<i64> = series[0].cases.iter().map(|(v, _)| *v).collect();
        assert_eq!((series[0].input, values), ("n", vec![2, 4, 8]));
        // Two values make no line.
        assert!(Series::among(&cases[..3]).is_empty());
    }
}
