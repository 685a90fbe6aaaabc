#!/usr/bin/env python3
"""Says how many kernels in CUDA and HIP of a list are read and tuned: docs/results/cuda.md.

    scripts/coverage_cuda.py TICKBOUND LIST FOLDER [PART]

LIST has fields between tabs under the names `repository`, `path`, `names` (kernels) and `defines`
(NAME=VALUE of their tuners); FOLDER has a folder `owner+name` for each repository. PART restricts
it to files and kernels whose name contains it. Nothing is written into the folders that stays.
"""

import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import sys

# Seconds for `init`, and for a proof.
READING = 120
TUNING = 10


def last(text):
    """The last line of a text."""
    return (text.strip().splitlines() or ["nothing is said"])[-1]


def kernel(tickbound, root, source, name, defines):
    """What becomes of a kernel: `ok`, or the command that failed, and why."""
    folder = root / source.relative_to(root).parts[0]
    problem = source.parent / f"coverage-{source.stem}-{name}.json"
    command = [tickbound, "init", str(source), "--entry", name, "--output", str(problem)]
    command += ["--force", "--include", str(folder)]
    for define in defines:
        key, value = define.split("=", 1)
        number = value.isdigit()
        command += ["--parameter", f"{key}=[{value}]"] if number else ["--define", define]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=READING)
        if done.returncode != 0 or not problem.exists():
            missing = re.findall(r"^missing: (.*)", done.stdout, re.M)
            return "init", missing[-1] if missing else last(done.stderr)
        command = [tickbound, "tune", str(problem), "--json", "--timeout", str(TUNING)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=READING)
        status = json.loads(done.stdout)["status"] if done.stdout else last(done.stderr)
        return ("ok" if status == "optimal" else "tune"), status
    except subprocess.TimeoutExpired:
        return "late", "not in time"
    finally:
        problem.unlink(missing_ok=True)


def main():
    tickbound, names, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    part = sys.argv[4] if len(sys.argv) > 4 else ""
    jobs = []
    for row in csv.DictReader(open(names), delimiter="\t"):
        source = root / row["repository"].replace("/", "+") / row["path"]
        if not source.exists():
            print("absent", row["repository"], row["path"])
            continue
        wanted = [name for name in row["names"].split() if part in f"{source} {name}"]
        jobs += [(source, name, row["defines"].split()) for name in wanted]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda job: kernel(tickbound, root, *job), jobs))
    for (source, name, _), (status, why) in zip(jobs, results):
        if status != "ok":
            print(status, source.relative_to(root), name, "|", why[:200])
    print(collections.Counter(status for status, _ in results), "of", len(results))


if __name__ == "__main__":
    main()
