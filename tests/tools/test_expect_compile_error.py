"""The script that judges x_fail.cpp files has to notice when a refusal is gone or says something else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/expect_compile_error.py"


def judge(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x_fail.cpp"
        path.write_text(text)
        done = subprocess.run([sys.executable, str(SCRIPT), str(path), "--", "g++", "-std=c++20", "-fsyntax-only"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class ExpectCompileError(unittest.TestCase):
    def test_a_refusal_in_our_words_passes(self):
        self.assertEqual(judge('// expect: never\nstatic_assert(false, "never");\n')[0], 0)

    def test_code_that_compiles_is_found(self):
        status, output = judge("// expect: never\nint x;\n")
        self.assertEqual(status, 1)
        self.assertIn("compiles, but it must not", output)

    def test_another_message_is_found(self):
        status, output = judge('// expect: never\nstatic_assert(false, "other");\n')
        self.assertEqual(status, 1)
        self.assertIn("fails without saying 'never'", output)

    def test_the_quoted_line_is_not_the_message(self):
        status, output = judge('static_assert(false, "other");  // expect: never\n')
        self.assertEqual(status, 1)
        self.assertIn("fails without saying 'never'", output)

    def test_every_block_is_judged_alone(self):
        good = '#ifdef FAIL_1\n// expect: one\nstatic_assert(false, "one");\n#endif\n'
        self.assertEqual(judge(good)[0], 0)
        status, output = judge(good + "#ifdef FAIL_2\n// expect: two\nint x;\n#endif\n")
        self.assertEqual(status, 1)
        self.assertIn("FAIL_2 compiles, but it must not", output)

    def test_the_rest_of_the_file_has_to_compile(self):
        status, output = judge('#ifdef FAIL_1\n// expect: one\nstatic_assert(false, "one");\n#endif\nbroken\n')
        self.assertEqual(status, 1)
        self.assertIn("has to compile while no FAIL_n is defined", output)

    def test_a_file_that_expects_nothing_is_found(self):
        self.assertEqual(judge("broken\n")[0], 1)


unittest.main()
