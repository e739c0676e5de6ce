"""Laws over random mechanisms for as long as one likes; what breaks one is made small and written as a file that reproduces it.

`scripts/laws --minutes 30 --seed 7`. There are families of things that laws are about: trees here, mechanisms with loops in
`closed_on_demand`, scenes and single steps of contact in `scenes_on_demand`. A law takes one and gives how much of its bound is
used: above one it is broken, and so it is by NaN. The bounds grow with the condition of the equations, as rounding does.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import kumitate as km
from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.model import Mechanism
from kumitate.model.read import from_json, to_json
from kumitate.programs import FORWARD_DYNAMICS
from kumitate.spatial import pose

from ..mechanisms import Case, random_case, random_rotation
from . import closed_on_demand, scenes_on_demand

#: Of rounding, per joint and degree of freedom.
ROUNDING = 1e-15


def used(found, exact, case: Case, scale: float = 1.0, condition: float = 1.0) -> float:
    """The largest difference as a part of its bound; infinite where it is not a number."""
    exact = np.asarray(exact, float)
    apart = float(np.abs(np.asarray(found, float) - exact).max(initial=0.0))
    bound = ROUNDING * case.n**2 * condition * max(1.0, scale, float(np.abs(exact).max(initial=0.0)))
    return apart / bound if np.isfinite(apart) else float("inf")


def _setting(case: Case):
    tree, gravity = case.mechanism.tree, case.mechanism.gravity
    condition = float(np.linalg.cond(np.array(crba(tree, case.q)))) if tree.nv else 1.0
    return (
        tree,
        gravity,
        condition,
        float(np.abs(rnea(tree, case.q, case.v, [0.0] * tree.nv, gravity=gravity)).max(initial=0.0)),
    )


def inverse_of_forward(case: Case) -> float:
    """τ of the accelerations of τ is τ."""
    tree, gravity, condition, scale = _setting(case)
    a = aba(tree, case.q, case.v, case.tau, Acting(gravity))
    return used(rnea(tree, case.q, case.v, a, gravity=gravity), case.tau, case, scale, condition)


def methods_agree(case: Case) -> float:
    """All methods of forward dynamics give the accelerations of articulated bodies."""
    tree, gravity, condition, scale = _setting(case)
    exact = np.array(aba(tree, case.q, case.v, case.tau, Acting(gravity)))
    found = (page(tree, case.q, case.v, case.tau, Acting(gravity)) for page in FORWARD_DYNAMICS.values())
    return max(used(a, exact, case, scale, condition) for a in found)


def inertia_by_columns(case: Case) -> float:
    """A column of M is what a unit acceleration takes at rest without gravity; M is symmetric and positive."""
    tree, M = case.mechanism.tree, np.array(crba(case.mechanism.tree, case.q))
    still = [0.0] * tree.nv
    columns = [rnea(tree, case.q, still, row.tolist(), gravity=(0.0, 0.0, 0.0)) for row in np.eye(tree.nv)]
    positive = float(np.linalg.eigvalsh(M).min(initial=1.0)) > -ROUNDING * case.n * float(np.abs(M).max(initial=1.0))
    return max(used(np.array(columns).T, M, case), used(M.T, M, case), 0.0 if positive else float("inf"))


def turned_world(case: Case) -> float:
    """Nothing changes if the world is turned with its gravity."""
    tree, gravity, condition, scale = _setting(case)
    R = random_rotation(np.random.default_rng(case.n))
    turn = pose((0.3, -0.2, 0.5), matrix=R.tolist())
    joints = tuple(replace(j, pose=(turn @ j.pose).dense()) if j.parent == "world" else j for j in case.mechanism.joints)
    other = replace(case.mechanism, joints=joints, gravity=tuple(R @ gravity))
    exact = aba(tree, case.q, case.v, case.tau, Acting(gravity))
    return used(aba(other.tree, case.q, case.v, case.tau, Acting(other.gravity)), exact, case, scale, condition)


def heavier(case: Case) -> float:
    """Three times the masses, armatures, damping, friction and forces: the same accelerations (another unit of mass)."""
    tree, gravity, condition, scale = _setting(case)
    parts = ("armature", "damping", "friction")
    other = replace(
        case.mechanism,
        bodies=tuple(replace(b, mass=3.0 * b.mass, inertia=3.0 * np.array(b.inertia)) for b in case.mechanism.bodies),
        joints=tuple(replace(j, **{part: 3.0 * np.array(getattr(j, part)) for part in parts}) for j in case.mechanism.joints),
    )
    exact = aba(tree, case.q, case.v, case.tau, Acting(gravity))
    found = aba(other.tree, case.q, case.v, (3.0 * np.array(case.tau)).tolist(), Acting(gravity))
    return used(found, exact, case, scale, condition)


def written_and_read(case: Case) -> float:
    """What is written as JSON and read again is the same mechanism."""
    text = to_json(case.mechanism)
    again = from_json(text)
    gravity = case.mechanism.gravity
    exact, found = (aba(m.tree, case.q, case.v, case.tau, Acting(gravity)) for m in (case.mechanism, again))
    return 0.0 if to_json(again) == text and found == exact else float("inf")


def compiled(case: Case) -> float:
    """Machine code gives what the page gives on floats; a batch has the bits of a single state."""
    tree, gravity, condition, scale = _setting(case)
    robot = km.Robot(case.mechanism)
    one = robot.forward_dynamics(case.q, case.v, case.tau)
    rows = robot.forward_dynamics(*(np.tile(part, (9, 1)) for part in (case.q, case.v, case.tau)))
    if not np.array_equal(rows, np.tile(one, (9, 1))):
        return float("inf")
    return used(one, aba(tree, case.q, case.v, case.tau, Acting(gravity)), case, scale, condition)


LAWS: dict[str, Callable[[Case], float]] = {
    law.__name__: law
    for law in (inverse_of_forward, methods_agree, inertia_by_columns, turned_world, heavier, written_and_read, compiled)
}
#: Laws that take long, by their own compilation or by dense methods: of one mechanism in so many.
SELDOM = {"compiled": 100, "methods_agree": 4, **closed_on_demand.SELDOM}


def broken(law: Callable[[Any], float], case: Any) -> str:
    """How a law is broken: "beyond its bound", or by the kind of an error; empty if it holds."""
    try:
        return "" if law(case) <= 1.0 else "beyond its bound"
    except Exception as error:  # whatever it is, it is to be found
        return type(error).__name__


# --- making it small -------------------------------------------------------------------------------------------------
def smaller(case: Case) -> Iterator[Case]:
    """The case with one thing less: a body on which nothing hangs, passive forces, a pose, a velocity, an effort."""
    m = case.mechanism
    carriers = {joint.parent for joint in m.joints} | {body for loop in m.loops for body in (loop.body_a, loop.body_b)}
    coupled = {name for coupling in m.couplings for name in (coupling.joint, coupling.of)}
    starts = {link.name: link for link in m.tree.links}
    for joint in m.joints:
        if joint.child not in carriers and joint.name not in coupled and len(m.joints) > 1:
            rest = replace(
                m,
                joints=tuple(j for j in m.joints if j is not joint),
                bodies=tuple(b for b in m.bodies if b.name != joint.child),
                frames=tuple(f for f in m.frames if f.body != joint.child),
            )
            yield _moved(case, rest, starts)
    for k, joint in enumerate(m.joints):
        plain = replace(joint, armature=0.0, damping=0.0, friction=0.0)
        for other in (
            plain,
            replace(joint, pose=pose(tuple(map(float, joint.pose.dense().translation)))),
            replace(joint, pose=pose()),
        ):
            if other != joint:
                yield replace(case, mechanism=replace(m, joints=(*m.joints[:k], other, *m.joints[k + 1 :])))
    if m.frames:
        yield replace(case, mechanism=replace(m, frames=()))
    for part in ("tau",) if m.loops or m.couplings else ("v", "tau"):  # loops tie velocities
        values = getattr(case, part)
        yield from (replace(case, **{part: [*values[:k], 0.0, *values[k + 1 :]]}) for k, x in enumerate(values) if x)


def _moved(case: Case, rest: Mechanism, starts: dict) -> Case:
    """The state of the joints that are left."""
    q, v, tau, a = [], [], [], []
    for link in rest.tree.links:
        old = starts[link.name]
        q += case.q[old.q_start : old.q_start + link.kind.nq]
        for to, values in ((v, case.v), (tau, case.tau), (a, case.a)):
            to += values[old.v_start : old.v_start + link.kind.nv]
    return Case(rest, q, v, tau, a)


def shrunk(law: Callable[[Any], float], case: Any, less_of: Callable[[Any], Iterator[Any]] = smaller) -> Any:
    """The smallest case found that breaks the law in the same way, one thing less at a time."""
    way = broken(law, case)
    while True:
        for less in less_of(case):
            if broken(law, less) == way:
                case = less
                break
        else:
            return case


def as_plain(case: Case) -> dict[str, Any]:
    """A case as JSON: the mechanism and its state."""
    state = {"q": case.q, "v": case.v, "tau": case.tau, "a": case.a}
    return {**state, "mechanism": json.loads(to_json(case.mechanism))}


def of_plain(kept: dict[str, Any]) -> Case:
    """The case of JSON."""
    return Case(from_json(json.dumps(kept["mechanism"])), *(kept[part] for part in ("q", "v", "tau", "a")))


@dataclass(frozen=True)
class Family:
    """What laws are about: how one is drawn by a seed, made smaller, written and read; and the laws."""

    draw: Callable[[int], Any]
    laws: dict[str, Callable[[Any], float]]
    smaller: Callable[[Any], Iterator[Any]]
    plain: Callable[[Any], dict[str, Any]]
    read: Callable[[dict[str, Any]], Any]


def _smaller_closed(case: Case) -> Iterator[Case]:
    """Without a part of loops, or of the tree."""
    yield from closed_on_demand.smaller(case)
    yield from smaller(case)


FAMILIES = {
    "trees": Family(
        lambda seed: random_case(seed, root=(None, "floating", "planar")[seed % 3]), LAWS, smaller, as_plain, of_plain
    ),
    "loops": Family(closed_on_demand.drawn, closed_on_demand.LAWS, _smaller_closed, as_plain, of_plain),
    "steps": Family(
        scenes_on_demand.drawn_step, scenes_on_demand.STEP_LAWS, lambda _: iter(()), asdict,
        lambda kept: scenes_on_demand.Step(**kept),
    ),
    "scenes": Family(
        scenes_on_demand.drawn, scenes_on_demand.LAWS, scenes_on_demand.smaller, scenes_on_demand.plain, scenes_on_demand.read
    ),
}  # fmt: skip


def write(case: Any, path: Path, law: str, seed: int, family: str = "trees") -> None:
    """A file that reproduces."""
    told = {"law": law, "family": family, "seed": seed}
    path.write_text(json.dumps(told | {"case": FAMILIES[family].plain(case)}, indent=1))


def read(path: Path) -> tuple[str, Any, str]:
    """The law that a file breaks, the case, and its family."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    return kept["law"], FAMILIES[kept["family"]].read(kept["case"]), kept["family"]


