"""Energies and momenta by lists of links: those of the traced program of the whole mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.model import Line, Loop, Mechanism
from kumitate.simulate.scenes.model import Quantities
from kumitate.simulate.stepping.equations import observables_program
from kumitate.spatial import pose
from tests.mechanisms import closed_cases, every_kind, random_case, random_coordinates, random_ring


def with_line(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a sprung line between its first and last body, which moves with a mass of its own."""
    ends = mechanism.bodies[0].name, mechanism.bodies[-1].name
    line = Loop("line", Line(), *ends, pose((0.1, 0.2, 0.3)), pose((0.3, 0.1, 0.0)), stiffness=30.0, rest=0.2, armature=0.5)
    return replace(mechanism, loops=(*mechanism.loops, line))


MECHANISMS = {
    "every kind": lambda: every_kind(0).mechanism,
    "floating": lambda: random_case(3, root="floating").mechanism,
    "a line": lambda: with_line(random_case(5).mechanism),
    "a ring": lambda: (
        closed_cases(1, random_ring(1, ["revolute", "spherical", "revolute", "universal"]), ["h1"])[0][0].mechanism
    ),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_energies_and_momenta_by_links_are_those_of_the_whole(name):
    """Inertias, springs and armatures of joints and of what closes loops, gravity aslant."""
    mechanism = replace(MECHANISMS[name](), gravity=(0.5, -1.0, -9.0))
    rng = np.random.default_rng(7)
    q = np.array([random_coordinates(mechanism, rng) for _ in range(5)])
    v = rng.normal(size=(5, mechanism.nv))
    whole = Kernel(observables_program(mechanism))(q, v)
    for listed, traced in zip(Quantities(mechanism)(q, v), whole, strict=True):
        assert np.abs(listed - traced).max() < 1e-12 * max(1.0, np.abs(traced).max())
