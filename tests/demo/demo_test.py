#!/usr/bin/env python3
"""Tries the order service as its users and its enemies would: demo_test.py PROGRAM TEST. Exit 77: something is missing."""

import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from demo_service import INTAKE, LEDGER, ORDER, Service, check, read_answer, read_until, refuses, run


def read_only_database(program, folder):
    """Nothing is read-only for root, so root becomes another user, which has to be able to read the program."""
    somebody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    os.chmod(folder, 0o755)
    program = shutil.copy(program, folder + "/program")
    with sqlite3.connect(folder + "/orders.db") as made:
        made.execute("create table orders (id integer primary key, item text, quantity integer)")
    made.close()
    os.chmod(folder + "/orders.db", 0o444)
    refuses(program, "can't write the database .*Permission denied", "--db", folder + "/orders.db", **somebody)
    # A file that can be written in a folder that can't: SQLite needs its journal beside it.
    os.chmod(folder + "/orders.db", 0o666)
    os.chmod(folder, 0o555)
    refuses(program, "can't write the database", "--db", folder + "/orders.db", **somebody)
    os.chmod(folder, 0o755)


def test_refusals(program):
    status, out, err = run(program, "--help")
    check(status == 0 and "--stuck" in out and err == "", "--help", out + err)
    refuses(program, "no flag '--nonsense'", "--nonsense")
    refuses(program, "--port needs a number", "--port", "70000")
    refuses(program, "--rate needs a value", "--rate")
    refuses(program, "--seconds needs a number", "--seconds", "soon")
    refuses(program, "--patience needs a number", "--patience", "-1")
    refuses(program, "--clients needs a number", "--clients", "0")
    with tempfile.TemporaryDirectory() as folder:
        refuses(program, "can't write the database", "--db", folder + "/there/is/no/such/folder.db")
        refuses(program, "can't write the database", "--db", folder)
        no_database = folder + "/letter"
        pathlib.Path(no_database).write_text("Dear reader, " * 500, encoding="utf-8")
        refuses(program, "can't write the database .*not a database", "--db", no_database)
        read_only_database(program, folder)
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
    s = Service(program, "--stuck", "--script", "--seconds", "1")
    status, _ = s.end(200)
    out = s.text()
    check(status == 124, f"exit status {status}, not 124", out)
    # Within two report periods: in one of the first two reports, and these come every two seconds.
    reports = re.split(r"^\S+Z \w+ roost: phase .* outstanding.*$", out, flags=re.M)[1:]
    check(any("'month-end export'" in r for r in reports[:2]), "the first two reports do not name the planted job", out)
    took = s.time_of(r"^\S+Z \w+ roost:   .*'month-end export'") - s.time_of("SIGTERM from pid")
    check(took < 60, f"the planted job was named {took:.1f} s after the signal, two report periods are 4 s", out)
    line = re.search(r"^\S+Z \w+ roost:   .*'month-end export'.*$", out, re.M)
    check(line, "no report names the planted job", out)
    for part in (r"examples/order_service/main\.cpp:\d+", r"\d+(\.\d+)? m?s\b", r"waits on .*the printer's answer"):
        check(re.search(part, line.group()), f"the report's line does not say {part}", line.group())
    check(LEDGER.match(out.splitlines()[-1]).group(6) == "0", "the ledger", out)


