"""Builds every subject that can be built here and says which cannot, and why."""
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

BIN = "bin"
GAUGE = "gauge"   # beside BIN: it is no subject


def set_up(root):
    """Installs what is missing; a machine where that is impossible still measures what it has."""
    setup = root / "tools" / "setup"
    if setup.exists() and subprocess.run([str(setup), "bench"]).returncode != 0:
        print("bench: tools/setup bench did not succeed; peers that are not installed are reported as absent", file=sys.stderr)


def wanted(library, peers):
    return peers is None or library in peers.split(",")


def library_of(path):
    return path.stem


def run_logged(command, log, **kwargs):
    with open(log, "w") as f:
        return subprocess.run(command, stdout=f, stderr=subprocess.STDOUT, **kwargs).returncode == 0


def first_error(log):
    text = log.read_text(errors="replace") if log.exists() else ""
    for line in text.splitlines():
        if re.search(r"\berror\b[:\[ ]", line):
            return line.replace(f"{log.parents[2]}{os.sep}", "").strip()[:160]
    return "see " + log.name


def target_cpu():
    """What C++ and Rust are compiled for: not this very processor, whose newest instructions valgrind may not know."""
    if platform.machine() != "x86_64":
        return "native"
    with open("/proc/cpuinfo") as f:
        flags = next((line.split() for line in f if line.startswith("flags")), [])
    return "x86-64-v3" if {"avx2", "bmi1", "bmi2", "fma", "f16c", "movbe"} <= set(flags) else "native"


def build_cpp(root, out):
    source = root if (root / "CMakeLists.txt").exists() else root / "benchmarks"
    tree = out / "cmake"
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={tool}" for tool in [shutil.which("ccache")] if tool]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configured = run_logged(
        ["cmake", "-S", str(source), "-B", str(tree), *generator, "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_CXX_FLAGS_RELEASE=-O3 -march={target_cpu()} -DNDEBUG", f"-DROOST_BENCH_CPU={target_cpu()}",
         "-DROOST_BUILD_BENCH=ON", "-DROOST_BUILD_TESTS=OFF",
         "-DROOST_ENABLE_ASIO=IF_FOUND", "-DROOST_ENABLE_SERVICE=ON",   # for the servers of the rows io/*
         "-DROOST_BUILD_EXAMPLES=OFF", "-DROOST_WERROR=OFF", f"-DROOST_BENCH_BIN={out / BIN}", *launcher], out / "configure.log")
    if not configured:
        sys.exit(f"bench: configuring failed: {first_error(out / 'configure.log')}")
    names = (tree / "bench_subjects.txt").read_text().split()
    keep_going = ["--", "-k", "0"] if generator else ["--", "-k"]
    if run_logged(["cmake", "--build", str(tree), "--target", "roost_bench", *keep_going], out / "build.log"):
        failed = {}
    else:
        failed = failed_subjects(tree, out, names)
    keep_only(out, set(names) - set(failed))
    return failed


def failed_subjects(tree, out, names):
    """{name: reason} of the peers that cannot be built. Roost and the floors have to be: an older program of theirs would be
    measured as if it were this one."""
    failed = {}
    for name in sorted([*names, "roost_bench_gauge"], key=lambda n: n.startswith("peer__")):
        log = out / "build_one.log"
        if not run_logged(["cmake", "--build", str(tree), "--target", name], log):
            if not name.startswith("peer__"):
                sys.exit(f"bench: {name} does not build, so nothing is measured: {first_error(log)} (build/bench/build.log)")
            failed[name] = first_error(log)
    return failed


def keep_only(out, names):
    """Removes the programs of peers that do not build any more, and of sources that are gone."""
    for program in (out / BIN).iterdir():
        if program.name not in names:
            program.unlink()


