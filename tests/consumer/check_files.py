#!/usr/bin/env python3
"""Recipes, systemd unit, Dockerfile and Kubernetes manifest agree with the code and with each other.

usage: check_files.py SOURCE_FOLDER [--strict]

No cluster and no package manager is needed. Where systemd-analyze is installed, it has a look at the unit; where PyYAML is, the
manifest is held against the shape of a Deployment. --strict: PyYAML has to be there (tools/setup all brings it).
"""

import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

problems = []

# The parts of a Deployment (apps/v1) that a manifest like ours may use: a table has exactly known keys, a list one kind of item.
PROBE = {"httpGet": {"path": str, "port": int}, "periodSeconds": int, "failureThreshold": int, "initialDelaySeconds": int,
         "timeoutSeconds": int, "successThreshold": int}
CONTAINER = {"name": str, "image": str, "ports": [{"containerPort": int, "name": str}], "env": [{"name": str, "value": str}],
             "readinessProbe": PROBE, "livenessProbe": PROBE}
DEPLOYMENT = {"apiVersion": str, "kind": str, "metadata": {"name": str, "labels": {str: str}},
              "spec": {"replicas": int, "selector": {"matchLabels": {str: str}},
                       "template": {"metadata": {"labels": {str: str}, "annotations": {str: str}},
                                    "spec": {"terminationGracePeriodSeconds": int, "containers": [CONTAINER]}}}}
INSTRUCTIONS = {"FROM", "RUN", "COPY", "USER", "ENV", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "WORKDIR", "LABEL", "ARG", "VOLUME"}


def check(holds, sentence):
    if not holds:
        problems.append(sentence)


def seconds(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|)", text)
    if not found:
        problems.append(f"'{text}' is no length of time")
        return 0.0
    return float(found.group(1)) * {"ms": 0.001, "s": 1, "": 1, "m": 60, "min": 60}[found.group(2)]


