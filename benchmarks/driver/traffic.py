"""Rows of a server and a client (io/*): starts the server, lets the client drive it, ends it. Everything has a limit. Which
programs these are is data: `[[server]]` and `client` in cases.toml; a client that is named there is a function in CLIENTS."""
import contextlib
import csv
import os
import random
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time

from .build import BIN

TIMES = 10            # a measurement takes so many times as long as one of nanoseconds
START_LIMIT = 10      # seconds until a server has to listen
TIED = ["setpriv", "--pdeathsig", "KILL"]   # the kernel ends it with this program, whatever ends that
FIGURES = ("", "_rps", "_p99")   # CPU time of the server per request, requests per second, 99th percentile of the latency
KEYS = 100_000        # of the key-value rows


class Failed(Exception):
    """One measurement did not succeed; the text says why."""


def program_of(out, server):
    """Its path, or None: one of ours lies in the folder of the subjects, another one is in the PATH."""
    built = out / BIN / server.program
    return str(built) if built.exists() else shutil.which(server.program)


def free_port():
    """Below the ports that the kernel hands out for outgoing connections."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.closing(socket.socket()) as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port


def cpu_seconds(pid):
    """CPU time of all threads of a process, those that have ended included; its clock as clock_getcpuclockid(3) numbers it."""
    return time.clock_gettime(~pid << 3 | 2)


def wait_until_it_listens(process, port, said):
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Failed(f"the server ended at once: {last_line(said)}")
        with contextlib.closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise Failed(f"the server does not listen after {START_LIMIT} s")


def last_line(said):
    said.seek(0)
    lines = said.read().decode(errors="replace").split("\n")
    return next((line.strip()[:160] for line in reversed(lines) if line.strip()), "it said nothing")


@contextlib.contextmanager
def running(program, server, case, pin):
    """The server's process and port."""
    port = free_port()
    args = server.args + (" " + server.deadline_args if case.deadline else "")
    command = [*TIED, *pin, program, *shlex.split(args.format(port=port, workers=case.threads))]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory(prefix="roost bench ") as folder:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=folder)
        try:
            wait_until_it_listens(process, port, said)
            yield process, port
        except Failed as failure:
            ended = process.poll()
            if ended is not None and "the server ended" not in str(failure):
                raise Failed(f"{failure}; the server has ended with {ended}: {last_line(said)}") from failure
            raise
        finally:
            process.kill()
            process.wait(START_LIMIT)


def run(command, limit):
    try:
        done = subprocess.run([*TIED, *command], capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Failed("the client did not finish") from None
    except OSError as error:
        raise Failed(f"the client does not start: {error}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).split("\n")[-1]
        raise Failed(f"the client ended with {done.returncode}: {said}")
    return done.stdout


def echo(out, case, args, process, port, pin, ms):
    """benchmarks/io/echo_client.cpp, with as many threads as the server."""
    command = [*pin, str(out / BIN / "client__io__echo"), "--port", str(port), "--pid", str(process.pid), "--threads", str(case.threads),
               "--warmup-ms", str(ms // 3), "--ms", str(ms), *args]
    said = dict(line.split() for line in run(command, ms / 1000 + 60).splitlines())
    return figures(float(said["cpu_us_per_request"]), float(said["requests_per_second"]), float(said["p99_us"]))


def redis_benchmark(_, case, args, process, port, pin, ms):
    """Fills the keys, measures shortly how many requests it can do, then does so many."""
    def ask(more, requests):
        if process.poll() is not None:
            raise Failed("the server is gone")
        command = [*pin, "redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-r", str(KEYS), "-n", str(requests), "--csv", *more]
        rows = list(csv.DictReader(line for line in run(command, ms / 1000 * 3 + 20).splitlines() if line.startswith('"')))
        if not rows:
            raise Failed("redis-benchmark printed no figures")
        return float(rows[-1]["rps"]), float(rows[-1]["p99_latency_ms"]) * 1000

    ask(["-t", "set", "-P", "16"], 2 * KEYS)
    rate, _ = ask(args, 20_000)
    requests = max(20_000, int(rate * ms / 1000))
    before = cpu_seconds(process.pid)
    rate, p99 = ask(args, requests)
    return figures((cpu_seconds(process.pid) - before) * 1e6 / requests, rate, p99)


CLIENTS = {"echo": echo, "redis-benchmark": redis_benchmark}


def figures(cpu_us, per_second, p99_us):
    return dict(zip(FIGURES, (cpu_us, per_second, p99_us)))


def run_one(out, subject, case, ms, pin):
    """({figure: value}, "") or (None, problem). Server and client share the CPUs: what one needs less, the other has more."""
    name, *args = shlex.split(case.client)
    try:
        with running(subject.program, subject.server, case, pin) as (process, port):
            return CLIENTS[name](out, case, args, process, port, pin, TIMES * ms), ""
    except Failed as failure:
        return None, str(failure)
    except OSError as error:
        return None, f"the server cannot be measured: {error}"


def subjects(out, servers, table, is_wanted, absent, make):
    """`make(server, program, case)` for every case and server that takes part in it and is there."""
    found = []
    for server in servers:
        if server.kind == "peer" and not is_wanted(server.library):
            continue
        cases = [c for c in table.values() if c.client and re.match(server.rows, c.name) and not (c.deadline and not server.deadline_args)]
        program = program_of(out, server)
        if program:
            found += [make(server, program, case) for case in cases]
        elif f"{server.library} (io)" not in absent:
            absent[f"{server.library} (io: {server.name})"] = f"there is no program {server.program}"
    return found
