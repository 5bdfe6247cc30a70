import unittest

from planted import PlantedTree

HEADER = """#pragma once
#define ROOST_X(a) \\
    class a;
namespace roost::inline ROOST_ABI {
// class commented;
template <class T, class = void>
    requires(sizeof(T) > 1)
class [[nodiscard("class quoted;")]] queue : public detail::base {
    class inner;
    int member();
};
class forward;
enum class kind : unsigned char { one, two };
struct limits final {};
template <class T>
concept thing = requires(T t) { t.go(); };
using text = detail::text;
using seam::now;
inline constexpr detail::fair_t fair{0};
extern int number;
template <class... T>
    requires detail::any<T...>
[[nodiscard]] [[gnu::cold]] decltype(auto) make(T&&... of) noexcept(noexcept(of())) {
    return detail::make(of...);
}
template <class T>
queue(T) -> queue<T>;
template <class T>
int queue<T>::member() { return 1; }
class queue<int>::inner {};
bool operator==(kind, kind) noexcept;
static_assert(sizeof(kind) == 1);
[[deprecated("use make()")]] int former();
using old [[deprecated("use text")]] = text;
namespace ext {
class work {};
}
}  // namespace roost::inline ROOST_ABI
namespace roost::inline ROOST_ABI::observe {
void look(int depth = 0);
}
namespace other { class foreign; }
"""
NAMES = ("queue", "forward", "kind", "limits", "thing", "text", "now", "fair", "number", "make")
INDEX = ("# Names\n\n## Things\n\n| name | header | what it is |\n|---|---|---|\n" +
         "".join(f"| `{name}` | `roost/base/x.hpp` | x |\n" for name in NAMES) +
         "\n## roost::ext\n\n| name | header | what |\n|---|---|---|\n| **Own** | | |\n| `work` | `roost/base/x.hpp` | x |\n"
         "\n## roost::observe\n\n| `look` | `roost/base/x.hpp` | x |\n\n## Other namespaces\n\n| `roost` | x | x |\n| `foreign` | x | x |\n")


class CheckNames(PlantedTree):
    tool = "check_names"

    def setUp(self):
        super().setUp()
        self.plant("include/roost/base/x.hpp", HEADER)
        self.plant("docs/guide/names.md", INDEX)
        self.plant("examples/x.cpp", "int main() { queue forward kind limits thing text now fair number; }\n")
        self.plant("docs/guide/x.md", "Call `make(x)`.\n")

    def test_every_form_of_declaration_is_counted_once(self):
        self.assertIn("10 names in roost, 1 names in roost::ext, 1 names in roost::observe", self.assert_clean())

    def test_a_name_that_is_not_listed_is_found(self):
        for space, found in (("roost::inline ROOST_ABI", "roost"), ("roost::inline ROOST_ABI::ext", "roost::ext")):
            with self.subTest(found):
                self.plant("include/roost/base/y.hpp", f"namespace {space} {{\nvoid added();\n}}\n")
                self.assert_found(f"include/roost/base/y.hpp: {found}::added is not listed in docs/guide/names.md")

    def test_a_name_in_a_detail_header_counts(self):
        self.plant("include/roost/base/detail/y.hpp", "namespace roost::inline ROOST_ABI {\nclass added;\n}\n")
        self.assert_found("include/roost/base/detail/y.hpp: roost::added is not listed")

    def test_detail_in_a_public_header_is_found(self):
        hidden = "namespace roost::inline ROOST_ABI {\nnamespace detail {\nclass hidden;\n}\n}\n"
        self.plant("include/roost/base/detail/y.hpp", hidden)
        self.assert_clean()
        self.plant("include/roost/base/y.hpp", hidden)
        self.assert_found("include/roost/base/y.hpp: declares something in roost::detail")

    def test_a_name_in_the_wrong_section_is_found(self):
        self.plant("docs/guide/names.md", INDEX.replace("| `fair`", "| `work`"))
        self.assert_found("roost::fair is not listed", "docs/guide/names.md:14: no header declares roost::work")

    def test_a_stale_entry_is_found_at_its_line(self):
        self.plant("docs/guide/names.md", INDEX.replace("| `queue` |", "| `queue`, `gone` |"))
        self.assert_found("docs/guide/names.md:7: no header declares roost::gone")

    def test_more_names_than_allowed_are_found(self):
        self.assert_clean("--most", "10")
        self.assert_found("roost has 10 names, at most 9 are allowed", arguments=("--most", "9"))

    def test_a_name_in_no_guide_and_no_example_is_found(self):
        self.plant("docs/guide/x.md", "Functions make things: make(x).\n")  # not as code
        self.plant("examples/y.cpp", '// make\nconst char* text = "make";\n')
        self.assert_found("include/roost/base/x.hpp: roost::make occurs in no guide and in no example")
        self.plant("README.md", "```cpp\nmake(x);\n```\n")
        self.assert_clean()


unittest.main()
