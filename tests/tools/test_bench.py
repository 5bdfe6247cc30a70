"""The judging half of ./bench: what counts as won, what is dropped, which losses have to be explained."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from driver import build, cases, page, report, run, targets  # noqa: E402


def case(name="sync/x", **more):
    return cases.Case(name=name, title="x", **more)


def planned(c, ours=True, peers=("slow", "fast")):
    subjects = [run.Subject("", c.name, "roost", "ours", "roost")] if ours else []
    return run.Planned(c, subjects + [run.Subject("", c.name, p, "peer", p) for p in peers])


def row_of(values, c=None):
    c = c or case()
    return report.make_row(c, planned(c, peers=[n for n in values if n != "roost"]), values, {})[0]


def full(rows, **more):
    return {"date": "today", "machine": "a machine", "rounds": 7, "ms": 100, "quick": False, "only": None, "peers": None, "seconds": 61,
            "gauge": {"measured": 1, "disturbed": 0, "repeated": 0}, "rows": rows, "pending": [], "floors": {}, "floor_spread": {},
            "spreads": {r["case"]: {} for r in rows}, "absent": {}, "failed": [], "titles": {r["case"]: "x" for r in rows}, **more}


class Rows(unittest.TestCase):
    def test_the_best_peer_and_its_ratio(self):
        row = row_of({"roost": [2.0] * 5, "slow": [8.0] * 5, "fast": [4.0] * 5})
        self.assertEqual((row["best_peer"], row["ratio"], row["noisy"]), ("fast", 2.0, False))
        row = row_of({"roost": [2.0] * 5, "slow": [1.0] * 5, "fast": [4.0] * 5}, case(better="higher"))
        self.assertEqual((row["best_peer"], row["ratio"]), ("fast", 0.5))

    def test_zeros(self):
        self.assertEqual(row_of({"roost": [4.0], "fast": [0.0]})["ratio"], 0.0)
        self.assertEqual(row_of({"roost": [0.0], "fast": [0.0]})["ratio"], 1.0)
        ahead = row_of({"roost": [0.0], "fast": [4.0]})
        self.assertIsNone(ahead["ratio"])
        self.assertEqual(report.standing(ahead), "ahead")

    def test_a_noisy_row_keeps_its_ratio_and_shows_none(self):
        for values in ({"roost": [1, 1, 2, 3, 3], "fast": [4.0] * 5}, {"roost": [2.0] * 5, "fast": [1, 1, 4, 9, 9]}):
            row = row_of(values)
            self.assertEqual((row["ratio"], row["noisy"]), (2.0, True))
            self.assertEqual((report.ratio_text(row), report.standing(row)), ("noisy", "noisy"))
            self.assertIn("| noisy |", report.row_line(row, "x"))

    def test_one_round_has_no_spread(self):
        self.assertEqual(report.spread_text(row_of({"roost": [2.0]})), "-")
        self.assertEqual(report.spread_text(row_of({"roost": [2.0, 2.0]})), "0 %")

    def test_noisy_rows_are_counted_apart(self):
        ahead = row_of({"roost": [2.0] * 5, "fast": [4.0] * 5})
        level = row_of({"roost": [100, 100, 102, 110, 110], "fast": [100.0] * 5})
        behind = row_of({"roost": [4.0] * 5, "fast": [2.0] * 5})
        noisy = row_of({"roost": [1, 1, 2, 3, 3], "fast": [4.0] * 5})
        alone = row_of({"roost": [2.0] * 5})
        self.assertEqual([report.standing(r) for r in (ahead, level, behind, noisy, alone)], ["ahead", "level", "behind", "noisy", ""])
        self.assertEqual(report.tally([ahead, level, behind, noisy, alone]), "2 of 3 rows with a peer ahead or level, 1 more noisy")

    def test_what_grows_is_not_flat(self):
        rows = []
        for size, ours, peer in (("1k", 10.0, 10.0), ("100k", 10.0, 15.0), ("1m", 11.0, 30.0)):
            rows.append(row_of({"roost": [ours] * 5, "fast": [peer] * 5}, case(f"scale/things_{size}")))
        said = "\n".join(report.flatness(full(rows)))
        self.assertIn("| `scale/things` | roost | 10.0 | 10.0 | 11.0 | 1.10 | yes |", said)
        self.assertIn("| `scale/things` | fast | 10.0 | 15.0 | 30.0 | 3.00 | **no** |", said)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost bench ")
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        (self.out / build.BIN).mkdir()
        gauge = self.program(self.out / "gauge", "while read line; do echo 100; done")
        self.gauge = gauge

    def program(self, path, body):
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)
        return path

    def measure(self, rounds=3, ours="echo x 5 1"):
        self.program(self.out / build.BIN / "ours__sync__x", f'[ "$1" = --list ] && printf "sync/x\\troost\\tours\\n" && exit\n{ours}')
        table = {"sync/x": case()}
        plan = run.make_plan(table, run.discover(self.out, None, {}), None)
        with contextlib.redirect_stderr(io.StringIO()):
            measured = run.run_all(plan, rounds, 1, self.out, self.gauge)
        how = {"rounds": rounds, "ms": 1, "quick": False, "only": None, "peers": None}
        return report.make(ROOT, table, plan, measured, {}, **how)

    def test_what_failed_once_is_dropped_with_what_it_measured_before(self):
        result = self.measure(ours=f'echo >> "{self.out}/calls"; [ $(wc -l < "{self.out}/calls") -lt 3 ] || exit 3; echo x 5 1')
        self.assertEqual(result["rounds_measured"], {"sync/x": {"roost": []}})
        self.assertEqual(result["failed"], [{"case": "sync/x", "subject": "roost", "kind": "ours", "problem": "exit code 3"}])
        self.assertEqual(report.broken(result), result["failed"])
        self.assertIn("## Where Roost failed", report.markdown(result))

    def test_whoever_says_nothing_has_failed(self):
        self.assertEqual(self.measure(ours="exit 0")["failed"][0]["problem"], "said nothing that can be read")
        self.assertEqual(self.measure(ours="kill -SEGV $$")["failed"][0]["problem"], "ended by signal 11")

    def test_roost_has_to_answer(self):
        self.program(self.out / build.BIN / "ours__sync__x", "exit 1")
        with self.assertRaisesRegex(SystemExit, "ours__sync__x does not answer"):
            run.discover(self.out, None, {})

    def test_floors_are_measured_whoever_is_wanted(self):
        self.program(self.out / build.BIN / "peer__pool__moodycamel", r'printf "pool/x\tmoodycamel\tpeer\nfloor/q\tq\tfloor\n"')
        self.assertEqual([s.name for s in run.discover(self.out, "std", {})], ["q"])
        self.assertEqual([s.name for s in run.discover(self.out, "moodycamel", {})], ["moodycamel", "q"])

    def test_a_pattern_that_matches_nothing_is_said(self):
        with self.assertRaisesRegex(SystemExit, "no case matches 'zzz'"):
            run.make_plan({"sync/x": case()}, [run.Subject("", "sync/x", "roost", "ours", "roost")], "zzz")

    def test_programs_without_a_source_go(self):
        for name in ("peer__pool__gone", "ours__sync__locking"):
            self.program(self.out / build.BIN / name, "")
        build.build_all(ROOT, self.out, "none", skip=True)
        self.assertEqual([p.name for p in (self.out / build.BIN).iterdir()], ["ours__sync__locking"])


SERVER = """
import os, socket, sys
open(os.environ["SEEN"], "a").write(f"{os.getpid()} {' '.join(sys.argv[1:])}\\n")
door = socket.create_server(("127.0.0.1", int(sys.argv[2])))
while True:
    door.accept()
