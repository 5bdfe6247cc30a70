"""docs/performance.md and the plots in docs/, written from the last full run and nothing else."""
import json
import sys

from . import cases, instructions, report, targets, wakeups


def refuse_unless_full(how):
    if reason := report.why_not_full(how):
        sys.exit(f"bench: the docs say what a full run measured, so they are not written from one with {reason}")


def sentences(table, row):
    """Why Roost loses there and what would mend it, as written in the table; empty when nothing is."""
    case = table.get(row["case"])
    if not case or not case.loss:
        return ""
    fix = cases.fix_of(table, row["case"])
    return f": {case.loss}" + (f" *What would mend it:* {fix}" if fix else "")


def losses(table, rows):
    """The section about rows behind the best peer; every one has to be explained."""
    by = {kind: sorted((r for r in rows if report.standing(r) == kind), key=lambda r: r["ratio"] or 0) for kind in ("behind", "level", "noisy")}
    unexplained = [r["case"] for r in by["behind"] if not sentences(table, r)]
    if unexplained:
        sys.exit("bench: docs/performance.md is not written: Roost loses, and benchmarks/cases.toml does not say why and what would mend "
                 f"it, in {', '.join(unexplained)}. Add `loss` and `fix`, then ./bench --docs-only")
    lines = ["## Where Roost loses, and why", "", f"{report.tally(rows)}. "
             "The reasons come from reading the code; they are not profiles unless they say so. What was tried against the worst of them: "
             "[design/losses.md](design/losses.md).", ""]
    lines += [f"- `{r['case']}` ({r['ratio']:.2f} against {r['best_peer']}){sentences(table, r)}" for r in by["behind"]]
    if not by["behind"]:
        lines.append("In no row of this run.")
    if by["level"]:
        lines += ["", "Behind by no more than the spread: "
                  + ", ".join(f"`{r['case']}` ({r['ratio']:.2f} against {r['best_peer']})" for r in by["level"]) + "."]
    slower = [r for r in by["noisy"] if r["ratio"] is not None and r["ratio"] < 1]
    if slower:
        lines += ["", "Too noisy in this run to say who is ahead, with a slower median than the best peer's:", ""]
        lines += [f"- `{r['case']}` (against {r['best_peer']}){sentences(table, r) or '.'}" for r in slower]
    return lines


def write(root, out, table):
    path = next((p for p in (out / "full.json", out / "report.json") if p.exists()), None)
    if not path:
        sys.exit("bench: no report yet; run ./bench first")
    result = json.loads(path.read_text())
    if "peers" not in result:
        sys.exit("bench: the last report is of an older ./bench; run it again")
    refuse_unless_full(result)
    if report.broken(result):
        sys.exit("bench: the docs are not written from a run in which Roost failed")
    text = report.markdown(result).replace("# Roost, side by side", "# Performance", 1)
    intro = ("\nWritten by `./bench --write-docs` from one run; not edited by hand. "
             "How each subject was written and where a comparison is unequal: "
             "[benchmarks/README.md](../benchmarks/README.md).\n")
    head, rest = text.split("\n", 1)
    lines = [head, intro + rest.rstrip("\n"), "", *losses(table, result["rows"])]
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
