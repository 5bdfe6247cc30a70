import unittest

from planted import PlantedTree

EXAMPLE = "int main() {\n    // begin core\n    int x = 1;\n    // end core\n}\n"


class CheckSnippets(PlantedTree):
    tool = "check_snippets"

    def setUp(self):
        super().setUp()
        self.plant("examples/x.cpp", EXAMPLE)

    def test_identical_code_passes(self):
        self.plant("README.md", "<!-- example: examples/x.cpp#core -->\n```cpp\nint x = 1;\n```\n")
        self.plant("docs/guide/x.md", "<!-- example: examples/x.cpp -->\n```cpp\nint main() {\n    int x = 1;\n}\n```\n")
        self.assertIn("2 snippets", self.assert_clean())

    def test_code_that_drifted_is_found_at_its_line(self):
        self.plant("README.md", "# x\n<!-- example: examples/x.cpp#core -->\n```cpp\nint x = 2;\n```\n")
        self.assert_found("README.md:4: differs from examples/x.cpp#core")

    def test_a_line_too_many_is_found(self):
        self.plant("README.md", "<!-- example: examples/x.cpp#core -->\n```cpp\nint x = 1;\nint y;\n```\n")
        self.assert_found("README.md:4:")

    def test_a_missing_file_or_region_is_found(self):
        self.plant("README.md", "<!-- example: examples/y.cpp -->\n```cpp\n```\n<!-- example: examples/x.cpp#no -->\n```cpp\n```\n")
        self.assert_found("there is no file examples/y.cpp", "examples/x.cpp has no region 'no'")

    def test_unmarked_code_in_the_readme_and_guides_is_found(self):
        self.plant("README.md", "```cpp\nint x;\n```\n")
        self.plant("docs/guide/x.md", "<!-- not compiled: shows a mistake -->\n```cpp\nint x\n```\n")
        output = self.assert_found("README.md:1: a C++ block that no compiler sees")
        self.assertNotIn("docs/guide", output)

    def test_a_mark_without_code_is_found(self):
        self.plant("README.md", "<!-- example: examples/x.cpp -->\nno code\n")
        self.assert_found("README.md:1: no code block follows this mark")

    def test_write_repairs(self):
        self.plant("README.md", "<!-- example: examples/x.cpp#core -->\n```cpp\nold\n```\nafter\n")
        self.assert_clean("--write")
        self.assert_clean()
        self.assertTrue((self.root / "README.md").read_text().endswith("int x = 1;\n```\nafter\n"))


unittest.main()
