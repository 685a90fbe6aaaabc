#!/usr/bin/env python3
"""Scores the profile `resources` on published measurements and writes a page.

    scripts/scores.py TICKBOUND DATA PAGE [--date 2026-01-31] [--problems FOLDER] [--scored-only SETS] [--sources FOLDER]

DATA is a folder of folders with measured spaces: caches of Kernel Tuner, T4 files or KTT's output. A folder's name begins with that
of its kernel; the device that a file names decides on the platform. A folder that is called like a platform has caches of `tickbound
measure`, called KERNEL-SIZE.cache.json.gz after our kernels, and in `foreign` those of kernels whose problem files are in --problems.
Each set is scored with all parts of the profile and without each of them, and beside the other sets of its kernel. Nothing is fitted:
counts are in the problem files, what a device has in its platform file.
--sources is a folder with the sources that were measured, where examples/published/*.json expect them; these are not in this project.
SETS has a line for each set that was measured by others after the formulas were fixed, with tabs between: name, device, platform,
results, problem file and its options. They are scored and nothing else.
Plots are written into a folder beside the page that is called like it.
"""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# The kernels, by the beginning of the folder's name.
KERNELS = ["gemm", "convolution", "dedispersion", "coulomb"]

# The sets that were looked at while the profile was made.
BUILDING = [("gemm", "rtx-2080-ti"), ("gemm", "rtx-3090"), ("convolution", "rtx-a4000"),
            ("convolution", "radeon-w6600"), ("dedispersion", "radeon-w7800"),
            ("coulomb", "rtx-2080-ti")]

PARTS = ["wavefronts", "addresses", "lines", "read-only", "pipe", "special", "schedulers", "issue",
         "spill", "occupancy", "latency", "l2", "l3", "dram", "warm", "contention", "mixing", "tail",
         "dispatch", "launch"]
# Rules by which usage is counted in a source.
RULES = ["warps", "barriers", "denormals", "reciprocal-roots", "broadcast", "constant-loads",
         "repeated-loads", "load-registers", "new-sectors"]

# Guided searches that the figures are medians of.
SEEDS = 25
# As many measurements as a replayed search makes (crates/measure/src/guided/replay.rs).
MOST = 100

# Our kernels with the parameters of those that were measured, at the size of the measurements.
SOURCES = {
    "gemm": ["gemm", "--input", "m=4096", "--input", "n=4096", "--input", "k=4096"],
    "convolution": ["convolution", "--size", "published"],
    "dedispersion": ["dedispersion", "--size", "published"],
    "coulomb": ["coulomb-column", "--size", "published"],
}

# Origin of the sources in examples/published, and where they lie there.
PUBLISHED = {
    "gemm": ("AutoTuningAssociation/benchmark_hub @8eeb99e, currently_unused/kernels/gemm", "OpenCL C"),
    "convolution": ("MiloLurati/AutoTuning_AMD_vs_Nvidia_GPUs @9a7dcca, cache_scripts/convolution", "CUDA"),
    "dedispersion": ("the same, cache_scripts/dedisp", "HIP"),
}

# What was seen of these.
PUBLISHED_TEXT = """No source needs a change. Each set was scored by itself on 2026-11-30. What stood in the way, and what is left:

* Convolution: sizes of groups and tiles stand in `#if`. With a reading for each of their values there were 4,362, whose expressions were too large; with the truth of
  conditions as symbols there are 20, read in a second, and the correlation on the RTX A4000 is 0.950 (0.916 with 4,362). The sources that benchmark_hub itself has do not know
  `use_shmem`, which its space has and its times follow; those here are from the study that measured them.
  On the RTX A4000 what `__ldg` loads has to count as never written (0.827 without). On the W6600 the correlation was 0.751 as long as a weight of the filter counted in each tile
  where the size of a body is asked for: LLVM 16 for that device unrolls 2 x 4 tiles, and with them the registers do not suffice (53 ms, predicted as fast as 3).
* Dedispersion: the number of channels is a constant, and so is the pitch of a channel's row; it counted as a distance inside a row, which made bytes of L2 40 times too many
  (0.246). The loop over channels is not unrolled as a whole, as nothing asks for that: LLVM 16 for the W7800 puts 8 iterations into one body (12 by the rules), loads `shifts` four
  at a time and waits twice. On the RTX A4000 and the A100 the correlation is 0.767 and 0.825 (0.378 and 0.527 with the whole loop unrolled). What is short of our kernel on the W7800
  is that it waits less: `channels` is an argument there, so that four iterations are in a body.
* Hotspot (`examples/published/hotspot.json`) is read, with seven parameters, and simulated; no times of it are at hand, and within five minutes `tune` gives a bracket."""

