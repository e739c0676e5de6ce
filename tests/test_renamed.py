"""Former names of what is public: they give what they gave, and a warning that says the present name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

RENAMED = {
    "contact": {"HeldPoint": "kumitate.held.HeldPoint"},
    "simulate": {"Result": "kumitate.simulate.Record"},
    "analysis": {"Nearness": "kumitate.robot.Robot"},
    "examples": {"Illustrated": "kumitate.examples.Example"},
    "share": {"RobotSharing": "kumitate.robot.Robot"},
}


@pytest.mark.parametrize(
    ("room", "former", "now"), [(room, former, now) for room, names in RENAMED.items() for former, now in names.items()]
)
def test_a_former_name_gives_the_present_thing_and_a_warning(room, former, now):
    with pytest.warns(FutureWarning, match=f"kumitate.{room}.{former} is now {now}; the former name goes with the next"):
        found = getattr(import_module(f"kumitate.{room}"), former)
    above, _, last = now.rpartition(".")
    assert found is getattr(import_module(above), last)


#: Methods of the papers, by what is refused where `kumitate.papers` is not imported.
BALL = (
    'km.Mechanism("m", (km.Body("b", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.1)),)),), '
    '(km.Joint("j", "floating", "world", "b"),))'
)
OF_PAPERS = {
    "unit_vector": 'km.load("pendulum").mass_matrix([0.1], method="unit_vector")',
    "multipoint": f'km.Simulation({BALL}, contact="multipoint")',
    "newton_euler": "km.held.motion.check_method('newton_euler')",
}


def test_methods_of_the_papers_are_refused_until_those_are_imported():
    tried = "".join(f"try:\n    {call}\nexcept km.InputError as error:\n    print(error)\n" for call in OF_PAPERS.values())
    script = f"import kumitate as km, kumitate.held.motion\n{tried}import kumitate.papers\n" + "\n".join(OF_PAPERS.values())
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.splitlines()
    for line, method in zip(told, OF_PAPERS, strict=True):
        assert line.endswith(f"; {method!r} is in kumitate.papers, which is to be imported first")


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kumitate.control' has no attribute 'motoin'"):
        _ = import_module("kumitate.control").motoin
