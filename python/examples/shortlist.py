# %% [markdown]
# # From 144 configurations to ten, before the device is asked
#
# `examples/kernels/reduction.cl` adds up an array. Kernel Tuner would build and run all configurations; tickbound's model says
# which ten to begin with. The measured times come from `reduction.cache.json`, which `tickbound measure` has written on two
# cores with PoCL, so this runs without a device: Kernel Tuner simulates, with the times of the cache.
#
# Run it as a script, or cell by cell in an editor that knows `# %%`.

# %%
import contextlib
import io
from pathlib import Path

import kernel_tuner
import numpy

import tickbound

here = Path(__file__).resolve().parent
project = here.parent.parent
kernel = project / "examples" / "kernels" / "reduction.cl"
# Prices of that device, as `tickbound calibrate` has measured them.
platform = project / "docs" / "results" / "kernels" / "platform.json"

# %% [markdown]
# ## What Kernel Tuner is told of a kernel

# %%
size = 262144
tune_params = {
    "WG": [32, 64, 128, 256, 512, 1024],
    "VPI": [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "VW": [1, 2, 4],
}
restrictions = [f"{size} % (WG * VPI) == 0", "VPI % VW == 0"]
launch = {"problem_size": size, "grid_div_x": ["WG", "VPI"], "block_size_names": ["WG"]}
arguments = [numpy.zeros(size, numpy.float32), numpy.zeros(size, numpy.float32)]

# %% [markdown]
# ## Ten configurations, by the model

# %%
chosen = tickbound.shortlist(
    tune_params, restrictions, kernel, arguments=arguments, platform=platform, profile="opencl", count=10, **launch
)
for configuration in chosen:
    print(configuration)

# %% [markdown]
# ## All, and these ten, on the device

# %%
def best(restrictions):
    """The best configuration among those that are allowed, and how many these are."""
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "reduction", str(kernel), arguments=arguments, tune_params=tune_params, restrictions=restrictions, lang="OpenCL",
            simulation_mode=True, cache=str(here / "reduction.cache.json"), **launch,
        )
    fastest = min(results, key=lambda result: result["time"])
    return fastest, {name: fastest[name] for name in tune_params}, len(results)


of_all, at, number = best(restrictions)
print(f"best of {number}: {of_all['time']:.5f} ms at {at}")
of_chosen, at, number = best([tickbound.only(chosen)])
print(f"best of {number}: {of_chosen['time']:.5f} ms at {at}")
print(f"reached: {of_all['time'] / of_chosen['time']:.0%} of the best speed in {number} runs")
