//! State variables of an open schedule, and which lanes share a group, a unit or a dispatcher.

use super::lanes::{WarpLanes, WarpOp};
use crate::machine::Control;
use crate::machine::flow::PointKind;
use crate::plan::AmountId;
use crate::system::{Bool, Choice, Int, StateVariable, SystemBuilder};

pub(super) type IntState<'b> = StateVariable<'b, Int<'b>>;
pub(super) type BoolState<'b> = StateVariable<'b, Bool<'b>>;

/// State variables of one warp.
pub(super) struct Lane<'b> {
    /// It has begun the segment where it stands.
    pub(super) begun: BoolState<'b>,
    /// When it is done with its point.
    pub(super) done: IntState<'b>,
    /// Until when it occupies its dispatcher.
    pub(super) occupies: IntState<'b>,
    /// Until when it holds a memory slot.
    pub(super) holds: IntState<'b>,
    pub(super) mark: IntState<'b>,
    pub(super) start: Choice<'b>,
}

/// State variables of one group.
pub(super) struct Group<'b> {
    /// Which place it has taken: one per place.
    pub(super) place: Vec<BoolState<'b>>,
    /// When it starts.
    pub(super) starts: IntState<'b>,
    /// It has ended and left its place.
    pub(super) left: BoolState<'b>,
}

/// A place for a group on a unit.
pub(super) struct Place<'b> {
    /// Since when it is free.
    pub(super) since: IntState<'b>,
    /// The choice to put the next group there.
    pub(super) choice: Choice<'b>,
}

/// The system under construction.
pub(super) struct Encoder<'b> {
    pub(super) lanes: &'b WarpLanes,
    pub(super) build: &'b SystemBuilder,
    pub(super) control: Control<'b, WarpOp>,
    pub(super) clock: IntState<'b>,
    pub(super) lane: Vec<Lane<'b>>,
    pub(super) group: Vec<Group<'b>>,
    pub(super) place: Vec<Place<'b>>,
    pub(super) constraints: Vec<Bool<'b>>,
}

impl<'b> Encoder<'b> {
    pub(super) fn new(build: &'b SystemBuilder, lanes: &'b WarpLanes) -> Self {
        let control = Control::new(build, &lanes.plan, false);
        let clock = build.state("clock");
        let lane = (0..lanes.plan.threads)
            .map(|l| Lane {
                done: build.state(format!("done[{l}]")),
                occupies: build.state(format!("occupies[{l}]")),
                holds: build.state(format!("holds[{l}]")),
                mark: build.state(format!("mark[{l}]")),
                begun: build.state(format!("begun[{l}]")),
                start: build.choice(format!("start[{l}]")),
            })
            .collect();
        let groups = lanes.shape.iter().map(|(g, _)| *g).max().unwrap_or(0);
        let places = lanes.units * usize::try_from(lanes.warps.resident_groups).unwrap_or(1);
        // More places than groups are never told apart.
        let places = places.min(groups.saturating_mul(lanes.units)).max(1);
        let group = (0..groups)
            .map(|g| Group {
                place: (0..places).map(|k| build.state(format!("in_place[{g}][{k}]"))).collect(),
                starts: build.state(format!("starts[{g}]")),
                left: build.state(format!("left_place[{g}]")),
            })
            .collect();
        let place = (0..places)
            .map(|k| Place {
                since: build.state(format!("free_since[{k}]")),
                choice: build.choice(format!("place[{k}]")),
            })
            .collect();
        Encoder { lanes, build, control, clock, lane, group, place, constraints: Vec::new() }
    }