"""
ECHO = 'echo "cpu_us_per_request 5"; echo "requests_per_second 200"; echo "p99_us 30"'


class Traffic(unittest.TestCase):
    """Rows of a server and a client; both are stand-ins here."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost bench ")
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        (self.out / build.BIN).mkdir()
        self.seen = self.out / "seen"
        os.environ["SEEN"] = str(self.seen)
        self.addCleanup(os.environ.pop, "SEEN")
        self.program("gauge", "while read line; do echo 100; done", self.out)
        (self.out / "server.py").write_text(SERVER)
        self.program("ours__io__echo_roost", f'exec "{sys.executable}" "{self.out}/server.py" "$@"')
        self.program("client__io__echo", ECHO)

    def program(self, name, body, folder=None):
        path = (folder or self.out / build.BIN) / name
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)

    def table(self, servers=None, **more):
        (self.out / "cases.toml").write_text(
            '[[server]]\nname = "Roost io"\nkind = "ours"\nlibrary = "roost"\nprogram = "ours__io__echo_roost"\n'
            'args = "--port {port} --threads {workers}"\nrows = "io/x"\n' + (servers or "")
            + '[[case]]\nname = "io/x"\ntitle = "x"\nunit = "us"\nclient = "echo"\n' + "".join(f"{k} = {v}\n" for k, v in more.items()))
        return cases.load(self.out / "cases.toml"), cases.load_servers(self.out / "cases.toml")

    def measure(self, only=None, rounds=2):
        table, servers = self.table()
        plan = run.make_plan(table, run.discover_servers(self.out, servers, table, None, {}), only)
        with contextlib.redirect_stderr(io.StringIO()):
            return run.run_all(plan, rounds, 1, self.out, self.out / "gauge")

    def problem(self):
        measured = self.measure()
        self.assertEqual(measured["values"], {row: {"Roost io": []} for row in ("io/x", "io/x_rps", "io/x_p99")})
        return measured["failed"][("io/x", "Roost io")]["problem"]

    def test_one_measurement_is_three_rows_and_the_server_is_ended(self):
        values = self.measure(only="io/x_rps")["values"]
        self.assertEqual(values, {"io/x": {"Roost io": [5, 5]}, "io/x_rps": {"Roost io": [200, 200]}, "io/x_p99": {"Roost io": [30, 30]}})
        servers = self.seen.read_text().splitlines()
        self.assertEqual(len(servers), 2)
        for line in servers:
            pid, *args = line.split()
            self.assertRegex(" ".join(args), r"--port \d+ --threads 1$")
            with self.assertRaises(ProcessLookupError):
                os.kill(int(pid), 0)

    def test_the_further_rows(self):
        table, _ = self.table(loss='"because."', fix='"this."')
        rps = table["io/x_rps"]
        self.assertEqual((rps.unit, rps.better, rps.part_of, rps.client, rps.loss), ("1/s", "higher", "io/x", "", "as io/x."))
        self.assertEqual(cases.fix_of(table, "io/x_p99"), "this.")

    def test_what_a_server_says_before_it_ends_is_the_problem(self):
        self.program("ours__io__echo_roost", "echo no such option >&2; exit 2")
        self.assertEqual(self.problem(), "the server ended at once: no such option")

    def test_a_client_that_fails(self):
        self.program("client__io__echo", "echo no answer for 5 s >&2; exit 1")
        self.assertEqual(self.problem(), "the client ended with 1: no answer for 5 s")

    def test_a_server_that_dies_under_load_is_named_beside_the_client(self):
        self.program("client__io__echo", 'kill -9 "$4"; sleep 0.2; echo connection closed >&2; exit 1')
        self.assertRegex(self.problem(), r"the client ended with 1: connection closed; the server has ended with -9: ")

    def test_who_takes_part(self):
        more = ('[[server]]\nname = "Go"\nlibrary = "go"\nprogram = "sh"\nargs = ""\nrows = "io/x"\ndeadline_args = "-t"\n'
                '[[server]]\nname = "other"\nlibrary = "other"\nprogram = "sh"\nargs = ""\nrows = "io/y"\n'
                '[[server]]\nname = "gone"\nlibrary = "gone"\nprogram = "no-such-program"\nargs = ""\nrows = "io/x"\n')
        def names(peers, **case):
            absent = {}
            table, servers = self.table(more, **case)
            return [s.name for s in run.discover_servers(self.out, servers, table, peers, absent)], list(absent)
        self.assertEqual(names(None), (["Roost io", "Go"], ["gone (io: gone)"]))
        self.assertEqual(names("none"), (["Roost io"], []))
        self.assertEqual(names("go", deadline="true"), (["Go"], []))

    def test_what_others_measure_beside_it_is_a_floor(self):
        c = case("io/x", client="echo")
        p = run.Planned(c, [run.Subject("", "io/x", "roost", "ours", "roost"), run.Subject("", "io/x", "epoll", "floor", "floor")])
        row = report.make_row(c, p, {"roost": [2.0], "epoll": [1.0]}, {})[0]
        self.assertEqual((row["ours"], row["floor"], row["peers"], row["ratio"]), (2.0, {"epoll": 1.0}, {}, None))


