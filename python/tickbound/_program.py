"""The program `tickbound`: found, run as a child process, its answer read.

A process of its own cannot take the interpreter along, whatever becomes of it, and ends when Python is interrupted.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from typing import Any

Problem = str | os.PathLike[str] | Mapping[str, Any]
"""A problem: the path of a problem file or T1 file, or what such a file holds as a dictionary. Paths in a dictionary
count from the current folder."""


class TickboundError(Exception):
    """Why there is no answer: what is wrong, where, and the fix, as the program says it.

    Attributes:
        status: the program's exit status: 1 if it was stopped before it had an answer, 2 for bad input, 3 for a fault of
            tickbound; `None` if it was not run.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """The path of the program: the environment variable `TICKBOUND`, the one installed with this package, or one on `PATH`."""
    named = os.environ.get("TICKBOUND")
    if named:
        return named
    schemes = {sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")}
    folders = [sysconfig.get_path("scripts", scheme) for scheme in sorted(schemes)]
    beside = [path for folder in folders if os.access(path := os.path.join(folder, "tickbound"), os.X_OK)]
    found = beside[0] if beside else shutil.which("tickbound")
    if found is None:
        raise TickboundError("the program tickbound is not there; install the wheel, or name it in the variable TICKBOUND")
    return found


def run(arguments: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the program with `text` on its standard input."""
    path = program()
    try:
        return subprocess.run([path, *arguments], input=text, capture_output=True, text=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise TickboundError(f"{path}: {error}; install the wheel, or name the program in TICKBOUND") from error


def ask(command: str, problem: Problem, options: list[str]) -> dict[str, Any]:
    """Runs `tickbound COMMAND PROBLEM OPTIONS --json` and gives the object that it prints."""
    if isinstance(problem, Mapping):
        path, text = "-", json.dumps(problem, allow_nan=False)
    else:
        path, text = os.fspath(problem), ""
    # A path that begins with a dash is not an option.
    ended = run([command, "--json", *options, "--", path], text)
    said = ended.stdout.strip()
    # Exit status 1: the answer is that nothing is proved. 4: a baseline is not the fastest.
    if ended.returncode in (0, 1, 4) and said:
        answer: dict[str, Any] = json.loads(said)
        return answer
    lines = [line.removeprefix("tickbound: ") for line in ended.stderr.strip().splitlines()]
    if ended.returncode < 0:
        lines.append(f"{program()} was ended by signal {-ended.returncode}")
    raise TickboundError("\n".join(lines) or f"{program()} printed nothing", ended.returncode)


def options(
    *,
    inputs: Mapping[str, int] | None = None,
    size: str | None = None,
    platform: str | os.PathLike[str] | None = None,
    profile: str | None = None,
    set: Mapping[str, int] | None = None,
    **named: object,
) -> list[str]:
    """Arguments as the program's options; those that are `None` are left out."""
    many = [("--input", inputs), ("--set", set)]
    single = {"size": size, "platform": None if platform is None else os.fspath(platform), "profile": profile, **named}
    pairs = [f"{option}={name}={int(value)}" for option, values in many for name, value in (values or {}).items()]
    return pairs + [f"--{name}={value}" for name, value in single.items() if value is not None]
