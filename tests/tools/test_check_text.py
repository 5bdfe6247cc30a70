import unittest

from planted import PlantedTree


class CheckText(PlantedTree):
    tool = "check_text"

    def test_a_clean_tree_passes(self):
        self.plant("a.cpp", "// see /usr/include and https://example.org/work/x, include/roost/work/x\n")
        self.plant("b.py", "# issue: TODO(#12) later\n")
        self.assert_clean()

    def test_paths_of_a_machine_are_found(self):
        for path in ("/home/" + "me/x", "/root" + "/x", "/work" + "/x", "/Users/" + "me/x", "cd /" + "work"):
            with self.subTest(path):
                self.plant("a.md", f"first\n{path}\n")
                self.assert_found("a.md:2: an absolute path of one machine")

    def test_package_hosts_are_found(self):
        for host in (".".join(parts) for parts in (("registry", "npmjs", "org"), ("pypi", "org"), ("deb", "debian", "org"))):
            with self.subTest(host):
                self.plant("a.json", f'"{host}"\n')
                self.assert_found("a.json:1: the host of a package registry")

    def test_an_open_point_without_an_issue_is_found(self):
        self.plant("a.cpp", "// TODO: later\n")
        self.assert_found("a.cpp:1: an open point needs its issue number")

    def test_a_long_readme_is_found(self):
        self.plant("README.md", "x\n" * 150)
        self.assert_clean()
        self.plant("README.md", "x\n" * 151)
        self.assert_found("README.md:151: 151 lines, the limit is 150")

    def test_a_long_file_needs_a_reason_on_top(self):
        self.plant("src/base/x.cpp", "int x;\n" * 451)
        self.assert_found("src/base/x.cpp:451: 451 lines; split it")
        self.plant("src/base/x.cpp", "// Long because a table has this many rows.\n" + "int x;\n" * 451)
        self.assert_clean()

    def test_white_space_and_line_ends_are_found(self):
        self.plant("a.cpp", "int x; \nint y;")
        self.assert_found("a.cpp:1: white space", "a.cpp:2: no line break")

    def test_ids_of_other_documents_are_found(self):
        for text in ("// TN-57: unwinds", "// see SWB-4", "// Ruling 17: often", '"edge case 25: kept"', "TEST(a, JOB_41_fails_edge_case_6) {"):
            with self.subTest(text):
                self.plant("tests/a.cpp", f"int x;\n{text}\n")
                self.assert_found("tests/a.cpp:2: an id of another document")
        self.plant("tests/a.cpp", "store();  // D2\n// edge cases, XTN-5, JOB-41\n")
        self.assert_clean()
        self.plant("docs/spec/tree.md", "by its clock (D7)\n")
        self.assert_found("docs/spec/tree.md:1: an id of another document: D7")
        self.plant("docs/spec/tree.md", "\n")
        self.plant("docs/spec/sources.md", "| JOB-1 | KJ-2, TN-37, D16, edge case 3 |\n")
        self.assert_clean()

    def test_a_long_sentence_of_a_clause_is_found(self):
        words = "word " * 24
        self.plant("docs/spec/x.md", f"{words * 2}\n\n- **JOB-1** One {words[:-1]}. Two\n  {words[:-1]}.\n")
        self.assert_clean()
        self.plant("docs/spec/x.md", f"# x\n\n- **JOB-1** Short. One\n  more {words[:-1]}.\n- **JOB-2** Short.\n")
        self.assert_found("docs/spec/x.md:3: a sentence of 26 words, the limit is 25: 'One")

    def test_more_vague_words_than_allowed_are_found(self):
        word = "some" + "body"
        for name, area in (("include/roost/sync/x.hpp", "public headers"), ("include/roost/sync/detail/x.hpp", "detail headers and sources"),
                           ("src/sync/x.cpp", "detail headers and sources"), ("docs/x.md", "documents"), ("README.md", "documents")):
            with self.subTest(name):
                self.plant(name, f"// {word} {word.upper()}'s, not {word}s\n")
                self.assert_found(f"{area}: 2 vague words", arguments=("--vague", "1"))
                self.assertNotIn(f"{area}: ", self.assert_clean("--vague", "2"))
                self.plant(name, "\n")

    def test_a_number_that_can_fall_is_said(self):
        self.plant("docs/x.md", "no" + "body\n")
        self.assertIn("documents: 1 vague words; lower the 3", self.assert_clean("--vague", "3"))


unittest.main()
