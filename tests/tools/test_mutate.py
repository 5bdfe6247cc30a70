import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "tools" / "mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(mutate)

CODE = """void f() {
    x.load(mo::acquire);  // A1
    x->store(1, mo::seq_cst);  // A2
    if (x.compare_exchange_weak(seen, g(seen),
                                mo::acq_rel, mo::acquire)) {  // A3
        wake_on(&x, 1);
    }
    x.fetch_add(1, mo::relaxed);  // A4
    // x.load(mo::seq_cst) in a comment
    const char* s = "x.load(mo::seq_cst)";
}
void wake_on(const atomic<int>* word, int n);
"""

MARKED = """void g() {
    if (word.load(mo::relaxed) == 0) {  // A5, the recheck
        return;
    }
    head += one;  // tag
}
"""


class Mutants(unittest.TestCase):
    def setUp(self):
        self.found = {(m.label, m.change): m for m in mutate.operation_mutants("sync/x.cpp", CODE)}

    def test_each_order_is_weakened_one_step(self):
        for change in [("A1", "acquire->relaxed"), ("A2", "seq_cst->release"), ("A3", "acq_rel->release"),
                       ("A3", "acq_rel->acquire"), ("A3", "acquire->relaxed on failure")]:
            self.assertIn(change, self.found)
        self.assertNotIn(("A4", "relaxed->relaxed"), self.found)

    def test_operations_lose_their_atomicity(self):
        for change in [("A3", "compare_exchange as load and store"), ("A3", "compare_exchange as store"),
                       ("A4", "fetch_add as load and store")]:
            self.assertIn(change, self.found)

    def test_wakes_are_left_out_but_declarations_are_not_calls(self):
        self.assertEqual(1, sum("left out" in change for _, change in self.found))

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual(9, len(self.found))

    def test_a_call_over_two_lines_is_found_by_its_range(self):
        self.assertEqual("sync/x.cpp:4-5:compare_exchange:failure:relaxed",
                         self.found[("A3", "acquire->relaxed on failure")].variable)

    def test_marked_statements_are_guarded_without_moving_lines(self):
        rewritten = {}
        found = list(mutate.marked_mutants("x.cpp", MARKED, rewritten, 2))
        self.assertEqual(["#3", "#4"], [m.variable for m in found])
        lines = rewritten["x.cpp"].split("\n")
        self.assertEqual(len(MARKED.split("\n")), len(lines))
        self.assertIn("active_mutant != 3 && (word.load(mo::relaxed) == 0)", lines[1])
        self.assertIn("if (::roost::detail::active_mutant != 4) { head += one; }", lines[4])

    def test_a_marked_line_of_unknown_shape_is_refused(self):
        self.assertIsNone(mutate.guard("    return head + one;  // tag", 1))

    def test_a_justification_names_label_and_change(self):
        reasons = mutate.justifications("tests/testing/sample_counter.hpp", ["tests/testing/sample_counter_model.cpp"])
        self.assertIn(("C3", "acquire->relaxed"), reasons)

    def test_a_pattern_that_matches_nothing_is_refused(self):
        self.assertEqual(["tools/mutate.conf"], mutate.expand("tools/mutate.co*", "here:1"))
        with self.assertRaisesRegex(SystemExit, "here:1: there is no src/sync/gone.cpp"):
            mutate.expand("tools/mutate.conf src/sync/gone.cpp", "here:1")


if __name__ == "__main__":
    unittest.main()
