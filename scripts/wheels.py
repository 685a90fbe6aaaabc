#!/usr/bin/env python3
"""Renews the lists of Python wheels in scripts/wheels: versions and SHA-256 sums of what the set-up scripts fetch.

    scripts/wheels.py [PACKAGE | PACKAGE==VERSION]...      (`cargo xtask run wheels`; without arguments: all lists, newest versions)

A list holds a package and all it depends on, each with the sums of all its wheels for the Pythons named below, on any
system. Pip resolves the versions with the Python that runs this (use the oldest of them: its dependencies are the most)
and then tries the list for each Python and processor. Sums come from the package index that pip is configured for. Look at
`git diff scripts/wheels` before you commit it: an unexpected change of a sum without one of the version is an alarm.
"""

import html
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.request

FOLDER = pathlib.Path(__file__).parent / "wheels"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PROCESSORS = ["x86_64", "aarch64"]
# Versions of the C library that wheels ask for.
SYSTEMS = ["manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 40))]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def setting(name, default):
    """A setting of pip, from its files or the environment."""
    listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^\S*?\.([a-z-]+)='(.*)'$", listed, re.M))
    return found.get(name, default)


def resolved(requirement):
    """Names and versions of a package and all it depends on."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        subprocess.run([*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:",
                        "--report", report, requirement], check=True)
        installed = json.load(open(report))["install"]
    return sorted((canonical(one["metadata"]["name"]), one["metadata"]["version"]) for one in installed)


def fits(wheel, version):
    """True if a wheel's name is that of the version, and a Python of ours can install it."""
    parts = wheel.removesuffix(".whl").split("-")
    if not wheel.endswith(".whl") or len(parts) < 5 or parts[1] != version:
        return False
    ours = {"cp" + python.replace(".", "") for python in PYTHONS}
    tags = parts[-3].split(".")
    return bool(ours & set(tags)) or any(tag.startswith("py3") for tag in tags) or parts[-2] == "abi3"


def sums(index, context, name, version):
    """SHA-256 sums of the wheels of one version."""
    request = urllib.request.Request(f"{index.rstrip('/')}/{name}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, context=context, timeout=120) as answer:
        page = answer.read().decode()
    found = set()
    for link in re.findall(r'href="([^"]+)"', page):
        path, _, sum_of_file = html.unescape(link).partition("#sha256=")
        if sum_of_file and fits(path.split("?")[0].rsplit("/", 1)[-1].replace("%2B", "+"), version):
            found.add(sum_of_file)
    if not found:
        sys.exit(f"wheels: the index has no wheel with a SHA-256 sum of {name} {version}")
    return sorted(found)


def tried(path):
    """Asks pip whether the list is enough for each Python and processor. Gives those where it is not."""
    missing = []
    for python in PYTHONS:
        for processor in PROCESSORS:
            systems = [f"--platform={system}_{processor}" for system in SYSTEMS]
            with tempfile.TemporaryDirectory() as folder:
                run = subprocess.run([*PIP, "install", "--quiet", "--dry-run", "--ignore-installed", "--target", folder,
                                      "--only-binary=:all:", "--require-hashes", f"--python-version={python}", *systems,
                                      "--requirement", path], capture_output=True, text=True)
            if run.returncode:
                missing.append(f"Python {python}, {processor}: {run.stderr.strip().splitlines()[-1]}")
    return missing


def main():
    from pip._internal.models.index import PyPI  # pip's own default, which `pip config` does not list

    requirements = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.txt"))
    index, certificates = setting("index-url", PyPI.simple_url), setting("cert", None)
    context = ssl.create_default_context(cafile=certificates)
    for requirement in requirements:
        package = re.split(r"[=<>~!]", requirement)[0]
        lines = [f"# Wheels of {package} and of what it needs: versions and SHA-256 sums. `cargo xtask run wheels` writes this file."]
        for name, version in resolved(requirement):
            lines.append(" \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{s}" for s in sums(index, context, name, version))]))
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"{package}.txt"
        path.write_text("\n".join(lines) + "\n")
        missing = tried(path)
        print(f"{path}: {len(lines) - 1} packages" + "".join(f"\n  not for {one}" for one in missing), flush=True)


if __name__ == "__main__":
    main()
