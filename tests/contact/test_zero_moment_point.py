"""The zero-moment point of a motion is the center of pressure of the contacts that made it: two routes to one point."""

import numpy as np
import pytest

import kumitate as km


def leaning_table(rng):
    """A table of one heavy top and four swinging legs with round feet, on the floor."""
    bodies = [km.Body("top", 4.0, (0.01, -0.02, 0.03), (0.05, 0.06, 0.1))]
    joints = [km.Joint("free", "floating", "world", "top")]
    for k, (x, y) in enumerate([(0.2, 0.15), (-0.2, 0.15), (-0.2, -0.15), (0.2, -0.15)]):
        foot = km.Geometry(km.Sphere(0.02), km.pose((0, 0, -0.3)))
        bodies.append(km.Body(f"leg{k}", 0.5, (0, 0, -0.15), (0.004, 0.004, 0.0005), collisions=(foot,)))
        joints.append(km.Joint(f"hip{k}", "revolute", "top", f"leg{k}", km.pose((x, y, 0.0)), axis=(0, 1, 0), damping=0.05))
    robot = km.load(km.Mechanism("table", bodies, joints))
    q = robot.neutral()
    q[6] = 0.32
    return robot, q, np.concatenate([0.3 * rng.normal(size=6), rng.normal(size=4)])


@pytest.mark.parametrize("seed", range(3))
def test_centre_of_pressure(seed):
    rng = np.random.default_rng(seed)
    robot, q, v = leaning_table(rng)
    stiffness = rng.uniform(20.0, 60.0, size=4)

    def controller(t, q, v):
        return [0.0] * 6 + [-k * angle - 0.2 * rate for k, angle, rate in zip(stiffness, q[7:], v[6:], strict=True)]

    run = km.simulate(robot, q, v, duration=0.5, contact=km.Contact(surface=km.Surface(friction=0.4, kinetic_friction=0.3)))
    driven = km.simulate(robot, q, v, duration=0.5, controller=controller, contact="rigid")
    for motion in (run, driven):
        contact = motion.contact
        pressed = contact.normal_force.sum(axis=1) > 1.0
        assert pressed.sum() > 100
        zero_moment = robot.zmp(motion.q[pressed], motion.v[pressed], motion.a[pressed])[:, :2]
        force, place = contact.force[pressed], contact.position[pressed]
        load = force[:, :, 2]
        # in the step in which a gap closes a point is still above the floor: its force is moved along its line onto the floor
        pressure = np.einsum("nm,nmk->nk", load, place[:, :, :2]) - np.einsum("nm,nmk->nk", place[:, :, 2], force[:, :, :2])
        assert np.abs(zero_moment - pressure / load.sum(axis=1)[:, None]).max() < 1e-9
        above = (np.abs(place[:, :, 2]) * (load > 0.0)).max(axis=1)
        apart = np.abs(zero_moment - contact.center_of_pressure()[pressed][:, :2]).max(axis=1)
        assert (apart < 1e-9 + above).all()  # the same point, but for what is left of the gaps
        assert above.min() < 1e-8
