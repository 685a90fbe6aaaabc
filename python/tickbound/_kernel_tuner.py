"""Kernel Tuner's arguments as a problem, and the problem's best configurations for Kernel Tuner.

The arguments of `kernel_tuner.tune_kernel` determine a problem file: the parameters and their values, the restrictions,
the size of the problem, the divisors of the grid, and the parameters that are the sides of a group. The macros that Kernel
Tuner defines are defined here too.
"""

from __future__ import annotations

import operator
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ._answers import Configuration, tune_result
from ._program import TickboundError, ask, options

Divisor = int | str | Sequence[int | str] | None

_BLOCK_SIZES = ("block_size_x", "block_size_y", "block_size_z")
# What Kernel Tuner takes for a side of a group that no parameter names.
_BLOCK_DEFAULTS = (256, 1, 1)
_GRID_SIZES = ("grid_size_x", "grid_size_y", "grid_size_z")
_TYPES = {
    "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "long", "uint64": "ulong", "float16": "ushort", "float32": "float", "float64": "double",
}
_ENTRY = re.compile(r"\b(?:__)?kernel\b(?:\s|__attribute__\s*\(\(.*?\)\))*\bvoid\b(?:\s|__attribute__\s*\(\(.*?\)\))*(\w+)\s*\(", re.S)
_CUDA_ENTRY = re.compile(r"__global__\b[^;{(]*?(?:__launch_bounds__\s*\(.*?\)\s*)?\bvoid\b\s*(?:__launch_bounds__\s*\(.*?\)\s*)?(\w+)\s*\(", re.S)
_SUFFIXES = {"opencl": ".cl", "cuda": ".cu", "hip": ".hip"}
# What Kernel Tuner calls the languages: one for each way of compiling them.
_LANGUAGES = {"opencl": "opencl", "cuda": "cuda", "cupy": "cuda", "nvcuda": "cuda", "hip": "hip"}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def from_kernel_tuner(
    kernel_name: str | None,
    kernel_source: str | os.PathLike[str],
    problem_size: int | str | Sequence[int | str],
    arguments: Sequence[Any] | None,
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Divisor = None,
    grid_div_y: Divisor = None,
    grid_div_z: Divisor = None,
    restrictions: Sequence[str] | str | None = None,
    *,
    platform: str | os.PathLike[str],
    lang: str | None = None,
    block_size_names: Sequence[str] | None = None,
    defines: Mapping[str, int | str] | None = None,
    bounds: Mapping[str, int | str] | None = None,
    branches: Mapping[str, str] | None = None,
    profile: str = "resources",
    folder: str | os.PathLike[str] = ".",
    **measuring: Any,
) -> dict[str, Any]:
    """The problem of a call of `kernel_tuner.tune_kernel`, from the same arguments.

    What it returns is a problem for `tune`, `Study`, `KernelTunerStrategy` and all else here; `json.dump` makes a problem file
    of it.

    Args:
        kernel_name: the kernel function; `None` where there is only one.
        kernel_source: the path of a file in OpenCL C, CUDA or HIP, or its text.
        problem_size: the size of the problem in each dimension: numbers, or expressions over the parameters.
        arguments: what the kernel is called with: numbers and arrays of NumPy. Needed where a number decides how long a loop
            is, or how an array is indexed.
        tune_params: the values of each parameter, whole numbers.
        grid_div_x, grid_div_y, grid_div_z: what the problem's size is divided by for the number of groups; the side of a group
            if `None`, 1 if empty.
        restrictions: what must hold, as texts such as `"block_size_x * block_size_y <= 1024"`; functions are refused.
        platform: the device: the name of a shipped platform (`tickbound platforms` lists them), or the path of a file.
        lang: `"OpenCL"`, `"CUDA"`, `"CuPy"`, `"NVCUDA"` or `"HIP"`; by the file's name and the text if `None`.
        block_size_names: the parameters that are the sides of a group, if not `block_size_x`, `block_size_y`, `block_size_z`.
        defines: further macros: whole numbers, or texts.
        bounds, branches: answers to what tickbound asks of a kernel (docs/opencl.md), such as `{"kernel: i < n[0]": "64"}`.
        profile: the semantics: `resources`, or `opencl`.
        folder: where a kernel that is a text is kept as a file.
        measuring: arguments of `tune_kernel` that say how to measure; they are not used.

    Raises:
        TickboundError: something is no whole number or no text where it has to be, or the source is not readable.
    """
    if isinstance(platform, int):
        raise TickboundError('platform: found a number; name the device that is modelled, such as platform="h200"')
    for name in ("smem_args", "cmem_args", "texmem_args"):
        if measuring.get(name):
            raise TickboundError(f"{name}: not read; give the kernel its memory as an array of a known size")
    values = {name: _values(name, domain) for name, domain in tune_params.items()}
    source = _source(kernel_source)
    language = _language(source, lang)
    defined, launch = _launch(tune_params, problem_size, block_size_names, [grid_div_x, grid_div_y, grid_div_z])
    entry = kernel_name or _only_kernel(source)
    if isinstance(source, str):
        path = Path(folder, entry + _SUFFIXES[language]).absolute()
        path.write_text(source, encoding="utf-8")
    else:
        path = source.absolute()
    macros = {name: {"text": text} if isinstance(text, str) else _whole(f"defines[{name!r}]", text)
              for name, text in (defines or {}).items()}
    return {
        "name": entry,
        "profile": profile,
        "platform": os.fspath(platform) if _is_shipped(platform) else os.path.abspath(platform),
        "parameters": {name: list(domain) for name, domain in values.items()},
        "constraints": _restrictions(restrictions),
        "definitions": defined,
        "launch": launch,
        "kernel": {
            "opencl": str(path),
            "entry": entry,
            **({"language": language} if language != "opencl" else {}),
            "defines": {"kernel_tuner": 1, **{name: name for name in defined}, **macros},
            "arguments": _arguments(arguments or (), {*values, *defined}),
            **({"bounds": dict(bounds)} if bounds else {}),
            **({"branches": dict(branches)} if branches else {}),
        },
    }


