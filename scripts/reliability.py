#!/usr/bin/env python3
"""Tries bad inputs, stops and kills on the program, and writes what came of them: docs/reliability.md.

    scripts/reliability.py TICKBOUND OUTPUT --date 2026-01-01 [--inputs 2000] [--stops 200] [--kills 50] [--seed 1] [--only ROW ...]

A part with 0 runs is left as it was, and so is each row that --only does not name: figures are kept beside the page, in OUTPUT
with .json for .md, after each row.

Bad inputs: files of the examples, changed at random, for each reader. Stops: signals at random moments, and times given by
--timeout. Kills: `measure` killed while it measures and started again, until it is done. Whatever breaks a promise of
SECURITY.md is printed with what is needed to see it again, and the exit status is 1.

What `cargo xtask run fuzz-guided` and `cargo xtask run mutants` leave in target/fuzz-guided and target/mutants is put into the page as well.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Seconds: what an input may take, how much later than asked a command may end, and how long a child may outlive it.
HANGS, LATE, ORPHAN = 10.0, 1.0, 1.0
# Time that --timeout gives to each bad input.
GIVEN = 5

BUFFERS, CHAIN = "examples/connectors/buffers.treo", "examples/connectors/chain.treo"
PROBLEMS = ["examples/problems/abstract.json", "examples/problems/minimum.json", "examples/problems/latency.json",
            "examples/problems/abstract-opencl.json", "examples/problems/gemm-resources.json"]
KERNELS = ["minimum", "reduction", "transpose", "convolution", "gemm"]
CONNECTORS = [name for name in sorted(glob.glob("examples/connectors/*.treo"))]

WORDS = [b"99999999999999999999", b"-1", b"0", b"9223372036854775807", b"(" * 400, b"[" * 5000, b'{"a":' * 3000, b"\0",
         b"\xff\xfe", b"\xef\xbb\xbf", b"1e999", b"null", b"true", b'""', b"/", b"%", b"..", b"a" * 5000, b"\r\n", b"\x1b[2J",
         b"/dev/zero", b"/dev/stdin", b"~", b"*", b'#include "/dev/zero"\n', b"#define A A A\nA\n", b"while(1);", b"- " * 4000,
         b"\xe2\x80\xae", b"$(reboot)", b"`x`", b";", b"}", b"]", b")"]


def mutated(text, chance):
    """A text with one to eight changes."""
    data = bytearray(text)
    for _ in range(chance.choice([1, 1, 2, 3, 8])):
        place, other = (chance.randrange(len(data) + 1) for _ in range(2))
        match chance.randrange(7):
            case 0 if place < len(data):
                data[place] = chance.randrange(256)
            case 1:
                data[place:place] = chance.choice(WORDS)
            case 2:
                del data[min(place, other):min(max(place, other), min(place, other) + 40)]
            case 3:
                lines = data.split(b"\n")
                line = chance.randrange(len(lines))
                lines[line:line + chance.randrange(2)] = [chance.choice(lines)]
                data = bytearray(b"\n".join(lines))
            case 4:
                data[place:place + 20] = data[other:other + 20]
            case 5:
                digits = [i for i, byte in enumerate(data) if 48 <= byte < 58]
                if digits:
                    at = chance.choice(digits)
                    data[at:at + 1] = chance.choice([b"0", b"-7", b"4096", b"9" * 25, b"1.5"])
            case _ if chance.randrange(8) == 0:
                del data[place:]
    return bytes(data)


def processes():
    """Parents and groups of all processes, by their numbers; and their command lines."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = open(path).read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            # Sessions are inherited by all children, unlike groups.
            found[int(path.split("/")[2])] = int(fields[3])
    return found


