#!/usr/bin/env python3
"""Writes the licences of all that is in the distributed program: scripts/third-party.py TARGET > THIRD-PARTY.txt

The crates that are linked for the target, Z3 with its source's licence, and the C++ library and the unwinder, which come
with Zig (run this with the Python that has the package ziglang).
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

LICENCE = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.I)
WORKSPACE = "path+file"


def linked(metadata):
    """The packages that the program consists of: what it depends on, without build scripts' and tests' own."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo, found = [metadata["resolve"]["root"]], set()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += [d["pkg"] for d in nodes[one]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    # What Z3 is built from is a dependency of a build script.
    found |= {package["id"] for package in metadata["packages"] if package["name"] == "z3-src"}
    packages = [p for p in metadata["packages"] if p["id"] in found and not p["id"].startswith(WORKSPACE)]
    return sorted(packages, key=lambda p: (p["name"], p["version"]))


def texts(folder):
    """The licence texts in a folder."""
    files = sorted(f for f in folder.iterdir() if f.is_file() and LICENCE.search(f.name))
    return [f.read_text(encoding="utf-8", errors="replace").strip() for f in files]


def main():
    [target] = sys.argv[1:]
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--features=vendored-z3", f"--filter-platform={target}"]
    metadata = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    parts = []
    for package in linked(metadata):
        folder = pathlib.Path(package["manifest_path"]).parent
        said = texts(folder) + (texts(folder / "z3") if package["name"] == "z3-src" else [])
        parts.append((f"{package['name']} {package['version']}", package["license"] or "see below", said))
    zig = importlib.util.find_spec("ziglang")
    if zig is None or not zig.submodule_search_locations:
        sys.exit("third-party: this Python has no package ziglang, whose C++ library the program is linked with")
    library = pathlib.Path(zig.submodule_search_locations[0], "lib")
    for name in ("libcxx", "libcxxabi", "libunwind"):
        parts.append((f"LLVM's {name}", "Apache-2.0 WITH LLVM-exception", texts(library / name)))
    parts.append(("Rust's standard library", "MIT OR Apache-2.0", []))

    print("tickbound is distributed with the following, each under its own licence. Texts that are the same are printed once.\n")
    for name, licence, _ in parts:
        print(f"  {name}: {licence}")
    owners = {}
    for name, _, said in parts:
        for text in said:
            owners.setdefault(text, []).append(name)
    for text, names in owners.items():
        print(f"\n{'-' * 80}\n{', '.join(names)}\n\n{text}")


if __name__ == "__main__":
    main()
