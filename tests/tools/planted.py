"""A small tree in which a test plants a violation and sees that the check finds it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"

ARCHITECTURE = """# Architecture

## Layers

| layer | what | may include | its tests also |
|---|---|---|---|
| `base` | ground | - | `testing` |
| `sync` | waiting | `base` | `testing` |
| `testing` | kit | `base` `sync` | - |

## The seam

- `include/roost/base/atomic.hpp`: the seam

## Headers without a test of their own

- `base/config.hpp`: macros only
"""


class PlantedTree(unittest.TestCase):
    """Subclasses set `tool`; run() gives exit status and output of the tool on the planted tree."""

    tool = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost check ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.plant("docs/architecture.md", ARCHITECTURE)
        self.plant("include/roost/base/atomic.hpp", "#pragma once\n#include <atomic>\nusing word = std::atomic<int>;\n")
        self.plant("include/roost/base/config.hpp", "#pragma once\n")
        self.plant("tests/base/atomic_test.cpp", "#include <roost/base/atomic.hpp>\n")

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, *arguments):
        done = subprocess.run([sys.executable, str(TOOLS / self.tool), "--root", str(self.root), *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_clean(self, *arguments):
        status, output = self.check(*arguments)
        self.assertEqual(status, 0, output)
        return output

    def assert_found(self, *texts, arguments=()):
        status, output = self.check(*arguments)
        self.assertEqual(status, 1, output)
        for text in texts:
            self.assertIn(text, output)
        return output