class Run:
    """A command in a session of its own, with a temporary folder of its own."""

    def __init__(self, arguments, folder, tickbound):
        self.scratch = folder
        environment = dict(os.environ, TMPDIR=str(folder), TICKBOUND_CACHE="off")
        self.began = time.monotonic()
        self.child = subprocess.Popen([tickbound, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=environment, start_new_session=True)

    def send(self, what):
        self.child.send_signal(what)
        self.began = time.monotonic()

    def end(self, limit):
        """Exit status (None: it hangs), outputs, and the seconds since it began or was sent a signal."""
        try:
            out, err = self.child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.communicate()
            return None, b"", b"", time.monotonic() - self.began
        return self.child.returncode, out, err, time.monotonic() - self.began

    def orphans(self):
        """Processes of the session that are alive some time after the command."""
        since = time.monotonic()
        while time.monotonic() - since < ORPHAN:
            left = [pid for pid, session in processes().items() if session == self.child.pid]
            if not left:
                return []
            time.sleep(0.02)
        return left


class Report:
    """Counts by what was tried, and what broke a promise."""

    def __init__(self, path, date):
        self.path, self.date = path, date
        self.rows = json.loads(path.read_text()) if path.exists() else {}
        self.new = set()

    def add(self, what, seconds, faults, again, note=""):
        if what not in self.new:
            self.rows[what] = {"date": self.date, "runs": 0, "faults": 0, "times": [], "broken": []}
            self.new.add(what)
        row = self.rows[what]
        row["runs"] += 1
        row["times"].append(round(seconds, 3))
        row["faults"] += bool(faults)
        row["note"] = note
        if faults:
            row["broken"].append(f"{what}: {'; '.join(faults)}: {again}")
            print(row["broken"][-1], file=sys.stderr, flush=True)

    def saved(self):
        """Keeps of the times what the page shows; to be called after each row."""
        for row in (self.rows[what] for what in self.new):
            times = sorted(row["times"])
            row["times"] = [times[len(times) // 2], times[-1]] if len(times) > 2 else times
        self.path.write_text(json.dumps(self.rows, indent=1) + "\n")

    def broken(self):
        return [line for row in self.rows.values() for line in row["broken"]]


def checked(status, err, seconds, limit, statuses):
    """What is wrong with an end."""
    faults = []
    if status is None:
        faults.append(f"no end within {limit:.0f} s")
    elif status not in statuses:
        faults.append(f"exit status {status}")
    elif seconds > limit:
        faults.append(f"{seconds:.2f} s")
    if b"panicked" in err:
        faults.append("a panic")
    return faults


# ---- bad inputs ------------------------------------------------------------------------------------------------------


def readers():
    """For each reader: the files to change, and the command for a changed one at `path`."""
    limit = ["--timeout", str(GIVEN)]
    kernels = [f"examples/kernels/{name}" for name in KERNELS]
    return {
        "problem files": (PROBLEMS, lambda path, _: ["tune", path, *limit]),
        "platform files": (sorted(glob.glob("crates/model/platforms/*.json"))[:4] ,
                           lambda path, _: ["tune", PROBLEMS[0], "--platform", path, *limit]),
        "T1 files": (["T1"], lambda path, _: ["tune", path, "--platform", "gtx-680", *limit]),
        "OpenCL C": ([f"{name}.cl" for name in kernels], "kernel"),
        "Treo": (CONNECTORS, lambda path, _: ["reo", "compose", path, *limit]),
        "ECT .cat": (["examples/connectors/fifo1.cat"], lambda path, _: ["reo", "compose", path, *limit]),
        "ECT .reo": (sorted(glob.glob("tests/corpus/reo/*.reo")), lambda path, _: ["reo", "compose", path, *limit]),
        "ECT .ea": (["tests/corpus/reo/buffers.ea"],
                    lambda path, _: ["reo", "compose", path, "--component", "FIFO", *limit]),
        "automata (JSON)": (["examples/connectors/two_places.json"],
                            lambda path, _: ["reo", "compose", path, *limit]),
        "measured times": (["CACHE"], lambda path, _: ["score", PROBLEMS[0], "--against", path, *limit]),
        "T4, KTT and packed times": (["tests/corpus/measured/t4.json", "tests/corpus/measured/ktt.json",
                                      "tests/corpus/measured/cache.json.gz"],
                                     lambda path, _: ["score", PROBLEMS[0], "--against", path, *limit]),
        "answers": (["ANSWER"], lambda path, folder: ["report", path, "--output", f"{folder}/page.html"]),
        "steps": (["STEPS"], lambda path, _: ["reo", "run", CHAIN, "--set", "n=2", "--steps", path, *limit]),
        "datasets": (["DATASET"], lambda path, _: ["reo", "verify", path, *limit]),
        "certificates": (["PROOF"], lambda path, _: ["check", path, *limit]),
    }


def prepared(tickbound, folder):
    """What the program itself writes and reads, and a cache: files, and folders of which one file is changed."""
    t1 = folder / "seed.t1.json"
    made = subprocess.run([tickbound, "export", "examples/kernels/minimum.json", "--to", "t1"], capture_output=True)
    t1.write_bytes(made.stdout)
    cache = folder / "seed.cache.json"
    entries = {f"{wg},{ts}": {"WG": wg, "TS": ts, "time": wg * 0.1 + ts, "times": [wg * 0.1 + ts]}
               for wg in (1, 2, 4) for ts in (1, 2, 4)}
    cache.write_text(json.dumps({"device_name": "d", "kernel_name": "k", "problem_size": [8],
                                 "tune_params_keys": ["WG", "TS"],
                                 "tune_params": {"WG": [1, 2, 4], "TS": [1, 2, 4]}, "cache": entries}))
    certificate = folder / "certificate"
    subprocess.run([tickbound, *CERTIFIED, "--certificate", str(certificate)], capture_output=True, check=True)
    proof = folder / "proof"
    subprocess.run([tickbound, "tune", PROBLEMS[0], "--certificate", str(proof)], capture_output=True, check=True)
    answer = folder / "answer.json"
    answer.write_bytes(subprocess.run([tickbound, "compare", PROBLEMS[1], "--engines", "enumerate", "--json"],
                                      capture_output=True).stdout)
    dataset, steps = folder / "dataset", folder / "steps"
    subprocess.run([tickbound, "reo", "compose", CHAIN, "--no-data", "--set", "n=6", "--stream", "--block", "2K",
                    "--dataset", str(dataset)], capture_output=True, check=True)
    steps.write_text("{x[0]}\n{x[1]}\n{x[2]}\n1 {x[0]}\n")
    return {"T1": t1, "CACHE": cache, "CERTIFICATE": certificate, "PROOF": proof, "ANSWER": answer, "DATASET": dataset,
            "STEPS": steps}


def bad_input(tickbound, what, number, seed, made):
    """Tries one changed file. Gives the seconds, the faults, and how to see it again."""
    chance = random.Random(f"{seed} {what} {number}")
    files, command = readers()[what]
    name = chance.choice(files)
    source = pathlib.Path(made.get(name, name))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / source.name
        if source.is_dir():
            shutil.copytree(source, path)
            spoilt = chance.choice(sorted(file for file in path.rglob("*") if file.is_file()))
        else:
            spoilt, path = path, shutil.copy(source, path)
        spoilt.write_bytes(mutated(spoilt.read_bytes(), chance))
        if command == "kernel":
            problem = pathlib.Path(path).with_suffix(".json")
            shutil.copy(source.with_suffix(".json"), problem)
            arguments = ["explain", str(problem), "--timeout", str(GIVEN)]
        else:
            arguments = command(str(path), folder)
        run = Run(arguments, folder, tickbound)
        status, _, err, seconds = run.end(HANGS)
        faults = checked(status, err, seconds, HANGS, (0, 1, 2))
        if status == 2 and len(err.strip().splitlines()) != 1:
            faults.append(f"{len(err.splitlines())} lines of errors")
        if b"\x1b" in err:
            faults.append("control characters in a message")
        if run.orphans():
            faults.append("a process is left")
        if glob.glob(f"{folder}/tickbound-*"):
            faults.append("a folder is left")
    return seconds, faults, f"seed {seed}, input {number} of {what}, from {name}"


# ---- stops -----------------------------------------------------------------------------------------------------------

# A least time whose certificate takes some seconds to check.
CERTIFIED = ["tune", "examples/problems/gemm-resources.json", "--size", "cltune"]

LONG = {
    "tune, listed": ["tune", PROBLEMS[0], "--input", "size=64", "--encoding", "event", "--strategy", "bisect-fresh"],
    "tune, slow to encode": ["tune", "examples/problems/reduction-h200.json", "--encoding", "event"],
    "tune, 241,600 points": ["tune", "examples/problems/gemm-resources.json", "--strategy", "branch"],
    "spin": ["spin", PROBLEMS[0], "--input", "size=512"],
    "spin, swarm": ["spin", PROBLEMS[0], "--input", "size=512", "--search", "swarm"],
    "reo compose": ["reo", "compose", "examples/connectors/alternator.treo", "--set", "n=18"],
    "tune, open schedules": ["tune", "examples/problems/latency.json", "--input", "size=512", "--set", "WG=64"],
    "tune, certificate": [*CERTIFIED, "--certificate", "FOLDER/certificate"],
    "why": ["why", "examples/problems/gemm-resources.json", "--size", "cltune"],
    "check": ["check", "CERTIFICATE"],
    "explain": ["explain", "examples/kernels/gemm.json"],
    "export": ["export", "examples/problems/reduction-h200.json", "--to", "btor2", "--encoding", "event",
               "--output", "FOLDER/model.btor2"],
    "score": ["score", PROBLEMS[0], "--against", "CACHE", "--guided-seeds", "1000000"],
    "reo check": ["reo", "check", "examples/connectors/alternator.treo", "--set", "n=18"],
    "reo equal": ["reo", "equal", BUFFERS, BUFFERS, "--set", "n=12"],
    "reo compose, minimised": ["reo", "compose", BUFFERS, "--set", "n=11", "--no-data", "--minimize", "weak"],
    "reo compose, dense": ["reo", "compose", BUFFERS, "--set", "n=16", "--no-data", "--mode", "dense", "--stream"],
    "reo compose, dataset": ["reo", "compose", CHAIN, "--set", "n=20", "--no-data", "--stream", "--block", "8M",
                             "--dataset", "FOLDER/dataset"],
    "calibrate": ["calibrate", "--output", "FOLDER/platform.json"],
    "compare": ["compare", PROBLEMS[0], "--input", "size=256", "--engines", "spin,smt-fresh"],
    "measure": ["measure", "examples/kernels/reduction.json", "--size", "small", "--sample", "40", "--device", "opencl"],
}
HOW = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, "timeout"]
# Gives its time to each engine.
ITS_OWN_TIME = ["compare"]


def stop(tickbound, what, number, seed, made):
    """Stops one command at a random moment."""
    chance = random.Random(f"{seed} {what} {number}")
    how = chance.choice([h for h in HOW if what not in ITS_OWN_TIME or h != "timeout"])
    after = chance.choice([0.02, 0.2, 1.0, 3.0]) * chance.uniform(0.2, 1.5)
    with tempfile.TemporaryDirectory() as folder:
        more = ["--cache", f"{folder}/cache.json"] if what == "measure" else []
        more += ["--timeout", f"{after:.3f}"] if how == "timeout" else []
        command = [str(made.get(argument, argument)).replace("FOLDER", folder) for argument in LONG[what]]
        run = Run([*command, *more], folder, tickbound)
        if how != "timeout":
            time.sleep(after)
            ended = run.child.poll() is not None
            if not ended:
                run.send(how)
            status, _, err, seconds = run.end(60)
            seconds = 0.0 if ended else seconds
        else:
            status, _, err, seconds = run.end(60)
            seconds = max(0.0, seconds - after)
        # A signal that comes before the program listens ends it as any other.
        early = (-int(how),) if how != "timeout" else ()
        faults = checked(status, err, seconds, LATE, (0, 1, *early))
        if run.orphans():
            faults.append("a process is left")
        subprocess.run([tickbound, "platforms"], capture_output=True, env=dict(os.environ, TMPDIR=folder))
        if glob.glob(f"{folder}/tickbound-*"):
            faults.append("a folder is left after the next start")
        how = how if how == "timeout" else how.name
    return seconds, faults, f"{' '.join(run.child.args)}, {how} after {after:.3f} s: {err[-200:]!r}"


# ---- kills -----------------------------------------------------------------------------------------------------------


def kept(cache):
    """The entries of a cache, by their keys: those whose line is whole."""
    lines = cache.read_text().split("\n") if cache.exists() else []
    whole = [line.rstrip().rstrip(",") for line in lines if line.startswith('"') and '"time"' in line
             and line.rstrip().endswith(("},", "}"))]
    return dict(line.split(": ", 1) for line in whole)


def killed(run, cache, more, after):
    """Kills a measurement some seconds after so many entries more have come. False if it has come to its end by then."""
    wanted = len(kept(cache)) + more
    while run.child.poll() is None and len(kept(cache)) < wanted:
        time.sleep(0.002)
    time.sleep(after)
    if run.child.poll() is not None:
        run.child.communicate()
        return False
    run.child.kill()
    run.child.communicate()
    return True


def kills(tickbound, count, seed, report):
    """Kills a measurement again and again; nothing that was once in its cache may get lost, or change."""
    chance = random.Random(f"{seed} kills")
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache.json"
        arguments = ["measure", "examples/kernels/reduction.json", "--size", "small", "--all", "--device", "opencl",
                     "--cache", str(cache)]
        before, there = {}, []
        while len(there) < count:
            run = Run(arguments, folder, tickbound)
            # Most while it measures, some while it reads and prepares.
            more, after = chance.choice([(0, 1.0), (1, 0.05), (chance.randrange(2, 12), 0.15), (chance.randrange(2, 25), 0.15)])
            if not killed(run, cache, more, after * chance.random()):
                # All is measured: from the beginning.
                cache.unlink(missing_ok=True)
                before = {}
                continue
            seconds = time.monotonic() - run.began
            faults = ["a process is left"] if run.orphans() else []
            subprocess.run([tickbound, "platforms"], capture_output=True, env=dict(os.environ, TMPDIR=folder))
            if glob.glob(f"{folder}/tickbound-*"):
                faults.append("a folder is left after the next start")
            now = kept(cache)
            lost = [key for key, entry in before.items() if now.get(key) != entry]
            if lost:
                faults.append(f"{len(lost)} entries are lost or changed")
            before = now
            there.append(len(now))
            report.add("measure, killed", seconds, faults, f"seed {seed}, kill {len(there)}")
        # It goes on to the end, and any reader of JSON can read what it has written.
        run = Run(arguments, folder, tickbound)
        status, _, err, seconds = run.end(600)
        faults = [] if status == 0 else [f"exit status {status}: {err[-200:]!r}"]
        entries = json.loads(cache.read_text())["cache"] if not faults else {}
        if not faults and any(json.loads(key) not in entries for key in before):
            faults.append("entries are lost at the end")
        note = (f"Entries that were in the cache at each kill: {', '.join(map(str, there))}; at the end {len(entries)}. "
                "Where fewer follow, all were measured in between, and it began anew.")
        report.add("measure, to its end", seconds, faults, f"seed {seed}", note)


# ---- what other targets have left -----------------------------------------------------------------------------------


def guided(report):
    """The last lines of libFuzzer for each reader, from the logs of scripts/fuzz-guided.sh."""
    for log in sorted(pathlib.Path("target/fuzz-guided").glob("*.log")):
        text = log.read_text(errors="replace")
        runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        covered = re.findall(r" cov: (\d+)", text)
        seconds = re.findall(r"Done \d+ runs in (\d+) second", text)
        if runs and covered and seconds:
            report.rows[f"guided: {log.stem}"] = {
                "date": report.date, "runs": int(runs[1]), "seconds": int(seconds[-1]), "covered": [int(covered[0]), int(covered[-1])],
                "faults": int("SUMMARY: " in text), "broken": []}


def mutants(report):
    """What came of changes to the program, from the folders of cargo-mutants."""
    root = pathlib.Path("target/mutants")
    for folder in sorted(root.rglob("mutants.out")):
        lines = lambda name: len((folder / name).read_text().splitlines()) if (folder / name).exists() else 0
        row = {"seen": lines("caught.txt") + lines("previously_caught.txt"), "unseen": lines("missed.txt"),
               "endless": lines("timeout.txt"), "unbuilt": lines("unviable.txt")}
        if any(row.values()):
            part = str(folder.parent.relative_to(root))
            report.rows[f"mutants: {part}"] = {"date": report.date, **row, "broken": []}


def section(report, kind, heading, cells):
    """The rows of one kind as a table."""
    rows = [(name.removeprefix(f"{kind}: "), row) for name, row in report.rows.items() if name.startswith(f"{kind}: ")]
    lines = [f"| | date | {' | '.join(heading)} |", "|---|---|" + "---:|" * len(heading)]
    lines += [f"| {name} | {row['date']} | {' | '.join(cells(row))} |" for name, row in rows]
    return "\n".join(lines) if rows else "Nothing was tried."


# ---- the page --------------------------------------------------------------------------------------------------------


def table(report, names, last):
    lines = [f"| | date | runs | broken promises | median | longest {last} |", "|---|---|---:|---:|---:|---:|"]
    for name in names:
        row = report.rows.get(name)
        if row:
            median, longest = row["times"][len(row["times"]) // 2 - 1], row["times"][-1]
            lines.append(f"| {name} | {row['date']} | {row['runs']:,} | {row['faults']} | {median:.2f} s | {longest:.2f} s |")
    return "\n".join(lines)


def page(report, options):
    entries = report.rows.get("measure, to its end", {}).get("note", "")
    broken = "\n".join(f"- {line}" for line in report.broken()) or "None."
    return f"""# Reliability

What was tried with seed {options.seed} by `cargo xtask run reliability`; up to {options.at_once} commands at a time on a machine with
{os.cpu_count()} processors. What is promised: SECURITY.md.

## Bad inputs

Files of the examples with one to eight random changes. Each run ends by itself within {HANGS:.0f} s with exit status 0, 1 or 2,
one line of error without control characters, no panic, no process and no folder left.

{table(report, readers(), "run")}

## Stops

SIGINT, SIGTERM, SIGHUP or `--timeout` at a random moment between 4 ms and 4.5 s. Each command ends within {LATE:.0f} s, with exit
status 0 or 1, no process left {ORPHAN:.0f} s later, no temporary folder after the next start. Times are from the stop to the end.

{table(report, LONG, "delay")}

## Kills

`measure` on PoCL is killed (SIGKILL), mostly while it measures, and started again with the same cache. No entry that was once in the
cache gets lost or changes, no process and no folder is left. {entries}

{table(report, ["measure, killed", "measure, to its end"], "run")}

## Guided fuzzing

The readers in one process, with inputs that libFuzzer makes up, guided by the edges of the program that they reach (`cargo xtask run fuzz-guided`). It
begins with the files of `tests/corpus`. Faults are panics, messages of several lines, more than 4 GB of memory, and more than 60 s.

{section(report, "guided", ["inputs", "seconds", "faults", "edges at first", "edges at last"],
         lambda row: [f"{row['runs']:,}", f"{row['seconds']}", f"{row['faults']}", *(f"{n:,}" for n in row["covered"])])}

## Changes that tests see

Bounds, caches and the reachable product are changed in small ways, one at a time, and the tests of their package are run (`cargo xtask run mutants`).
A change that no test sees shows a test that is missing, unless it changes nothing that can be seen: those are in
`.cargo/mutants.toml`, each with the reason, and are not tried.

{section(report, "mutants", ["seen by a test", "seen by none", "endless", "not built"],
         lambda row: [f"{row[key]:,}" for key in ("seen", "unseen", "endless", "unbuilt")])}

## Broken promises

{broken}
"""


def main():
    # Who is started in the background may ignore these, and so would all that is started here.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tickbound")
    parser.add_argument("output")
    parser.add_argument("--date", required=True)
    for name, count in [("inputs", 2000), ("stops", 200), ("kills", 50), ("seed", 1)]:
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--only", nargs="+", help="these rows of the tables alone, such as `explain`, or `kills`")
    parser.add_argument("--at-once", type=int, default=2, help="commands that run at a time")
    options = parser.parse_args()
    tickbound, output = os.path.abspath(options.tickbound), pathlib.Path(options.output)
    report = Report(output.with_suffix(".json"), options.date)
    asked = lambda what: options.only is None or what in options.only
    parts = [(bad_input, what, options.inputs) for what in readers()] + [(stop, what, options.stops) for what in LONG]
    parts = [(part, what, count) for part, what, count in parts if asked(what) and count]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        made = prepared(tickbound, pathlib.Path(folder)) if parts else {}
        for part, what, count in parts:
            for result in pool.map(lambda n: part(tickbound, what, n, options.seed, made), range(count)):
                report.add(what, *result)
            report.saved()
            print(f"{what}: {report.rows[what]['faults']} of {count}", file=sys.stderr, flush=True)
    if options.kills and asked("kills"):
        kills(tickbound, options.kills, options.seed, report)
    guided(report)
    mutants(report)
    report.saved()
    output.write_text(page(report, options))
    sys.exit(1 if report.broken() else 0)


if __name__ == "__main__":
    main()