# Folders with times that `tickbound measure` took.
OWN = ["h200"]

TEXT = """# Predictions, scored

Published measurements of whole tuning spaces beside the profile [`resources`](../semantics.md#profile-resources). {date}.

    cargo xtask run scores DATA=folder

Counts come from `examples/problems/*-resources.json`, and what a device has from its platform file; nothing is fitted to a set. Sets
for *building* were looked at while the profile was made; those [scored only](#scored-only) were not.

* *Spearman*, *Kendall*: rank correlations of predicted and measured times (Kendall's is tau-b).
* *best of*: the best time of all over the best among the first 1, 10 and 50 distinct programs of the model's list, and among 10, 50 and 100
  configurations at random. Configurations with equal usage are one program, whose time is the mean of theirs. Where the model
  predicts equal times, and at random, it is the best time over the mean over all orders, which is exact.
* *measured / predicted*: the median over all configurations. The profile is made to rank: resources that are busy beside each other
  better than its mixing says make real times shorter, and so does a clock above the one in the data sheet.
* *to within 5 %*: how many are measured, in the order of the model's list or at random, until one takes at most 5 % more than the best.
* *guided*: the same for `measure --guided`, replayed on these times {seeds} times with other seeds; the median. The five best programs of the
  model come first, then what is expected to gain most over the best so far, by a Gaussian process on log(time) - log(model) over the
  parameters; every fourth is at random. The search goes on until one is near the best, but after {most} it counts as failed. *stops*: after so
  many it would stop by itself, as less than 1 % was expected three times in a row; and what it has reached by then.

{scores}

What the best configuration of another device, by its published times, reaches on this one:

{others}

### On an H200

The example kernels and kernels by other hands (CLBlast, KTT), measured with `tickbound measure` on an NVIDIA H200 (2026-11-26, driver
580.159.04, NVIDIA's OpenCL) and scored with counts from their sources. All are for *building*: the formulas of the profile were found with
these times at hand.

{own}

Spearman's correlation and the best of ten without each rule by which usage is counted; blank where both change by less than 0.005:

{rules}

### Scored only

Sets of others that were not used while the profile was made. The convolution and the dedispersion of AutoTuningAssociation/benchmark_hub @8eeb99e
(cachefiles), on their own sources, for the devices whose times are neither for building nor were used to find what is unrolled (2026-11-30). A line
of `SETS` is a set, with tabs between: its name, the device, the platform, the results (a cache, T4 or KTT's output), and the problem
file with its options. A row is added by

    tickbound score PROBLEM --profile resources --platform PLATFORM --against RESULTS --guided-seeds 25   # one set, for a look
    cargo xtask run scores DATA PROBLEMS SETS                                                              # this page

{scored_only}

### What else was tried

Not kept: that loops with private arrays, of which the source says nothing, are unrolled up to a size only, as others are. It changes the convolution alone,
from 0.759 to 0.745 (the first choice from 0.95 to 1.00), and reading it takes 15 times as long.

The plots show measured over predicted times, one point for all that fall on one spot.

{plots}

## Where it falls short

What was seen of the sets for building:

* GEMM on the RTX 2080 Ti: the list begins with programs that copy both tiles to local memory. The best measured copies one (SA = 0,
  SB = 1) and is predicted slower than they are, so it takes long to come near it.
  Guided searches find it sooner than the model's list does, but where nobody knows the best they would have stopped before: the five best
  differ little, so little is expected.
* Predicted times of GEMM are too long: a unit overlaps more than the mixing grants. It shifts all configurations alike, so
  the order hardly minds; microseconds are a guide, not a promise.
* Convolution on the Radeon W6600: which loads the compiler keeps in registers, and which it moves before a guard, are assumptions about the
  compiler. They carry most of the correlation, as the part `spill` shows.
* Dedispersion: that sweeps through more than L2 holds find nothing there, and the rate of L3, were found with its times at hand: configurations whose groups
  at work sweep through more lines took longer than predicted. The rule is that for L1; the rate is AMD's figure for the links to its cache.
  The shifts are data; the problem file has their mean slope. Coulomb: whether a private array stays in registers is assumed from the
  unroll factor.

## Counts from the source

The same with [counts that the front end makes](../opencl.md#what-a-kernel-uses-of-a-device) from `examples/kernels`. These kernels have the
parameters of those that were measured, do the same work and have guards where they have them, but they are not their source. The
Coulomb summation is `coulomb-column`, whose sizes divide, so that it has none.

{sources}

The rules that hold for compilers which keep the order of loads (what is unrolled, kept, loaded before a guard) were found on the
convolution of the Radeon W6600, with the counts by hand as a lead; no other kernel of such a compiler but the dedispersion is among the sets. That loops too large to be
unrolled are unrolled in part, as LLVM does it, took the correlation from 0.78 to 0.87. Dedispersion: delays are data; the front end takes 1 for the factor
that data put before a measure, where the mean of the instrument is 0.155; by hand a request takes a pass of L1 only for 128 bytes, so the few bytes of
a request here a small part of one, where the rules have a pass for each request.
Two faults were found by comparing counts with those by hand and with traced runs, not with times: warps that begin in one row of items
and end in the next were counted as if all did (convolution on the RTX A4000 0.88, now 0.94), and a delay, which is a product that becomes a whole number, was
fused with an addition (best of ten of dedispersion 0.90, now 0.94).
The sources that were measured, which are not in this project, with the parameters' values of the measurements (2026-11-26): CLTune's matrix
multiplication as KTT has it, Spearman 0.973 on the RTX 2080 Ti and 0.934 on the RTX 3090. KTT's Coulomb summation, 0.740; of the half that reads arrays of
numbers 0.919, of the half that reads `float4` 0.657: its four loads of `a[i].x` to `a[i].w` are four loads of 16 bytes here, and one for a compiler.
Guided searches on the RTX 2080 Ti find one of the few configurations within 5 % soon or not at all: small changes of the model have moved the
median between 23 and more than 100. What is measured until the model's own list comes to them is more than the five that one would wish for on
four sets: on GEMM (2080 Ti) and the W6600 by hand, too.

### The sources that were measured

Spearman's correlation and the best of 1 / 10 on the very sources, which are not in this project, beside our kernels and counts by hand:

    cargo xtask run scores DATA PROBLEMS SETS SOURCES      # SOURCES: a folder with the files that examples/published/*.json name

{published}

Their origin: {origins}.

{published_text}

Where counts of the Coulomb summation from the source differ from those by hand, the compiler's reports and the device's counters, which were
published with its times, say which are right:

* Instructions on real numbers: by hand 4 + 4 z for each atom and z points, from the source 5 + 3 z. Counters have 4 + 4 z, but with
  the reciprocal roots, of which there are z and which take lanes of their own; by hand they count twice.
* The array of sums, where the loop over points stays one (150 of the 210 configurations): by hand it is in memory in all of them. The compiler
  reports it there in 45: in none of 90 with two or four bodies, in 15 of 30 with eight, and in 30 of 30 with more. In the others it is in registers,
  and the element is chosen by comparisons. From the source it is in registers up to four bodies, and each access takes 2 instructions for each
  body and word, a load and a store 4; the counters have for both 3.0 to 8.9 with two bodies, and 2.4 to 4.7 with four. The four was read from these reports, not from times. Without
  that rule, with memory for all, the correlation is 0.75.
* What is stored to that array: by hand it stays in L1, and in all of local memory, as long as it fits. Counters have all of it in L2, 4.4 GB at any
  size, as L1 writes through; of what is loaded 6 to 63 %. From the source all that is stored goes to L2, and of what is loaded what does not fit.
* Passes: by hand an atom of four words is one pass, from the source four, in phases; no counter that was published tells. By hand rows of 16 results
  are one pass and one line, from the source two, as a warp has two of them. Bytes of the results are the same, and as the counters have them.
* Iterations: by hand the loop over atoms takes 2 instructions and a branch only together with the one inside; from the source each takes its own, 3 and a
  branch. The counters have 3.0 to 3.6 for the one inside.

## On a processor

The example kernels on PoCL, [measured](kernels.md) on two virtual processors of an Intel Xeon: Spearman's correlation with the prices that
`tickbound calibrate` wrote for it, and with the profile on `crates/model/platforms/pocl-xeon.json`.

{processor}

The profile was made for devices that hide waiting by many warps. On a processor it counts items one after another, as `calibrate` measures
them, vectors of the source as one instruction, and what a compiler packs in unrolled loops (`vector_bytes`). Without that the correlations of
matrix multiplication and of the Coulomb summation were -0.04 and 0.30. The rules were looked for with these measurements at hand; what they are
follows from what LLVM documents of its vectorizer. With loads packed, too, matrix multiplication would be at 0.51 and convolution at 0.23.
The first two kernels are the other ones whose order the profile gets right. Its differences to the prices on dedispersion, n-body
and the stencil are no more than what times vary by on two processors that are shared, and where several items run in one vector it is
blind (stencil). Where its correlation is better its first ten need not be: they are ties for the profile more often
(minimum, convolution, dedispersion).

### One that no rule was looked for with

The same kernels on two virtual processors of an AMD EPYC, [measured](epyc/kernels.md) after all rules but one were there. Both platforms are in the
[file](epyc/kernels/platform.json) that `tickbound calibrate --like pocl-xeon` wrote: prices, and the numbers of the profile.

{second}

Of the first nine the profile is better on {better}. It is good where vectors of the source and what is packed decide (Coulomb), and where accesses do, as prices are. Where PoCL runs
several items in one vector - a stencil without a loop over planes is ten times as fast as one with a loop over 16 - it sees nothing. The rule that was added
with these times at hand: processors keep an array that a loop indexes in memory, and do not choose among registers by comparisons (coulomb-column
about 0 without). Still missing there: which iterations are packed also depends on what they hand on to each other.

## What each part contributes

Spearman's correlation without the part, and the best of ten programs; blank where both change by less than 0.005.

{parts}
"""


