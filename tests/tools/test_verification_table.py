import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"

LOG = """Start testing: Jan 01 00:00 UTC
----------------------------------------------------------
1/3 Testing: sync_model
1/3 Test: sync_model
Output:
----------------------------------------------------------
[ RUN      ] event_model.set
  event_model.set: ok: 17 executions (0 redundant), 99 steps, 0.00 s, 9/s, exhaustive
  event_model.set: ok: 25 executions (0 redundant), 99 steps, 0.00 s, 9/s, exhaustive
[       OK ] event_model.set (1 ms)
  event_model.reset: ok: 3 executions (0 redundant), 99 steps, 0.00 s, 9/s, exhaustive
  event_model.reset: ok: 5 executions (0 redundant), 99 steps, 0.00 s, 9/s, exhaustive up to 3 preemptions
[       OK ] event_model.reset (1 ms)
[  FAILED  ] event_model.wait (1 ms)
<end of output>
----------------------------------------------------------

2/3 Testing: gauntlet_stress
Output:
----------------------------------------------------------
  scenario 8: 10 scopes closed, joined and freed
[       OK ] gauntlet_scope.GAUNTLET_8_TREE_19_the_joiner_frees_at_once (1 ms)
  scenario 9: chain of 3 nodes
  scenario 9: fan of 3 nodes
[  FAILED  ] gauntlet_scope.GAUNTLET_9_the_last_guard (1 ms)
[  FAILED  ] gauntlet_scope.GAUNTLET_9_the_last_guard
<end of output>

3/3 Testing: runtime_test
Output:
[ RUN      ] thread_failure.RUN_103_GAUNTLET_23_never_ends
[       OK ] thread_failure.RUN_19_GAUNTLET_19_the_constructor_throws (1 ms)
"""


def load():
    sys.path.insert(0, str(TOOLS))
    loader = importlib.machinery.SourceFileLoader("verification_table", str(TOOLS / "verification_table"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("verification_table", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost check ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        for layer in ("sync", "gauntlet"):
            (self.root / "tests" / layer).mkdir(parents=True)
        (self.root / "tests" / "gauntlet" / "all_test.cpp").write_text(
            "\n".join(f"TEST(all, GAUNTLET_{n}_x) {{}}" for n in (1, 8, 9, 19, 23)), encoding="utf-8")
        self.table = load()
        self.kept = self.record(("build", LOG))

    def record(self, *logs):
        for name, text in logs:
            log = self.root / name / "Testing" / "Temporary" / "LastTest.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            (self.root / name / "tested_commit").write_text("0123456789\n", encoding="utf-8")
            log.write_text(text, encoding="utf-8")
        self.table.record(self.root, [self.root / name for name, _ in logs])
        return json.loads((self.root / self.table.RESULTS).read_text(encoding="utf-8"))

    def of(self, entry):
        return {key: value for key, value in entry.items() if key not in ("date", "commit", "build")}

    def test_models_by_layer_with_their_executions(self):
        self.assertEqual({layer: self.of(one) for layer, one in self.kept["models"].items()},
                         {"sync": {"passed": 2, "failed": 1, "executions": 50, "exhaustive": 1}})

    def test_scenarios_with_what_they_counted(self):
        self.assertEqual(self.of(self.kept["scenarios"]["8"]),
                         {"passed": 1, "failed": 0, "counted": ["10 scopes closed, joined and freed"]})
        self.assertEqual(self.kept["scenarios"]["9"]["failed"], 1)
        self.assertEqual(self.kept["scenarios"]["19"]["passed"], 1)

    def test_a_scenario_that_took_its_program_down_has_failed(self):
        self.assertEqual(self.kept["scenarios"]["23"]["failed"], 1)

    def test_results_say_when_and_of_which_commit(self):
        for one in [*self.kept["models"].values(), *self.kept["scenarios"].values()]:
            self.assertRegex(one["date"], r"^\d{4}-\d\d-\d\d \d\d:\d\d UTC$")
            self.assertEqual((one["commit"], one["build"]), ("0123456789", "build"))
        self.assertRegex(self.table.when(self.kept["models"]), r"^Recorded \S+ \S+ UTC at 0123456789 \(build build\)\.$")

    def test_the_first_build_that_ran_a_program_speaks_for_it(self):
        short = LOG.replace("10 scopes", "2 scopes").replace("3 nodes", "1 node")
        more = short.replace("3/3 Testing: runtime_test", "3/3 Testing: other_test")
        kept = self.record(("release", LOG), ("dev", more))["scenarios"]
        self.assertEqual(kept["8"]["counted"], ["10 scopes closed, joined and freed"])
        self.assertEqual(kept["8"]["build"], "release")
        self.assertEqual(kept["19"]["passed"], 2, "halves in two programs add up")

    def test_fewer_lines_replace_more(self):
        fewer = LOG.replace("  scenario 9: fan of 3 nodes\n", "").replace("chain of 3", "chain of 7")
        self.assertEqual(self.record(("build", fewer))["scenarios"]["9"]["counted"], ["chain of 7 nodes"])

    def test_what_no_longer_exists_is_dropped(self):
        path = self.root / self.table.RESULTS
        path.write_text(json.dumps({"models": {"gone": {}}, "scenarios": {"7": {}, "1": {"counted": []}}}), encoding="utf-8")
        kept = self.record(("build", LOG))
        self.assertEqual(sorted(kept["models"]), ["sync"])
        self.assertNotIn("7", kept["scenarios"])
        self.assertIn("1", kept["scenarios"], "of another program, still there")

    def test_a_failure_is_in_the_sentence(self):
        self.assertEqual(self.table.last_result(self.kept, "sync", (8, 9)),
                         (50, "1 of 3 models FAILED; 1 of 2 scenario tests FAILED"))
        self.assertEqual(self.table.last_result(self.kept, "tree", ()), (0, "not recorded"))


unittest.main()
