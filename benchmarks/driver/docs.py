"""docs/performance.md and the plots in docs/, written from the last report and nothing else."""
import json
import sys

from . import cases, instructions, report, targets, wakeups


def write(root, out, table):
    path = out / "report.json"
    if not path.exists():
        sys.exit("bench: no report yet; run ./bench first")
    result = json.loads(path.read_text())
    if result["only"]:
        sys.exit("bench: the last report has only some cases; the docs are written from a run without --only")
    text = report.markdown(result).replace("# Roost, side by side", "# Performance", 1)
    intro = ("\nWritten by `./bench --write-docs` from one run; not edited by hand. "
             "How each subject was written and where a comparison is unequal: "
             "[benchmarks/README.md](../benchmarks/README.md).\n")
    head, rest = text.split("\n", 1)
    lines = [head, intro + rest.rstrip("\n"), "", "## Where Roost loses, and why", "",
             "The reasons come from reading the code; they are not profiles unless they say so. What was tried against the worst of them: "
             "[design/losses.md](design/losses.md).", ""]
    losses = [r for r in result["rows"] if r["ratio"] is not None and r["ratio"] < 1]
    for row in sorted(losses, key=lambda r: r["ratio"]):
        case = table.get(row["case"])
        is_level = not row["noisy"] and row["ratio"] >= 1 - row["spread"]
        why = (case.loss if case and case.loss else "") or ("not explained yet." if not is_level else "")
        fix = cases.fix_of(table, row["case"]) if why and case and case.loss else ""
        why += f" *What would mend it:* {fix}" if fix else ""
        mark = "; noisy, so nothing is claimed" if row["noisy"] else "; level within its spread" if is_level else ""
        lines.append(f"- `{row['case']}` ({row['ratio']:.2f} against {row['best_peer']}{mark}){': ' + why if why else '.'}")
    if not losses:
        lines.append("In no row of this run.")
    lines += ["", *targets.markdown(root / "benchmarks" / "targets.toml", result)]
    notes = [(name, table[name].note) for name in result["titles"] if name in table and table[name].note]
    if notes:
        lines += ["", "## Where a row is not like for like", ""]
        lines += [f"- `{name}`: {note}" for name, note in notes]
    target = root / "docs" / "performance.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
    print(f"wrote {target.relative_to(root)}")
    wakeups.write(root, result)
    write_instructions(root, out)
    return 0


def write_instructions(root, out):
    path = out / "instructions.json"
    if not path.exists():
        return
    counted = json.loads(path.read_text())
    head = ("# Instructions per operation\n\nWritten by `./bench --instructions` and `./bench --docs-only`; counted by valgrind, so a "
            "change of the code shows here on any machine. The compiler and its flags are those of `./bench`; a locked "
            "instruction counts as one. Rows that time only the call (wake_all, cancel, stop) include its preparation here. "
            f"{counted['date']}, {counted['compiler']}.\n\n")
    (root / "docs" / "instructions.md").write_text(head + instructions.table(counted["rows"]))
    print("wrote docs/instructions.md")
