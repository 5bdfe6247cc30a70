import unittest

from planted import PlantedTree


class CheckHeaders(PlantedTree):
    tool = "check_headers"

    def setUp(self):
        super().setUp()
        self.plant("include/roost/base/atomic.hpp", "#pragma once\n")

    def test_good_headers_pass(self):
        self.assertIn("2 headers", self.assert_clean())

    def test_a_header_that_needs_another_first_is_found(self):
        self.plant("include/roost/base/x.hpp", "#pragma once\ninline std::string x;\n")
        self.assert_found("include/roost/base/x.hpp:1: does not compile alone", "std")

    def test_a_header_without_a_guard_is_found(self):
        self.plant("include/roost/base/x.hpp", "struct x {};\n")
        self.assert_found("include/roost/base/x.hpp:1:", "redefinition")

    def test_a_warning_is_found(self):
        self.plant("include/roost/base/x.hpp", "#pragma once\ninline int x(long y) { return y; }\n")
        self.assert_found("include/roost/base/x.hpp:1:")

    def test_other_layers_are_left_out_on_request(self):
        self.plant("include/roost/sync/x.hpp", "broken\n")
        self.assert_clean("--layers", "base")


unittest.main()
