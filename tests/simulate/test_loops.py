"""Running mechanisms with loops: putting them together, keeping them closed, and saying what is wrong with them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kumitate as km
from kumitate.analysis import LoopEquations, assemble, closed_state
from kumitate.analysis.closing.newton import closed_near
from kumitate.dynamics import Acting, aba_with_loops, projected
from kumitate.dynamics.loops.constraints import largest_gap
from kumitate.errors import InputError, ModelError
from kumitate.kinematics import difference, integrate
from kumitate.model import Body, Coupling, Distance, Joint, Loop, Mechanism
from kumitate.model.samples import bricard, four_bars, planar_4r
from kumitate.spatial import pose

from ..mechanisms import closed_cases, near, random_linkage, random_ring, seeds

RINGS = {
    "spatial": (["revolute", "universal", "spherical", "revolute", "revolute", "prismatic"], {}),
    "planar": (["revolute", "revolute", "prismatic", "revolute"], {"planar": True}),
    "floating": (["spherical", "revolute", "universal", "revolute", "revolute", "prismatic"], {"base": "floating"}),
}
each_ring = pytest.mark.parametrize("ring", RINGS)


def ring_case(ring: str, seed: int):
    kinds, options = RINGS[ring]
    linkage = random_ring(seed, kinds, **options)
    loop = [hinge.name for hinge in linkage.hinges if hinge.kind != "floating"][seed % len(kinds)]
    return closed_cases(seed, linkage, [loop])[0]


# --- putting together -----------------------------------------------------------------------------------------------------
@each_ring
@pytest.mark.parametrize(**seeds(4))
def test_assemble_finds_the_nearest_closed_posture(seed, ring):
    case, _ = ring_case(ring, seed)
    m, rng = case.mechanism, np.random.default_rng(seed)
    rough = np.array(integrate(m.tree, case.q, rng.normal(scale=0.1, size=m.nv).tolist()))
    equations = LoopEquations(m)
    q, v = assemble(equations, rough, rng.normal(size=m.nv))
    state = equations.state(q, v)
    assert np.abs(state.error).max() < 1e-12
    assert np.abs(state.rate).max() < 1e-12 * max(1.0, np.abs(v).max())
    # no closed posture nearby is nearer: what leads back is at right angles to what the loops allow
    away = np.array(difference(m.tree, rough.tolist(), q.tolist()))
    free = np.eye(m.nv) - np.linalg.pinv(state.J, rcond=1e-9) @ state.J
    assert np.linalg.norm(away) < 1.0
    step = 1e-4 * free @ rng.normal(size=m.nv)
    other, _ = assemble(equations, np.array(integrate(m.tree, q.tolist(), step.tolist())))
    if ring == "planar":  # coordinates that add up: there the distance has a gradient by components
        near(free @ away, np.zeros(m.nv), 1e-9)
        assert np.linalg.norm(difference(m.tree, rough.tolist(), other.tolist())) >= np.linalg.norm(away)
    np.testing.assert_allclose(assemble(equations, q)[0], q, rtol=0.0, atol=1e-12)


@each_ring
@pytest.mark.parametrize(**seeds(3))
def test_assemble_changes_velocities_least(seed, ring):
    case, _ = ring_case(ring, seed)
    rough = np.random.default_rng(seed).normal(size=case.mechanism.nv)
    equations = LoopEquations(case.mechanism)
    q, v = assemble(equations, np.array(case.q), rough)
    J = equations.state(q, v).J
    near(v, rough - np.linalg.pinv(J, rcond=1e-9) @ (J @ rough), 1e-10)


def unreachable() -> Mechanism:
    """A four-bar whose ends are 1 m too far apart, next to one that closes."""
    good = four_bars(2)
    far = replace(good.loops[1], pose_a=pose((4.0, 0.0, 1.0)))
    return replace(good, loops=(good.loops[0], far))


def test_what_cannot_be_closed_says_which_loop_and_how_far():
    robot = km.Robot(unreachable())
    with pytest.raises(
        ModelError, match=r"loop 'loop1' cannot be closed from there: \d\.\d+ m and \d.* rad are left"
    ) as caught:
        robot.assemble(np.full(robot.nq, 0.3))
    assert "check the lengths" in str(caught.value)


def test_two_rods_that_do_not_meet_leave_the_gap_between_them():
    bodies = (Body("a", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)), Body("b", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1)))
    joints = (Joint("ja", "revolute", "world", "a"), Joint("jb", "revolute", "world", "b", pose((3.5, 0.0, 0.0))))
    loop = Loop("tie", "spherical", "a", "b", pose((1.0, 0.0, 0.0)), pose((1.0, 0.0, 0.0)))
    with pytest.raises(ModelError, match=r"loop 'tie' cannot be closed from there: 1\.5\d* m"):
        km.Robot(Mechanism("rods", bodies, joints, (loop,))).assemble([0.3, 2.5])


def test_an_open_start_is_refused_with_the_way_to_close_it():
    loop = planar_4r()
    with pytest.raises(InputError, match=r"loop 'joint4' is open by 0\.\d+ m and 0.* rad at the initial q.*`robot.assemble"):
        km.simulate(loop, [0.5, 1.0, 2.2], duration=0.01)
    closed = km.Robot(loop).assemble([0.5, 1.0, 2.2])
    km.simulate(loop, closed, duration=0.01)
    with pytest.raises(InputError, match=r"loop 'joint4' opens at .* m/s and .* rad/s with the initial v.*`robot.assemble"):
        km.simulate(loop, closed, [1.0, 0.0, 0.0], duration=0.01)
    q, v = km.Robot(loop).assemble(closed, [1.0, 0.0, 0.0])
    km.simulate(loop, q, v, duration=0.01)


def test_a_body_with_two_parents_is_told_to_be_a_loop():
    bodies, joints = (
        (Body("a", 1.0), Body("b", 1.0)),
        [Joint("j1", "revolute", "world", "a"), Joint("j2", "revolute", "a", "b")],
    )
    with pytest.raises(ModelError, match=r"body 'b' is the child of the joints \['j2', 'j3'\].*declare the others as loops"):
        Mechanism("two", bodies, (*joints, Joint("j3", "revolute", "world", "b")))


def test_a_cycle_without_the_world_and_a_joint_to_itself_are_refused():
    bodies = (Body("a", 1.0), Body("b", 1.0))
    around = (Joint("j1", "revolute", "a", "b"), Joint("j2", "revolute", "b", "a"))
    with pytest.raises(ModelError, match=r"the joints of \['b', 'a'\] form a cycle that nothing holds to 'world'.*as a loop"):
        Mechanism("round", bodies, around)
    with pytest.raises(ModelError, match="joint 'j' joins 'a' to itself"):
        Mechanism("self", bodies[:1], (Joint("j", "revolute", "a", "a"),))
    with pytest.raises(ModelError, match="loop 'l' joins 'a' to itself"):
        Loop("l", "revolute", "a", "a")


# --- what the loops leave free --------------------------------------------------------------------------------------------
def report(mechanism: Mechanism, q) -> km.ConstraintReport:
    return km.Robot(mechanism).constraint_report(np.array(q, dtype=float))


def test_the_report_of_a_four_bar():
    found = report(planar_4r(), np.deg2rad([60.0, 30.0, 150.0]))
    assert (found.freedoms, found.rows, found.rank, found.mobility, found.redundant) == (3, 5, 2, 1, 3)
    assert len(found.dependent) == 3
    assert not found.singular
    assert found.singularity > 0.1
    for name in ("joint1", "joint2", "joint3", "joint4"):
        # in the plane x, z all is determined; across it, nothing is
        assert found.determined[name] == (False, True, False, True, False, True)
    text = "\n".join(found.lines())
    assert "mobility 1" in text
    assert "3 redundant" in text
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["mobility"] == 1
    assert plain["determined"]["joint4"] == {"nx": False, "ny": True, "nz": False, "fx": True, "fy": False, "fz": True}


def test_the_report_of_a_singular_posture():
    right = math.pi / 2.0
    found = report(planar_4r(), [right, 0.0, math.pi])
    assert found.singular
    assert (found.rank, found.usual_rank, found.mobility, found.usual_mobility) == (1, 2, 2, 1)
    assert found.singularity < 1e-12
    assert "singular posture" in "\n".join(found.lines())
    nearer = [report(planar_4r(), [right - d, d, math.pi - d]).singularity for d in (0.1, 0.01, 0.001)]
    assert nearer[0] > 5.0 * nearer[1] > 25.0 * nearer[2] > 0.0


def test_the_report_of_what_moves_although_it_should_not():
    found = report(bricard(), np.zeros(5))
    assert (found.freedoms, found.rows, found.mobility, found.redundant) == (5, 5, 1, 1)
    json.dumps(found.as_dict())


@pytest.mark.parametrize(
    ("kinds", "mobility"),
    [(["revolute"] * 7, 1), (["revolute"] * 6, 0), (["revolute", "spherical", "spherical", "revolute"], 2),
     (["universal", "spherical", "cylindrical", "prismatic"], 2), (["fixed", "floating", "revolute"], 1),
     (["revolute", "universal", "universal", "revolute", "planar"], 3)],
    ids=str,
)  # fmt: skip
def test_mobility_is_what_grueblers_formula_counts(kinds, mobility):
    linkage = random_ring(3, kinds)
    for hinge in (linkage.hinges[0], linkage.hinges[-1]):
        case, _ = closed_cases(3, linkage, [hinge.name])[0]
        found = report(case.mechanism, case.q)
        assert (found.mobility, found.redundant, found.singular) == (mobility, 0, False)
        assert all(all(parts) for parts in found.determined.values())


def test_a_tree_has_all_its_degrees_of_freedom():
    found = km.load("pa10").constraint_report(np.zeros(7))
    assert (found.mobility, found.rows, found.lines()) == (7, 0, ["no loops: mobility 7"])


# --- staying closed -------------------------------------------------------------------------------------------------------
@each_ring
@pytest.mark.parametrize(**seeds(2))
def test_projection_leaves_closed_what_is_closed(seed, ring):
    case, _ = ring_case(ring, seed)  # springs, too, change nothing
    tree = case.mechanism.tree
    q, v = projected(tree, case.q, case.v)
    near(difference(tree, case.q, q), np.zeros(tree.nv), 1e-12)
    near(v, case.v, 1e-12)


@each_ring
@pytest.mark.parametrize(**seeds(2))
def test_projection_squares_the_error(seed, ring):
    case, _ = ring_case(ring, seed)
    tree, equations = case.mechanism.tree, LoopEquations(case.mechanism)
    away = np.random.default_rng(seed).normal(size=tree.nv)
    gaps = []
    for size in (1e-2, 1e-3):
        q, v = projected(tree, integrate(tree, case.q, (size * away).tolist()), case.v)
        state = equations.state(q, v)
        gaps.append(np.linalg.norm(state.error))
        assert np.abs(state.rate).max() < 1e-2 * gaps[-1] + 1e-11  # of what is left open, the velocity is not exact
    assert gaps[1] < 0.03 * gaps[0] or gaps[0] < 1e-12


def test_baumgarte_keeps_errors_small_and_without_it_they_grow():
    case, _ = closed_cases(0, random_ring(0, ["revolute"] * 4, planar=True, passive=False), ["h3"])[0]

    def gap(**options) -> float:
        run = km.simulate(case.mechanism, case.q, case.v, duration=2.0, step=1e-2, integrator="rk4", **options)
        (found,) = run.audit.loop_gaps
        assert found.name == "h3"
        assert run.settings["baumgarte"] == options.get("baumgarte")
        assert any(line.startswith("loops closed to") for line in run.audit.lines())
        return found.distance

    projected_gap, held, drifting = gap(), gap(baumgarte=20.0), gap(baumgarte=0.0)
    assert projected_gap < 1e-12
    assert drifting > 1e-9
    assert held < 0.2 * drifting
    with pytest.raises(InputError, match=r"baumgarte is -1\.0; it must be zero or more"):
        gap(baumgarte=-1.0)


@pytest.mark.parametrize("alpha", [3.0, 40.0])
def test_baumgarte_lets_errors_decay_as_critically_damped(alpha):
    """φ̈ + 2αφ̇ + α²φ = 0 of a rod that is 1 cm too long and opens: φ(t) = (φ + (φ̇ + αφ) t) exp(−αt)."""
    rails = (
        Joint("x", "prismatic", "world", "a", axis=(1, 0, 0)),
        Joint("z", "prismatic", "a", "b", axis=(0, 0, 1)),
    )
    point = Mechanism("point", (Body("a", 0.5), Body("b", 1.0)), rails, (Loop("rod", Distance(1.0), "world", "b"),))
    equations, tree = LoopEquations(point), point.tree

    def rates(_, y):
        return [
            *y[2:],
            *aba_with_loops(tree, y[:2].tolist(), y[2:].tolist(), [0.3, -0.2], Acting(point.gravity, baumgarte=alpha)),
        ]

    times = np.linspace(0.0, 4.0 / alpha, 9)
    start = [1.01 * math.cos(0.5), 1.01 * math.sin(0.5), 0.7, 0.4]
    moved = solve_ivp(rates, (0.0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-13)
    states = [equations.state(y[:2], y[2:]) for y in moved.y.T]
    error, opening = (np.array([float(getattr(one, name)[0]) for one in states]) for name in ("error", "rate"))
    decayed = (error[0] + (opening[0] + alpha * error[0]) * times) * np.exp(-alpha * times)
    np.testing.assert_allclose(error, decayed, rtol=0.0, atol=1e-9 * abs(error).max())


def test_closing_loops_does_no_more_than_it_must(monkeypatch):
    """The number of evaluations of the equations: exactly one if nothing is open, or can be closed; a few times else."""
    asked = []
    state = LoopEquations.state
    monkeypatch.setattr(LoopEquations, "state", lambda self, q, v: (asked.append(0), state(self, q, v))[1])

    def count(mechanism: Mechanism, q) -> int:
        asked.clear()
        try:
            closed_near(LoopEquations(mechanism), np.array(q))
        except ModelError:
            return len(asked)
        return len(asked)

    square = four_bars(1)
    closed = closed_near(LoopEquations(square), np.zeros(square.nq))
    assert count(square, closed) <= 2  # one Newton step beyond rounding at most
    case, _ = ring_case("spatial", 0)
    rough = np.array(integrate(case.mechanism.tree, case.q, np.full(case.mechanism.nv, 0.3).tolist()))
    assert count(case.mechanism, rough) < 20  # quadratic in the end, although the first steps go too far
    far, _ = ring_case("spatial", 4)
    for size in (0.5, 1.0, 1.5, 2.0):  # the first steps go too far there, and damping that has helped is taken back
        away = size * np.random.default_rng(4).normal(size=far.mechanism.nv)
        q = np.array(integrate(far.mechanism.tree, far.q, away.tolist()))
        assert count(far.mechanism, q) < 30
        assert (
            np.abs(LoopEquations(far.mechanism).state(closed_near(LoopEquations(far.mechanism), q), far.v).error).max() < 1e-9
        )
    long = planar_4r()
    apart = replace(long, loops=tuple(replace(loop, pose_a=pose((4.0, 0.0, 0.0))) for loop in long.loops))
    assert count(apart, [1.0, 0.3, 0.2]) < 120  # it gives up long before the steps that it is granted


def test_how_fast_a_loop_may_open_at_the_start():
    """By a millionth of the mechanism's size and of 1 + the largest velocity, and no more."""
    case, _ = ring_case("planar", 0)
    equations, tree, rng = LoopEquations(case.mechanism), case.mechanism.tree, np.random.default_rng(0)
    assert not 0.7 < tree.size < 1.4
    q, along = assemble(equations, case.q, rng.normal(size=tree.nv))
    aside = rng.normal(size=tree.nv)
    unit = equations.gaps(q, aside)[0].rate(tree.size)
    for speed in (1e-3, 50.0):
        v = along * (speed / np.abs(along).max())
        allowed = 1e-6 * tree.size * (1.0 + speed) / unit
        closed_state(equations, q, v + 0.9 * allowed * aside)
        with pytest.raises(InputError, match="opens at"):
            closed_state(equations, q, v + 1.1 * allowed * aside)


