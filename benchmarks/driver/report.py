"""From measured rounds to report.json, report.html and the rows of report.md."""
import datetime
import html
import json
import math
import os
import platform
import re
import subprocess

from .run import median, spread

NOISY = 0.30  # a middle half wider than this says nothing
FLAT = 1.5    # an operation among a million others that costs more than so many times that among a thousand is not flat
ROUNDS, MS = 7, 50  # of a full run


def digits(value):
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def machine():
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo") as f:
            model = next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    kernel = ".".join(platform.release().split(".")[:2])
    return f"{len(os.sched_getaffinity(0))} CPUs, {model}, {platform.machine()}, Linux {kernel}"


def compilers():
    """One line per language: what its subjects were built with."""
    asked = {"C++": ["c++", "--version"], "Rust": ["rustc", "--version"], "Go": ["go", "version"], "JVM": ["java", "-version"],
             "Haskell": ["ghc", "--version"]}
    found = {}
    for language, command in asked.items():
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = (said.stdout + said.stderr).splitlines()
        if said.returncode == 0 and lines:
            found[language] = lines[0].strip()
    return found


def make_row(case, planned, values, floor_values):
    by_kind = {"ours": {}, "peer": {}, "floor": {}}
    widths = {}
    for s in planned.subjects:
        rounds = values[s.name]
        if rounds:
            by_kind[s.kind][s.name] = median(rounds)
            widths[s.name] = spread(rounds)
    pick = min if case.better == "lower" else max
    ours_name = pick(by_kind["ours"], key=by_kind["ours"].get) if by_kind["ours"] else None
    ours = by_kind["ours"].get(ours_name)
    peers = by_kind["peer"]
    best = pick(peers, key=peers.get) if peers else None
    width = widths.get(ours_name, 0.0)
    return {
        "case": case.name, "layer": case.layer, "unit": case.unit, "better": case.better,
        "ours": ours, "spread": round(width, 4), "rounds": len(values[ours_name]) if ours_name else 0,
        "floor": {name: floor_values[name] for name in case.floors if name in floor_values} | by_kind["floor"],
        "peers": peers, "best_peer": best, "ratio": ratio_of(case.better, ours, peers.get(best)),
        "noisy": max(width, widths.get(best, 0.0)) > NOISY,
    }, widths


def ratio_of(better, ours, peer):
    """Above 1: Roost is ahead. None: there is no peer, or nothing to divide by because Roost's side is infinitely ahead."""
    if ours is None or peer is None:
        return None
    if ours == peer:
        return 1.0
    above, below = (peer, ours) if better == "lower" else (ours, peer)
    return above / below if below else None


def standing(row):
    """"ahead", "level" (behind by no more than the spread), "behind", "noisy", or "" where there is no peer."""
    if row["ours"] is None or row["best_peer"] is None:
        return ""
    if row["noisy"]:
        return "noisy"
    if row["ratio"] is None or row["ratio"] >= 1:
        return "ahead"
    return "level" if row["ratio"] >= 1 - row["spread"] else "behind"


def tally(rows):
    """A noisy row is neither won nor lost."""
    said = [standing(row) for row in rows]
    good, noisy = said.count("ahead") + said.count("level"), said.count("noisy")
    return f"{good} of {good + said.count('behind')} rows with a peer ahead or level, {noisy} more noisy"


def is_full(how):
    """Whose losses have to be explained, and whose agreement with the run before means something."""
    return not (how["quick"] or how["only"] or how["peers"]) and how["rounds"] >= ROUNDS and how["ms"] >= MS


def make(root, table, plan, measured, absent, **how):
    floors, floor_spread = {}, {}
    for name, rounds in measured["values"].items():
        if name.startswith("floor/"):
            subject, list_of = next(iter(rounds.items()))
            if list_of:
                floors[subject], floor_spread[subject] = median(list_of), spread(list_of)
    rows, pending, widths = [], [], {}
    for name, planned in plan.items():
        if name.startswith("floor/"):
            continue
        row, widths[name] = make_row(table[name], planned, measured["values"][name], floors)
        (rows if row["ours"] is not None else pending).append(row)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(), "compilers": compilers(), "seconds": round(measured["seconds"]),
        "gauge": measured["gauge"], **how,
        "rows": rows, "pending": pending,
        "floors": floors, "floor_spread": floor_spread, "spreads": widths,
        "absent": absent,
        "failed": [{"case": c, "subject": s, **how_it_failed} for (c, s), how_it_failed in measured["failed"].items()],
        "titles": {name: table[name].title for name in plan if name in table},
        "rounds_measured": {name: v for name, v in measured["values"].items()},
    }


def quietness(counts):
    return (f"Of {counts['measured']} measurements {counts['disturbed']} were taken on a core that the gauge called slower than usual; "
            f"{counts['repeated']} were repetitions for that reason.")


def minutes(seconds):
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


