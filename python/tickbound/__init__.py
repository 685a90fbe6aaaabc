"""The least run time of an OpenCL kernel, found and proved from its timing model, without the device.

>>> import tickbound
>>> problem = {
...     "inputs": {"size": 64},
...     "platform": {"units_per_device": 2, "elements_per_unit": 4, "global_access": 4, "group_start": 3},
...     "parameters": {"WG": "powers_of_two(1, 32)"},
...     "launch": {"global_size": "size", "local_size": "WG"},
...     "kernel": [{"global": 1}, "barrier", {"compute": "WG"}],
... }
>>> result = tickbound.tune(problem)
>>> result.time, result.configuration, result.proved
(88, {'WG': 4}, True)
>>> tickbound.simulate(problem, {"WG": 32}).time
291

`init` proposes a problem for a kernel; `measure` runs configurations on a device, `score` compares times with the model's.
`Study` orders configurations from the model and the times so far; `KernelTunerStrategy` and `optuna_sampler` are the same for
Kernel Tuner and Optuna. `from_kernel_tuner` makes a problem of the arguments of `tune_kernel`, `shortlist` the configurations
that are worth measuring, `only` a restriction of them. All functions raise
`TickboundError` with the program's own words. Problems are described in docs/problem-format.md, this module in
docs/python.md.
"""

from __future__ import annotations

import os as _os
from collections.abc import Mapping as _Mapping

from ._answers import Configuration, Explanation, Ranked, SimulateResult, TuneResult
from ._answers import explanation as _explanation
from ._answers import tune_result as _tune_result
from ._kernel_tuner import from_kernel_tuner, only, shortlist
from ._measured import Measurement, Proposal, Score, init, measure, score
from ._program import Problem, TickboundError
from ._program import ask as _ask
from ._program import options as _options
from ._study import KernelTunerStrategy, Study, optuna_sampler

__all__ = [
    "Configuration",
    "Explanation",
    "KernelTunerStrategy",
    "Measurement",
    "Problem",
    "Proposal",
    "Ranked",
    "Score",
    "SimulateResult",
    "Study",
    "TickboundError",
    "TuneResult",
    "explain",
    "from_kernel_tuner",
    "init",
    "measure",
    "only",
    "optuna_sampler",
    "score",
    "shortlist",
    "simulate",
    "tune",
]


def tune(
    problem: Problem,
    *,
    timeout: float | None = None,
    top: int | None = None,
    set: _Mapping[str, int] | None = None,
    inputs: _Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | _os.PathLike[str] | None = None,
    profile: str | None = None,
    objective: str | None = None,
    memory: str | None = None,
) -> TuneResult:
    """Finds the least run time over all configurations, and proves it.

    Args:
        problem: the path of a problem file or T1 file, or its contents as a dictionary.
        timeout: seconds after which the search ends with what is known.
        top: how many of the best configurations to list at least; ties are not cut.
        set: values of parameters that are fixed.
        inputs: numbers that replace inputs or platform numbers.
        size: the named size whose inputs are taken.
        platform: another platform: the name of a shipped one, or the path of a file.
        profile: other semantics: `opencl`, `resources`, `published-2023` or `published-2021`.
        objective: what is best where schedules are open: `best`, `worst` or `robust`.
        memory: the most memory, such as `"8G"`; then the search ends with what is known.

    Raises:
        TickboundError: the problem is wrong, or something it needs is missing. Whether the least time is proved is no
            error: `TuneResult.proved` tells.
    """
    options = _options(inputs=inputs, size=size, platform=platform, profile=profile, set=set,
                       timeout=timeout, top=top, objective=objective, memory=memory)
    return _tune_result(_ask("tune", problem, options))


def simulate(
    problem: Problem,
    configuration: _Mapping[str, int],
    *,
    inputs: _Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | _os.PathLike[str] | None = None,
    profile: str | None = None,
    timeout: float | None = None,
) -> SimulateResult:
    """Runs one configuration tick by tick.

    Args:
        problem: as for `tune`.
        configuration: a value for every parameter.
        inputs, size, platform, profile: as for `tune`.
        timeout: seconds after which it is given up.

    Raises:
        TickboundError: the problem or the configuration is wrong, or the time is up.
    """
    options = _options(inputs=inputs, size=size, platform=platform, profile=profile, set=configuration, timeout=timeout)
    answer = _ask("simulate", problem, options)
    return SimulateResult(time=answer["time"], resources=answer.get("resources"))


def explain(
    problem: Problem,
    configuration: _Mapping[str, int] | None = None,
    *,
    inputs: _Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | _os.PathLike[str] | None = None,
    profile: str | None = None,
    timeout: float | None = None,
) -> Explanation:
    """Tells what was read: the kernel program, how many configurations there are, and what one of them does.

    Args:
        problem: as for `tune`.
        configuration: a value for every parameter, for `Explanation.counts` and `Explanation.usage`.
        inputs, size, platform, profile: as for `tune`.
        timeout: seconds after which it is given up.

    Raises:
        TickboundError: the problem or the configuration is wrong, or the time is up.
    """
    options = _options(inputs=inputs, size=size, platform=platform, profile=profile, set=configuration, timeout=timeout)
    return _explanation(_ask("explain", problem, options))
