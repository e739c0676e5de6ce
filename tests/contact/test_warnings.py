"""Warnings about what a step cannot follow: springs that throw bodies, bodies that pass others, bodies that spin."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import KumitateWarning
from kumitate.model import Sphere
from kumitate.records.contact_record import ContactRecord, Touched
from kumitate_problems.contact import solid

from .with_others import G, R, run, ways


@ways
def test_springs_that_would_throw_bodies_up_are_named(others):
    """A ball that is 5 cm deep in 10⁴ N/m: 12.5 J, which lift it by 1.27 m beside nothing else."""
    contact, height = Contact(surface=Surface(0.5, stiffness=1e4)), 12.5 / G / (1 + others)
    words = rf"'ball' and 'ground' overlap .* 0.05 m; .* hold 12.5 J .* {height:.3g} m up. They begin without it"
    with pytest.warns(KumitateWarning, match=words):
        run([solid("ball", Sphere(R))], [(0, 0, 0.5 * R)], np.zeros(6), contact, 0.003, others)


@ways
def test_a_body_that_turns_by_more_than_a_radian_in_a_step_is_named(others):
    spin = [0.0, 0.0, 300.0, 0.0, 0.0, 0.0]
    words = re.escape("joint 'ball_free' turns by up to 1.5 rad in a step of 0.005 s, at t = 0 s; ")
    with pytest.warns(KumitateWarning, match=words + ".*at most 0.0033 s"):
        run([solid("ball", Sphere(R))], [(0, 0, 2 * R)], spin, "rigid", 0.01, others, step=5e-3)


@ways
def test_a_body_that_moves_further_than_its_size_in_a_step_is_named(others):
    words = re.escape(
        f"joint 'ball_free' moves by up to {3.0 * R:.3g} m in a step of 0.005 s, further than its size of {2 * R:.3g} m"
    )
    with pytest.warns(KumitateWarning, match=words + ".*at most 0.0033 s"):
        run([solid("ball", Sphere(R))], [(0, 0, 9 * R)], [0.0, 0.0, 0.0, 600.0 * R, 0.0, 0.0], "rigid", 0.01, others, step=5e-3)


def test_bodies_that_have_passed_a_surface_are_named():
    """Two tenths of a metre deep where a step closes half a millimetre; what was there at the start does not count."""
    zeros, bodies = np.zeros((3, 1, 3)), (("egg", "wall"),)
    gap = np.array([[0.1], [-0.2], [-0.1]])
    for start, said in ((0.0, True), (0.2, False)):
        depth = np.array([start, 0.2, 0.1])
        record = ContactRecord(bodies, *[zeros] * 3, gap, zeros, gap, *[np.zeros(3)] * 1, depth, np.zeros(3), np.zeros(3))
        told = Touched(record, np.zeros((3, 6)), np.zeros(3), 5e-4).sunk("thrown", np.array([0.0, 0.1, 0.2]))
        assert bool(told) == said
        if said:
            assert "from t = 0.1 s on, by up to 0.2 m at t = 0.1 s ('egg' and 'wall')" in told[0]