def test_an_audit_with_loops_is_kept_in_files(tmp_path):
    run = km.simulate(planar_4r(), np.deg2rad([50.0, 40.0, 140.0]), duration=0.05)
    run.save(tmp_path / "run.h5")
    assert km.open(tmp_path / "run.h5").audit.loop_gaps == run.audit.loop_gaps


# --- what does not matter -------------------------------------------------------------------------------------------------
@pytest.mark.row("T-sing")
@pytest.mark.parametrize("ring", ["spatial", "planar"])
def test_a_second_of_motion_does_not_depend_on_the_cut(ring):
    # with springs, dampers, armatures and drives at every joint; dry friction would be too stiff for this step
    kinds, options = RINGS[ring]
    linkage, seed = random_ring(1, kinds, **options), 1
    hinges = tuple(
        replace(hinge, passive={key: value for key, value in hinge.passive.items() if key != "friction"})
        for hinge in linkage.hinges
    )
    linkage = replace(linkage, hinges=hinges)
    # not h0 in space: it passes half a turn, where the angle of a loop's joint, and with it its spring, jumps
    cuts = [["h1"], ["h2"], ["h5"]] if ring == "spatial" else [["h0"], ["h2"], ["h3"]]
    runs = []
    for case, drives in closed_cases(seed, linkage, *cuts):
        m = case.mechanism
        one = {name for name, kind in ((h.name, h.kind) for h in linkage.hinges) if kind in ("revolute", "prismatic")}
        tau, start = np.zeros(m.nv), 0
        for joint in m.joints:  # constant drives are the same forces only where the joint has one axis
            tau[start : start + joint.kind.nv] = case.tau[start : start + joint.kind.nv] if joint.name in one else 0.0
            start += joint.kind.nv
        loop_tau = {name: values for name, values in drives.items() if name in one}
        run = km.simulate(
            m, case.q, case.v, duration=1.0, step=1e-3, integrator="rkf45", controller=tau.tolist(), loop_tau=loop_tau
        )
        robot = km.Robot(m)
        runs.append(np.stack([robot.pose(run.q[::20], f"{body.name}.own") for body in linkage.bodies]))
        assert run.audit.energy_drift < 1e-7
        assert max(gap.size(m.tree.size) for gap in run.audit.loop_gaps) < 1e-10
    for other in runs[1:]:
        np.testing.assert_allclose(other, runs[0], rtol=0.0, atol=1e-9)


