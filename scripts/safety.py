#!/usr/bin/env python3
"""Compares the verdicts of `tickbound verify` with those of a list: docs/results/safety.md.

    scripts/safety.py TICKBOUND LIST SUITE --before ANNOTATIONS [--output PAGE] [--only WORD] [--jobs 2]

LIST has a kernel a line, in columns between tabs: path, header, flags, expect, scored, annotations, note,
sha256. SUITE is the folder that the paths count from: testsuite/OpenCL of a checkout of mc-imperial/gpuverify.
ANNOTATIONS is a header that gives the suite's annotations a meaning. Of the suite only paths and verdicts are
written.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re
import subprocess
import tempfile
import time

# How long a kernel may take, in seconds.
LIMIT = 60
# A launch that any kernel of the list fits.
PLATFORM = {
    "name": "any", "tick": "none", "units_per_device": 1, "elements_per_unit": 1, "global_access": 1,
    "local_access": 1, "compute_op": 1, "max_group_size": 1 << 30,
}
FAULTS = {
    "divergence": "divergence",
    "bounds": "bounds",
    "race": "race",
    "race-of-groups": "race",
}


def sizes(flags, name):
    """The sizes that an option gives; `None` where it is absent."""
    found = re.search(r"--" + name + r"=\[?([\d,*]+)\]?", flags)
    if not found:
        return None
    # Any number: several will do.
    return [8 if n == "*" else int(n) for n in found[1].split(",")]


def launch(flags):
    """Global and local sizes of the launch."""
    local = sizes(flags, "local_size") or [64]
    groups, items = sizes(flags, "num_groups"), sizes(flags, "global_size")
    if items is None:
        groups = groups or [64]
        length = max(len(local), len(groups))
        local, groups = (part + [1] * (length - len(part)) for part in (local, groups))
        items = [a * b for a, b in zip(local, groups)]
    length = max(len(local), len(items))
    return [part + [1] * (length - len(part)) for part in (items, local)]


def kernels(text):
    """The names of the kernels in a source."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    attribute = r"(?:__attribute__\s*\(\(.*?\)\)\s*)?"
    found = re.findall(r"\b(?:__)?kernel\b\s*" + attribute + r"\s*\w*\s*" + attribute + r"void\s*" + attribute + r"\s*(\w+)\s*\(", text, re.S)
    return found or re.findall(r"\bvoid\s+(\w+)\s*\(", text)


