import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("plant", str(ROOT / "tools" / "plant"))
plant = importlib.util.module_from_spec(importlib.util.spec_from_loader("plant", loader))
loader.exec_module(plant)


class Copy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roost plant ")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.work = self.root / "build" / "plant"
        plant.ROOT, plant.WORK = self.root, self.work
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        self.write(".gitignore", "/build/\n")
        self.write("src/a.cpp", "good\n")
        plant.copy_tree()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_what_a_killed_run_left_planted_is_newer_than_its_object_again(self):
        planted, made = self.work / "src/a.cpp", self.work / "build/a.o"
        os.utime(self.root / "src/a.cpp", (1000, 1000))
        planted.write_text("bad\n", encoding="utf-8")
        os.utime(planted, (2000, 2000))
        made.parent.mkdir(parents=True)
        made.write_text("object of bad\n", encoding="utf-8")
        os.utime(made, (3000, 3000))
        plant.copy_tree()
        self.assertEqual("good\n", planted.read_text(encoding="utf-8"))
        self.assertGreater(planted.stat().st_mtime, made.stat().st_mtime)
        self.assertTrue(made.exists())

    def test_what_is_the_same_keeps_its_time(self):
        os.utime(self.work / "src/a.cpp", (2000, 2000))
        plant.copy_tree()
        self.assertEqual(2000, (self.work / "src/a.cpp").stat().st_mtime)

    def test_what_the_tree_no_longer_has_goes(self):
        self.write("src/b.cpp", "b\n")
        plant.copy_tree()
        self.assertTrue((self.work / "src/b.cpp").exists())
        (self.root / "src/b.cpp").unlink()
        plant.copy_tree()
        self.assertFalse((self.work / "src/b.cpp").exists())
        self.assertTrue((self.work / "src/a.cpp").exists())


if __name__ == "__main__":
    unittest.main()
