"""What the program answers, as data classes. Times of the model are whole numbers of ticks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Configuration = dict[str, int]
"""The values of the parameters by name."""


def _number(tally: int | str | None) -> int | None:
    """The program writes what leaves 63 bits as digits."""
    return None if tally is None else int(tally)


@dataclass(frozen=True)
class Ranked:
    """One of the best configurations.

    Under the profile `resources`, configurations that use the same of the device are one program: this is the first of
    them.
    """

    time: int
    """Ticks."""
    configuration: Configuration
    """The values of the parameters by name."""
    stands_for: int = 1
    """How many configurations are the same program."""
    differ: tuple[str, ...] = ()
    """The parameters in which these differ."""


@dataclass(frozen=True)
class TuneResult:
    """What is known of the least time."""

    time: int | None
    """Ticks of the best configuration found."""
    status: str
    """`optimal` if the least time is proved; else what is known instead, such as `infeasible`."""
    lower: int
    """No configuration takes fewer ticks than this."""
    configuration: Configuration | None
    """The best configuration found."""
    ranking: tuple[Ranked, ...]
    """The best configurations in order; without `top`, those that take the least time."""
    next: int | None
    """Ticks of the best configuration that is not optimal."""
    configurations: int | None
    """How many valid configurations there are, if they were counted."""
    optima_count: int | None
    """How many of them take the least time, if they were counted."""
    indifferent: tuple[str, ...]
    """Parameters on which no time depends."""
    proved_by: tuple[str, ...]
    """Who has proved the least time: `simulation`, `bounds`, `elimination`, `branching`, `z3`."""
    seconds: float
    """Wall-clock seconds of the search."""
    stopped_by: str | None
    """What ended the search early."""
    resources: dict[str, Any] | None
    """What bounds the time of the best configuration, under the profile `resources`."""
    answer: dict[str, Any] = field(repr=False)
    """All that `tickbound tune --json` prints (docs/reference/answer.schema.json)."""

    @property
    def proved(self) -> bool:
        """No configuration of the model is faster."""
        return self.status == "optimal"


def tune_result(answer: dict[str, Any]) -> TuneResult:
    """The answer of `tickbound tune --json`."""
    if answer["programs"]:
        ranking = [Ranked(p["time"], p["configuration"], p["configurations"], tuple(p["differ"])) for p in answer["programs"]]
    else:
        # Ties have no time of their own. A parameter may be called `time`: what tells a ranked one is its configuration.
        ranked = [o if isinstance(o.get("configuration"), Mapping) else {"time": answer["time"], "configuration": o}
                  for o in answer["optima"] or []]
        ranking = [Ranked(o["time"], o["configuration"]) for o in ranked]
    return TuneResult(
        time=answer["time"],
        status=answer["status"],
        lower=answer["lower"],
        configuration=answer["configuration"],
        ranking=tuple(ranking),
        next=answer["next"],
        configurations=_number(answer["configurations"]),
        optima_count=_number(answer["optima_count"]),
        indifferent=tuple(answer["indifferent"] or ()),
        proved_by=tuple(answer["proved_by"] or ()),
        seconds=answer["seconds"],
        stopped_by=answer["stopped_by"],
        resources=answer["resources"],
        answer=answer,
    )


@dataclass(frozen=True)
class SimulateResult:
    """The run of one configuration."""

    time: int
    """Ticks, with schedules that are open taken as first come, first served."""
    resources: dict[str, Any] | None
    """What bounds the time, under the profile `resources`."""


@dataclass(frozen=True)
class Explanation:
    """What the program has read."""

    name: str
    """What the problem is called."""
    configurations: int | None
    """How many valid configurations there are, if they can be counted."""
    choices: int
    """How many there would be without constraints."""
    program: list[Any] | None
    """The kernel program that was read from OpenCL C, in the problem format; `None` if the problem holds the program
    itself."""
    structural: tuple[str, ...]
    """Macros that the text of the source depends on."""
    readings: int | None
    """How often the source was read for these."""
    assumed: tuple[str, ...]
    """Loops that are taken to succeed at once, by the names that `kernel.bounds` has for them."""
    counts: dict[str, int | str] | None
    """Accesses and operations of one launch, if a configuration was given, by kind."""
    usage: dict[str, int | str] | None
    """What that configuration uses of the device, under the profile `resources`."""


def explanation(answer: dict[str, Any]) -> Explanation:
    """The answer of `tickbound explain --json`."""
    return Explanation(
        name=answer["name"],
        configurations=_number(answer["configurations"]),
        choices=answer["choices"],
        program=answer.get("program"),
        structural=tuple(answer.get("structural", ())),
        readings=answer.get("readings"),
        assumed=tuple(answer.get("assumed", ())),
        counts=answer.get("counts"),
        usage=answer.get("usage"),
    )
