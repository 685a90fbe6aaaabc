//! Looking at a launch without running it: boxes of groups, and elements, that do the same.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::Bound;
use tickbound_model::kernel::{Program, Stmt, StmtKind, has_until};
use tickbound_model::region::{Axes, LinearForm, Region, Stop, truth, value};

/// How often items may be distinguished in any group, beside four times each.
const MAX_APART: usize = 1 << 18;

/// Groups whose items take the same sides of all branches.
pub(super) struct Alike {
    /// First and last number on each axis of groups.
    pub sides: Vec<(i64, i64)>,
    /// On which of these axes amounts differ.
    pub varies: Vec<bool>,
    /// Elements that represent all others; `None` for all.
    pub elements: Option<Rc<[i64]>>,
}

pub(super) struct Look<'l> {
    kernel: &'l Program,
    bound: &'l Bound,
    axes: &'l Axes,
    /// Somebody waits for a mark.
    marks: bool,
    /// Elements of a unit, where element e runs items e, e + elements, and so on.
    elements: Option<i64>,
    /// How many statements may still be examined.
    left: usize,
}

impl<'l> Look<'l> {
    /// A look at no more than `most` statements, each in each box.
    pub fn new(
        kernel: &'l Program,
        bound: &'l Bound,
        axes: &'l Axes,
        elements: Option<i64>,
        most: usize,
    ) -> Look<'l> {
        let marks = has_until(kernel);
        Look { kernel, bound, axes, marks, elements, left: most }
    }

    /// The boxes of the launch, by their first group; `None` if too many, or of possible faults.
    pub fn boxes(&mut self) -> Option<Vec<Alike>> {
        let (mut found, of_groups) = (Vec::new(), self.axes.of_groups);
        let mut open = vec![self.axes.whole()];
        while let Some(region) = open.pop() {
            let mut seen = Seen::new(&region, self.elements.map(|_| self.bound.launch.local()));
            match self.program(self.kernel, &region, false, &mut seen) {
                Ok(()) => {
                    let elements = self.elements.map(|n| different(&seen.kinds, n));
                    let (mut sides, mut varies) = (region.sides, seen.varies);
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

    /// `lid` of all items in a box.
    fn lids(&self, region: &Region) -> Vec<i64> {
        let mut all = vec![0];
        for (axis, side) in self.axes.all.iter().zip(&region.sides).skip(self.axes.of_groups) {
            let places = (side.0..=side.1).map(|x| x * axis.stride);
            all = places.flat_map(|more| all.iter().map(move |lid| lid + more)).collect();
        }
        all
    }

    /// Distinguishes the items of a box from those of their kinds, and with `each` from each other.
    fn tell_apart(&self, region: &Region, each: bool, seen: &mut Seen) -> Result<(), Stop> {
        match self.elements {
            Some(_) => seen.tell_apart(&self.lids(region), each),
            None => Ok(()),
        }
    }

    /// Follows a program. Where items differ in what a statement does, they are followed apart
    /// there; where groups do, the result has that. `fixed`: groups repeat the program differently
    /// often, so that its numbers must not differ between them.
    fn program(
        &mut self,
        program: &'l Program,
        region: &Region,
        fixed: bool,
        seen: &mut Seen,
    ) -> Result<(), Stop> {
        program.iter().try_for_each(|stmt| self.stmt(stmt, region, fixed, seen))
    }

    fn stmt(
        &mut self,
        stmt: &'l Stmt,
        region: &Region,
        fixed: bool,
        seen: &mut Seen,
    ) -> Result<(), Stop> {
        let mut open = vec![region.clone()];
        while let Some(region) = open.pop() {
            self.left = self.left.checked_sub(1).ok_or(Stop::Fault)?;
            match self.followed(stmt, &region, fixed, seen) {
                Err(Stop::Cut { axis, at }) if axis >= self.axes.of_groups => {
                    let [below, above] = region.cut(axis, at);
                    self.tell_apart(&above, false, seen)?;
                    open.extend([above, below]);
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Follows a statement; nothing is noted before it is known to be the same in the whole region.
    fn followed(
        &mut self,
        stmt: &'l Stmt,
        region: &Region,
        fixed: bool,
        seen: &mut Seen,
    ) -> Result<(), Stop> {
        let (env, axes) = (&self.bound.env, self.axes);
        match &stmt.kind {
            StmtKind::Access { amount, .. } => {
                let form = value(amount, env, axes, region)?;
                let (low, _) = region.range(&form).ok_or(Stop::Fault)?;
                if low < 0 {
                    return Err(Stop::Fault);
                }
                self.note(&form, region, fixed, seen).map(|_| ())
            }
            StmtKind::Until(ticks) => {
                let form = value(ticks, env, axes, region)?;
                self.note(&form, region, fixed, seen).map(|_| ())
            }
            StmtKind::Repeat { count, body } => {
                let some = Expr::binary(BinaryOp::Ge, count.clone(), Expr::Int(1));
                if !truth(&some, env, axes, region)? {
                    return Ok(());
                }
                let form = value(count, env, axes, region)?;
                let differs = self.note(&form, region, fixed || self.marks, seen)?;
                self.program(body, region, fixed || differs, seen)
            }
            StmtKind::If { condition, then, otherwise } => {
                let side = if truth(condition, env, axes, region)? { then } else { otherwise };
                self.program(side, region, fixed, seen)
            }
            StmtKind::Mark | StmtKind::Barrier => Ok(()),
        }
    }

    /// Notes on which axes a number differs; true if between groups, or cuts them if it must not.
    fn note(
        &self,
        form: &LinearForm,
        region: &Region,
        fixed: bool,
        seen: &mut Seen,
    ) -> Result<bool, Stop> {
        let differs = |axis: &usize| {
            let (first, last) = region.sides[*axis];
            form.slopes[*axis] != 0 && first < last
        };
        let all: Vec<usize> = (0..region.sides.len()).filter(differs).collect();
        let group = all.iter().copied().find(|axis| *axis < self.axes.of_groups);
        if let Some(axis) = group.filter(|_| fixed) {
            let (first, last) = region.sides[axis];
            return Err(Stop::Cut { axis, at: first + (last - first) / 2 + 1 });
        }
        if all.iter().any(|axis| *axis >= self.axes.of_groups) {
            self.tell_apart(region, true, seen)?;
        }
        all.into_iter().for_each(|axis| seen.varies[axis] = true);
        Ok(group.is_some())
    }
}

struct Seen {
    /// On which axes numbers differ.
    varies: Vec<bool>,
    /// For each item of a group its kind: items of one kind do the same. Empty if not needed.
    kinds: Vec<usize>,
    /// How many kinds there are.
    count: usize,
    /// How many items may still be distinguished, each as often as that happens.
    left: usize,
}

impl Seen {
    fn new(region: &Region, items: Option<i64>) -> Seen {
        let items = usize::try_from(items.unwrap_or(0)).unwrap_or(0);
        let left = MAX_APART + 4 * items;
        Seen { varies: vec![false; region.sides.len()], kinds: vec![0; items], count: 1, left }
    }

    /// Distinguishes some items from those of their kinds, and with `each` from each other. Gives
    /// up where that would take longer than to run them.
    fn tell_apart(&mut self, lids: &[i64], each: bool) -> Result<(), Stop> {
        self.left = self.left.checked_sub(lids.len()).ok_or(Stop::Fault)?;
        let mut new: HashMap<usize, usize> = HashMap::new();
        for lid in lids {
            let Some(kind) = usize::try_from(*lid).ok().and_then(|lid| self.kinds.get_mut(lid))
            else {
                break;
            };
            if each {
                *kind = self.count;
                self.count += 1;
                continue;
            }
            *kind = *new.entry(*kind).or_insert_with(|| {
                self.count += 1;
                self.count - 1
            });
        }
        Ok(())
    }
}

/// The first elements of those that run the same kinds of items in the same order. One that runs
/// the same but for the last item arrives no later.
fn different(kinds: &[usize], elements: i64) -> Rc<[i64]> {
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
