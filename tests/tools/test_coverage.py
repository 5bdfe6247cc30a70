import shutil
import sys
import unittest

from planted import PlantedTree

STATE = """#pragma once
enum class state { open, closing, closed };
constexpr state next(state s, bool last) {
    if (s == state::open) {
        return state::closing;
    }
    return last ? state::closed : s;
}
"""
TEST = """#include "../../include/roost/base/state.hpp"
#include <gtest/gtest.h>
TEST(state, ends) {
    volatile bool last = true;
    state s = next(state::open, last);
    s = next(s, last);
    EXPECT_EQ(s, state::closed);
    %s
}
"""
FILE = "include/roost/base/state.hpp"
GAP = f"{FILE} | never false | return last ? state::closed : s; | "


class Coverage(PlantedTree):
    tool = "coverage"

    def setUp(self):
        super().setUp()
        self.plant(FILE, STATE)
        self.plant("tests/base/state_test.cpp", TEST % "")
        self.plant("tools/coverage.conf", f"{FILE} | base/state_test\n")

    def test_a_way_that_no_test_takes(self):
        self.assert_found(f"{FILE}:7:12: never false: return last ? state::closed : s;")
        self.assertIn(GAP, self.assert_found(arguments=["--gaps"]))

    def test_every_way_taken(self):
        self.plant("tests/base/state_test.cpp", TEST % "last = false; EXPECT_EQ(next(state::closing, last), state::closing);")
        self.assertIn("places covered, 0 excused", self.assert_clean())

    def test_a_source_that_uses_a_header_is_instrumented_too(self):
        self.plant("src/base/user.cpp", '#include "../../include/roost/base/state.hpp"\nstate user(bool last) { return next(state::closing, last); }\n')
        self.plant("tests/base/state_test.cpp", TEST.replace("TEST(", "state user(bool last);\nTEST(") % "last = false; EXPECT_EQ(user(last), state::closing);")
        self.plant("tools/coverage.conf", f"{FILE} | src/base/user.cpp base/state_test\n")
        self.assertIn("places covered, 0 excused", self.assert_clean())

    def test_a_reason_excuses_and_must_be_needed(self):
        self.plant("tools/coverage_justified.txt", "".join(
            gap + "nobody asks before the last one is gone\n"
            for gap in (GAP, f"{FILE} | never runs | return last ? state::closed : s; | ")))
        self.assertIn("2 excused", self.assert_clean())
        self.plant("tests/base/state_test.cpp", TEST % "last = false; EXPECT_EQ(next(state::closing, last), state::closing);")
        self.assert_found("is covered, or not there")

    def test_a_file_that_is_not_there(self):
        self.plant("tools/coverage.conf", "include/roost/base/gone.hpp | base/state_test\n")
        status, output = self.check()
        self.assertEqual(status, 2, output)
        self.assertIn("there is no include/roost/base/gone.hpp", output)


if not shutil.which("clang++-19") or not shutil.which("llvm-cov-19"):
    print("clang 19 is not installed")
    sys.exit(77)
unittest.main()
