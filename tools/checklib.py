"""What the tools/check_* scripts share: finding files, reading docs/architecture.md, saying what is wrong."""

import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys

ARCHITECTURE = "docs/architecture.md"
CPP_SUFFIXES = (".hpp", ".cpp", ".h", ".c", ".inl")


def parse_arguments(description, extra=None):
    """Every check works on its own repository unless --root names another tree (its test does)."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    if extra:
        extra(parser)
    return parser.parse_args()


def tracked_files(root):
    """Paths relative to root of everything git would commit; without git, everything but build folders."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False)
    inside = subprocess.run(["git", "-C", str(root), "rev-parse", "--show-toplevel"],
                            capture_output=True, text=True, check=False)
    if inside.returncode == 0 and pathlib.Path(inside.stdout.strip()).resolve() == root.resolve():
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith((".git/", "build"))]
    return sorted(name for name in set(names) if (root / name).is_file())


def cpp_files(root, *folders):
    return [name for name in tracked_files(root)
            if name.endswith(CPP_SUFFIXES) and name.startswith(tuple(folder + "/" for folder in folders))]


def read(root, name):
    return (root / name).read_text(encoding="utf-8", errors="replace")


def code_only(text):
    """The text with comments and the content of literals blanked out, line breaks kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s\\]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'',
        re.DOTALL)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def section(root, title):
    """Lines (number, text) of the section of docs/architecture.md with this heading."""
    path = root / ARCHITECTURE
    if not path.is_file():
        return []
    lines, inside = [], False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            inside = line.lstrip("# ").strip() == title
        elif inside:
            lines.append((number, line))
    return lines


def listed_paths(root, title):
    """Entries "- `pattern`: reason" of a section, as {pattern: line number}."""
    found = {}
    for number, line in section(root, title):
        entry = re.match(r"- `([^`]+)`:\s*\S", line)
        if entry:
            found[entry.group(1)] = number
    return found


def matches_any(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def layers(root):
    """The layer table: {layer: (may include, its tests may also include)}."""
    table = {}
    for _, line in section(root, "Layers"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 4 or not re.fullmatch(r"`\w+`", cells[0]):
            continue
        table[cells[0].strip("`")] = tuple(set(re.findall(r"`(\w+)`", cell)) for cell in cells[2:4])
    return table


def finish(problems, good):
    """Prints the findings, one sentence each, and ends the script."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problem{'s' if len(problems) != 1 else ''}")
        sys.exit(1)
    print(good)
    sys.exit(0)
