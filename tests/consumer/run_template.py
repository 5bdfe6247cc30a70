#!/usr/bin/env python3
"""Starts the template's service, asks it how it is, stops it as an orchestrator would, and reads its last line."""

import os
import re
import signal
import socket
import subprocess
import sys

LIMIT = 120  # seconds until it counts as hung


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, path):
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as link:
        link.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        reply = b""
        while chunk := link.recv(4096):
            reply += chunk
    return reply.decode()


def main():
    port = free_port()
    environment = dict(os.environ, SHOP_ADMIN=str(port), ROOST_SHUTDOWN_LAME_DUCK="5s", ROOST_SHUTDOWN_TOTAL="100s")
    shop = subprocess.Popen([sys.argv[1]], stderr=subprocess.PIPE, text=True, env=environment)
    said = []

    def wait_for(text):
        for line in shop.stderr:
            said.append(line)
            if text in line:
                return
        sys.exit("it ended before it said '" + text + "':\n" + "".join(said))

    wait_for("'shop' is ready")
    silent = socket.create_connection(("127.0.0.1", port), timeout=LIMIT)  # holds up neither the others nor the end
    answers = {path: ask(port, path) for path in ("/readyz", "/livez", "/nonsense")}
    dropped = silent.recv(1)
    answers["/metrics"] = ask(port, "/metrics")
    shop.send_signal(signal.SIGTERM)
    wait_for("phase lame duck")
    answers["/readyz, stopping"] = ask(port, "/readyz")
    answers["/livez, stopping"] = ask(port, "/livez")
    said += shop.stderr.read().splitlines(keepends=True)
    code = shop.wait(LIMIT)
    wanted = {"/readyz": "200", "/livez": "200", "/nonsense": "404", "/readyz, stopping": "503", "/livez, stopping": "200",
              "/metrics": "200"}
    problems = [f"{path}: {answers[path]}" for path, status in wanted.items() if status not in answers[path].split("\r\n", 1)[0]]
    if not re.search(r"^shop_parcels_total [1-9]", answers["/metrics"], re.MULTILINE):
        problems.append("no parcel in /metrics: " + answers["/metrics"])
    if dropped != b"":
        problems.append(f"a client that said nothing was sent {dropped!r}")
    ledger = re.fullmatch(r"ledger: accepted=(\d+) completed=(\d+) failed=0 cancelled=0 abandoned=0 lost=0\n", said[-1])
    if code != 0 or not ledger or ledger.group(1) != ledger.group(2) or ledger.group(1) == "0":
        problems.append(f"exit code {code}, last line {said[-1]!r}")
    if problems:
        sys.exit("\n".join(problems) + "\n" + "".join(said))
    print(said[-1].strip())


main()
