"""The planar arm of seven links: code from its energies beside SymPy's lambdify with cse, in one run."""

import time

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.lagrange import System, coordinates, gravity, rotation, translation
from kumitate.lagrange.motion_program import expression_program
from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.robot import Robot
from kumitate.spatial import pose

sympy = pytest.importorskip("sympy")
LINKS = 7
STATES = 10_000


def planar_arm() -> System:
    """Rods of 1 m and 1 kg, relative angles, the first from the vertical, and a torque at every joint."""
    q = coordinates(" ".join(f"q_{k}" for k in range(1, LINKS + 1)))
    x = z = angle = kinetic = potential = sympy.Integer(0)
    half = sympy.Rational(1, 2)
    for coordinate in q:
        angle = angle + coordinate
        middle = [x + half * sympy.sin(angle), z + half * sympy.cos(angle)]
        kinetic += translation(1, middle) + rotation(sympy.Rational(1, 12), angle)
        potential += gravity(1, middle[1], sympy.Rational(981, 100))
        x, z = x + sympy.sin(angle), z + sympy.cos(angle)
    torques = [(sympy.Symbol(f"tau_{k}"), coordinate) for k, coordinate in enumerate(q, start=1)]
    return System(q, kinetic, potential, forces=torques, name="planar_7r")


def best(function, repeats: int) -> float:
    """The shortest time of a call [s], of seven tries."""
    function()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(repeats):
            function()
        times.append((time.perf_counter() - start) / repeats)
    return min(times)


@pytest.mark.slow
def test_compiled_equations_agree_with_lambdify_and_take_fewer_operations():
    system = planar_arm()
    names = system.names
    tau = system.parameters
    n = LINKS
    ours = system.compile(inputs=tau).prepare()

    # the same equations as anyone derives them with SymPy: A and b + F, to be solved by NumPy
    q, v = sympy.Matrix(names.plain_q), sympy.Matrix(names.plain_v)
    momentum = sympy.Matrix([system._kinetic]).jacobian(v).T
    A = momentum.jacobian(v)
    right = sympy.Matrix([system._kinetic]).jacobian(q).T - momentum.jacobian(q) * v + sympy.Matrix(system._loads)
    arguments = [names.plain_q, names.plain_v, [names.symbol(symbol) for symbol in tau]]
    single, batch = (sympy.lambdify(arguments, [*A, *right], cse=True, modules=kind) for kind in ("math", "numpy"))
    same = Kernel(expression_program(system._inputs(None, tau), [*A, *right], "A_and_b")).prepare()

    states = np.random.default_rng(0).normal(size=(3, STATES, n))
    one = [np.ascontiguousarray(part[0]) for part in states]
    floats = [part.tolist() for part in one]
    sideways = [part.T for part in states]

    def lambdified_one():
        entries = np.array(single(*floats))
        return np.linalg.solve(entries[: n * n].reshape(n, n), entries[n * n :])

    def lambdified_batch():
        entries = np.stack([np.broadcast_to(entry, STATES) for entry in batch(*sideways)], axis=-1)
        return np.linalg.solve(entries[:, : n * n].reshape(-1, n, n), entries[:, n * n :, None])[..., 0]

    expected = lambdified_batch()
    assert np.allclose(ours(*states), expected, rtol=1e-9, atol=1e-9)
    assert np.allclose(ours(*one), lambdified_one(), rtol=1e-9, atol=1e-9)
    robot = Robot(_same_arm())
    assert np.allclose(robot.forward_dynamics(*states[:, :50]), expected[:50], rtol=1e-9, atol=1e-9)

    out, both = np.empty(n), np.empty(n * n + n)
    many, many_both = np.empty((STATES, n)), np.empty((STATES, n * n + n))
    rows = {
        "one state, accelerations": (best(lambdified_one, 100), best(lambda: ours.into(out, *one), 10_000)),
        "one state, A and b alone": (best(lambda: single(*floats), 100), best(lambda: same.into(both, *one), 10_000)),
        "batch, accelerations": (best(lambdified_batch, 1) / STATES, best(lambda: ours.into(many, *states), 3) / STATES),
        "batch, A and b alone": (
            best(lambda: batch(*sideways), 1) / STATES,
            best(lambda: same.into(many_both, *states), 3) / STATES,
        ),
    }
    print(f"\n{'planar 7R, µs a state':28}{'lambdify, cse':>15}{'kumitate':>12}{'ratio':>8}")
    for what, (theirs, mine) in rows.items():
        print(f"{what:28}{theirs * 1e6:15.3f}{mine * 1e6:12.4f}{theirs / mine:8.0f}")
    print(f"operations: {ours.operations} for the accelerations, {same.operations} for A and b as SymPy writes them")
    # the accelerations, solved included, in fewer operations than SymPy's A and b alone: what makes the ratios above
    assert ours.operations < same.operations


def _same_arm() -> Mechanism:
    rod = {"mass": 1.0, "center_of_mass": (0.0, 0.0, 0.5), "inertia": (1.0 / 12.0, 1.0 / 12.0, 0.0)}
    joints = tuple(
        Joint(
            f"j{k}", KINDS["revolute"], f"b{k - 1}" if k else "world", f"b{k}", pose((0.0, 0.0, 1.0 if k else 0.0)),
            axis=(0.0, 1.0, 0.0),
        )
        for k in range(LINKS)
    )  # fmt: skip
    return Mechanism("arm", tuple(Body(f"b{k}", **rod) for k in range(LINKS)), joints)