def shortlist(
    tune_params: Mapping[str, Sequence[Any]],
    restrictions: Sequence[str] | str | None,
    kernel: str | os.PathLike[str],
    *,
    kernel_name: str | None = None,
    arguments: Sequence[Any] | None = None,
    count: int = 10,
    timeout: float | None = None,
    **problem: Any,
) -> list[dict[str, Any]]:
    """The configurations that are worth measuring, as dictionaries for Kernel Tuner, best first by the model's time.

    Configurations that are the same program to the profile `resources` are in the list once.

    Args:
        tune_params, restrictions, kernel, kernel_name, arguments: as for `from_kernel_tuner`.
        count: how many configurations.
        timeout: seconds after which the search ends; the list has then what was found.
        problem: `problem_size`, `platform` and the rest of `from_kernel_tuner`'s arguments.

    Returns:
        At most `count` configurations, fewer if there are no more. `only` makes a restriction of them.

    Raises:
        TickboundError: as `from_kernel_tuner`, or the kernel cannot be read, or no configuration is valid.
    """
    with tempfile.TemporaryDirectory(prefix="tickbound-") as folder:
        asked = from_kernel_tuner(kernel_name, kernel, arguments=arguments, tune_params=tune_params,
                                  restrictions=restrictions, **{**problem, "folder": folder})
        try:
            result = tune_result(ask("tune", asked, options(top=count, timeout=timeout)))
        except TickboundError as error:
            raise TickboundError(_in_our_words(str(error), folder), error.status) from error
    if result.status == "infeasible":
        raise TickboundError("no configuration meets the restrictions and fits the device; relax `restrictions`, or give other values")
    best = [ranked.configuration for ranked in result.ranking[:count]]
    if not best and result.configuration is not None:
        best = [result.configuration]
    values = {name: _values(name, domain) for name, domain in tune_params.items()}
    return [_as_given(configuration, values) for configuration in best]


