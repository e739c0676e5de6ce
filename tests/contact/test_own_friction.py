"""The friction that shapes bring along, as from MJCF files, and the floors that robots bring along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model.read import from_json, to_json

G = 9.81


def bricks(*frictions, floor=None):
    """Free bricks beside each other, each with a friction of its own, on a floor that is fixed to the world."""
    plane = km.Body("slab", collisions=(km.Geometry(km.Plane(), friction=floor),))
    bodies, joints = [plane], [km.Joint("held", "fixed", "world", "slab")]
    for k, friction in enumerate(frictions):
        shape = km.Geometry(km.Box((0.4, 0.4, 0.02)), friction=friction)
        bodies.append(km.Body(f"brick{k}", 1.0, inertia=(0.013, 0.013, 0.027), collisions=(shape,)))
        joints.append(km.Joint(f"free{k}", "floating", "world", f"brick{k}"))
    return km.Mechanism("bricks", tuple(bodies), tuple(joints))


@pytest.mark.parametrize(
    ("frictions", "floor", "contact", "expected"),
    [
        ([0.3], 0.1, km.Contact(), [0.3]),  # the larger one
        ([0.1], 0.2, km.Contact(), [0.2]),
        ([0.1], None, km.Contact(), [0.1]),  # the only one
        ([None], None, km.Contact(), [0.5]),
        ([0.3], 0.1, km.Contact(surface=km.Surface(0.5)), [0.5]),  # what is asked for, though it is the usual one
        ([0.3], 0.1, km.Contact(surfaces={"slab": km.Surface(0.25)}), [0.25]),  # surfaces combine to the smaller one
        ([0.3], 0.1, km.Contact(pairs={("slab", "brick0"): km.Surface(0.05)}), [0.05]),
        ([0.3, 0.05, None], 0.1, km.Contact(), [0.3, 0.1, 0.1]),  # a scene
        ([0.3, 0.05, None], 0.1, km.Contact(surfaces={"brick0": km.Surface(0.02)}), [0.02, 0.1, 0.1]),
    ],
)
def test_bricks_slide_by_the_friction_of_their_shapes(frictions, floor, contact, expected):
    """v = v₀ − μ g t, the brick being flat and slow, on one floor."""
    mechanism = bricks(*frictions, floor=floor)
    start = np.concatenate([[0, 0, 0, 1, 0, float(k), 0.01] for k in range(len(frictions))])
    v = np.tile([0, 0, 0, 1.0, 0, 0], len(frictions))
    sim = km.Simulation(mechanism, step=1e-3, contact=contact, start=(start, v), side_by_side=len(frictions) == 1)
    plan = sim.explain_contact()
    assert [pair.surface.friction for pair in plan.pairs if pair.bodies[1] == "slab"] == expected
    assert "ground" not in {name for pair in plan.pairs for name in pair.bodies}
    assert plan.solver == ("traced" if len(frictions) == 1 else "scene")
    end = sim.step(sim.start(), 100)
    np.testing.assert_allclose(end.v[3::6], 1.0 - np.array(expected) * G * 0.1, atol=2e-3)


def test_each_shape_of_a_body_has_its_own_friction():
    ball = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=tuple(
        km.Geometry(km.Sphere(0.1), km.pose((x, 0.0, 0.0)), friction=friction) for x, friction in ((-0.2, 2.0), (0.2, 0.4))
    ))  # fmt: skip
    mechanism = km.Mechanism("ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    plan = km.Simulation(mechanism, contact="rigid").explain_contact()
    assert [(pair.bodies, pair.surface.friction) for pair in plan.pairs] == [
        (("ball", "ground"), 2.0),
        (("ball", "ground"), 0.4),
    ]
    assert [shape.friction for shape in from_json(to_json(mechanism)).bodies[0].collisions] == [2.0, 0.4]
    run = km.simulate(mechanism, duration=0.01, contact="rigid")
    assert run.settings["contact"]["own_friction"]
    assert not km.simulate(mechanism, duration=0.01, contact=km.Contact(surface=km.Surface())).settings["contact"][
        "own_friction"
    ]


def test_a_ground_that_is_asked_for_is_added():
    mechanism = bricks(0.3, floor=0.1)
    both = km.Contact(ground=km.Geometry(km.Plane(), friction=0.7))
    pairs = km.Simulation(mechanism, contact=both).explain_contact().pairs
    assert {pair.bodies[1]: pair.surface.friction for pair in pairs} == {"ground": 0.7, "slab": 0.3}
    bare = replace(
        mechanism, bodies=tuple(replace(body, collisions=()) if body.name == "slab" else body for body in mechanism.bodies)
    )
    assert {pair.bodies[1] for pair in km.Simulation(bare, contact="rigid").explain_contact().pairs} == {"ground"}


def test_one_number_for_all_needs_one_surface_for_all():
    mechanism = bricks(0.3, floor=0.1)
    for name in ("friction:floor", "restitution:floor"):
        with pytest.raises(
            InputError, match=r"shapes have frictions of their own. For one surface in their place give Contact"
        ):
            km.Simulation(mechanism, contact="rigid", parameters=[name])
    sim = km.Simulation(mechanism, contact=km.Contact(surface=km.Surface(0.5)), parameters=["friction:floor"])
    assert sim.batch(2).parameters["friction:floor"].tolist() == [0.5, 0.5]


def test_a_shape_with_an_impossible_friction_is_refused():
    with pytest.raises(km.ModelError, match=r"the friction is -0\.1"):
        km.Geometry(km.Sphere(0.1), friction=-0.1)
