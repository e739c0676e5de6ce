"""The compiled functions compute what the pages compute on floats: for one state, for batches, and for the tails of batches."""

from functools import cache

import numpy as np
import pytest

from kumitate import analysis, dynamics, kinematics
from kumitate.dynamics import Acting, Wrenches
from kumitate.robot import Robot

from ..mechanisms import Case, agree, every_kind, random_coordinates, random_mechanism, random_state

#: Leading axes: one state, fewer than a vector of any processor holds, exactly as many, more with a tail, and two axes.
SHAPES = [(), (1,), (3,), (8,), (13,), (2, 5)]
STATES = 13


@cache
def small() -> tuple[Case, Robot]:
    """A floating tree with a quaternion inside, angles, and a welded body."""
    rng = np.random.default_rng(7)
    kinds = ["spherical", "universal", "fixed", "prismatic", "planar"]
    case = random_state(random_mechanism(rng, kinds, root="floating"), rng)
    return case, Robot(case.mechanism)


@cache
def large() -> tuple[Case, Robot]:
    """Every kind of joint in one tree."""
    case = every_kind(1)
    return case, Robot(case.mechanism)


@cache
def states(make) -> dict[str, np.ndarray]:
    """Random q, v, tau, a (STATES, …) and wrenches on a body and a frame."""
    m = make()[0].mechanism
    rng = np.random.default_rng(11)
    values = {"q": np.array([random_coordinates(m, rng) for _ in range(STATES)])}
    values |= {name: rng.normal(size=(STATES, m.nv)) for name in ("v", "tau", "a")}
    return values | {name: rng.normal(size=(STATES, 6)) for name in ("w0", "w1")}


def places(case: Case) -> tuple[str, str]:
    return case.mechanism.bodies[-1].name, case.mechanism.frames[0].name


def wrench_arguments(case: Case, w0, w1) -> dict:
    return dict(zip(places(case), (w0, w1), strict=True))


def page(case: Case, function: str, **options):
    """The page of a function on floats, over the tree as it is (the compiled ones run over a leaner one)."""
    m = case.mechanism
    tree, g = m.tree, m.gravity
    body, frame = places(case)
    zero = [0.0] * m.nv

    def wrenches(w0, w1) -> Wrenches:
        return Wrenches(tree, wrench_arguments(case, w0, w1))

    pages = {
        "forward_dynamics": lambda q, v, tau: dynamics.aba(tree, q, v, tau, Acting(g)),
        "pushed forward": lambda q, v, tau, *w: dynamics.aba(tree, q, v, tau, Acting(g, wrenches=wrenches(*w))),
        "inverse_dynamics": lambda q, v, a: dynamics.rnea(tree, q, v, a, gravity=g),
        "pushed inverse": lambda q, v, a, *w: dynamics.rnea(tree, q, v, a, gravity=g, wrenches=wrenches(*w)),
        "mass_matrix": lambda q: dynamics.crba(tree, q),
        "bias_forces": lambda q, v: dynamics.rnea(tree, q, v, zero, gravity=g),
        "gravity_forces": lambda q: dynamics.rnea(tree, q, zero, zero, gravity=g),
        "pose": lambda q: kinematics.place_pose(tree, kinematics.link_poses(tree, q), tree.places[frame]).matrix(),
        "velocity": lambda q, v: kinematics.world_velocity(tree, q, v, tree.places[frame]),
        "jacobian": lambda q: kinematics.jacobian(tree, q, tree.places[frame]),
        "jacobian_rate": lambda q, v: kinematics.jacobian_rate(tree, q, v, tree.places[body]),
        "center_of_mass": lambda q: kinematics.center_of_mass(tree, q),
        "momentum": lambda q, v: analysis.momentum(tree, q, v),
        "energy": lambda q, v: [analysis.kinetic_energy(tree, q, v), analysis.potential_energy(tree, q, g)],
        "integrate": lambda q, v: kinematics.integrate(tree, q, v),
    }
    return pages[function]


