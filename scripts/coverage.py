#!/usr/bin/env python3
"""Says how much of folders of kernels is read and tuned: docs/results/coverage.md.

    scripts/coverage.py TICKBOUND OUTPUT --date 2026-01-01 [--projects LIST] FOLDER...

Each NAME.json in a folder that names a source is a problem; NAME.fixed.json is the same with its questions
answered. LIST names projects whose kernels are proposed by `init` as they are: a line each, of
fields between tabs: name, sources (a pattern), folders for #include, files before each source,
folders of host programs (several with blanks between). Paths count from the folder of LIST. Nothing
of the sources goes into the page but names and messages of one line.
"""

import argparse
import collections
import csv
import glob
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

# How long a command may take, in seconds.
READING = 120
TUNING = 10
MOST_QUESTIONS = 12

ATTRIBUTE = r"(?:__attribute__\s*\(\(.*?\)\)\)\s*)?"
KERNEL = re.compile(
    r"\b(?:__)?kernel\b[^;{}#]*?\bvoid\b[^;{}(#]*?" + ATTRIBUTE + r"(\w+)\s*\([^#]", re.S
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
SEVERAL = re.compile(r"(?:it has several kernels; add --entry|; --entry may be) (.*)")

QUESTION = re.compile(r'add "(bounds|branches)": \{ ("(?:[^"\\]|\\.)*"): ("both"|1) \}')


def run(arguments, seconds):
    """The exit status (None: too late), standard output, standard error, and the seconds it took."""
    begin = time.monotonic()
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=seconds)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = None, "", ""
    return status, out, err, time.monotonic() - begin


def ask(tickbound, path, problem):
    """Reads a problem; answers its questions, as they come, with `both` and 1. Gives the questions, what is
    wrong in the end, and the seconds of the last reading."""
    questions = []
    while True:
        status, _, err, seconds = run([tickbound, "explain", str(path), "--json"], READING)
        if status is None:
            return questions, f"not read within {READING} s", seconds
        if status in (0, 1):
            return questions, None, seconds
        message = err.strip().splitlines()[-1] if err.strip() else f"exit status {status}"
        asked = QUESTION.search(message)
        if not asked or len(questions) >= MOST_QUESTIONS:
            return questions, message, seconds
        field, key, answer = asked[1], json.loads(asked[2]), json.loads(asked[3])
        questions.append(key)
        problem["kernel"].setdefault(field, {})[key] = answer
        path.write_text(json.dumps(problem))


def tune(tickbound, path):
    """Whether it is proved within the time, and the seconds."""
    arguments = [tickbound, "tune", str(path), "--json", "--timeout", str(TUNING)]
    status, out, err, seconds = run(arguments, 6 * TUNING + READING)
    try:
        answer = json.loads(out)
    except json.JSONDecodeError:
        last = err.strip().splitlines()[-1] if err.strip() else "no answer"
        return f"no: {last}", seconds
    spent = answer.get("seconds", seconds)
    if answer["status"] == "optimal":
        return ("yes" if spent < TUNING else "late"), spent
    stopped = answer.get("stopped_by") or answer["status"]
    return f"no: {answer['lower']} to {answer['upper']}, {stopped}", spent


def row(tickbound, source):
    """One kernel: its cells, and its questions."""
    problem = json.loads(source.read_text())
    with tempfile.TemporaryDirectory() as folder:
        # Paths count from the problem file: the copy that gets the answers names the source in full.
        kernel = problem["kernel"]
        names = [kernel["opencl"]] if isinstance(kernel["opencl"], str) else kernel["opencl"]
        full = [str((source.parent / name).resolve()) for name in names]
        kernel["opencl"] = full[0] if isinstance(kernel["opencl"], str) else full
        path = pathlib.Path(folder) / source.name
        path.write_text(json.dumps(problem))
        questions, wrong, seconds = ask(tickbound, path, problem)
        if wrong:
            wrong = wrong.replace(str(source.parent.resolve()) + "/", "")
            return [source.stem, "no", len(questions), f"{seconds:.1f}", wrong, ""], questions
        proved, spent = tune(tickbound, path)
        return [source.stem, "yes", len(questions), f"{seconds:.1f}", proved, f"{spent:.1f}"], questions


def entries(tickbound, source, given):
    """The kernel functions of a source: those that `init` names, and those that its text names."""
    init = [tickbound, "init", str(source), "--force", *given]
    status, _, err, _ = run(init, READING)
    several = SEVERAL.search(err)
    text = COMMENT.sub(" ", source.read_text(errors="replace"))
    macros = re.findall(r"^\s*#\s*define\s+(\w+)\(", text, re.M)
    named = [name for name in KERNEL.findall(text) if name not in macros]
    if not several and status in (0, 1):
        # The text may not show the name of the one that there is.
        several = SEVERAL.search(run([*init, "--entry", "?"], READING)[2])
        named = [] if several else named[:1]
    listed = re.split(" or (?:--entry )?", several[1]) if several else []
    return list(dict.fromkeys([*listed, *named]))


