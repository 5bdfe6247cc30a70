"""The measured parts of docs/design/wakeups.md: tables between its markers, and the plot beside it."""
import html
import math
import re

from .report import NOISY, digits

DESIGNS = ["mutex + deque", "slot + overflow", "lock-free queue", "intrusive list", "roost"]
# What was estimated before anything was measured (nanoseconds; million per second; bytes; lines).
ESTIMATE = {
    "mutex + deque": {"alone": 50, "low": 100, "high": 500, "one": 20, "many": 2, "bytes": 0, "lines": 60},
    "slot + overflow": {"alone": 30, "low": 70, "high": 200, "one": 30, "many": 5, "bytes": 0, "lines": 120},
    "lock-free queue": {"alone": 20, "low": 50, "high": 100, "one": 40, "many": 10, "bytes": 0, "lines": 40},
    "intrusive list": {"alone": 10, "low": 30, "high": 50, "one": 50, "many": 20, "bytes": 32, "lines": 500},
    "roost": {},
}
SOURCES = {
    "mutex + deque": ["benchmarks/compare/wakeup/mutex_deque.hpp"],
    "slot + overflow": ["benchmarks/compare/wakeup/mode_word.hpp", "benchmarks/compare/wakeup/mutex_deque.hpp"],
    "lock-free queue": ["benchmarks/compare/wakeup/lockfree_queue.hpp"],
    "intrusive list": ["benchmarks/compare/wakeup/intrusive_list.hpp"],
    "roost": ["include/roost/sync/waiter.hpp", "include/roost/sync/waiter_queue.hpp",
              "include/roost/sync/detail/wait_list.hpp", "include/roost/sync/detail/gate_lock.hpp",
              "include/roost/sync/detail/thread_waiter.hpp", "include/roost/sync/detail/parker.hpp",
              "src/sync/waiter.cpp", "src/sync/waiter_queue.cpp", "src/sync/gate_lock.cpp", "src/sync/parker.cpp"],
}
NEEDS = {"lock-free queue": " + Boost.Lockfree"}


def values_of(result, case):
    for row in result["rows"] + result["pending"]:
        if row["case"] == "sync/wakeup_" + case:
            found = dict(row["peers"])
            if row["ours"] is not None:
                found["roost"] = row["ours"]
            wide = result["spreads"].get(row["case"], {})
            return {k: (v, wide.get(k, 0.0)) for k, v in found.items()}
    return {}


def cell(found, design, estimate=None):
    if design not in found:
        return "-"
    value, width = found[design]
    text = f"{digits(value)}" + (" (noisy)" if width > NOISY else "")
    return text + (f" [{estimate}]" if estimate is not None else "")