def test_a_gear_in_a_run_keeps_its_ratio():
    linkage = random_linkage(2, [("revolute", "world", "b0"), ("revolute", "b0", "b1"), ("prismatic", "b1", "b2")])
    case, _ = closed_cases(2, linkage, [])[0]
    gears = (Coupling("belt", "h1", "h0", -2.0, 0.3), Coupling("rack", "h2", "h1", 0.1, 0.0))
    m = replace(case.mechanism, couplings=gears)
    q, v = km.Robot(m).assemble(case.q, case.v)
    run = km.simulate(m, q, v, duration=0.5, step=1e-3)
    np.testing.assert_allclose(run.q[:, 1], -2.0 * run.q[:, 0] + 0.3, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(run.q[:, 2], 0.1 * run.q[:, 1], rtol=0.0, atol=1e-11)
    assert [gap.name for gap in run.audit.loop_gaps] == ["belt", "rack"]
    found = LoopEquations(m).state([0.4, 0.1, 0.2], [1.0, 2.0, 3.0])  # in closed form, with nothing compiled
    np.testing.assert_allclose(found.error, [0.1 + 2.0 * 0.4 - 0.3, 0.2 - 0.1 * 0.1], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(found.rate, [2.0 + 2.0 * 1.0, 3.0 - 0.1 * 2.0], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(found.J, [[2.0, 1.0, 0.0], [0.0, -0.1, 1.0]], rtol=0.0, atol=0.0)
    assert run.audit.energy_drift < 1e-9


def test_a_rod_in_a_run_keeps_its_length():
    rods = (Loop("rod", Distance(0.8), "leg0", "leg1", pose((0.0, 0.0, 0.7)), pose((0.0, 0.0, 0.4))),)
    m = replace(four_bars(1), loops=rods)
    robot = km.Robot(m)
    q, v = robot.assemble(np.array([0.3, 1.0, 0.4]), np.array([1.0, -0.5, 0.0]))
    run = km.simulate(m, q, v, duration=1.0, step=1e-3)
    ends = [robot.pose(run.q, leg) @ [0.0, 0.0, high, 1.0] for leg, high in (("leg0", 0.7), ("leg1", 0.4))]
    np.testing.assert_allclose(np.linalg.norm(ends[0] - ends[1], axis=1), 0.8, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "semi_implicit_euler", "extrapolated_euler"])
def test_accelerations_of_a_run_are_those_of_its_states(integrator):
    """Also of methods that are implicit in the damping of a loop's joint: a run without steps has no step to divide by."""
    mechanism = km.load("four_bar").mechanism
    damped = km.load(replace(mechanism, loops=tuple(replace(loop, damping=0.3, stiffness=2.0) for loop in mechanism.loops)))
    run = km.simulate(damped, v=damped.assemble(damped.start[0], np.ones(3))[1], duration=0.01, integrator=integrator)
    assert np.isfinite(run.a).all()
    np.testing.assert_allclose(run.a, damped.forward_dynamics(run.q, run.v, run.tau), rtol=1e-9, atol=1e-9)


def test_angles_between_the_ends_of_loops_count_times_the_size_of_the_mechanism():
    rows = [SimpleNamespace(angular=True, error=-0.2, rate=0.3), SimpleNamespace(angular=False, error=0.5, rate=-4.0)]
    for size, expected in ((10.0, (2.0, 4.0)), (0.1, (0.5, 4.0))):
        assert largest_gap(SimpleNamespace(size=size), rows) == pytest.approx(expected)
