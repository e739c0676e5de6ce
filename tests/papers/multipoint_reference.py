"""The printed steps of Sugihara and Nakamura with dense matrices and NumPy's pseudo-inverse, over points of any mechanism.

Nothing of `kumitate.contact` but its shapes is used: Jacobians are the bodies' twists, one freedom after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kumitate.analysis import LoopEquations
from kumitate.contact.pairs import touches
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.dynamics.crba import crba
from kumitate.kinematics import link_poses, link_twists, place_pose, place_twist

__all__ = ["Printed", "printed_steps"]

EPSILON, SPEED_OUT, TOGETHER, NOTHING = 1e-4, 0.5, 1e-9, 1e-9


@dataclass(frozen=True)
class Printed:
    """What the steps give.

    Attributes:
        v: velocities (nv); impulses: on A (m, 3) in the axes of the world.
        passes: how often step 5 was made; `clear`: whether the rank of M was beyond doubt each time.
    """

    v: np.ndarray
    impulses: np.ndarray
    passes: int
    clear: bool


def printed_steps(mechanism, contact: Contact, h: float, q, v, v_free) -> Printed:
    """Steps 1 to 8, with the corrections that `multipoint` documents."""
    q, v, v_free = (np.asarray(part, dtype=float) for part in (q, v, v_free))
    tree, n = mechanism.tree, mechanism.nv
    H = np.array([[float(x) for x in row] for row in crba(tree, q.tolist())])
    for link in tree.links:
        for k, damping in enumerate(link.damping, link.v_start):
            H[k, k] += h * damping
    inverse = np.linalg.inv(H)
    if mechanism.loops or mechanism.couplings:
        G = LoopEquations(mechanism).state(q, np.zeros(n)).J
        hold = inverse @ G.T @ np.linalg.pinv(G @ inverse @ G.T, rcond=1e-9)
        closed, inverse = np.eye(n) - hold @ G, inverse - hold @ G @ inverse
    else:
        closed = np.eye(n)
    normals, gaps, surfaces, J = _points(mechanism, contact, q)
    across = np.eye(3) - normals[:, :, None] * normals[:, None, :]
    before, freely = J @ v, J @ v_free
    v_n, free_n = (np.einsum("mk,mk->m", normals, u) for u in (before, freely))
    slip = np.einsum("mij,mj->mi", across, before)  # v_σ σ of (7), (9)
    speed = np.linalg.norm(slip, axis=1)
    e, mu_s, mu_k = (np.array(part) for part in zip(*((s.restitution, s.friction, s.kinetic) for s in surfaces), strict=True))

    target = np.minimum(-gaps / h, SPEED_OUT)
    fall = np.linalg.norm(mechanism.gravity) * h
    arrives = (gaps + h * np.minimum(v_n, free_n) < 0.0) & (v_n < -2.0 * fall) & (e > 0.0)
    target = np.where(arrives, np.maximum(target, -e * v_n + np.minimum(free_n - v_n, 0.0)), target)  # (11)
    inside = (gaps <= TOGETHER) | (free_n < target)
    rests = speed <= EPSILON
    impulses, after, passes, clear = np.zeros((len(gaps), 3)), v_free, 0, True
    while inside.any():
        passes += 1
        some = np.flatnonzero(inside)
        wanted = normals * target[:, None] + np.where(rests[:, None], 0.0, slip)  # (10)-(12)
        K = J[some].reshape(-1, n)
        M = K @ inverse @ K.T
        parts = np.linalg.eigvalsh(M)
        clear = clear and not ((parts > 1e-11 * parts[-1]) & (parts < 1e-6 * parts[-1])).any()
        da = wanted[some].reshape(-1) - K @ closed @ v_free  # (17)
        f = np.zeros_like(impulses)
        f[some] = (np.linalg.pinv(M, rcond=1e-8, hermitian=True) @ da).reshape(-1, 3)  # (19)
        f_n = np.einsum("mk,mk->m", normals, f)  # (22)
        pulls = inside & (f_n <= NOTHING * np.abs(f).max())  # (24)
        if pulls.any():
            inside = inside & ~pulls
            continue
        f_t = np.einsum("mij,mj->mi", across, f)
        size = np.linalg.norm(f_t, axis=1)  # (23)
        sticks = rests & (size <= mu_s * f_n)  # (25)
        along = np.where(rests[:, None], f_t / np.maximum(size, 1e-300)[:, None], -slip / np.maximum(speed, 1e-300)[:, None])
        rubbed = np.where(sticks[:, None], f_t, (mu_k * f_n)[:, None] * along)  # (27), (28)
        impulses = np.where(inside[:, None], normals * f_n[:, None] + rubbed, 0.0)
        after = closed @ v_free + inverse @ J.reshape(-1, n).T @ impulses.reshape(-1)  # (15)
        turned = inside & ~rests & (np.einsum("mi,mi->m", slip, J @ after) < 0.0)
        if not turned.any():
            break
        rests = rests | turned
    return Printed(after, impulses, passes, clear)


def _points(mechanism, contact: Contact, q: np.ndarray):
    """Normals (m, 3), gaps (m), surfaces and the Jacobians (m, 3, nv) of A's points against B's."""
    tree = mechanism.tree
    poses = link_poses(tree, q.tolist())
    pairs = contact_pairs(mechanism, mechanism.base_parameter_tree, contact)

    def world(pair, k):
        return place_pose(tree, poses, _place(tree, pair.bodies[k]))

    unit = [link_twists(tree, q.tolist(), row) for row in np.eye(mechanism.nv).tolist()]
    normals, gaps, surfaces, jacobians = [], [], [], []
    for pair in pairs:
        X = [(world(pair, k) @ pair.geometries[k].pose).dense() for k in (0, 1)]
        for touch in touches(pair.geometries[0].shape, X[0], pair.geometries[1].shape, X[1]):
            point = np.array(list(touch.point))
            if pair.links[1] < 0:  # what stands still is touched on its surface
                point -= 0.5 * min(touch.gap, 1.0) * np.array(list(touch.normal))
            J = np.zeros((3, mechanism.nv))
            for k, sign in ((0, 1.0), (1, -1.0)):
                place = _place(tree, pair.bodies[k])
                X_WB = np.array(world(pair, k).matrix())
                for i, twists in enumerate(unit):
                    V = place_twist(tree, twists, place)
                    omega, linear = (X_WB[:3, :3] @ np.array(list(part)) for part in (V.angular, V.linear))
                    J[:, i] += sign * (linear + np.cross(omega, point - X_WB[:3, 3]))
            normals.append(list(touch.normal))
            gaps.append(touch.gap)
            surfaces.append(pair.surface)
            jacobians.append(J)
    return np.array(normals), np.array(gaps), surfaces, np.array(jacobians)


def _place(tree, name: str):
    return tree.places["world" if name == "ground" else name]
