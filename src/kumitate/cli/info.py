"""kumitate info"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import KumitateWarning
from ..model import WORLD, Limits, Mechanism
from ..model.bounds import limits_text
from ..model.read import names_file, read_file
from .options import AsJson, FixInertia, FloatingBase, RobotName
from .report import complain, print_facts, print_json, print_table

#: Loops with a smaller gap count as closed [m].
_CLOSED = 1e-9


def info(
    robot: RobotName | None = None,
    /,
    *,
    floating_base: FloatingBase = False,
    fix_inertia: FixInertia = False,
    as_json: AsJson = False,
) -> int:
    """List the bodies, joints and sizes of a mechanism."""
    from .. import load

    if robot is None:
        complain("info needs a ROBOT: a file, or a name that `kumitate robots` lists")
        return 2  # of usage
    options: dict[str, Any] = {"floating_base": floating_base, "fix_inertia": fix_inertia}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KumitateWarning)
        # the file is only read, so that mechanisms that cannot be simulated are listed too
        mechanism = read_file(robot, **options) if names_file(robot) else load(robot, **options).mechanism
    remarks = [str(item.message) for item in caught if issubclass(item.category, KumitateWarning)]
    facts = {**_facts(mechanism), "constraints": _constraints(mechanism), "warnings": remarks}
    if as_json:
        print_json(facts)
        return 0
    for remark in remarks:
        complain(remark, what="warning")
    parts = (("body", "bodies"), ("joint", "joints"), ("loop", "loops"), ("coupling", "couplings"), ("frame", "frames"))
    told = [(one, many) for one, many in parts if facts[many] or many != "couplings"]
    counts = ", ".join(f"{len(facts[many])} {one if len(facts[many]) == 1 else many}" for one, many in told)
    first, *more = facts["constraints"]["lines"] if facts["constraints"] else [str(facts["nv"])]
    print_facts(
        facts["name"],
        [
            ("source", facts["source"] or "built in Python"),
            ("consists of", counts),
            ("sizes", f"nq = {facts['nq']}, nv = {facts['nv']}"),
            ("degrees of freedom", first),
            *(("", line) for line in more),
            ("mass", f"{facts['mass']:.6g} kg"),
            ("gravity", f"{_vector(facts['gravity'])} m/s²"),
            ("coordinates", ", ".join(facts["q_names"])),
            *([("warnings", f"{len(remarks)}, listed above; `kumitate check` says more")] if remarks else []),
        ],
    )
    print()
    print("\n".join(drawn(mechanism)))
    print_table(("joint", "kind", "between", "axis", "limits [rad or m]"), _joint_rows(facts))
    if facts["couplings"]:
        print_table(("coupling", "equation"), _coupling_rows(facts))
    print_table(
        ("body", "mass [kg]", "center of mass [m]"),
        [(body["name"], f"{body['mass']:.5g}", _vector(body["center_of_mass"])) for body in facts["bodies"]],
    )
    return 0


def _facts(mechanism: Mechanism) -> dict[str, Any]:
    joints = _picked(
        mechanism.joints, "name kind nv parent child axis limits damping friction armature stiffness rest",
        nv=lambda joint: len(joint.limits), limits=lambda joint: [vars(limit) for limit in joint.limits],
    )  # fmt: skip
    return {
        **_picked([mechanism], "name source nq nv gravity q_names v_names")[0],
        "loop_constraints": sum(loop.kind.rows for loop in mechanism.loops) + len(mechanism.couplings),
        "mass": sum(body.mass for body in mechanism.bodies),
        "joints": joints,
        "loops": _picked(mechanism.loops, "name kind body_a body_b axis"),
        "couplings": [dict(vars(coupling)) for coupling in mechanism.couplings],
        "bodies": _picked(mechanism.bodies, "name center_of_mass mass inertia"),
        "frames": _picked(mechanism.frames, "name body"),
    }


def _picked(parts: Sequence[Any], names: str, **made: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """Attributes of each part by name, some of them made otherwise; kinds by their names."""
    made = {"kind": lambda part: part.kind.name, **made}
    return [{name: made[name](part) if name in made else getattr(part, name) for name in names.split()} for part in parts]


def drawn(mechanism: Mechanism) -> list[str]:
    """Bodies, the joint of each, and their masses as lines of text, indented only at branches; loops as arcs beside them.

    >>> from ..model.samples import sample
    >>> print("\\n".join(drawn(sample("planar_4r").build())))
    world                         ─╮
    link1  joint1, revolute  1 kg  │
    link2  joint2, revolute  1 kg  │
    link3  joint3, revolute  1 kg ─╯─ joint4, revolute
    """
    children: dict[str, list[Any]] = {}
    for joint in mechanism.joints:
        children.setdefault(joint.parent, []).append(joint)
    rows: list[tuple[str, str, str]] = []
    names: list[str] = []
    # a joint, the indentation of its body, and that of the bodies after it
    waiting = _branches(children.get(WORLD, []), "")
    while waiting:
        joint, before, behind = waiting.pop()
        mass = mechanism.body(joint.child).mass
        names.append(joint.child)
        rows.append((before + joint.child, f"{joint.name}, {joint.kind.name}", f"{mass:.4g} kg" if mass else ""))
        waiting += _branches(children.get(joint.child, []), behind)
    first, second = (max((len(row[k]) for row in rows), default=0) for k in (0, 1))
    lines = [WORLD, *(f"{body:<{first}}  {joint:<{second}}  {mass}".rstrip() for body, joint, mass in rows)]
    places = {name: k for k, name in enumerate([WORLD, *names])}
    return with_arcs(lines, [(places[x.body_a], places[x.body_b], f"{x.name}, {x.kind.name}") for x in mechanism.loops])


def _branches(joints: list[Any], before: str) -> list[tuple[Any, str, str]]:
    """The joints on one body, last first, each with the indentation of its body and of the bodies after it."""
    if len(joints) == 1:
        return [(joints[0], before, before)]
    return [
        (joint, before + ("├─ " if k else "└─ "), before + ("│  " if k else "   ")) for k, joint in enumerate(reversed(joints))
    ]


# --- arcs beside lines: what connects two of them, as loops connect the bodies of a tree ---------------------------------
def with_arcs(lines: Sequence[str], arcs: Sequence[tuple[int, int, str]]) -> list[str]:
    """The lines, with arcs from one to another and labels at the lower one, in the first column that is free there.

    >>> print("\\n".join(with_arcs(["world", "a", "b"], [(2, 0, "rod"), (0, 1, "pin")])))
    world ─┬─╮
    a     ─╯─│─ pin
    b     ───╯─ rod
    """
    if not arcs:
        return list(lines)
    spans = [(min(ends), max(ends), label) for *ends, label in arcs]
    columns: list[list[tuple[int, int, str]]] = []
    for span in sorted(spans, key=lambda span: (span[1] - span[0], span[0])):  # short ones nearest to the text
        free = (column for column in columns if all(span[0] > end or span[1] < start for start, end, _ in column))
        column = next(free, None)
        if column is None:
            columns.append(column := [])
        column.append(span)
    width = max(map(len, lines))
    return [f"{line:<{width}} {_beside(k, columns)}".rstrip() for k, line in enumerate(lines)]


def _beside(k: int, columns: Sequence[Sequence[tuple[int, int, str]]]) -> str:
    """What stands to the right of line k: ends of arcs with a line that leads to them, and arcs that pass."""
    here = [next((span for span in column if span[0] <= k <= span[1]), None) for column in columns]
    last = max((c for c, span in enumerate(here) if span is not None and k in span[:2]), default=-1)
    labels = [span[2] for span in here if span is not None and k == span[1]]
    text = ""
    for c, span in enumerate(here):
        lead = "─" if c <= last or labels else " "
        if span is None:
            mark = lead
        elif k == span[0]:
            mark = "╮" if c == last else "┬"
        elif k == span[1]:
            mark = "╯"
        else:
            mark = "│"
        text += lead + mark
    return f"{text}─ {', '.join(labels)}" if labels else text


# --- facts as text ----------------------------------------------------------------------------------------------------
def _constraints(mechanism: Mechanism) -> dict[str, Any] | None:
    """The report on loops and couplings at the start, or the gap if they cannot close; "lines": as text; None without any."""
    from .. import load
    from ..errors import ModelError

    if not mechanism.tree.closed:
        return None
    robot = load(mechanism)
    postures = (robot.start[0], robot.neutral())
    closed = [q for q in postures if all(gap.size(mechanism.tree.size) < _CLOSED for gap in robot.constraint_residual(q))]
    failure = ""
    for q in closed or postures:
        try:
            report = robot.constraint_report(q if closed else robot.assemble(q))
        except (ModelError, ArithmeticError) as error:
            failure = failure or str(error)
        else:
            return {**report.as_dict(), "lines": report.lines()}
    return {"open": failure, "lines": [f"not known: {failure}"]}


def _coupling_rows(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for item in facts["couplings"]:
        offset = f" {'+' if item['offset'] > 0.0 else '−'} {abs(item['offset']):.6g}" if item["offset"] else ""
        yield item["name"], f"{item['joint']} = {item['ratio']:.6g} · {item['of']}{offset}"


def _joint_rows(facts: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for joint in facts["joints"]:
        between = f"{joint['parent']} → {joint['child']}"
        axis = _vector(joint["axis"]) if 0 < joint["nv"] < 6 else ""  # joints that allow all motions, or none, have no axis
        limits = limits_text([Limits(**limit) for limit in joint["limits"]])
        yield joint["name"], joint["kind"], between, axis, limits
    for loop in facts["loops"]:
        yield loop["name"], f"{loop['kind']}, loop", f"{loop['body_a']} – {loop['body_b']}", _vector(loop["axis"]), ""


def _vector(parts: Any) -> str:
    return "(" + ", ".join(f"{part:.4g}" for part in parts) + ")"
