"""roost-lint finds what is planted, says nothing about the right way to write the same, and finds nothing in the examples."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# rule, wrong, right; the bodies of a coroutine
PLANTED = [
    ("condition", "if (co_await ready()) { go(); }", "const bool r = co_await ready();\nif (r) { go(); }"),
    ("condition", "while (!co_await full()) { go(); }", "for (;;) { const bool f = co_await full(); if (f) break; }"),
    ("condition", "switch (co_await pick()) { case 1: go(); }", "const int p = co_await pick();\nswitch (p) { case 1: go(); }"),
    ("condition", "for (int i = 0; i < co_await size(); ++i) { go(); }", "for (int v : co_await all()) { go(v); }"),
    ("condition", "do { go(); } while (co_await more());", "do { co_await go(); } while (more);"),
    ("assertion", "EXPECT_EQ(co_await one(), 1);", "const int v = co_await one();\nEXPECT_EQ(v, 1);"),
    ("assertion", "assert(co_await one() == 1);", "EXPECT_EQ(one, 1);\nco_await one();"),
    ("closure", "co_await with_scope([text](scope& s) -> task<> { co_return; });",
     "co_await with_scope([&](scope& s) -> task<> { co_return; });"),
    ("closure", "co_await with_scope([=](scope& s) -> task<> { co_return; });",
     "auto body = [=](scope& s) -> task<> { co_return; };\nco_await with_scope(body);"),
    ("closure", "auto x = co_await call([t = std::move(t)] { return t; });",
     "auto x = co_await call([] { return std::vector<int>{1, 2}; });"),
    ("aggregate", "co_await send(order{1, text});", "order o{1, text};\nco_await send(std::move(o));"),
    ("aggregate", "co_await send({1, text});", "const order o = {1, text};\nco_await send(o);"),
    ("aggregate", "auto r = co_await send(std::pair<int, int>{1, 2});", "std::pair<int, int> p{co_await one(), 2};"),
    ("ternary", "const int v = co_await (fast ? one() : two());",
     "const int v = fast ? 1 : 2;\nco_await one();"),
    ("ternary", "co_return fast ? co_await one() : 2;", "if (fast) { co_return co_await one(); }\nco_return 2;"),
    ("dangling-closure", 's.launch("x", [v]() -> task<> { co_await one(v); }());',
     's.launch("x", [](int v) -> task<> { co_await one(v); }(v));'),
    ("dangling-closure", 'auto d = s.async("x", [&]() -> task<int> { co_return v; }());',
     'auto d = co_await s.async("x", [&]() -> task<int> { co_return v; }());'),
    ("dangling-closure", "auto t = [v]() -> task<> { co_return; }();", "auto f = [v]() -> task<> { co_return; };\nco_await f();"),
    ("dangling-closure", 'return [v]() -> task<> { co_return; }();', 'return run([v]() -> task<> { co_return; }());'),
    ("blocking-call", "std::this_thread::sleep_for(1s);\nco_await one();", "co_await sleep_for(1s);"),
    ("blocking-call", "auto held = m.lock_blocking();\nco_await one();", "socket.non_blocking(true);\nco_await one();"),
    ("condition", "again: if (co_await ready()) { go(); }", "again: co_await ready();"),
    ("condition", "switch (x) { case 1: if (co_await ready()) { go(); } }", "switch (x) { case 1: co_await ready(); }"),
    ("assertion", "BOOST_TEST(co_await one() == 1);", "check(co_await one());"),
    ("assertion", "DCHECK(co_await one());", "co_await CHECKED(one());"),
    ("closure", "for (auto x : co_await all([text] { return 1; })) { go(x); }", "const auto& [k, v] = co_await one();"),
    ("dangling-closure", "all.push_back([v]() -> task<> { co_await one(v); }());", "all.push_back(one(v));"),
    ("dangling-closure", "auto g = [v]() -> task<> { co_await one(v); };\nreturn g();",
     "auto g = [v]() -> task<> { co_await one(v); };\nco_await g();"),
    ("dangling-closure", "task<> t([v]() -> task<> { co_await one(v); }());", "task<> t(one([v] { return v; }()));"),
    ("blocking-call", "if (x) { std::this_thread::sleep_for(1s); }\nco_await one();", "auto f = [] { std::this_thread::sleep_for(1s); };"),
    ("blocking-call", "auto c = p->acquire_blocking();", "const bool b = x.is_blocking();"),
    ("blocking-call", "::read(fd, data, n);", "co_await s.read(data, n);"),
    ("blocking-call", "usleep(100);", "co_await sleep(100);"),
    ("blocking-call", "other.join();", "co_await other.join();"),
    ("blocking-call", "changed.wait_for(lock, 1s);", "restart.wait_for(kept);"),
    ("blocking-call", "std::getline(std::cin, line);", "std::getline(text, line);"),
    ("lock-across-await", "auto held = std::unique_lock(m);\nco_await one();", "std::unique_lock held(m, std::defer_lock);\nco_await one();"),
    ("lock-across-await", "m.lock();\nco_await one();\nm.unlock();", "m.lock();\nm.unlock();\nco_await one();"),
    ("lock-across-await", "std::unique_lock held(m);\nco_await one();", "std::unique_lock held(m);\nheld.unlock();\nco_await one();"),
    ("lock-across-await", "std::lock_guard held(m);\nco_await one();", "{\n    std::lock_guard held(m);\n    go();\n}\nco_await one();"),
    ("lock-across-await", "const std::unique_lock<std::mutex> held(m);\nif (x) {\n    co_await one();\n}",
     "std::lock_guard held(m);\nauto f = []() -> task<> { co_await one(); };"),
]


def lint(*arguments):
    return subprocess.run([sys.executable, "-B", str(ROOT / "tools" / "lint"), *map(str, arguments)],
                          capture_output=True, text=True, check=False)


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost lint ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def file(self, body, name="a.cpp"):
        path = self.root / name
        path.write_text("#include <x>\ntask<> f(scope& s) {\n" + body + "\n    co_return;\n}\n", encoding="utf-8")
        return path

    def test_every_rule_finds_what_is_planted_and_nothing_else(self):
        for rule, wrong, right in PLANTED:
            with self.subTest(rule=rule, wrong=wrong):
                done = lint(self.file(wrong))
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"[{rule}]", done.stdout)
                self.assertEqual(done.stdout.count("\n"), 1, done.stdout)
            with self.subTest(rule=rule, right=right):
                done = lint(self.file(right))
                self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_child_that_borrows_a_local_is_found_unless_something_is_awaited_before_the_local_goes(self):
        shows = "task<> show(std::string_view text) {\n    co_await one();\n}\n"
        for body, is_wrong in (
                ('std::string n = "x";\ns.launch("a", show(n));', True),
                ('for (;;) { char n[9]; s.launch("a", show(n)); }', True),
                ('std::string n = "x";\nauto j = s.launch("a", show(n));\nco_await j.join();', False),
                ('const std::string& n = lasting();\ns.launch("a", show(n));', False),
                ('std::string n = "x";\ns.launch("a", owns(n));', False)):
            with self.subTest(body=body):
                path = self.file(body)
                path.write_text(shows + path.read_text(encoding="utf-8"), encoding="utf-8")
                self.assertEqual("[borrowed-local]" in lint(path).stdout, is_wrong)

    def test_a_finding_has_its_line(self):
        done = lint(self.file("go();\n// if (co_await never())\n/* co_await\n*/ if (co_await ready()) { go(); }"))
        self.assertTrue(done.stdout.startswith(f"{self.root / 'a.cpp'}:6: [condition]"), done.stdout)

    def test_comments_literals_and_directives_are_no_code(self):
        body = ('go("if (co_await x())"); // if (co_await x())\n#define X if (co_await x())\nconst int n = 1\'000;\n'
                'go(R"(if (co_await x()) {)");\nco_await one();')
        self.assertEqual(lint(self.file(body)).returncode, 0)

    def test_a_comment_silences_one_rule_on_one_line(self):
        wrong = "if (co_await ready()) { go(); }"
        for body in (wrong + "  // roost-lint: allow(condition)", "// roost-lint: allow(condition)\n" + wrong):
            self.assertEqual(lint(self.file(body)).returncode, 0)
        self.assertEqual(lint(self.file(wrong + "  // roost-lint: allow(ternary)")).returncode, 1)
        self.assertEqual(lint(self.file("// roost-lint: allow(condition)\n\n" + wrong)).returncode, 1)

    def test_folders_rules_and_problems(self):
        self.file("if (co_await ready()) { go(); }")
        self.file("co_return x ? co_await a() : b;", "b.hpp")
        (self.root / "c.txt").write_text("if (co_await x())", encoding="utf-8")
        self.assertIn("2 findings in 2 files", lint(self.root).stderr)
        self.assertIn("1 finding in 2 files", lint("--only", "ternary", self.root).stderr)
        self.assertEqual(lint("--only", "nonsense", self.root).returncode, 2)
        self.assertEqual(lint(self.root / "none.cpp").returncode, 2)
        self.assertEqual(lint().returncode, 2)
        self.assertEqual(lint("--list").stdout.count("\n"), 9)
        (self.root / "d.cpp").write_text("int f( {", encoding="utf-8")
        done = lint(self.root / "d.cpp")
        self.assertIn("brackets do not match", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_the_programs_of_this_tree_are_clean(self):
        folders = [ROOT / name for name in ("examples", "template", "include", "src", "tests/outside") if (ROOT / name).is_dir()]
        done = lint(*folders)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
