//! Accesses as requests of a warp, and what each takes.

use tickbound_expr::Expr;
use tickbound_model::Part;

use super::super::around::Around;
use super::super::batch::{Batch, is_from_data};
use super::super::footprint::{Axis, addresses};
use super::super::kept::window;
use super::super::lanes::{Lane, lines, passes};
use super::super::number::{SHARES, ceil_div, max, min, part_of, quotient};
use super::super::vectors::WORD;
use super::{Site, Walk, bodies, origin, product};
use crate::ast::{AddressSpace, SourcePlace};
use crate::error::Read;

/// How the lanes of one request are served.
struct Request<'l> {
    /// Words of a lane, of 4 bytes or of a vector: 1, 2 or 4.
    words: i64,
    /// Bytes of a lane.
    bytes: i64,
    /// `None` where that is not known.
    lanes: Option<&'l [Lane]>,
    /// Items of a group, where its last row is not whole.
    most: Option<&'l Expr>,
    /// 1 if the first one is at the beginning of a line.
    aligned: &'l Expr,
}

impl Walk<'_> {
    /// An atomic operation: one request of a warp that its active lanes pass in sequence. On one
    /// address of the launch L2 does those of all items in sequence.
    pub(super) fn atomic(
        &mut self,
        (space, shared): (AddressSpace, bool),
        at: &SourcePlace,
        around: &Around,
    ) -> Read<()> {
        let executed = around.executed();
        let ((items, of_items), (warps, of_warps)) = (&around.active.items, &around.active.warps);
        let lanes = match self.device.has(Part::Warps) {
            true => quotient(self.device.warp * items * of_warps, of_items * warps),
            false => Expr::Int(self.device.warp),
        };
        let lanes = min(self.device.warp, max(1, lanes));
        let (requests, wavefronts) = of_memory(space);
        self.add_of(origin(requests, Some(at), ""), around, executed.clone());
        self.add_of(origin(wavefronts, Some(at), ""), around, &executed * lanes);
        if shared && space != AddressSpace::Local {
            let groups = product(self.names, "groups", at)?;
            let (some, all) = &around.active.items;
            let of_group = quotient(product(self.names, "local", at)? * executed * some, all);
            self.add("shared_atomics", Some(at), "", groups * of_group);
        }
        Ok(())
    }

    pub(super) fn access(&mut self, site: Site<'_>, batch: &mut Batch) -> Read<()> {
        let Site { access, around, .. } = site;
        let loops = self.loop_axes(site)?;
        let (unrolled, rolled) = bodies(&loops, around);
        if access.space == AddressSpace::Private {
            self.private(site, (&unrolled, &rolled), batch);
            return Ok(());
        }
        let lanes = self.lanes(site)?;
        let same = lanes.as_ref().is_some_and(|l| l.iter().all(|l| l.distance == Expr::Int(0)));
        // From the cache for constants it is an operand.
        if access.space == AddressSpace::Constant && same {
            self.constant(site, &unrolled);
            return Ok(());
        }
        let (requests, words, bytes) = self.requests_of_lane(access.bytes());
        let loaded = requests * self.merged(site, &unrolled);
        let each = match same && self.joins_neighbours(site, &unrolled) {
            true => ceil_div(bytes * &loaded, self.device.vectors.widest()),
            false => loaded.clone(),
        };
        let requests = repeated(around, each.clone(), Expr::Int(requests));
        if !access.store {
            self.keep(site, &unrolled, (words, &loaded));
        }
        let (aligned, row) = self.aligned(site, &loops, lanes.as_deref())?;
        let most = self.items_in_rows(site)?;
        let (lanes_of_warp, most) = (lanes.as_deref(), most.as_ref());
        let request = Request { words, bytes, lanes: lanes_of_warp, most, aligned: &aligned };
        self.request(site, &request, requests.clone());
        // An address that comes from data is computed for each request.
        let from_data = is_from_data(access);
        let addresses = if from_data { 2 * requests } else { around.rolled() };
        self.add_of_warps("integer", site, addresses);
        if !access.store {
            let each = &around.taken * each;
            batch.words += &around.taken * loaded * words;
            if self.device.has(Part::NewSectors) && access.space != AddressSpace::Local {
                let share =
                    self.new_sectors(lanes_of_warp, (&unrolled, rolled.first()), bytes, &each);
                batch.ask(&each, share);
            }
            batch.load(access, rolled.first(), each);
        }
        if access.space != AddressSpace::Local {
            self.touch(site, lanes, loops, (aligned, row))?;
        }
        Ok(())
    }

    /// Constant memory behind a pointer that the host sets is loaded, 8 bytes at a time for each
    /// address, through the pipe of local memory.
    fn constant(&mut self, site: Site<'_>, unrolled: &[Axis]) {
        let of_host = self.names.bytes_of(&site.access.array).is_some();
        if !of_host || !self.device.moves_loads_by(Part::ConstantLoads) {
            return;
        }
        let bytes = site.access.bytes();
        let count = addresses(unrolled, bytes, &self.device.known).count;
        let words = (bytes + 7) / 8;
        let all = repeated(site.around, words * count, words.into());
        self.add_of_warps("local_requests", site, all.clone());
        self.add_of_warps("local_wavefronts", site, all);
    }

    /// The part, in 64ths, of the requests of one body that is for sectors which no lane of the
    /// group requested in the body before.
    fn new_sectors(
        &self,
        lanes: Option<&[Lane]>,
        (unrolled, next): (&[Axis], Option<&Axis>),
        bytes: i64,
        each: &Expr,
    ) -> Expr {
        let Some(lanes) = lanes else { return Expr::Int(SHARES) };
        let known = &self.device.known;
        let touched = |axes: &[Axis]| {
            let all = addresses(axes, bytes, known);
            known.narrowed(max(bytes * all.count, self.device.sector * all.pieces))
        };
        let mut axes: Vec<Axis> = lanes.iter().map(Axis::from).collect();
        let one = touched(&axes);
        axes.extend(unrolled.iter().cloned());
        let body = touched(&axes);
        let new = match next {
            Some(Axis { distance: Some(distance), .. }) => {
                axes.push(Axis { distance: Some(distance.clone()), extent: Expr::Int(2) });
                max(0, touched(&axes) - body)
            }
            _ => body,
        };
        known.narrowed(min(SHARES, quotient(SHARES * new, max(1, each * one))))
    }

    /// Requests that move `bytes` of a lane, and the words and bytes of a lane that each moves.
    fn requests_of_lane(&self, bytes: i64) -> (i64, i64, i64) {
        let vectors = &self.device.vectors;
        let each = bytes.min(vectors.widest());
        let words = match vectors.instructions(each) {
            few @ ..=2 => few,
            _ => 4,
        };
        (vectors.requests(bytes), words, each)
    }

    /// Different accesses in a body of unrolled iterations.
    fn merged(&self, Site { access, around, .. }: Site<'_>, unrolled: &[Axis]) -> Expr {
        match around.guarded {
            true => unrolled.iter().map(|axis| &axis.extent).product(),
            false => addresses(unrolled, access.bytes(), &self.device.known).count,
        }
    }

    /// Whether what all items load in unrolled iterations are words side by side, which LLVM's
    /// targets for graphics load with one instruction (Vectorize/LoadStoreVectorizer.cpp).
    fn joins_neighbours(&self, Site { access, .. }: Site<'_>, unrolled: &[Axis]) -> bool {
        let next = |axis: &Axis| axis.distance == Some(Expr::Int(access.bytes()));
        let device = self.device;
        let joins = device.source_order && !device.vectors.are_wide() && access.bytes() >= WORD;
        joins && !access.store && unrolled.iter().any(next)
    }

    /// Registers for elements of loads in unrolled loops.
    fn keep(&mut self, site: Site<'_>, unrolled: &[Axis], (words, each): (i64, &Expr)) {
        let Site { access, at, around } = site;
        let in_order = self.device.source_order || self.read_only.contains(&access.array);
        if unrolled.is_empty() || !in_order {
            return;
        }
        let registers = |elements: Expr| &around.taken * (words * elements);
        let uses = unrolled.iter().fold(around.taken.clone(), |all, l| all * &l.extent);
        if !around.guarded {
            self.kept.window(at.line, registers(window(unrolled)), uses);
        }
        // Loads are moved before conditions: those of a condition around them, and, as what only
        // some items store only they compute, that of the store.
        let alone = around.rolled_loops() == 0;
        if self.device.source_order && (around.guarded || self.stores_guarded && alone) {
            self.kept.early(at.line, registers(each.clone()), around.rolled_for_one());
        }
    }

    fn request(&mut self, site: Site<'_>, request: &Request<'_>, requests: Expr) {
        let access = site.access;
        // Where they are not known: no conflicts among banks, and a line for each lane.
        let Request { words, bytes, lanes, most, aligned } = request;
        let (wavefronts, touched) = match lanes {
            Some(lanes) => (
                passes(self.device, lanes, *most, *words),
                lines(self.device, lanes, *most, *bytes, aligned),
            ),
            None => (Expr::Int(SHARES * words), Expr::Int(SHARES * self.device.warp)),
        };
        let (count, passed) = of_memory(access.space);
        self.add_of_warps(count, site, requests.clone());
        if !access.store && self.read_only.contains(&access.array) {
            self.add_of_warps("read_only_requests", site, requests.clone());
        }
        self.add_of_warps(passed, site, part_of(&requests, wavefronts));
        if access.space != AddressSpace::Local {
            self.add_of_warps("global_lines", site, part_of(requests, touched));
        }
    }
}

/// `each` in each body, of `one` in each iteration: where the last body of a loop that is unrolled
/// in part is not whole, no more than all iterations have.
pub(super) fn repeated(around: &Around, each: Expr, one: Expr) -> Expr {
    let all = around.rolled() * each;
    match around.body() {
        Expr::Int(1) => all,
        _ => min(all, around.executed() * one),
    }
}

/// What requests to a memory, and their passes, are parts of.
fn of_memory(space: AddressSpace) -> (&'static str, &'static str) {
    match space {
        AddressSpace::Local => ("local_requests", "local_wavefronts"),
        _ => ("global_requests", "global_wavefronts"),
    }
}
