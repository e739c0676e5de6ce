"""The table of pairs: of one robot and in scenes, the same two shapes touch alike."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from kumitate.contact.pairs import FAR, PAIRS
from kumitate.contact.pairs.rows.building import KINDS
from kumitate.contact.pairs.rows.touch import SEARCHES
from kumitate.model import Box, Capsule, Cylinder, HeightField, Hull, Mesh, Plane, Polygon
from kumitate.model.shapes import SHAPES

from ..test_shapes import kernel, two
from .laws import Pair, random_pose

#: Pairs for which two routines choose differently now and then, and the part of poses in which they do not: faces before edges
#: of boxes; the way out of a box for a capsule whose axis has entered it; the own points of one shape alone.
SELDOM = {(Box, Box): 0.9, (Capsule, Box): 0.6, (Cylinder, Box): 0.4, (Hull, Box): 0.25}
BOTH = [kinds for kinds, pair in PAIRS.items() if pair.traced and pair.rows]
NAMES = {"ids": lambda kinds: "-".join(kind.__name__ for kind in kinds)}
MARGIN, POSES = 0.03, 200


@pytest.mark.parametrize("kinds", BOTH, **NAMES)
def test_normals_and_depths_are_those_of_both_forms(kinds):
    """The deepest point of each, of random poses within the margin; normals of the page are from B to A."""
    a, b = two(kinds)
    pair, page, seed = Pair(a, b), kernel(a, b), 21
    rng = np.random.default_rng(seed)
    same, met = 0, 0
    while met < POSES:
        X, Y = random_pose(rng, 0.12), random_pose(rng, 0.12)
        found = pair(X, Y, MARGIN)
        slots = page(X.ravel(), Y.ravel())
        if (slots[:, 6].min() > MARGIN or not found) and kinds not in SELDOM:
            assert slots[:, 6].min() > MARGIN, (seed, met)
            assert not found, (seed, met)
        if not found:
            continue
        met += 1
        _, normal, gap, _ = min(found, key=lambda point: point[2])
        deepest = slots[slots[:, 6].argmin()]
        alike = np.abs(deepest[3:6] + normal).max() < 1e-9 and deepest[6] < FAR
        if kinds not in SELDOM:
            assert alike, (seed, met, deepest, normal)
        if alike and (kinds not in SELDOM or abs(deepest[6] - gap) < 1e-9):
            same += 1
            assert deepest[6] == pytest.approx(gap, abs=1e-12), (seed, met)
    assert same >= SELDOM.get(kinds, 1.0) * POSES


@pytest.mark.parametrize("kinds", [kinds for kinds in BOTH if PAIRS[kinds].rows is PAIRS[kinds].traced], **NAMES)
def test_a_page_that_scenes_apply_gives_the_same_points(kinds):
    """All slots within the margin, in any pose, also in the middle of each other; normals turned round."""
    a, b = two(kinds)
    pair, page, seed, met = Pair(a, b), kernel(a, b), 22, 0
    rng = np.random.default_rng(seed)
    for trial in range(POSES):
        X, Y = random_pose(rng, 0.12), random_pose(rng, 0.12 if trial else 0.0)
        found = np.array([[*p, *-normal, gap] for p, normal, gap, _ in pair(X, Y, MARGIN)]).reshape(-1, 7)
        slots = page(X.ravel(), Y.ravel())
        np.testing.assert_allclose(found, slots[slots[:, 6] <= MARGIN], rtol=0.0, atol=1e-12, err_msg=f"{seed}, {trial}")
        met += len(found)
    assert met > POSES // 4


def test_any_two_shapes_have_an_entry_and_each_search_a_name():
    """Of the shapes with rows; planes and fields do not touch each other, polygons and meshes are not solids."""
    assert set(KINDS) == set(SHAPES.values()) - {Polygon, Mesh}
    solids = set(KINDS) - {Plane, HeightField}
    for a in solids:
        for b in KINDS:
            assert sum(bool(PAIRS[kinds].rows) for kinds in {(a, b), (b, a)} if kinds in PAIRS) == 1, (a, b)
    assert {pair.rows for pair in PAIRS.values() if isinstance(pair.rows, str)} == set(SEARCHES)


def test_shapes_of_one_kind_of_row_have_one_routine():
    routines = defaultdict(set)
    for (a, b), pair in PAIRS.items():
        if pair.rows:
            routines[frozenset((KINDS[a], KINDS[b]))].add(pair.rows)
    assert all(len(some) == 1 for some in routines.values()), routines
