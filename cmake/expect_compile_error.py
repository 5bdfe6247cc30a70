#!/usr/bin/env python3
"""Checks that a file does not compile, and that the compiler says why in our words.

usage: expect_compile_error.py FILE -- COMPILER FLAGS...

Either the file has blocks `#ifdef FAIL_1` ... `#endif`, each with a line `// expect: text`: then it
has to compile as it is, and with -DFAIL_n it has to fail with that block's text in the message. Or it has no such
blocks: then the whole file has to fail with every `// expect:` text in the message.
"""

import re
import subprocess
import sys


def compile_file(command, path, define=None):
    # Without the quoted source lines: these contain the text that is expected.
    plain = "-fno-caret-diagnostics" if "clang" in command[0] else "-fno-diagnostics-show-caret"
    call = command + [plain] + ([f"-D{define}"] if define else []) + [path]
    done = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def expectations(lines):
    """Maps each FAIL_n (or None for the whole file) to the texts expected of it."""
    found = {}
    block = None
    for line in lines:
        opened = re.match(r"\s*#\s*(?:ifdef\s+|if\s+defined\(?\s*|elif\s+defined\(?\s*)(FAIL_\w+)", line)
        if opened:
            block = opened.group(1)
            found.setdefault(block, [])
        elif re.match(r"\s*#\s*endif", line):
            block = None
        text = re.search(r"//\s*expect:\s*(.*\S)", line)
        if text:
            found.setdefault(block, []).append(text.group(1))
    return found


def main():
    split = sys.argv.index("--")
    path, command = sys.argv[1], sys.argv[split + 1:]
    with open(path, encoding="utf-8") as file:
        wanted = expectations(file.read().splitlines())
    problems = []
    blocks = [name for name in wanted if name]
    if not any(wanted.values()):
        problems.append(f"{path}:1: has no line '// expect: text'")
    if blocks:
        code, output = compile_file(command, path)
        if code != 0:
            problems.append(f"{path}:1: has to compile while no FAIL_n is defined, but:\n{output}")
    for block in blocks or [None]:
        code, output = compile_file(command, path, block)
        name = block or "the file"
        if code == 0:
            problems.append(f"{path}:1: {name} compiles, but it must not")
        for text in wanted[block]:
            if code != 0 and text not in output:
                problems.append(f"{path}:1: {name} fails without saying '{text}':\n{output}")
        if block and not wanted[block]:
            problems.append(f"{path}:1: {block} has no line '// expect: text'")
    print("\n".join(problems) if problems else f"{len(blocks) or 1} refusals as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
