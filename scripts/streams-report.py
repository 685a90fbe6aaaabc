#!/usr/bin/env python3
"""Measures products that are not kept and writes docs/results/streams.md: scripts/streams-report.py PROGRAM PAGE --date DATE

On an idle machine: other work on it shows in the figures. Needs 5 GB in the folder for temporary files, and some minutes.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

CONNECTORS = "examples/connectors"
# What is taken from data sheets: bytes a second of the H200's memory and of a slot of PCIe 5.0 x16 in one direction (NVIDIA H200 Tensor Core
# GPU, data sheet: 4.8 TB/s; 128 GB/s both ways), and of a port of InfiniBand HDR, 200 Gbit/s (InfiniBand Trade Association's roadmap).
H200, PCIE, PORT = 4.8e12, 64e9, 25e9
# Nodes, and cores of each, of the machine on paper; a device's host has as many.
NODES, CORES = 64, 64
# Seen of a device's memory by the product: what reo.md has of a fill on other devices, at its least.
OF_FILL = 0.8
# Open MPI asks for these where processes are more than cores, or root's, as in containers.
AS_RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


def run(program, *arguments, ranks=None):
    """A run's JSON, with its seconds, seconds of processors and most memory of a process in MB; as `ranks` processes where they are given."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # `time` is a process of each rank's own: the largest of what they print is what a rank needs.
    command = ["/usr/bin/env", "time", "-f", "memory %M", program, "reo", "compose", *arguments, "--json"]
    environment = dict(os.environ)
    if ranks:
        command = ["mpirun", "-n", str(ranks), *command]
        environment.update(AS_RANKS, RAYON_NUM_THREADS=str(max(1, os.cpu_count() // ranks)))
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processors = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    memory = max(int(line.split()[1]) for line in done.stderr.splitlines() if line.startswith("memory ")) / 1e3
    return {**json.loads(done.stdout), "wall": seconds, "processors": processors, "memory": memory}


def load():
    return f"{os.getloadavg()[0]:.1f}"


def direct(folder, count):
    """Bytes a second of plain writes past the system's cache."""
    path = os.path.join(folder, "plain")
    began = time.monotonic()
    subprocess.run(
        ["dd", "if=/dev/zero", f"of={path}", "bs=8M", f"count={count >> 23}", "oflag=direct", "status=none"], check=True
    )
    seconds = time.monotonic() - began
    os.remove(path)
    return (count >> 23 << 23) / seconds


def dense(program, page):
    page("## Dense, counted and summed", "")
    page("    tickbound reo compose examples/connectors/buffers.treo --no-data --mode dense --set n=16 --stream", "")
    page("| | transitions, with idling | load | seconds | seconds of processors | most memory, MB | checksum |")
    page("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    ways = [("threads, blocks of 64 MB", [], None)]
    ways += [(f"blocks of {size} MB", ["--block", f"{size}M"], None) for size in (8, 256)]
    ways += [("OpenCL", ["--device", "opencl"], None)] * has_opencl(program)
    ways += [(f"{ranks} rank" + "s" * (ranks > 1), [], ranks) for ranks in (1, 2, 4) if speaks_mpi(program)]
    found = []
    for what, words, ranks in ways:
        before = load()
        one = run(program, f"{CONNECTORS}/buffers.treo", "--no-data", "--mode", "dense", "--set", "n=16", "--stream", *words, ranks=ranks)
        page(
            f"| {what} | {one['algebraic_transitions']} | {before} | {one['wall']:.1f} | {one['processors']:.1f} | {one['memory']:.0f} | `{one['checksum']}` |"
        )
        found.append(one)
    if len({one["checksum"] for one in found}) != 1:
        raise SystemExit("the checksums differ")
    page("", "Whole it would be 51.5 GB as sparse rows.", "")
    return found[0]["algebraic_transitions"] / found[0]["processors"]


def answers(command):
    """Whether a command is there and ends well."""
    try:
        return subprocess.run(command, capture_output=True, env={**os.environ, **AS_RANKS}).returncode == 0
    except FileNotFoundError:
        return False


def has_opencl(program):
    """Whether there is an OpenCL device."""
    small = [f"{CONNECTORS}/buffers.treo", "--no-data", "--mode", "dense", "--set", "n=2", "--stream"]
    return answers([program, "reo", "compose", *small, "--device", "opencl"])


def speaks_mpi(program):
    """Whether the program was built with `--features mpi`, and there is an mpirun."""
    return answers(["mpirun", "-n", "2", program, "reo", "compose", f"{CONNECTORS}/chain.treo", "--no-data", "--set", "n=2", "--stream"])


def written(program, page):
    page("## Dense, written", "")
    page("    tickbound reo compose examples/connectors/buffers.treo --no-data --mode dense --set n=14 --stream --dataset DIR", "")
    page("268435456 transitions, 4.3 GB, beside `dd oflag=direct` with as many bytes in blocks of 8 MiB, right after it.", "")
    page("| load | seconds | seconds of processors | most memory, MB | MB/s | `dd`, MB/s | ratio |", "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    rates = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=".") as folder:
            before, at = load(), os.path.join(folder, "set")
            found = run(
                program, f"{CONNECTORS}/buffers.treo", "--no-data", "--mode", "dense", "--set", "n=14", "--stream", "--dataset", at
            )
            size = sum(entry.stat().st_size for entry in os.scandir(at))
            shutil.rmtree(at)
            rate, plain = size / found["wall"], direct(folder, size)
        rates.append(rate)
        page(
            f"| {before} | {found['wall']:.1f} | {found['processors']:.1f} | {found['memory']:.0f} "
            f"| {rate / 1e6:.0f} | {plain / 1e6:.0f} | {rate / plain:.2f} |"
        )
    page("")
    return max(rates)


def reachable(program, page):
    page("## Reachable", "")
    page("    tickbound reo compose examples/connectors/chain.treo --no-data --set n=22 [--stream] --memory SIZE", "")
    page("An open chain of 22 buffers: 4194304 states, 445923058 transitions. Whole, it is 5.3 GB.", "")
    page("| | `--memory` | load | seconds | seconds of processors | most memory of a process, MB | checksum |", "| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    sums, rates = set(), []
    ways = [("whole", "12G", None), ("some rows at a time", "512M", None), ("some rows at a time", "64M", None)]
    ways += [(f"{ranks} ranks", "512M", ranks) for ranks in (2, 4) if speaks_mpi(program)]
    for what, memory, ranks in ways:
        before, stream = load(), what != "whole"
        words = ["--no-data", "--set", "n=22", "--memory", memory] + ["--stream"] * stream
        found = run(program, f"{CONNECTORS}/chain.treo", *words, ranks=ranks)
        if (found["states"], found["transitions"]) != (4194304, 445923058):
            raise SystemExit(f"another product: {found}")
        checksum = f"`{found['checksum']}`" if stream else ""
        page(f"| {what} | {memory} | {before} | {found['wall']:.1f} | {found['processors']:.1f} | {found['memory']:.0f} | {checksum} |")
        if stream:
            sums.add(found["checksum"])
        if stream and not ranks:
            rates.append(found["transitions"] / found["processors"])
    if len(sums) != 1:
        raise SystemExit(f"the checksums differ: {sums}")
    page("", "With 512 MB all states are in memory, and the steps are not; with 64 MB most states are on disk.", "")
    return max(rates)


def ranks(page):
    page("## What ranks tell each other", "")
    page("    cargo bench -p tickbound-reo --bench ranks", "")
    page("The same search by threads in the place of processes, an open chain of 16 buffers: 65536 states, 2207842 transitions.", "")
    command = ["cargo", "bench", "-q", "--locked", "-p", "tickbound-reo", "--bench", "ranks"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page(table)
    page(
        "Asked for are states, each once as long as a rank's table knows it, not transitions: rows of ten times as many steps cost hardly more.",
        "In each round, besides, every rank tells every other two words; with 256 ranks and more that is most of what is sent here, as a round has few states: it can take",
        "no more than are known, 2,048 in the mean. What a rank sends is even, as owners follow from a hash; the steps that it makes are as uneven as",
        "rows are long, the more so the fewer states a round has for each rank.",
        "",
    )
    rows = [line.split("|")[1:-1] for line in table.splitlines()[2:]]
    return {int(row[0]): float(row[3]) for row in rows}


def paper(program, page, cell, step, disk, told):
    """What 10^12 transitions cost."""
    tell = lambda *words: run(program, *words, "--no-data", "--mode", "implicit")
    buffers = tell(f"{CONNECTORS}/buffers.treo", "--set", "n=20")
    chain = tell(f"{CONNECTORS}/chain.treo", "--set", "n=31")
    cells, steps = 4**20, chain["transitions"]
    near = min(told, key=lambda ranks: abs(ranks - NODES))
    seconds = lambda s: f"{s:.2g} s" if s < 10 else f"{s:.0f} s"
    page("## 10^12 transitions, on paper", "")
    page(
        f"Of 20 buffers that share nothing: {cells} cells, dense. Of an open chain of 31: {chain['states']} states, {steps} transitions, reachable;",
        "32 bits number no larger product. Measured are, above and for each core of this machine, "
        f"{cell / 1e6:.0f} million cells a second made, counted and summed, {step / 1e6:.0f} million reachable steps, and {disk / 1e6:.0f} MB/s to this disk.",
        f"Data-sheet values are {H200 / 1e12} TB/s of an H200's memory and {PCIE / 1e9:.0f} GB/s to its host (NVIDIA H200 data sheet; PCIe 5.0 x16, one direction),",
        f"and {PORT / 1e9:.0f} GB/s of a port of InfiniBand HDR. Assumed are {CORES} such cores in a node and that a device makes cells at {OF_FILL:.0%} of its memory's rate, the",
        "bar for one that was not at hand; what ranks tell each other is taken as it is from the small product, where tables are cold: rather too much. Nothing in this section was run.",
        "",
    )
    link = cells * 8 / PCIE
    node = cells / (cell * CORES)
    page("| 10^12 | one H200 and its host | 64 nodes |", "| --- | ---: | ---: |")
    page(f"| dense: cells made on the device | {seconds(cells * 8 / (H200 * OF_FILL))} | - |")
    page(f"| dense: cells brought to the host | {seconds(link)} | - |")
    page(f"| dense: made by threads, counted and summed | {seconds(node)} | {seconds(node / NODES)} |")
    page(f"| dense: 17.6 TB written, a disk of this kind in each node | {seconds(cells * 16 / disk)} | {seconds(cells * 16 / disk / NODES)} |")
    page(f"| reachable: found, counted and summed | {seconds(steps / (step * CORES))} | {seconds(steps / (step * CORES * NODES))} |")
    volume = steps * told[near]
    page(f"| reachable: {volume / 1e12:.1f} TB between ranks, one for each node ({told[near]:.2f} bytes a transition, as with {near} ranks above) | - | {seconds(volume / (PORT * NODES))} |")
    page("")
    page(
        "So a device makes the cells long before its host has them: where threads can keep up with the link, they are as good a maker, and what would be gained by one is",
        "gained only if it counts and sums as well. Written, the disks decide, on one node or 64. The reachable product of 2^31 states needs 40 to 60 bytes a state for tables",
        "over all ranks, 2 GB on each of 64 nodes, or as much disk on one.",
        "",
        "**Where `implicit` is the better answer.** How many states and transitions the full product has, `--mode implicit` says without making it: "
        f"{buffers['seconds'] * 1e3:.0f} ms and {chain['seconds'] * 1e3:.0f} ms for these two here. It is right wherever all states can be reached, as in both, or the full product is",
        "what is asked for; the rows of single states it makes on demand. What it does not say is which states are reachable, stuck, or break a condition: there the reachable",
        "product has to be gone through - or a smaller one that does the same: with `--hide-inner --minimize weak` the chain of 31 has 32 states.",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("page")
    parser.add_argument("--date", required=True)
    arguments = parser.parse_args()
    lines = []
    page = lambda *more: lines.extend(more)
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "processors")
    page("# Products larger than memory, measured", "")
    profile = os.path.basename(os.path.dirname(os.path.abspath(arguments.program)))
    mpi = " and the feature `mpi`" if speaks_mpi(arguments.program) else ""
    page(
        f"Written by `scripts/streams-report.py` on {arguments.date}, with the program of the profile `{profile}`{mpi}, on {os.cpu_count()} cores of {model}. The load is",
        "that of `uptime` before each run, the run before it included. [What is measured](../reo.md#products-larger-than-memory).",
        "",
    )
    cell = dense(arguments.program, page)
    disk = written(arguments.program, page)
    step = reachable(arguments.program, page)
    told = ranks(page)
    paper(arguments.program, page, cell, step, disk, told)
    new = arguments.page + ".new"
    with open(new, "w", encoding="utf-8") as out:
        out.write("\n".join(lines).replace("\n\n\n", "\n\n") + "\n")
    os.replace(new, arguments.page)
    print(f"wrote {arguments.page}")


if __name__ == "__main__":
    main()
