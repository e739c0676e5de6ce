"""Random mechanisms, states and shapes of error bounds, shared by the tests.

Everything is drawn from a seed, so that a failing test's name says how to repeat it: `random_case(7)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kumitate.analysis import LoopEquations
from kumitate.kinematics import link_poses, link_twists, place_pose, place_twist
from kumitate.model import KINDS, Body, Frame, Joint, JointKind, Loop, Mechanism
from kumitate.model.tree.tree import alignment
from kumitate.spatial import Force, Motion, Transform, pose

EPS = float(np.finfo(float).eps)
MOVING = tuple(name for name, kind in KINDS.items() if kind.nv)


@dataclass(frozen=True)
class Case:
    """A mechanism in a state: coordinates, velocities, forces of the drives, and accelerations of no relation to them."""

    mechanism: Mechanism
    q: list[float]
    v: list[float]
    tau: list[float]
    a: list[float]

    @property
    def n(self) -> int:
        """What rounding errors grow with: the number of joints and degrees of freedom."""
        return len(self.mechanism.joints) + self.mechanism.nv


# --- drawing ----------------------------------------------------------------------------------------------------------
def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A rotation matrix, uniform over all orientations."""
    x, y, z, w = (part := rng.normal(size=4)) / np.linalg.norm(part)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def random_pose(rng: np.random.Generator) -> Transform:
    """A pose within ±0.5 m; one in four along the axes of the parent, as most real ones are."""
    xyz = rng.uniform(-0.5, 0.5, 3)
    if rng.random() < 0.25:
        return pose(xyz, rng.choice([0.0, 0.5, 1.0, -0.5], 3) * math.pi)
    return pose(xyz, matrix=random_rotation(rng).tolist())


def random_body(rng: np.random.Generator, name: str) -> Body:
    """A body that could exist: six point masses make the inertia, so that the triangle inequality holds."""
    points, masses = rng.normal(scale=0.15, size=(6, 3)), rng.uniform(0.05, 0.5, 6)
    center = masses @ points / masses.sum()
    arms = points - center
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return Body(name, masses.sum(), center, inertia)


