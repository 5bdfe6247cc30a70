import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from planted import PlantedTree

CLANG = next((c for c in ("clang++-19", "clang++") if shutil.which(c)), None)
FLAGS = ["-g0", "-O1", "-fsanitize=fuzzer", "-xc++", "-o"]  # and the program, and its source
TARGET = r"""
#include <cstddef>
#include <cstdint>
#include <cstdlib>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 1 && data[0] == 'r' && data[1] == 'o') {
        %s
    }
    return 0;
}
"""


def can_build():
    with tempfile.TemporaryDirectory() as folder:
        return CLANG is not None and subprocess.run([CLANG, *FLAGS, folder + "/program", "-"], input=TARGET % "", text=True,
                                                    capture_output=True).returncode == 0


class Fuzz(PlantedTree):
    tool = "fuzz"

    def build(self, effect):
        self.plant("tests/base/planted_fuzz.cpp", TARGET % effect)
        self.plant("tests/base/corpus/planted_fuzz/first", "x")
        program = self.root / "build" / "fuzz" / "tests" / "base_planted_fuzz"
        program.parent.mkdir(parents=True)
        subprocess.run([CLANG, *FLAGS, str(program), str(self.root / "tests/base/planted_fuzz.cpp")], check=True)

    def corpus(self):
        return list((self.root / "tests/base/corpus/planted_fuzz").iterdir())

    def test_an_input_that_breaks_it(self):
        self.build("std::abort();")
        said = self.assert_found("base_planted_fuzz", "FAILED", "play it again:  ", arguments=["--seconds", "20", "--seed", "1"])
        again = shlex.split(said.split("play it again:  ")[1].splitlines()[0])
        self.assertTrue(pathlib.Path(again[1]).read_bytes().startswith(b"ro"))
        self.assertNotEqual(subprocess.run(again, capture_output=True).returncode, 0)

    def test_nothing_breaks_it(self):
        self.build("std::srand(1);")
        self.assertIn("1 targets, 2 s each", self.assert_clean("--seconds", "2", "--seed", "1"))
        self.assertEqual(len(self.corpus()), 1)

    def test_what_was_found_is_kept_when_asked_for(self):
        self.build("std::srand(1);")
        self.assert_clean("--seconds", "2", "--seed", "1", "--keep")
        self.assertTrue(any(p.read_bytes().startswith(b"ro") for p in self.corpus()))

    def test_a_search_without_end_is_refused(self):
        for option in ("--seconds", "--seed"):
            status, said = self.check(option, "0")
            self.assertEqual(status, 2, said)
            self.assertIn("numbers from 1", said)

    def test_what_is_not_built(self):
        self.plant("tests/base/planted_fuzz.cpp", TARGET % "")
        status, said = self.check()
        self.assertEqual(status, 2, said)
        self.assertIn("./check --preset fuzz builds them", said)
        status, said = self.check("nothing")
        self.assertEqual(status, 2, said)
        self.assertIn("there is no such fuzz target", said)


if __name__ == "__main__":
    if not can_build():
        print("clang with libFuzzer is not installed, so nothing was checked")
        sys.exit(77)
    unittest.main()
