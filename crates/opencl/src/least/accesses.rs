//! Requests and bytes of accesses.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use tickbound_expr::Expr;
use tickbound_model::LeastCount;

use super::around::{Counts, GroupsAtStep, KernelLaunch, Site};
use super::distinct::distinct;
use super::values::distinguished;
use crate::ast::AddressSpace;
use crate::steps::{Digit, MemoryAccess, Stride};
use crate::usage::Axis;
use crate::usage::number::{all, ceil_div, choice, is_zero, less, max, min, quotient, remainder};

/// Bytes that a request brings an item at most.
const WIDEST: i64 = 16;

/// Accesses of one array in one direction.
type Same<'s> = IndexMap<(AddressSpace, &'s str, bool), Vec<&'s Site>>;

/// Adds what accesses take.
pub(super) fn add(launch: KernelLaunch<'_>, all: &[Site], counts: &mut Counts) {
    let walk = Accesses { launch, sites: all };
    let mut arrays: Same<'_> = IndexMap::new();
    let written: BTreeSet<&str> = (all.iter())
        .filter(|site| site.access.store)
        .map(|site| site.access.array.as_str())
        .collect();
    for site in all.iter().filter(|site| site.access.exact) {
        let access = &site.access;
        arrays.entry((access.space, &access.array, access.store)).or_default().push(site);
    }
    for ((space, array, store), sites) in arrays {
        // A copy into local memory may be one request with the load.
        if space == AddressSpace::Local && store {
            continue;
        }
        let global = space != AddressSpace::Local;
        let what = match global {
            true => [LeastCount::GlobalRequests, LeastCount::GlobalBytes],
            false => [LeastCount::LocalRequests, LeastCount::LocalBytes],
        };
        let free = global && !store && !written.contains(array);
        for (at_step, [requests, bytes]) in walk.requests_by_groups(&sites, free) {
            launch.add(what[0], &at_step, requests, counts);
            launch.add(what[1], &at_step, bytes, counts);
        }
        if global {
            let what = if store { LeastCount::WrittenBytes } else { LeastCount::ReadBytes };
            *counts.entry((true, what)).or_default() += walk.launch_bytes(&sites);
        }
    }
}

struct Accesses<'a> {
    launch: KernelLaunch<'a>,
    sites: &'a [Site],
}

