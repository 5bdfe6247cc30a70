import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from planted import TOOLS

PROGRAM = r"""
#include <gtest/gtest.h>
#include <memory>
TEST(planted, one) {
    std::unique_ptr<int[]> memory(new int[4]);
    memory[0] = 1;
    int* volatile p = memory.get();
    EXPECT_TRUE(p[%d] == 1 || p[0] == 1);
    %s
}
"""


class Memcheck(unittest.TestCase):
    def watch(self, index, effect=""):
        with tempfile.TemporaryDirectory(prefix="roost check ") as folder:
            source = pathlib.Path(folder) / "planted.cpp"
            source.write_text(PROGRAM % (index, effect), encoding="utf-8")
            program = pathlib.Path(folder) / "planted"
            subprocess.run(["g++", "-std=c++20", "-g1", "-O0", str(source), "-o", str(program), "-lgtest", "-lgtest_main", "-pthread"],
                           check=True)
            done = subprocess.run([sys.executable, str(TOOLS / "memcheck"), "--program", str(program)], capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def test_a_read_of_what_nobody_wrote(self):
        status, said = self.watch(3)
        self.assertEqual(status, 1, said)
        self.assertIn("depends on uninitialised value", said)

    def test_what_is_never_freed(self):
        status, said = self.watch(0, "p = new int[4];\n    p[0] = 1;\n    p = nullptr;")
        self.assertEqual(status, 1, said)
        self.assertIn("definitely lost", said)

    def test_nothing_wrong(self):
        status, said = self.watch(0)
        self.assertEqual(status, 0, said)
        self.assertIn("1 tests under valgrind", said)


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    unittest.main()