    /// A truth value of the configuration.
    fn frozen(&self, name: &str, holds: impl Fn(usize, usize) -> bool) -> Bool<'b> {
        let values: Vec<Option<i64>> =
            self.lanes.shape.iter().map(|(g, w)| Some(i64::from(holds(*g, *w)))).collect();
        self.build.table(name, &values).equals(self.build.int(1))
    }

    pub(super) fn exists(&self, g: usize) -> Bool<'b> {
        self.frozen(&format!("group_{g}"), |groups, _| g < groups)
    }

    pub(super) fn in_group(&self, l: usize, g: usize) -> Bool<'b> {
        let name = format!("warp_{l}_in_group_{g}");
        self.frozen(&name, |groups, warps| g < groups && l / warps == g)
    }

    pub(super) fn same_group(&self, l: usize, m: usize) -> Bool<'b> {
        let name = format!("warps_{l}_{m}_in_one_group");
        self.frozen(&name, |groups, warps| l / warps == m / warps && l / warps < groups)
    }

    fn units(&self) -> usize {
        self.lanes.units.min(self.place.len())
    }

    pub(super) fn places_per_unit(&self) -> usize {
        self.place.len() / self.units()
    }

    /// Lane `l` is on unit `u`.
    fn on_unit(&self, l: usize, u: usize) -> Bool<'b> {
        let each = self.places_per_unit();
        let places = u * each..(u + 1) * each;
        self.build.any((0..self.group.len()).flat_map(|g| {
            let belongs = self.in_group(l, g);
            places.clone().map(move |k| belongs & self.group[g].place[k].now())
        }))
    }

    pub(super) fn same_unit(&self, l: usize, m: usize) -> Bool<'b> {
        if self.units() == 1 {
            return self.build.bool(true);
        }
        let together = (0..self.units()).map(|u| self.on_unit(l, u) & self.on_unit(m, u));
        self.build.any(std::iter::once(self.same_group(l, m)).chain(together))
    }

    pub(super) fn same_dispatcher(&self, l: usize, m: usize) -> Bool<'b> {
        let dispatchers = usize::try_from(self.lanes.warps.dispatchers).unwrap_or(usize::MAX);
        let name = format!("warps_{l}_{m}_on_one_dispatcher");
        let same =
            self.frozen(&name, |_, warps| (l % warps) % dispatchers == (m % warps) % dispatchers);
        same & self.same_unit(l, m)
    }

    /// In this configuration lanes `l` and `m` are warps of one group and of one dispatcher, and do
    /// the same. `None` if that is so in none.
    pub(super) fn alike(&self, l: usize, m: usize) -> Option<Bool<'b>> {
        let WarpLanes { plan, warps, shape, .. } = self.lanes;
        let dispatchers = usize::try_from(warps.dispatchers).unwrap_or(usize::MAX);
        let amounts = || (0..plan.amounts.len()).map(AmountId);
        let alike = |(c, (groups, warps)): (usize, &(usize, usize))| {
            l / warps == m / warps
                && l / warps < *groups
                && (l % warps) % dispatchers == (m % warps) % dispatchers
                && amounts().all(|id| plan.value(id, c, l, 0) == plan.value(id, c, m, 0))
        };
        let values: Vec<Option<i64>> =
            shape.iter().enumerate().map(|of| Some(i64::from(alike(of)))).collect();
        let name = format!("warps_{l}_{m}_do_the_same");
        let ever = values.contains(&Some(1));
        ever.then(|| self.build.table(&name, &values).equals(self.build.int(1)))
    }

    /// Lanes `l` and `m` stand before the same segment, and nothing tells them apart if they are
    /// alike.
    pub(super) fn same_state(&self, l: usize, m: usize) -> Bool<'b> {
        let points = self.control.flow.points.iter().enumerate();
        let segments = points.clone().filter(|(_, point)| {
            matches!(point.kind, PointKind::Work { .. } | PointKind::Own(WarpOp::Global(_)))
        });
        let here = segments.map(|(p, _)| self.control.at(l, p) & self.control.at(m, p));
        let mut same = vec![self.build.any(here), self.control.same_counters(l, m)];
        if points.clone().any(|(_, point)| matches!(point.kind, PointKind::Until(_))) {
            same.push(self.lane[l].mark.now().equals(self.lane[m].mark.now()));
        }
        self.build.all(same)
    }
}
