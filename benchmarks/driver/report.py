"""From measured rounds to report.json, report.md and report.html."""
import datetime
import html
import json
import math
import os
import platform
import subprocess

from .run import median, spread

NOISY = 0.30  # a middle half wider than this says nothing


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
    by_kind = {"ours": {}, "peer": {}}
    widths = {}
    for s in planned.subjects:
        rounds = values[s.name]
        if rounds:
            by_kind[s.kind][s.name] = median(rounds)
            widths[s.name] = spread(rounds)
    ours_name = min(by_kind["ours"], key=by_kind["ours"].get) if by_kind["ours"] else None
    ours = by_kind["ours"].get(ours_name)
    peers = by_kind["peer"]
    pick = min if case.better == "lower" else max
    best = pick(peers, key=peers.get) if peers else None
    ratio = None
    if ours and best and peers[best]:
        ratio = peers[best] / ours if case.better == "lower" else ours / peers[best]
    width = widths.get(ours_name, 0.0)
    return {
        "case": case.name, "layer": case.layer, "unit": case.unit, "better": case.better,
        "ours": ours, "spread": round(width, 4),
        "floor": {name: floor_values[name] for name in case.floors if name in floor_values},
        "peers": peers, "best_peer": best, "ratio": ratio,
        "noisy": max(width, widths.get(best, 0.0)) > NOISY,
    }, widths


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
        "failed": [{"case": c, "subject": s, "problem": p} for (c, s), p in measured["failed"].items()],
        "titles": {name: table[name].title for name in plan if name in table},
        "rounds_measured": {name: v for name, v in measured["values"].items()},
    }


def quietness(counts):
    return (f"Of {counts['measured']} measurements {counts['disturbed']} were taken on a core that the gauge called slower than usual; "
            f"{counts['repeated']} were repetitions for that reason.")


def row_line(row, title):
    others = sorted(row["peers"].items(), key=lambda kv: kv[1], reverse=row["better"] == "higher")
    peers = ", ".join(f"{n} {digits(v)}" for n, v in others) or "-"
    floor = ", ".join(f"{n} {digits(v)}" for n, v in row["floor"].items()) or "-"
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
    ours = "-" if row["ours"] is None else digits(row["ours"])
    width = "-" if row["ours"] is None else f"{row['spread'] * 100:.0f} %"
    mark = " noisy" if row["noisy"] else ""
    return f"| {title}<br>`{row['case']}` | {row['unit']} | **{ours}** | {width}{mark} | {ratio} | {peers} | {floor} |"


HEAD = ("| case | unit | roost | spread | best peer / roost | peers | floor |\n"
        "|---|---|---|---|---|---|---|")


def markdown(result):
    lines = ["# Roost, side by side", "",
             f"{result['date']}, {result['machine']}. {result['rounds']} rounds of {result['ms']} ms per case and subject, "
             f"interleaved, pinned; medians. Spread: the middle half of the rounds, relative to the median; over "
             f"{NOISY * 100:.0f} % a row is marked noisy and claims nothing. A ratio above 1 means Roost is ahead of the best peer. "
             + quietness(result["gauge"]), "",
             "Built with " + "; ".join(result.get("compilers", {}).values()) + ".", ""]
    layers = {}
    for row in result["rows"]:
        layers.setdefault(row["layer"], []).append(row)
    for layer, rows in layers.items():
        lines += [f"## {layer}", "", HEAD]
        lines += [row_line(r, result["titles"][r["case"]]) for r in rows] + [""]
    if result["pending"]:
        lines += ["## Peers measured, no Roost side yet", "", HEAD]
        lines += [row_line(r, result["titles"][r["case"]]) for r in result["pending"]] + [""]
    lines += ["## Floors", "", "| floor | ns | spread |", "|---|---|---|"]
    lines += [f"| {n} | {digits(v)} | {result['floor_spread'][n] * 100:.0f} % |" for n, v in result["floors"].items()]
    if result["absent"] or result["failed"]:
        lines += ["", "## Absent", ""]
        lines += [f"- {name}: {reason}" for name, reason in result["absent"].items()]
        lines += [f"- {f['subject']} in {f['case']}: {f['problem']}" for f in result["failed"]]
    return "\n".join(lines) + "\n"


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
           + (f"; best peer / roost <b>{row['ratio']:.2f}</b>" if row["ratio"] else "")
           + ("; <b>noisy</b>" if row["noisy"] else "") + "</p>"]
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
    """Called before the new report is written."""
    path = out / "report.json"
    before = json.loads(path.read_text()) if path.exists() else None
    if not before or (before["rounds"], before["ms"]) != (result["rounds"], result["ms"]):
        return
    same, of = agreement(result, before)
    if of:
        result["agreement"] = {"with": before["date"], "rows": of, "within_spread": same}


def write(out, result):
    compare_with_last(out, result)
    (out / "report.json").write_text(json.dumps(result, indent=1) + "\n")
    (out / "report.md").write_text(markdown(result))
    (out / "report.html").write_text(page(result))


def print_summary(result):
    def line(row):
        ratio = "     -" if row["ratio"] is None else f"{row['ratio']:6.2f}"
        best = f"{row['best_peer']} {digits(row['peers'][row['best_peer']])}" if row["best_peer"] else "no peer"
        return (f"{row['case']:36} {digits(row['ours']):>8} {row['unit']:5} {ratio}  {best}"
                + ("  (noisy)" if row["noisy"] else ""))
    print(f"{'case':36} {'roost':>8} {'':5} {'ratio':>6}  best peer")
    for row in result["rows"] + result["pending"]:
        print(line(row))
    for name, reason in result["absent"].items():
        print(f"absent: {name}: {reason}")
    ahead = [r for r in result["rows"] if r["ratio"]]
    won = sum(1 for r in ahead if r["ratio"] >= 1)
    print(f"{len(result['rows'])} rows, {won} of {len(ahead)} with a peer level or ahead, "
          f"{sum(r['noisy'] for r in result['rows'])} noisy, {result['seconds']} s; build/bench/report.md, report.html, report.json")
    if "agreement" in result:
        a = result["agreement"]
        print(f"{a['within_spread']} of {a['rows']} rows agree within their spread with the run of {a['with']}")
