"""HiGHS on the pseudo-Boolean problem (OPB, linear) that standard input holds, timed.

Prints {"seconds", "time", "version"}. The time is that of the solver alone, on one thread. Given
SECONDS, it gives up after them, with status 1.
"""

import importlib.metadata
import json
import os
import sys
import time

import highspy

# The solver prints its name, silent or not.
answer = os.dup(1)
os.dup2(2, 1)
solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
solver.setOptionValue("time_limit", float(sys.argv[1]))
solver.setOptionValue("threads", 1)
# The least time is a number of ticks: nothing else is the optimum.
solver.setOptionValue("mip_rel_gap", 0.0)
solver.setOptionValue("mip_abs_gap", 0.5)


def sums(text):
    """The coefficients and the variables of a sum."""
    parts = text.split()
    return [float(part) for part in parts[::2]], [int(part[1:]) - 1 for part in parts[1::2]]


lines = [line.rstrip(" ;\n") for line in sys.stdin if line[0] != "*"]
costs, variables = sums(lines[0].removeprefix("min:"))
rows = [(line.split(">=" if ">=" in line else "="), ">=" in line) for line in lines[1:]]
rows = [(*sums(sides[0]), float(sides[1]), least) for sides, least in rows]
count = 1 + max(v for of in [variables] + [row[1] for row in rows] for v in of)
objective = dict(zip(variables, costs))
for v in range(count):
    solver.addCol(objective.get(v, 0.0), 0.0, 1.0, 0, [], [])
    solver.changeColIntegrality(v, highspy.HighsVarType.kInteger)
for numbers, of, bound, least in rows:
    solver.addRow(bound, highspy.kHighsInf if least else bound, len(of), of, numbers)
started = time.perf_counter()
solver.run()
seconds = time.perf_counter() - started
if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
    sys.exit(1)
least = round(solver.getInfo().objective_function_value)
version = importlib.metadata.version("highspy")
os.write(answer, json.dumps({"seconds": seconds, "time": least, "version": version}).encode())
