#!/usr/bin/env python3
"""The best case of one launch of the bench `ends` by OR-Tools' CP-SAT, one worker: cp_sat.py WARPS LOOPS GROUPS PLACES SLOTS SECONDS

SLOTS is 0 where there is no limit. Dispatchers may idle here although a warp is ready, which the semantics does not allow: a
relaxation that is easier for CP-SAT, and whose optimum may be less. Prints status, least time, bound and seconds.
"""

import sys

from ortools.sat.python import cp_model

DISPATCHERS, ISSUE, LATENCY, BARRIER, WORK = 2, 2, 10, 1, 4


def model(warps, loops, groups, places, slots):
    m = cp_model.CpModel()
    most = groups * loops * warps * (ISSUE + LATENCY + 2 * BARRIER + WORK)
    tick = lambda: m.new_int_var(0, most, "")
    busy = [[] for _ in range(DISPATCHERS)]
    held, resident, begins, ends = [], [], [], []
    for _ in range(groups):
        begin = now = tick()
        for _ in range(loops):
            arrived = []
            for warp in range(warps):
                start = tick()
                m.add(start >= now)
                busy[warp % DISPATCHERS].append(m.new_fixed_size_interval_var(start, ISSUE, ""))
                held.append(m.new_fixed_size_interval_var(start, ISSUE + LATENCY, ""))
                arrived.append(start + ISSUE + LATENCY)
            now = after(m, tick(), arrived)
            arrived = []
            for warp in range(warps):
                start = tick()
                m.add(start >= now)
                busy[warp % DISPATCHERS].append(m.new_fixed_size_interval_var(start, WORK, ""))
                arrived.append(start + WORK)
            now = after(m, tick(), arrived)
        resident.append(m.new_interval_var(begin, tick(), now, ""))
        begins.append(begin)
        ends.append(now)
    for intervals in busy:
        m.add_no_overlap(intervals)
    if slots:
        m.add_cumulative(held, [1] * len(held), slots)
    m.add_cumulative(resident, [1] * len(resident), places)
    # Groups are placed in order, and those that are alike may be named so.
    for before, later in zip(begins, begins[1:]):
        m.add(before <= later)
    end = tick()
    m.add_max_equality(end, ends)
    m.minimize(end)
    return m


def after(m, released, arrived):
    """The release of a barrier."""
    m.add_max_equality(released, [at + BARRIER for at in arrived])
    return released


def main():
    warps, loops, groups, places, slots, seconds = map(int, sys.argv[1:])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model(warps, loops, groups, places, slots))
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    least = int(solver.objective_value) if found else "-"
    print(solver.status_name(status), least, int(solver.best_objective_bound), f"{solver.wall_time:.3f}")


if __name__ == "__main__":
    main()
