import unittest

from planted import PlantedTree

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


class CheckOrderings(PlantedTree):
    tool = "check_orderings"

    def setUp(self):
        super().setUp()
        self.plant("src/sync/event.cpp", GOOD)
        self.plant("tests/sync/event_model.cpp", "TEST(event_model, publish) {}\n")

    def test_labelled_operations_pass(self):
        self.assertIn("3 operations", self.assert_clean())

    def test_the_table_may_stand_in_the_file_of_the_same_stem(self):
        table, code = GOOD.split("void f", 1)
        self.plant("src/sync/event.cpp", table)
        self.plant("include/roost/sync/event.hpp", "void f" + code)
        self.assert_clean()

    def test_a_label_of_one_other_file_of_the_layer_passes_but_not_of_two(self):
        self.plant("src/sync/helper.cpp", "int g() { return word.load(mo::acquire); }  // E2\n")
        self.assert_clean()
        self.plant("src/sync/other.cpp", GOOD)
        self.assert_found("src/sync/helper.cpp:1: label E2 is in several tables")

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

    def test_invariants_are_no_rows(self):
        self.plant("src/sync/event.cpp", "// I1       a waiter is in one list\n//\n" + GOOD)
        self.assert_clean()


unittest.main()
