"""Minimises the time of an unrolled transition system with CP-SAT.

Reads a graph of values on standard input (see model.rs beside this file) and prints one JSON object.
Arguments: seconds ("inf": no limit) and search threads.
"""

import json
import sys
import time

START = time.monotonic()

from ortools.sat.python import cp_model


class Graph:
    """The constraints of a graph; `values` holds a variable or a constant for each node."""

    def __init__(self, graph):
        self.model = cp_model.CpModel()
        self.direct = graph["direct"]
        if self.direct:
            self.literals = [
                [self.model.NewBoolVar("") for _ in range(size)] for size in graph["parameters"]
            ]
            for literals in self.literals:
                self.model.AddExactlyOne(literals)
            self.choice = [sum(i * l for i, l in enumerate(ls)) for ls in self.literals]
        else:
            self.choice = [
                self.model.NewIntVar(0, size - 1, f"p{i}")
                for i, size in enumerate(graph["parameters"])
            ]
            if self.choice:
                self.model.AddAllowedAssignments(self.choice, graph["configurations"])
        self.values = []
        for node in graph["nodes"]:
            self.values.append(self.value(node, graph["nodes"]))

    def integer(self, node):
        low, high = node["bounds"]
        return self.model.NewIntVar(low, high, "")

    def value(self, node, graph):
        op = node["op"]
        args = [self.values[i] for i in node.get("args", [])]
        if op in ("int", "bool"):
            return self.model.NewConstant(node["value"])
        if op == "not":
            return args[0].Not()
        if op in ("eq", "le", "and", "or", "ite-bool"):
            return self.truth(op, args)
        if self.direct and op == "table":
            return self.linear(node["table"])
        if self.direct and op == "add":
            return args[0] + args[1]
        if self.direct:
            args = [self.named(self.integer(graph[i]), a) for i, a in zip(node["args"], args)]
        var = self.integer(node)
        if op == "table":
            self.table(node["table"], var)
        elif op == "add":
            self.model.Add(var == args[0] + args[1])
        elif op == "mul":
            self.model.AddMultiplicationEquality(var, args)
        elif op == "max":
            self.model.AddMaxEquality(var, args)
        elif op == "free":
            pass  # nobody reads it
        elif op == "ite":
            self.model.Add(var == args[1]).OnlyEnforceIf(args[0])
            self.model.Add(var == args[2]).OnlyEnforceIf(args[0].Not())
        else:
            raise ValueError(f"unknown node {op!r}")
        return var

    def named(self, var, expression):
        self.model.Add(var == expression)
        return var

    def linear(self, table):
        """A table as a sum over its rows, of which one holds."""
        support, rows = table["support"], table["rows"]
        if len(support) == 1:
            literals, allowed = self.literals[support[0]], {key[0] for key, _ in rows}
            for i, literal in enumerate(literals):
                if i not in allowed:
                    self.model.Add(literal == 0)
            return sum(value * literals[key[0]] for key, value in rows)
        chosen = [self.model.NewBoolVar("") for _ in rows]
        for place, parameter in enumerate(support):
            of = [[] for _ in self.literals[parameter]]
            for (key, _), row in zip(rows, chosen):
                of[key[place]].append(row)
            for literal, own in zip(self.literals[parameter], of):
                self.model.Add(sum(own) == literal)
        return sum(value * row for (_, value), row in zip(rows, chosen))

    def truth(self, op, args):
        model, var = self.model, self.model.NewBoolVar("")
        if op == "eq":
            model.Add(args[0] == args[1]).OnlyEnforceIf(var)
            model.Add(args[0] != args[1]).OnlyEnforceIf(var.Not())
        elif op == "le":
            model.Add(args[0] <= args[1]).OnlyEnforceIf(var)
            model.Add(args[0] > args[1]).OnlyEnforceIf(var.Not())
        elif op == "and":
            model.AddBoolAnd(args).OnlyEnforceIf(var)
            model.AddBoolOr([a.Not() for a in args] + [var])
        elif op == "or":
            model.AddBoolOr(args).OnlyEnforceIf(var)
            model.AddBoolAnd([a.Not() for a in args]).OnlyEnforceIf(var.Not())
        else:
            model.Add(var == args[1]).OnlyEnforceIf(args[0])
            model.Add(var == args[2]).OnlyEnforceIf(args[0].Not())
        return var

    def table(self, table, var):
        support = [self.choice[p] for p in table["support"]]
        rows = table["rows"]
        if len(support) == 1:
            by_index = {key[0]: value for key, value in rows}
            first = rows[0][1]
            size = max(by_index) + 1
            self.model.AddElement(support[0], [by_index.get(i, first) for i in range(size)], var)
        else:
            self.model.AddAllowedAssignments(support + [var], [key + [value] for key, value in rows])


def main():
    seconds, workers = float(sys.argv[1]), int(sys.argv[2])
    data = json.load(sys.stdin)
    graph = Graph(data)
    goal, cost = graph.values[data["goal"]], graph.values[data["cost"]]
    graph.model.AddBoolOr([goal])
    graph.model.Minimize(cost)
    solver = cp_model.CpSolver()
    if seconds != float("inf"):
        solver.parameters.max_time_in_seconds = max(0.0, seconds - (time.monotonic() - START))
    solver.parameters.num_workers = workers
    status = solver.Solve(graph.model)
    names = {
        cp_model.OPTIMAL: "optimal",
        cp_model.FEASIBLE: "feasible",
        cp_model.INFEASIBLE: "infeasible",
    }
    if status == cp_model.MODEL_INVALID:
        sys.exit("invalid model: " + graph.model.Validate().replace("\n", " "))
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    bound = solver.BestObjectiveBound()
    result = {
        "status": names.get(status, "unknown"),
        "choice": [solver.Value(v) for v in graph.choice] if found else None,
        "time": solver.Value(cost) if found else None,
        "bound": int(round(bound)) if abs(bound) < 2**53 else None,
        "seconds": solver.WallTime(),
        "branches": solver.NumBranches(),
        "conflicts": solver.NumConflicts(),
    }
    print(json.dumps(result))


main()