def random_axes(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Two directions at right angles; often along coordinates, which is a case of its own."""
    if rng.random() < 0.5:
        first, second = rng.choice(3, 2, replace=False)
        return (np.eye(3)[first] * rng.choice([1.0, -1.0])).tolist(), (np.eye(3)[second] * rng.choice([1.0, -1.0])).tolist()
    columns = random_rotation(rng).T
    return columns[0].tolist(), columns[1].tolist()


def random_joint(rng: np.random.Generator, name: str, kind: str, parent: str, child: str, *, passive: bool = True) -> Joint:
    """A joint of this kind; `passive` gives it armature, damping and dry friction."""
    nv = KINDS[kind].nv
    axis, second = random_axes(rng)
    drive = {key: rng.uniform(0.0, 0.2, nv) * rng.integers(0, 2, nv) for key in ("armature", "damping", "friction")}
    return Joint(name, kind, parent, child, random_pose(rng), axis, second, **(drive if passive else {}))


def random_mechanism(
    rng: np.random.Generator, kinds: Sequence[str], *, chain: bool = False, passive: bool = True, root: str | None = None
) -> Mechanism:
    """Bodies b0, b1, … carried by joints j0, j1, … of these kinds, as a tree (or a chain), with a frame f0, f1, … on each.

    Args:
        rng: where everything is drawn from.
        kinds: of the joints.
        chain: whether each body is carried by the one before; otherwise by any of them, or by the world.
        passive: whether joints have armature, damping and friction; a free root (`root`) never has.
        root: the kind of an additional joint that alone hangs on the world, carrying the body "root".
    """
    joints, bodies, carriers = [], [], ["world"]
    if root is not None:
        joints.append(random_joint(rng, "base", root, "world", "root", passive=False))
        bodies.append(random_body(rng, "root"))
        carriers = ["root"]
    for i, kind in enumerate(kinds):
        parent = carriers[-1] if chain else str(rng.choice(carriers))
        joints.append(random_joint(rng, f"j{i}", kind, parent, f"b{i}", passive=passive))
        bodies.append(random_body(rng, f"b{i}"))
        carriers.append(f"b{i}")
    frames = tuple(Frame(f"f{i}", f"b{i}", random_pose(rng)) for i in range(len(kinds)))
    gravity = (1.3, -0.7, -9.81)  # along no axis, so that no component is tested by zero
    return Mechanism("random", tuple(bodies), tuple(joints), frames=frames, gravity=gravity)


def random_kinds(rng: np.random.Generator, count: int) -> list[str]:
    """Kinds of joints, at least one of which moves."""
    kinds = [str(kind) for kind in rng.choice(list(KINDS), count)]
    kinds[int(rng.integers(count))] = str(rng.choice(MOVING))
    return kinds


def random_coordinates(mechanism: Mechanism, rng: np.random.Generator) -> list[float]:
    """Coordinates (nq), away from where angles are singular: there M is, and no bound by rounding holds."""
    q: list[float] = []
    for link in mechanism.tree.links:
        part = link.kind.random(rng)
        while link.kind.singularity(part) < 0.3:
            part = link.kind.random(rng)
        q += part
    return q


def random_state(mechanism: Mechanism, rng: np.random.Generator) -> Case:
    """The mechanism in a random state."""
    v, tau, a = (rng.normal(size=mechanism.nv).tolist() for _ in range(3))
    return Case(mechanism, random_coordinates(mechanism, rng), v, tau, a)


def random_case(seed: int, *, chain: bool | None = None, passive: bool = True, root: str | None = None) -> Case:
    """A mechanism of 1 to 12 bodies with joints of any kinds, in a random state; every other seed is a chain."""
    rng = np.random.default_rng(seed)
    kinds = random_kinds(rng, int(rng.integers(1, 13)))
    chain = seed % 2 == 1 if chain is None else chain
    return random_state(random_mechanism(rng, kinds, chain=chain, passive=passive, root=root), rng)


def every_kind(seed: int) -> Case:
    """One joint of every kind in one tree."""
    rng = np.random.default_rng(seed)
    return random_state(random_mechanism(rng, rng.permutation(list(KINDS)).tolist()), rng)


def seeds(count: int) -> dict:
    """Arguments of `pytest.mark.parametrize` over seeds, named in the test's id."""
    return {"argnames": "seed", "argvalues": range(count), "ids": lambda seed: f"seed{seed}"}


def cases(count: int, *, every: int = 2) -> dict:
    """Arguments of `pytest.mark.parametrize` over functions `make` that give a `Case`: random ones, then `every_kind`."""
    makers = {f"seed{seed}": partial(random_case, seed) for seed in range(count)}
    makers |= {f"every-kind-seed{seed}": partial(every_kind, seed) for seed in range(every)}
    return {"argnames": "make", "argvalues": makers.values(), "ids": makers}


# --- comparing --------------------------------------------------------------------------------------------------------
def agree(actual: object, expected: object, n: int, *, scale: float | None = None, condition: float = 1.0) -> None:
    """Fails unless two arrays agree up to rounding.

    Each of n joints adds some tens of operations on numbers no larger than `scale` (by default the largest entry of what is
    compared, at least 1), each wrong by at most ε, and solving with a matrix multiplies that by its condition number: the bound
    is 16·ε·n·scale·condition.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    size = max(1.0, float(np.abs(expected).max(initial=0.0)), 0.0 if scale is None else scale)
    bound = 16.0 * EPS * n * size * condition
    error = float(np.abs(actual - expected).max(initial=0.0))
    assert error <= bound, f"{error:.3g} apart, {bound:.3g} allowed:\n{actual}\n{expected}"  # not <=: NaN fails too


def near(actual: object, expected: object, tolerance: float = 1e-8) -> None:
    """Fails unless a number and its `slope` agree: relative to the largest entry, at least 1.

    The error of the slope is about h⁶ f⁽⁷⁾/140 + ε·|f|/h, below 1e-8 for speeds of a few rad/s.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    error = float(np.abs(actual - expected).max(initial=0.0)) / size
    assert error <= tolerance, f"{error:.3g} apart, relative to {size:.3g}:\n{actual}\n{expected}"


def slope(f: Callable[[float], object], h: float = 4e-3) -> np.ndarray:
    """df/dt at 0, by central differences of sixth order."""

    def difference(k: int) -> np.ndarray:
        return np.asarray(f(k * h), dtype=float) - np.asarray(f(-k * h), dtype=float)

    return (45.0 * difference(1) - 9.0 * difference(2) + difference(3)) / (60.0 * h)


# --- the same by matrices, independently of the package's spatial algebra -----------------------------------------------
def matrix(rows: object) -> np.ndarray:
    """A Matrix3, Symmetric3 or list of rows as an array."""
    return np.array([list(row) for row in rows], dtype=float)  # type: ignore[attr-defined]


def skew(p: Sequence[float]) -> np.ndarray:
    """p̂, with p̂ x = p × x."""
    x, y, z = p
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def body_poses(mechanism: Mechanism, q: Sequence[float]) -> dict[str, np.ndarray]:
    """The pose (4, 4) of every body in the world, from the joints as they were written: no tree, no re-framing.

    The joint's own turn is conjugated by the frame (y × z, y, z) of its axes, which the generator always gives.
    """
    poses, start = {"world": np.eye(4)}, 0
    for joint in mechanism.joints:
        kind: JointKind = joint.kind  # type: ignore[assignment]
        turn = np.eye(4)
        turn[:3, :3] = np.column_stack([np.cross(joint.second_axis, joint.axis), joint.second_axis, joint.axis])
        moved = np.array(kind.transform(q[start : start + kind.nq]).matrix(), dtype=float)
        fixed = np.array(joint.pose.matrix(), dtype=float)
        poses[joint.child] = poses[joint.parent] @ fixed @ turn @ moved @ turn.T
        start += kind.nq
    return poses


def places(mechanism: Mechanism, q: Sequence[float], names: Sequence[str]) -> list[np.ndarray]:
    """The poses (4, 4) of bodies or frames by the package's kinematics."""
    tree = mechanism.tree
    poses = link_poses(tree, q)
    return [np.array(place_pose(tree, poses, tree.places[name]).matrix(), dtype=float) for name in names]


def quaternion_of(R: np.ndarray) -> list[float]:
    """The unit quaternion (x, y, z, w) of a rotation matrix: the eigenvector of Bar-Itzhack's matrix for the eigenvalue 1."""
    antisymmetric = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.zeros((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = antisymmetric
    K[3, 3] = np.trace(R)
    return np.linalg.eigh(K / 3.0)[1][:, -1].tolist()


# --- the same mechanism, written otherwise --------------------------------------------------------------------------------
def with_joint(mechanism: Mechanism, name: str, **changes: object) -> Mechanism:
    """The mechanism with one joint changed."""
    joints = tuple(replace(joint, **changes) if joint.name == name else joint for joint in mechanism.joints)  # type: ignore[arg-type]
    return replace(mechanism, joints=joints)


def with_body(mechanism: Mechanism, name: str, **changes: object) -> Mechanism:
    """The mechanism with one body changed."""
    bodies = tuple(replace(body, **changes) if body.name == name else body for body in mechanism.bodies)  # type: ignore[arg-type]
    return replace(mechanism, bodies=bodies)


def seen_from(body: Body, X_AB: Transform) -> dict:
    """`center_of_mass` and `inertia` of a body given in B, by its frame A."""
    X = np.array(X_AB.matrix(), dtype=float)
    return {
        "center_of_mass": (X @ [*body.center_of_mass, 1.0])[:3],
        "inertia": (lambda I: 0.5 * (I + I.T))(X[:3, :3] @ np.array(body.inertia) @ X[:3, :3].T),
    }


def with_dh_frames(mechanism: Mechanism, name: str, X_BC: Transform) -> Mechanism:
    """The mechanism with the frame of a body B moved to C, and all that is given in it written anew; its joint stays behind."""
    back = X_BC.inverse()
    moved = with_body(mechanism, name, **seen_from(mechanism.body(name), back))
    joints = tuple(replace(j, pose=back @ j.pose) if j.parent == name else j for j in moved.joints)
    frames = tuple(replace(f, pose=back @ f.pose) if f.body == name else f for f in moved.frames)
    return replace(moved, joints=joints, frames=frames)


def split(mechanism: Mechanism, values: Sequence[float], size: str = "nv") -> dict[str, list[float]]:
    """The part of q (`size` "nq") or of v, a or tau that is each joint's, by name."""
    parts, start = {}, 0
    for joint in mechanism.joints:
        count = getattr(joint.kind, size)
        parts[joint.name] = list(values[start : start + count])
        start += count
    return parts


def joined(mechanism: Mechanism, parts: dict[str, list[float]]) -> list[float]:
    """The parts by joint in the mechanism's order; joints that are not named have none."""
    return [value for joint in mechanism.joints for value in parts.get(joint.name, [])]


# --- loops ----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Hinge:
    """A joint of frame M (`pose_b` on body b) on frame F (`pose_a` on body a), in the tree or closing a loop."""

    name: str
    kind: str
    a: str
    b: str
    pose_a: Transform
    pose_b: Transform
    axes: tuple[Sequence[float], Sequence[float]]
    passive: dict

    def reversed(self) -> Hinge:
        """The same joint with its ends exchanged; kinds about one axis keep their coordinates."""
        first, second = self.axes
        axes = (second, first) if self.kind == "universal" else ([-x for x in first], second)
        values = {key: value[::-1] for key, value in self.passive.items()}
        return Hinge(self.name, self.kind, self.b, self.a, self.pose_b, self.pose_a, axes, values)


@dataclass(frozen=True)
class Linkage:
    """Bodies and hinges, of which any may close the loops, and poses of the bodies in the world at which all hinges fit."""

    bodies: tuple[Body, ...]
    hinges: tuple[Hinge, ...]
    poses: dict[str, Transform]

    def cut(self, *loops: str, order: Sequence[str] = ()) -> Mechanism:
        """With these hinges as loops, the others as a tree, considered in this order. Frames "NAME.own" do not move."""
        hinges = {hinge.name: hinge for hinge in self.hinges}
        waiting = [hinges[name] for name in (order or hinges) if name not in loops]
        at, joints = {"world": Transform()}, []  # the bodies' new frames, at the tree's joints
        while waiting:
            hinge = next(h for h in waiting if h.a in at or h.b in at)
            waiting.remove(hinge)
            h = hinge if hinge.a in at else hinge.reversed()
            joints.append(Joint(h.name, h.kind, h.a, h.b, (at[h.a].inverse() @ h.pose_a).dense(), *h.axes, **h.passive))
            at[h.b] = h.pose_b
        back = {name: X.inverse() for name, X in at.items()}
        ends = ((h, (back[h.a] @ h.pose_a).dense(), (back[h.b] @ h.pose_b).dense()) for h in map(hinges.get, loops))
        closing = tuple(Loop(h.name, h.kind, h.a, h.b, X_a, X_b, *h.axes, **h.passive) for h, X_a, X_b in ends)
        bodies = tuple(replace(body, **seen_from(body, back[body.name])) for body in self.bodies)
        frames = tuple(Frame(f"{body.name}.own", body.name, back[body.name]) for body in self.bodies)
        return Mechanism("linkage", bodies, tuple(joints), closing, frames, (1.3, -0.7, -9.81))

    def state(
        self, mechanism: Mechanism, twists: dict[str, Motion], drives: dict[str, Sequence[float]]
    ) -> tuple[list[float], list[float], list[float]]:
        """q, v and tau of a cut, from the bodies' own twists and the forces that drive each hinge's b against its a."""
        own = {frame.body: frame.pose.inverse() for frame in mechanism.frames}
        at = {"world": Transform()} | {name: (self.poses[name] @ X).dense() for name, X in own.items()}
        moving = {"world": Motion()} | {name: twists[name].to_child(X) for name, X in own.items()}
        parts: list[list[float]] = [[], [], []]
        for joint in mechanism.joints:
            h = next(hinge for hinge in self.hinges if hinge.name == joint.name)
            A = Transform(alignment(joint.axis, joint.second_axis))
            X_PF = joint.pose @ A
            X_FM = ((at[joint.parent] @ X_PF).inverse() @ at[joint.child] @ A).dense()
            found = joint.kind.closing(X_FM, moving[joint.child].to_child(A) - moving[joint.parent].to_child(X_PF @ X_FM))
            tau, known = drives[h.name], joint.kind
            if joint.child != h.b:  # the drive pushes the other way round
                turn = (Transform(alignment(*h.axes)).inverse() @ A).inverse()  # the hinge's own axes in these
                X_MF = (turn.inverse() @ X_FM.inverse() @ turn).dense()
                push = sum((T * s for T, s in zip(known.active(known.locate(X_MF)), tau, strict=True)), Force())
                back = push.to_parent(turn).to_parent(X_FM.inverse()) * -1.0
                tau = [S.dot(back) for S in known.subspace(found.coordinates)]
            for part, values in zip(parts, (found.coordinates, found.rates, tau), strict=True):
                part.extend(values)
        return parts[0], parts[1], parts[2]


def random_linkage(seed: int, edges: Sequence[tuple[str, str, str]], *, planar: bool = False, passive: bool = True) -> Linkage:
    """Bodies b0, b1, … with hinges h0, h1, … of kinds (kind, a, b) between them and the world; they fit by construction.

    Planar ones move in a tilted plane: their hinges are revolute about its normal, or prismatic along it.
    """
    rng = np.random.default_rng(seed)
    plane = pose(rng.uniform(-0.3, 0.3, 3), matrix=random_rotation(rng).tolist())

    def place() -> Transform:
        flat = pose((*rng.uniform(-0.5, 0.5, 2), 0.0), (0.0, 0.0, rng.uniform(-3.0, 3.0)))
        return flat if planar else random_pose(rng)

    names = sorted({name for _, *ends in edges for name in ends} - {"world"})
    poses = {"world": Transform()} | {name: (plane @ place()).dense() for name in names}
    hinges = []
    for k, (kind, a, b) in enumerate(edges):
        model, nv = KINDS[kind], KINDS[kind].nv
        axes = (np.eye(3)[2 if kind == "revolute" else 0], np.eye(3)[1]) if planar else random_axes(rng)
        A, pose_a = Transform(alignment(*axes)), (plane @ place() if a == "world" else place()).dense()
        q = model.random(rng)
        while model.singularity(q) < 0.3:
            q = model.random(rng)
        X_WM = poses[a] @ pose_a @ A @ model.transform(q) @ A.inverse()
        values = {key: rng.uniform(0.02, 0.2) * np.ones(nv) for key in ("armature", "damping")}
        if nv == 1:  # what is not the same along all axes has no place in a joint whose ends may be exchanged
            values |= {key: rng.uniform(0.1, 0.5, 1) for key in ("friction", "stiffness", "rest")}
        own = values if passive and kind in ("revolute", "prismatic", "spherical", "universal", "spherical_euler") else {}
        hinges.append(Hinge(f"h{k}", kind, a, b, pose_a, (poses[b].inverse() @ X_WM).dense(), axes, own))
    return Linkage(tuple(random_body(rng, name) for name in names), tuple(hinges), poses)


def random_ring(seed: int, kinds: Sequence[str], *, base: str | None = None, **options: bool) -> Linkage:
    """Hinges of these kinds, one after the other from the world around to the world; or all on a body that `base` carries."""
    ground = "world" if base is None else "root"
    names = [ground, *(f"b{i}" for i in range(len(kinds) - 1)), ground]
    edges = [(kind, a, b) for kind, a, b in zip(kinds, names, names[1:], strict=False)]
    return random_linkage(seed, edges if base is None else [(base, "world", "root"), *edges], **options)


def closed_cases(seed: int, linkage: Linkage, *cuts: Sequence[str], order: Sequence[str] = ()) -> list[tuple[Case, dict]]:
    """The same random motion and drives of a linkage, cut at each of these; the loops' drives by name. a is of no use."""
    rng = np.random.default_rng(1000 + seed)
    drives = {hinge.name: rng.normal(size=KINDS[hinge.kind].nv).tolist() for hinge in linkage.hinges}
    still, first = {body.name: Motion() for body in linkage.bodies}, linkage.cut(*cuts[0])
    q, _, _ = linkage.state(first, still, drives)
    v = rng.normal(size=first.nv)
    J = LoopEquations(first).state(q, v).J
    v = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
    moving = link_twists(first.tree, q, v.tolist())
    twists = {body.name: place_twist(first.tree, moving, first.tree.places[f"{body.name}.own"]) for body in linkage.bodies}
    found = []
    for loops in cuts:
        mechanism = linkage.cut(*loops, order=order)
        case = Case(mechanism, *linkage.state(mechanism, twists, drives), [])
        found.append((case, {name: drives[name] for name in loops}))
    return found
