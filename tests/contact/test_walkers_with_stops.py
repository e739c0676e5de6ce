"""A walker whose legs hit their stops while its feet land, stick and slide: every step against momentum, laws, dense sweeps.

Rotors as heavy as those of geared motors make the stops' impulses larger than the walker's own momentum. No step of a run takes
part in the check of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest

import kumitate as km

H, FRICTION, DURATION = 2e-3, 1.0, 1.2
#: What stops may miss their targets by [rad/s] (`dynamics.settling.TOLERANCE`), and so velocities of the feet [m/s].
SETTLED = 3e-7
SEEDS = (3, 4)


def walker() -> km.Mechanism:
    """A trunk that moves in the x-z plane, on two legs of two hinges with rotors, damping and stops; balls for feet."""
    bodies = [km.Body("rail", 0.0), km.Body("lift", 0.0), km.Body("trunk", 0.5, inertia=(2e-3,) * 3)]
    joints = [
        km.Joint("along", "prismatic", "world", "rail", axis=(1, 0, 0)),
        km.Joint("up", "prismatic", "rail", "lift"),
        km.Joint("pitch", "revolute", "lift", "trunk", axis=(0, 1, 0)),
    ]
    geared = {"axis": (0, 1, 0), "armature": (0.2,), "damping": (0.2,)}
    for k, middle in enumerate((0.7, -0.7)):
        thigh, shank = f"thigh{k}", f"shank{k}"
        foot = km.Geometry(km.Sphere(0.03), km.pose((0.0, 0.0, -0.25)))
        bodies += [km.Body(thigh, 0.05, (0.0, 0.0, -0.1), (2e-4,) * 3)]
        bodies += [km.Body(shank, 0.06, (0.0, 0.0, -0.1), (3e-4,) * 3, collisions=(foot,))]
        hip, knee = (km.Limits(middle - 0.5, middle + 0.5),), (km.Limits(-0.5, 0.5),)
        joints += [km.Joint(f"hip{k}", "revolute", "trunk", thigh, km.pose((0.4 * k - 0.2, 0.0, 0.0)), limits=hip, **geared)]
        joints += [km.Joint(f"knee{k}", "revolute", thigh, shank, km.pose((0.0, 0.0, -0.2)), limits=knee, **geared)]
    return km.Mechanism("walker", tuple(bodies), tuple(joints))


@dataclass(frozen=True)
class Steps:
    """All steps of a run, as equations M (v₁ − v) = push + Jᵀ impulses + what stops give.

    Attributes:
        q, v, after: before each step, and the velocities after it (n, nv).
        M: inertia, implicit in damping (n, nv, nv); push: h (τ − bias) (n, nv).
        J: of the points where the balls' feet meet the floor (n, p, 3, nv); gaps (n, p); impulses of the run (n, p, 3).
    """

    q: np.ndarray
    v: np.ndarray
    after: np.ndarray
    M: np.ndarray
    push: np.ndarray
    J: np.ndarray
    gaps: np.ndarray
    impulses: np.ndarray

    @classmethod
    @cache
    def of(cls, model: str, seed: int) -> Steps:
        mechanism, rng = walker(), np.random.default_rng(seed)
        robot = km.Robot(mechanism)
        rates, phases = rng.uniform(10.0, 40.0, 4), rng.uniform(0.0, 6.3, 4)

        def efforts(t, q, v):
            return np.concatenate([np.zeros(3), 30.0 * np.sin(rates * t + phases)])

        run = km.simulate(
            mechanism, [0.0, 0.5, 0.0, 0.7, 0.0, -0.7, 0.0], duration=DURATION, step=H, controller=efforts,
            integrator="semi_implicit_euler", contact=km.Contact(model, surface=km.Surface(FRICTION)),
        )  # fmt: skip
        q, v, tau = run.q[:-1], run.v[:-1], np.array([efforts(t, None, None) for t in run.time[:-1]])
        damping = np.concatenate([joint.damping for joint in mechanism.joints])
        M, push = robot.mass_matrix(q) + H * np.diag(damping), H * (tau - robot.bias_forces(q, v))
        round_bodies = [body for body in mechanism.bodies if body.collisions]
        J, gaps, impulses = [], [], np.zeros((len(q), len(round_bodies), 3))
        for k, body in enumerate(round_bodies):
            X, whole = robot.pose(q, body.name), robot.jacobian(q, body.name)
            (ball,) = body.collisions
            lever = X[:, :3, :3] @ np.array([float(x) for x in ball.pose.translation])
            height = X[:, 2, 3] + lever[:, 2]
            lever[:, 2] -= height  # down to the floor
            J.append(whole[:, 3:] + np.cross(whole[:, :3], lever[:, :, None], axis=1))
            gaps.append(height - ball.shape.radius)
            for of, (touched, _) in enumerate(run.contact.bodies):
                if touched == body.name:
                    impulses[:, k] += H * run.contact.force[:-1, of]
        return cls(q, v, run.v[1:], M, push, np.stack(J, 1), np.stack(gaps, 1), impulses)

    @cached_property
    def stops(self) -> np.ndarray:
        """What momentum lacks: the impulses of stops along the joints [N·m·s], and nothing along trunk and free joints."""
        gained = np.einsum("nij,nj->ni", self.M, self.after - self.v) - self.push
        return gained - np.einsum("npki,npk->ni", self.J, self.impulses)

    @cached_property
    def room(self) -> np.ndarray:
        """Twice (n, nv): how far joints can go on from where they are, down and up."""
        limits = [limit for joint in walker().joints for limit in (joint.limits or (km.Limits(),))]
        down = [-np.inf if limit.lower is None else limit.lower for limit in limits]
        up = [np.inf if limit.upper is None else limit.upper for limit in limits]
        return np.stack([self.q - down, up - self.q])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", ["rigid", "multipoint"])
def test_stops_push_what_momentum_lacks_and_only_where_they_are_reached(model, seed):
    steps = Steps.of(model, seed)
    np.testing.assert_allclose(steps.stops[:, :3], 0.0, atol=1e-7)  # the floor and gravity alone move the trunk
    down, up = steps.room + H * np.stack([steps.after, -steps.after])
    assert min(down.min(), up.min()) > -H * SETTLED  # no stop is passed
    np.testing.assert_allclose(np.minimum(np.maximum(steps.stops, 0.0), down), 0.0, atol=1e-8)
    np.testing.assert_allclose(np.minimum(np.maximum(-steps.stops, 0.0), up), 0.0, atol=1e-8)
    hit, touched = np.abs(steps.stops).max(axis=1) > 1e-3, steps.impulses[:, :, 2].max(axis=1) > 0.0
    assert hit.sum() > 50
    assert (hit & touched).sum() > 10  # how often it happens depends on rounding, which chaos makes much of


@pytest.mark.parametrize("seed", SEEDS)
def test_rigid_contact_obeys_its_laws_beside_stops(seed):
    steps = Steps.of("rigid", seed)
    u = np.einsum("npki,ni->npk", steps.J, steps.after)
    normal, along, sliding = steps.impulses[:, :, 2], steps.impulses[:, :, 0], u[:, :, 0]
    ends = steps.gaps + H * u[:, :, 2]
    np.testing.assert_allclose(np.minimum(normal, ends), 0.0, atol=1e-9)
    assert (np.abs(along) - FRICTION * normal).max() < 1e-12
    np.testing.assert_allclose((FRICTION * normal - np.abs(along)) * sliding, 0.0, atol=1e-9)  # it slides at the cone only,
    assert (along * sliding).max() < 1e-9  # against the force


@pytest.mark.parametrize("seed", SEEDS)
def test_rigid_steps_are_those_of_dense_sweeps_over_stops_and_feet(seed):
    """Projected Gauss-Seidel on M⁻¹, all steps at a time, each stop and each direction of a foot by itself."""
    steps = Steps.of("rigid", seed)
    inverse = np.linalg.inv(steps.M)
    v = steps.v + np.einsum("nij,nj->ni", inverse, steps.push)
    moved = np.einsum("nij,npkj->npki", inverse, steps.J)
    size = np.einsum("npki,npki->npk", steps.J, moved)
    # overlap, of rounding and of what a turning foot sinks in, is corrected at most at 0.5 m/s
    targets, held = np.minimum(-steps.gaps / H, 0.5), np.zeros((2, *v.shape))
    impulses = np.zeros_like(steps.impulses)

    def swept(v: np.ndarray) -> np.ndarray:
        for side, sign in enumerate((1.0, -1.0)):
            for k in range(3, v.shape[1]):
                lacking = np.minimum(-steps.room[side, :, k] / H, 0.5) - sign * v[:, k]
                more = np.maximum(held[side, :, k] + lacking / inverse[:, k, k], 0.0) - held[side, :, k]
                held[side, :, k] += more
                v = v + sign * more[:, None] * inverse[:, :, k]
        for k in range(impulses.shape[1]):
            for axis in (2, 0):
                rate = np.einsum("ni,ni->n", steps.J[:, k, axis], v)
                wished = impulses[:, k, axis] + ((targets[:, k] if axis == 2 else 0.0) - rate) / size[:, k, axis]
                most = FRICTION * impulses[:, k, 2]
                kept = np.maximum(wished, 0.0) if axis == 2 else np.clip(wished, -most, most)
                v = v + (kept - impulses[:, k, axis])[:, None] * moved[:, k, axis]
                impulses[:, k, axis] = kept
        return v

    for _ in range(1000):
        last, v = v, swept(v)
        if np.abs(v - last).max() < 1e-13:
            break
    else:
        pytest.fail("the sweeps do not converge")
    np.testing.assert_allclose(steps.after, v, atol=SETTLED)