def verify(tickbound, row, suite, before):
    """What is said of a kernel: verdict, reason, seconds."""
    source = suite / row["path"]
    text = source.read_text(errors="replace")
    items, local = launch(row["flags"])
    defines = dict(re.findall(r"-D\s*(\w+)=(\w+)", row["flags"]))
    defines |= {name: "1" for name in re.findall(r"-D\s*(\w+)(?![\w=])", row["flags"])}
    verdicts, reasons, begin = set(), [], time.monotonic()
    for entry in kernels(text):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            kernel = {"opencl": ["before.h", "kernel.cl"], "entry": entry, "include": ["suite"]}
            if defines:
                kernel["defines"] = {n: int(v) if v.isdigit() else v for n, v in defines.items()}
            problem = {
                "version": 1, "name": row["path"], "inputs": {}, "platform": PLATFORM, "parameters": {},
                "launch": {"global_size": items, "local_size": local}, "kernel": kernel,
            }
            (folder / "before.h").write_text(before)
            (folder / "kernel.cl").write_text(text)
            (folder / "suite").symlink_to(source.parent)
            (folder / "problem.json").write_text(json.dumps(problem))
            command = [tickbound, "verify", str(folder / "problem.json"), "--json", "--timeout", str(LIMIT)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            verdicts.add("unknown")
            reasons.append((done.stderr.strip().splitlines() or ["no answer"])[-1])
            continue
        verdicts |= judged(answer, reasons, "--check-array-bounds" in row["flags"])
    return verdicts, reasons, time.monotonic() - begin


def judged(answer, reasons, bounds):
    """The verdicts of an answer; without `bounds`, those about bounds are left out."""
    verdicts = set()
    for one in answer["judged"]:
        if one["claim"] in ("division", "written", "overflow") or one["claim"] == "bounds" and not bounds:
            continue
        if one["judgement"] == "refuted":
            fault = FAULTS[one["claim"]]
            same = fault == "race" and one["witness"]["same_value"]
            verdicts.add("benign" if same else fault)
        elif one["judgement"] == "undecided":
            # The length of a buffer is not in the list.
            if "gives no length" in (one["reason"] or ""):
                continue
            verdicts.add("unknown")
            reasons.append(f"{one['claim']} {[at['line'] for at in one['at']]}: {one['reason']}")
    if answer["unread"] or answer["stopped"]:
        verdicts.add("unknown")
        reasons.extend(answer["unread"] or ["stopped"])
    return verdicts


def score(expect, verdicts):
    """right, unknown, wrong (a faulty kernel is called safe) or false alarm."""
    found = verdicts - {"unknown"}
    if expect == "safe":
        return "right" if not verdicts else "false alarm" if found else "unknown"
    if expect == "benign":
        return "right" if found & {"benign", "race"} else "unknown" if "unknown" in verdicts else "wrong"
    if expect in found or expect == "race" and "benign" in found:
        return "right"
    if found:
        return "right" if expect in ("divergence",) and "race" in found else "other fault"
    return "unknown" if verdicts else "wrong"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tickbound")
    parser.add_argument("list")
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--details", action="store_true")
    options = parser.parse_args()
    before = options.before.read_text()
    with open(options.list, encoding="utf-8") as lines:
        rows = [r for r in csv.DictReader(lines, delimiter="\t") if r["scored"] == "yes" and options.only in r["path"]]
    run = lambda row: verify(options.tickbound, row, options.suite, before)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(run, rows))
    table = collections.Counter()
    lines = []
    for row, (verdicts, reasons, seconds) in zip(rows, answers):
        result = score(row["expect"], verdicts)
        table[row["expect"], result] += 1
        said = ", ".join(sorted(verdicts)) or "safe"
        lines.append((row["path"].removesuffix("/kernel.cl"), row["expect"], said, result, seconds))
        if options.details and result != "right":
            print(f"{result:12} {row['path']}: {row['expect']}, said {said} ({seconds:.1f} s) {'; '.join(reasons)[:300]}")
    total = sum(table.values())
    for (expect, result), count in sorted(table.items()):
        print(f"{expect:12} {result:12} {count}")
    right = sum(count for (_, result), count in table.items() if result == "right")
    print(f"{right} of {total} right ({100 * right / max(total, 1):.1f} %)")
    if options.output:
        options.output.write_text(page(lines, table))


def page(lines, table):
    """The page of results."""
    results = ["right", "unknown", "false alarm", "other fault", "wrong"]
    text = "# GPUVerify's test suite\n\nVerdicts of `tickbound verify` on kernels of mc-imperial/gpuverify, by "
    text += "`scripts/safety.py`.\n`wrong`: a faulty kernel is called safe. `unknown`: not decided.\n\n"
    text += "| expected | " + " | ".join(results) + " |\n|" + " --- |" * (len(results) + 1) + "\n"
    for expect in sorted({expect for expect, _ in table}):
        text += f"| {expect} | " + " | ".join(str(table[expect, r]) for r in results) + " |\n"
    times = sorted((seconds, path) for path, *_, seconds in lines)
    text += f"\nSeconds of a whole run of the program: median {times[len(times) // 2][0]:.2f}, "
    text += f"longest {times[-1][0]:.1f} (`{times[-1][1]}`), all {sum(t for t, _ in times):.0f}.\n"
    text += "\n| kernel | expected | said | result | seconds |\n| --- | --- | --- | --- | ---: |\n"
    for path, expect, said, result, seconds in lines:
        text += f"| {path} | {expect} | {said} | {result} | {seconds:.1f} |\n"
    return text


if __name__ == "__main__":
    main()
