"""The order service as a process: start it, talk to it, read what it says."""

import atexit
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

LEDGER = re.compile(r"^ledger: accepted=(\d+) completed=(\d+) failed=(\d+) cancelled=(\d+) abandoned=(\d+) lost=(\d+)$")
INTAKE = re.compile(r"^intake: requests=(\d+) answered=(\d+) unanswered=(\d+) connections=(-?\d+) "
                    r"bad=(\d+) refused=(\d+) late=(\d+) failed=(\d+)$", re.M)
ORDER = b"POST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\ntea 3"


def check(fact, sentence, text=""):
    if not fact:
        print(text[-6000:])
        sys.exit(f"FAILED: {sentence}")


class Service:
    """The running program, its output, and its port."""

    def __init__(self, program, *flags, total=None, env=None, starts_within=120, **how):
        environment = dict(env or os.environ, **({"ROOST_SHUTDOWN_TOTAL": total} if total else {}))
        self.process = subprocess.Popen([program, "--port", "0", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=environment, **how)
        atexit.register(self.process.kill)  # a test that fails leaves nothing behind
        self.lines, self.times = [], []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.port = int(self.wait_for(r"demo: http://127\.0\.0\.1:(\d+)", starts_within).group(1))
        self.wait_for("is ready")

    def read(self):
        for line in iter(self.process.stdout.readline, ""):
            self.times.append(time.monotonic())
            self.lines.append(line)

    def text(self):
        return "".join(self.lines)

    def time_of(self, pattern):
        """When the first line that matches came."""
        return next((at for at, line in zip(self.times, self.lines) if re.search(pattern, line)), None)

    def wait_for(self, pattern, seconds=120):
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
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, request):
        with self.connect() as s:
            s.sendall(request)
            return read_answer(s)

    def get(self, path, connection="close"):
        return self.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: {connection}\r\n\r\n".encode())

    def metric(self, name):
        return float(re.search(rf"^{re.escape(name)} (\S+)$", self.get("/metrics").decode(), re.M).group(1))

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
        return self.has_ended_well(seconds)

    def has_ended_well(self, seconds):
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


def read_until(s, is_enough, sentence):
    data = b""
    while not is_enough(data):
        more = s.recv(65536)
        check(more, f"{sentence}: the connection ended", repr(data))
        data += more
    return data


def run(program, *flags, **how):
    done = subprocess.run([program, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200, check=False, **how)
    return done.returncode, done.stdout, done.stderr


def refuses(program, sentence, *flags, **how):
    status, out, err = run(program, *flags, **how)
    check(status == 2, f"{flags}: exit status {status}, not 2", out + err)
    check(out == "" and len(err.strip().splitlines()) == 1, f"{flags}: not exactly one line", out + err)
    check(re.search(sentence, err), f"{flags}: the line does not say '{sentence}'", err)
