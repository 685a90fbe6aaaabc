#!/usr/bin/env python3
"""score_strategies.py DATA SEEDS SPACE,... STRATEGY,...: evaluations of Kernel Tuner until within 5 % of the best of a cache.

DATA has published caches (gemm_opencl, convolution, h200), unpacked here; nothing is run on a device. A strategy is one of Kernel Tuner's, or
`tickbound`. Each seed is a run in simulation mode; EVALUATIONS (300) is the most. Run with the package and the program:

    PYTHONPATH=python TICKBOUND=target/release/tickbound $(bash scripts/setup-python.sh kernel-tuner kernel_tuner) scripts/score_strategies.py ...
"""

import contextlib
import gzip
import io
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


def evaluations(cache: dict, path: str, strategy: object, restrictions: list[str], most: int) -> float:
    """How many different configurations a run measures until one takes at most 5 % more than the best; infinity if none does."""
    times = {key: entry["time"] for key, entry in cache["cache"].items() if not isinstance(entry["time"], str)}
    best, keys = min(times.values()), cache["tune_params_keys"]
    values = {key: sorted({entry[key] for entry in cache["cache"].values()}) for key in keys}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = kernel_tuner.tune_kernel(
            cache["kernel_name"], "__global__ void f() {}", tuple(cache["problem_size"]), [], values, restrictions=restrictions, lang="CUDA",
            strategy=strategy, strategy_options={"max_fevals": min(most, len(cache["cache"]))}, cache=path, simulation_mode=True, quiet=True)
    seen = dict.fromkeys(",".join(str(result[key]) for key in keys) for result in results)
    return next((place for place, key in enumerate(seen, 1) if times.get(key, math.inf) <= 1.05 * best), math.inf)


def main() -> None:
    data, seeds, spaces, strategies = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4].split(",")
    most = int(os.environ.get("EVALUATIONS", "300"))
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
        for name in strategies:
            needed = []
            for seed in range(seeds):
                random.seed(seed)
                numpy.random.seed(seed)
                ours = tickbound.KernelTunerStrategy(PROBLEMS / f"{problem}.json", platform=platform, inputs=inputs, seed=seed)
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder, "cache.json")
                    path.write_text(json.dumps(cache), encoding="utf-8")
                    needed.append(evaluations(cache, str(path), ours if name == "tickbound" else name, restrictions, most))
            reached = sum(n < math.inf for n in needed)
            print(f"{space:18} {name:18} median {statistics.median_low(needed)}, reached {reached} of {seeds}", flush=True)


if __name__ == "__main__":
    main()
