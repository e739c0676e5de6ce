"""Former names of what is public: they give what they gave, and a warning that says the present name."""

from __future__ import annotations

from importlib import import_module

import pytest

RENAMED = {
    "control": {
        "Motion": "kumitate.control.JointTrajectory",
        "Page": "kumitate.control.CompiledPage",
        "gait": "kumitate.control.legged.gait",
        "linear_pendulum": "kumitate.control.legged.linear_pendulum",
        "upright": "kumitate.control.legged.whole_body_ik",
    },
    "lagrange": {"Motion": "kumitate.lagrange.Trajectory"},
    "model.meshes": {"Surface": "kumitate.model.meshes.Facets"},
}


@pytest.mark.parametrize(
    ("room", "former", "now"), [(room, former, now) for room, names in RENAMED.items() for former, now in names.items()]
)
def test_a_former_name_gives_the_present_thing_and_a_warning(room, former, now):
    with pytest.warns(FutureWarning, match=f"kumitate.{room}.{former} is now {now}; the former name goes with the next"):
        found = getattr(import_module(f"kumitate.{room}"), former)
    above, _, last = now.rpartition(".")
    assert found is getattr(import_module(above), last)


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'kumitate.control' has no attribute 'motoin'"):
        _ = import_module("kumitate.control").motoin
