"""build/bench/report.md: the rows, why Roost loses where it does, its targets, and where a row is not like for like."""
from . import cases, report, targets, wakeups


def sentences(table, row):
    """Why Roost loses there and what would mend it, as written in the table; empty when nothing is."""
    case = table.get(row["case"])
    if not case or not case.loss:
        return ""
    return f": {case.loss} *What would mend it:* {cases.fix_of(table, row['case'])}"


def unexplained(table, rows):
    """The cases in which Roost is behind, and the table does not say why."""
    return [r["case"] for r in rows if report.standing(r) == "behind" and not sentences(table, r)]


def losses(table, rows):
    """The section about rows behind the best peer."""
    by = {kind: sorted((r for r in rows if report.standing(r) == kind), key=lambda r: r["ratio"] or 0) for kind in ("behind", "level", "noisy")}
    lines = ["", "## Where Roost loses, and why", "", f"{report.tally(rows)}. "
             "The reasons come from reading the code; they are not profiles unless they say so. What was tried against the worst of them: "
             "[design/losses.md](../../docs/design/losses.md).", ""]
    lines += [f"- `{r['case']}` ({r['ratio']:.2f} against {r['best_peer']}){sentences(table, r) or ': **not explained**.'}" for r in by["behind"]]
    if not by["behind"]:
        lines.append("In no row of this run.")
    if by["level"]:
        lines += ["", "Behind by no more than the spread: "
                  + ", ".join(f"`{r['case']}` ({r['ratio']:.2f} against {r['best_peer']})" for r in by["level"]) + "."]
    slower = [r for r in by["noisy"] if r["ratio"] is not None and r["ratio"] < 1]
    if slower:
        lines += ["", "Too noisy in this run to say which is ahead, with a slower median than the best peer's:", ""]
        lines += [f"- `{r['case']}` (against {r['best_peer']}){sentences(table, r) or '.'}" for r in slower]
    return lines


def notes(table, result):
    lines = [f"- `{name}`: {table[name].note}" for name in result["titles"] if table[name].note]
    return ["", "## Where a row is not like for like", "",
            "How each subject was written, and where whole libraries are unequal: [benchmarks/README.md](../../benchmarks/README.md).", "", *lines]


def write(root, out, table, result):
    lines = [report.markdown(result).rstrip("\n"), *losses(table, result["rows"]),
             *targets.markdown(root / "benchmarks" / "targets.toml", result), *notes(table, result)]
    if wakeups.write(out, result):
        lines += ["", "## Waiter queues", "", "![the rows sync/wakeup_ as bars](wakeups.svg)"]
    (out / "report.md").write_text("\n".join(lines) + "\n")
