"""Finds the subjects, makes the plan and measures: per round and case every subject once, so that a disturbance hits
every subject, and in a different order each round, so that none is always first."""
import re
import statistics
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field

from . import traffic
from .build import BIN, wanted
from .gauge import Gauge


@dataclass
class Subject:
    program: str
    case: str
    name: str
    kind: str
    library: str
    server: object = None   # of the rows io/*: its entry in cases.toml


@dataclass
class Planned:
    case: object
    subjects: list = field(default_factory=list)


def discover(out, peers, absent):
    """Every subject that answers; floors are wanted in every program. Roost and the floors have to answer; peers
    that do not are added to those that are absent."""
    found = []
    for program in sorted((out / BIN).iterdir()):
        of, problem, library = program.name.split("__")
        if problem == "io":
            continue   # servers and their client: driver/traffic.py
        is_wanted = of != "peer" or wanted(library, peers)
        try:
            listing = subprocess.run([str(program), "--list"], capture_output=True, text=True, timeout=20)
            answers = listing.returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            answers = False
        if not answers:
            if of != "peer":
                sys.exit(f"bench: {program.name} does not answer --list; it is Roost's own, so nothing is measured")
            if is_wanted:
                absent[f"{library} ({problem})"] = "does not answer --list"
            continue
        for line in listing.stdout.splitlines():
            case, name, kind = line.split("\t")
            if is_wanted or kind == "floor":
                found.append(Subject(str(program), case, name, kind, library))
    return found


def discover_servers(out, servers, table, peers, absent):
    return traffic.subjects(out, servers, table, lambda library: wanted(library, peers), absent,
                            lambda server, program, case: Subject(program, case.name, server.name, server.kind, server.library, server))


def is_chosen(case, table, only):
    """A row that is measured with others brings these."""
    family = [c.name for c in table.values() if (c.part_of or c.name) == (case.part_of or case.name)]
    return not only or any(re.search(only, name) for name in family)


def make_plan(table, subjects, only):
    plan = {}
    unknown = {s.case for s in subjects if s.case not in table and s.kind != "floor"}
    if unknown:
        sys.exit(f"bench: not in benchmarks/cases.toml: {', '.join(sorted(unknown))}")
    for case in table.values():
        if not is_chosen(case, table, only):
            continue
        mine = [s for s in subjects if s.case == (case.part_of or case.name)]
        if mine:
            plan[case.name] = Planned(case, mine)
    floors_needed = {name for p in plan.values() for name in p.case.floors}
    for s in subjects:
        if s.kind == "floor" and s.case.startswith("floor/") and (not only or s.name in floors_needed or re.search(only, s.case)):
            threads = 2 if s.name.endswith("_2t") or s.name.startswith("thread_") else 1
            plan[s.case] = Planned(FloorCase(s.case, threads), [s])
    if not plan:
        sys.exit(f"bench: no case matches {only!r}; ./bench --list names them" if only else "bench: there is nothing to measure")
    return plan


@dataclass
class FloorCase:
    name: str
    threads: int
    memory: bool = False
    client: str = ""
    part_of: str = ""

    def rounds_of(self, rounds):
        return rounds


def print_plan(plan, absent):
    for p in plan.values():
        if not p.case.part_of:
            print(f"{p.case.name}: " + ", ".join(s.name for s in p.subjects))
    for name, reason in absent.items():
        print(f"absent: {name}: {reason}")
    return 0


def cpus_for(threads):
    """The last CPUs of those we may use: the first one serves interrupts more often."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[-threads:] if threads <= len(cpus) else cpus


def pin(threads):
    return ["taskset", "-c", ",".join(map(str, cpus_for(threads)))]


def run_one(subject, threads, ms, limit=30):
    command = pin(threads) + [subject.program, "--case", subject.case, "--subject", subject.name, "--ms", str(ms)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + ms / 10)
    except subprocess.TimeoutExpired:
        return None, "did not finish"
    if done.returncode != 0:
        return None, f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    fields = done.stdout.split()
    try:
        return float(fields[1]), ""
    except (IndexError, ValueError):
        return None, "said nothing that can be read"


def measure_once(subject, case, ms, out):
    """{row: value} and ""; or None and what went wrong."""
    if case.client:
        value, problem = traffic.run_one(out, subject, case, ms, pin(case.threads))
        return value and {case.name + figure: v for figure, v in value.items()}, problem
    value, problem = run_one(subject, case.threads, ms, 300 if case.memory else 60)
    return {case.name: value}, problem


def run_all(plan, rounds, ms, out, gauge_program):
    """Returns {case: {subject: [value per round]}}. A subject that fails once is dropped, with what it measured before, and named."""
    gauge = Gauge(gauge_program, cpus_for(max(p.case.threads for p in plan.values())))
    values = {name: {s.name: [] for s in p.subjects} for name, p in plan.items()}
    failed = {}
    start = time.time()
    measured = {name: p for name, p in plan.items() if not p.case.part_of}
    total = sum(p.case.rounds_of(rounds) for p in measured.values())
    done = 0
    for turn in range(rounds):
        for name, p in measured.items():
            if turn >= p.case.rounds_of(rounds):
                continue
            order = p.subjects[turn % len(p.subjects):] + p.subjects[:turn % len(p.subjects)]
            for subject in order:
                if (name, subject.name) in failed:
                    continue
                found, problem = gauge.measure(cpus_for(p.case.threads), lambda: measure_once(subject, p.case, ms, out))
                if problem:
                    failed[(name, subject.name)] = {"kind": subject.kind, "problem": problem}
                    for row in [name] + [n for n, part in plan.items() if part.case.part_of == name]:
                        values[row][subject.name] = []
                    print(f"\nbench: {subject.name} in {name}: {problem}", file=sys.stderr)
                else:
                    for row, value in found.items():
                        values[row][subject.name].append(value)
            done += 1
            if sys.stderr.isatty():
                left = (time.time() - start) / done * (total - done)
                print(f"\rround {turn + 1}/{rounds}  {name:40.40}  about {left:4.0f} s left", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    gauge.close()
    return {"values": values, "failed": failed, "seconds": time.time() - start, "gauge": gauge.counts}


def median(values):
    return statistics.median(values)


def spread(values):
    """Relative width of the middle half of the rounds (of all rounds when they are fewer than five)."""
    if len(values) < 2:
        return 0.0
    middle = statistics.median(values)
    if middle == 0:
        return 0.0
    if len(values) < 5:
        return (max(values) - min(values)) / middle
    q = statistics.quantiles(values, n=4, method="inclusive")
    return (q[2] - q[0]) / middle
