"""The table of cases: what is measured, in which unit, beside which floors."""
import tomllib
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    title: str
    threads: int = 1
    unit: str = "ns"
    better: str = "lower"
    floors: list = field(default_factory=list)
    note: str = ""       # where the comparison is unequal, in one sentence
    loss: str = ""       # why Roost loses, when it does, and what would fix it
    memory: bool = False  # counts bytes or lines: repeatable, so one round is enough
    counted: bool = True  # by --instructions; false where a thousand operations take too long under valgrind

    @property
    def layer(self):
        return self.name.split("/")[0]


PREFIXES = ("sync/", "tree/", "task/", "jobs/", "shutdown/", "pool/", "runtime/", "service/", "scale/", "floor/")


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
    return table
