//! The formulas of docs/semantics.md, "Profile `resources`", written a second time in 128 bits and
//! step by step as the page has them.

use tickbound_model::resources::Part;
use tickbound_model::{Bound, LaunchSize, Problem};
use tickbound_simulator::used_of;

fn ceil(a: i128, b: i128) -> i128 {
    a / b + i128::from(a % b != 0)
}

/// Clocks of the launch of a configuration whose usage has a value.
pub fn clocks(problem: &Problem, bound: &Bound) -> Option<i128> {
    let r = problem.platform.resources();
    let has = |part: Part| !problem.without.contains(&part);
    let values = used_of(problem, problem.usage(), bound).ok()?;
    let names = tickbound_model::Usage::NAMES;
    let u = |name: &str| names.iter().position(|n| *n == name).map(|i| i128::from(values[i]));
    let u = |name: &str| u(name).expect("a name of the usage");
    let LaunchSize::Range { global, local } = bound.launch else { return None };
    let (items, groups) = (i128::from(local), i128::from(global / local));
    let or = |n: Option<i64>, other: i64| i128::from(n.unwrap_or(other));
    let units = i128::from(problem.platform.units());
    let clock = problem.platform.clock_mhz().map(i128::from);
    let (w, s) = (or(r.warp_width, 1), or(r.schedulers, 1));
    let warps = ceil(items, w);

    // 1: registers.
    let g = or(r.register_granule, 1);
    let share = |items: i128| r.registers_per_unit.map(|n| i128::from(n) / items / g * g);
    let assumed = r.assumed_group_items.and_then(|n| share(n.into()));
    let caps = [r.registers_per_item.map(i128::from), share(warps * w), assumed];
    let cap = caps.into_iter().flatten().min().map_or(i128::MAX, |cap| cap.max(g));
    let given = cap.min((ceil(u("registers"), g) * g).max(g));
    let spilled = if has(Part::Spill) { (u("registers") - cap).max(0) } else { 0 };
    let spills = spilled * u("spill_uses");

    // 2: occupancy.
    let mut held = vec![ceil(groups, units)];
    held.extend(r.warps_per_unit.map(|n| i128::from(n) / warps));
    if has(Part::Occupancy) {
        held.extend(r.groups_per_unit.map(i128::from));
        held.extend(r.barriers_per_unit.filter(|_| warps > 1).map(i128::from));
        held.extend(r.registers_per_unit.map(|n| i128::from(n) / (given * warps * w)));
        let granule = or(r.local_granule, 1);
        let bytes = ceil(u("local_bytes"), granule) * granule;
        let local = problem.platform.local_memory().filter(|_| bytes > 0);
        held.extend(local.map(|n| i128::from(n) / bytes));
    }
    let held = held.into_iter().min()?.max(1);

    // 3 and 4: arithmetic.
    let lanes = |n: i128, lanes: Option<i64>| lanes.map_or(0, |l| ceil(n * w * 64, l.into()));
    let convert = u("convert") * warps;
    let real = u("real") * warps;
    let integer = u("integer") * warps + if r.convert_lanes.is_none() { convert } else { 0 };
    let on_real = real + if r.integer_shares_real == Some(1) { integer } else { 0 };
    let issue = ["real", "integer", "convert", "special", "branches"];
    let issue = issue.iter().chain(&["local_requests", "global_requests"]);
    let issued = spills + issue.map(|name| u(name)).sum::<i128>();
    let rate = r.issue_rate.map(i128::from);
    let mut busy = vec![
        lanes(on_real, r.real_lanes)
            .max(lanes(integer, r.integer_lanes))
            .max(rate.map_or(0, |rate| ceil(issued * warps * 64, rate))),
    ];
    if has(Part::Special) {
        busy.push(r.convert_lanes.map_or(0, |n| lanes(convert, Some(n))));
        busy.push(lanes(u("special") * warps, r.special_lanes));
        busy.push(lanes(u("tensor") * warps, r.tensor_lanes));
    }
    if has(Part::Schedulers) {
        busy.iter_mut().for_each(|t| *t = ceil(*t * s, s.min(held * warps)));
    }

    // 5 to 9: memories of a unit.
    let ports = r.load_store_lanes.filter(|_| has(Part::Addresses)).or(r.warp_width);
    let addresses = |n: i128| lanes(n, ports);
    let passes = |n: i128, rate: Option<i64>| lanes(n * 4, rate);
    let kind = |wavefronts: &'static str, requests: &'static str| {
        warps * u(if has(Part::Wavefronts) { wavefronts } else { requests })
    };
    let local = addresses(u("local_requests") * warps)
        .max(passes(kind("local_wavefronts", "local_requests"), r.local_bytes_per_clock));
    let mut l1 = addresses(u("global_requests") * warps)
        .max(passes(kind("global_wavefronts", "global_requests"), r.l1_bytes_per_clock));
    if let Some(rate) = r.l1_lines_per_clock.filter(|_| has(Part::Lines)) {
        l1 = l1.max(ceil(u("global_lines") * warps * 64, rate.into()));
    }
    if let Some(percent) = r.read_only_percent.filter(|_| has(Part::ReadOnly)) {
        l1 += ceil(addresses(u("read_only_requests") * warps) * i128::from(percent), 100);
    }
    let spilling = addresses(spills * warps).max(passes(spills * warps, r.l1_bytes_per_clock));
    match r.one_pipe == Some(1) && has(Part::Pipe) {
        true => busy.push(local + ceil(l1 * 11, 10) + spilling),
        false => busy.extend([local, l1 + spilling]),
    }

    // 10 and 11: bytes.
    let moved = u("l2_bytes") + spills * items * 4;
    if let Some(rate) = r.l2_bytes_per_clock.filter(|_| has(Part::L2)) {
        busy.push(ceil(moved * units * 64, rate.into()));
    }
    let place = 4 * spilled * (held * units).min(groups) * items;
    let caches = or(r.l2_size, 0) + or(r.l3_size, 0);
    let beyond = (place - caches).max(0) * 64 / place.max(1);
    let dram = u("dram_bytes") + spills * items * 4 * groups * beyond / 64;
    if let Some(rate) = r.l3_bytes_per_clock.filter(|_| has(Part::L3)) {
        busy.push(ceil(ceil(u("l3_bytes").max(dram), groups) * units * 64, rate.into()));
    }

    // 12: latency.
    let mut chain = 0;
    if has(Part::Latency) {
        let behind = or(r.l3_latency.or(r.dram_latency), 0);
        let of_all = moved * groups;
        let not_in_l2 = u("beyond_l2_bytes").max(dram).min(of_all) * 64 / of_all.max(1);
        let far = or(r.l2_latency, 0) * 64 + (behind - or(r.l2_latency, 0)).max(0) * not_in_l2;
        chain = u("far_steps") * far
            + 64 * (u("near_steps") * or(r.l1_latency, 0)
                + u("local_steps") * or(r.local_latency, 0)
                + u("barriers") * or(r.barrier_latency, 0));
        if let Some(rate) = rate.filter(|_| has(Part::Issue)) {
            chain += ceil(issued * s * 64, rate);
        }
        busy.push(ceil(chain, held));
    }

    // 13 and 14: mixing and waves.
    let (m, sum) = (busy.iter().copied().max()?, busy.iter().sum::<i128>());
    let all_warps = s.max(held * warps);
    let mixed = if has(Part::Mixing) { (sum - m) * (all_warps + s) / (2 * all_warps) } else { 0 };
    let of_units = match has(Part::Tail) {
        true => ceil(groups, units) * (m + mixed),
        false => ceil(groups * (m + mixed), units),
    };

    // 15 to 18: the device, and `least_clocks`.
    let mut time = of_units.max(chain);
    let warm = has(Part::Warm) && r.l2_size.is_some() && dram <= caches;
    let rate = r.dram_megabytes_per_second.filter(|_| has(Part::Dram) && !warm);
    time = time.max(rate.zip(clock).map_or(0, |(rate, c)| ceil(dram * c * 64, rate.into())));
    let contention = r.shared_atomic_clocks.filter(|_| has(Part::Contention));
    time = time.max(contention.map_or(0, |c| u("shared_atomics") * i128::from(c) * 64));
    let dispatch = r.group_picoseconds.filter(|_| has(Part::Dispatch)).zip(clock);
    let dispatch = dispatch.map(|(p, c)| ceil(groups * i128::from(p) * c * 64, 1_000_000));
    time = time.max(dispatch.unwrap_or(0)).max(u("least_clocks") * 64);
    let launch = r.launch_nanoseconds.filter(|_| has(Part::Launch)).zip(clock);
    time += launch.map_or(0, |(n, c)| ceil(i128::from(n) * c * 64, 1000));
    Some(ceil(time, 64))
}
