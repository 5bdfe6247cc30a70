"""The static probes are in what is compiled with ROOST_ENABLE_USDT, and in nothing else."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["src/task/job_core.cpp", "src/task/region.cpp", "src/task/runner.cpp", "src/task/scope.cpp", "src/task/sleep.cpp",
           "src/sync/event.cpp", "src/sync/waiter.cpp", "src/runtime/keeper.cpp", "src/flow/fork_job.cpp"]
TABLE = ROOT / "include/roost/exec/detail/probes.hpp"


def probes_of_table():
    return set(re.findall(r"^//   (\w+)\s+(?:job|frame|name)  ", TABLE.read_text(), re.M))


def compile_all(folder, *flags):
    """A shared object of the sources; what they need of others stays undefined."""
    out = pathlib.Path(folder) / "probes.so"
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", f"-I{ROOT / 'include'}", "-foptimize-sibling-calls", *flags,
                    *(str(ROOT / source) for source in SOURCES), "-o", str(out)], check=True)
    return out


def notes_of(library):
    text = subprocess.run(["readelf", "-n", str(library)], check=True, capture_output=True, text=True).stdout
    providers = set(re.findall(r"Provider: (\w+)", text))
    return providers, set(re.findall(r"Name: (\w+)", text))


class Probes(unittest.TestCase):
    def test_the_option_puts_every_probe_in(self):
        with tempfile.TemporaryDirectory() as folder:
            library = compile_all(folder, "-DROOST_ENABLE_USDT")
            providers, names = notes_of(library)
            self.assertEqual(providers, {"roost"})
            self.assertEqual(names, probes_of_table())
            if shutil.which("bpftrace"):
                run = subprocess.run(["bpftrace", "-l", f"usdt:{library}:*"], capture_output=True, text=True)
                if run.returncode == 0 and run.stdout:  # it needs root
                    self.assertEqual({line.rsplit(":", 1)[1] for line in run.stdout.split()}, names)

    def test_there_is_nothing_without_it(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(notes_of(compile_all(folder)), (set(), set()))

    def test_the_table_is_read(self):
        self.assertEqual(len(probes_of_table()), 9)


if __name__ == "__main__":
    try:
        subprocess.run(["g++", "-fsyntax-only", "-include", "sys/sdt.h", "-xc++", "/dev/null"], check=True, capture_output=True)
    except (subprocess.CalledProcessError, FileNotFoundError):
        print("skipped: there is no sys/sdt.h (systemtap-sdt-dev)")
        sys.exit(77)
    unittest.main()
