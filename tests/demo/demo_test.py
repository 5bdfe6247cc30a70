#!/usr/bin/env python3
"""Tries the order service as its users and its enemies would: demo_test.py PROGRAM TEST. Exit 77: something is missing."""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LEDGER = re.compile(r"^ledger: accepted=(\d+) completed=(\d+) failed=(\d+) cancelled=(\d+) abandoned=(\d+) lost=(\d+)$")
INTAKE = re.compile(r"^intake: requests=(\d+) answered=(\d+) unanswered=(\d+) connections=(-?\d+)$", re.M)
ORDER = b"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\ntea 3"


def check(fact, sentence, text=""):
    if not fact:
        print(text[-6000:])
        sys.exit(f"FAILED: {sentence}")


class Service:
    """The running program, its output, and its port."""

    def __init__(self, program, *flags, total=None):
        environment = dict(os.environ, **({"ROOST_SHUTDOWN_TOTAL": total} if total else {}))
        self.process = subprocess.Popen([program, "--port", "0", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=environment)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()
        self.port = int(self.wait_for(r"http://127\.0\.0\.1:(\d+)").group(1))
        self.wait_for("is ready")

    def text(self):
        return "".join(self.lines)

    def wait_for(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = re.search(pattern, self.text())
            if found:
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        check(False, f"'{pattern}' was never printed", self.text())

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def ask(self, request):
        with self.connect() as s:
            s.sendall(request)
            return read_answer(s)

    def get(self, path):
        return self.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())

    def metric(self, name):
        return float(re.search(rf"^{name} (\S+)$", self.get("/metrics").decode(), re.M).group(1))

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def end(self, seconds):
        """Waits for the end; the exit status, how long it took."""
        start = time.monotonic()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.reader.join(5)
            check(False, f"it did not end within {seconds} s", self.text())
        self.reader.join(5)
        return self.process.returncode, time.monotonic() - start

    def books(self):
        last = self.lines[-1].rstrip("\n") if self.lines else ""
        found = LEDGER.match(last)
        check(found, f"the last line is no ledger: '{last}'", self.text())
        accepted, completed, failed, cancelled, abandoned, lost = map(int, found.groups())
        check(lost == 0 and accepted == completed + failed + cancelled + abandoned, "orders were lost", self.text())
        return accepted, completed, failed, cancelled, abandoned

    def end_well(self, seconds=20):
        self.signal()
        status, took = self.end(seconds)
        check(status == 0, f"exit status {status}", self.text())
        books = self.books()
        check(INTAKE.search(self.text()).group(4) == "0", "a connection was left", self.text())
        return books, took


def read_answer(s):
    """One whole answer, or what there was of it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        if not more:
            return data
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(re.search(rb"Content-Length: (\d+)", head).group(1))
    while len(body) < length:
        more = s.recv(65536)
        if not more:
            break
        body += more
    return head + b"\r\n\r\n" + body


def run(program, *flags):
    done = subprocess.run([program, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def refuses(program, sentence, *flags):
    status, out, err = run(program, *flags)
    check(status == 2, f"{flags}: exit status {status}, not 2", out + err)
    check(out == "" and len(err.strip().splitlines()) == 1, f"{flags}: not exactly one line", out + err)
    check(re.search(sentence, err), f"{flags}: the line does not say '{sentence}'", err)


def test_refusals(program):
    status, out, err = run(program, "--help")
    check(status == 0 and "--stuck" in out and err == "", "--help", out + err)
    refuses(program, "no flag '--nonsense'", "--nonsense")
    refuses(program, "--port needs a number", "--port", "70000")
    refuses(program, "--rate needs a value", "--rate")
    refuses(program, "--seconds needs a number", "--seconds", "soon")
    refuses(program, "--patience needs a number", "--patience", "-1")
    with tempfile.TemporaryDirectory() as folder:
        refuses(program, "can't write the database", "--db", folder + "/there/is/no/such/folder.db")
        refuses(program, "can't write the database", "--db", folder)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refuses(program, "in use already", "--port", str(taken.getsockname()[1]))


def test_script(program):
    status, out, err = run(program, "--script", "--seconds", "2")
    check(status == 0, f"exit status {status}", out + err)
    found = LEDGER.match(out.splitlines()[-1])
    check(found and found.group(6) == "0" and int(found.group(2)) > 0, "the ledger", out)
    check(len(re.findall("flaky worker failed", out)) >= 3, "the flaky worker failed fewer than three times", out)
    load = re.search(r"^load: sent=(\d+) answered=(\d+) created=(\d+) broken=0$", out, re.M)
    check(load and load.group(1) == load.group(2) == load.group(3), "the load's own count", out)


def test_stuck(program):
    status, out, err = run(program, "--stuck", "--script", "--seconds", "1")
    check(status == 124, f"exit status {status}, not 124", out + err)
    line = re.search(r"^.*'month-end export'.*$", out, re.M)
    check(line, "no report names the planted job", out)
    for part in (r"examples/order_service/main\.cpp:\d+", r"\d+(\.\d+)? m?s\b", r"waits on .*the printer's answer"):
        check(re.search(part, line.group()), f"the report's line does not say {part}", line.group())
    check(LEDGER.match(out.splitlines()[-1]).group(6) == "0", "the ledger", out)


def test_endpoints(program):
    s = Service(program, "--rate", "0")
    check(b" 200 " in s.get("/healthz"), "/healthz")
    check(b" 200 " in s.get("/readyz"), "/readyz")
    check(b"# TYPE demo_orders_accepted_total counter" in s.get("/metrics"), "/metrics")
    tree = s.get("/tree").decode()
    check("flaky worker" in tree and "accept" in tree, "/tree", tree)
    check(b" 201 " in s.ask(ORDER), "an order")
    check(b" 400 " in s.ask(ORDER.replace(b"tea 3", b"tea  ")), "a bad order")
    chunked = ORDER.replace(b"Content-Length: 5", b"Transfer-Encoding: chunked").replace(b"tea 3", b"0\r\n")
    check(b" 411 " in s.ask(chunked), "an order that does not say how long it is")
    check(b" 404 " in s.get("/nothing"), "an unknown path")
    check(b" 405 " in s.get("/orders"), "a wrong method")
    with s.connect() as one:  # keep-alive: two on one connection
        for _ in range(2):
            one.sendall(ORDER)
            check(b" 201 " in read_answer(one), "the second order of a connection")
    books, took = s.end_well()
    check(books[:2] == (3, 3), f"the ledger says {books}", s.text())
    check(took < 5, f"an idle service took {took:.1f} s to end", s.text())


def test_bad_clients(program):
    s = Service(program, "--rate", "0")
    check(b" 413 " in s.ask(b"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"), "a body that is too large")
    check(b" 431 " in s.ask(b"GET / HTTP/1.1\r\nX: " + b"y" * 20000 + b"\r\n\r\n"), "a header that is too large")
    check(b" 400 " in s.ask(b"NONSENSE\r\n\r\n"), "nonsense")
    silent = [s.connect() for _ in range(100)]
    half = [s.connect() for _ in range(100)]
    for one in half:
        one.sendall(ORDER[:40])
    slow = s.connect()
    start = time.monotonic()
    answer = b""
    slow.settimeout(0.3)
    while time.monotonic() - start < 20 and not answer:  # one byte after the other
        try:
            slow.sendall(b"G")
            answer = slow.recv(4096)
        except socket.timeout:
            continue
        except OSError:
            break
    took = time.monotonic() - start
    check(4 < took < 12, f"a slow client was let go after {took:.1f} s", s.text())
    gone = [s.connect() for _ in range(50)]  # sends a request and leaves
    for one in gone:
        one.sendall(ORDER)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        one.close()
    check(b" 201 " in s.ask(ORDER), "an order after all that")
    for one in half[:50]:
        one.close()
    half += [s.connect() for _ in range(20)]
    for one in half[-20:]:
        one.sendall(ORDER[:40])
    books, took = s.end_well()
    check(took < 15, f"the drain took {took:.1f} s", s.text())
    print(f"drained in {took:.1f} s, {books}")
    for one in silent + half:
        one.close()


def need_wrk():
    if shutil.which("wrk") is None:
        print("SKIPPED: wrk is not installed (tools/setup all)")
        sys.exit(77)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(11_500, hard - 200)  # the service takes 12 000


def start_wrk(s, connections, seconds, folder):
    with open(folder + "/order.lua", "w", encoding="utf-8") as script:
        script.write('wrk.method = "POST"\nwrk.body = "tea 3"\n')
    return subprocess.Popen(["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "-s", folder + "/order.lua",
                             f"http://127.0.0.1:{s.port}/orders"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_sigterm_under_load(program):
    """10 000 requests are in flight when the signal comes, on a machine that has time for it. On one that has not it is as many as
    there were after a minute, and everything else holds all the same; ROOST_TEST_IN_FLIGHT=10000 insists."""
    connections = need_wrk()
    wanted = min(10_000, connections - 200)
    # A client that is refused tries again at once and for ever, so the drain has to share the machine with it; and a client that
    # does not get the processor for a while is not one that has nothing to ask.
    s = Service(program, "--rate", "0", "--patience", "60", total="300s")
    with tempfile.TemporaryDirectory() as folder:
        wrk = start_wrk(s, connections, 500, folder)
        now, end = 0, time.monotonic() + 60
        while now < wanted and time.monotonic() < end:
            time.sleep(0.1)
            now = max(map(int, re.findall(r"in flight (\d+)", s.text())[-1:]), default=0)  # the status line, once per second
        books, took = s.end_well(330)
        refused = False
        try:
            s.connect().close()
        except ConnectionRefusedError:
            refused = True
        wrk.send_signal(signal.SIGINT)
        report = wrk.communicate(timeout=120)[0]
    requests, answered, unanswered, _ = map(int, INTAKE.search(s.text()).groups())
    clients, in_flight = map(int, re.search(r"demo: (\d+) clients are connected, (\d+) requests are in flight", s.text()).groups())
    print(report)
    print(f"{clients} connections, {in_flight} requests in flight at the signal ({'reached' if in_flight >= wanted else 'busy machine: below'} "
          f"{wanted}); {requests} requests, {unanswered} unanswered; drained in {took:.1f} s; {books}")
    check(refused, "a connection after the end was not refused")
    check(requests > 0 and unanswered == 0 and requests == answered, "a request was not answered", s.text())
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", report)
    broken = int(errors.group(2)) if errors else 0
    check(broken == 0, f"wrk saw {broken} broken responses", report + s.text())
    check(in_flight >= int(os.environ.get("ROOST_TEST_IN_FLIGHT", "0")), f"only {in_flight} requests were in flight", s.text())


def test_killed_load(program):
    connections = min(1000, need_wrk())
    s = Service(program, "--rate", "0")
    with tempfile.TemporaryDirectory() as folder:
        wrk = start_wrk(s, connections, 30, folder)
        end = time.monotonic() + 15
        while s.metric("demo_orders_accepted_total") < 500 and time.monotonic() < end:
            time.sleep(0.1)
        wrk.kill()
        wrk.wait()
    end = time.monotonic() + 20
    while s.metric("demo_connections") > 1 and time.monotonic() < end:
        time.sleep(0.1)
    check(s.metric("demo_connections") == 1, "connections of the dead client are still open", s.text())
    check(s.metric("demo_orders_open") == 0, "orders of the dead client are still open", s.text())
    check(b" 201 " in s.ask(ORDER), "an order after that")
    books, took = s.end_well()
    print(f"drained in {took:.1f} s; {books}")


def test_wedged(program):
    s = Service(program, "--wedge", "--rate", "50", "--seconds", "60")
    time.sleep(1)
    check(b" 200 " in s.get("/readyz"), "/readyz beside a wedged worker")
    s.signal()
    s.wait_for(r"'wedged' at \S*examples/order_service/main\.cpp:\d+")
    s.signal()
    s.wait_for("phase cancel")
    status, took = s.end(20)
    check(status == -signal.SIGTERM, f"exit status {status}, not by the signal", s.text())
    check(took < 16, f"it took {took:.1f} s to die", s.text())
    s.books()
    print(f"died {took:.1f} s after the second signal")


def main():
    program, name = sys.argv[1], sys.argv[2]
    globals()["test_" + name](program)
    print(f"{name}: ok")


if __name__ == "__main__":
    main()