impl Accesses<'_> {
    fn distance(&self, stride: &Stride, access: &MemoryAccess) -> Option<Expr> {
        let (Stride::Elements(elements) | Stride::Shifted(elements)) = stride else { return None };
        let bytes = self.launch.put_in(elements)? * i64::from(access.element);
        self.launch.unsigned(bytes)
    }

    /// The loops around, as repetitions of the address. In one in which local memory is written
    /// again behind a barrier, or (`apart`) an unknown summand of the address differs, contents
    /// differ.
    fn loops(&self, site: &Site, apart: bool) -> (Vec<Axis>, Expr) {
        let local = site.access.space == AddressSpace::Local;
        let loops: Vec<&Expr> = site.around.loops.iter().rev().map(|l| &l.trips).collect();
        let mut left = vec![true; loops.len()];
        let mut renewed = match apart {
            true => distinguished(&site.access.unknown, &loops, &mut left, self.launch),
            false => Expr::Int(1),
        };
        let mut axes = Vec::new();
        let mut strides = site.access.iterations.iter();
        for (around, left) in site.around.loops.iter().rev().zip(left) {
            let trips = &around.trips;
            let distance = strides.next().and_then(|stride| self.distance(stride, &site.access));
            if !left {
                continue;
            }
            if local && around.barrier && self.is_written_in(site, around.number) {
                renewed = renewed * trips;
            } else if let Some(distance) = distance {
                axes.push(Axis { distance: Some(distance), extent: trips.clone() });
            }
        }
        (axes, renewed)
    }

    /// Whether the array is stored to in the loop with this number.
    fn is_written_in(&self, site: &Site, number: usize) -> bool {
        self.sites.iter().any(|other| {
            other.access.store
                && other.access.array == site.access.array
                && other.around.loops.iter().any(|around| around.number == number)
        })
    }

    /// Requests of a warp and bytes for the warps of a group, by the groups that execute it.
    /// `free`: what is alike in all lanes takes no request.
    fn requests_by_groups(&self, sites: &[&Site], free: bool) -> Vec<(GroupsAtStep, [Expr; 2])> {
        let mut sums: IndexMap<GroupsAtStep, [Expr; 2]> = IndexMap::new();
        // Addresses of an item for requests, those of any two items for bytes.
        for which in 0..2 {
            let mut classes: IndexMap<u32, Vec<&Site>> = IndexMap::new();
            for site in sites {
                classes.entry(site.access.apart[which]).or_default().push(site);
            }
            let several = classes.len() > 1;
            for members in classes.values() {
                // Of accesses that may be of one address one counts, if all groups execute it.
                let of_all = |site: &&&Site| site.around.at_step.iter().all(Option::is_none);
                let chosen = members.iter().find(of_all).or(members.first());
                let Some(first) = chosen else { continue };
                let at_step = first.around.at_step.clone();
                let mut most = Expr::Int(0);
                for site in members.iter().filter(|site| site.around.at_step == at_step) {
                    let own = match which {
                        0 => self.requests(site, several, free),
                        _ => self.bytes_moved(site, free),
                    };
                    most = own.map_or(most.clone(), |own| max(&most, own));
                }
                sums.entry(at_step).or_default()[which] += most;
            }
        }
        sums.into_iter().collect()
    }

    /// Requests of a warp for one access.
    fn requests(&self, site: &Site, several: bool, free: bool) -> Option<Expr> {
        let (axes, renewed) = self.loops(site, true);
        let lanes = self.lanes(&site.access)?;
        let known = &self.launch.device.known;
        let addresses = distinct(&axes, known);
        let together = known.narrowed(self.together(site, &axes, &lanes, several));
        let each = (site.access.bytes() + WIDEST - 1) / WIDEST;
        let few = known.narrowed(less(&addresses, &together));
        let requests = choice(few, 1, quotient(addresses, together));
        Some((requests * each * renewed * self.taken(site, &lanes, free)).simplified())
    }

    /// Bytes for the warps of a group by one access.
    fn bytes_moved(&self, site: &Site, free: bool) -> Option<Expr> {
        let (axes, renewed) = self.loops(site, false);
        let lanes = self.lanes(&site.access)?;
        let own: Vec<Axis> = axes.into_iter().chain(self.lanes_of_warp(&lanes)).collect();
        let warps = ceil_div(self.items(), self.launch.device.warp);
        let bytes = distinct(&own, &self.launch.device.known) * site.access.bytes();
        Some((bytes * renewed * self.taken(site, &lanes, free) * warps).simplified())
    }

    /// 1 if an access is executed and counts, else 0.
    fn taken(&self, site: &Site, lanes: &[(Expr, Expr)], free: bool) -> Expr {
        let known = &self.launch.device.known;
        let uniform = if free { known.narrowed(self.is_uniform(lanes)) } else { Expr::Int(0) };
        choice(uniform, 0, &site.around.taken)
    }

    /// The items of a group as repetitions: the distance between them, and how many.
    fn lanes(&self, access: &MemoryAccess) -> Option<Vec<(Expr, Expr)>> {
        let lane = |digit: &Digit| {
            let distance = self.distance(&Stride::Elements(digit.stride.clone()), access)?;
            Some((distance, self.launch.put_in(&digit.extent)?))
        };
        access.digits.as_ref()?.iter().map(lane).collect()
    }

    fn items(&self) -> Expr {
        (0..3).map(|d| self.launch.size("local", d)).product::<Expr>().simplified()
    }

    /// 1 if all lanes of a warp may have one address.
    fn is_uniform(&self, lanes: &[(Expr, Expr)]) -> Expr {
        let mut before = Expr::Int(1);
        let mut alike = Vec::new();
        for (distance, extent) in lanes {
            let still = is_zero(distance);
            // A place that changes from one warp to the next only.
            let across = less(self.launch.device.warp - 1, before.clone());
            let one = less(extent, 2);
            alike.push(choice(still, 1, choice(across, 1, one)));
            before = before * extent;
        }
        (all(alike)).simplified()
    }

    /// How many neighbours of an item one request may bring: its addresses lie side by side, and
    /// all lanes and groups begin at multiples of as many.
    fn together(&self, site: &Site, axes: &[Axis], lanes: &[(Expr, Expr)], several: bool) -> Expr {
        let bytes = site.access.bytes();
        let most = WIDEST / bytes.clamp(1, WIDEST);
        if most == 1 {
            return Expr::Int(1);
        }
        let distances = axes.iter().filter_map(|axis| axis.distance.as_ref());
        let close = distances.map(|d| choice(is_zero(d), 0, less(d, WIDEST)));
        let neighbours = close.fold(Expr::Int(i64::from(several)), |any, own| choice(own, 1, any));
        let groups = site.access.groups.iter().map(|stride| self.distance(stride, &site.access));
        let moves: Option<Vec<Expr>> =
            lanes.iter().map(|(distance, _)| Some(distance.clone())).chain(groups).collect();
        let aligned = |n: i64| match &moves {
            Some(moves) => all(moves.iter().map(|d| is_zero(remainder(d.clone(), n * bytes)))),
            None => Expr::Int(1),
        };
        let unaligned = self.launch.device.loads_unaligned;
        // What is not known is aligned by no compiler.
        if !unaligned && !site.access.unknown.is_empty() {
            return Expr::Int(1);
        }
        let widths = (1..=4).map(|k| 1 << k).filter(|n| *n <= most);
        let widest = widths.fold(Expr::Int(1), |narrow, n| {
            if unaligned { Expr::Int(n) } else { choice(aligned(n), n, narrow) }
        });
        (choice(neighbours, widest, 1)).simplified()
    }

    /// The lanes of a warp as repetitions, at least those of each warp.
    fn lanes_of_warp(&self, lanes: &[(Expr, Expr)]) -> Vec<Axis> {
        let (warp, known) = (self.launch.device.warp, &self.launch.device.known);
        let mut left = Expr::Int(warp);
        let mut axes = Vec::new();
        for (distance, extent) in lanes {
            // Rows that are no part of a warp, nor warps of a row, begin anywhere in it.
            let fits = known.narrowed(choice(
                less(extent, &left),
                is_zero(remainder(left.clone(), max(1, extent))),
                is_zero(remainder(extent.clone(), &left)),
            ));
            let own = min(&left, extent);
            let own = known.narrowed(choice(&fits, &own, max(1, quotient(own.clone(), 2))));
            axes.push(Axis { distance: Some(distance.clone()), extent: own });
            left = known.narrowed(choice(fits, max(1, quotient(left.clone(), max(1, extent))), 1));
        }
        let items = self.items();
        // A group that is no multiple of a warp has one with fewer lanes.
        let whole = is_zero(remainder(items.clone(), warp));
        let small = less(items, warp);
        let sure = known.narrowed(choice(small, 1, whole));
        axes.into_iter()
            .map(|axis| Axis { extent: known.narrowed(choice(&sure, axis.extent, 1)), ..axis })
            .collect()
    }

    /// Different bytes of an array that the launch touches.
    fn launch_bytes(&self, sites: &[&Site]) -> Expr {
        let mut classes: IndexMap<u32, Expr> = IndexMap::new();
        for site in sites {
            let Some(bytes) = self.touched_bytes(site) else { continue };
            let most = classes.entry(site.access.apart[1]).or_default();
            *most = max(&*most, bytes);
        }
        classes.into_values().sum::<Expr>().simplified()
    }

    fn touched_bytes(&self, site: &Site) -> Option<Expr> {
        let access = &site.access;
        let (mut axes, _) = self.loops(site, false);
        let lanes = self.lanes(access)?.into_iter();
        axes.extend(lanes.map(|(distance, extent)| Axis { distance: Some(distance), extent }));
        for (d, stride) in access.groups.iter().enumerate() {
            let Some(distance) = self.distance(stride, access) else { continue };
            let whole = self.launch.size("groups", d);
            let at_step = site.around.at_step[d].as_ref();
            let extent = at_step.map_or(whole, |some_groups| some_groups.groups.clone());
            axes.push(Axis { distance: Some(distance), extent });
        }
        let some = (site.around.at_step.iter().flatten())
            .fold(Expr::Int(1), |any, some_groups| choice(less(0, &some_groups.groups), any, 0));
        let taken = choice(some, &site.around.taken, 0);
        Some(distinct(&axes, &self.launch.device.known) * access.bytes() * taken)
    }
}
