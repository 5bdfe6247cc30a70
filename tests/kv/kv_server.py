"""The key-value server as a process: start it, talk to it, read what it says."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

HANG = 60  # seconds
LEDGER = re.compile(r"^ledger: accepted=(\d+) completed=(\d+) failed=(\d+) cancelled=(\d+) abandoned=(\d+) lost=(\d+)$", re.M)


def check(fact, sentence, text=""):
    if not fact:
        print(text[-6000:])
        sys.exit(f"FAILED: {sentence}")


def allow_many_connections():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def request(*words):
    """An array of bulk strings, as clients send requests."""
    words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), HANG)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self.socket.getsockname()[1]
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data)

    def send_aside(self, data):
        """While this thread reads. The connection may end meanwhile."""
        def run():
            try:
                self.socket.sendall(data)
            except OSError:
                pass
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def read(self):
        """Some bytes; b"" at the end. A reset is an error."""
        data, self.rest = self.rest or self.socket.recv(1 << 16), b""
        return data

    def read_to_end(self):
        return b"".join(iter(self.read, b""))

    def take(self, size):
        while len(self.rest) < size:
            data = self.socket.recv(1 << 16)
            check(data, "the connection ended inside a reply")
            self.rest += data
        data, self.rest = self.rest[:size], self.rest[size:]
        return data

    def line_or_end(self):
        """b"" at the end between two lines."""
        while b"\r\n" not in self.rest:
            data = self.socket.recv(1 << 16)
            if not data and not self.rest:
                return b""
            check(data, "the connection ended inside a reply")
            self.rest += data
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line

    def line(self):
        line = self.line_or_end()
        check(line, "the connection ended before a reply")
        return line

    def reply(self):
        """Bytes, a number, None, or a list of these. An error and a status keep their first byte."""
        line = self.line()
        if line[:1] == b":":
            return int(line[1:])
        if line[:1] == b"$":
            return None if line == b"$-1" else self.take(int(line[1:]) + 2)[:-2]
        if line[:1] == b"*":
            return [self.reply() for _ in range(int(line[1:]))]
        return line

    def ask(self, *words):
        self.send(request(*words))
        return self.reply()

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()


class Server:
    """The running program, what it prints, and its ports."""

    def __init__(self, program, *flags, **environment):
        self.process = subprocess.Popen([program, "--port", "0", "--admin-port", "0", *flags], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env=dict(os.environ, **environment))
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()
        self.port = int(self.wait_for(r"^port (\d+)$").group(1))
        self.admin_port = int(self.wait_for(r"^admin-port (\d+)$").group(1))
        self.wait_for("is ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def text(self):
        return "".join(self.lines)

    def wait_for(self, pattern):
        end = time.monotonic() + HANG
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(pattern, self.text(), re.M)
            if found:
                return found
            time.sleep(0.01)
        check(False, f"'{pattern}' was never printed", self.text())

    def wait_until(self, fact, sentence):
        end = time.monotonic() + HANG
        while not fact():
            check(time.monotonic() < end, sentence, self.text())
            time.sleep(0.02)

    def client(self):
        return Client(self.port)

    def get(self, path):
        """The status and the body of an admin page."""
        with socket.create_connection(("127.0.0.1", self.admin_port), HANG) as page:
            page.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            text = b"".join(iter(lambda: page.recv(1 << 16), b"")).decode()
        head, body = text.split("\r\n\r\n", 1)
        return int(head.split()[1]), body

    def metric(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.get("/metrics")[1], re.M).group(1))

    def status(self, field):
        """A number of /proc/PID/status."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(rf"^{field}:\s+(\d+)", file.read(), re.M).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, expected=0):
        """Waits for the end, and returns the ledger: accepted, completed, failed, cancelled, abandoned, lost."""
        try:
            status = self.process.wait(HANG)
        except subprocess.TimeoutExpired:
            check(False, "the server does not end", self.text())
        self.reader.join(HANG)
        check(status == expected, f"the server ended with {status}, not {expected}", self.text())
        found = LEDGER.search(self.text())
        check(found and found.group(6) == "0", "the ledger has lost work", self.text())
        return [int(n) for n in found.groups()]
