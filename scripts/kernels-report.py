#!/usr/bin/env python3
"""Measures the example kernels on a device and writes how well the model ranks them.

    scripts/kernels-report.py TICKBOUND FOLDER [--size small] [--sample 100] [--device opencl] [--like PLATFORM]

Calibrates the device, measures each kernel of examples/kernels (the whole space, or a random sample of
a larger one), and compares the times with the model on the calibrated platform and on the one of the
problem file. Writes FOLDER/kernels.md, and FOLDER/kernels/ with the platform and the results as T4.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

KERNELS = ["minimum", "reduction", "transpose", "gemm", "convolution", "dedispersion",
           "nbody", "coulomb", "coulomb-column", "stencil"]


def run(program, *arguments):
    """What the program prints; its progress goes where ours goes."""
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode == 2:
        sys.exit(f"kernels-report: {' '.join(arguments)} failed")
    return done.stdout


def measure(options, kernel, folder, caches, platform):
    problem = f"examples/kernels/{kernel}.json"
    size = ["--size", options.size]
    space = json.loads(run(options.tickbound, "explain", problem, "--json", *size))
    configurations = space["configurations"]
    which = ["--all"] if configurations <= options.sample else ["--sample", str(options.sample)]
    cache, t4 = str(pathlib.Path(caches) / f"{kernel}.json"), folder / f"{kernel}.T4.json"
    result = json.loads(run(
        options.tickbound, "measure", problem, *size, *which, "--device", options.device,
        "--run-timeout", "60", "--cache", cache, "--t4", str(t4), "--json"))
    # As `score` reads it.
    (folder / f"{t4.name}.gz").write_bytes(gzip.compress(t4.read_bytes(), 9, mtime=0))
    t4.unlink()
    scores = [json.loads(run(options.tickbound, "score", problem, *size, *extra,
                             "--against", cache, "--json"))
              for extra in ([], ["--platform", platform],
                            ["--platform", platform, "--profile", "resources"])]
    return {"kernel": kernel, "configurations": configurations, "result": result,
            "scores": scores}


def percent(fraction):
    return "-" if fraction is None else f"{100 * fraction:.0f} %"


def row(entry):
    result, (shipped, own, resources) = entry["result"], entry["scores"]
    best = ", ".join(f"{k}={v}" for k, v in (result["best"] or {}).items())
    time = "-" if result["time"] is None else f"{1e3 * result['time']:.4g}"

    def reached(score, by):
        trials = {r["trials"]: r for r in score["reached"]}
        return f"{percent(trials.get(1, {}).get(by))} / {percent(trials.get(10, {}).get(by))}"

    failed = sum(result["failed"].values())
    correlation = [("-" if s["spearman"] is None else f"{s['spearman']:.2f}")
                   for s in (shipped, own, resources)]
    return [entry["kernel"], f"{result['measured']} of {entry['configurations']}", str(failed),
            str(result["unsteady"]), time, best, *correlation,
            reached(own, "model"), reached(resources, "model"), reached(own, "random")]


HEAD = ["kernel", "measured", "failed", "unsteady", "best ms", "at", "Spearman, h200",
        "Spearman, prices", "Spearman, resources", "best 1 / 10 by prices", "by resources", "by chance"]

TEXT = """# The example kernels on a device

{device}, {platform}, driver {driver}; {date}; size `{size}`.

    cargo xtask run kernels KERNELS_FOLDER={folder} KERNELS_SIZE={size} KERNELS_SAMPLE={sample} KERNELS_LIKE={like}

Each configuration's output was compared with the host reference. `measured` counts those with right results;
`unsteady` are those whose median was not known to 2 % in the time allowed. Spearman's rank correlation is that
of measured times with the model's: on the platform of the problem files, and on the one that
`tickbound calibrate` wrote for this device ([platform](kernels/platform.json)), under the profile `opencl`, which has prices
of accesses, and under the profile `resources`. The last columns: the fraction of the best measured speed that the
model's best 1 and best 10 configurations reach, beside as many chosen at random.
The times are kept as T4 files in [kernels/](kernels/).

{table}"""


def table(entries):
    rows = [HEAD, ["---"] * len(HEAD)] + [row(e) for e in entries]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tickbound")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", default="small")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--device", default="opencl")
    parser.add_argument("--date", default="")
    parser.add_argument("--like", default="")
    options = parser.parse_args()
    folder = options.folder / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    platform = folder / "platform.json"
    like = ["--like", options.like] if options.like else []
    run(options.tickbound, "calibrate", "--device", options.device, *like, "-o", str(platform))
    with tempfile.TemporaryDirectory() as caches:
        entries = [measure(options, kernel, folder, caches, str(platform)) for kernel in KERNELS]
    device = entries[0]["result"]["device"]
    text = TEXT.format(device=device["name"], platform=device["platform"], driver=device["driver"],
                       date=options.date, size=options.size, sample=options.sample,
                       folder=options.folder, like=options.like, table=table(entries))
    (options.folder / "kernels.md").write_text(text)


if __name__ == "__main__":
    main()