def run_facts(result):
    """How long it took, and how far it agrees with the full run before it, where that is known."""
    facts = f"Measuring took {minutes(result['seconds'])}"
    if result.get("prepared_seconds") is not None:
        facts += f", installing and building before it {minutes(result['prepared_seconds'])}"
    facts += "."
    if "agreement" in result:
        a = result["agreement"]
        facts += (f" Of the {a['rows']} rows that the run of {a['with']} has, too, {a['within_spread']} "
                  f"({100 * a['within_spread'] / a['rows']:.0f} %) agree with it within their spread.")
    return facts


def broken(result):
    """Where Roost or a floor failed: no peer's fault, so the run has failed."""
    return [f for f in result["failed"] if f.get("kind") != "peer"]


def ratio_text(row):
    if row["ratio"] is None or row["ours"] is None:
        return "-"
    return "noisy" if row["noisy"] else f"{row['ratio']:.2f}"


def spread_text(row):
    return "-" if row["ours"] is None or row["rounds"] < 2 else f"{row['spread'] * 100:.0f} %"


def floor_spread_text(result, name):
    width = result["floor_spread"][name]
    return "-" if result["rounds"] < 2 else f"{width * 100:.0f} %{' noisy' if width > NOISY else ''}"


def row_line(row, title):
    others = sorted(row["peers"].items(), key=lambda kv: kv[1], reverse=row["better"] == "higher")
    peers = ", ".join(f"{n} {digits(v)}" for n, v in others) or "-"
    floor = ", ".join(f"{n} {digits(v)}" for n, v in row["floor"].items()) or "-"
    ours = "-" if row["ours"] is None else digits(row["ours"])
    return f"| {title}<br>`{row['case']}` | {row['unit']} | **{ours}** | {spread_text(row)} | {ratio_text(row)} | {peers} | {floor} |"


HEAD = ("| case | unit | roost | spread | best peer / roost | peers | floor |\n"
        "|---|---|---|---|---|---|---|")


def markdown(result):
    lines = ["# Roost, side by side", "",
             f"{result['date']}, {result['machine']}. {result['rounds']} rounds of {result['ms']} ms per case and subject, "
             f"interleaved, pinned; medians. Spread: the middle half of the rounds, relative to the median; rows of one round have none. "
             f"Where Roost's or the best peer's is over {NOISY * 100:.0f} %, the row says noisy instead of a ratio and claims nothing. "
             "A ratio above 1 means Roost is ahead of the best peer; level means behind by no more than the spread. "
             + quietness(result["gauge"]), "", run_facts(result), "",
             "Built with " + "; ".join(result.get("compilers", {}).values()) + ".", "", f"{tally(result['rows'])}.", ""]
    if broken(result):
        lines += ["## Where Roost failed", ""] + [f"- {f['subject']} in `{f['case']}`: {f['problem']}" for f in broken(result)] + [""]
    layers = {}
    for row in result["rows"]:
        layers.setdefault(row["layer"], []).append(row)
    for layer, rows in layers.items():
        lines += [f"## {layer}", "", HEAD]
        lines += [row_line(r, result["titles"][r["case"]]) for r in rows] + [""]
    if result["pending"]:
        lines += ["## Peers measured, no figure of Roost", "", HEAD]
        lines += [row_line(r, result["titles"][r["case"]]) for r in result["pending"]] + [""]
    lines += flatness(result)
    lines += ["## Floors", "", "| floor | ns | spread |", "|---|---|---|"]
    lines += [f"| {n} | {digits(v)} | {floor_spread_text(result, n)} |" for n, v in result["floors"].items()]
    peers_failed = [f for f in result["failed"] if f not in broken(result)]
    if result["absent"] or peers_failed:
        lines += ["", "## Absent", ""]
        lines += [f"- {name}: {reason}" for name, reason in result["absent"].items()]
        lines += [f"- {f['subject']} in {f['case']}: {f['problem']}" for f in peers_failed]
    return "\n".join(lines) + "\n"


SIZES = ("1k", "100k", "1m")


def flatness(result):
    """The rows scale/X_1k, X_100k and X_1m side by side: what an operation costs must not depend on how much else there is."""
    found = {row["case"]: row for row in result["rows"]}
    families = [case[:-len("_1k")] for case in found if re.fullmatch(r"scale/\w+_1k", case) and case[:-len("1k")] + "1m" in found]
    lines = []
    for family in families:
        rows = {size: found[f"{family}_{size}"] for size in SIZES if f"{family}_{size}" in found}
        for name in ["roost", *rows["1k"]["peers"]]:
            at = {size: row["ours"] if name == "roost" else row["peers"].get(name) for size, row in rows.items()}
            if not at["1k"] or at["1m"] is None:
                continue
            wide = max(result["spreads"].get(f"{family}_{size}", {}).get(name, 0.0) for size in ("1k", "1m"))
            grows = at["1m"] / at["1k"]
            verdict = "noisy" if wide > NOISY else "yes" if grows <= FLAT else "**no**"
            lines.append(f"| `{family}` | {name} | " + " | ".join(digits(at.get(size)) for size in SIZES)
                         + f" | {'noisy' if wide > NOISY else f'{grows:.2f}'} | {verdict} |")
    if not lines:
        return []
    return ["## Does it stay flat?", "",
            f"The cost of one operation among 10^3, 10^5 and 10^6 others; flat means at most {FLAT} times as much among 10^6 as among 10^3. "
            "A table of a million entries has left the caches, for every subject.", "",
            "| rows | subject | 10^3 | 10^5 | 10^6 | 10^6 : 10^3 | flat |", "|---|---|---|---|---|---|---|", *lines, ""]


