#!/usr/bin/env python3
"""Counts, lists and draws from examples/spaces, with tickbound and Kernel Tuner; writes times.

    published-spaces.py LIST_SPACE PAGE --date DATE

LIST_SPACE is the example of that name, compiled:
`cargo build --release -p tickbound-model --example list_space`. PAGE is
docs/results/published-spaces.md. `scripts/setup-python.sh kernel-tuner kernel_tuner` prints a
Python that has Kernel Tuner.
It fails, and writes nothing, if the two differ in a number or in a configuration.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

from kernel_tuner.searchspace import Searchspace

ROOT = Path(__file__).parent.parent
REPEATS = 3
DRAWS = 1000

PAGE = """# Published spaces, beside Kernel Tuner

Written by `scripts/published-spaces.py` on {date}: {cpu}, {cores} cores, shared with other jobs \
(load {before:.2f} when this began, {after:.2f} when it ended), tickbound {tickbound}, Kernel \
Tuner {kernel_tuner}, Python {python}.

The eight spaces on which Willemsen, van Nieuwpoort and van Werkhoven measure Kernel Tuner \
(*Efficient Construction of Large Search Spaces for Auto-Tuning*, 2025, [arXiv \
2509.26253](https://arxiv.org/abs/2509.26253)), from `searchspaces_provider.py` of their \
[artefact](https://github.com/fjwillemsen/kernel_tuner_paper) (commit 5ea2c22). They are problem \
files in `examples/spaces`; both programs take parameters and restrictions from these. In each \
space both find the same configurations: the script compares the sorted lists, and fails where \
they differ.

{table}

Parameters with one value count as parameters; points are choices before any restriction. Times \
are wall-clock seconds, medians of {repeats}:

* tickbound, *count*: reads the file, makes relations of the restrictions, and counts by \
elimination.
* tickbound, *list*: after that, all valid configurations as a list in memory, in the order of \
the domains.
* tickbound, *draw*: {draws:,} configurations after *count*, without the list; each time all are \
equally likely, so one may be drawn twice.
* Kernel Tuner, *build*: `Searchspace(parameters, restrictions, max_threads)`, which makes the \
list. Starting Python and importing take further time.
* Kernel Tuner, *draw*: `get_random_sample({draws})`, from the list, without repetition.

ExpDist has a restriction that its definition lacks: the limit of 1024 items in a group, which \
Kernel Tuner adds where parameters are called `block_size_x`
and `block_size_y`. Without it 504,000 configurations are valid. The script switches Kernel \
Tuner's own limit off.
"""


def ours(program: str, file: Path) -> dict:
    """What the example prints, with the median times."""
    runs = []
    for _ in range(REPEATS):
        command = [program, str(file), str(DRAWS)]
        runs.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
    seconds = zip(*(run["seconds"] for run in runs))
    return runs[0] | {"seconds": [statistics.median(some) for some in seconds]}


def theirs(problem: dict) -> tuple[list, list[float]]:
    """The list of Kernel Tuner, and the median seconds to build it and to draw from it."""
    runs = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        space = Searchspace(problem["parameters"], problem["constraints"], sys.maxsize)
        built = time.perf_counter()
        assert len(space.get_random_sample(DRAWS)) == DRAWS
        runs.append((built - begin, time.perf_counter() - built))
    return space.list, [statistics.median(some) for some in zip(*runs)]


def row(program: str, file: Path) -> str:
    """One space, as a row."""
    problem = json.loads(file.read_text())
    found = ours(program, file)
    # Python warns about the restrictions as Kernel Tuner compiles them.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, their_seconds = theirs(problem)
    listed = sorted(map(tuple, found["list"]))
    if int(found["count"]) != len(expected) or listed != sorted(map(tuple, expected)):
        own = f"{found['count']} counted, {len(listed)} listed"
        sys.exit(f"{file}: differs: {own}, Kernel Tuner: {len(expected)}")
    if len(found["drawn"]) != DRAWS or not set(map(tuple, found["drawn"])) <= set(listed):
        sys.exit(f"{file}: what was drawn is not in the list")
    numbers = [len(problem["parameters"]), found["points"], len(listed)]
    name = problem["name"].removeprefix("published space: ")
    cells = [name, *(f"{n:,}" for n in numbers)]
    cells += [f"{s:.4f}" for s in found["seconds"] + their_seconds]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("page", type=Path)
    parser.add_argument("--date", required=True)
    arguments = parser.parse_args()
    before = os.getloadavg()[0]
    head = ["space", "parameters", "points", "valid", "tickbound: count", "list", f"draw {DRAWS:,}"]
    head += ["Kernel Tuner: build", f"draw {DRAWS:,}"]
    table = ["| " + " | ".join(head) + " |", "| :--- |" + " ---: |" * (len(head) - 1)]
    for file in sorted((ROOT / "examples/spaces").glob("*.json")):
        table.append(row(arguments.program, file))
        print(table[-1], flush=True)
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    arguments.page.write_text(PAGE.format(
        date=arguments.date, cpu=cpu[1] if cpu else platform.machine(), cores=os.cpu_count(),
        before=before, after=os.getloadavg()[0], tickbound=version[1] if version else "",
        python=platform.python_version(), table="\n".join(table), repeats=REPEATS, draws=DRAWS,
        kernel_tuner=importlib.metadata.version("kernel_tuner")))


if __name__ == "__main__":
    main()