def build_rust(root, out):
    cargo = shutil.which("cargo")
    if not cargo:
        return "cargo is not installed"
    compare = root / "benchmarks" / "compare"
    env = dict(os.environ, CARGO_TARGET_DIR=str(out / "cargo"), RUSTFLAGS=f"-C target-cpu={target_cpu()}")
    log = out / "cargo.log"
    for left in (out / "cargo" / "release").glob("peer__*"):
        left.unlink()
    if not run_logged([cargo, "build", "--release", "--offline", "--keep-going"], log, cwd=compare, env=env):
        # Debian's cargo is too old for --keep-going.
        if not run_logged([cargo, "build", "--release", "--offline"], log, cwd=compare, env=env):
            return first_error(log)
    for source in compare.glob("*/*.rs"):
        name = binary_name(source)
        built = out / "cargo" / "release" / name
        if built.exists():
            shutil.copy2(built, out / BIN / name)
    return ""


def build_go(root, out, source):
    go = shutil.which("go")
    if not go:
        return "go is not installed"
    work = out / "go" / binary_name(source)
    work.mkdir(parents=True, exist_ok=True)
    for file in (source, root / "benchmarks" / "harness" / "harness.go"):
        shutil.copy2(file, work / file.name)
    env = dict(os.environ, GO111MODULE="off", GOCACHE=str(out / "go" / "cache"), GOFLAGS="")
    log = out / "go.log"
    ok = run_logged([go, "build", "-o", str(out / BIN / binary_name(source)), source.name, "harness.go"],
                    log, cwd=work, env=env)
    return "" if ok else first_error(log)


JARS = ["/usr/share/java/HikariCP.jar", "/usr/share/java/slf4j-api.jar", "/usr/share/java/slf4j-nop.jar"]


def build_java(root, out, source):
    """One class per file; the program is a script that starts the JVM."""
    javac = shutil.which("javac")
    if not javac:
        return "javac is not installed"
    work = out / "java" / binary_name(source)
    work.mkdir(parents=True, exist_ok=True)
    jars = ":".join(jar for jar in JARS if os.path.exists(jar))
    log = out / "java.log"
    if not run_logged([javac, "-nowarn", "-cp", jars, "-d", str(work), str(source)], log):
        return first_error(log)
    program = out / BIN / binary_name(source)
    program.write_text(f'#!/bin/sh\nexec java -XX:+UseParallelGC -Xmx256m -cp "{jars}:{work}" {source.stem} "$@"\n')
    program.chmod(0o755)
    return ""


# Debian's coroutines are built without their atomicfu step and would be slower than the published ones; the step is
# packaged, so it is done here.
JAVA = "/usr/share/java/"
ATOMICFU = ["atomicfu-transformer.jar", "atomicfu.jar", "atomicfu-common.jar", "asm-all.jar", "kotlin-stdlib.jar",
            "kotlinx-metadata-jvm.jar", "slf4j-api.jar", "slf4j-nop.jar"]


def kotlin_coroutines(out, log):
    """The classes of kotlinx.coroutines, with its atomics inlined, as in its published jar."""
    done = out / "kotlin" / "coroutines"
    if done.exists():
        return done
    plain, made = out / "kotlin" / "plain", out / "kotlin" / "made"
    for folder in (plain, made):
        shutil.rmtree(folder, ignore_errors=True)
    for jar in ("kotlinx-coroutines-core-common.jar", "kotlinx-coroutines-core.jar"):
        with zipfile.ZipFile(JAVA + jar) as archive:
            archive.extractall(plain)
    path = ":".join([str(plain)] + [JAVA + jar for jar in ATOMICFU])
    if not run_logged(["java", "-cp", path, "kotlinx.atomicfu.transformer.AtomicFUTransformerKt", str(plain), str(made)], log):
        return None
    made.rename(done)
    return done


