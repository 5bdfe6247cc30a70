"""tools/setup: silent when nothing is missing, one sentence when it may not install."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools/setup"


def setup(*arguments, **environment):
    done = subprocess.run(["/bin/bash", str(SETUP), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


class Setup(unittest.TestCase):
    def test_says_nothing_when_everything_is_there(self):
        self.assertEqual(setup("check"), (0, "", ""))

    def test_an_unknown_task_is_refused(self):
        status, _, errors = setup("everything")
        self.assertEqual(status, 2)
        self.assertIn("unknown task 'everything'", errors)

    def test_without_root_it_names_the_packages_and_the_command(self):
        # A path with nothing but what the script itself calls: every compiler seems to be missing.
        with tempfile.TemporaryDirectory() as folder:
            for name in ("dirname", "sed", "grep", "apt-get"):
                found = subprocess.run(["which", name], capture_output=True, text=True, check=False).stdout.strip()
                os.symlink(found or "/bin/true", pathlib.Path(folder) / name)
            user = pathlib.Path(folder) / "id"
            user.write_text("#!/bin/bash\necho 1000\n")
            user.chmod(0o755)
            status, output, errors = setup("check", PATH=folder)
        self.assertEqual(status, 1)
        for line in output.splitlines():
            self.assertIn("goes on without", line)
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("sudo apt-get install --no-install-recommends", errors)
        self.assertIn("cmake", errors)


unittest.main()