# The example kernels whose times on PoCL are kept.
ON_PROCESSOR = ["minimum", "reduction", "transpose", "gemm", "convolution", "dedispersion", "nbody", "coulomb", "stencil"]


def words(text):
    return set(re.split(r"[^a-z0-9]+", text.lower()))


def device(file):
    """What the file says the device is; empty if it does not say."""
    content = file.read_bytes()
    text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    said = re.search(rb'"(?:device_name|device|Device)"\s*:\s*"([^"]*)"', text)
    return said[1].decode() if said else ""


def platform_of(name):
    """The shipped platform all of whose words are in a device's name; of several the one with most."""
    known = [p.stem for p in pathlib.Path("crates/model/platforms").glob("*.json")]
    fitting = [p for p in known if words(p) <= words(name)]
    return max(fitting, key=lambda p: (len(words(p)), p), default=None)


def sets(data):
    """Kernel, platform and file of each set that can be scored."""
    found = []
    for file in sorted(data.glob("*/*.json*")):
        kernel = next((k for k in KERNELS if file.parent.name.startswith(k)), None)
        if kernel is None or ".T1." in file.name:
            continue
        platform = platform_of(device(file))
        if platform is None:
            print(f"scores: {file}: no platform for its device {device(file)!r}", file=sys.stderr)
            continue
        found.append((kernel, platform, file))
    order = {pair: i for i, pair in enumerate(BUILDING)}
    return sorted(found, key=lambda s: (order.get(s[:2], len(order)), KERNELS.index(s[0]), s[1]))


