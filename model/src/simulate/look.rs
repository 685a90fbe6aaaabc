//! Looking at a launch without running it: boxes of groups, and elements, that do the same.

use std::collections::HashSet;
use std::rc::Rc;

use crate::expr::{BinaryOp, Expr};
use crate::kernel::{Program, Stmt, StmtKind, has_until};
use crate::region::{Axes, Form, Region, Stop, truth, value};
use crate::{Bound, Problem};

/// Groups whose items take the same sides of all branches.
pub(super) struct Alike {
    /// First and last number on each axis of groups.
    pub sides: Vec<(i64, i64)>,
    /// On which of these axes amounts differ.
    pub varies: Vec<bool>,
    /// Elements that stand for all others; `None` for all.
    pub elements: Option<Rc<[i64]>>,
}

/// Looks for boxes of groups.
pub(super) struct Look<'l> {
    problem: &'l Problem,
    bound: &'l Bound,
    axes: &'l Axes,
    /// Somebody waits for a mark.
    marks: bool,
    /// Elements of a unit, where element e runs items e, e + elements, and so on.
    elements: Option<i64>,
    /// How many boxes may still be looked at.
    left: usize,
}

impl<'l> Look<'l> {
    /// A look at no more than `most` boxes.
    pub fn new(
        problem: &'l Problem,
        bound: &'l Bound,
        axes: &'l Axes,
        elements: Option<i64>,
        most: usize,
    ) -> Look<'l> {
        let marks = has_until(&problem.kernel);
        Look { problem, bound, axes, marks, elements, left: most }
    }

    /// The boxes of the launch, by their first group; `None` if they are too many, or some item may have a fault.
    pub fn boxes(&mut self) -> Option<Vec<Alike>> {
        let mut found = Vec::new();
        let mut open = vec![self.axes.whole()];
        while let Some(region) = open.pop() {
            let mut varies = vec![false; region.sides.len()];
            match self.items(region.clone(), &mut varies) {
                Ok(items) => {
                    let elements = self.elements.map(|n| self.different(&items, n));
                    let (mut sides, of_groups) = (region.sides, self.axes.of_groups);
                    sides.truncate(of_groups);
                    varies.truncate(of_groups);
                    found.push(Alike { sides, varies, elements });
                }
                Err(Stop::Cut { axis, at }) => open.extend(region.cut(axis, at)),
                Err(Stop::Fault) => return None,
            }
        }
        let first = |alike: &Alike| {
            let places = self.axes.all.iter().zip(&alike.sides);
            places.map(|(axis, side)| axis.stride * side.0).sum::<i64>()
        };
        found.sort_by_key(first);
        Some(found)
    }

    /// Boxes of items of some groups, and whether amounts differ between the items of each; where groups differ it
    /// says so.
    fn items(&mut self, region: Region, varies: &mut [bool]) -> Result<Vec<(Region, bool)>, Stop> {
        let mut found = Vec::new();
        let mut open = vec![region];
        while let Some(region) = open.pop() {
            self.left = self.left.checked_sub(1).ok_or(Stop::Fault)?;
            let mut own = vec![false; varies.len()];
            match self.program(&self.problem.kernel, &region, false, &mut own) {
                Err(Stop::Cut { axis, at }) if axis >= self.axes.of_groups => {
                    open.extend(region.cut(axis, at));
                    continue;
                }
                other => other?,
            }
            varies.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
            found.push((region, own[self.axes.of_groups..].contains(&true)));
        }
        Ok(found)
    }

    /// The first elements of those that run the same items in the same order. One that runs the same but for the
    /// last item arrives no later.
    fn different(&self, items: &[(Region, bool)], elements: i64) -> Rc<[i64]> {
        let mut kinds = vec![0usize; usize::try_from(self.bound.launch.local()).unwrap_or(0)];
        let mut next = 0;
        for (region, differ) in items {
            let mut last = next;
            for lid in self.lids(region) {
                if let Some(kind) = usize::try_from(lid).ok().and_then(|lid| kinds.get_mut(lid)) {
                    *kind = last;
                    last += usize::from(*differ);
                }
            }
            next = last + 1;
        }
        let step = usize::try_from(elements).unwrap_or(usize::MAX).max(1);
        let mut seen: HashSet<Vec<usize>> = HashSet::new();
        let mut kept = Vec::new();
        for (e, element) in (0..elements).enumerate() {
            let mut runs: Vec<usize> = kinds.iter().skip(e).step_by(step).copied().collect();
            if seen.insert(runs.clone()) {
                kept.push(element);
                runs.pop();
                seen.insert(runs);
            }
        }
        kept.into()
    }

    /// `lid` of all items in a box.
    fn lids(&self, region: &Region) -> Vec<i64> {
        let mut all = vec![0];
        for (axis, side) in self.axes.all.iter().zip(&region.sides).skip(self.axes.of_groups) {
            let places = (side.0..=side.1).map(|x| x * axis.stride);
            all = places.flat_map(|more| all.iter().map(move |lid| lid + more)).collect();
        }
        all
    }

    /// Follows a program, and notes on which axes its numbers differ; `fixed` says that groups repeat it differently
    /// often, so that they must not.
    fn program(
        &self,
        program: &Program,
        region: &Region,
        fixed: bool,
        varies: &mut [bool],
    ) -> Result<(), Stop> {
        program.iter().try_for_each(|stmt| self.stmt(stmt, region, fixed, varies))
    }

    fn stmt(
        &self,
        stmt: &Stmt,
        region: &Region,
        fixed: bool,
        varies: &mut [bool],
    ) -> Result<(), Stop> {
        let env = &self.bound.env;
        match &stmt.kind {
            StmtKind::Access { amount, .. } => {
                let form = value(amount, env, self.axes, region)?;
                let (low, _) = region.range(&form).ok_or(Stop::Fault)?;
                if low < 0 {
                    return Err(Stop::Fault);
                }
                self.note(&form, region, fixed, varies).map(|_| ())
            }
            StmtKind::Until(ticks) => {
                let form = value(ticks, env, self.axes, region)?;
                self.note(&form, region, fixed, varies).map(|_| ())
            }
            StmtKind::Repeat { count, body } => {
                let some = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
                if !truth(&some, env, self.axes, region)? {
                    return Ok(());
                }
                let form = value(count, env, self.axes, region)?;
                let differs = self.note(&form, region, fixed || self.marks, varies)?;
                self.program(body, region, fixed || differs, varies)
            }
            StmtKind::If { condition, then, otherwise } => {
                let side = if truth(condition, env, self.axes, region)? { then } else { otherwise };
                self.program(side, region, fixed, varies)
            }
            StmtKind::Mark | StmtKind::Barrier => Ok(()),
        }
    }

    /// Notes on which axes a number differs; true if it differs between groups. Where it must not, they are cut.
    fn note(
        &self,
        form: &Form,
        region: &Region,
        fixed: bool,
        varies: &mut [bool],
    ) -> Result<bool, Stop> {
        let mut groups = false;
        for (axis, (first, last)) in region.sides.iter().copied().enumerate() {
            if form.slopes[axis] == 0 || first == last {
                continue;
            }
            if axis < self.axes.of_groups {
                if fixed {
                    return Err(Stop::Cut { axis, at: first + (last - first) / 2 + 1 });
                }
                groups = true;
            }
            varies[axis] = true;
        }
        Ok(groups)
    }
}
