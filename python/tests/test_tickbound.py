"""What the package promises. `make test` runs this with the program that it has built (the variable TICKBOUND)."""

import contextlib
import doctest
import importlib.util
import inspect
import io
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import types
import typing
import unittest
from pathlib import Path
from unittest import mock

import tickbound
from tickbound import _kernel_tuner

PROJECT = Path(__file__).resolve().parents[2]
ABSTRACT = PROJECT / "examples" / "problems" / "abstract.json"
TRANSPOSE = PROJECT / "examples" / "kernels" / "transpose.cl"
HAS_KERNEL_TUNER = importlib.util.find_spec("kernel_tuner") is not None

SMALL = {
    "inputs": {"size": 64},
    "platform": {"units_per_device": 2, "elements_per_unit": 4, "global_access": 4, "group_start": 3},
    "parameters": {"WG": "powers_of_two(1, 32)", "time": [1, 2]},
    "launch": {"global_size": "size", "local_size": "WG"},
    "kernel": [{"global": "time"}, "barrier", {"compute": "WG"}],
}


KEPT = tempfile.TemporaryDirectory()


def setUpModule() -> None:
    # Each kernel is read once here, whatever the user keeps.
    os.environ["TICKBOUND_CACHE"] = KEPT.name


def tearDownModule() -> None:
    KEPT.cleanup()


class Number:
    """What `shortlist` looks at in a number or an array of NumPy."""

    def __init__(self, dtype: str, value: float = 0, shape: tuple[int, ...] = ()) -> None:
        self.dtype, self.value, self.shape, self.size = dtype, value, shape, math.prod(shape)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)


class Studies(unittest.TestCase):
    def test_asks_for_each_configuration_once_the_best_of_the_model_first(self) -> None:
        times = {(wg, time): wg * 7 % 32 + time for wg in (1, 2, 4, 8, 16, 32) for time in (1, 2)}
        with tickbound.Study(SMALL) as study:
            self.assertEqual(study.parameters, ["WG", "time"])
            self.assertIsNone(study.best())
            asked = []
            while (one := study.ask()) is not None:
                asked.append((one["WG"], one["time"]))
                study.tell(one, times[asked[-1]])
            self.assertEqual(sorted(asked), sorted(times))
            self.assertEqual(asked[0], (4, 1))
            self.assertEqual(study.best(), ({"WG": 32, "time": 1}, 1.0))

    def test_what_is_told_is_checked(self) -> None:
        with tickbound.Study(SMALL, among=[[4, 1], [8, 2], [5, 1]]) as study:
            study.tell({"WG": 8, "time": 2}, None)
            self.assertIsNone(study.best())
            for configuration, said in [({"WG": 16, "time": 1}, "none of the configurations"),
                                        ({"WG": 4}, "time has no value"), ({"W": 4, "time": 1}, "did you mean `WG`?")]:
                with self.assertRaisesRegex(tickbound.TickboundError, said):
                    study.tell(configuration, 1.0)
            # One was told, and one is not valid.
            self.assertEqual(study.ask(), {"WG": 4, "time": 1})
            self.assertIsNone(study.ask())
        with self.assertRaisesRegex(tickbound.TickboundError, "closed"):
            study.ask()
        with self.assertRaisesRegex(tickbound.TickboundError, "there is no such file"):
            tickbound.Study("absent.json")

    @unittest.skipUnless(HAS_KERNEL_TUNER, "Kernel Tuner is not installed")
    def test_is_a_strategy_of_kernel_tuner(self) -> None:
        import kernel_tuner

        cache = PROJECT / "python" / "examples" / "reduction.cache.json"
        head = json.loads(cache.read_text(encoding="utf-8"))
        params = {name: sorted({one[name] for one in head["cache"].values()}) for name in head["tune_params_keys"]}
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(cache, folder)
            with contextlib.redirect_stdout(io.StringIO()):
                results, _ = kernel_tuner.tune_kernel(
                    head["kernel_name"], "__global__ void f() {}", tuple(head["problem_size"]), [], params,
                    restrictions=[tickbound.only(list(head["cache"].values()) and
                                                 [{n: one[n] for n in params} for one in head["cache"].values()])],
                    lang="CUDA", cache=copy, simulation_mode=True, quiet=True, strategy_options={"max_fevals": 12},
                    strategy=tickbound.KernelTunerStrategy(PROJECT / "examples" / "kernels" / "reduction.json",
                                                           inputs={"size": head["problem_size"][0]}))
        self.assertEqual(len(results), 12)
        best = min(one["time"] for one in head["cache"].values() if isinstance(one["time"], float))
        self.assertLess(min(one["time"] for one in results), 1.5 * best)


