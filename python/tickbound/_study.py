"""Ask and tell: configurations in the order that a model and the times so far suggest, measured by others."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from ._answers import Configuration
from ._program import Problem, TickboundError, options, program


class Study:
    """A search whose measurements the caller makes.

    The first five configurations are the best of the model. Then a Gaussian process over parameters and predicted times says
    which one promises most, and every fourth is drawn at random. Of configurations that are one program one is asked for.

    >>> study = tickbound.Study("problem.json")
    >>> while (configuration := study.ask()) is not None and not study.settled:
    ...     study.tell(configuration, seconds_of(configuration))
    >>> study.best()

    The program runs as a child process until `close`, or the end of a `with` block.

    Attributes:
        parameters: the names of the parameters, in the order of the problem.
        settled: whether the last answer expected little of another measurement.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        among: Iterable[Sequence[int]] | None = None,
        seed: int = 0,
        set: Mapping[str, int] | None = None,
        inputs: Mapping[str, int] | None = None,
        size: str | None = None,
        platform: str | os.PathLike[str] | None = None,
        profile: str | None = None,
    ) -> None:
        """Reads the problem.

        Args:
            problem: as for `tune`.
            among: the configurations to choose from, values in the order of the problem's parameters; all valid ones if
                `None`.
            seed: what the random choice depends on.
            set, inputs, size, platform, profile: as for `tune`.

        Raises:
            TickboundError: the problem is wrong, or something it needs is missing.
        """
        self._kept: tempfile.TemporaryDirectory[str] | None = None
        path = self._written(problem) if isinstance(problem, Mapping) else os.fspath(problem)
        arguments = options(inputs=inputs, size=size, platform=platform, profile=profile, set=set, seed=seed)
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [program(), "study", *arguments, "--", path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, encoding="utf-8",
        )
        self._best: tuple[Configuration, float] | None = None
        self.settled = False
        self.parameters: list[str] = self._heard()["parameters"]
        if among is not None:
            self._said({"among": [[int(value) for value in one] for one in among]})

    def ask(self) -> Configuration | None:
        """The configuration to measure next; `None` if all were asked for."""
        answer = self._said("ask")
        self.settled = answer["settled"]
        configuration: Configuration | None = answer["configuration"]
        return configuration

    def tell(self, configuration: Mapping[str, int], seconds: float | None) -> None:
        """Takes the time of a configuration, asked for or not; `None` if it failed.

        Raises:
            TickboundError: it is none of the configurations that are chosen from.
        """
        named = {name: int(value) for name, value in configuration.items()}
        answer = self._said({"tell": {"configuration": named, "seconds": None if seconds is None else float(seconds)}})
        self._best = None if answer["best"] is None else (answer["best"], answer["seconds"])

    def best(self) -> tuple[Configuration, float] | None:
        """The fastest configuration that was told, and its seconds."""
        return self._best

    def close(self) -> None:
        """Ends the child process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        if self._kept is not None:
            self._kept.cleanup()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _written(self, problem: Mapping[str, Any]) -> str:
        """A problem as a file: its standard input is for questions."""
        kernel = problem.get("kernel")
        if isinstance(kernel, Mapping) and "opencl" in kernel:
            problem = {**problem, "kernel": {**kernel, "opencl": os.path.abspath(kernel["opencl"])}}
        self._kept = tempfile.TemporaryDirectory(prefix="tickbound-")
        path = os.path.join(self._kept.name, "problem.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(problem, file, allow_nan=False)
        return path

    def _said(self, message: object) -> dict[str, Any]:
        """Sends a line, and gives the answer."""
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(message, allow_nan=False) + "\n")
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise self._ended() from error
        answer = self._heard()
        if "error" in answer:
            raise TickboundError(answer["error"], 2)
        return answer

    def _heard(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _ended(self) -> TickboundError:
        if self._errors.closed:
            return TickboundError("the study is closed")
        status = self._process.wait()
        self._errors.seek(0)
        said = [line.removeprefix("tickbound: ") for line in self._errors.read().strip().splitlines()]
        return TickboundError("\n".join(said) or "the program ended without a word", status)


class KernelTunerStrategy:
    """A strategy of Kernel Tuner (1.3 or later): `tune_kernel(..., strategy=tickbound.KernelTunerStrategy(problem))`.

    It measures in the order of a `Study`. The problem's parameters have the names of `tune_params`; configurations that the
    problem does not have come last.
    """

    def __init__(self, problem: Problem, **study: Any) -> None:
        """Takes the problem, and the arguments of `Study` but `among`."""
        self._problem, self._study = problem, study

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> list[dict[str, Any]]:
        """What Kernel Tuner calls: measures until its budget is spent, and gives the results."""
        from kernel_tuner.strategies.common import CostFunc
        from kernel_tuner.util import StopCriterionReached

        cost = CostFunc(searchspace, tuning_options, runner, snap=False)
        names = list(searchspace.tune_params)
        left = dict.fromkeys(tuple(one) for one in searchspace.list)
        with Study(self._problem, **self._study) as study:
            missing = set(study.parameters) - set(names)
            if missing:
                raise TickboundError(f"tune_params lacks {', '.join(sorted(missing))}, which the problem has", 2)
            places = [names.index(name) for name in study.parameters]
            by_values = {tuple(int(one[place]) for place in places): one for one in left}
            study._said({"among": list(by_values)})
            try:
                while (configuration := study.ask()) is not None:
                    one = by_values[tuple(configuration[name] for name in study.parameters)]
                    left.pop(one, None)
                    time = cost(one, check_restrictions=False)
                    study.tell(configuration, time if time < 1e300 else None)
                for one in left:
                    cost(one, check_restrictions=False)
            except StopCriterionReached:
                pass
        results: list[dict[str, Any]] = cost.results
        return results


def optuna_sampler(problem: Problem, **study: Any) -> Any:
    """A sampler of Optuna: `optuna.create_study(sampler=tickbound.optuna_sampler("problem.json"))`.

    Trials get configurations in the order of a `Study`; the objective returns seconds, which are minimised, and suggests every
    parameter of the problem, such as `trial.suggest_categorical("WG", [32, 64, 128])`. A trial that fails or is pruned counts as
    a failed measurement. When every configuration was tried, the study is stopped.

    Args:
        problem: as for `tune`.
        study: the arguments of `Study`.

    Raises:
        TickboundError: the problem is wrong; or later, what is suggested lacks the value of a parameter.
    """
    import optuna

    class Sampler(optuna.samplers.BaseSampler):  # type: ignore[misc]
        def __init__(self) -> None:
            self._search = Study(problem, **study)
            self._asked: dict[int, Configuration] = {}

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
            return {}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            if param_name not in self._search.parameters:
                raise TickboundError(f"{param_name} is not a parameter of the problem; it has {', '.join(self._search.parameters)}", 2)
            if trial.number not in self._asked:
                asked = self._search.ask()
                if asked is None:
                    study.stop()
                    raise optuna.TrialPruned("every configuration was tried")
                self._asked[trial.number] = asked
            value = self._asked[trial.number][param_name]
            choices = getattr(param_distribution, "choices", None)
            if choices is not None:
                found = [choice for choice in choices if choice == value]
            else:
                found = [value] if param_distribution._contains(param_distribution.to_internal_repr(value)) else []
            if not found:
                raise TickboundError(f"{param_name}: the problem has the value {value}, which is not suggested", 2)
            return found[0]

        def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
            if study.direction != optuna.study.StudyDirection.MINIMIZE:
                raise TickboundError("the direction of the study must be minimize: the objective returns seconds", 2)
            asked = self._asked.pop(trial.number, None)
            if asked is not None:
                done = state == optuna.trial.TrialState.COMPLETE and values is not None
                self._search.tell(asked, values[0] if done and values is not None else None)

    return Sampler()
