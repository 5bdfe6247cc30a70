"""docs/performance.md and the plots in docs/, written from the last report and nothing else."""
import json
import sys

from . import report, wakeups


def write(root, out, table):
    path = out / "report.json"
    if not path.exists():
        sys.exit("bench: no report yet; run ./bench first")
    result = json.loads(path.read_text())
    text = report.markdown(result).replace("# Roost, side by side", "# Performance", 1)
    intro = ("\nWritten by `./bench --write-docs` from one run; not edited by hand. "
             "How each subject was written and where a comparison is unequal: "
             "[benchmarks/README.md](../benchmarks/README.md).\n")
    head, rest = text.split("\n", 1)
    lines = [head, intro + rest.rstrip("\n"), "", "## Where Roost loses, and why", ""]
    losses = [r for r in result["rows"] if r["ratio"] is not None and r["ratio"] < 1]
    for row in sorted(losses, key=lambda r: r["ratio"]):
        case = table.get(row["case"])
        level = row["ratio"] >= 1 - row["spread"]
        why = (case.loss if case and case.loss else "") or ("level within its spread." if level else "not explained yet.")
        lines.append(f"- `{row['case']}` ({row['ratio']:.2f} against {row['best_peer']}): {why}")
    if not losses:
        lines.append("In no row of this run.")
    notes = [(name, table[name].note) for name in result["titles"] if name in table and table[name].note]
    if notes:
        lines += ["", "## Where a row is not like for like", ""]
        lines += [f"- `{name}`: {note}" for name, note in notes]
    target = root / "docs" / "performance.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
    print(f"wrote {target.relative_to(root)}")
    wakeups.write(root, result)
    return 0
