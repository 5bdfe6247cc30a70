"""Instructions per operation, counted by valgrind: repeatable on a noisy machine."""
import shutil
import subprocess
import sys


def count_once(subject, operations):
    """Total instructions of one process that runs the case with a fixed number of operations."""
    command = ["valgrind", "--tool=none", "--log-file=/dev/null", subject.program]
    raise NotImplementedError


def count(root, out, plan):
    if not shutil.which("valgrind"):
        sys.exit("bench: --instructions needs valgrind")
    sys.exit("bench: --instructions is not available")