class Page(unittest.TestCase):
    behind = row_of({"roost": [4.0] * 5, "fast": [2.0] * 5})

    def write(self, result, table):
        with tempfile.TemporaryDirectory(prefix="roost bench ") as folder:
            root = pathlib.Path(folder)
            (root / "benchmarks").mkdir()
            (root / "benchmarks" / "targets.toml").write_text('target = []\npublished = []\npublished_note = ""\n')
            page.write(root, root, table, result)
            return (root / "report.md").read_text()

    def test_a_loss_needs_a_sentence(self):
        table = {"sync/x": case()}
        self.assertEqual(page.unexplained(table, [self.behind]), ["sync/x"])
        self.assertIn("- `sync/x` (0.50 against fast): **not explained**.", self.write(full([self.behind]), table))
        table = {"sync/x": case(loss="because.", fix="this.")}
        self.assertEqual(page.unexplained(table, [self.behind]), [])
        self.assertIn("- `sync/x` (0.50 against fast): because. *What would mend it:* this.", self.write(full([self.behind]), table))

    def test_only_full_runs_have_to_explain(self):
        self.assertTrue(report.is_full(full([])))
        for part in ({"quick": True}, {"only": "sync"}, {"peers": "std"}, {"rounds": 3}, {"ms": 5}):
            self.assertFalse(report.is_full({**full([]), **part}))

    def test_what_failed_is_on_the_page(self):
        failed = [{"case": "sync/y", "subject": "roost", "kind": "ours", "problem": "exit code 1"}]
        self.assertIn("## Where Roost failed\n\n- roost in `sync/y`: exit code 1\n", self.write(full([], failed=failed), {}))

    def test_how_long_and_how_far_it_agrees(self):
        said = self.write(full([self.behind], prepared_seconds=120, agreement={"with": "yesterday", "rows": 4, "within_spread": 3}),
                          {"sync/x": case(loss="because.", fix="this.")})
        self.assertIn("Measuring took 1 min 1 s, installing and building before it 2 min 0 s. Of the 4 rows that the run of yesterday "
                      "has, too, 3 (75 %) agree with it within their spread.", said)

    def test_the_plot_needs_the_rows_of_the_waiter_queues(self):
        row = row_of({"roost": [10.0] * 5}, case("sync/wakeup_latency_alone"))
        self.assertIn("](wakeups.svg)", self.write(full([row]), {"sync/wakeup_latency_alone": case()}))
        self.assertNotIn("wakeups.svg", self.write(full([self.behind]), {"sync/x": case()}))


