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
const row table[] = {
    // also box::get
    {"open", [] {}},
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
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace('{"open"', '{"close", [] {}},\n    {"open"'))
        self.assert_found("close is not a public function that can fail")

    def test_an_excuse_needs_a_reason(self):
        self.plant("include/roost/sync/box.hpp", HEADER)
        self.plant("tests/gauntlet/faults_test.cpp", TABLE.replace(": keeps what it is given", ""))
        self.assert_found("box::box is not tried, without a reason")


if __name__ == "__main__":
    unittest.main()
