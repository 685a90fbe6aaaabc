#!/usr/bin/env python3
"""Measures how long launches take whose groups differ: docs/results/guards.md.

    scripts/guards-report.py TICKBOUND OUTPUT --date 2026-01-01

Each cell is the least time and the wall-clock seconds of one `tickbound tune`, from its start to its end, over 16
configurations: four sizes of a group and four numbers of a loop.
"""

import argparse
import json
import pathlib
import platform
import subprocess
import tempfile
import time

BITS = [10, 14, 18, 22, 26, 30]

ROW = "group % across * WX + lid % WX"
COLUMN = "group // across * WY + lid // WX"
BORDER = f"{ROW} == 0 or {ROW} == side - 1 or {COLUMN} == 0 or {COLUMN} == side - 1"

LOOP = {"repeat": "K", "body": [{"global": 1}, {"compute": "1 + 8 // K"}]}

KERNELS = {
    "`gid < n`": [{"if": "gid < n", "then": [LOOP]}],
    "`gid < n`, the launch rounded up": [{"if": "gid < n - 100", "then": [LOOP]}],
    "`x < side and y < side`": [{"if": f"{ROW} < side and {COLUMN} < side", "then": [LOOP]}],
    "the same, rounded up": [{"if": f"{ROW} < side - 3 and {COLUMN} < side - 5", "then": [LOOP]}],
    "a border with work of its own": [{"if": BORDER, "then": [{"global": 3}], "else": [LOOP]}],
    "a loop of `gid + 1` iterations": [{"repeat": "gid + 1", "body": [{"compute": "K"}]}, "barrier", LOOP],
    "a loop of `n - gid` iterations": [{"repeat": "n - gid", "body": [{"compute": "K"}]}, "barrier", LOOP],
}


def problem(kernel, bits):
    """A problem of 2 to the power of `bits` items."""
    return {
        "name": "guards",
        "inputs": {"n": 1 << bits, "side": 1 << bits // 2},
        "platform": "h200",
        "parameters": {"WX": [16, 32], "WY": [4, 8], "K": [1, 2, 4, 8]},
        "definitions": {"across": "side // WX"},
        "launch": {"global_size": "n", "local_size": "WX * WY"},
        "kernel": kernel,
    }


def measured(tickbound, value):
    """The answer of `tune`, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "guards.json"
        path.write_text(json.dumps(value))
        begin = time.monotonic()
        done = subprocess.run(
            [tickbound, "tune", str(path), "--json"], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - begin
    if done.returncode:
        raise SystemExit(f"{done.stderr.strip()}\n{json.dumps(value)}")
    return json.loads(done.stdout), seconds


def cell(answer, seconds):
    assert answer["status"] == "optimal", answer
    return f"{answer['upper']} / {seconds:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tickbound")
    parser.add_argument("output")
    parser.add_argument("--date", required=True)
    arguments = parser.parse_args()
    lines = [
        "# Launches whose groups differ",
        "",
        f"Written by `cargo xtask run guards` on {arguments.date}, {platform.machine()}. Each cell: the least time in ticks,"
        " proved over 16 configurations for the platform `h200`, and the wall-clock seconds of the whole command.",
        "",
        "| guard | " + " | ".join(f"2^{bits} items" for bits in BITS) + " |",
        "| :--- |" + " ---: |" * len(BITS),
    ]
    for name, kernel in KERNELS.items():
        cells = [cell(*measured(arguments.tickbound, problem(kernel, b))) for b in BITS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    pathlib.Path(arguments.output).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
