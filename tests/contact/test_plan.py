"""What is said of contact before anything is compiled, against what runs then do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.impulse.step import impact_program
from kumitate.contact.models import IMPULSE_MODELS
from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError
from kumitate.model import Body, Box, Ellipsoid, Geometry, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid, unconnected

BRICK, BALL = Box((0.2, 0.16, 0.12)), Sphere(0.1)


def free_body(name, shape):
    return Body(name, 1.0, inertia=(0.01, 0.01, 0.01), collisions=(Geometry(shape),))


def plan_of(*shapes, contact="rigid", **options):
    bodies = (free_body(f"body{k}", shape) for k, shape in enumerate(shapes))
    return MechanismSimulation(Setup(unconnected(*bodies), contact=contact, **options)).explain_contact()


@pytest.mark.parametrize(
    ("shapes", "contact", "solver", "why"),
    [
        ([BRICK], "rigid", "scene", "one motion goes through lists"),
        ([BRICK, BALL, BALL], "rigid", "scene", "one motion goes through lists"),
        ([BRICK] * 3, "multipoint", "traced", "scenes have no multipoint contact"),
        ([BRICK], Contact(surfaces={"ground": Surface(belt=(1, 0, 0))}), "scene", "the surface of 'ground' moves"),
        ([BRICK], "penalty", "penalty", "springs and dampers"),
        ([Ellipsoid((0.2, 0.1, 0.1))], Contact(ground=Geometry(BRICK)), "scene", "one motion goes through lists"),
    ],
)
def test_the_solver_and_the_reason_are_those_of_the_run(shapes, contact, solver, why):
    plan = plan_of(*shapes, contact=contact)
    assert plan.solver == solver
    assert why in plan.why
    assert why in str(plan)
    bodies = len(shapes)
    assert len(plan.pairs) == bodies + bodies * (bodies - 1) // 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"side_by_side": True}, "many motions and derivatives have code of their own"),
        ({"parameters": ["mass:body0"]}, "'mass:body0' is an input of its code"),
        ({"integrator": "midpoint"}, "scenes have no integrator='midpoint'"),
    ],
)
def test_what_lists_do_not_have_is_traced_and_the_plan_says_so(options, why):
    plan = plan_of(BRICK, BALL, **options)
    assert plan.solver == "traced"
    assert plan.why == why
    assert plan_of(*[BRICK] * 5, **options | {"integrator": "auto"}).solver == "scene"


def test_gravity_surfaces_and_gains_are_numbers_of_lists():
    """With them as parameters a motion needs no code of its own, and is that of a mechanism which has their values."""
    ball, up = unconnected(free_body("ball", BALL)), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.15]), np.array([0.0, 0.0, 0.0, 1.0, 0.0, -2.0])

    def lifted(t, q, v, k=0.5):
        return k * up

    varied = km.Simulation(
        ball, controller=lifted, contact="rigid", start=start, parameters=["gravity", "friction:floor", "gain:k"]
    )
    assert varied.explain_contact().solver == "scene"
    run = varied.run(duration=0.5, parameters={"gravity": 3.7, "friction:floor": 0.2, "gain:k": 0.25})
    other = km.simulate(
        replace(ball, gravity=(0.0, 0.0, -3.7)), *start, controller=lambda t, q, v: 0.25 * up,
        contact=Contact(surface=Surface(0.2)), duration=0.5,
    )  # fmt: skip
    np.testing.assert_array_equal(run.q[-1], other.q[-1])
    usual = varied.run(duration=0.5)
    assert np.abs(run.q[-1] - usual.q[-1]).max() > 0.05


def test_pairs_name_bodies_shapes_points_and_what_holds_between_them():
    contact = Contact(
        surface=Surface(0.5, 0.4, rolling=0.01), pairs={("ground", "body1"): Surface(0.2, stiffness=1e4, damping=2.0)}
    )
    plan = plan_of(BRICK, BALL, contact=contact, side_by_side=True)
    assert {pair.bodies: (pair.shapes, pair.points, pair.material) for pair in plan.pairs} == {
        ("body0", "ground"): (("box", "plane"), 4, "friction 0.5, 0.4 sliding, rolling 0.01 m"),
        ("body1", "ground"): (("sphere", "plane"), 1, "friction 0.2, damping 2 N s/m, stiffness 10000 N/m"),
        ("body0", "body1"): (("box", "sphere"), 1, "friction 0.5, 0.4 sliding, rolling 0.01 m"),
    }
    assert "body1 on ground: sphere on plane, 1 point; friction 0.2" in str(plan)
    many = plan_of(*[BRICK, BALL] * 20)
    assert len(many.pairs) == 40 * 41 // 2
    assert "400 times box on sphere" in str(many)


@pytest.mark.parametrize("shapes", [[BALL], [BRICK], [BRICK, BALL]])
def test_estimated_operations_are_those_of_the_program_to_a_factor(shapes):
    """The estimate is for people: right to a factor of 1.6."""
    mechanism = unconnected(*(solid(f"body{k}", shape) for k, shape in enumerate(shapes)))
    counted = sum(impact_program(mechanism, Contact(), IMPULSE_MODELS["rigid"]).operations.values())
    assert np.log(plan_of(*shapes, side_by_side=True).operations / counted) == pytest.approx(0.0, abs=np.log(1.6))


def test_without_contact_there_is_nothing_to_explain():
    with pytest.raises(InputError, match="nothing can touch"):
        plan_of(BALL, contact=None)
