"""What Roost set out to reach, and what libraries outside Debian published, judged by a report."""
import tomllib

from .report import NOISY, digits, ratio_of


def times_of(ahead, peer):
    return f"{ahead:.2f} times as fast as {peer}"


def met(result, row, target):
    """The figure that is judged, as text; whether it is good enough; whether a side of it is too noisy to judge. None when the
    run does not have it."""
    if row is None or row["ours"] is None:
        return None
    widths = result["spreads"].get(row["case"], {})
    is_noisy = row["spread"] > NOISY
    if "floor" in target:
        floor = row["floor"].get(target["floor"])
        if not floor:
            return None
        times = row["ours"] / floor
        is_noisy |= result["floor_spread"].get(target["floor"], 0.0) > NOISY
        return f"{times:.2f} times {target['floor']}", times <= target["within"], is_noisy
    if "at_most" in target:
        return f"{digits(row['ours'])} {row['unit']}", row["ours"] <= target["at_most"], is_noisy
    if "row" in target:
        other = next((r for r in result["rows"] if r["case"] == target["row"]), None)
        if other is None or not other["ours"]:
            return None
        times = row["ours"] / other["ours"]
        return f"{times:.2f} times {target['row']}", times <= target["within"], is_noisy or other["spread"] > NOISY
    name = target.get("peer", row["best_peer"])
    ahead = ratio_of(row["better"], row["ours"], row["peers"].get(name))
    if ahead is None:
        return None
    return times_of(ahead, name), ahead >= target["ahead"], is_noisy or widths.get(name, 0.0) > NOISY


def wanted(target):
    if "floor" in target:
        return f"at most {target['within']} times {target['floor']}"
    if "row" in target:
        return f"at most {target['within']} times {target['row']}"
    if "at_most" in target:
        return f"at most {target['at_most']}"
    peer = target.get("peer", "every peer")
    return f"ahead of {peer}" if target["ahead"] == 1 else f"{target['ahead']} times as fast as {peer}"


def markdown(path, result):
    with open(path, "rb") as f:
        said = tomllib.load(f)
    rows = {row["case"]: row for row in result["rows"]}
    lines = ["", "## What Roost set out to reach", "", "| case | wanted | measured | reached |", "|---|---|---|---|"]
    reached, noisy, judged_count = 0, 0, 0
    for target in said["target"]:
        judged = met(result, rows.get(target["case"]), target)
        if judged is None:
            continue
        text, is_met, is_noisy = judged
        noisy += is_noisy
        judged_count += not is_noisy
        reached += is_met and not is_noisy
        verdict = "noisy" if is_noisy else "yes" if is_met else "**no**"
        lines.append(f"| `{target['case']}` | {wanted(target)} | {'noisy' if is_noisy else text} | {verdict} |")
    lines += ["", f"{reached} of {judged_count} reached, {noisy} more too noisy to judge: Roost's spread, or that of what it is compared "
              f"with, is over {NOISY * 100:.0f} %.", "", "## Libraries that Debian does not have", "", said["published_note"].strip(), "",
              "| case | floor | Roost, this run | published elsewhere |", "|---|---|---|---|"]
    for entry in said["published"]:
        row = rows.get(entry["case"])
        floor = row["floor"].get(entry["floor"]) if row else None
        if not floor or row["ours"] is None:
            continue
        others = ", ".join(f"{name} {value / entry['beside']:.1f}" for name, value in sorted(entry["figures"].items(), key=lambda kv: kv[1]))
        is_noisy = max(row["spread"], result["floor_spread"].get(entry["floor"], 0.0)) > NOISY
        ours = "noisy" if is_noisy else f"**{row['ours'] / floor:.1f}**"
        lines.append(f"| `{entry['case']}` | {entry['floor']} | {ours} | {others} |")
    return lines