def versions(root):
    version = re.search(r"^\s*VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE).group(1)
    conan = (root / "packaging/conan/conanfile.py").read_text()
    port = json.loads((root / "packaging/vcpkg/ports/roost/vcpkg.json").read_text())
    check(f'version = "{version}"' in conan, f"the Conan recipe is not of version {version}")
    check(port["version"] == version, f"the vcpkg port is not of version {version}")
    compile(conan, "conanfile.py", "exec")
    wanted = version.rsplit(".", 1)[0]
    check(f"find_package(roost {wanted} " in (root / "template/CMakeLists.txt").read_text(),
          f"the template does not ask for version {wanted}")


def switches(root):
    """Every -DROOST_x that a recipe, an image or a guide names exists."""
    known = set(re.findall(r"(?:option|set)\((ROOST_\w+)", (root / "cmake/roost_options.cmake").read_text()))
    for name in ("packaging/vcpkg/ports/roost/portfile.cmake", "template/deploy/Dockerfile", "docs/guide/deploying.md"):
        text = (root / name).read_text()
        for used in re.findall(r"-D(ROOST_\w+)", text) + re.findall(r"FEATURES \w+ (ROOST_\w+)", text):
            check(used in known, f"{name} sets {used}, which is no option")
    for layer in ("TESTS", "EXAMPLES", "MODEL"):
        check(f"ROOST_BUILD_{layer}" in known, f"the Conan recipe sets ROOST_BUILD_{layer}, which is no option")


def variables(root):
    """Every ROOST_SHUTDOWN_x that is named is one that is read."""
    phases = re.findall(r'return "([a-z ]+)";', (root / "include/roost/service/phase.hpp").read_text())
    known = {"ROOST_SHUTDOWN_TOTAL"} | {"ROOST_SHUTDOWN_" + p.upper().replace(" ", "_") for p in phases}
    for name in ("template/deploy/shop.service", "template/deploy/Dockerfile", "template/deploy/kubernetes.yaml",
                 "docs/guide/deploying.md"):
        for used in re.findall(r"ROOST_SHUTDOWN_[A-Z_]+", (root / name).read_text()):
            check(used in known, f"{name} sets {used}, which no code reads")


def unit(root):
    text = (root / "template/deploy/shop.service").read_text()
    setting = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    total = seconds(re.search(r"ROOST_SHUTDOWN_TOTAL=(\S+)", text).group(1))
    check(setting["Type"] == "notify", "the unit has to be of Type=notify")
    check(seconds(setting["TimeoutStopSec"]) > total, "the unit's TimeoutStopSec is not more than the total budget")
    check(setting["KillMode"] == "mixed", "the unit has to signal the main process only")
    check(seconds(setting["WatchdogSec"]) > 10, "WatchdogSec has to be more than live_within, 10 s")
    check("\nEnvironment=SHOP_ADMIN=127.0.0.1:" in text, "the unit does not set the admin address")
    check('getenv("SHOP_ADMIN")' in (root / "template/main.cpp").read_text(), "the template does not read SHOP_ADMIN")
    check("ExecReload" not in setting, "the template has no on_reload, so a reload would end it")
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        print("systemd-analyze is not installed, so it had no look at the unit")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "roost-check.service"
        path.write_text(text.replace("/usr/local/bin/shop", "/bin/true"))
        done = subprocess.run([analyze, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stderr.splitlines() if "roost-check" in line]
        check(not complaints, "systemd-analyze: " + "; ".join(complaints))


def image(root):
    text = (root / "template/deploy/Dockerfile").read_text()
    entry = re.findall(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    check(len(entry) == 1 and isinstance(json.loads(entry[0]), list), "ENTRYPOINT has to be in list form, or a shell keeps the signals")
    check(re.search(r"^STOPSIGNAL SIGTERM$", text, re.MULTILINE), "the image has to be stopped by SIGTERM")
    check(re.search(r"^USER (?!root)", text, re.MULTILINE), "the image must not run as root")
    check(not re.search(r"^CMD ", text, re.MULTILINE), "CMD would become arguments of the service")
    for line in re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines():
        check(not line.strip() or line.split()[0] in INSTRUCTIONS, f"'{line[:40]}' is no instruction of a Dockerfile")


def misfits(value, shape, where="manifest"):
    """What in value does not have that shape."""
    if isinstance(shape, dict) and isinstance(value, dict):
        if set(shape) == {str}:
            return [m for k, v in value.items() for m in misfits(v, shape[str], f"{where}.{k}")]
        found = [f"{where} has no field '{k}'" for k in value if k not in shape]
        return found + [m for k, v in value.items() if k in shape for m in misfits(v, shape[k], f"{where}.{k}")]
    if isinstance(shape, list) and isinstance(value, list):
        return [m for i, v in enumerate(value) for m in misfits(v, shape[0], f"{where}[{i}]")]
    fits = not isinstance(shape, (dict, list)) and isinstance(value, shape) and not isinstance(value, bool)
    return [] if fits else [f"{where} is {value!r}"]


def shape_of_manifest(found):
    for misfit in misfits(found, DEPLOYMENT):
        check(False, misfit)
    # The check itself: planted mistakes are seen.
    for plant in (lambda c: c.update(readynessProbe=c.pop("readinessProbe")), lambda c: c["env"][0].update(value=30),
                  lambda c: c["ports"][0].update(containerPort="9090"), lambda c: c.update(env={"name": "x"}),
                  lambda c: c.update(terminationGracePeriodSeconds=35)):
        planted = copy.deepcopy(found)
        plant(planted["spec"]["template"]["spec"]["containers"][0])
        check(len(misfits(planted, DEPLOYMENT)) == 1, f"a planted mistake was not seen: {misfits(planted, DEPLOYMENT)}")


def find_yaml():
    try:
        import yaml
        return yaml
    except ImportError:
        sys.path.append("/usr/lib/python3/dist-packages")  # Debian's, when this is another Python
    try:
        import yaml
        return yaml
    except ImportError:
        check("--strict" not in sys.argv, "PyYAML is missing; tools/setup all installs it")
        return None


def manifest(root):
    text = (root / "template/deploy/kubernetes.yaml").read_text()
    check("\t" not in text, "the manifest contains a tab")
    env = dict(re.findall(r"- name: (\w+)\n\s+value: \"([^\"]+)\"", text))
    grace = int(re.search(r"^\s+terminationGracePeriodSeconds: (\d+)$", text, re.MULTILINE).group(1))
    total, duck = seconds(env["ROOST_SHUTDOWN_TOTAL"]), seconds(env["ROOST_SHUTDOWN_LAME_DUCK"])
    check(grace > total, "terminationGracePeriodSeconds is not more than ROOST_SHUTDOWN_TOTAL")
    check(duck < total, "the lame duck takes the whole budget")
    probe = re.search(r"readinessProbe:(.*?)livenessProbe:", text, re.DOTALL).group(1)
    period = int(re.search(r"periodSeconds: (\d+)", probe).group(1))
    failures = int(re.search(r"failureThreshold: (\d+)", probe).group(1))
    check(period * failures < duck, "readiness is not noticed before the lame duck is over")
    served = (root / "src/admin/admin.cpp").read_text()
    for path in re.findall(r"path: (\S+)", text):
        check(f'get("{path}"' in served, f"the manifest asks for {path}, which the listener does not serve")
    port = re.search(r"SHOP_ADMIN=\*:(\d+)", (root / "template/deploy/Dockerfile").read_text()).group(1)
    for used in re.findall(r"(?:port|containerPort): \"?(\d+)", text):
        check(used == port, f"the manifest uses port {used}, the image {port}")
    yaml = find_yaml()
    if yaml is None:
        print("PyYAML is not installed, so the manifest was read line by line only")
        return
    shape_of_manifest(yaml.safe_load(text))
    pod = yaml.safe_load(text)["spec"]["template"]["spec"]
    check(pod["terminationGracePeriodSeconds"] == grace, "terminationGracePeriodSeconds is in the wrong place")
    check({"readinessProbe", "livenessProbe", "env"} <= set(pod["containers"][0]), "a probe is in the wrong place")
    labels = yaml.safe_load(text)["spec"]
    check(labels["selector"]["matchLabels"] == labels["template"]["metadata"]["labels"], "the selector selects other pods")


def guide(root):
    """The files in the guide are those that are checked."""
    text = (root / "docs/guide/deploying.md").read_text()
    for name in ("shop.service", "Dockerfile", "kubernetes.yaml"):
        check((root / "template/deploy" / name).read_text() in text, f"docs/guide/deploying.md does not have template/deploy/{name} as it is")


def main():
    root = pathlib.Path(sys.argv[1])
    for part in (versions, switches, variables, unit, image, manifest, guide):
        part(root)
    print("\n".join(problems) if problems else "recipes, unit, image and manifest agree")
    return 1 if problems else 0


sys.exit(main())