class Targets(unittest.TestCase):
    def test_a_noisy_side_is_not_judged(self):
        row = {**row_of({"roost": [2.0] * 5, "fast": [4.0] * 5}), "floor": {"load": 2.0}}
        result = full([row], floor_spread={"load": 0.1})
        self.assertEqual(targets.met(result, row, {"floor": "load", "within": 1.5}), ("1.00 times load", True, False))
        result["floor_spread"]["load"] = 0.4
        self.assertTrue(targets.met(result, row, {"floor": "load", "within": 1.5})[2])
        self.assertEqual(targets.met(result, row, {"peer": "fast", "ahead": 3}), ("2.00 times as fast as fast", False, False))
        result["spreads"]["sync/x"]["fast"] = 0.4
        self.assertTrue(targets.met(result, row, {"ahead": 1})[2])


    def test_another_row_of_ours_can_be_the_measure(self):
        row, other = row_of({"roost": [2.2] * 5}), row_of({"roost": [2.0] * 5}, case("sync/y"))
        target = {"row": "sync/y", "within": 1.05}
        self.assertEqual(targets.met(full([row, other]), row, target), ("1.10 times sync/y", False, False))
        self.assertIsNone(targets.met(full([row]), row, target))
        self.assertTrue(targets.met(full([row, {**other, "spread": 0.4}]), row, target)[2])


class Cases(unittest.TestCase):
    def test_the_table_can_be_read(self):
        table = cases.load(ROOT / "benchmarks" / "cases.toml")
        self.assertGreater(len(table), 100)
        self.assertEqual([name for name in table if table[name].memory and table[name].rounds], [])


if __name__ == "__main__":
    unittest.main()
