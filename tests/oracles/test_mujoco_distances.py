"""Distances of convex shapes beside MuJoCo's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kumitate.contact.pairs.rows import Solid, points_for, solids_of, touching
from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, Hull, Sphere

mujoco = pytest.importorskip("mujoco")

_stone = np.random.default_rng(7).normal(size=(14, 3))
STONE = 0.2 * _stone / np.linalg.norm(_stone, axis=1)[:, None]
SHAPES = [
    (Sphere(0.1), 'type="sphere" size="0.1"'),
    (Capsule(0.07, 0.3), 'type="capsule" size="0.07 0.15"'),
    (Box((0.2, 0.3, 0.4)), 'type="box" size="0.1 0.15 0.2"'),
    (Cylinder(0.1, 0.3), 'type="cylinder" size="0.1 0.15"'),
    (Ellipsoid((0.1, 0.2, 0.15)), 'type="ellipsoid" size="0.1 0.2 0.15"'),
    (Hull(tuple(map(tuple, STONE.tolist()))), 'type="mesh" mesh="stone"'),
]
MESH = f'<asset><mesh name="stone" vertex="{" ".join(map(repr, STONE.ravel().tolist()))}"/></asset>'


def scene(i: int, j: int):
    bodies = "".join(f"<body><freejoint/><geom {SHAPES[k][1]}/></body>" for k in (i, j))
    option = '<option ccd_tolerance="1e-10" ccd_iterations="200"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}{MESH}<worldbody>{bodies}</worldbody></mujoco>")
    return model, mujoco.MjData(model)


@pytest.mark.parametrize(
    ("i", "j"), list(itertools.combinations_with_replacement(range(6), 2)), ids=lambda k: SHAPES[k][0].kind
)
def test_distances_are_mujocos(i, j):
    model, data = scene(i, j)
    solids, out, seed, met = solids_of([SHAPES[i][0], SHAPES[j][0]]), points_for(1), 21, 0
    rng = np.random.default_rng(seed)
    for trial in range(30):
        data.qpos[:] = rng.normal(size=14)
        data.qpos[[0, 1, 2, 7, 8, 9]] *= 0.25
        mujoco.mj_kinematics(model, data)
        X, Y = (
            np.concatenate([data.xmat[k], data.xpos[k]]).reshape(4, 3) for k in (1, 2)
        )  # geometries of meshes have frames of their own
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None)
        count = touching(Solid(solids, 0, X), Solid(solids, 1, Y), 10.0, -1, out, 0)
        if theirs > 1e-3:  # its depths are those along one direction
            met += 1
            assert out.gaps[:count].min() == pytest.approx(theirs, abs=1e-6), (seed, trial)
        else:
            assert out.gaps[:count].min() < 2e-3, (seed, trial)
    assert met > 8
