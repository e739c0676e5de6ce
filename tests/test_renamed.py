"""Former names of what is public: they give what they gave, and a warning that says the present name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import kumitate as km

RENAMED = {
    "control": {
        "Gait": "kumitate.papers.legged.Gait",
        "ThreeJointModel": "kumitate.papers.legged.ThreeJointModel",
    },
    "simulate": {"readings": "kumitate.records.readings"},
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


@pytest.mark.parametrize("name", ["SphericalMerge", "best_partition", "merge_spherical", "parallel_ada"])
def test_former_names_of_the_front_door(name):
    with pytest.warns(FutureWarning, match=f"kumitate.{name} is now kumitate.papers.{name}; the former name goes"):
        former = getattr(km, name)
    assert former is getattr(km.papers, name)


#: What programs of 0.2 wrote, before kumitate.papers had to be imported.
BALL = (
    'km.Mechanism("m", (km.Body("b", 1.0, inertia=(1, 1, 1), collisions=(km.Geometry(km.Sphere(0.1)),)),), '
    '(km.Joint("j", "floating", "world", "b"),))'
)
FORMER_METHODS = {
    "unit_vector": 'km.load("pendulum").mass_matrix([0.1], method="unit_vector")',
    "multipoint": f'km.Simulation({BALL}, contact="multipoint")',
}


@pytest.mark.parametrize("method", FORMER_METHODS)
def test_a_method_of_the_papers_is_found_by_its_name_for_one_release(method):
    script = f"import kumitate as km\n{FORMER_METHODS[method]}"
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stderr
    assert f"the method {method!r} is now in kumitate.papers: import kumitate.papers first" in told


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kumitate.control' has no attribute 'motoin'"):
        _ = import_module("kumitate.control").motoin
