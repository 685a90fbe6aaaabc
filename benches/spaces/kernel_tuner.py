"""Kernel Tuner's construction of the space that a T1 file on standard input describes, timed.

Prints {"seconds", "configurations", "version"}. The time is that of `Searchspace` alone, without starting
Python and importing Kernel Tuner. Given SECONDS, it gives up after them.
"""

import importlib.metadata
import json
import signal
import sys
import time
from ast import literal_eval

from kernel_tuner.searchspace import Searchspace

space = json.load(sys.stdin)["ConfigurationSpace"]
values = {p["Name"]: literal_eval(p["Values"]) for p in space["TuningParameters"]}
conditions = [c["Expression"] for c in space["Conditions"]]
# The signal's default action: the process ends.
signal.alarm(int(sys.argv[1]))
started = time.perf_counter()
# The conditions of the file hold the limit of items in a group already.
built = Searchspace(values, conditions, sys.maxsize)
seconds = time.perf_counter() - started
version = importlib.metadata.version("kernel_tuner")
print(json.dumps({"seconds": seconds, "configurations": built.size, "version": version}))