def compiled(case: Case, robot: Robot, function: str, method: str | None):
    """The robot's method of the same arguments."""
    body, frame = places(case)
    options = {} if method is None else {"method": method}
    pushed = {
        "pushed forward": lambda q, v, tau, *w: robot.forward_dynamics(
            q, v, tau, wrenches=wrench_arguments(case, *w), **options
        ),
        "pushed inverse": lambda q, v, a, *w: robot.inverse_dynamics(q, v, a, wrenches=wrench_arguments(case, *w)),
        "pose": lambda q: robot.pose(q, frame),
        "velocity": lambda q, v: robot.velocity(q, v, frame),
        "jacobian": lambda q: robot.jacobian(q, frame),
        "jacobian_rate": lambda q, v: robot.jacobian_rate(q, v, body),
        "energy": lambda q, v: np.stack([(e := robot.energy(q, v)).kinetic, e.potential], axis=-1),
    }
    return pushed.get(function) or (lambda *arrays: getattr(robot, function)(*arrays, **options))


def check(make, function: str, inputs: str, method: str | None = None, shapes=SHAPES) -> None:
    """Fails unless the compiled function gives the page's values for leading axes of all shapes."""
    case, robot = make()
    arrays = [states(make)[name] for name in inputs.split()]
    rows = [page(case, function)(*(array[k].tolist() for array in arrays)) for k in range(STATES)]
    expected = np.array(rows, dtype=float)
    condition = 1.0
    if "forward" in function:
        condition = max(np.linalg.cond(np.array(dynamics.crba(case.mechanism.tree, q.tolist()))) for q in states(make)["q"])
    f = compiled(case, robot, function, method)
    for shape in shapes:
        count = int(np.prod(shape))
        given = [array[:count].reshape(*shape, *array.shape[1:]) for array in arrays]
        found = f(*given)
        agree(found, expected[:count].reshape(*shape, *expected.shape[1:]), case.n, scale=100.0, condition=condition)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        ("forward_dynamics", "q v tau"), ("pushed forward", "q v tau w0 w1"), ("inverse_dynamics", "q v a"),
        ("pushed inverse", "q v a w0 w1"), ("mass_matrix", "q"), ("bias_forces", "q v"), ("gravity_forces", "q"), ("pose", "q"),
        ("velocity", "q v"), ("jacobian", "q"), ("jacobian_rate", "q v"), ("center_of_mass", "q"), ("momentum", "q v"),
        ("energy", "q v"), ("integrate", "q v"),
    ],
)  # fmt: skip
def test_functions(function, inputs):
    check(small, function, inputs)


@pytest.mark.row("C-uv", "C-mj", "C-crb", "T-aba")
@pytest.mark.parametrize(
    ("function", "inputs", "method"),
    [
        ("forward_dynamics", "q v tau", "crba"), ("pushed forward", "q v tau w0 w1", "unit_vector"),
        ("mass_matrix", "q", "unit_vector"), ("mass_matrix", "q", "jacobian"),
    ],
)  # fmt: skip
def test_methods(function, inputs, method):
    check(small, function, inputs, method)


@pytest.mark.row("T-aba", "N-inv", "C-j")
@pytest.mark.parametrize(
    ("function", "inputs"), [("forward_dynamics", "q v tau"), ("inverse_dynamics", "q v a"), ("mass_matrix", "q")]
)
def test_every_kind_of_joint(function, inputs):
    check(large, function, inputs, shapes=[(13,)])


def test_difference_undoes_integrate():
    case, robot = small()
    q, dv = states(small)["q"], 0.5 * states(small)["v"]
    for shape in SHAPES:
        count = int(np.prod(shape))
        q0, moved = q[:count].reshape(*shape, -1), dv[:count].reshape(*shape, -1)
        agree(robot.difference(q0, robot.integrate(q0, moved)), moved, case.n)


def test_one_velocity_for_many_positions():
    """Leading axes broadcast, as NumPy's do."""
    case, robot = small()
    values = states(small)
    v, a = values["v"][0], values["a"][0]
    found = robot.inverse_dynamics(values["q"], v, a)
    each = np.array([robot.inverse_dynamics(q, v, a) for q in values["q"]])
    agree(found, each, case.n, scale=100.0)


@pytest.mark.parametrize("order", ["F", "strided", "int"])
def test_arrays_in_other_layouts(order):
    case, robot = small()
    q, v = states(small)["q"], np.round(4.0 * states(small)["v"])
    other = {"F": np.asfortranarray, "strided": lambda x: np.repeat(x, 2, axis=0)[::2], "int": lambda x: x.astype(int)}[order]
    expected = robot.momentum(q, v)
    agree(robot.momentum(q if order == "int" else other(q), other(v)), expected, case.n)
