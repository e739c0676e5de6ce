"""Plain calls of a robot's functions go straight to machine code from the second on; nothing else about them changes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import kumitate as km
from kumitate.calls import unit_quaternions
from kumitate.simulate.checks import check_manifold

#: The functions by the names of their arguments.
ARRAYS = {
    "bias_forces": "qv", "center_of_mass": "q", "centroidal_momentum": "qv", "forward_dynamics": "qvt", "gravity_forces": "q",
    "ground_wrench": "qva", "integrate": "qv", "inverse_dynamics": "qva", "mass_matrix": "q", "momentum": "qv",
    "momentum_rate": "qva", "zmp": "qva",
}  # fmt: skip
AT_PLACES = {"jacobian": "q", "jacobian_rate": "qv", "pose": "q", "velocity": "qv"}
ROBOTS = ("pa10", "floating_arm", "four_bar", "free_rod")


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    return km.load(request.param)


def state(robot, seed=7):
    """q, v, a, tau: near the start, where loops are closed."""
    rng = np.random.default_rng(seed)
    q = np.array(robot.start[0]) if robot.loops else robot.random_state(rng)[0]
    v = np.zeros(robot.nv) if robot.loops else rng.normal(size=robot.nv)
    return {"q": q, "v": v, "a": rng.normal(size=robot.nv), "t": rng.normal(size=robot.nv)}


def arguments(robot, name):
    given = state(robot)
    if name in AT_PLACES:
        return [*(given[key] for key in AT_PLACES[name]), robot.mechanism.bodies[-1].name]
    return [given[key] for key in ARRAYS[name]]


@pytest.mark.parametrize("name", [*ARRAYS, *AT_PLACES])
def test_later_calls_give_the_same_bits(robot, name):
    given = arguments(robot, name)
    first, *later = [getattr(robot, name)(*given) for _ in range(3)]
    assert first.shape == robot.compile(name, **({"place": given[-1]} if name in AT_PLACES else {})).outputs[0].shape
    for found in later:
        assert found.dtype == np.float64
        assert np.array_equal(found, first, equal_nan=True)
        assert not np.may_share_memory(found, first)


@pytest.mark.parametrize("name", [*ARRAYS, *AT_PLACES])
def test_they_look_nothing_up(robot, name, monkeypatch):
    given = arguments(robot, name)
    expected = getattr(robot, name)(*given)
    getattr(robot, name)(*given)
    monkeypatch.setattr(type(robot), "compile", lambda *arguments, **options: pytest.fail("a kernel is looked up"))
    assert np.array_equal(getattr(robot, name)(*given), expected, equal_nan=True)


def spoiled(given):
    """The arguments with one thing wrong, or written in another way."""
    q, *rest = given
    yield [2.0 * q, *rest]
    yield [np.where(np.arange(len(q)) == 0, np.nan, q), *rest]
    yield [q + 0j, *rest]
    for unit in ("M8[s]", "m8[s]"):
        yield [q.astype(unit), *rest]
    yield [np.ma.array(q, mask=q != q[0]), *rest]
    yield [q, *[np.ma.array(array, mask=True) if isinstance(array, np.ndarray) else array for array in rest]]
    yield ["q", *rest]
    yield [None, *rest]
    yield [q[:-1], *rest]
    yield [np.append(q, 0.0), *rest]
    yield [q.tolist(), *rest]
    yield [q.astype(np.float32), *rest]
    yield [np.repeat(q, 2)[::2], *rest]
    yield [np.tile(q, (3, 1)), *rest]
    yield [q, *(rest[:-1] if rest else [0.0])]
    yield [q, *rest, 1.0]
    yield []


@pytest.mark.parametrize("name", ["forward_dynamics", "integrate", "mass_matrix", "pose", "velocity"])
@pytest.mark.parametrize("sample", ["pa10", "floating_arm"])
def test_other_arguments_are_taken_or_refused_as_by_the_first_call(sample, name):
    warm = km.load(sample)
    given = arguments(warm, name)
    for _ in range(2):
        getattr(warm, name)(*given)

    def outcome(call, other):
        try:
            return call(*other)
        except (km.KumitateError, TypeError) as error:
            return f"{type(error).__name__}: {error}"

    method = inspect.unwrap(getattr(type(warm), name))  # what every call was before there were plain ones
    for other in spoiled(given):
        found, expected = outcome(getattr(warm, name), other), outcome(lambda *other: method(warm, *other), other)
        assert np.array_equal(found, expected, equal_nan=not isinstance(found, str)), other


def test_a_place_that_is_not_there_is_refused_each_time():
    arm = km.load("pa10")
    for _ in range(3):
        with pytest.raises(km.InputError, match="there is no body or frame 'nowhere'"):
            arm.pose(arm.start[0], "nowhere")


def test_states_at_which_a_line_has_no_length_are_refused_each_time():
    """Of a mechanism with lines, the method looks at every state."""
    ball = km.Body("ball", 2.0, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("slide", "prismatic", "world", "ball", axis=(1.0, 0.0, 0.0))
    spring = km.Loop("spring", km.Line(), "world", "ball", stiffness=10.0, rest=0.5)
    robot = km.load(km.Mechanism("held", (ball,), (slide,), (spring,)))
    one, zero = np.ones(1), np.zeros(1)
    for _ in range(2):
        robot.forward_dynamics(one, zero, zero)
    with pytest.raises(km.InputError, match="has no length"):
        robot.forward_dynamics(zero, zero, zero)


@pytest.mark.parametrize("sample", ["floating_arm", "free_rod", "hoap2_legs_free"])
def test_the_predicate_and_the_check_agree_on_quaternions(sample):
    robot = km.load(sample)
    sound = unit_quaternions(robot.mechanism)
    assert sound is not None
    rng = np.random.default_rng(11)
    answers = set()
    for _ in range(60):
        q = robot.random_state(rng)[0] * (1.0 + rng.choice([0.0, 1e-9, 0.9e-6, 1.1e-6, -0.9e-6, -1.1e-6, 1e-3, np.nan]))
        try:
            check_manifold(robot.mechanism, q)
            expected = True
        except km.InputError:
            expected = False
        assert sound(q) is expected, q
        answers.add(expected)
    assert answers == {True, False}


def test_mechanisms_without_quaternions_need_no_predicate():
    assert unit_quaternions(km.load("pa10").mechanism) is None


@pytest.mark.parametrize("name", [*ARRAYS, *AT_PLACES])
def test_methods_keep_their_documents(name):
    method = getattr(km.Robot, name)
    assert method.__doc__
    assert method.__name__ == name
    assert next(iter(inspect.signature(method).parameters)) == "self"


def test_options_as_by_default_are_the_same_kernel():
    """What `prepare` compiles is what the methods use, whether they name their options or not."""
    arm = km.load("pa10")
    kernel = arm.prepare("forward_dynamics").compile("forward_dynamics")
    assert arm.compile("forward_dynamics", method="auto", wrenches=(), loop_tau=[], order=None) is kernel
    assert arm.compile("forward_dynamics", method="crba") is not kernel
    arm.forward_dynamics(*arguments(arm, "forward_dynamics"))
    assert list(arm._kernels.values()) == [kernel, arm.compile("forward_dynamics", method="crba")]
