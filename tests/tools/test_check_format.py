import unittest

from planted import TOOLS, PlantedTree


class CheckFormat(PlantedTree):
    tool = "check_format"

    def setUp(self):
        super().setUp()
        self.plant(".clang-format", (TOOLS.parent / ".clang-format").read_text())

    def test_formatted_code_passes(self):
        self.assert_clean()

    def test_unformatted_code_is_found_and_repaired(self):
        self.plant("src/base/x.cpp", "\nint  f( ){return 1 ;}\n")
        self.assert_found("src/base/x.cpp:2: not formatted")
        self.assert_clean("--fix")
        self.assert_clean()


unittest.main()
