"""Steps whose contact cannot be solved are told of with time and bodies; beyond all bounds they end the run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.impulse.contact_points import contact_patches
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.problem import Impulses, Problem, Solved
from kumitate.contact.models import IMPULSE_MODELS, rigid
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.errors import DivergenceError, KumitateWarning
from kumitate.model import Body, Geometry, Hull, Mechanism, Plane, Sphere
from kumitate.scalar import Scalar, select
from kumitate.simulate.run import simulate, simulate_batch
from kumitate.spatial import pose
from kumitate_problems.contact import unconnected

TOLD = r"could not be solved in 1 step of 3, first at t = 0 s, worst at t = 0 s \('sledge' on 'ground'\).*0\.\d+ m/s, 0\.\d+ of"
ON_FLOOR = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
#: So fast that it jams on the front ends of its runners.
JAMMED = [0.0, 0.0, 0.0, 3.0, 0.3, 0.0]
ROUGH = Contact(surface=Surface(1.5))
#: The speed above which `lost_when_fast` fails [m/s].
FAST = 2.5


def sledge() -> Mechanism:
    """Four ends of runners under a load that is 0.3 m above them."""
    ends = Hull(tuple((x, y, 0.0) for x in (0.2, -0.2) for y in (0.1, -0.1)))
    return unconnected(Body("sledge", 1.0, (0.0, 0.0, 0.3), (0.02, 0.02, 0.02), collisions=(Geometry(ends),)))


def scaled(given: Problem, found: Impulses, factor: Scalar) -> Impulses:
    points = [[[factor * part for part in impulse] for impulse in of_points] for of_points in found.points]
    return given.after(points, found.loops)


def lost_when_fast(given: Problem) -> Solved:
    """A model whose search ends at impulses that are a tenth too small, where a point is fast."""
    found = scaled(given, rigid(given).impulses, select(given.fastest > FAST, 0.9, 1.0))
    return Solved(found, given.residual(found, [[point.target for point in patch.points] for patch in given.patches]))


def test_a_run_says_when_and_where_contact_could_not_be_solved(monkeypatch):
    monkeypatch.setitem(IMPULSE_MODELS, "rigid", lost_when_fast)
    with pytest.warns(KumitateWarning, match=TOLD):
        run = simulate(sledge(), ON_FLOOR, JAMMED, duration=0.003, contact=ROUGH, side_by_side=True)
    assert run.contact.residual[0] > 0.1
    assert any("could not be solved" in note for note in run.audit.notes)


def test_a_sledge_that_jams_at_once_is_solved():
    """Painlevé's paradox: on steep friction the sliding ends stop within a step."""
    run = simulate(sledge(), ON_FLOOR, JAMMED, duration=0.003, contact=ROUGH)
    assert run.contact.residual.max() < 1e-9
    assert run.energy.total[1] < run.energy.total[0]


@pytest.mark.parametrize("model", ["rigid", "multipoint"])
def test_a_run_that_is_solved_says_nothing(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error", KumitateWarning)
        run = simulate(sledge(), ON_FLOOR, JAMMED, duration=0.003, contact=Contact(model, surface=Surface(0.2)))
    assert run.audit.notes == ()


def test_of_runs_side_by_side_those_that_failed_are_marked(monkeypatch):
    monkeypatch.setitem(IMPULSE_MODELS, "rigid", lost_when_fast)
    rates = [[*JAMMED[:3], speed, *JAMMED[4:]] for speed in (1.0, 3.0, 2.0)]
    with pytest.warns(KumitateWarning, match="in every step of 1 of 3 runs, first in run 1 after t = 0 s"):
        runs = simulate_batch(sledge(), [ON_FLOOR] * 3, rates, duration=0.003, every=1, contact=ROUGH)
    assert runs.unsolved.tolist() == [math.inf, 0.0, math.inf]
    assert np.isinf(runs.lost).all()
    assert np.isfinite(runs.q).all()


def broken(factor: float) -> Callable[[Problem], Solved]:
    """A model whose impulses are wrong by a factor."""

    def solve(given: Problem) -> Solved:
        solved = rigid(given)
        return Solved(scaled(given, solved.impulses, factor), solved.left)

    return solve


@pytest.mark.parametrize("factor", [1e9, math.nan], ids=["large", "not a number"])
def test_contact_beyond_all_bounds_ends_the_run(monkeypatch, factor):
    monkeypatch.setitem(IMPULSE_MODELS, "rigid", broken(factor))
    dropped = [*ON_FLOOR[:6], 1e-3]
    where = r"contact problem .* t = 0\.0\d+ s \('sledge' on 'ground'\)"
    with pytest.raises(DivergenceError, match=where) as caught:
        simulate(sledge(), dropped, duration=0.03, contact="rigid", side_by_side=True)
    said, kept = str(caught.value), caught.value.result
    assert "rkf45_adaptive" not in said
    assert 0.01 < kept.time[-1] < 0.016  # it falls by 1 mm in 14 ms
    assert np.abs(kept.v).max() < 0.2
    with pytest.warns(KumitateWarning, match="1 of 2 runs diverge, run 0 first"):
        runs = simulate_batch(sledge(), [dropped, [*ON_FLOOR[:6], 1.0]], duration=0.03, every=5, contact="rigid")
    assert np.isnan(runs.q[0, -1]).all()
    assert np.isfinite(runs.q[1]).all()


def test_loops_that_the_step_without_contact_opens_are_closed_where_no_point_approaches():
    """Forward dynamics of loops near a loss of rank may leave a rate; without a point that approaches it was not seen."""
    four_bar = km.load("four_bar")
    carrier = four_bar.mechanism.joints[0].child
    bodies = [
        replace(body, collisions=(Geometry(Sphere(0.1)),)) if body.name == carrier else body
        for body in four_bar.bodies.values()
    ]
    mechanism = replace(four_bar.mechanism, bodies=tuple(bodies))
    q, h = four_bar.start[0].tolist(), 1e-3
    tree, v = mechanism.base_parameter_tree, [0.0] * mechanism.nv
    below = Contact(ground=(Geometry(Plane(), pose((0.0, 0.0, -0.1001))),))
    v_free = [0.3, -0.1, 0.2]
    jacobians = link_jacobians(tree, q)
    met = contact_patches(jacobians, contact_pairs(mechanism, tree, below), v, v_free, h, mechanism)
    given = Problem.at(mechanism, jacobians, met, h, q, v, v_free, ())
    targets = [[point.target for point in patch.points] for patch in given.patches]
    assert all(point.target <= point.free[0] for patch in given.patches for point in patch.points)  # nothing approaches
    assert given.residual(given.nothing(), targets) > 0.05
    solved = rigid(given)
    assert solved.left < 1e-10
    assert given.residual(solved.impulses, targets) < 1e-10