def proposed(tickbound, source, entry, given):
    """What becomes of a kernel function: the reason why not, or None; the answers that were
    guessed; and whether the launch is a guess."""
    problem = source.with_name("problem.json")
    problem.unlink(missing_ok=True)
    arguments = ["--entry", entry, "--output", str(problem), "--force", *given]
    status, out, err, _ = run([tickbound, "init", str(source), *arguments], READING)
    if status is None:
        return f"not proposed within {READING} s", 0, False
    if status != 0 or not problem.exists():
        missing = re.findall(r"^missing: (.*)", out, re.M)
        return (missing or err.strip().splitlines() or [f"exit status {status}"])[-1], 0, False
    kernel = json.loads(problem.read_text())["kernel"]
    answers = len(kernel.get("bounds", {})) + len(kernel.get("branches", {}))
    guess = r"^  guesses: .*(an item for each element|elements in [xyz])"
    launch = re.search(guess, out, re.M) is not None
    wrong, _ = tune(tickbound, problem)
    return None if wrong in ("yes", "late") else wrong, answers, launch


def reason(message):
    """A message without places and names."""
    message = re.sub(r"^(tickbound: |error: )*(\S+:\d+(:\d+)?: )?", "", message)
    return re.sub(r"`[^`]*`|'[^']*'|\b\d+\b", "..", message.split("; ")[0])[:100]


def project(tickbound, folder, fields):
    """The row of a project, and its refusals by reason."""
    name, pattern, include, before, host = (fields + [""] * 5)[:5]
    paths = lambda text: [p for word in text.split() for p in sorted(glob.glob(str(folder / word)))]
    given = [w for path in paths(include) for w in ("--include", path)]
    given += [w for path in paths(before) for w in ("--before", path)]
    given += [w for path in paths(host) for w in ("--host", path)]
    counts, reasons = collections.Counter(), collections.Counter()
    for source in map(pathlib.Path, paths(pattern)):
        with tempfile.TemporaryDirectory() as scratch:
            # Problem files name sources beside them.
            for other in source.parent.glob("*" + source.suffix):
                shutil.copy(other, scratch)
            copy = pathlib.Path(scratch) / source.name
            beside = [*given, "--include", str(source.parent)]
            for entry in entries(tickbound, copy, beside):
                wrong, answers, launch = proposed(tickbound, copy, entry, beside)
                counts["kernels"] += 1
                counts["tuned"] += wrong is None
                counts["answered"] += wrong is None and answers > 0
                counts["guessed"] += wrong is None and launch
                if wrong:
                    reasons[reason(wrong.replace(scratch + "/", ""))] += 1
                row = [name, source.name, entry, wrong or "tuned", answers, "guessed" * launch]
                print(*row, sep="\t", flush=True)
    return [name] + [counts[key] for key in ("kernels", "tuned", "answered", "guessed")], reasons


def projects(tickbound, path):
    """The page's part on projects."""
    fields = [f for f in csv.reader(path.open(), delimiter="\t") if f and not f[0].startswith("#")]
    done = [project(tickbound, path.parent, f) for f in fields]
    table = [
        "| project | kernel functions | tuned | of these with answers of `init` "
        "| with a guessed launch |"
    ]
    table += ["| :--- | ---: | ---: | ---: | ---: |"]
    table += ["| " + " | ".join(map(str, row)) + " |" for row, _ in done]
    for row, reasons in filter(lambda one: one[1], done):
        table += ["", f"{row[0]}, refused:", ""]
        table += [f"* {count} {why}" for why, count in reasons.most_common(12)]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tickbound")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--projects", type=pathlib.Path)
    parser.add_argument("--date", required=True)
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        for source in sorted(folder.glob("*.json")):
            fixed = source.name.endswith(".fixed.json")
            kernel = json.loads(source.read_text()).get("kernel")
            if not fixed and isinstance(kernel, dict) and "opencl" in kernel:
                rows.append(row(options.tickbound, source)[0])
                print(*rows[-1], flush=True)
    read = [r for r in rows if r[1] == "yes"]
    few = [r for r in read if r[2] <= 1]
    proved = [r for r in read if r[4] == "yes"]
    seconds = sum(float(r[3]) for r in rows)
    lines = [
        "# Kernels by other hands",
        "",
        f"Written by `cargo xtask run coverage` on {options.date}: problem files as a user would write them first, their questions "
        f"answered with `both` and 1 as they came. Of {len(rows)} kernels {len(read)} are read, {len(few)} of them with at "
        f"most one question, in {seconds:.0f} s together; {len(proved)} are tuned with a proof within {TUNING} s.",
        "",
        "| kernel | read | questions | seconds to read | proved, or what is wrong | seconds to tune |",
        "| :--- | :--- | ---: | ---: | :--- | ---: |",
    ]
    escape = lambda cell: str(cell).replace("|", "\\|")
    lines += ["| " + " | ".join(escape(cell) for cell in r) + " |" for r in rows]
    if options.projects:
        text = (
            f"Written on {options.date}: kernel functions as they are, proposed by `init`, and "
            f"tuned within {TUNING} s."
        )
        lines += ["", "## Projects", "", text, "", *projects(options.tickbound, options.projects)]
    options.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