# --- the search ------------------------------------------------------------------------------------------------------
def hunt(
    seeds: Iterator[int],
    until: Callable[[], bool],
    folder: Path,
    laws: dict[str, Callable[[Any], float]],
    family: str = "trees",
) -> dict[str, list]:
    """Goes through seeds; by law, how many cases it held for, the largest part of a bound, and the files of what broke it."""
    found: dict[str, list] = {name: [0, 0.0, []] for name in laws}
    kind = FAMILIES[family]
    for seed in seeds:
        case = kind.draw(seed)
        for name, law in laws.items():
            if seed % SELDOM.get(name, 1):
                continue
            if broken(law, case):
                path = folder / f"{name}-{seed}.json"
                write(shrunk(law, case, kind.smaller), path, name, seed, family)
                found[name][2].append(path)
            else:
                found[name][0] += 1
                found[name][1] = max(found[name][1], law(case))
        if until():
            return found
    return found


def main() -> int:
    """The command."""
    parser = ArgumentParser(prog="scripts/laws", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long [min]")
    parser.add_argument("--seed", type=int, default=0, help="where seeds begin")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="only this family; may be given several times")
    parser.add_argument("--law", action="append", help="only this law; may be given several times")
    parser.add_argument("--again", type=Path, help="a file of a case that broke a law: whether it still does")
    parser.add_argument("--out", type=Path, default=Path("broken-laws"), help="folder for files of what breaks a law")
    asked = parser.parse_args()
    if asked.again:
        name, case, family = read(asked.again)
        how = broken(FAMILIES[family].laws[name], case)
        print(f"{name}: {how or 'holds'}")
        return int(bool(how))
    asked.out.mkdir(parents=True, exist_ok=True)
    families, wrong = asked.family or list(FAMILIES), False
    for family in families:
        end = time.monotonic() + 60.0 * asked.minutes / len(families)
        laws = {name: law for name, law in FAMILIES[family].laws.items() if not asked.law or name in asked.law}
        seeds = iter(range(asked.seed, asked.seed + 10**9))
        found = hunt(seeds, lambda end=end: time.monotonic() > end, asked.out, laws, family)
        for name, (held, most, files) in found.items():
            told = f"held for {held} {family}, at most {most:.2g} of its bound"
            print(f"{name:<30} {told}" + (f"; BROKEN by {', '.join(map(str, files))}" if files else ""), flush=True)
            wrong |= bool(files)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