def scored(options, file, problem, platform, more=()):
    return score_of(options, file, platform,
                    [f"examples/problems/{problem}-resources.json", *more])


def guided_and_others(options, each, found):
    """Arguments for what is only asked of the whole profile."""
    others = [other[2] for other in found if other[0] == each[0] and other is not each]
    arguments = ["--guided-seeds", str(SEEDS), "--plot", str(plot_of(options, each))]
    return [*arguments, *(a for other in others for a in ("--other", str(other)))]


def plot_of(options, each):
    kernel, platform, _ = each
    return options.page.with_suffix("") / f"{kernel}-{platform}.svg"


def scored_source(options, file, kernel, platform):
    if kernel not in SOURCES:
        return None
    name, *size = SOURCES[kernel]
    # The program of the published convolution declares its filter, which is an operand then.
    declared = ["--without", "constant-loads"] if kernel == "convolution" else []
    return score_of(options, file, platform,
                    [f"examples/kernels/{name}.json", "--profile", "resources", *size, *declared,
                     "--guided-seeds", str(SEEDS)])


def published_table(options, entries):
    """The sets on the sources that were measured, beside the counts by hand and from our kernels."""
    rows = []
    for entry in entries:
        kernel, platform, file = entry["set"]
        problem = json.loads(pathlib.Path(f"examples/published/{kernel}.json").read_text()) if kernel in PUBLISHED else None
        if not options.sources or problem is None:
            continue
        source = problem["kernel"]["opencl"]
        names = source if isinstance(source, list) else [source]
        if not all((options.sources / name).exists() for name in names):
            continue
        paths = [str((options.sources / name).absolute()) for name in names]
        problem["kernel"]["opencl"] = paths if len(paths) > 1 else paths[0]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as own:
            json.dump(problem, own)
            own.flush()
            try:
                score = score_of(options, file, platform, [own.name])
            except SystemExit as failed:
                print(failed, file=sys.stderr)
                score = None
        each = [found and f"{number(found['spearman'])}, {reached(found['distinct']['reached'], 'model', [1, 10])}"
                for found in (score, entry["source"], entry["score"])]
        rows.append([f"{kernel}, {platform}", PUBLISHED[kernel][1], *(cell or "not read" for cell in each)])
    head = ["set", "source in", "its own source", "our kernel", "counts by hand"]
    return table(head, rows) if rows else "(no sources)"


