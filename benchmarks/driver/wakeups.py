"""A plot of the waiter queues that docs/design/wakeups.md compares: the rows sync/wakeup_*."""
import html
import math

from .report import digits

DESIGNS = ["mutex + deque", "slot + overflow", "lock-free queue", "intrusive list", "roost"]


def values_of(result, case):
    for row in result["rows"] + result["pending"]:
        if row["case"] == "sync/wakeup_" + case:
            return row["peers"] | ({} if row["ours"] is None else {"roost": row["ours"]})
    return {}


def plot(result):
    """Grouped bars on a log scale, one group per measurement, self-contained."""
    groups = [("latency_alone", "alone, ns"), ("latency_low", "low contention, ns"), ("latency_high", "high contention, ns"),
              ("wake_all_100", "wake_all, ns per waiter"), ("cancel_100", "cancel + register, ns")]
    colors = {"mutex + deque": "#94a3b8", "slot + overflow": "#64a08a", "lock-free queue": "#c98f5a",
              "intrusive list": "#a78bba", "roost": "#2563eb"}
    data = [(title, values_of(result, case)) for case, title in groups]
    flat = [v for _, found in data for v in found.values() if v > 0]
    if not flat:
        return ""
    low = math.floor(math.log10(min(flat)))
    high = max(low + 1, math.ceil(math.log10(max(flat))))
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
            if design in found and found[design] > 0:
                y = y_of(found[design])
                out.append(f'<rect x="{x}" y="{y:.1f}" width="{bar - 4}" height="{top + height - y:.1f}" fill="{colors[design]}">'
                           f'<title>{html.escape(design)}: {digits(found[design])}</title></rect>'
                           f'<text x="{x + (bar - 4) / 2}" y="{y - 3:.1f}" text-anchor="middle" font-size="9" fill="#444">{digits(found[design])}</text>')
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


def write(out, result):
    """Returns whether the run has the rows."""
    drawing = plot(result)
    if drawing:
        (out / "wakeups.svg").write_text(drawing)
    return bool(drawing)
