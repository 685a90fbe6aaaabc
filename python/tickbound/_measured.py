"""Problems proposed for kernels, and configurations measured on devices: `init`, `measure` and `score`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._answers import Configuration
from ._program import Problem, TickboundError, ask, options, run


@dataclass(frozen=True)
class Proposal:
    """A problem file that `init` proposes for a kernel."""

    problem: dict[str, Any]
    """Its contents; the paths in it are absolute."""
    notes: tuple[str, ...]
    """What was found, what is a guess, and what the user has to state."""


@dataclass(frozen=True)
class Measurement:
    """Times of configurations on a device."""

    configuration: Configuration | None
    """The fastest configuration; `None` if none ran."""
    seconds: float | None
    """The median of its runs."""
    results: tuple[dict[str, Any], ...]
    """What came of each configuration: `configuration`, `time` in seconds and `runs`, or `failure` and why."""
    device: str
    """The device's name."""
    floor: float | None
    """Seconds that nothing in the space can undercut on the device, where its platform has floors."""
    stopped_by: str | None
    """What ended it early."""
    answer: dict[str, Any] = field(repr=False)
    """All that `tickbound measure --json` prints."""


@dataclass(frozen=True)
class Score:
    """How well the model ranks measured configurations."""

    entries: int
    """Configurations with a measured and a predicted time."""
    spearman: float | None
    """Spearman's rank correlation; `None` if one side does not vary."""
    kendall: float | None
    """Kendall's tau-b."""
    measured_over_predicted: float | None
    """The median of measured over predicted times, where the length of a tick is known."""
    answer: dict[str, Any] = field(repr=False)
    """All that `tickbound score --json` prints."""


def init(
    source: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    entry: str | None = None,
    language: str | None = None,
    inputs: Mapping[str, int] | None = None,
    parameters: Mapping[str, str | Sequence[int]] | None = None,
    defines: Mapping[str, str | int] | None = None,
    global_size: str | None = None,
    local_size: str | None = None,
    platform: str | os.PathLike[str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    host: Sequence[str | os.PathLike[str]] = (),
    timeout: float | None = None,
) -> Proposal:
    """Proposes a problem for a kernel in OpenCL C, CUDA or HIP.

    Args:
        source: the path of the kernel's source.
        output: where the problem file is written, in the folder of the source; it must not exist. No file is written if `None`.
        entry: the kernel function; may be left out where there is only one.
        language: `opencl`, `cuda` or `hip`; by the source's name and text if `None`.
        inputs: values of sizes.
        parameters: macros that are tuning parameters, with their values: a list, or a text such as `"powers_of_two(8, 64)"`.
        defines: macros that are not, with their texts.
        global_size, local_size: work items in each dimension: expressions, separated by commas.
        platform: the name of a shipped platform, or the path of a file.
        include: folders for `#include`.
        host: folders with the sources of the host program, for the macros that it defines.
        timeout: seconds after which it ends.

    Raises:
        TickboundError: there is no problem for it, and why.
    """
    many = [("--parameter", name, domain if isinstance(domain, str) else json.dumps([int(value) for value in domain]))
            for name, domain in (parameters or {}).items()]
    many += [("--define", name, str(text)) for name, text in (defines or {}).items()]
    arguments = [f"{option}={name}={text}" for option, name, text in many]
    arguments += [f"--include={os.fspath(folder)}" for folder in include] + [f"--host={os.fspath(folder)}" for folder in host]
    arguments += options(inputs=inputs, platform=platform, entry=entry, language=language, timeout=timeout,
                         **{"global-size": global_size, "local-size": local_size})
    path = "-" if output is None else os.fspath(output)
    ended = run(["init", *arguments, f"--output={path}", "--", os.fspath(source)])
    if ended.returncode not in (0, 1) or (output is None and not ended.stdout):
        raise TickboundError(ended.stderr.strip().removeprefix("tickbound: "), ended.returncode)
    text = ended.stdout if output is None else Path(output).read_text(encoding="utf-8")
    problem: dict[str, Any] = json.loads(text)
    folder = os.path.dirname(os.fspath(source))
    kernel = problem["kernel"]
    for key in {"opencl", "include", "reference"} & kernel.keys():
        kernel[key] = _absolute(kernel[key], folder)
    if "/" in str(problem.get("platform", "")):
        problem["platform"] = _absolute(problem["platform"], folder)
    said = ended.stderr if output is None else ended.stdout
    notes = [line.strip() for line in said.splitlines()]
    return Proposal(problem, tuple(note for note in notes if note and not note.startswith(("written:", "next:"))))


def _absolute(paths: Any, folder: str) -> Any:
    """Paths that count from a folder, as absolute ones."""
    if isinstance(paths, list):
        return [_absolute(path, folder) for path in paths]
    return os.path.realpath(os.path.join(folder, paths))


def measure(
    problem: Problem,
    *,
    all: bool = False,
    top: int | None = None,
    sample: int | None = None,
    guided: bool = False,
    budget: str | None = None,
    baseline: Mapping[str, int] | None = None,
    seed: int | None = None,
    device: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    timeout: float | None = None,
) -> Measurement:
    """Runs configurations on an OpenCL or CUDA device. This runs the kernel's code, and that of its host reference.

    Args:
        problem: as for `tune`; its kernel is in OpenCL C and has arguments.
        all: every configuration.
        top: the best of the model, this many.
        sample: this many at random.
        guided: the model's best, then what promises most from the times so far.
        budget: the time for all, such as `"60s"`.
        baseline: the user's own configuration, compared with the best in turns.
        seed: what the random choice depends on.
        device: `opencl`, `opencl:N`, `cuda` or `cuda:N` as `tickbound devices` lists them.
        cache: the file where results are kept; one in the current folder if `None`.
        set, inputs, size, platform, profile: as for `tune`.
        timeout: seconds after which it ends with what is known.

    Raises:
        TickboundError: the problem is wrong, there is no device, or something it needs is missing.
    """
    chosen = [option for option, wanted in (("--all", all), ("--guided", guided)) if wanted]
    own = None if baseline is None else ",".join(f"{name}={int(value)}" for name, value in baseline.items())
    named = options(inputs=inputs, size=size, platform=platform, profile=profile, set=set, timeout=timeout, top=top,
                    sample=sample, budget=budget, baseline=own, seed=seed, device=device,
                    cache=None if cache is None else os.fspath(cache))
    answer = ask("measure", problem, chosen + named)
    return Measurement(
        configuration=answer["best"],
        seconds=answer["time"],
        results=tuple(answer["results"]),
        device=answer["device"]["name"],
        floor=(answer["floor"] or {}).get("seconds"),
        stopped_by=answer["stopped_by"],
        answer=answer,
    )


def score(
    problem: Problem,
    against: str | os.PathLike[str],
    *,
    set: Mapping[str, int] | None = None,
    inputs: Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | os.PathLike[str] | None = None,
    profile: str | None = None,
) -> Score:
    """Compares the model's times with measured ones.

    Args:
        problem: as for `tune`.
        against: a file with results: a cache of `measure` or of Kernel Tuner, or one in the T4 format.
        set, inputs, size, platform, profile: as for `tune`.

    Raises:
        TickboundError: the problem or the file is wrong.
    """
    named = options(inputs=inputs, size=size, platform=platform, profile=profile, set=set, against=os.fspath(against))
    answer = ask("score", problem, named)
    return Score(
        entries=answer["entries"],
        spearman=answer["spearman"],
        kendall=answer["kendall"],
        measured_over_predicted=answer["measured_over_predicted"],
        answer=answer,
    )
