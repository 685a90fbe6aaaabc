#!/usr/bin/env python3
"""score_strategies.py DATA SEEDS SPACE,... STRATEGY,... [PLOT.svg]

Evaluations of Kernel Tuner until within 5 % of the best of a cache, and scores.

DATA has published caches (gemm_opencl, convolution, h200), unpacked here; nothing is run on a
device. A strategy is one of Kernel Tuner's, or `tickbound`. Each seed is a run in simulation mode;
EVALUATIONS (300) is the most, that of `tickbound` OURS (60). The score of a strategy, which the
plot has for each number of evaluations, is (r - s) / (r - b): s is the mean over the seeds of the
best time so far, r that of random choice, and b the best time of the cache (R.-J. Schoonhoven et
al., "Benchmarking optimization algorithms for auto-tuning GPU kernels", 2022, section on aggregate
performance, with evaluations for seconds). It is 0 for random choice and 1 where every run has the
best; it ends where random choice has come 95 % of its way from its first time to the best. Run with
the package and the program:

    PYTHONPATH=python TICKBOUND=target/release/tickbound \
        $(bash scripts/setup-python.sh kernel-tuner kernel_tuner) scripts/score_strategies.py ...
"""

import contextlib
import gzip
import io
import itertools
import json
import math
import os
import random
import statistics
import sys
import tempfile
import warnings
from pathlib import Path

import kernel_tuner
import numpy
import tickbound

COLOURS = ["#c0392b", "#2c6fbb", "#27866d", "#8e44ad", "#b9770e", "#555555"]
PROBLEMS = Path(__file__).resolve().parents[1] / "examples" / "problems"
GEMM = ["KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
        "KWG % ((MDIMC * NDIMC) / MDIMA) == 0", "KWG % ((MDIMC * NDIMC) / NDIMB) == 0"]
CONVOLUTION = ["block_size_x * block_size_y <= 1024", "use_padding == 0 or block_size_x % 32 != 0", "use_padding == 0 or use_shmem != 0",
               "use_shmem == 0 or (block_size_x * tile_size_x + 14) * (block_size_y * tile_size_y + 14) < 12 * 1024"]
# The cache, the problem, the platform, and the restrictions; None where the cache has a part of the space.
SPACES = {
    "convolution-a4000": ("convolution/A4000", "convolution-resources", "rtx-a4000", CONVOLUTION),
    "convolution-w6600": ("convolution/W6600", "convolution-resources", "radeon-w6600", CONVOLUTION),
    "convolution-h200": ("h200/convolution-published.cache", "convolution-resources", "h200", None),
    "gemm-3090": ("gemm_opencl/RTX_3090", "gemm-resources", "rtx-3090", GEMM),
    "gemm-2080ti": ("gemm_opencl/RTX_2080_Ti", "gemm-resources", "rtx-2080-ti", GEMM),
    "gemm-h200": ("h200/gemm-published.cache", "gemm-resources", "h200", None),
}


def times_of(cache: dict) -> dict[str, float]:
    entries = cache["cache"].items()
    return {key: entry["time"] for key, entry in entries if not isinstance(entry["time"], str)}


def best_so_far(
    cache: dict, path: str, strategy: object, restrictions: list[str], most: int
) -> list[float]:
    """The best time after each different configuration of a run; infinity before one has a time."""
    times, keys = times_of(cache), cache["tune_params_keys"]
    values = {key: sorted({entry[key] for entry in cache["cache"].values()}) for key in keys}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = kernel_tuner.tune_kernel(
            cache["kernel_name"], "__global__ void f() {}", tuple(cache["problem_size"]), [], values, restrictions=restrictions, lang="CUDA",
            strategy=strategy, strategy_options={"max_fevals": min(most, len(cache["cache"]))}, cache=path, simulation_mode=True, quiet=True)
    seen = dict.fromkeys(",".join(str(result[key]) for key in keys) for result in results)
    return list(itertools.accumulate((times.get(key, math.inf) for key in seen), min))[:most]


def needed(run: list[float], best: float) -> float:
    """How many evaluations come to within 5 % of the best; infinity if none does."""
    return next((place for place, time in enumerate(run, 1) if time <= 1.05 * best), math.inf)


def by_chance(cache: dict, most: int) -> list[float]:
    """The mean best time after each number of random draws without replacement.

    What fails takes as long as the slowest.
    """
    times = sorted(times_of(cache).values())
    times += [times[-1]] * (len(cache["cache"]) - len(times))
    mean = []
    for draws in range(1, min(most, len(times)) + 1):
        # The chance that none of those before is drawn, and that the next one is.
        left, total = 1.0, 0.0
        for place, time in enumerate(times):
            here = left * min(1.0, draws / (len(times) - place))
            total, left = total + here * time, left - here
            if left < 1e-9:
                break
        mean.append(total)
    return mean


