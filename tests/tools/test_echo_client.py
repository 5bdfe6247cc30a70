"""The client of the rows io/echo_*: it measures an echo, and ends with a sentence when a server does anything else."""

import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Server:
    """A thread per connection; `answer(connection, bytes, number of this read)` returns False when it is done."""

    def __init__(self, answer):
        self.answer = answer
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.door.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        count = 0
        with peer:
            try:
                while (data := peer.recv(4096)):
                    count += 1
                    if self.answer(peer, data, count) is False:
                        return
            except OSError:
                return


@unittest.skipUnless(shutil.which("c++"), "needs a compiler")
class EchoClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="roost bench ")
        cls.addClassCleanup(folder.cleanup)
        cls.client = pathlib.Path(folder.name) / "client"
        subprocess.run(["c++", "-std=c++20", "-pthread", str(ROOT / "benchmarks" / "io" / "echo_client.cpp"), "-o", str(cls.client)], check=True)

    def run_with(self, answer, *more):
        server = Server(answer)
        self.addCleanup(server.door.close)
        return self.run_client("--port", str(server.port), *more)

    def run_client(self, *args):
        done = subprocess.run([str(self.client), "--connections", "3", "--warmup-ms", "20", "--ms", "50", "--patience-ms", "300", *args],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def assert_ends_with(self, sentence, answer, *more):
        status, said, problem = self.run_with(answer, *more)
        self.assertEqual((status, said), (1, ""))
        self.assertIn(sentence, problem)

    def test_an_echo_is_measured(self):
        status, said, problem = self.run_with(lambda peer, data, _: peer.sendall(data))
        self.assertEqual((status, problem), (0, ""))
        figures = dict(line.split() for line in said.splitlines())
        self.assertEqual(list(figures), ["requests", "seconds", "requests_per_second", "p50_us", "p99_us", "max_us"])
        self.assertGreater(float(figures["requests"]), 0)
        self.assertLessEqual(float(figures["p50_us"]), float(figures["p99_us"]))
        self.assertLessEqual(float(figures["p99_us"]), float(figures["max_us"]))

    def test_the_cpu_time_of_a_process_is_measured(self):
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
            try:
                _, said, _ = self.run_with(lambda peer, data, _: peer.sendall(data), "--pid", str(busy.pid))
            finally:
                busy.kill()
        figures = dict(line.split() for line in said.splitlines())
        used = float(figures["cpu_us_per_request"]) * float(figures["requests"])
        self.assertGreater(used, 0)
        self.assertLess(used, float(figures["seconds"]) * 3e6)

    def test_answers_in_pieces_and_messages_in_flight(self):
        def in_pieces(peer, data, _):
            for i in range(0, len(data), 7):
                peer.sendall(data[i:i + 7])
        self.assertEqual(self.run_with(in_pieces, "--depth", "4")[0], 0)

    def test_a_server_that_never_answers(self):
        self.assert_ends_with("no answer for 300 ms on 3 of 3 connections, after 0 answers", lambda *_: None)

    def test_a_server_that_stops_answering(self):
        self.assert_ends_with("no answer for 300 ms", lambda peer, data, count: peer.sendall(data) if count < 5 else None)

    def test_one_connection_that_is_forgotten(self):
        forgotten = []
        def forgets(peer, data, _):
            if not forgotten:
                forgotten.append(peer)
            return peer.sendall(data) if peer is not forgotten[0] else None
        self.assert_ends_with("no answer for 300 ms on 1 of 3 connections", forgets)

    def test_a_server_that_closes(self):
        self.assert_ends_with("closed a connection", lambda peer, data, count: peer.sendall(data) if count < 5 else False)

    def test_other_bytes(self):
        self.assert_ends_with("other bytes", lambda peer, data, _: peer.sendall(b"?" + data[1:]))

    def test_more_bytes_than_were_sent(self):
        self.assert_ends_with("other bytes", lambda peer, data, _: peer.sendall(data + data))

    def test_no_server(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        self.assertEqual(self.run_client("--port", str(port))[2], f"echo_client: cannot connect to port {port}: Connection refused\n")

    def test_a_process_that_is_gone(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.assertIn("has no CPU clock", self.run_with(lambda peer, data, _: peer.sendall(data), "--pid", str(ended.pid))[2])


if __name__ == "__main__":
    unittest.main()