def build_kotlin(root, out, source):
    kotlinc = shutil.which("kotlinc")
    if not kotlinc or not os.path.exists(JAVA + "kotlinx-coroutines-core.jar") or not os.path.exists(JAVA + "atomicfu.jar"):
        return "kotlin, libkotlinx-coroutines-java or libkotlinx-atomicfu-java is not installed"
    log = out / "kotlin.log"
    library = kotlin_coroutines(out, log)
    if not library:
        return first_error(log)
    harness = root / "benchmarks" / "harness" / "harness.kt"
    work = out / "kotlin" / binary_name(source)
    stamp = work / "stamp"   # kotlinc takes its time: only when something changed
    if not stamp.exists() or stamp.stat().st_mtime < max(f.stat().st_mtime for f in (source, harness)):
        shutil.rmtree(work, ignore_errors=True)
        if not run_logged([kotlinc, "-nowarn", "-cp", str(library), str(harness), str(source), "-d", str(work)], log):
            return first_error(log)
        stamp.touch()
    program = out / BIN / binary_name(source)
    main = source.stem.capitalize() + "Kt"
    program.write_text(f'#!/bin/sh\nexec java -XX:+UseParallelGC -Xmx256m -cp "{work}:{library}:{JAVA}kotlin-stdlib.jar" {main} "$@"\n')
    program.chmod(0o755)
    return ""


def build_haskell(root, out, source):
    ghc = shutil.which("ghc")
    if not ghc:
        return "ghc is not installed"
    work = out / "haskell" / binary_name(source)
    work.mkdir(parents=True, exist_ok=True)
    log = out / "haskell.log"
    ok = run_logged([ghc, "-O2", "-threaded", "-outputdir", str(work), "-o", str(out / BIN / binary_name(source)), str(source)],
                    log)
    return "" if ok else first_error(log)


HEADER_SUBJECTS = ("ours__compile__roost", "peer__compile__asio", "peer__compile__tbb")


def write_header_subjects(root, out):
    text = (root / "benchmarks" / "compile" / "headers.py").read_text().replace("@ROOT@", str(root))
    for name in HEADER_SUBJECTS:
        program = out / BIN / name
        program.write_text(text)
        program.chmod(0o755)


BUILDERS = {".go": build_go, ".java": build_java, ".hs": build_haskell, ".kt": build_kotlin}


def binary_name(source):
    return f"peer__{source.parent.name}__{source.stem}"


def with_a_source(root, sources):
    """The names of all programs whose source is there."""
    own = {f"ours__{p.parent.name}__{p.stem.removesuffix('_bench')}" for p in (root / "benchmarks").glob("*/*_bench.cpp")}
    floors = {f"floor__floors__{p.stem}" for p in (root / "benchmarks" / "floors").glob("*.cpp")}
    echo = {f"{kind}__io__{p.stem}" for p in (root / "benchmarks" / "io").glob("echo_*.cpp") for kind in ("ours", "floor")}
    kv = {"ours__io__kv"} if (root / "examples" / "kv" / "CMakeLists.txt").exists() else set()
    servers = echo | kv | {"client__io__echo"}
    return own | floors | servers | {binary_name(source) for source in sources} | set(HEADER_SUBJECTS)


def build_all(root, out, peers, skip=False):
    """Returns {library/problem: reason} for every peer source that has no program."""
    (out / BIN).mkdir(parents=True, exist_ok=True)
    compare = root / "benchmarks" / "compare"
    sources = [p for p in sorted(compare.glob("*/*")) if p.suffix in (".cpp", ".rs", *BUILDERS)]
    reasons = {}
    if skip:
        keep_only(out, with_a_source(root, sources))
    else:
        print("bench: building ...", flush=True)
        reasons.update(build_cpp(root, out))
        write_header_subjects(root, out)
        if any(p.suffix == ".rs" and wanted(library_of(p), peers) for p in sources):
            reasons[".rs"] = build_rust(root, out)
        for source in sources:
            if source.suffix in BUILDERS and wanted(library_of(source), peers):
                reasons[binary_name(source)] = BUILDERS[source.suffix](root, out, source)
    absent = {}
    for source in sources:
        if not wanted(library_of(source), peers) or (out / BIN / binary_name(source)).exists():
            continue
        reason = reasons.get(".rs" if source.suffix == ".rs" else binary_name(source), "")
        absent[f"{library_of(source)} ({source.parent.name})"] = reason or ("it is not built" if skip else "its package is not installed")
    return absent
