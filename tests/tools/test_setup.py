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
        self.assertIn("sudo apt-get install --no-install-recommends --no-remove", errors)
        self.assertIn("cmake", errors)

    def test_an_older_boost_is_not_removed_and_the_sentence_says_what_to_do(self):
        # A machine with Debian's default Boost, on which apt refuses to install a newer one beside it.
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "include/boost").mkdir(parents=True)
            (place / "include/boost/version.hpp").write_text("#define BOOST_VERSION 107400\n")
            calls = place / "calls"
            programs = {"apt-get": f'#!/bin/bash\necho "$@" >>{calls}\ncase "$1" in install) exit 100 ;; esac\n', "id": "#!/bin/bash\necho 0\n"}
            for name, text in programs.items():
                (place / name).write_text(text)
                (place / name).chmod(0o755)
            status, _, errors = setup("demo", PATH=f"{folder}:{os.environ['PATH']}", ROOST_SYSTEM_INCLUDE=str(place / "include"))
            installs = [line for line in calls.read_text().splitlines() if line.startswith("install")]
        self.assertEqual(status, 1)
        self.assertTrue(installs)
        for line in installs:
            self.assertIn("--no-remove", line)
        self.assertIn("Boost 1.74 is installed and conflicts with libboost1.81-dev", errors)
        self.assertIn("nothing was removed", errors)
        self.assertIn("-DROOST_BOOST_INCLUDE_DIR", errors)

    def test_a_newer_boost_elsewhere_will_do(self):
        # What the sentence above offers: neither removed nor installed.
        with tempfile.TemporaryDirectory() as folder:
            for place, version in (("old", 107400), ("new", 108500)):
                (pathlib.Path(folder) / place / "boost").mkdir(parents=True)
                (pathlib.Path(folder) / place / "boost/version.hpp").write_text(f"#define BOOST_VERSION {version}\n")
            missing = setup("--list", "demo", ROOST_SYSTEM_INCLUDE=f"{folder}/old")[1]
            with_newer = setup("--list", "demo", ROOST_SYSTEM_INCLUDE=f"{folder}/old", ROOST_BOOST_INCLUDE_DIR=f"{folder}/new")[1]
        self.assertIn("libboost1.81-dev", missing)
        self.assertNotIn("libboost1.81-dev", with_newer)


unittest.main()