class Answers(unittest.TestCase):
    def test_the_examples_in_the_documentation(self) -> None:
        outcome = doctest.testmod(tickbound)
        self.assertEqual(outcome.failed, 0)
        self.assertGreater(outcome.attempted, 3)

    def test_a_file_and_a_dictionary(self) -> None:
        from_file = tickbound.tune(ABSTRACT, inputs={"size": 16})
        self.assertEqual((from_file.time, from_file.configuration, from_file.proved), (156, {"WG": 8, "TS": 4}, True))
        every = [dict(zip(("WG", "time"), values)) for values in itertools.product((1, 2, 4, 8, 16, 32), (1, 2))]
        times = sorted(tickbound.simulate(SMALL, one).time for one in every)
        result = tickbound.tune(SMALL, top=12)
        self.assertEqual([ranked.time for ranked in result.ranking], times)
        self.assertEqual([tickbound.simulate(SMALL, ranked.configuration).time for ranked in result.ranking], times)
        self.assertEqual((result.configurations, result.lower), (12, times[0]))

    def test_ties_and_fixed_parameters(self) -> None:
        # Without `top` the ranking is the ties; that a parameter is called `time` confuses nothing.
        result = tickbound.tune(SMALL, set={"time": 2})
        self.assertTrue(result.ranking)
        for ranked in result.ranking:
            self.assertEqual((ranked.configuration["time"], ranked.time), (2, result.time))
            self.assertEqual(tickbound.simulate(SMALL, ranked.configuration).time, ranked.time)

    def test_explain(self) -> None:
        page = tickbound.explain(ABSTRACT, inputs={"size": 16})
        self.assertEqual((page.configurations, page.program, page.counts), (6, None, None))
        counts = tickbound.explain(SMALL, {"WG": 8, "time": 2}).counts
        assert counts is not None
        self.assertEqual((counts["global"], counts["compute"]), (2 * 64, 8 * 64))

    def test_numbers_beyond_63_bits(self) -> None:
        wide = SMALL | {"parameters": {"WG": [4], "time": [1]} | {f"p{i}": "range(1, 32)" for i in range(16)}}
        self.assertEqual(tickbound.tune(wide).configurations, 32**16)

    def test_infeasible_is_an_answer(self) -> None:
        result = tickbound.tune(SMALL | {"constraints": ["WG > 1000"]})
        self.assertEqual((result.status, result.time, result.proved), ("infeasible", None, False))

    def test_errors_have_the_programs_words(self) -> None:
        for problem, words, status in [
            ("no-such-file.json", "no-such-file.json", 2),
            ("--help", "--help", 2),
            (SMALL | {"platfrom": 1}, "platfrom", 2),
            (SMALL | {"parameters": {"WG": [1.5]}}, "parameters.WG", 2),
        ]:
            with self.assertRaises(tickbound.TickboundError) as caught:
                tickbound.tune(problem)
            self.assertIn(words, str(caught.exception))
            self.assertFalse(str(caught.exception).startswith("tickbound:"))
            self.assertEqual(caught.exception.status, status)

    def test_without_the_program(self) -> None:
        with mock.patch.dict(os.environ, {"TICKBOUND": str(PROJECT / "no-such-program")}):
            with self.assertRaisesRegex(tickbound.TickboundError, "no-such-program.*install"):
                tickbound.tune(SMALL)

    def test_all_is_typed_and_documented(self) -> None:
        for name in tickbound.__all__:
            public = getattr(tickbound, name)
            if isinstance(public, types.FunctionType):
                hints = typing.get_type_hints(public)
                self.assertIn("return", hints, name)
                code = public.__code__
                rest = bool(code.co_flags & inspect.CO_VARKEYWORDS)
                self.assertEqual(len(hints), code.co_argcount + code.co_kwonlyargcount + rest + 1, name)
                self.assertTrue(public.__doc__, name)
        self.assertTrue((Path(tickbound.__file__).parent / "py.typed").exists())


