"""Times of captured launches, measured from their problem files, beside the program's own events.

usage: .deps/pyopencl/bin/python scripts/captured_times.py TICKBOUND

A program with five kernels launches each of them on PoCL, or the first device that pyopencl
finds, and takes the times of its profiling events. It is captured; `init` writes a problem for
each kernel, and `measure` times it. The table has the medians of both.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Medians of so many launches.
LAUNCHES = 200

PROGRAM = r'''
import json, sys
import numpy as np
import pyopencl as cl

SOURCE = """
kernel void scale(global float *x, float a, int n)
{
    int i = get_global_id(0);
    if (i < n) x[i] *= a;
}
kernel void saxpy(global const float *x, global float *y, float a, int n)
{
    int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
kernel void rows(global const float *m, global float *sums, local float *part, int width)
{
    int row = get_group_id(0), l = get_local_id(0);
    float sum = 0;
    for (int i = l; i < width; i += WG) sum += m[row * width + i];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = WG / 2; step > 0; step /= 2) {
        if (l < step) part[l] += part[l + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) sums[row] = part[0];
}
kernel void transpose(global const float *a, global float *b, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    b[x * height + y] = a[y * width + x];
}
kernel void matmul(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
"""
launches = int(sys.argv[1])
context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
profiling = cl.command_queue_properties.PROFILING_ENABLE
queue = cl.CommandQueue(context, properties=profiling)
program = cl.Program(context, SOURCE).build("-DWG=64")
buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 << 22) for _ in range(3)]
random = np.random.default_rng(1)
for b in buffers:
    cl.enqueue_copy(queue, b, random.random(1 << 22, dtype=np.float32))
a, b, c = buffers
number, part = np.int32, cl.LocalMemory(4 * 64)
work = {
    "scale": ((1 << 22,), (256,), [a, np.float32(1.0001), number(1 << 22)]),
    "saxpy": ((1 << 22,), (128,), [a, b, np.float32(0.5), number(1 << 22)]),
    "rows": ((1024 * 64,), (64,), [a, b, part, number(4096)]),
    "transpose": ((2048, 2048), (16, 16), [a, b, number(2048), number(2048)]),
    "matmul": ((512, 512), (32, 8), [a, b, c, number(512)]),
}
times = {}
for name, (size, group, arguments) in work.items():
    kernel = cl.Kernel(program, name)
    kernel.set_args(*arguments)
    times[name] = []
    for _ in range(launches):
        event = cl.enqueue_nd_range_kernel(queue, kernel, size, group)
        event.wait()
        times[name].append((event.profile.end - event.profile.start) * 1e-9)
print(json.dumps(times))
'''


def run(*arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def main():
    tickbound = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_text(PROGRAM)
        command = [sys.executable, "program.py", str(LAUNCHES)]
        own = json.loads(run(tickbound, "capture", "-o", "c", "--", *command, folder=folder))
        run(tickbound, "init", "--from-capture", "c", folder=folder)
        print("| kernel | event, µs | measured, µs | ratio |\n| :--- | ---: | ---: | ---: |")
        ratios = []
        for name, times in own.items():
            problem = json.loads((Path(folder) / f"c/problems/{name}.json").read_text())
            guesses = [note for note in problem["notes"] if "guess" in note]
            if guesses:
                sys.exit(f"{name}: {guesses}")
            text = run(tickbound, "measure", f"c/problems/{name}.json", "--json", folder=folder)
            [result] = json.loads(text)["results"]
            event, measured = statistics.median(times), result["time"]
            ratios.append(measured / event)
            print(f"| `{name}` | {event * 1e6:.0f} | {measured * 1e6:.0f} | {ratios[-1]:.2f} |")
        print(f"\nmedian ratio {statistics.median(ratios):.2f}")


main()
