//! Functions of the parameters as decision diagrams.
//!
//! A diagram decides parameter by parameter, in their order. Values that lead to the same are one
//! case; the case of most values is what is left when no other holds. Equal diagrams are one line,
//! because equal expressions are ([`Lines::share`]), so the size goes with what the function
//! distinguishes.

use crate::system::{InternalError, SystemParameter};

use super::lines::{Line, Lines, NUMBER, TRUTH};

/// One row of a function: indices of the parameters' values, and the line of the value.
pub(super) type Row<'r> = (&'r [u32], Line);

pub(super) struct Parameters<'s> {
    pub declared: &'s [SystemParameter],
    pub lines: Vec<Line>,
}

impl Parameters<'_> {
    /// Every parameter has one of its values.
    pub fn domains(&self, lines: &mut Lines) -> Line {
        let one = |p: usize, lines: &mut Lines| {
            let all: Vec<u32> = (0..self.declared[p].values.len() as u32).collect();
            self.any_of(p, &all, lines)
        };
        (0..self.declared.len()).fold(lines.truth(true), |all, p| {
            let one = one(p, lines);
            lines.share(&format!("and {TRUTH} {all} {one}"))
        })
    }

    /// The values, each one of its parameter's, are together a valid configuration.
    pub fn valid(&self, configurations: &[Vec<u32>], lines: &mut Lines) -> Line {
        let yes = lines.truth(true);
        let mut rows: Vec<Row<'_>> = configurations.iter().map(|c| (c.as_slice(), yes)).collect();
        rows.sort_unstable_by_key(|row| row.0);
        let support: Vec<usize> = (0..self.declared.len()).collect();
        let no = lines.truth(false);
        self.decide(&support, &rows, 0, (TRUTH, Some(no)), lines)
    }

    /// The value of a table with sorted rows, at least one; what is in none may be anything.
    pub fn choose(
        &self,
        support: &[usize],
        rows: &[Row<'_>],
        lines: &mut Lines,
    ) -> Result<Line, InternalError> {
        if rows.is_empty() {
            return Err(InternalError("a table without rows".into()));
        }
        Ok(self.decide(support, rows, 0, (NUMBER, None), lines))
    }

    /// The function of `rows`, which agree in the parameters of `support` before `depth`. `absent`:
    /// its sort, and its value where there is no row.
    fn decide(
        &self,
        support: &[usize],
        rows: &[Row<'_>],
        depth: usize,
        (sort, absent): (Line, Option<Line>),
        lines: &mut Lines,
    ) -> Line {
        let Some(p) = support.get(depth) else { return rows[0].1 };
        let mut cases: Vec<(Line, Vec<u32>)> = Vec::new();
        let mut present = 0;
        let mut case = |value: u32, to: Line| match cases.iter_mut().find(|(line, _)| *line == to) {
            Some((_, values)) => values.push(value),
            None => cases.push((to, vec![value])),
        };
        for same in rows.chunk_by(|a, b| a.0[depth] == b.0[depth]) {
            let value = same[0].0[depth];
            if let Some(no) = absent {
                (present..value).for_each(|v| case(v, no));
                present = value + 1;
            }
            case(value, self.decide(support, same, depth + 1, (sort, absent), lines));
        }
        if let Some(no) = absent {
            (present..self.declared[*p].values.len() as u32).for_each(|v| case(v, no));
        }
        // Of those of most values the first.
        let most = (0..cases.len()).rev().max_by_key(|i| cases[*i].1.len()).unwrap_or(0);
        let (rest, _) = cases.remove(most);
        cases.iter().rev().fold(rest, |rest, (to, values)| {
            let holds = self.any_of(*p, values, lines);
            lines.share(&format!("ite {sort} {holds} {to} {rest}"))
        })
    }

    /// The parameter has one of the values with these indices.
    fn any_of(&self, p: usize, values: &[u32], lines: &mut Lines) -> Line {
        let is = |v: u32, lines: &mut Lines| {
            let value = lines.number(self.declared[p].values[v as usize]);
            lines.share(&format!("eq {TRUTH} {} {value}", self.lines[p]))
        };
        let mut any: Option<Line> = None;
        for v in values {
            let one = is(*v, lines);
            any = Some(any.map_or(one, |any| lines.share(&format!("or {TRUTH} {any} {one}"))));
        }
        any.unwrap_or_else(|| lines.truth(false))
    }
}
