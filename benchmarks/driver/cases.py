"""The table of cases: what is measured, in which unit, beside which floors."""
import re
import tomllib
from dataclasses import dataclass, field, replace


@dataclass
class Case:
    name: str
    title: str
    threads: int = 1
    unit: str = "ns"
    better: str = "lower"
    floors: list = field(default_factory=list)
    note: str = ""       # where the comparison is unequal, in one sentence
    loss: str = ""       # why Roost loses, when it does
    fix: str = ""        # what would mend that
    memory: bool = False  # counts bytes or lines: repeatable, so one round is enough
    rounds: int = 0      # at most so many, where one takes long; 0: as many as the others
    counted: bool = True  # by --instructions; false where a thousand operations take too long under valgrind
    client: str = ""     # rows of a server: the client that drives it, with its options
    deadline: bool = False  # the server limits every read
    part_of: str = ""    # the case whose measurement brings this figure, too

    @property
    def layer(self):
        return self.name.split("/")[0]

    def rounds_of(self, rounds):
        return 1 if self.memory else min(rounds, self.rounds or rounds)


@dataclass
class Server:
    name: str
    program: str         # a subject of benchmarks/, or a command in the PATH
    args: str            # {port} and {workers} are filled in
    rows: str            # takes part in the cases whose names begin like this regular expression
    library: str
    kind: str = "peer"   # or ours, or floor
    deadline_args: str = ""   # without them it takes no part in rows with deadlines


PREFIXES = ("sync/", "tree/", "task/", "jobs/", "shutdown/", "pool/", "runtime/", "service/", "scale/", "floor/", "io/", "observe/")


def load(path):
    with open(path, "rb") as f:
        raw = tomllib.load(f)
    table = {}
    for entry in raw["case"]:
        case = Case(**entry)
        if not case.name.startswith(PREFIXES):
            raise SystemExit(f"{path.name}: {case.name} does not start with a layer")
        if case.better not in ("lower", "higher"):
            raise SystemExit(f"{path.name}: {case.name}: better must be lower or higher")
        if case.name in table:
            raise SystemExit(f"{path.name}: {case.name} appears twice")
        table[case.name] = case
        for part in more_figures(case):
            table[part.name] = part
    for case in table.values():
        if case.loss and not fix_of(table, case.name):
            raise SystemExit(f"{path.name}: {case.name} says why Roost loses, not what would mend it")
    return table


def more_figures(case):
    """What the measurement of a server brings beside the CPU time per request."""
    if not case.client:
        return []
    common = {"part_of": case.name, "client": "", "note": "", "fix": "", "loss": case.loss and f"as {case.name}.", "counted": False}
    return [replace(case, name=case.name + "_rps", title=case.title + ": requests per second", unit="1/s", better="higher", **common),
            replace(case, name=case.name + "_p99", title=case.title + ": 99th percentile of the latency", **common)]


def load_servers(path):
    with open(path, "rb") as f:
        return [Server(**entry) for entry in tomllib.load(f).get("server", [])]


def fix_of(table, name):
    """What would mend a loss; "as X" in either sentence stands for what is said about X."""
    case = table[name]
    said = case.fix or case.loss
    other = re.match(r"as ([\w/]+)", said)
    if other and other.group(1) in table:
        return fix_of(table, other.group(1))
    return case.fix
