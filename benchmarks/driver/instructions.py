"""Instructions per operation, counted by valgrind: repeatable on a noisy machine, so a change shows what it cost.

Every case of one thread is run twice with different numbers of operations; the difference, divided, leaves out start-up.
"""
import datetime
import json
import re
import shutil
import subprocess
import sys

FEW, MANY = 200, 1200
HOW = ("Counted by valgrind. The compiler and its flags are those of `./bench`; a locked instruction counts as one. "
       "Rows that time only the call (wake_all, cancel, stop) include its preparation here.")


def count_once(subject, operations):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", subject.program,
               "--case", subject.case, "--subject", subject.name, "--ops", str(operations)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return None
    refs = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    fields = done.stdout.split()
    if done.returncode != 0 or not refs or len(fields) < 3:
        return None
    return int(refs.group(1).replace(",", "")), int(fields[2])


def per_operation(subject):
    few, many = count_once(subject, FEW), count_once(subject, MANY)
    if few is None or many is None or many[1] == few[1]:
        return None
    return (many[0] - few[0]) / (many[1] - few[1])


def can_be_counted(program):
    """Not scripts that start a virtual machine, nor Go's own threads."""
    with open(program, "rb") as f:
        return f.read(2) != b"#!" and not program.endswith(("__go", "__resource_pool"))


def count(root, out, plan):
    if not shutil.which("valgrind"):
        sys.exit("bench: --instructions needs valgrind (tools/setup bench)")
    rows = []
    failed = []
    for p in plan.values():
        if p.case.threads != 1 or p.case.memory or p.case.client or not getattr(p.case, "counted", True):
            continue
        for subject in p.subjects:
            if not can_be_counted(subject.program):
                continue
            value = per_operation(subject)
            if value is None:
                failed.append(f"{subject.case}, {subject.name}")
            else:
                rows.append({"case": subject.case, "subject": subject.name, "kind": subject.kind, "instructions": round(value, 1)})
                print(f"{subject.case:36} {subject.name:34} {value:10.1f}", flush=True)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    (out / "instructions.json").write_text(json.dumps({"date": date, "compiler": compiler(), "rows": rows}, indent=1) + "\n")
    (out / "instructions.md").write_text(f"# Instructions per operation\n\n{date}, {compiler()}. {HOW}\n\n{table(rows)}")
    print(f"{len(rows)} counts; build/bench/instructions.md, instructions.json")
    for name in failed:
        print(f"bench: could not be counted: {name}", file=sys.stderr)
    return 1 if failed else 0


def compiler():
    said = subprocess.run(["c++", "--version"], capture_output=True, text=True)
    return said.stdout.splitlines()[0] if said.stdout else "unknown compiler"


def table(rows):
    lines = ["| case | subject | instructions per operation |", "|---|---|---|"]
    lines += [f"| `{r['case']}` | {r['subject']} | {r['instructions']:.1f} |" for r in rows]
    return "\n".join(lines) + "\n"
