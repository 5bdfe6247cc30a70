"""What Roost set out to reach, and what libraries outside Debian published, judged by a report."""
import tomllib

from .report import digits


def times_of(ahead, peer):
    return f"{ahead:.2f} times as fast as {peer}"


def met(row, target):
    """The figure that is judged, as text, and whether it is good enough; None when the run does not have it."""
    if row is None or row["ours"] is None:
        return None
    if "floor" in target:
        floor = row["floor"].get(target["floor"])
        if not floor:
            return None
        times = row["ours"] / floor
        return f"{times:.2f} times {target['floor']}", times <= target["within"]
    if "peer" in target:
        peer = row["peers"].get(target["peer"])
        if not peer:
            return None
        ahead = peer / row["ours"] if row["better"] == "lower" else row["ours"] / peer
        return times_of(ahead, target["peer"]), ahead >= target["ahead"]
    if "at_most" in target:
        return f"{digits(row['ours'])} {row['unit']}", row["ours"] <= target["at_most"]
    if row["ratio"] is None:
        return None
    return times_of(row["ratio"], row["best_peer"]), row["ratio"] >= target["ahead"]


def wanted(target):
    if "floor" in target:
        return f"at most {target['within']} times {target['floor']}"
    if "at_most" in target:
        return f"at most {target['at_most']}"
    peer = target.get("peer", "every peer")
    return f"ahead of {peer}" if target["ahead"] == 1 else f"{target['ahead']} times as fast as {peer}"


def markdown(path, result):
    with open(path, "rb") as f:
        said = tomllib.load(f)
    rows = {row["case"]: row for row in result["rows"]}
    lines = ["## What Roost set out to reach", "", "| case | wanted | measured | reached |", "|---|---|---|---|"]
    count = 0
    for target in said["target"]:
        judged = met(rows.get(target["case"]), target)
        if judged is None:
            continue
        noisy = " (noisy)" if rows[target["case"]]["noisy"] else ""
        count += judged[1]
        lines.append(f"| `{target['case']}` | {wanted(target)} | {judged[0]}{noisy} | {'yes' if judged[1] else '**no**'} |")
    lines += ["", f"{count} of {len(lines) - 4} reached.", "", "## Libraries that Debian does not have", "", said["published_note"].strip(), "",
              "| case | floor | Roost, this run | published elsewhere |", "|---|---|---|---|"]
    for entry in said["published"]:
        row = rows.get(entry["case"])
        floor = row["floor"].get(entry["floor"]) if row else None
        if not floor or row["ours"] is None:
            continue
        others = ", ".join(f"{name} {value / entry['beside']:.1f}" for name, value in sorted(entry["figures"].items(), key=lambda kv: kv[1]))
        lines.append(f"| `{entry['case']}` | {entry['floor']} | **{row['ours'] / floor:.1f}** | {others} |")
    return lines
