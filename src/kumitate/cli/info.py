"""kumitate info"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model import Limits, Mechanism
from .options import AsJson, FloatingBase, RobotName
from .report import print_facts, print_json, print_table

__all__ = ["info"]


def info(robot: RobotName, /, *, floating_base: FloatingBase = False, as_json: AsJson = False) -> None:
    """Say what a mechanism consists of."""
    from .. import load

    facts = _facts(load(robot, floating_base=floating_base).mechanism)
    if as_json:
        print_json(facts)
        return
    parts = (("body", "bodies"), ("joint", "joints"), ("loop", "loops"))
    counts = ", ".join(f"{len(facts[many])} {one if len(facts[many]) == 1 else many}" for one, many in parts)
    print_facts(
        facts["name"],
        [
            ("source", facts["source"] or "built in Python"),
            ("consists of", counts),
            ("sizes", f"nq = {facts['nq']}, nv = {facts['nv']}"),
            ("mass", f"{facts['mass']:.6g} kg"),
            ("gravity", f"{_vector(facts['gravity'])} m/s²"),
            ("coordinates", ", ".join(facts["q_names"])),
        ],
    )
    print_table(("joint", "kind", "between", "axis", "limits [rad or m]"), _joint_rows(facts))
    print_table(
        ("body", "mass [kg]", "mass centre [m]"),
        [(body["name"], f"{body['mass']:.5g}", _vector(body["center_of_mass"])) for body in facts["bodies"]],
    )


def _facts(mechanism: Mechanism) -> dict[str, Any]:
    """All that is told about a mechanism, as plain data."""
    return {
        "name": mechanism.name,
        "source": mechanism.source,
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "mass": sum(body.mass for body in mechanism.bodies),
        "gravity": mechanism.gravity,
        "q_names": mechanism.q_names,
        "v_names": mechanism.v_names,
        "joints": [
            {
                "name": joint.name,
                "kind": _kind(joint.kind),
                "nv": len(joint.limits),
                "parent": joint.parent,
                "child": joint.child,
                "axis": joint.axis,
                "limits": [vars(limit) for limit in joint.limits],
                "damping": joint.damping,
                "friction": joint.friction,
                "armature": joint.armature,
            }
            for joint in mechanism.joints
        ],
        "loops": [
            {"name": loop.name, "kind": _kind(loop.kind), "body_a": loop.body_a, "body_b": loop.body_b, "axis": loop.axis}
            for loop in mechanism.loops
        ],
        "bodies": [
            {"name": body.name, "mass": body.mass, "center_of_mass": body.center_of_mass, "inertia": body.inertia}
            for body in mechanism.bodies
        ],
        "frames": [{"name": frame.name, "body": frame.body} for frame in mechanism.frames],
    }


def _joint_rows(facts: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for joint in facts["joints"]:
        between = f"{joint['parent']} → {joint['child']}"
        axis = _vector(joint["axis"]) if 0 < joint["nv"] < 6 else ""  # all or no motions have no axis
        yield joint["name"], joint["kind"], between, axis, _limits(joint["limits"])
    for loop in facts["loops"]:
        yield loop["name"], f"{loop['kind']}, loop", f"{loop['body_a']} – {loop['body_b']}", _vector(loop["axis"]), ""


def _kind(kind: Any) -> str:
    return getattr(kind, "name", str(kind))


def _vector(parts: Any) -> str:
    return "(" + ", ".join(f"{part:.4g}" for part in parts) + ")"


def _limits(limits: list[dict[str, Any]]) -> str:
    named = [Limits(**limit) for limit in limits]
    spans = [f"{_bound(limit.lower, '−∞')} … {_bound(limit.upper, '∞')}" for limit in named]
    return "; ".join(spans) if any(limit.lower is not None or limit.upper is not None for limit in named) else ""


def _bound(value: float | None, without: str) -> str:
    return without if value is None else f"{value:.4g}"
