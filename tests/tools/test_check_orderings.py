import unittest

from planted import ARCHITECTURE, PlantedTree

GOOD = """// id  operation      order    pairs  carries   fails in
// E1  set: exchange  acq_rel  E2     writes    event_model: publish
// E2  is_set: load   acquire  E1     writes    event_model: publish
// E3  reset: store   relaxed  -      nothing   (floor)
void f() {
    word.exchange(1, mo::acq_rel);  // E1
    word.load(
        mo::acquire);  // E2
    word.store(0, mo::relaxed);  // E3
}
"""

LEGEND = "// Order E2: src/sync/event.cpp.\n\n"
HELPER = "int g() { return word.load(mo::acquire); }  // E2\n"


class CheckOrderings(PlantedTree):
    tool = "check_orderings"

    def setUp(self):
        super().setUp()
        self.plant("src/sync/event.cpp", GOOD)
        self.plant("tests/sync/event_model.cpp", "TEST(event_model, publish) {}\n")
        self.gate("src/sync/*.cpp include/roost/sync/event.hpp")

    def gate(self, files):
        self.plant("tools/mutate.conf", f"# files | layers | models\n{files} | base | tests/sync/event_model.cpp  # why\n")

    def list_outside(self, text):
        self.plant("docs/architecture.md", ARCHITECTURE + "\n## Outside the mutation gate\n\n" + text)

    def test_labelled_operations_pass(self):
        self.assertIn("3 operations", self.assert_clean())

    def test_the_table_may_stand_in_the_file_of_the_same_stem(self):
        table, code = GOOD.split("void f", 1)
        self.plant("src/sync/event.cpp", table)
        self.plant("include/roost/sync/event.hpp", "// Orders E1 to E3: src/sync/event.cpp.\n\nvoid f" + code)
        self.assert_clean()

    def test_a_label_of_one_other_file_of_the_layer_passes_but_not_of_two(self):
        self.plant("src/sync/helper.cpp", LEGEND + HELPER)
        self.assert_clean()
        self.plant("src/sync/other.cpp", GOOD)
        self.assert_found("src/sync/helper.cpp:3: label E2 is in several tables")

    def test_a_label_of_another_file_needs_a_legend_line_on_top(self):
        self.plant("src/sync/helper.cpp", HELPER)
        self.assert_found("src/sync/helper.cpp:1: label E2 needs a legend line on top of the file: // Order E2: src/sync/event.cpp.")
        self.plant("src/sync/helper.cpp", HELPER + LEGEND)
        self.assert_found("src/sync/helper.cpp:1: label E2 needs a legend line")
        self.plant("src/sync/helper.cpp", LEGEND.replace("Order E2", "Orders E1 to E3") + HELPER)
        self.assert_clean()
        self.plant("src/sync/helper.cpp", LEGEND.replace("Order E2", "Orders E2 and E3") + HELPER + HELPER.replace("E2", "E3"))
        self.assert_clean()

    def test_a_legend_line_is_true(self):
        self.plant("src/sync/helper.cpp", LEGEND.replace("E2", "E3") + HELPER)
        self.assert_found("src/sync/helper.cpp:1: no order of this file has a label from E3 to E3 of src/sync/event.cpp",
                          "src/sync/helper.cpp:3: label E2 needs a legend line")
        self.plant("src/sync/helper.cpp", LEGEND.replace("Order E2", "Orders E2 to E9") + HELPER)
        self.assert_found("src/sync/helper.cpp:1: src/sync/event.cpp has no table with the rows E2 and E9")
        self.plant("src/sync/helper.cpp", LEGEND.replace("src/sync/event.cpp", "src/sync/gone.cpp") + HELPER)
        self.assert_found("src/sync/helper.cpp:1: src/sync/gone.cpp has no table with the rows E2 and E2")

    def test_a_header_is_named_below_include(self):
        table, code = GOOD.split("void f", 1)
        self.plant("include/roost/sync/event.hpp", table)
        self.plant("src/sync/event.cpp", "// Orders E1 to E3: sync/event.hpp.\n\nvoid f" + code)
        self.assert_clean()

    def test_an_order_without_a_label_is_found(self):
        self.plant("src/sync/event.cpp", GOOD + "int g() { return word.load(mo::acquire); }\n")
        self.assert_found("src/sync/event.cpp:11: a memory order without a label")

    def test_a_label_without_a_row_is_found(self):
        self.plant("src/sync/event.cpp", GOOD + "int g() { return word.load(mo::acquire); }  // E9\n")
        self.assert_found("src/sync/event.cpp:11: label E9 is in no ordering table")

    def test_a_row_without_an_operation_is_found(self):
        self.plant("src/sync/event.cpp", GOOD.replace("// E3\n}", "\n}"))
        self.assert_found("row E3 belongs to no operation", "src/sync/event.cpp:9: a memory order without a label")

    def test_a_row_that_names_a_missing_model_is_found(self):
        self.plant("tests/sync/event_model.cpp", "TEST(event_model, other) {}\n")
        self.assert_found("row E1 names event_model: publish, which does not exist")

    def test_a_row_without_evidence_is_found(self):
        self.plant("src/sync/event.cpp", GOOD.replace("E1     writes    event_model: publish", "E1     trust me"))
        self.assert_found("src/sync/event.cpp:3: row E2 names no model")

    def test_a_bracket_somewhere_in_a_row_is_no_reason(self):
        row = "// E2  is_set: load   acquire  E1     writes    event_model: publish"
        self.plant("src/sync/event.cpp", GOOD.replace(row, "// E2  is_set: load (fast)  acquire  E1  writes"))
        self.assert_found("src/sync/event.cpp:3: row E2 names no model")

    def test_only_relaxed_is_the_floor(self):
        for reason, is_good in (("(floor: one reader)", False), ("(kept)", False), ("(rare, and no model runs it)", True)):
            self.plant("src/sync/event.cpp", GOOD.replace("E1     writes    event_model: publish", "E1     writes    " + reason))
            self.assert_clean() if is_good else self.assert_found("src/sync/event.cpp:3: row E2 names no model")

    def test_the_order_is_what_stands_in_its_column(self):
        self.plant("src/sync/event.cpp", GOOD.replace("nothing   (floor)", "nothing: keeps E1's release going"))
        self.assert_clean()

    def test_a_file_outside_the_gate_is_found(self):
        self.gate("src/sync/other.cpp")
        self.assert_found("src/sync/event.cpp:1: uses orders weaker than seq_cst, but is neither in tools/mutate.conf nor listed")

    def test_relaxed_is_weaker_too_and_seq_cst_needs_no_gate(self):
        self.gate("src/sync/other.cpp")
        only = "// id  operation      order    pairs  carries   fails in\n// E3  reset: store   {0}  -      nothing   (floor)\n"
        only += "void f() {{ word.store(0, mo::{0}); }}  // E3\n"
        self.plant("src/sync/event.cpp", only.format("relaxed"))
        self.assert_found("src/sync/event.cpp:1: uses orders weaker than seq_cst")
        self.plant("src/sync/event.cpp", only.format("seq_cst"))
        self.assert_clean()

    def test_a_file_outside_the_gate_may_be_listed_with_a_reason(self):
        self.gate("src/sync/other.cpp")
        self.list_outside("- `src/sync/event.cpp`: no model can run it\n")
        self.assert_clean()
        self.list_outside("- `src/sync/event.cpp`:\n")
        self.assert_found("src/sync/event.cpp:1: uses orders weaker than seq_cst")

    def test_what_is_listed_is_outside_and_there(self):
        self.list_outside("- `src/sync/event.cpp`: no model can run it\n- `src/sync/gone.cpp`: no more\n")
        self.assert_found("src/sync/event.cpp is in tools/mutate.conf, too", "src/sync/gone.cpp uses no order weaker than seq_cst")

    def test_invariants_are_no_rows(self):
        self.plant("src/sync/event.cpp", "// I1       a waiter is in one list\n//\n" + GOOD)
        self.assert_clean()


unittest.main()