class Proposals(unittest.TestCase):
    def test_a_problem_is_proposed_and_tuned(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, output = Path(folder).resolve() / "transpose.cl", Path(folder).resolve() / "problem.json"
            shutil.copy(TRANSPOSE, source)
            options: dict[str, typing.Any] = {
                "inputs": {"width": 512, "height": 256}, "parameters": {"PAD": [0, 1]}, "platform": "h200"}
            try:
                kept = tickbound.init(source, output=output, **options)
            except tickbound.TickboundError as error:
                if "libclang" in str(error) and "CI" not in os.environ:
                    self.skipTest(str(error))
                raise
            found = tickbound.init(source, **options)
            self.assertEqual(found, kept)
            self.assertEqual(found.problem["kernel"]["opencl"], str(source))
            self.assertEqual(found.problem["inputs"]["width"], 512)
            self.assertEqual(found.problem["parameters"]["PAD"], [0, 1])
            self.assertTrue(any(note.startswith("launch:") for note in found.notes), found.notes)
            best = tickbound.tune(found.problem)
            self.assertEqual((best.time, best.proved), (tickbound.tune(output).time, True))
            with self.assertRaisesRegex(tickbound.TickboundError, "problem.json"):
                tickbound.init(source, output=output)

    def test_what_init_refuses(self) -> None:
        with self.assertRaisesRegex(tickbound.TickboundError, "no-such.cl"):
            tickbound.init("no-such.cl")

    def test_scores_of_a_cache(self) -> None:
        cache = PROJECT / "python" / "examples" / "reduction.cache.json"
        try:
            found = tickbound.score(PROJECT / "examples" / "kernels" / "reduction.json", cache)
        except tickbound.TickboundError as error:
            if "libclang" in str(error) and "CI" not in os.environ:
                self.skipTest(str(error))
            raise
        self.assertEqual(found.entries, 144)
        self.assertIsNotNone(found.spearman)
        with self.assertRaisesRegex(tickbound.TickboundError, "no-such"):
            tickbound.score(ABSTRACT, "no-such.json")

    def test_measures_where_there_is_a_device(self) -> None:
        kernel = PROJECT / "examples" / "kernels" / "minimum.json"
        with tempfile.TemporaryDirectory() as folder:
            options: dict[str, typing.Any] = {"inputs": {"size": 4096}, "cache": Path(folder, "cache.json")}
            try:
                found = tickbound.measure(kernel, sample=2, seed=1, **options)
            except tickbound.TickboundError as error:
                self.assertRegex(str(error), "OpenCL|libclang")
                if "CI" in os.environ:
                    raise
                self.skipTest(str(error))
            self.assertEqual(len(found.results), 2)
            self.assertGreater(found.seconds, 0.0)
            self.assertEqual(found.seconds, min(one["time"] for one in found.results))
            again = tickbound.measure(kernel, sample=2, seed=1, **options)
            self.assertEqual((again.configuration, again.answer["cached"]), (found.configuration, 2))
        with self.assertRaises(tickbound.TickboundError):
            tickbound.measure(SMALL, top=1)


@unittest.skipUnless(importlib.util.find_spec("optuna"), "Optuna is absent; scripts/setup-python.sh optuna optuna fetches it")
class Optuna(unittest.TestCase):
    def test_trials_are_those_of_a_study(self) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        times = {(wg, time): wg * 7 % 32 + time for wg in (1, 2, 4, 8, 16, 32) for time in (1, 2)}
        tried = []

        def objective(trial: typing.Any) -> float:
            one = (trial.suggest_categorical("WG", [1, 2, 4, 8, 16, 32]), trial.suggest_int("time", 1, 2))
            tried.append(one)
            if one == (8, 1):
                raise optuna.TrialPruned
            return float(times[one])

        study = optuna.create_study(sampler=tickbound.optuna_sampler(SMALL))
        study.optimize(objective, n_trials=20)
        self.assertEqual(tried[0], (4, 1))
        self.assertEqual(sorted(tried), sorted(times))
        self.assertEqual(study.best_params, {"WG": 32, "time": 1})

    def test_what_is_suggested_must_be_the_problems(self) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.CRITICAL)
        for suggest, words in [
            (lambda trial: trial.suggest_int("NOPE", 1, 2), "NOPE is not a parameter.*WG, time"),
            (lambda trial: trial.suggest_categorical("WG", [3, 5]), "WG: the problem has the value 4"),
            (lambda trial: trial.suggest_int("WG", 5, 9), "WG: the problem has the value 4"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(tickbound.TickboundError, words):
                optuna.create_study(sampler=tickbound.optuna_sampler(SMALL)).optimize(suggest, n_trials=1)


class Shortlist(unittest.TestCase):
    PARAMETERS = {"TILE": [8, 16, 32, 64], "ROWS": [1, 2, 4, 8, 16, 32], "PAD": [False, True]}
    RESTRICTIONS = ["ROWS <= TILE", "TILE * ROWS <= 1024"]
    LAUNCH: dict[str, typing.Any] = {"problem_size": (4096, 2048), "block_size_names": ["TILE", "ROWS"], "grid_div_y": ["TILE"]}
    ARGUMENTS = [Number("float32", shape=(4096 * 2048,))] * 2 + [Number("int32", 4096), Number("int32", 2048)]

    def chosen(self, *arguments: typing.Any, **options: typing.Any) -> list[dict[str, typing.Any]]:
        try:
            return tickbound.shortlist(*arguments, **{"platform": "rtx-3090", **self.LAUNCH, **options})
        except tickbound.TickboundError as error:
            if "libclang" in str(error) and "CI" not in os.environ:
                self.skipTest(str(error))
            raise

    def test_the_best_of_the_problem_file(self) -> None:
        """The same kernel as a problem file, written by hand, ranks the same."""
        problem = TRANSPOSE.with_suffix(".json")
        for profile, most in (("resources", 6), ("opencl", 12)):
            chosen = self.chosen(self.PARAMETERS, self.RESTRICTIONS, TRANSPOSE, arguments=self.ARGUMENTS, profile=profile, count=most)
            asked = {"profile": profile, "platform": "rtx-3090"}
            times = [tickbound.simulate(problem, one, **asked).time for one in chosen]
            listed = tickbound.tune(problem, top=most, **asked).ranking
            self.assertEqual(times, [ranked.time for ranked in listed[:most]], profile)
            self.assertEqual(len(times), most)
            self.assertTrue(all(isinstance(one["PAD"], bool) for one in chosen))

    def test_a_text_and_defaults(self) -> None:
        source = """__kernel void twice(__global float *a, int n) {  // kernel void not_this(
            for (int i = get_global_id(0); i < n; i += block_size_x * grid_size_x * kernel_tuner) a[i] *= 2.0f; }"""
        arguments = [Number("float32", shape=(4096,)), Number("int32", 4096)]
        launch = {"problem_size": 4096, "block_size_names": None, "grid_div_y": None, "arguments": arguments}
        chosen = self.chosen({"block_size_x": [32, 64, 128]}, None, source, **launch)
        self.assertEqual(sorted(one["block_size_x"] for one in chosen), [32, 64, 128])

    def test_cuda_with_the_arguments_of_tune_kernel(self) -> None:
        """The example of Kernel Tuner's documentation, and what `init` makes of the same kernel."""
        source = """__global__ void vector_add(float *c, const float *a, const float *b, int n) {
            int i = (blockIdx.x * block_size_x) + threadIdx.x;
            if (i < n) { c[i] = a[i] + b[i]; } }"""
        floats = Number("float32", shape=(10_000_000,))
        with tempfile.TemporaryDirectory() as folder:
            problem = tickbound.from_kernel_tuner(
                "vector_add", source, 10_000_000, [floats, floats, floats, Number("int32", 10_000_000)],
                {"block_size_x": [128 + 64 * i for i in range(15)]}, platform="h200", folder=folder, iterations=7, verbose=True)
            self.assertEqual(problem["kernel"]["language"], "cuda")
            self.assertEqual(Path(problem["kernel"]["opencl"]).read_text(), source)
            try:
                result = tickbound.tune(problem)
            except tickbound.TickboundError as error:
                if "libclang" in str(error) and "CI" not in os.environ:
                    self.skipTest(str(error))
                raise
            self.assertTrue(result.proved)
            self.assertEqual(result.configurations, 15)
            bytes_moved = {size: tickbound.explain(problem, {"block_size_x": size}).usage["dram_bytes"] for size in (128, 1024)}
            self.assertEqual(set(bytes_moved.values()), {12 * 10_000_000})

    def test_what_cannot_be_taken_is_refused(self) -> None:
        one = {"TILE": [8]}
        for arguments, options, words in [
            ((one, [lambda p: True], TRANSPOSE), {}, r"restrictions\[0\].*function.*text"),
            ((one, lambda p: True, TRANSPOSE), {}, r"restrictions\[0\].*function"),
            ((one, ["TILE in [8]"], TRANSPOSE), {}, r"restrictions\[0\].*in \[8\]"),
            ((one, ["NOPE > 1"], TRANSPOSE), {}, r"restrictions\[0\].*NOPE"),
            (({"TILE": ["float"]}, [], TRANSPOSE), {}, "tune_params.*float"),
            (({"TILE": [0.5]}, [], TRANSPOSE), {}, "tune_params.*0.5"),
            (({"TILE": 8}, [], TRANSPOSE), {}, "tune_params.*list"),
            ((one, [], "vector_add.f90"), {}, "OpenCL C, CUDA or HIP"),
            ((one, [], TRANSPOSE), {"lang": "Fortran"}, "lang: found 'Fortran'"),
            ((one, [], TRANSPOSE), {"smem_args": {"size": 64}}, "smem_args"),
            ((one, [], TRANSPOSE), {"platform": 0}, "platform: found a number"),
            ((one, [], "no-such-file.cl"), {}, "no-such-file.cl"),
            ((one, [], "int x;\n"), {}, "no kernel function"),
            ((one, [], "kernel void a() {} kernel void b() {}"), {}, "a, b.*kernel_name"),
            ((one, [], TRANSPOSE), {"problem_size": lambda p: 1}, "problem_size"),
            ((one, [], TRANSPOSE), {"grid_div_x": [lambda p: 1]}, "grid_div_x.*function"),
            ((one, [], TRANSPOSE), {"grid_div_x": lambda p: 1}, "grid_div_x.*function"),
            ((one, [], TRANSPOSE), {"arguments": [7]}, r"arguments\[0\].*NumPy"),
            ((one, [], TRANSPOSE), {"platform": "no-such-device"}, "platform.*no-such-device"),
            ((one, ["TILE > 8"], TRANSPOSE), {}, "no configuration"),
            ((self.PARAMETERS, self.RESTRICTIONS, TRANSPOSE), {}, "width.* arguments"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(tickbound.TickboundError, words):
                self.chosen(*arguments, **options)

    def test_only_is_what_it_lists(self) -> None:
        every = [dict(zip("abc", values)) for values in itertools.product((1, 2), (3, 4), (False, True))]
        for number in (1, 3):
            listed = every[2 : 2 + number]
            text = tickbound.only(listed)
            self.assertEqual([one for one in every if eval(text, {}, dict(one))], listed)
        for wrong in ([], [{"a": 1}, {"b": 1}]):
            with self.assertRaises(tickbound.TickboundError):
                tickbound.only(wrong)

    @unittest.skipUnless(HAS_KERNEL_TUNER, "Kernel Tuner is absent; scripts/setup-python.sh kernel-tuner kernel_tuner fetches it")
    def test_the_launch_is_kernel_tuners(self) -> None:
        from kernel_tuner import util

        seed = random.randrange(2**32)
        dice = random.Random(seed)
        ceil_div = {"ceil_div": lambda a, b: -(-a // b)}
        for turn in range(300):
            names = dice.choice([["block_size_x", "block_size_y"], ["BX"], ["BLOCK_SIZE_X"], ["tile"]])
            given = {"block_size_x": None, "BX": ["BX"], "BLOCK_SIZE_X": None, "tile": None}[names[0]]
            params = {name: dice.randint(1, 64) for name in [*names, "work"]}
            sizes: list[int | str] = [dice.choice([dice.randint(1, 5000), "7 * work", "work // 2 + 3"]) for _ in range(dice.randint(1, 3))]
            size = dice.choice([tuple(sizes), sizes[0]])
            divisors = [dice.choice([None, [], ["work"], "work", 3, [names[0], "work * 2"], [5, "work"]]) for _ in range(3)]
            block_names = util.check_block_size_params_names_list(given and list(given), params)
            util.append_default_block_size_names(block_names)
            block_names = block_names or util.default_block_size_names
            # What it expects of a divisor that no parameter gives is a parameter.
            grid = [divisor if divisor is not None or name in params else [] for divisor, name in zip(divisors, block_names)]
            theirs = util.setup_block_and_grid(size, grid, params, block_names)
            defined, launch = _kernel_tuner._launch(params, size, given, divisors)
            scope: dict[str, typing.Any] = dict(params)
            for name, text in defined.items():
                scope[name] = eval(str(text), ceil_div, scope)
            threads = tuple(eval(text, ceil_div, scope) for text in launch["local_size"])
            items = tuple(eval(text, ceil_div, scope) for text in launch["global_size"])
            about = f"seed {seed}, turn {turn}: {params} {size} {divisors}"
            self.assertEqual(threads, theirs[0], about)
            self.assertEqual(items, tuple(a * b for a, b in zip(*theirs)), about)

    @unittest.skipUnless(HAS_KERNEL_TUNER, "Kernel Tuner is absent; scripts/setup-python.sh kernel-tuner kernel_tuner fetches it")
    def test_the_notebook(self) -> None:
        self.chosen({"TILE": [8], "ROWS": [1], "PAD": [0]}, [], TRANSPOSE, arguments=self.ARGUMENTS)  # libclang is there
        script = PROJECT / "python" / "examples" / "shortlist.py"
        cache = script.parent / "reduction.cache.json"
        before = cache.read_bytes()
        run = subprocess.run([sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = run.stdout.splitlines()
        self.assertEqual(len(lines), 13, run.stdout)
        self.assertRegex(lines[10], r"^best of 144: 0\.\d+ ms at \{'WG': \d+")
        self.assertRegex(lines[11], r"^best of 10: 0\.\d+ ms at \{'WG': \d+")
        self.assertEqual(cache.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