def test_endpoints(program):
    s = Service(program, "--rate", "0")
    check(b" 200 " in s.get("/healthz"), "/healthz")
    check(b" 200 " in s.get("/readyz"), "/readyz")
    check(b"# TYPE demo_requests_total counter" in s.get("/metrics"), "/metrics")
    tree = s.get("/tree").decode()
    check("flaky worker" in tree and "accept" in tree, "/tree", tree)
    sessions = re.search(r"^    shutdown 'sessions' .*\n((?: {6}.*\n)+)", tree, re.M).group(1)
    nodes = [line.split("'")[0] for line in sessions.splitlines() if "region 'deadline'" not in line]
    check(nodes[0] == " " * 6 + "scope " and set(nodes[1:]) == {" " * 8 + "job "}, "a session is one node deep", tree)
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
    with s.connect() as one:  # two in one piece, then one in three
        one.sendall(ORDER + ORDER)
        read_until(one, lambda said: len(re.findall(rb"201 Created[\s\S]+?order \d+\n", said)) == 2, "two orders in one piece")
        for part in ORDER[:10], ORDER[10:-2], ORDER[-2:]:
            time.sleep(0.05)
            one.sendall(part)
        check(b" 201 " in read_answer(one), "an order in three pieces")
    for request, closes in ((b"GET /healthz HTTP/1.0\r\n\r\n", True), (b"GET /healthz HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n", False),
                            (b"\r\nGET /healthz HTTP/1.1\r\nConnection: x, close\r\n\r\n", True), (b"GET /healthz HTTP/1.1\r\n\r\n", False)):
        answer = s.ask(request)
        check(b" 200 " in answer and (b"\nConnection: close" in answer) == closes, f"{request}", repr(answer))
    with s.connect() as one:  # the answer to HEAD has no body, and the next answer follows at once
        one.sendall(b"HEAD /healthz HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\n\r\n")
        said = read_until(one, lambda said: b"there are /orders" in said, "the answer after that to HEAD")
        check(b"\r\n\r\nHTTP/1.1 404 " in said and b"live\n" not in said, "HEAD", repr(said))
    for bad in (b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: -1", b"Content-Length : 5", b"Content-Length: 5\r\n folded"):
        answer = s.ask(ORDER.replace(b"Content-Length: 5", bad))
        check(b" 400 " in answer and b"\nConnection: close" in answer, f"{bad}", repr(answer))
    books, took = s.end_well()
    check(books[:2] == (6, 6), f"the ledger says {books}", s.text())
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
    done_sending = s.connect()  # half-open: the whole request, then nothing more
    done_sending.sendall(ORDER)
    done_sending.shutdown(socket.SHUT_WR)
    answer = read_answer(done_sending)
    check(b" 201 " in answer, "a client that only listens got no answer", repr(answer))
    check(done_sending.recv(1) == b"", "the connection of a client that only listens stays open")
    broken_off = s.connect()  # half a request, then nothing more
    broken_off.sendall(ORDER[:40])
    broken_off.shutdown(socket.SHUT_WR)
    start = time.monotonic()
    answer = read_answer(broken_off)
    check(answer == b"" or b" 400 " in answer, "half a request was answered", repr(answer))
    check(time.monotonic() - start < 4, "half a request was waited for although the client had said that nothing more comes")
    half_open = [s.connect() for _ in range(50)]  # and some that are there when the end comes
    for one in half_open:
        one.sendall(ORDER)
        one.shutdown(socket.SHUT_WR)
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
    for one in half_open:
        check(b" 201 " in read_answer(one), "a client that only listens got no answer before the end")
    for one in silent + half + half_open + [done_sending, broken_off]:
        one.close()


def test_stragglers(program):
    """Who holds up the drain: the report names the job, its line and the address of the client it waits for."""
    s = Service(program, "--rate", "0", "--patience", "60")
    with s.connect() as silent, s.connect() as slow:
        check(b" 200 " in s.get("/healthz"), "/healthz")  # both connections have been accepted by now
        s.signal()
        s.wait_for("phase drain")
        slow.sendall(ORDER[:40])
        for one in silent, slow:
            port = one.getsockname()[1]
            s.wait_for(r"jobs? 'session' \(\S*examples/order_service/intake\.cpp:\d+\), (age|oldest) [^\n]*"
                       rf"waits on readable 'fd \d+ \(127\.0\.0\.1:{port}\)'", 60)
        slow.sendall(ORDER[40:])
        answer = read_answer(slow)
        check(b" 201 " in answer and b"Connection: close" in answer, "the request under way", repr(answer))
        silent.close()
        slow.close()
        s.has_ended_well(60)


def knock(s):
    """A connection to a service that is shutting down: refused, or answered with the request to go."""
    try:
        answer = s.get("/readyz", "keep-alive")
    except ConnectionRefusedError:
        return "refused"
    check(b"\nConnection: close" in answer, "a connection during the drain was neither refused nor told to close", repr(answer))
    return "told to close"


def test_full_house(program):
    """As many clients as the service takes, and all of them go on asking: the door closes nevertheless, so they are told to go."""
    s = Service(program, "--rate", "0", "--clients", "20")
    clients = [s.connect() for _ in range(20)]
    last = [b""] * len(clients)

    def ask_on_and_on(i):
        more = True
        while more:
            clients[i].sendall(ORDER)
            last[i] = read_answer(clients[i])
            more = last[i] and b"Connection: close" not in last[i]

    threads = [threading.Thread(target=ask_on_and_on, args=(i,), daemon=True) for i in range(len(clients))]
    for one in threads:
        one.start()
    while s.process.poll() is None and not all(last):
        time.sleep(0.02)
    with s.connect() as beyond:  # in the kernel's queue: it is not accepted
        beyond.sendall(ORDER)
        time.sleep(0.5)
        books, took = s.end_well(60)
    for one in threads:
        one.join(60)
    check(all(b"Connection: close" in answer for answer in last), "a client was not told to go", repr(last))
    print(f"drained in {took:.1f} s, {books}")


def test_stop_intake(program):
    """Who comes when the drain has begun."""
    s = Service(program, "--rate", "0")
    with s.connect() as under_way:  # holds the drain up until it is sent whole
        under_way.sendall(ORDER[:-1])
        for _ in range(3):  # taken in, and with the connections that ask for this it had its turns to be read
            while s.metric("demo_connections") < 2:
                time.sleep(0.02)
        time.sleep(0.3)
        s.signal()
        s.wait_for("phase drain")
        how = knock(s)
        check(s.process.poll() is None, "the service was over before a client came", s.text())
        under_way.sendall(ORDER[-1:])
        answer = read_answer(under_way)
        check(b" 201 " in answer and b"Connection: close" in answer, "the request under way", repr(answer))
        status, took = s.end(60)
    check(status == 0, f"exit status {status}", s.text())
    print(f"{how}; drained in {took:.1f} s, {s.books()}")


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


def count_in(report, pattern):
    found = re.search(pattern, report)
    return int(found.group(1)) if found else 0


def test_sigterm_under_load(program):
    """10 000 requests are in flight when the signal comes, or as many as the limit of open files allows."""
    connections = need_wrk()
    wanted = min(10_000, connections - 700)
    # A client that is refused tries again at once and for ever, so the drain has to share the machine with it; and a client that
    # does not get the processor for a while is not one that has nothing to ask.
    s = Service(program, "--rate", "0", "--patience", "60", total="300s")
    with tempfile.TemporaryDirectory() as folder:
        wrk = start_wrk(s, connections, 500, folder)
        now, end = 0, time.monotonic() + 60
        while now < wanted + 500 and time.monotonic() < end:
            time.sleep(0.1)
            now = max(map(int, re.findall(r"in flight (\d+)", s.text())[-1:]), default=0)  # the status line, once per second
        s.signal()
        s.wait_for("phase drain", 60)
        how = knock(s)
        check(s.process.poll() is None, "the service was over before a client came", s.text())
        books, took = s.has_ended_well(330)
        time.sleep(1)  # for wrk to read what is in its sockets
        wrk.send_signal(signal.SIGINT)
        report = wrk.communicate(timeout=120)[0]
    requests, answered, unanswered, _, bad, refused, late, failed = map(int, INTAKE.search(s.text()).groups())
    clients, in_flight = map(int, re.search(r"demo: (\d+) clients are connected, (\d+) requests are in flight", s.text()).groups())
    print(report)
    print(f"{clients} connections, {in_flight} requests in flight at the signal; {requests} requests, {unanswered} unanswered; "
          f"a client that came later was {how}; drained in {took:.1f} s; {books}")
    check(in_flight >= wanted, f"only {in_flight} requests were in flight, not {wanted}", s.text())
    check(requests > 0 and unanswered == 0 and requests == answered, "a request was not answered", s.text())
    # Of wrk's four kinds of errors `read` (an answer that breaks off) and `timeout` (none within 30 s) are ours. Its `connect` are
    # sockets it could not make. Its `write` are refused connections: it does not look at how a connect ended, and writes.
    errors = r"Socket errors: connect \d+, read (\d+), write \d+, timeout (\d+)"
    broken, waiting = map(int, (re.search(errors, report) or re.match("(0)(0)", "00")).groups())
    check(broken == 0, f"wrk saw {broken} broken responses", report + s.text())
    check(waiting == 0, f"wrk waited in vain for {waiting} responses", report + s.text())
    # What is answered with anything but 201 is answered so on purpose, and counted: orders that found the queue full for two seconds
    # (503), that were still in it after ten (504; they are stored later, the ledger says so), and that the flaky worker spoilt (500).
    # `bad` are requests that could not be read (4xx). wrk has to have seen exactly these, and every answer altogether.
    others = count_in(report, r"Non-2xx or 3xx responses: (\d+)")
    seen = count_in(report, r"(\d+) requests in ")
    print(f"wrk saw {seen} of {requests} responses, {others} of them not 201: {bad} bad, {refused} refused, {late} late, {failed} failed")
    check(others == bad + refused + late + failed, "wrk saw other refusals than the service made", report + s.text())
    ours = 0 if how == "refused" else 1
    check(seen == requests - ours + bad, f"wrk saw {seen} responses, the service sent {requests - ours + bad}", report + s.text())
    check(books[0] == requests - ours, "an order is not in the ledger", s.text())


def test_killed_load(program):
    connections = min(1000, need_wrk())
    s = Service(program, "--rate", "0")
    with tempfile.TemporaryDirectory() as folder:
        wrk = start_wrk(s, connections, 30, folder)
        end = time.monotonic() + 15
        while s.metric('roost_ledger_total{service="demo",outcome="completed"}') < 500 and time.monotonic() < end:
            time.sleep(0.1)
        wrk.kill()
        wrk.wait()
    end = time.monotonic() + 20
    while s.metric("demo_connections") > 1 and time.monotonic() < end:
        time.sleep(0.1)
    check(s.metric("demo_connections") == 1, "connections of the dead client are still open", s.text())
    check(s.metric('roost_ledger_open{service="demo"}') == 0, "orders of the dead client are still open", s.text())
    check(b" 201 " in s.ask(ORDER), "an order after that")
    books, took = s.end_well()
    print(f"drained in {took:.1f} s; {books}")


def test_wedged(program):
    s = Service(program, "--wedge", "--rate", "50", "--seconds", "60")
    time.sleep(1)
    check(b" 200 " in s.get("/readyz"), "/readyz beside a wedged worker")
    s.signal()
    s.wait_for(r"'wedged' \(\S*examples/order_service/main\.cpp:\d+")
    s.signal()
    s.wait_for("phase cancel")
    status, took = s.end(20)
    check(status == -signal.SIGTERM, f"exit status {status}, not by the signal", s.text())
    check(took < 16, f"it took {took:.1f} s to die", s.text())
    s.books()
    print(f"died {took:.1f} s after the second signal")


def usual_signals():
    """As at a terminal: a shell's background jobs, and so this test, may ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_checkout(_program):
    """The script ./demo from a copy of the sources whose path has a space: set-up, build, program, Ctrl-C."""
    root = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        there = folder + "/my copy"
        shutil.copytree(root, there, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"), symlinks=True)
        environment = dict(os.environ, CCACHE_BASEDIR=there, CCACHE_NOHASHDIR="1")
        if shutil.which("ccache"):
            environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        if os.geteuid() == 0:
            refuses(there + "/demo", "can't be written", "--script", user=65534, group=65534, cwd="/")
        start = time.monotonic()
        done = subprocess.run([there + "/demo", "--script"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1500,
                              check=False, cwd="/", env=environment)
        first = time.monotonic() - start
        check(done.returncode == 0, f"./demo --script: exit status {done.returncode}", done.stdout)
        ledger = LEDGER.match(done.stdout.splitlines()[-1])
        check(ledger and ledger.group(6) == "0" and int(ledger.group(2)) > 0, "the last line is no ledger", done.stdout)
        # The script looks for packages, configures and builds before it starts the program.
        s = Service(there + "/demo", "--rate", "50", starts_within=1500, preexec_fn=usual_signals, start_new_session=True,
                    env=environment)
        at_work = os.readlink(f"/proc/{s.process.pid}/exe")
        check(at_work.endswith("/order_service"), f"the script did not give its place to the program but stays: {at_work}", s.text())
        s.wait_for("in flight")
        os.killpg(s.process.pid, signal.SIGINT)  # what a terminal does
        books, took = s.has_ended_well(30)
        check("SIGINT" in s.text() and books[0] > 0, "Ctrl-C", s.text())
    print(f"./demo --script took {first:.0f} s with its build; Ctrl-C ended it in {took:.1f} s, {books}")


def main():
    program, name = sys.argv[1], sys.argv[2]
    globals()["test_" + name](program)
    print(f"{name}: ok")


if __name__ == "__main__":
    main()
