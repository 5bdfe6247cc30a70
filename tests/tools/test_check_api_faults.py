import unittest

from planted import PlantedTree

HEADER = """#pragma once
namespace roost::inline ROOST_ABI {
namespace detail {
void inner();
}
template <class T>
class box {
public:
    explicit box(T value) : value_(value) {}
    [[nodiscard]] T get() const;
    [[nodiscard]] bool is_empty() const noexcept;
    box(box&&) = default;

private:
    void grow();
    T value_;
};
int open(const char* name);
void shut() noexcept;
}
"""
TABLE = """// not tried: box::box: keeps what it is given
void opens() {
    auto b = open("x");
    b.get();
}
const row table[] = {
    // also box::get
    {"open", [] { opens(); }},
};
"""


class CheckApiFaults(PlantedTree):
    tool = "check_api_faults"

    def test_every_function_that_can_fail_has_a_row_or_a_reason(self):
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assertIn("3 public functions can fail: 2 tried, 1 excused", self.assert_clean())

    def test_a_new_function_without_a_row_is_found(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("int open", "int reopen(int n);\nint open"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assert_found("include/roost/sync/box.hpp:1: reopen can fail and has no row")

    def test_a_new_method_without_a_row_is_found(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("private:", "    void fill(int n);\n\nprivate:"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assert_found("box::fill can fail and has no row")

    def test_a_row_for_nothing_is_found(self):
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace("    // also", '    {"close", [] { close(); }},\n    // also'))
        self.assert_found("close is not a public function that can fail")

    def test_an_excuse_needs_a_reason(self):
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace(": keeps what it is given", ""))
        self.assert_found("box::box is not tried, without a reason")

    def test_a_row_has_to_call_what_it_names(self):
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace("    b.get();\n", "    // b.get()\n"))
        self.assert_found("faults_test.cpp:8: the row of open does not call box::get")
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace("[] { opens(); }", "[] {}"))
        self.assert_found("the row of open does not call open", "the row of open does not call box::get")

    def test_a_condition_is_no_promise(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("int open", "void may() noexcept(sizeof(int) == 2);\n"
                                                                "void never() noexcept(true);\nint open"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assertNotIn("never can fail", self.assert_found("may can fail and has no row"))

    def test_a_constructor_that_may_be_explicit_has_the_name_of_its_class(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("int open", "class lid {\npublic:\n    explicit(false) lid(int n);\n};\nint open"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assert_found("lid::lid can fail and has no row")

    def test_of_several_overloads_each_needs_a_line(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("int open", "int open(int number, bool now = true);\nint open"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assert_found("open(int, bool) is one of several that can fail", "open(const char*) is one of several that can fail")
        self.plant("tools/api_faults.txt", "# overloads\noverload open(const char*): tried\noverload open(int, bool): as the other\n")
        self.assertIn("2 overloads told apart", self.assert_clean())
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.assert_found("open(int, bool) is not a public function that can fail", "open(const char*) needs no line of its own")

    def test_an_overload_that_is_tried_has_a_row(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("int open", "int peek(int n);\nint peek(char c);\nint open"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.plant("tools/api_faults.txt", "overload peek(int): tried\noverload peek(char): a guess\n")
        self.assert_found("peek(int) is not tried: no row names it")

    def test_a_table_may_say_an_old_name_as_long_as_it_does(self):
        self.plant("include/roost/sync/box.hpp", HEADER.replace("T get()", "T fetch()"))
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace("b.get()", "b.fetch()"))
        self.assert_found("box::get is not a public function that can fail")
        self.plant("tools/api_faults.txt", "old name box::get: box::fetch\n")
        self.assert_clean()
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace("get", "fetch"))
        self.assert_found("no table says box::get any more")

    def test_excuses_may_stand_in_the_list_and_every_layer_counts(self):
        self.plant("include/roost/service/box.hpp", HEADER)
        self.plant("include/roost/adapters/sqlite/rows.hpp", "#pragma once\nint count(int n);\n")
        self.plant("tests/gauntlet/faults_test.cpp", TABLE)
        self.assert_found("include/roost/adapters/sqlite/rows.hpp:1: sqlite::count can fail and has no row")
        self.plant("tools/api_faults.txt", "not tried: sqlite::count: a number\n")
        self.assert_clean()

    def test_an_adapter_has_a_table_of_its_own_and_its_rows_are_not_for_another(self):
        self.plant("include/roost/adapters/sqlite/rows.hpp", "#pragma once\nint count(int n);\n")
        self.plant("tests/adapters/sqlite/faults_test.cpp", 'const row table[] = {\n    {"sqlite::count", [] { count(1); }},\n};\n')
        self.assertIn("1 public functions can fail: 1 tried", self.assert_clean())
        self.plant("include/roost/adapters/postgres/rows.hpp", "#pragma once\nint count(int n);\n")
        self.assert_found("include/roost/adapters/postgres/rows.hpp:1: postgres::count can fail and has no row")


if __name__ == "__main__":
    unittest.main()