def only(configurations: Sequence[Mapping[str, Any]]) -> str:
    """A restriction for Kernel Tuner that these configurations alone meet: `restrictions=[tickbound.only(chosen)]`.

    Raises:
        TickboundError: there are none, or they have different parameters.
    """
    names = list(configurations[0]) if configurations else []
    if not names or any(set(one) != set(names) for one in configurations):
        raise TickboundError("only: give at least one configuration, all of the same parameters")
    rows = ", ".join(f"({', '.join(_literal(one[name]) for name in names)},)" for one in configurations)
    return f"({', '.join(names)},) in ({rows},)"


def _literal(value: Any) -> str:
    """A value as Python reads it: NumPy's numbers name their type."""
    return repr(value) if isinstance(value, bool) or not hasattr(value, "__index__") else repr(operator.index(value))


# What a problem file calls what is an argument here.
_WORDS = {
    "-: constraints[": "restrictions[",
    "-: parameters.": "tune_params.",
    "kernel.arguments": "arguments",
    "to the kernel in the problem file": "to what shortlist is called with",
}


def _in_our_words(message: str, folder: str) -> str:
    """A message about the problem that was made here, as one about the arguments that it was made of."""
    message = message.replace(folder + os.sep, "")
    for theirs, ours in _WORDS.items():
        message = message.replace(theirs, ours)
    return message.removeprefix("-: ")


def _as_given(configuration: Configuration, values: Mapping[str, Mapping[int, Any]]) -> dict[str, Any]:
    """The values as they were given: Kernel Tuner's `True` stays `True`."""
    return {name: values[name][value] for name, value in configuration.items()}


def _values(name: str, domain: Sequence[Any]) -> dict[int, Any]:
    """The values of a parameter as whole numbers, each with what was given."""
    if isinstance(domain, str) or not isinstance(domain, Iterable):
        raise TickboundError(f"tune_params[{name!r}]: found {domain!r}; write a list of whole numbers")
    return {_whole(f"tune_params[{name!r}]", value): value for value in domain}