def own_sets(options):
    """Name, platform, problem and file of each set that `tickbound measure` made."""
    for platform in OWN:
        for file in sorted((options.data / platform).glob("*.cache.json.gz")):
            kernel, size = file.name.removesuffix(".cache.json.gz").rsplit("-", 1)
            yield kernel, platform, [f"examples/kernels/{kernel}.json", "--size", size], file
        for file in sorted((options.data / platform / "foreign").glob("*.cache.json.gz")):
            name = file.name.removesuffix(".cache.json.gz")
            problem = options.problems and options.problems / f"{name}.json"
            if problem and problem.exists() and problem.with_name(name.removesuffix(".fixed") + ".cl").exists():
                yield name.removesuffix(".fixed"), platform, [str(problem)], file


OWN_HEAD = ["configurations", "Spearman", "best of 1 / 10", "1 / 10 at random", "to within 5 %: model / random",
            "guided", "measured / predicted"]


def own_row(score):
    """The columns of OWN_HEAD."""
    distinct = score["distinct"]
    return [str(score["entries"]), number(score["spearman"]), reached(distinct["reached"], "model", [1, 10]),
            reached(distinct["reached"], "random", [1, 10]),
            f"{distinct['model_within_5_percent']:.1f} / {distinct['random_within_5_percent']:.1f}",
            until(score["guided"]["within_5_percent"]), f"{score['measured_over_predicted']:.2f}"]


def first(score):
    """What the model's first program reaches of the best speed."""
    return next(r["model"] for r in score["distinct"]["reached"] if r["trials"] == 1)


