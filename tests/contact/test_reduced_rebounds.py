"""Rebounds that friction would make gain energy are reduced, by both ways of contact."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Body, Capsule, Geometry

from .with_others import run, ways


@ways
@pytest.mark.parametrize("turn", [20.0, 60.0])
def test_a_reduced_rebound_misses_the_laws_no_more_than_the_two_that_it_lies_between(others, turn):
    """A stick that turns by 0.1 and 0.3 rad a step, e = 1: once measured against the rebound it does not have."""
    stick = Body("stick", 1.0, inertia=(1 / 12, 1 / 12, 1e-3), collisions=(Geometry(Capsule(0.02, 1.0)),))
    contact, v = Contact(surface=Surface(0.3, restitution=1.0)), [0.0, turn, 0.0, 0.0, 0.0, 0.0]
    found = run([stick], [(0.0, 0.0, 0.8)], v, contact, 0.5, others, step=5e-3)
    assert np.abs(found.contact.force).max() > 0.0
    assert found.audit.contact.residual < 1e-9
