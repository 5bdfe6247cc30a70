#!/usr/bin/env python3
"""Tries the key-value server as its clients do: server_test.py PROGRAM TEST. Exit 77: something is missing."""

import pathlib
import re
import selectors
import shutil
import socket
import subprocess
import sys
import time

from kv_server import HANG, Server, allow_many_connections, check, request

ALL_BYTES = bytes(range(256))


# --- the protocol ---------------------------------------------------------------------------------------------------------------

def single_bytes(server):
    one = server.client()
    for byte in request("SET", "k", ALL_BYTES) + request("GET", "k"):
        one.send(bytes([byte]))
    check(one.reply() == b"+OK" and one.reply() == ALL_BYTES, "requests in single bytes")


def long_pipeline(server):
    one = server.client()
    one.send_aside(request("INCR", "long") * 10_000)
    check([one.reply() for _ in range(10_000)] == list(range(1, 10_001)), "10 000 commands in one write")


def binary_keys(server):
    one = server.client()
    keys = [ALL_BYTES, b"", b"\r\n", b"\0", b"*1\r\n$4\r\nPING\r\n"]
    for number, key in enumerate(keys):
        check(one.ask("SET", key, key + b"%d" % number) == b"+OK", "SET with a binary key")
    check(one.ask("MGET", *keys) == [key + b"%d" % n for n, key in enumerate(keys)], "binary keys are kept apart")


def inline_commands(server):
    one = server.client()
    one.send(b"PING\r\nSET inline  1\n\r\nINCR inline\r\nGET inline\r\n")
    check([one.reply() for _ in range(4)] == [b"+PONG", b"+OK", 2, b"2"], "inline commands")


