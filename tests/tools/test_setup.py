"""tools/setup: silent when nothing is missing, one sentence when it may not install."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = ROOT / "tools/setup"


def setup(*arguments, **environment):
    done = subprocess.run(["/bin/bash", str(SETUP), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


class OlderBoost:
    """A machine with Debian's default Boost, on which apt refuses to install a newer one beside it."""

    def __init__(self, test, place, user):
        self.test, self.place = test, place
        (place / "include/boost").mkdir(parents=True)
        (place / "include/boost/version.hpp").write_text("#define BOOST_VERSION 107400\n")
        (place / "programs").mkdir()
        self.program("apt-get", f'echo "$@" >>{place}/calls\ncase "$*" in install*libboost*) exit 100 ;; esac\n')
        self.program("id", f"echo {user}\n")

    def program(self, name, text):
        path = self.place / "programs" / name
        path.write_text("#!/bin/bash\n" + text)
        path.chmod(0o755)

    def run(self, *command):
        environment = {**os.environ, "PATH": f"{self.place}/programs:{os.environ['PATH']}", "ROOST_SYSTEM_INCLUDE": f"{self.place}/include"}
        environment.pop("ROOST_BOOST_INCLUDE_DIR", None)
        done = subprocess.run(["/bin/bash", *command], capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout, done.stderr

    def calls(self):
        log = self.place / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def assert_removed_nothing(self):
        calls = self.calls()
        self.test.assertTrue([call for call in calls if call.startswith("install") and "libboost1.81-dev" in call], calls)
        for call in calls:
            self.test.assertRegex(call, "^(update|install .*--no-remove) ")


class Setup(unittest.TestCase):
    def with_older_boost(self, user=0):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        return OlderBoost(self, pathlib.Path(place.name), user)

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
        for task in ("check", "bench"):
            with self.subTest(task):
                machine = self.with_older_boost()
                status, _, errors = machine.run(str(SETUP), task)
                self.assertEqual(status, 0, errors)  # the layer asio is left out
                machine.assert_removed_nothing()
                self.assertEqual(errors.count("\n"), 1)
                self.assertIn("Boost 1.74 is installed and conflicts with libboost1.81-dev", errors)
                self.assertIn("nothing was removed", errors)
                self.assertIn("-DROOST_BOOST_INCLUDE_DIR", errors)

    def test_the_demo_does_without_boost(self):
        for user in (0, 1000):
            machine = self.with_older_boost(user)
            self.assertEqual(machine.run(str(SETUP), "demo"), (0, "", ""))
            self.assertEqual(machine.calls(), [])

    def test_nothing_else_in_the_tree_installs_or_removes(self):
        # An image is built in a machine of its own. Everything else goes through tools/setup.
        images = {"template/deploy/Dockerfile", "docs/guide/deploying.md"}
        changes = re.compile(r"\b(?:apt|apt-get|aptitude|dpkg)\s(?:.*\s)?(install|remove|purge|autoremove|upgrade|dist-upgrade|full-upgrade|-r|-P|-i)\b")
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
        found = []
        for name in listed:
            path = ROOT / name
            if not path.is_file() or name in images or name == "tests/tools/test_setup.py":
                continue
            for line in path.read_text(encoding="utf-8", errors="ignore").splitlines():
                if changes.search(line):
                    found.append((name, line.strip()))
        advice = [line for _, line in found if "Either replace it yourself" in line]
        self.assertEqual({name for name, _ in found}, {"tools/setup"})
        self.assertEqual(len(advice), 1)
        for _, line in found:
            self.assertTrue("--no-remove" in line or line in advice, line)

    def test_a_newer_boost_elsewhere_will_do(self):
        # What the sentence above offers: neither removed nor installed.
        with tempfile.TemporaryDirectory() as folder:
            for place, version in (("old", 107400), ("new", 108500)):
                (pathlib.Path(folder) / place / "boost").mkdir(parents=True)
                (pathlib.Path(folder) / place / "boost/version.hpp").write_text(f"#define BOOST_VERSION {version}\n")
            missing = setup("--list", "check", ROOST_SYSTEM_INCLUDE=f"{folder}/old")[1]
            with_newer = setup("--list", "check", ROOST_SYSTEM_INCLUDE=f"{folder}/old", ROOST_BOOST_INCLUDE_DIR=f"{folder}/new")[1]
        self.assertIn("libboost1.81-dev", missing)
        self.assertNotIn("libboost1.81-dev", with_newer)


unittest.main()
