#!/usr/bin/env python3
"""Looks at the metrics of the order service as operators do: metrics_test.py PROGRAM TEST [DASHBOARD]. Exit 77: something is missing.

admin: the listener that has a port of its own. dashboard: every query of the Grafana dashboard names metrics and labels that the
service really has. prometheus: promtool has no complaint, and a real Prometheus server scrapes the service and finds its series.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from demo_service import Service, check

LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ADDED = {"job", "instance", "le"}  # by Prometheus, and by the writer of a histogram
WORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "offset", "bool", "and", "or", "unless"}
OPEN = "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5"


def admin_of(s):
    """Where the listener of its own is; skips the test when the program has none."""
    found = re.search(r"roost: admin: (http://\S+) serves /metrics, /readyz and /livez", s.text())
    if not found:
        s.process.kill()
        print("the order service was built without the layer admin")
        sys.exit(77)
    return found.group(1)


def fetch(url, accept="*/*"):
    """Status, content type and text."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=60) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers["Content-Type"], refused.read().decode()


def samples(text):
    """{name: set of label names} of an exposition."""
    found = {}
    for line in text.splitlines():
        sample = LINE.match(line)
        if sample and not line.startswith("#"):
            found.setdefault(sample.group(1), set()).update(name for name, _ in LABEL.findall(sample.group(2) or ""))
    return found


def test_admin(program):
    s = Service(program, "--rate", "100", "--seconds", "60")
    door = admin_of(s)
    s.wait_for("in flight")
    check(fetch(door + "/readyz")[::2] == (200, "ready\n"), "/readyz")
    check(fetch(door + "/livez")[::2] == (200, "live\n"), "/livez")
    check(fetch(door + "/tree")[0] == 404, "a page of the service's own door")
    status, kind, plain = fetch(door + "/metrics")
    check(status == 200 and kind.startswith("text/plain; version=0.0.4"), f"the text format: {status} {kind}", plain)
    status, kind, text = fetch(door + "/metrics", OPEN)
    check(status == 200 and kind.startswith("application/openmetrics-text; version=1.0.0") and text.endswith("# EOF\n"),
          f"OpenMetrics: {status} {kind}", text)
    own = s.get("/metrics").decode().split("\r\n\r\n", 1)[1]
    check(samples(own).keys() == samples(plain).keys(), "both doors show the same metrics", own)
    s.signal()
    s.wait_for("phase lame duck")
    check(fetch(door + "/readyz")[::2] == (503, "not ready: lame duck\n"), "/readyz of a lame duck")
    check(fetch(door + "/livez")[0] == 200, "/livez of a lame duck")
    s.has_ended_well(30)
    with socket.socket() as probe:
        port = int(door.rsplit(":", 1)[1])
        check(probe.connect_ex(("127.0.0.1", port)) != 0, "the listener is there after the end")


# --- the dashboard --------------------------------------------------------------------------------------------------------------