def table(heads, rows):
    return "\n".join(["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
                     + ["| " + " | ".join(row) + " |" for row in rows])


def code_lines(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def blocks(root, result):
    get = {c: values_of(result, c) for c in ("latency_alone", "latency_low", "latency_high", "throughput_1", "throughput_100",
                                             "wake_all_100", "cancel_100", "bytes", "bytes_cancelled")}
    stamp = f"\n\n*{result['date']}, {result['machine']}; {result['rounds']} rounds of {result['ms']} ms.*"
    latency = table(["design", "alone, ns", "low, ns", "high, ns"],
                    [[d, cell(get["latency_alone"], d, ESTIMATE[d].get("alone")), cell(get["latency_low"], d, ESTIMATE[d].get("low")),
                      cell(get["latency_high"], d, ESTIMATE[d].get("high"))] for d in DESIGNS])
    throughput = table(["design", "1 waiter, M/s", "100 waiters, M/s", "wake_all of 100, ns per waiter"],
                       [[d, cell(get["throughput_1"], d, ESTIMATE[d].get("one")), cell(get["throughput_100"], d, ESTIMATE[d].get("many")),
                         cell(get["wake_all_100"], d)] for d in DESIGNS])
    memory = table(["design", "bytes per waiter", "left behind by a cancelled one"],
                   [[d, cell(get["bytes"], d, ESTIMATE[d].get("bytes")), cell(get["bytes_cancelled"], d)] for d in DESIGNS])
    cancel = table(["design", "cancel among 100 and register again, ns"], [[d, cell(get["cancel_100"], d)] for d in DESIGNS])
    sizes = {d: sum(code_lines(root / s) for s in SOURCES[d] if (root / s).exists()) for d in DESIGNS}
    notes = {"roost": "also: threads and coroutines in one queue, parking, deadlines, executors, generation, asserts"}
    complexity = table(["design", "lines", "estimate", ""],
                       [[d, str(sizes[d]) + NEEDS.get(d, ""), str(ESTIMATE[d].get("lines", "-")), notes.get(d, "")] for d in DESIGNS])
    return {"latency": latency + stamp, "throughput": throughput, "memory": memory, "cancel": cancel,
            "complexity": complexity, "verdict": verdict(get)}


def verdict(get):
    """States who was fastest, from the figures alone."""
    lines = []
    names = {"latency_alone": ("register + wake alone", False), "latency_low": ("low contention", False),
             "latency_high": ("high contention", False), "throughput_1": ("throughput with 1 waiter", True),
             "throughput_100": ("throughput with 100 waiters", True), "wake_all_100": ("wake_all of 100", False),
             "cancel_100": ("cancelling", False)}
    for case, (title, higher) in names.items():
        found = get[case]
        if len(found) < 2 or "roost" not in found:
            continue
        pick = max if higher else min
        best = pick(found, key=lambda k: found[k][0])
        mark = " (noisy, so nothing is claimed)" if max(found["roost"][1], found[best][1]) > NOISY else ""
        if best == "roost":
            lines.append(f"- {title}: Roost is the fastest of the five{mark}.")
        else:
            factor = found[best][0] / found["roost"][0] if higher else found["roost"][0] / found[best][0]
            lines.append(f"- {title}: {best} is ahead, by a factor of {factor:.2f}{mark}.")
    return "In this run:\n\n" + "\n".join(lines) if lines else ""


def plot(result):
    """Grouped bars on a log scale, one group per measurement, self-contained."""
    groups = [("latency_alone", "alone, ns"), ("latency_low", "low contention, ns"), ("latency_high", "high contention, ns"),
              ("wake_all_100", "wake_all, ns per waiter"), ("cancel_100", "cancel + register, ns")]
    colors = {"mutex + deque": "#94a3b8", "slot + overflow": "#64a08a", "lock-free queue": "#c98f5a",
              "intrusive list": "#a78bba", "roost": "#2563eb"}
    data = [(title, values_of(result, case)) for case, title in groups]
    flat = [v for _, found in data for v, _ in found.values() if v > 0]
    if not flat:
        return ""
    low, high = math.floor(math.log10(min(flat))), math.ceil(math.log10(max(flat)))
    left, top, height, bar, gap = 52, 40, 260, 26, 34
    width = left + len(data) * (len(DESIGNS) * bar + gap) + 10
    y_of = lambda v: top + height * (1 - (math.log10(v) - low) / (high - low))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + height + 60}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{top + height + 60}" fill="#fff"/>']
    for power in range(low, high + 1):
        y = y_of(10 ** power)
        out.append(f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{10 ** power:g}</text>')
    x = left + 8
    for title, found in data:
        start = x
        for design in DESIGNS:
            if design in found and found[design][0] > 0:
                y = y_of(found[design][0])
                out.append(f'<rect x="{x}" y="{y:.1f}" width="{bar - 4}" height="{top + height - y:.1f}" fill="{colors[design]}">'
                           f'<title>{html.escape(design)}: {digits(found[design][0])}</title></rect>'
                           f'<text x="{x + (bar - 4) / 2}" y="{y - 3:.1f}" text-anchor="middle" font-size="9" fill="#444">{digits(found[design][0])}</text>')
            x += bar
        out.append(f'<text x="{(start + x) / 2}" y="{top + height + 18}" text-anchor="middle" fill="#222">{html.escape(title)}</text>')
        x += gap
    x = left
    for design in DESIGNS:
        out.append(f'<rect x="{x}" y="{top + height + 34}" width="12" height="12" fill="{colors[design]}"/>'
                   f'<text x="{x + 17}" y="{top + height + 44}" fill="#222">{html.escape(design)}</text>')
        x += 140
    out.append(f'<text x="{left}" y="20" fill="#222">nanoseconds, log scale, lower is better; {result["date"]}</text></svg>')
    return "\n".join(out) + "\n"


def write(root, result):
    page = root / "docs" / "design" / "wakeups.md"
    if not page.exists() or not values_of(result, "latency_alone"):
        return
    text = page.read_text()
    for name, block in blocks(root, result).items():
        text = re.sub(rf"(<!-- bench:{name} -->\n).*?(<!-- /bench:{name} -->)", lambda m: m.group(1) + block + "\n" + m.group(2), text, flags=re.S)
    page.write_text(text)
    (page.parent / "wakeups.svg").write_text(plot(result))
    print("wrote docs/design/wakeups.md, docs/design/wakeups.svg")
