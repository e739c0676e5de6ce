"""What contact refuses, by the name of what is wrong."""

from __future__ import annotations

import math

import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Box, Cylinder, Ellipsoid, Geometry, Hull, Sphere
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import unconnected

BRICK = Box((0.2, 0.16, 0.12))


def simulated(shape=BRICK, count=2, **options):
    """A simulation of free bodies of a shape."""
    bodies = [Body(f"lid{k}", 1.0, inertia=(0.01,) * 3, collisions=(Geometry(shape),)) for k in range(count)]
    side_by_side = options.pop("side_by_side", False)
    contact = options.pop("contact", None) or Contact(**options)
    return MechanismSimulation(Setup(unconnected(*bodies), contact=contact, side_by_side=side_by_side))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("shape", [Sphere(0.0), Box((0.1, 0.0, 0.1)), Cylinder(0.1, 0.0), Ellipsoid((0.0, 0.1, 0.1))])
def test_shapes_without_size_are_refused_by_the_names_of_their_bodies(shape, count):
    with pytest.raises(ModelError, match=f"'lid0': a {shape.kind} .* has no size"):
        simulated(shape, count)
    with pytest.raises(ModelError, match=f"'ground': a {shape.kind} .* has no size"):
        simulated(count=count, ground=[Geometry(shape)])


@pytest.mark.parametrize("count", [1, 3])
def test_a_point_may_touch_but_has_no_torsional_friction(count):
    point = Hull(((0.0, 0.0, 0.0),))
    assert simulated(point, count).interaction.plan().pairs
    with pytest.raises(ModelError, match="'lid0': a hull is a point, which torsional"):
        simulated(point, count, surface=Surface(torsional=0.1))


@pytest.mark.parametrize(
    "name", ["friction", "kinetic_friction", "restitution", "threshold", "torsional", "rolling", "damping"]
)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, "much"])
def test_numbers_of_surfaces_out_of_range_are_refused_by_name(name, value):
    with pytest.raises(InputError, match=f"the {name.replace('_', ' ')} is"):
        Surface(**{name: value})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Surface(restitution=1.01), "the restitution is 1.01"),
        (lambda: Surface(0.3, 0.4), "kinetic friction 0.4 and the static one 0.3"),
        (lambda: Contact(between=[("a", "a")]), r"between has \('a', 'a'\); it must hold pairs of two different bodies"),
        (lambda: Contact(pairs={("a", "a"): Surface()}), r"pairs has \('a', 'a'\)"),
        (lambda: simulated(options={"sleping": 1}), "no option 'sleping', did you mean 'sleeping'"),
        (lambda: simulated(options={"speed": 1}, count=3), "no option 'speed'; it has only 'sleeping'"),
        (lambda: simulated(options={"sleeping": "yes"}, count=3), "sleeping is 'yes'; it must be 1"),
        (lambda: simulated(options={"sleeping": 1}, count=1, side_by_side=True), "only where steps go through lists"),
        (lambda: simulated(model="multipoint", options={"sleeping": 1}), "multipoint contact has no option 'sleeping'"),
        (lambda: simulated(model="penalty", options={"stifness": 1e4}), "penalty contact has no option 'stifness'"),
        (lambda: simulated(contact="rigd"), "no contact model 'rigd'"),
        (lambda: simulated(surfaces={"lid": Surface()}), "contact names 'lid', which is not a body"),
        (lambda: simulated(pairs={("lid0", "floor"): Surface()}), "contact names 'floor'"),
    ],
)
def test_mistakes_are_refused_by_what_is_wrong(make, words):
    with pytest.raises(InputError, match=words):
        make()
