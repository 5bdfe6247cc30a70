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
        log = self.root / "build" / "Testing" / "Temporary" / "LastTest.log"
        log.parent.mkdir(parents=True)
        log.write_text(LOG, encoding="utf-8")
        (self.root / "docs").mkdir()
        self.table = load()
        self.table.record(self.root, [self.root / "build"])
        self.kept = json.loads((self.root / self.table.RESULTS).read_text(encoding="utf-8"))

    def test_models_by_layer_with_their_executions(self):
        self.assertEqual(self.kept["models"], {"sync": {"passed": 2, "failed": 1, "executions": 50, "exhaustive": 1}})

    def test_scenarios_with_what_they_counted(self):
        self.assertEqual(self.kept["scenarios"]["8"],
                         {"passed": 1, "failed": 0, "counted": ["10 scopes closed, joined and freed"]})
        self.assertEqual(self.kept["scenarios"]["9"]["failed"], 1)
        self.assertEqual(self.kept["scenarios"]["19"]["passed"], 1)

    def test_a_failure_is_in_the_sentence(self):
        self.assertEqual(self.table.last_result(self.kept, "sync", (8, 9)),
                         (50, "1 of 3 models FAILED; 1 of 2 scenario tests FAILED"))
        self.assertEqual(self.table.last_result(self.kept, "tree", ()), (0, "not recorded"))


unittest.main()
