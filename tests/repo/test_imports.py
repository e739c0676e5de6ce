"""`import kumitate` is quick, and loads nothing that a first call does not need."""

import json
import subprocess
import sys

HEAVY = {
    "cyclopts",
    "gymnasium",
    "h5py",
    "matplotlib",
    "mujoco",
    "PIL",
    "pinocchio",
    "rich",
    "scipy",
    "sympy",
    "trimesh",
    "viser",
}
PROBE = """
import json, sys, time
start = time.perf_counter()
import kumitate
print(json.dumps({"seconds": time.perf_counter() - start, "loaded": sorted({name.split(".")[0] for name in sys.modules})}))
"""


def test_import_loads_nothing_heavy(record_property):
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    report = json.loads(answer.stdout)
    record_property("seconds", report["seconds"])  # reported, not judged: it depends on the machine and its load
    print(f"import kumitate: {report['seconds']:.3f} s")
    heavy = HEAVY & set(report["loaded"])
    assert not heavy, f"import kumitate loads {sorted(heavy)}; import them inside the functions that need them"