def queries(dashboard):
    """(where, PromQL, the labels that its legend names) of everything in the dashboard that Prometheus is asked."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")))
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
            check(found, f"variable {variable['name']} is no label_values")
            yield f"variable {variable['name']}", found.group(1), {found.group(2)}


def names_in(query):
    """The metrics and the labels that a PromQL expression names."""
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query))
    for listed in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", query):
        labels |= {label.strip() for label in listed.split(",") if label.strip()}
    rest = re.sub(r"\{[^}]*\}|\[[^]]*\]|\"[^\"]*\"", " ", query)
    rest = re.sub(r"\b(?:by|without|on|ignoring)\s*\([^)]*\)", " ", rest)
    names = {name for name, call in re.findall(r"(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\(?)", rest) if not call and name not in WORDS}
    return names, labels


def complaints(dashboard, known):
    found = []
    for where, query, legend in queries(dashboard):
        metrics, labels = names_in(query)
        if not metrics:
            found.append(f"{where}: '{query}' names no metric")
        for metric in metrics:
            if metric not in known:
                found.append(f"{where}: there is no metric {metric}")
            else:
                found += [f"{where}: {metric} has no label {label}" for label in sorted((labels | legend) - known[metric] - ADDED)]
    return found


def test_dashboard(program, path):
    dashboard = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    s = Service(program, "--rate", "100", "--seconds", "60")
    s.wait_for("in flight")
    time.sleep(1)
    known = samples(s.get("/metrics").decode().split("\r\n\r\n", 1)[1])
    check(len(known) > 30, "hardly a metric", str(known))
    found = complaints(dashboard, known)
    check(not found, "the dashboard asks for what is not there", "\n".join(found))
    asked = set().union(*(names_in(query)[0] for _, query, _ in queries(dashboard)))
    for wanted in ("roost_jobs", "roost_jobs_total", "roost_run_delay_seconds_bucket", "roost_body_seconds_bucket", "roost_pool_out",
                   "roost_stalls_total", "roost_phase", "roost_ledger_total"):
        check(wanted in asked, f"the dashboard does not show {wanted}")
    # The check itself: planted mistakes are seen.
    for good, bad in (("roost_jobs{", "roost_job{"), ("sum by (state)", "sum by (stat)"), ("{{outcome}}", "{{result}}"),
                      ("label_values(roost_ready", "label_values(roost_red")):
        planted = json.dumps(dashboard).replace(good, bad, 1)
        check(planted != json.dumps(dashboard) and complaints(json.loads(planted), known), f"'{bad}' was not seen")
    ids = [panel["id"] for panel in dashboard["panels"]]
    check(len(set(ids)) == len(ids), "two panels have one id")
    s.end_well()
    print(f"{len(ids)} panels, {len(asked)} metrics")


# --- the real thing -------------------------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def promtool(*words, text=None):
    done = subprocess.run(["promtool", *words], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False)
    check(done.returncode == 0 and "error" not in done.stdout.lower(), f"promtool {' '.join(words)} complains", done.stdout)


def rules_of(dashboard):
    """The queries as recording rules, which promtool can parse."""
    rules = [f"      - record: query_{i}\n        expr: {json.dumps(query.replace('$__rate_interval', '1m'))}"
             for i, (_, query, _) in enumerate(queries(dashboard))]
    return "groups:\n  - name: dashboard\n    rules:\n" + "\n".join(rules) + "\n"


class Prometheus:
    def __init__(self, folder, target):
        self.port = free_port()
        config = pathlib.Path(folder, "prometheus.yml")
        config.write_text("global: {scrape_interval: 500ms, scrape_timeout: 500ms}\nscrape_configs:\n"
                          f"  - job_name: demo\n    static_configs: [{{targets: ['{target}']}}]\n", encoding="utf-8")
        self.log = open(folder + "/log", "w", encoding="utf-8")
        self.process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def api(self, path, **words):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=20) as reply:
            return json.load(reply)["data"]

    def series(self, query):
        return self.api("query", query=query)["result"]

    def wait_for(self, query, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                found = self.series(query)
                if found:
                    return found
            except OSError:
                pass
            check(self.process.poll() is None, "Prometheus ended", pathlib.Path(self.log.name).read_text(encoding="utf-8"))
            time.sleep(0.2)
        return check(False, f"Prometheus has no series for {query}", json.dumps(self.api("targets"), indent=1))

    def end(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


def test_prometheus(program, path):
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("there is no prometheus")
        sys.exit(77)
    dashboard = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    s = Service(program, "--rate", "200", "--seconds", "120")
    door = admin_of(s)
    s.wait_for("in flight")
    promtool("check", "metrics", text=fetch(door + "/metrics")[2])
    with tempfile.TemporaryDirectory() as folder:
        rules = folder + "/rules.yml"
        pathlib.Path(rules).write_text(rules_of(dashboard), encoding="utf-8")
        promtool("check", "rules", rules)
        server = Prometheus(folder, door.removeprefix("http://"))
        try:
            server.wait_for("rate(demo_requests_total[10s]) > 0")
            server.wait_for('roost_phase{service="demo",phase="running"} == 1')
            server.wait_for('roost_jobs{state="waiting"} > 0')
            server.wait_for("histogram_quantile(0.99, sum by (le) (rate(roost_body_seconds_bucket[10s]))) > 0")
            target = server.api("targets")["activeTargets"][0]
            check(target["health"] == "up" and target["lastError"] == "", "the target is not up", json.dumps(target))
            for where, query, _ in queries(dashboard):  # the whole dashboard, as Grafana asks
                ready = query.replace("$__rate_interval", "10s").replace("$job", ".*").replace("$instance", ".*")
                check(server.series(ready) or "max by" in ready, f"{where}: no series for {ready}")
            s.signal()
            s.wait_for("phase drain")
            books, _ = s.has_ended_well(30)
            server.wait_for("up == 0")
            seen = sum(float(row["value"][1]) for row in server.series('sum(last_over_time(roost_ledger_total{outcome="completed"}[5m]))'))
            check(0 < seen <= books[1], f"Prometheus saw {seen} orders, the ledger says {books[1]}")
        finally:
            server.end()
    print(f"Prometheus saw {seen:.0f} of {books[1]} orders")


def main():
    globals()["test_" + sys.argv[2]](sys.argv[1], *sys.argv[3:])
    print(f"{sys.argv[2]}: ok")


if __name__ == "__main__":
    main()