def scored_only_table(options):
    """Sets of others, which are scored and nothing else."""
    if not options.scored_only:
        return "(none yet)"
    rows, scores = [], []
    for line in options.scored_only.read_text().splitlines():
        name, device, platform, file, problem = line.split("\t")
        print(f"scores: {name} on {device}", file=sys.stderr)
        score = score_of(options, file, platform,
                         [*problem.split(), "--profile", "resources", "--guided-seeds", str(SEEDS)])
        rows.append([name, device, *own_row(score)])
        scores.append((score["spearman"] or 0, first(score)))
    mean = [sum(each) / len(scores) for each in zip(*scores)]
    rows.append(["mean", "", "", number(mean[0]), f"{mean[1]:.2f}", *[""] * 4])
    return table(["set", "device", *OWN_HEAD], rows)


def own_tables(options):
    """The scores of these sets, and what each rule of counting contributes."""
    rows, changes = [], {rule: [] for rule in RULES}
    names, whole, firsts = [], [], []
    for name, platform, problem, file in own_sets(options):
        print(f"scores: {name} on {platform}", file=sys.stderr)
        problem = [*problem, "--profile", "resources"]
        try:
            score = score_of(options, file, platform, [*problem, "--guided-seeds", str(SEEDS)])
        except SystemExit as failed:
            print(failed, file=sys.stderr)
            continue
        firsts.append((score["spearman"], first(score)))
        rows.append([name, *own_row(score)])
        names.append(name)
        whole.append(f"{number(score['spearman'])}, {number(ten(score))}")
        for rule in RULES:
            without = score_of(options, file, platform, [*problem, "--without", rule])
            changes[rule].append(part_cell(score, without))
    if not rows:
        return "(no times in the data folder)", ""
    mean = [sum(each) / len(firsts) for each in zip(*firsts)]
    rows.append(["mean", "", number(mean[0]), f"{mean[1]:.2f}", "", "", "", ""])
    rules = [[rule, *changes[rule]] for rule in RULES if any(changes[rule])]
    return table(["kernel", *OWN_HEAD], rows), table(["without", *names], [["all rules", *whole], *rules])


def score_of(options, file, platform, problem):
    command = [options.tickbound, "score", *problem,
               "--platform", platform, "--against", str(file), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"scores: {' '.join(command)} failed")
    return json.loads(done.stdout)


def processor_table(options, folder, platform, kernels):
    """Kernels on PoCL, by calibrated prices and by the profile; how many of the nine are better by it."""
    folder, rows, better = pathlib.Path(folder), [], 0
    for kernel in kernels:
        problem, file = [f"examples/kernels/{kernel}.json", "--size", "small"], folder / f"{kernel}.T4.json.gz"
        prices = score_of(options, file, str(folder / "platform.json"), [*problem, "--profile", "opencl"])
        whole = score_of(options, file, platform, [*problem, "--profile", "resources"])
        better += kernel in ON_PROCESSOR and whole["spearman"] > prices["spearman"]
        rows.append([kernel, *(number(each["spearman"]) for each in (prices, whole)),
                     *(reached(each["reached"], "model", [1, 10]) for each in (prices, whole))])
    return table(["kernel", "prices", "profile", "best of 1 / 10 by prices", "by profile"], rows), better


def number(value):
    return "-" if value is None else f"{value:.3f}"


def reached(score, who, trials):
    found = {r["trials"]: r[who] for r in score}
    return " / ".join(f"{found[k]:.2f}" if k in found else "-" for k in trials)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def score_row(entry, which="score"):
    problem, platform, _ = entry["set"]
    purpose = "building" if (problem, platform) in BUILDING else "scoring only"
    score, distinct = entry[which], entry[which]["distinct"]
    random = [r for r in distinct["reached"] if r["trials"] != 1]
    random += [r for r in score["reached"] if r["trials"] == 100]
    guided = score["guided"]
    left_out = score["outside"] + score["not_simulated"] + score["faults"]
    count = f"{score['entries']}" + (f", {left_out} left out" if left_out else "")
    return [f"{problem}, {platform}", purpose, count, str(distinct["programs"]),
            number(score["spearman"]), number(score["kendall"]),
            reached(distinct["reached"], "model", [1, 10, 50]),
            reached(random, "random", [10, 50, 100]),
            f"{distinct['model_within_5_percent']:.1f} / {distinct['random_within_5_percent']:.1f}",
            until(guided["within_5_percent"]),
            f"{until(guided['stopped_after'])}, {guided['reached']:.2f}",
            f"{score['measured_over_predicted']:.2f}"]