def refused_length(server):
    """The client has sent more when it is refused. It reads the reason and then the end, no reset."""
    one = server.client()
    one.send(request("INCR", "before") + b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n" + bytes(100_000))
    check(one.read_to_end() == b":1\r\n-ERR Protocol error: invalid bulk length\r\n", "a length of 512 MB is refused")
    check(server.client().ask("GET", "before") == b"1", "the command before the fault was executed")


def large_replies(server):
    """320 MB of replies to one write, to a client that reads all of them."""
    one = server.client()
    one.ask("SET", "large", bytes(64_000))
    before = server.status("VmHWM")
    one.send_aside(request("GET", "large") * 5_000)
    for _ in range(5_000):
        check(len(one.reply()) == 64_000, "a large reply")
    grown = server.status("VmHWM") - before
    check(grown < 16_000, f"the replies of a pipeline took {grown} KB of memory")


def large_values(server):
    """Long requests and long replies leave no memory behind."""
    before = server.status("VmRSS")
    one = server.client()
    for _ in range(5):
        check(one.ask("SET", "large", bytes(20_000_000)) == b"+OK" and len(one.ask("GET", "large")) == 20_000_000, "20 MB")
    check(one.ask("DEL", "large") == 1, "DEL")
    grown = server.status("VmRSS") - before
    check(grown < 10_000, f"{grown} KB are left of large values")


def test_protocol(program):
    # Memory of at least 1 MB goes back to the system when it is freed, so that it can be measured.
    with Server(program, MALLOC_MMAP_THRESHOLD_="1000000", MALLOC_TRIM_THRESHOLD_="1000000") as server:
        for part in (single_bytes, long_pipeline, binary_keys, inline_commands, refused_length, large_replies, large_values):
            part(server)
        check(server.get("/readyz")[0] == 200 and server.get("/livez")[0] == 200, "probes")
        check(server.metric("kv_keys") == 9, "the metrics count keys")
        server.stop()
        server.wait()


# --- limits ---------------------------------------------------------------------------------------------------------------------

def most_connections(server):
    three = [server.client() for _ in range(3)]
    check([one.ask("PING") for one in three] == [b"+PONG"] * 3, "three connections")
    check(server.client().read_to_end() == b"-ERR max number of clients reached\r\n", "a fourth connection")
    three.pop().socket.close()
    server.wait_until(lambda: server.metric("kv_connections") == 2, "a connection that ended still counts")
    check(server.client().ask("PING") == b"+PONG", "a connection after one has ended")


def silent_clients(server):
    idle = server.client()
    half = server.client()
    half.send(request("SET", "half", "x")[:-3])
    check(idle.read_to_end() == b"" and half.read_to_end() == b"", "an idle connection ends")
    check(server.client().ask("GET", "half") is None, "half a request is not executed")


def client_that_never_reads(server):
    one = server.client()
    one.ask("SET", "large", bytes(1_000_000))
    one.send(request("GET", "large") * 100)
    server.wait_until(lambda: server.metric("kv_connections") == 0, "a client that never reads holds its connection")


def resets(server):
    before = server.descriptors()
    for i in range(50):
        one = server.client()
        one.send(request("GET", "large") * (i % 3) + request("SET", "k", "v")[:i % 30])
        one.reset()
    server.wait_until(lambda: server.metric("kv_connections") == 0, "a connection that was reset still counts")
    server.wait_until(lambda: server.descriptors() <= before, "a connection that was reset keeps its descriptor")


def test_limits(program):
    with Server(program, "--max-connections", "3", "--idle-seconds", "1") as server:
        for part in (most_connections, silent_clients, client_that_never_reads, resets):
            part(server)
            server.wait_until(lambda: server.metric("kv_connections") == 0, "connections are left")
        check("failed" not in server.text(), "no job fails", server.text())
        server.stop()
        server.wait()


# --- the end --------------------------------------------------------------------------------------------------------------------

class Load:
    """Connections that never pause: two pipelined batches of INCR, of a counter of their own and of one that all share."""

    def __init__(self, server, count):
        self.server = server
        self.poll = selectors.DefaultSelector()
        self.own = {}
        self.total = []
        for number in range(count):
            one = server.client()
            batch = (request("INCR", f"own {number}") + request("INCR", "total")) * 4
            one.send(batch * 2)
            one.socket.setblocking(False)
            self.own[number] = 0
            self.poll.register(one.socket, selectors.EVENT_READ, [number, batch, b"", 0])

    def run_for(self, seconds):
        """Until all connections have ended, if seconds is None."""
        end = time.monotonic() + (HANG if seconds is None else seconds)
        while self.poll.get_map() and time.monotonic() < end:
            for key, _ in self.poll.select(0.1):
                self.read(key.fileobj, key.data)
        check(seconds is not None or not self.poll.get_map(), "connections do not end", self.server.text())

    def read(self, one, state):
        number, batch, rest, count = state
        data = one.recv(1 << 16)
        *replies, state[2] = (rest + data).split(b"\r\n")
        for reply in replies:
            check(reply[:1] == b":", f"the reply {reply}")
            if count % 2 == 0:
                self.own[number] += 1
                check(int(reply[1:]) == self.own[number], f"connection {number} misses an INCR of its own, or has one twice")
            else:
                self.total.append(int(reply[1:]))
            count += 1
        if not data:
            check(state[2] == b"", "the connection ended inside a reply")
            self.poll.unregister(one)
            one.close()
        elif count // 8 > state[3] // 8:
            try:
                one.send(batch * (count // 8 - state[3] // 8))
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server has ended; what it sent comes first
        state[3] = count


def drain(program, count):
    """Every command that was executed is acknowledged, and counted once."""
    if allow_many_connections() < count + 100:
        print(f"the system does not allow {count} connections")
        sys.exit(77)
    with Server(program, "--max-connections", str(count + 1)) as server:
        idle = server.client()
        load = Load(server, count)
        end = time.monotonic() + HANG
        while min(load.own.values()) == 0:  # a connection that is not accepted yet would be refused
            check(time.monotonic() < end, "a connection has no reply", server.text())
            load.run_for(0.1)
        load.run_for(1)
        server.stop()
        load.run_for(None)
        check(idle.read_to_end() == b"", "an idle connection ends")
        accepted, completed, *_ = server.wait()
        check("phase cancel" not in server.text(), "the drain took longer than its budget", server.text())
        acknowledged = sum(load.own.values()) + len(load.total)
        print(f"{count} connections, {acknowledged} commands acknowledged")
        check(sorted(load.total) == list(range(1, len(load.total) + 1)), "an INCR of the shared counter is missing, or there twice")
        check(accepted == completed == acknowledged, f"{acknowledged} commands were acknowledged, {completed} executed", server.text())


def test_drain(program):
    drain(program, 200)


def test_drain_5000(program):
    drain(program, 5000)


def test_slow_reader(program):
    """The stop comes while replies wait for the client and requests in the kernel. What has been read is answered."""
    with Server(program) as server:
        one = server.client()
        one.ask("SET", "k", bytes(1000))
        one.send_aside(request("GET", "k") * 1_000_000)
        server.wait_until(lambda: server.metric("kv_commands_total") > 1000, "nothing is executed")
        server.stop()
        server.wait_for("phase drain")
        time.sleep(0.5)  # it waits for the client by then
        replies = 1
        while (line := one.line_or_end()):
            check(line == b"$1000" and one.take(1002)[:-2] == bytes(1000), "a reply")
            replies += 1
        accepted, completed, *_ = server.wait()
        check(accepted == completed == replies, f"{replies} replies to {completed} commands", server.text())


def test_straggler(program):
    """A client that does not take its replies holds up the end. The report names it; the others end before."""
    with Server(program, ROOST_SHUTDOWN_TOTAL="20s", ROOST_SHUTDOWN_DRAIN="3s", ROOST_SHUTDOWN_CANCEL="200ms") as server:
        idle, slow = server.client(), server.client()
        slow.ask("SET", "large", bytes(1_000_000))
        slow.send(request("GET", "large") * 100)
        check(idle.ask("INCR", "n") == 1, "a command beside the straggler")
        server.stop()
        check(idle.read_to_end() == b"", "an idle connection ends")
        check(server.process.poll() is None, "before the straggler")
        check(server.get("/readyz")[0] == 503 and server.get("/livez")[0] == 200, "it is live, and not ready", server.text())
        with socket.socket() as late:
            check(late.connect_ex(("127.0.0.1", server.port)) != 0, "no connection is accepted during the drain")
        server.wait(124)
        line = rf"1 job 'connection' \(\S*examples/kv/server\.cpp:\d+\), age .*, waits on writable 'fd \d+ \(127\.0\.0\.1:{slow.port}\)'"
        check(re.search(line, server.text()), "no report names the straggler", server.text())


# --- many ------------------------------------------------------------------------------------------------------------------------

def activity(server):
    """Context switches by thread, and processor time."""
    switches = {}
    for thread in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
        text = (thread / "status").read_text(encoding="ascii")
        switches[thread.name] = [int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", text)]
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return switches, int(fields[11]) + int(fields[12])


def test_idle_10000(program):
    """Connections that wait cost little memory, and no time."""
    count = 10_000
    if allow_many_connections() < count + 100:
        print(f"the system does not allow {count} connections")
        sys.exit(77)
    with Server(program, "--max-connections", str(count + 100)) as server:
        for _ in range(10):
            check(server.client().ask("PING") == b"+PONG", "PING")
        before = server.status("VmRSS")
        idle = [server.client() for _ in range(count)]
        check(all(one.ask("PING") == b"+PONG" for one in idle), "PING")
        each = (server.status("VmRSS") - before) * 1024 / count
        print(f"{each:.0f} bytes for each connection")
        check(each < 4096, f"an idle connection takes {each:.0f} bytes")
        # The service host has a heartbeat every 2.5 s, and the store is swept every 10 s. Between them there is nothing.
        for _ in range(5):
            last = activity(server)
            server.wait_until(lambda: activity(server) != last, "there is no heartbeat")
            time.sleep(0.3)
            last = activity(server)
            time.sleep(2)
            if activity(server) == last:
                break
        else:
            check(False, "the server never sleeps for two seconds")
        start = time.monotonic()
        server.stop()
        check(all(one.read_to_end() == b"" for one in idle), "each connection ends")
        server.wait()
        print(f"drained in {time.monotonic() - start:.2f} s")


def test_redis_tools(program):
    if not shutil.which("redis-benchmark") or not shutil.which("redis-cli"):
        print("redis-cli and redis-benchmark are missing (Debian package redis-tools)")
        sys.exit(77)
    with Server(program) as server:
        def run(*command, data=None):
            done = subprocess.run([command[0], "-p", str(server.port), *command[1:]], capture_output=True, text=True, input=data,
                                  timeout=HANG, check=False)
            check(done.returncode == 0, f"{command} ended with {done.returncode}", done.stdout + done.stderr)
            return done.stdout

        check(run("redis-cli", "SET", "a key", "a value", "EX", "100") == "OK\n", "redis-cli SET")
        check(run("redis-cli", "GET", "a key") == "a value\n", "redis-cli GET")
        check(run("redis-cli", "TTL", "a key") == "100\n", "redis-cli TTL")
        check(run("redis-cli", "-r", "3", "INCR", "n") == "1\n2\n3\n", "redis-cli INCR")
        check(run("redis-cli", data="MGET n none\nDEL n\nGET n\n") == "3\n\n1\n\n", "redis-cli with a script")
        check("db0:keys=1\n" in run("redis-cli", "INFO").replace("\r", ""), "redis-cli INFO")
        check("errors: 0, replies: 1000" in run("redis-cli", "--pipe", data="SET piped 1\r\n" * 1000), "redis-cli --pipe")
        for pipeline in ("1", "16"):
            text = run("redis-benchmark", "-t", "ping,set,get,incr", "-n", "20000", "-c", "50", "-P", pipeline, "-r", "1000", "--csv")
            tests = re.findall(r'^"(\w+)","[\d.]+"', text, re.M)
            check(tests == ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR"], "redis-benchmark", text)
        server.stop()
        server.wait()


if __name__ == "__main__":
    globals()[f"test_{sys.argv[2]}"](sys.argv[1])
