import unittest

from planted import PlantedTree


class CheckLayers(PlantedTree):
    tool = "check_layers"

    def test_a_good_tree_passes(self):
        self.plant("src/sync/event.cpp", "#include <roost/base/atomic.hpp>\n")
        self.plant("tests/sync/event_test.cpp", '#include <roost/testing/kit.hpp>\n#include "roost/base/atomic.hpp"\n')
        self.plant("include/roost/testing/kit.hpp", "#pragma once\n#include <roost/sync/event.hpp>\n")
        self.plant("tests/testing/kit_test.cpp", "")
        self.assert_clean()

    def test_an_include_that_points_up_is_found(self):
        self.plant("src/base/word.cpp", "// first\n#include <roost/sync/event.hpp>\n")
        self.assert_found("src/base/word.cpp:2: layer 'base' must not include roost/sync/event.hpp")

    def test_an_include_with_quotes_and_spaces_is_found(self):
        self.plant("src/base/word.cpp", '#  include "roost/testing/kit.hpp"\n')
        self.assert_found("src/base/word.cpp:1:")

    def test_library_code_must_not_use_the_test_kit(self):
        self.plant("src/sync/event.cpp", "#include <roost/testing/kit.hpp>\n")
        self.assert_found("src/sync/event.cpp:1: layer 'sync' must not include roost/testing/kit.hpp")

    def test_tests_must_not_reach_up_either(self):
        self.plant("tests/base/word_test.cpp", "#include <roost/sync/event.hpp>\n")
        self.assert_found("tests/base/word_test.cpp:1: tests of 'base' must not include roost/sync/event.hpp")

    def test_an_unknown_layer_is_found(self):
        self.plant("src/misc/x.cpp", "\n")
        self.assert_found("layer 'misc' is not in the table")

    def test_a_header_without_a_test_is_found(self):
        self.plant("include/roost/sync/event.hpp", "#pragma once\n")
        self.assert_found("include/roost/sync/event.hpp:1: has no test tests/sync/event_test.cpp")
        self.plant("tests/sync/event_model.cpp", "")
        self.assert_clean()

    def test_an_excuse_for_nothing_is_found(self):
        (self.root / "include/roost/base/config.hpp").unlink()
        self.assert_found("excuses 'base/config.hpp', but there is no such header")

    def test_examples_must_not_use_details(self):
        self.plant("examples/x.cpp", "#include <roost/base/detail/x.hpp>\n")
        self.assert_found("examples/x.cpp:1: a user's program includes roost/base/detail/x.hpp")

    def test_a_header_that_the_umbrella_lacks_is_found(self):
        self.plant("include/roost/roost.hpp", "#include <roost/base/atomic.hpp>\n#include <roost/base/config.hpp>\n")
        self.assert_clean()
        self.plant("include/roost/base/word.hpp", "#pragma once\n")
        self.plant("tests/base/word_test.cpp", "")
        self.assert_found("include/roost/roost.hpp:1: lacks roost/base/word.hpp")

    def test_a_header_that_no_program_puts_beside_the_others_is_found(self):
        program = "tests/outside/asio/all_headers_umbrella_last.cpp"
        self.plant("include/roost/testing/kit.hpp", "#pragma once\n")
        self.plant("tests/testing/kit_test.cpp", "")
        self.plant(program, "#include <roost/testing/other.hpp>\n")
        self.assert_found(f"{program}:1: does not include roost/testing/kit.hpp")
        self.plant(program, "#include <roost/testing/kit.hpp>\n")
        self.assert_clean()

    def test_a_missing_table_is_found(self):
        self.plant("docs/architecture.md", "# nothing\n")
        self.assert_found("has no table")


unittest.main()
