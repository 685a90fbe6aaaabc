#!/usr/bin/env python3
"""A table of one space's best, worst and robust choice, in Markdown.

    schedules-space.py PROGRAM PROBLEM [SECONDS]

PROGRAM is tickbound, PROBLEM has an open schedule; SECONDS bound each search (600). It makes the second part of
docs/results/schedules.md.
"""

import json
import subprocess
import sys
import time


def row(program: str, problem: str, objective: str, seconds: str) -> str:
    """One search, as a row: the choice, its ticks, how it ended, and the seconds it took."""
    command = [program, "tune", problem, "--objective", objective, "--timeout", seconds, "--json", "--quiet"]
    begin = time.monotonic()
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    took = time.monotonic() - begin
    if run.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}")
    answer = json.loads(run.stdout)
    choice = ", ".join(f"{name}={value}" for name, value in (answer["configuration"] or {}).items())
    ends = f"{answer['best_case']} / {answer['worst_case']}"
    how = "proved" if run.returncode == 0 else f"{answer['lower']} to {answer['upper']}"
    return f"| {objective} | {choice} | {ends} | {how} | {took:.1f} s |"


def main() -> None:
    """Prints the table."""
    program, problem, *rest = sys.argv[1:]
    with open(problem, encoding="utf-8") as file:
        name = json.load(file)["name"]
    print(f"\n## A space: {name}\n")
    print(f"`tickbound tune {problem} --objective OBJECTIVE`, one run each.\n")
    print("| objective | choice | best / worst case of it | | time |\n| --- | --- | ---: | --- | ---: |")
    for objective in ("best", "worst", "robust"):
        print(row(program, problem, objective, *rest or ["600"]), flush=True)


if __name__ == "__main__":
    main()
