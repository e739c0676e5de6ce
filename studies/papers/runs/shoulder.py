"""A shoulder of three revolute joints as one spherical joint, past its singular angles (thesis 8.2 items 2, 3)."""

import numpy as np

from kumitate.examples.catalogue import Example
from kumitate.model import Body, Capsule, Geometry, Joint, Mechanism, Sphere
from kumitate.model.joints import KINDS
from kumitate.papers import merge_spherical
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from ..merging import merging_costs

#: q and v of yaw, pitch, roll and elbow: the arm falls past 90 deg of pitch, where the axes of yaw and roll fall together.
START = ((0.0, 2.2, 0.03, 0.0), (0.06, 0.0, 0.0, 0.0))
UPPER, LOWER = 0.3, 0.25
_BLUE, _GREY = (0.13, 0.42, 0.69, 1.0), (0.6, 0.62, 0.65, 1.0)


def shoulder() -> Mechanism:
    """An arm of 3 kg: a shoulder about z, y, x with massless links in between, and an elbow."""
    z, y, x = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
    revolute = KINDS["revolute"]
    upper = (Geometry(Capsule(0.035, UPPER), pose((0.0, 0.0, -UPPER / 2.0)), _BLUE), Geometry(Sphere(0.05), color=_GREY))
    lower = (Geometry(Capsule(0.028, LOWER), pose((0.0, 0.0, -LOWER / 2.0)), _GREY),)
    bodies = (
        Body("yaw_ring"), Body("pitch_ring"),
        Body("upper_arm", 2.0, (0.0, 0.0, -UPPER / 2.0), (0.016, 0.016, 0.002), upper),
        Body("forearm", 1.0, (0.0, 0.0, -LOWER / 2.0), (0.0055, 0.0055, 0.0005), lower),
    )  # fmt: skip
    joints = (
        Joint("yaw", revolute, "world", "yaw_ring", pose((0.0, 0.0, 1.0)), z),
        Joint("pitch", revolute, "yaw_ring", "pitch_ring", axis=y),
        Joint("roll", revolute, "pitch_ring", "upper_arm", axis=x),
        Joint("elbow", revolute, "upper_arm", "forearm", pose((0.0, 0.0, -UPPER)), y),
    )
    return Mechanism("shoulder", bodies, joints)


def run() -> Record:
    """One second without drives, by angles; compared with the same motion by a quaternion."""
    q, v = (np.array(part) for part in START)
    by_angles, by_quaternion = (merge_spherical(shoulder(), by=by) for by in ("euler", "quaternion"))
    result, other = (
        simulate(merge.mechanism, *merge.merged(q, v), duration=1.0, step=1e-3, integrator="rkf45_adaptive", tolerance=1e-10)
        for merge in (by_angles, by_quaternion)
    )
    angles = by_quaternion.split(other.q, near=q)
    nearest = float(by_angles.singularity(result.q)["yaw+pitch+roll"].min())
    counts = "; ".join(
        f"{cost.method} {cost.separate or 'refuses'} / {cost.euler} / {cost.quaternion}" for cost in merging_costs(shoulder())
    )
    notes = (
        f"angles and quaternion give the same motion to {np.abs(angles - result.q).max():.2g} rad; the angles come within "
        f"{nearest:.2g} of their singularity",
        f"there the angles' rates reach {np.abs(result.v[:, :3]).max():.3g} rad/s where the arm itself turns at up to "
        f"{np.linalg.norm(other.v[:, :3], axis=1).max():.3g} rad/s; steps {result.audit.steps} by angles, "
        f"{other.audit.steps} by quaternion",
        f"operations of forward dynamics as three joints / by angles / by quaternion: {counts}",
    )
    return result.noted(*notes)


EXAMPLE = Example(
    name="shoulder",
    title="A shoulder as one spherical joint, past singular angles",
    rows=("T-f3",),
    summary=(
        "Three revolute joints whose axes meet, with nothing that weighs between, are merged into one spherical joint, by "
        "angles and by a quaternion; an arm falls on it past the posture where the angles are singular. Both give one motion "
        "and keep its energy. The angles' rates race there, which the run says; the quaternion passes evenly."
    ),
    run=run,
    panels=("q", "v", "energy"),
)
