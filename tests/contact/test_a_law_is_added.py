"""A contact law is added as `docs/architecture.md` says: to a copy of the package, where a robot and a scene then obey it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys

import pytest

from ..repo.sources import PACKAGE, ROOT

#: Bricks slide at an angle on a floor whose friction across x is half of that along x; the first alone, or with two others.
SLIDE = """
import sys
import numpy as np
import kumitate as km

STEP, MU, ACROSS, HALF, STARTS = 1e-4, 0.4, 0.5, 0.01, [(1.5, 1.0), (0.5, -1.2), (-1.0, 0.3)]
count = int(sys.argv[1])
size = (0.2, 0.2, 2 * HALF)
shape = [km.Geometry(km.Box(size))]
bodies = [km.Body(f"brick{k}", 2.0, inertia=(0.007, 0.007, 0.013), collisions=shape) for k in range(count)]
joints = [km.Joint(f"free{k}", "floating", "world", f"brick{k}") for k in range(count)]
bricks = km.Mechanism("bricks", bodies, joints)
q = np.array([[0, 0, 0, 1, 3.0 * k, 0, HALF] for k in range(count)]).ravel()
v = np.array([[0, 0, 0, *start, 0] for start in STARTS[:count]]).ravel()
contact = km.Contact(surface=km.Surface(MU, across=ACROSS))
simulation = km.Simulation(bricks, contact=contact, step=STEP, side_by_side=count == 1)
run = simulation.run(q, v, duration=0.15, every=300)
print(simulation.explain_contact().solver)
for row in run.v.reshape(len(run.v), count, 6)[:, :, 3:5]:
    print(*row.ravel())
print(run.audit.work)
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A folder with the package, and what the page says written into it."""
    folder = tmp_path_factory.mktemp("law")
    shutil.copytree(PACKAGE, folder / "kumitate", ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = page[page.index("**A contact law**") :]
    field, law = (part.split("```")[0] for part in told.split("```py\n")[1:3])
    surface = folder / "kumitate" / "contact" / "surface.py"
    text, last = surface.read_text(encoding="utf-8"), "    damping: float = 0.0\n"
    assert text.count(last) == 2, "`Surface` and `VariedSurface` end with it"
    surface.write_text(text.replace(last, last + field), encoding="utf-8")
    axes = folder / "kumitate" / "contact" / "laws" / "axes.py"
    lines = axes.read_text(encoding="utf-8").splitlines(keepends=True)
    (old,) = (node for node in ast.parse("".join(lines)).body if isinstance(node, ast.FunctionDef))
    axes.write_text("".join([*lines[: old.lineno - 1], law, *lines[old.end_lineno :]]), encoding="utf-8")
    return folder


def slides(folder, count):
    """The solver, the velocities (records, bricks, 2) along x and y, and the work of contact [J], of so many bricks."""
    given = {**os.environ, "PYTHONPATH": str(folder), "KUMITATE_CACHE": str(folder / "cache")}
    made = subprocess.run([sys.executable, "-c", SLIDE, str(count)], env=given, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    solver, *rows, work = made.stdout.splitlines()
    numbers = [list(map(float, row.split())) for row in rows]
    return solver, [[row[2 * k : 2 * k + 2] for k in range(count)] for row in numbers], float(work)


@pytest.mark.parametrize(("count", "solver"), [(1, "traced"), (3, "scene")])
def test_friction_across_a_grain_is_that_of_the_page(changed, count, solver):
    """dv = −μ g (v₁, s² v₂) / √(v₁² + s² v₂²) dt, so v₂ is as v₁ to the power s²; friction takes all energy that is lost."""
    found, speeds, work = slides(changed, count)
    assert found == solver
    energy = [sum(x * x + y * y for x, y in row) for row in speeds]  # of 2 kg each
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-9)
    for k in range(count):
        (x, y), share, step = speeds[0][k], 0.25, 1e-5
        for record in range(1, len(speeds)):
            for _ in range(3000):
                size = (x * x + share * y * y) ** 0.5
                x, y = x - step * 0.4 * 9.81 * x / size, y - step * 0.4 * 9.81 * share * y / size
            assert speeds[record][k] == pytest.approx((x, y), abs=2e-4), (k, record)
            law = (speeds[record][k][0] / speeds[0][k][0]) ** share
            assert speeds[record][k][1] / speeds[0][k][1] == pytest.approx(law, rel=2e-4), (k, record)