def until(measurements):
    return f"over {MOST}" if measurements is None else str(measurements)


def others_table(entries):
    """What the best configurations of other sets of a kernel reach; nothing of kernels with one set."""
    rows = []
    for entry in entries:
        names = {str(other["set"][2]): other["set"][1] for other in entries}
        for other in entry["score"]["others"]:
            reached = "-" if other["reached"] is None else f"{other['reached']:.2f}"
            there = names.get(other["results"], other["results"])
            rows.append([f"{entry['set'][0]}, {entry['set'][1]}", there, reached,
                         reached_with(entry["score"], 1), reached_with(entry["score"], 10)])
    return table(["set", "best configuration of", "reaches", "the model's first", "the model's first 10"], rows)


def reached_with(score, trials):
    found = {r["trials"]: r["model"] for r in score["distinct"]["reached"]}
    return f"{found[trials]:.2f}" if trials in found else "-"


def plots(options, entries):
    return "\n".join(f"![{e['set'][0]}, {e['set'][1]}]({plot_of(options, e['set']).relative_to(options.page.parent)})"
                     for e in entries)


def ten(score):
    return next((r["model"] for r in score["distinct"]["reached"] if r["trials"] == 10), None)


def part_cell(whole, without):
    same = [abs((a or 0) - (b or 0)) < 0.005
            for a, b in ((whole["spearman"], without["spearman"]), (ten(whole), ten(without)))]
    return "" if all(same) else f"{number(without['spearman'])}, {number(ten(without))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tickbound")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--date", default="")
    parser.add_argument("--problems", type=pathlib.Path)
    parser.add_argument("--scored-only", type=pathlib.Path)
    parser.add_argument("--sources", type=pathlib.Path)
    options = parser.parse_args()
    entries = []
    found = sets(options.data)
    options.page.with_suffix("").mkdir(exist_ok=True)
    for each in found:
        kernel, platform, file = each
        print(f"scores: {kernel} on {platform}", file=sys.stderr)
        without = {part: scored(options, file, kernel, platform, ["--without", part])
                   for part in PARTS}
        whole = scored(options, file, kernel, platform, guided_and_others(options, each, found))
        entries.append({"set": each, "score": whole,
                        "source": scored_source(options, file, kernel, platform),
                        "without": without})
    if not entries:
        sys.exit(f"scores: {options.data} has no folder with measurements of {', '.join(KERNELS)}")
    processor, _ = processor_table(options, "docs/results/kernels", "crates/model/platforms/pocl-xeon.json", ON_PROCESSOR)
    epyc = "docs/results/epyc/kernels"
    second, better = processor_table(options, epyc, f"{epyc}/platform.json", [*ON_PROCESSOR, "coulomb-column"])
    head = ["set", "for", "configurations", "programs", "Spearman", "Kendall",
            "best of 1 / 10 / 50", "10 / 50 / 100 at random", "to within 5 %: model / random",
            "to within 5 %, guided", "stops", "measured / predicted"]
    names = [f"{e['set'][0]}, {e['set'][1]}" for e in entries]
    whole = ["all parts", *(f"{number(e['score']['spearman'])}, {number(ten(e['score']))}"
                            for e in entries)]
    rows = [[part, *(part_cell(e["score"], e["without"][part]) for e in entries)]
            for part in PARTS]
    own, rules = own_tables(options)
    options.page.write_text(TEXT.format(
        published=published_table(options, entries), origins="; ".join(f"{k}: {v[0]}" for k, v in PUBLISHED.items()),
        published_text=PUBLISHED_TEXT, own=own, rules=rules, scored_only=scored_only_table(options),
        date=options.date, seeds=SEEDS, most=MOST, others=others_table(entries),
        plots=plots(options, entries), scores=table(head, [score_row(e) for e in entries]),
        sources=table(head, [score_row(e, "source") for e in entries if e["source"]]),
        processor=processor, second=second, better=better,
        parts=table(["without", *names], [whole, *rows])))


main()