def _whole(where: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TickboundError(f"{where}: found {value!r}; write a whole number (tickbound knows no others)") from None


def _restrictions(restrictions: Any) -> list[str]:
    given = [restrictions] if isinstance(restrictions, str) or callable(restrictions) else list(restrictions or ())
    for i, one in enumerate(given):
        if not isinstance(one, str):
            what = "a function" if callable(one) else repr(one)
            raise TickboundError(f"restrictions[{i}]: found {what}, which cannot be looked into; write it as a text, such as "
                                 '"block_size_x * block_size_y <= 1024"')
    return given


def _source(kernel: Any) -> str | Path:
    """The text of a kernel, or the path of its file."""
    if callable(kernel):
        raise TickboundError("kernel: found a function that makes the source; give the path of a file, or a text")
    is_text = isinstance(kernel, str) and re.search(r"[\n{;]", kernel) is not None
    source: str | Path = str(kernel) if is_text else Path(os.fspath(kernel))
    if not isinstance(source, str) and source.suffix in (".f90", ".F90", ".jl", ".py"):
        raise TickboundError(f"{kernel}: not a language that tickbound reads; give a kernel in OpenCL C, CUDA or HIP")
    _text(source)
    return source


def _language(source: str | Path, lang: str | None) -> str:
    """The language's name in a problem file: as Kernel Tuner was told, by the suffix, or by the text."""
    suffix = "" if isinstance(source, str) else source.suffix
    if lang is not None:
        named = _LANGUAGES.get(lang.lower())
        if named is None:
            raise TickboundError(f"lang: found {lang!r}; tickbound reads OpenCL, CUDA and HIP")
        return named
    if suffix in _SUFFIXES.values():
        return {text: name for name, text in _SUFFIXES.items()}[suffix]
    is_cuda = re.search(r"\b__global__\b|\bblockIdx\b|\bthreadIdx\b", _COMMENT.sub(" ", _text(source)))
    return "cuda" if is_cuda or suffix == ".cuh" else "opencl"


def _text(source: str | Path) -> str:
    if isinstance(source, str):
        return source
    try:
        return source.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TickboundError(f"{source}: {error.strerror}; give the path of a file in OpenCL C, CUDA or HIP, or its text") from error


def _only_kernel(source: str | Path) -> str:
    text = _COMMENT.sub(" ", _text(source))
    names = list(dict.fromkeys(_ENTRY.findall(text) + _CUDA_ENTRY.findall(text)))
    if len(names) != 1:
        found = "no kernel function" if not names else "several kernel functions: " + ", ".join(names)
        raise TickboundError(f"kernel: found {found}; say which with kernel_name")
    return names[0]


def _launch(
    tune_params: Mapping[str, Any],
    problem_size: Any,
    block_size_names: Sequence[str] | None,
    divisors: list[Divisor],
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Definitions of the sides of a group and of the numbers of groups, and the launch, as Kernel Tuner has them."""
    sizes = [problem_size] if isinstance(problem_size, (str, int)) or hasattr(problem_size, "__index__") else problem_size
    if callable(sizes) or not isinstance(sizes, Sequence) or not 1 <= len(sizes) <= 3:
        raise TickboundError("problem_size: write one to three whole numbers, or texts such as \"4 * tile\"")
    names = [*(block_size_names or ()), *_BLOCK_SIZES[len(block_size_names or ()):]]
    if block_size_names is None:
        # Kernel Tuner takes them in upper case, too.
        names = [next((p for p in tune_params if p.lower() == name), name) for name in names]
    defined: dict[str, Any] = {}
    for name, default in zip(names, _BLOCK_DEFAULTS):
        if name not in tune_params:
            defined[name] = default
    launch: dict[str, list[str]] = {"global_size": [], "local_size": []}
    for i, (grid, block) in enumerate(zip(_GRID_SIZES, names)):
        size = _expression(f"problem_size[{i}]", sizes[i]) if i < len(sizes) else "1"
        if divisors[i] is None and block not in tune_params:
            # Kernel Tuner divides by parameters, not by what it takes where there is none.
            divisor = "1"
        else:
            divisor = _divisor(f"grid_div_{'xyz'[i]}", divisors[i], block)
        defined[grid] = f"ceil_div({size}, {divisor})"
        launch["global_size"].append(f"{grid} * {block}")
        launch["local_size"].append(block)
    return defined, launch


def _divisor(where: str, divisor: Any, default: str) -> str:
    if divisor is None:
        return default
    parts = [divisor] if isinstance(divisor, (str, int)) or callable(divisor) else list(divisor)
    return " * ".join(_expression(where, part) for part in parts) or "1"


def _expression(where: str, value: Any) -> str:
    if isinstance(value, str):
        return f"({value})"
    if callable(value):
        raise TickboundError(f"{where}: found a function, which cannot be looked into; write it as a text, such as \"2 * tile\"")
    return str(_whole(where, value))


def _arguments(arguments: Sequence[Any], taken: set[str]) -> list[dict[str, Any]]:
    """The kernel's arguments by their places: arrays and numbers of NumPy."""
    return [_argument(f"arguments[{i}]", _unused(f"argument_{i}", taken), one) for i, one in enumerate(arguments)]


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _argument(where: str, name: str, argument: Any) -> dict[str, Any]:
    kind = _TYPES.get(str(getattr(argument, "dtype", None)))
    if kind is None:
        raise TickboundError(f"{where}: found {type(argument).__name__}; give an array or a number of NumPy, such as numpy.int32(4096)")
    if getattr(argument, "shape", ()) != ():
        return {"name": name, "type": kind, "length": int(argument.size)}
    if kind in ("float", "double"):
        return {"name": name, "type": kind, "real": float(argument)}
    return {"name": name, "type": kind, "value": int(argument)}


def _is_shipped(platform: str | os.PathLike[str]) -> bool:
    """A bare name is a shipped platform's, unless there is such a file."""
    name = os.fspath(platform)
    return os.path.basename(name) == name and not os.path.isfile(name)
