import unittest

from planted import PlantedTree


class CheckSpec(PlantedTree):
    tool = "check_spec"

    def setUp(self):
        super().setUp()
        self.plant("docs/spec/sync.md", "# sync\n\n- **SYNC-1** First.\n- **SYNC-2** Second,\n  on two lines.\n")
        self.plant("tests/sync/event_test.cpp", "TEST(event, SYNC_1_first) {}\nTEST(event, SYNC_2_second) {}\n")

    def test_matching_clauses_and_tests_pass_and_the_last_line_counts(self):
        output = self.assert_clean()
        self.assertEqual(output.splitlines()[-1], "2 clauses, 2 with a test, 0 excused, 0 without")

    def test_a_clause_without_a_test_is_found(self):
        self.plant("docs/spec/tree.md", "- **TREE-9** Nobody tests this.\n")
        output = self.assert_found("docs/spec/tree.md:1: TREE-9 has no test that cites it")
        self.assertEqual(output.splitlines()[-1], "3 clauses, 2 with a test, 0 excused, 1 without")

    def test_a_citation_of_nothing_is_found(self):
        self.plant("tests/sync/latch_test.cpp", "\nTEST(latch, SYNC_77_gone) {}\n")
        self.assert_found("tests/sync/latch_test.cpp:2: cites SYNC-77, which is in no file of docs/spec")

    def test_a_comment_does_not_count_as_a_test(self):
        self.plant("tests/sync/event_test.cpp", "TEST(event, SYNC_1_first) {}\n// SYNC_2_second\n")
        self.assert_found("SYNC-2 has no test")

    def test_sync_1_is_not_cited_by_sync_11(self):
        self.plant("tests/sync/event_test.cpp", "TEST(event, SYNC_11_x) {}\nTEST(event, SYNC_2_second) {}\n")
        self.assert_found("SYNC-1 has no test", "cites SYNC-11")

    def test_one_test_may_cite_two_clauses(self):
        self.plant("tests/sync/event_test.cpp", "TEST(event, SYNC_1_SYNC_2_both) {}\n")
        self.assert_clean()

    def test_a_number_used_twice_is_found(self):
        self.plant("docs/spec/tree.md", "- **SYNC-1** Again.\n")
        self.assert_found("SYNC-1 is already used at")

    def test_a_clause_may_say_why_it_has_no_test(self):
        self.plant("docs/spec/tree.md", "- **TREE-9** Beautiful.\n  (no test: a matter of taste)\n")
        output = self.assert_clean()
        self.assertEqual(output.splitlines()[-1], "3 clauses, 2 with a test, 1 excused, 0 without")


unittest.main()
