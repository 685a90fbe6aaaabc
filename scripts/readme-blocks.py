#!/usr/bin/env python3
"""Runs the commands in README.md and docs/, and puts in what they print.

In each block that begins with ```console, a line "$ command" is run by bash, and the lines up to the next command are
what it prints, on standard output and standard error; leading and trailing empty lines do not count. Commands of one file
share a folder that begins as a copy of examples/ and ends with the run. `--check` changes nothing and compares: numbers that
are times, and all numbers of commands that use a device, may differ. A command that ends with a status above 1 is a failure.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ["README.md", "docs/tutorial.md", "docs/how-it-works.md", "docs/papers.md", "docs/reo.md",
         "docs/certificates.md", "docs/opencl.md"]
# Commands whose numbers are those of a device or of a machine.
DEVICE = re.compile(r"\btickbound (measure|score|calibrate|compare)\b|--platform mine\.json")
# Said only where the rest takes long, which it does on a busy machine.
ESTIMATE = re.compile(r"^tickbound: \d+ are measured; the others take about .*\n?", re.M)
TIMES = [
    # Z3 has as long as the search has taken, and answers or not.
    (re.compile(r"^proved in the model: Z3 finds nothing .*\n?", re.M), ""),
    (re.compile(r"^(in: +).*$", re.M), r"\1TIME"),
    (re.compile(r"\b\d[\d.]* (ms|s|min|h)\b"), r"TIME \1"),
    (re.compile(r"\bwith [\d,]+ states, .*$", re.M), "with STATES"),
    (re.compile(r"  +"), "  "),
    (re.compile(r"-{3,}"), "---"),
    # Seconds in tables have a point.
    (re.compile(r"\b\d+\.\d+\b"), "NUMBER"),
]


def masked(command, text):
    """What is compared of a command's output."""
    text = ESTIMATE.sub("", text)
    if DEVICE.search(command):
        # Rows may change places: the first words of a table's heads and of named lines remain.
        named = [line.split(":")[0] for line in text.splitlines() if re.match(r"[a-z][a-z ]*:", line)]
        return "\n".join(named)
    for pattern, mask in TIMES:
        text = pattern.sub(mask, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


class Runner:
    """Runs the commands of one file."""

    def __init__(self, folder, program):
        self.folder = folder
        binaries = folder / ".bin"
        binaries.mkdir()
        (binaries / "tickbound").symlink_to(program)
        python = os.environ.get("PYTHON", "python3")
        if "/" in python:
            # Commands run in another folder. A link is left as it is: it tells Python its packages.
            python = os.path.abspath(python)
        self.environment = dict(os.environ, PYTHON=python, PATH=f"{binaries}:{os.environ['PATH']}", NO_COLOR="1")
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "docs" / "pictures").mkdir(parents=True)

    def run(self, command):
        done = subprocess.run(
            # The status of a pipe is that of its last command; what the others end with counts too.
            ["bash", "-c", f'{command}\nfor status in "${{PIPESTATUS[@]}}"; do [ "$status" -le 1 ] || exit "$status"; done'],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        if done.returncode > 1:
            sys.exit(f"readme-blocks: `{command}` ended with status {done.returncode}:\n{done.stdout}")
        return done.stdout.strip("\n")


def blocks(text):
    """The parts of a text: outside and inside of console blocks, in turn."""
    return re.split(r"(?<=^```console\n)(.*?)(?=^```$)", text, flags=re.M | re.S)


def commands(body):
    """The commands of a block, each with what stands below it. A command goes on after a backslash."""
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        lines = part.split("\n")
        length = 1
        while lines[length - 1].endswith("\\"):
            length += 1
        yield "\n".join(lines[:length]), "\n".join(lines[length:]).strip("\n")


def run_page(name, program, check):
    """Runs the commands of one page. With `check` it returns how many blocks differ, and what to say about them."""
    path = ROOT / name
    parts = blocks(path.read_text())
    wrong = []
    with tempfile.TemporaryDirectory(prefix="tickbound-readme-") as folder:
        runner = Runner(pathlib.Path(folder), program)
        for i in range(1, len(parts), 2):
            body = ""
            for command, before in commands(parts[i]):
                after = runner.run(command)
                body += f"$ {command}\n" + (f"{after}\n" if after else "")
                if check and masked(command, before) != masked(command, after):
                    wrong.append(f"{name}: `{command}` prints\n{after}\nwhere the page says\n{before}\n")
            parts[i] = body
        pictures = pathlib.Path(folder) / "docs" / "pictures"
        if not check:
            for picture in pictures.iterdir():
                shutil.copy(picture, ROOT / "docs" / "pictures")
    if not check:
        path.write_text("".join(parts))
        print(f"readme-blocks: {name} written")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a block is not what is printed")
    parser.add_argument("--program", required=True, type=pathlib.Path, help="the tickbound to run")
    parser.add_argument("files", nargs="*", default=FILES)
    arguments = parser.parse_args()
    # Pages share nothing, and many commands wait for a device or for a time to end. Where times are written down, each command
    # has the machine for itself.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if arguments.check else 1) as pool:
        program = arguments.program.resolve()
        pages = list(pool.map(lambda name: run_page(name, program, arguments.check), arguments.files))
    wrong = [said for page in pages for said in page]
    print("\n".join(wrong), end="")
    if wrong:
        sys.exit(f"readme-blocks: {len(wrong)} blocks differ; `cargo xtask run readme` puts in what is printed")


main()