def bars(row, title):
    """One case: bars on a log scale, ours first, then peers best first, then floors."""
    entries = [("roost", row["ours"], "ours")] if row["ours"] is not None else []
    entries += [(n, v, "peer") for n, v in sorted(row["peers"].items(), key=lambda kv: kv[1], reverse=row["better"] == "higher")]
    entries += [(n, v, "floor") for n, v in row["floor"].items()]
    positive = [v for _, v, _ in entries if v and v > 0]
    if not positive:
        return ""
    low, high = math.log10(min(positive)) - 0.3, math.log10(max(positive)) + 0.05
    out = [f"<section><h3>{html.escape(title)}</h3><p><code>{row['case']}</code>, {row['unit']}, {row['better']} is better"
           + (f"; best peer / roost <b>{ratio_text(row)}</b>" if row["ratio"] is not None else "") + "</p>"]
    for name, value, kind in entries:
        width = 100 * (math.log10(value) - low) / (high - low) if value > 0 else 0
        out.append(f'<div class="row"><span class="name">{html.escape(name)}</span>'
                   f'<span class="track"><span class="bar {kind}" style="width:{width:.1f}%"></span></span>'
                   f'<span class="value">{digits(value)}</span></div>')
    return "\n".join(out) + "</section>"


STYLE = """
:root{color-scheme:light dark;--ours:#2563eb;--peer:#94a3b8;--floor:#d9a441}
body{font:15px/1.45 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}
h3{margin:1.6rem 0 0}p{margin:.2rem 0 .5rem;opacity:.8}
.row{display:flex;align-items:center;gap:.6rem;margin:2px 0}
.name{flex:0 0 15rem;text-align:right;font-size:13px}.track{flex:1}
.bar{display:block;height:14px;border-radius:2px}.value{flex:0 0 5rem;font-variant-numeric:tabular-nums;font-size:13px}
.ours{background:var(--ours)}.peer{background:var(--peer)}.floor{background:var(--floor)}
@media(max-width:40rem){.name{flex-basis:8rem}}
"""


def page(result):
    body = [bars(r, result["titles"][r["case"]]) for r in result["rows"] + result["pending"]]
    return (f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            f"<title>Roost, side by side</title><style>{STYLE}</style>"
            f"<h1>Roost, side by side</h1><p>{html.escape(result['date'] + ', ' + result['machine'])}. Bars are on a log scale; "
            "blue is Roost, grey the peers, amber the floors.</p>" + "\n".join(body) + "</html>\n")


def agreement(result, before):
    """How many rows of two runs differ by no more than the spread that is printed with them."""
    then = {row["case"]: row for row in before["rows"]}
    pairs = [(row, then[row["case"]]) for row in result["rows"] if row["case"] in then and row["ours"] is not None]
    def agree(a, b):
        allowed = max(0.01, math.ceil(100 * max(a["spread"], b["spread"])) / 100)   # printed as whole per cents
        return abs(a["ours"] - b["ours"]) <= allowed * max(a["ours"], b["ours"])
    return sum(agree(a, b) for a, b in pairs), len(pairs)


def compare_with_last(out, result):
    """Called before the new report is written. Full runs are compared with the full run before, others with a run like them."""
    path = out / ("full.json" if is_full(result) else "report.json")
    before = json.loads(path.read_text()) if path.exists() else None
    if not before or any(before.get(key) != result[key] for key in ("rounds", "ms", "only", "peers")):
        return
    same, of = agreement(result, before)
    if of:
        result["agreement"] = {"with": before["date"], "rows": of, "within_spread": same}


def write(out, result):
    compare_with_last(out, result)
    text = json.dumps(result, indent=1) + "\n"
    (out / "report.json").write_text(text)
    if is_full(result):
        (out / "full.json").write_text(text)
    (out / "report.html").write_text(page(result))


def print_summary(result):
    def line(row):
        best = f"{row['best_peer']} {digits(row['peers'][row['best_peer']])}" if row["best_peer"] else "no peer"
        return f"{row['case']:36} {digits(row['ours']):>8} {row['unit']:5} {ratio_text(row):>6}  {best}"
    print(f"{'case':36} {'roost':>8} {'':5} {'ratio':>6}  best peer")
    for row in result["rows"] + result["pending"]:
        print(line(row))
    for name, reason in result["absent"].items():
        print(f"absent: {name}: {reason}")
    print(f"{len(result['rows'])} rows; {tally(result['rows'])}; build/bench/report.md, report.html, report.json")
    print(run_facts(result))
    for f in broken(result):
        print(f"FAILED: {f['subject']} in {f['case']}: {f['problem']}")