def scores(runs: list[list[float]], chance: list[float], best: float, worst: float) -> list[float]:
    """The score after each number of evaluations; a run that has ended keeps its best."""
    chance = [r for r in chance if r - best > 0.05 * (chance[0] - best)]
    reached = [[min(run[min(n, len(run) - 1)], worst) for run in runs] for n in range(len(chance))]
    after = map(statistics.fmean, reached)
    return [(r - s) / (r - best) for r, s in zip(chance, after)]


def text(x: float, y: float, words: object, look: str = "") -> str:
    place = f'x="{x}" y="{y}" {look}'.rstrip()
    return f"<text {place}>{words}</text>"


def panel(title: str, curves: dict[str, list[float]], most: int, left: int, top: int) -> list[str]:
    """A chart of scores from -1 to 1 over evaluations, as elements of SVG."""

    def across(n: int) -> float:
        return left + 300 * math.log(n) / math.log(most)

    def down(score: float) -> float:
        return top + 70 - 70 * max(score, -1)

    lines = [text(left, top - 8, title, 'font-weight="bold"')]
    for score in (-1, 0, 1):
        lines.append(f'<path d="M{left},{down(score)}h300" stroke="#ccc"/>')
        lines.append(text(left - 6, down(score) + 4, score, 'text-anchor="end"'))
    for n in (n for n in (1, 10, 100) if n <= most):
        lines.append(text(across(n), top + 156, n, 'text-anchor="middle"'))
    for (name, curve), colour in zip(curves.items(), COLOURS):
        points = (f"{across(n):.1f},{down(score):.1f}" for n, score in enumerate(curve, 1))
        look = f'fill="none" stroke="{colour}" stroke-width="{3 if name == "tickbound" else 1.5}"'
        lines.append(f'<polyline points="{" ".join(points)}" {look}/>')
    return lines


def plot(path: str, spaces: dict[str, dict[str, list[float]]], most: int) -> None:
    """Writes a picture with a panel for each space."""
    height = 70 + 200 * math.ceil(len(spaces) / 2)
    size = f'width="760" height="{height}"'
    font = 'font-family="sans-serif" font-size="12"'
    about = "Score over evaluations: 0 is random choice, 1 the best configuration"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect {size} fill="#fff"/>',
        text(50, 20, about),
    ]
    for place, (name, colour) in enumerate(zip(next(iter(spaces.values())), COLOURS)):
        lines.append(text(50 + 140 * place, 40, name, f'fill="{colour}" font-weight="bold"'))
    for place, (space, curves) in enumerate(spaces.items()):
        lines += panel(space, curves, most, 50 + 370 * (place % 2), 80 + 200 * (place // 2))
    Path(path).write_text("\n".join(lines + ["</svg>\n"]), encoding="utf-8")


def main() -> None:
    data, seeds, spaces, strategies = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4].split(",")
    most, ours_most = int(os.environ.get("EVALUATIONS", "300")), int(os.environ.get("OURS", "60"))
    charts: dict[str, dict[str, list[float]]] = {}
    for space in spaces:
        file, problem, platform, restrictions = SPACES[space]
        cache = json.loads(gzip.decompress((data / f"{file}.json.gz").read_bytes()))
        for entry in cache["cache"].values():
            if isinstance(entry["time"], str):
                entry["__error__"] = entry["time"]
        if restrictions is None:
            restrictions = [f"({', '.join(cache['tune_params_keys'])},) in ({', '.join(f'({key},)' for key in cache['cache'])},)"]
        size = 2048 if space == "gemm-h200" else 4096
        inputs = dict.fromkeys(["m", "n", "k"] if "gemm" in space else ["width", "height"], size)
        times = times_of(cache)
        best, chance = min(times.values()), by_chance(cache, most)
        for name in strategies:
            runs = []
            for seed in range(seeds):
                random.seed(seed)
                numpy.random.seed(seed)
                ours = tickbound.KernelTunerStrategy(PROBLEMS / f"{problem}.json", platform=platform, inputs=inputs, seed=seed)
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder, "cache.json")
                    path.write_text(json.dumps(cache), encoding="utf-8")
                    run = (ours, ours_most) if name == "tickbound" else (name, most)
                    runs.append(best_so_far(cache, str(path), run[0], restrictions, run[1]))
            evaluations = [needed(run, best) for run in runs]
            reached = sum(n < math.inf for n in evaluations)
            curve = scores(runs, chance, best, max(times.values()))
            charts.setdefault(space, {})[name] = curve
            median, score = statistics.median_low(evaluations), statistics.fmean(curve)
            found = f"median {median}, reached {reached} of {seeds}, score {score:.2f}"
            print(f"{space:18} {name:18} {found}", flush=True)
            if len(sys.argv) > 5:
                plot(sys.argv[5], charts, most)


if __name__ == "__main__":
    main()
