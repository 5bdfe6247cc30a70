#!/usr/bin/env python3
"""The two forms of the layer asio, with stand-ins for the headers of standalone Asio: what is refused, and what is carried on.

usage: asio_forms.py SOURCE LIBRARY BOOST COMPILER GENERATOR

LIBRARY is the layer's library as it was built on Boost.Asio, and BOOST is the folder that holds boost/. That the layer works on
standalone Asio is shown by asio_standalone_test, which needs the real headers.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY, BOOST, COMPILER, GENERATOR = sys.argv[1:]
HEADER = pathlib.Path(SOURCE) / "include/roost/asio/detail/net.hpp"


def call(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, re.sub(r"\s+", " ", done.stdout)


def stand_in(folder, version):
    """As many headers of standalone Asio as net.hpp includes, with the few names that it mentions itself."""
    for name in re.findall(r"^#include <(asio/\w+\.hpp)>", HEADER.read_text(encoding="utf-8"), re.M):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "asio/version.hpp").write_text(f"#define ASIO_VERSION {version} // a stand-in\n")
    (folder / "asio/system_error.hpp").write_text(
        "#include <system_error>\nnamespace asio { using std::error_code; using std::system_error; }\n")
    return folder


class Forms(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.work = pathlib.Path(place.name)

    def configure(self, *options):
        return call("cmake", "-S", SOURCE, "-B", self.work / "build", "-G", GENERATOR, f"-DCMAKE_CXX_COMPILER={COMPILER}",
                    "-DROOST_BUILD_TESTS=OFF", "-DROOST_BUILD_EXAMPLES=OFF", "-DROOST_BUILD_MODEL=OFF", "-DROOST_PCH=OFF",
                    "-DROOST_ENABLE_ASIO=ON", f"-DROOST_BOOST_INCLUDE_DIR={BOOST}", *options)

    def link(self, *options):
        """What the linker says of a program without the layers below: only the form is of interest."""
        program = self.work / "program.cpp"
        program.write_text("#include <roost/asio/detail/net.hpp>\nint main() {}\n")
        return call(COMPILER, "-std=c++20", f"-I{SOURCE}/include", *options, "-idirafter", BOOST, program, LIBRARY, "-o", self.work / "program")[1]

    def test_ASIO_40_another_form_is_refused(self):
        status, output = self.configure("-DROOST_ASIO=other")
        self.assertNotEqual(status, 0)
        self.assertIn("ROOST_ASIO is 'other'; it has to be boost or standalone", output)

    def test_ASIO_20_an_older_or_absent_standalone_asio_is_refused_with_one_sentence(self):
        for version, words in ((102400, "holds Asio 1.24: name the folder that holds a newer asio.hpp"), (None, "which holds none: name")):
            folder = self.work / str(version)
            if version:
                stand_in(folder, version)
            status, output = self.configure("-DROOST_ASIO=standalone", f"-DROOST_ASIO_INCLUDE_DIR={folder}")
            self.assertNotEqual(status, 0)
            self.assertIn("the layer asio needs standalone Asio 1.26 or newer, and", output)
            self.assertIn(words, output)

    def test_ASIO_40_the_form_is_carried_to_users(self):
        folder = stand_in(self.work / "asio", 102600)
        status, output = self.configure("-DROOST_ASIO=standalone", f"-DROOST_ASIO_INCLUDE_DIR={folder}")
        self.assertEqual(status, 0, output)
        flags = (self.work / "build/roost-asio.pc").read_text()
        self.assertIn("-DROOST_ASIO_STANDALONE", flags)
        self.assertNotIn("BOOST", flags)
        commands = (self.work / "build/compile_commands.json").read_text()
        self.assertRegex(commands, rf"-DROOST_ASIO_STANDALONE [^\n]*-isystem {re.escape(str(folder))} [^\n]*src/asio/")
        # The package looks for the same Asio: its files name the form.
        config = (self.work / "build/roost-config.cmake").read_text()
        self.assertIn("roost_find_asio(standalone ", config)

    def test_ASIO_40_boost_is_the_default(self):
        status, output = self.configure()
        self.assertEqual(status, 0, output)
        self.assertNotIn("STANDALONE", (self.work / "build/roost-asio.pc").read_text())

    def test_ASIO_41_a_file_of_the_other_form_does_not_link(self):
        name = "asio_layer_is_built_for_"
        self.assertNotIn(name, self.link())
        folder = stand_in(self.work / "asio", 102600)
        self.assertIn(f"undefined reference to `roost::v0::detail::{name}standalone'", self.link("-DROOST_ASIO_STANDALONE", f"-I{folder}"))


unittest.main(argv=sys.argv[:1])
