#!/usr/bin/env python3
"""What including everything of a library costs: CPU time of compiling a file that does only that, and the lines the compiler
then sees. Same protocol as harness.hpp; the name it is started by says for which library."""
import os
import resource
import subprocess
import sys
import tempfile

ROOT = "@ROOT@"
LIBRARIES = {"roost": ("roost", "roost/roost.hpp", "ours"), "asio": ("Boost.Asio, asio.hpp", "boost/asio.hpp", "peer"),
             "tbb": ("oneTBB, tbb.h", "oneapi/tbb.h", "peer")}
COMPILER = ["c++", "-std=c++20", "-I", ROOT + "/include", "-x", "c++"]


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_ms(source):
    before = children()
    subprocess.run(COMPILER + ["-O0", "-c", "-o", "/dev/null", source], check=True)
    return (children() - before) * 1000


def lines(source):
    seen = subprocess.run(COMPILER + ["-E", "-P", source], check=True, capture_output=True, text=True)
    return seen.stdout.count("\n")


CASES = {"scale/compile_time": compile_ms, "scale/header_lines": lines}


def main():
    subject, header, kind = LIBRARIES[os.path.basename(sys.argv[0]).split("__")[2]]
    if "--list" in sys.argv:
        if kind == "ours" or os.path.exists("/usr/include/" + header):
            for case in CASES:
                print(f"{case}\t{subject}\t{kind}")
        return 0
    case = sys.argv[sys.argv.index("--case") + 1]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
        source.write(f"#include <{header}>\nint main() {{}}\n")
        source.flush()
        print(f"{case} {CASES[case](source.name):.1f} 1")
    return 0


if __name__ == "__main__":
    sys.exit(main())
