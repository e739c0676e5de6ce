"""`import kumitate` is quick, and loads nothing that a first call does not need."""

import ast
import subprocess
import sys
from importlib.util import find_spec

#: Packages that take long to load, and modules of Python's own that only some calls need.
HEAVY = {
    "casadi", "coacd", "concurrent.futures", "cyclopts", "dask", "distributed", "fast_simplification", "gymnasium", "h5py",
    "hashlib", "imageio_ffmpeg", "json", "llvmlite", "logging", "matplotlib", "mcap", "mujoco", "pandas", "PIL", "pinocchio",
    "proxsuite", "pyarrow", "rich", "ruamel", "scipy", "sympy", "tempfile", "trimesh", "viser", "xml", "yaml", "zipfile",
}  # fmt: skip
#: What of kumitate is loaded when it is asked for.
LATER = {
    "kumitate.cli", "kumitate.compile.exports", "kumitate.compile.fastcall", "kumitate.compile.llvm",
    "kumitate.compile.pipeline", "kumitate.compile.report", "kumitate.contact", "kumitate.control", "kumitate.cuda",
    "kumitate.lagrange",
    "kumitate.model.convert", "kumitate.model.meshes", "kumitate.model.read", "kumitate.model.shapes.mesh_files",
    "kumitate.model.shapes.surfaces", "kumitate.model.write", "kumitate.scalar.purity",
    "kumitate.runs", "kumitate.records.archive", "kumitate.simulate.simulation", "kumitate.simulate.integrators",
    "kumitate.scenario", "kumitate.share.notebook", "kumitate.share.run_files", "kumitate.simulation", "kumitate.sweeps",
    "kumitate.view",
}  # fmt: skip
PROBE = """
import sys, numpy
before = set(sys.modules)
import kumitate
print(sorted(set(sys.modules) - before))
"""

#: `import kumitate` runs at most so many of its modules.
MOST = 150

#: What one motion with contact does without: contact that is traced pair by pair, meshes, files of results.
ELSEWHERE = {
    "kumitate.lagrange", "kumitate.model.meshes", "kumitate.simulate.interactions.impulses",
    "kumitate.records.archive", "logging", "zipfile",
}  # fmt: skip
CONTACT = """
import sys
import kumitate
from kumitate.model.samples import hoap1
kumitate.Simulation(hoap1(), contact="rigid").mechanism
print(sorted(sys.modules))
"""


def test_import_loads_nothing_that_a_first_call_does_not_need():
    """Named modules, not a clock: its time depends on the machine and its load, and on what NumPy takes."""
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(answer.stdout))
    heavy = (HEAVY | LATER) & loaded
    assert not heavy, f"import kumitate loads {sorted(heavy)}; import them inside the functions that need them"
    own = [name for name in loaded if name.partition(".")[0] == "kumitate"]
    assert len(own) <= MOST, f"import kumitate runs {len(own)} of its modules, over {MOST}; join files, or import later"


def test_contact_of_a_robot_loads_nothing_that_only_other_contact_needs():
    answer = subprocess.run([sys.executable, "-c", CONTACT], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(answer.stdout.splitlines()[-1]))
    assert "kumitate.simulate.interactions.scene" in loaded
    assert not ELSEWHERE & loaded, f"contact loads {sorted(ELSEWHERE & loaded)}; import them where they are used"


def test_what_is_loaded_later_exists():
    """A name here that nothing has any more would guard nothing."""
    missing = {name for name in LATER | ELSEWHERE if find_spec(name) is None}
    assert not missing, f"{sorted(missing)} are no modules; write their new names"


def test_modules_of_the_package_that_a_function_hides_are_found():
    """`km.simulate` is a function, and `kumitate.simulate` a package; Python looks for modules in both."""
    program = """
import inspect, pickle
import kumitate
import kumitate.records.audit as audit
import kumitate.simulate.run
from kumitate.simulate import Audit
assert audit.Audit is Audit and kumitate.simulate.run.simulate_batch is not kumitate.simulate_batch
assert "duration" in inspect.signature(kumitate.simulate).parameters and "controller" in kumitate.simulate.__doc__
assert kumitate.simulate.__module__ == "kumitate.run" and pickle.loads(pickle.dumps(kumitate.simulate)) is kumitate.simulate
"""
    subprocess.run([sys.executable, "-c", program], check=True)
