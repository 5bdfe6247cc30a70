import shutil
import sys
import unittest

from planted import PlantedTree

HOLDS = """/* Two steps, taken by turns.
 *
 * Planted SKIP: the second does not wait for the first.
 */
bool first, second;
active proctype one() { first = true }
active proctype two() {
#ifndef SKIP
    first;
#endif
    assert(first);
    second = true
}
ltl ends { <> second }
"""


class CheckProtocols(PlantedTree):
    tool = "check_protocols"

    def test_a_model_that_holds_and_finds_its_planted_defect(self):
        self.plant("tests/protocol/turns.pml", HOLDS)
        self.assertIn("1 planted defects found", self.assert_clean())

    def test_a_violated_assertion(self):
        self.plant("tests/protocol/turns.pml", HOLDS.replace("#ifndef", "#ifdef"))
        self.assert_found("as it stands: violated: assertions and dead ends")

    def test_a_violated_formula(self):
        self.plant("tests/protocol/turns.pml", HOLDS.replace("first = true }", "if :: first = true :: true fi }"))
        self.assert_found("violated: ends")

    def test_a_planted_defect_that_is_not_found(self):
        self.plant("tests/protocol/turns.pml", HOLDS.replace("assert(first);", ""))
        self.assert_found("planted SKIP was not found")

    def test_a_model_without_a_planted_defect(self):
        self.plant("tests/protocol/turns.pml", HOLDS.replace(" * Planted", " * planted"))
        self.assert_found("no planted defect")

    def test_a_model_that_is_not_promela(self):
        self.plant("tests/protocol/turns.pml", HOLDS.replace("assert(first);", "assert(first"))
        self.assert_found("spin does not accept it")


if __name__ == "__main__":
    if not shutil.which("spin"):
        print("spin is not installed, so nothing was checked")
        sys.exit(77)
    unittest.main()
