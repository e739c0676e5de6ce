"""A simulation as data for a page that plays it: the compiled step, the state that it begins at, and what can be set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel
from ...contact.scene import GROUND
from ...contact.settings import ground_of
from ...errors import InputError, did_you_mean
from ...model import WORLD, Distance, Line, Mechanism, drive_states, joint_columns
from ...model.mechanism import digest
from ...model.read.json import to_json
from ...simulate.divergence import RUNAWAY
from ...simulate.scenes.many_bodies import ManyBodies, SceneStepper
from ...simulate.simulation import MechanismSimulation
from ...simulate.stepping.advance import start_of
from ...simulate.stepping.step_code import CompiledStep
from ...view.panels import JOINT_PANELS, is_base, joint_panels
from ...view.scene import body_poses, build_scene
from ..loop import FREQUENCY, joint_sliders
from .programs import programs_of, pushed_program
from .scenes import PlayedScene, mobility_of_parts
from .sliders import Asked, parameters_asked, sliders_of

#: Steps that a page repeats to check itself.
REPLAYED = 1000
#: The camera sees all of so many steps, looked at every so many, and so much more than these fill.
_SEEN, _BETWEEN, _AROUND = 3000, 50, 1.2
#: Bodies of a scene, and arrows of its contact for each of them.
_MOST, _ARROWS = 100, 6


def playable(simulation: MechanismSimulation, sliders: Asked = None) -> MechanismSimulation:
    """The simulation as a page can play it: in straight-line code, with the parameters that sliders need.

    `InputError` says what to do about functions that are called while it runs, adaptive steps, scenes of too many bodies.
    """
    simulation.check_without_python("a page")
    setup = simulation.setup
    more, own = parameters_asked(simulation, sliders), dict[str, float]()
    try:
        own = _own(simulation, more) if more else own
    except InputError:  # it cannot have parameters, which a page has unasked where it can
        if sliders is not None:
            raise
        more = []
    if more or (simulation.interaction.of_many_bodies and simulation.interaction.begins_traced):
        asked = setup.parameters
        given = asked if not isinstance(asked, str) else (asked,)
        parameters = {**given, **own} if isinstance(given, dict) else (*given, *more)
        simulation = type(simulation)(replace(setup, parameters=parameters, side_by_side=True))
    bodies = len(simulation.mechanism.bodies)
    if not isinstance(simulation.compiled, CompiledStep) and bodies > _MOST:
        raise InputError(
            f"{simulation.mechanism.name}: a page plays scenes of up to {_MOST} bodies, as its programs grow with them, and "
            f"this one has {bodies}; write a page of a run, run.page(path)"
        )
    return simulation


def _own(simulation: MechanismSimulation, names: Sequence[str]) -> dict[str, float]:
    """The values that further parameters have in the mechanism."""
    bare = type(simulation)(replace(simulation.setup, parameters=tuple(names)))
    shown = bare.actuation.parameters(bare.actuation.constants)
    return {name: float(np.ravel(value)[0]) for name, value in shown.items()}


def pullable(simulation: MechanismSimulation, asked: str | Sequence[str] | None) -> list[str]:
    """The bodies that can be pulled, of those that are asked for: all that move, "all", some by name, or none."""
    m = simulation.mechanism
    moving = [body.name for body in m.bodies if m.tree.places[body.name].link >= 0]
    if asked is None or asked == "all":
        return moving if asked else []
    names = [asked] if isinstance(asked, str) else list(asked)
    if other := [name for name in names if name not in moving]:
        why = "is fixed to the world" if other[0] in m.tree.places else "is not a body"
        near = did_you_mean(str(other[0]), moving, lead=", ")
        raise InputError(f"{m.name}: {other[0]!r} cannot be pulled, as it {why}{near}; there are {', '.join(moving)}")
    return names


def live_scene(
    simulation: MechanismSimulation, sliders: Asked = None, pull: str | Sequence[str] | None = "all", *, title: str = ""
) -> dict[str, Any]:
    """The scene of a page that begins as the simulation does, for `write_page`; arguments and errors as of `live_data`."""
    simulation = playable(simulation, sliders)
    undisturbed = _undisturbed(simulation, simulation.step_size, *simulation._starts.default)
    m, ground = simulation.mechanism, ground_of(simulation.settings)
    poses = np.array([body_poses(m, q) for q in undisturbed.seen])
    around = build_scene(m, np.arange(len(poses)), poses, ground=ground)  # so that the camera sees where it goes by itself
    scene = build_scene(m, [0.0], poses[:1], title=title, notes=_notes(simulation), ground=ground)
    data = live_data(simulation, undisturbed, scene["size"], sliders, pull)
    return {**scene, **_widened(around), "live": data}


def _widened(scene: dict[str, Any]) -> dict[str, Any]:
    """What the camera keeps in view: more than the motion reaches by itself, as nobody knows where it will be dragged."""
    low, high = np.array(scene["extent"])
    middle = 0.5 * (low + high)
    away = _AROUND * (np.array([low, high, *scene["rim"]]) - middle) + middle
    return {"extent": away[:2].tolist(), "rim": away[2:].tolist(), "view": scene["view"], "ground": scene["ground"]}


def with_takeover(
    scene: dict[str, Any], run: Any, simulation: MechanismSimulation, sliders: Asked, pull: str | Sequence[str] | None
) -> dict[str, Any]:
    """The scene of a run, of the same mechanism, that a reader can take over; arguments and errors as of `live_data`."""
    # files keep poses as matrices, and so other numbers of the same mechanism than those that it was made with
    if run.mechanism is not simulation.mechanism and to_json(run.mechanism) != to_json(simulation.mechanism):
        raise InputError(
            f"{run.mechanism.name}: the run is of another mechanism than the simulation, such as one with other parameters; "
            "make the simulation of run.mechanism"
        )
    simulation = playable(simulation, sliders)
    undisturbed = _undisturbed(simulation, float(run.settings["step"]), run.q[0], run.v[0])
    kept = np.searchsorted(run.time, scene["time"] - 1e-9 * (1.0 + np.abs(scene["time"])))
    data = live_data(simulation, undisturbed, scene["size"], sliders, pull)
    data["states"] = {"time": run.time[kept], "q": run.q[kept].ravel(), "v": run.v[kept].ravel()}  # that can be taken over
    return {**scene, "notes": [*scene["notes"], *_notes(simulation)[len(simulation.notes) :]], "live": data}


def _notes(simulation: MechanismSimulation) -> list[str]:
    """What a page says of how it steps."""
    notes = [*simulation.notes, f"the page makes steps of {simulation.step_size:g} s by {simulation.integrator.name}"]
    if isinstance(simulation.compiled, ManyBodies):
        notes.append("arrows of contact show the step that follows")
        if simulation.compiled.model.robots:
            notes.append("gravity and masses are fixed in the page, as robots of a scene are compiled with them")
    elif simulation.setup.contact is not None:
        notes.append("contact in the page is traced pair by pair, where runs of one motion may go through lists")
    if any(drive_states(joint.drive) for joint in simulation.mechanism.driven):
        notes.append("where the page takes over, drives with states of their own, such as pressures, begin as at the start")
    return notes


class Undisturbed(NamedTuple):
    """A motion that nobody disturbs, by native code whose bits do not depend on the processor."""

    step: float  # [s]
    start: dict[str, np.ndarray]  # what its steps carry, as of `start_of`
    replay: dict[str, Any]  # how many steps a page repeats, and q and v behind them
    seen: np.ndarray  # q (n, nq) at some times, at first that of the start
    stepper: SceneStepper | None = None  # of a scene, which has made room for this motion


def _undisturbed(simulation: MechanismSimulation, step: float, q: np.ndarray, v: np.ndarray) -> Undisturbed:
    """The motion from a state (nq), (nv)."""
    compiled = simulation.compiled
    start = {name: array[0] for name, array in start_of(simulation.actuation, step, q[None], v[None]).items() if name != "size"}
    replay: dict[str, Any] = {}
    seen: list[np.ndarray] = []
    if not isinstance(compiled, CompiledStep):
        stepper = simulation.compiled.stepper(simulation.actuation, step, q, v)
        assert isinstance(stepper, SceneStepper)
        for _ in range(0, _SEEN, _BETWEEN):
            if _sound(stepper.state["q"], stepper.state["v"]):
                seen.append(stepper.state["q"][0].copy())
                stepper.run({}, 1, _BETWEEN)
        stepper.begin(q, v)
        return Undisturbed(step, start, {}, np.array(seen), stepper)
    kernel = Kernel(compiled.code.repeated, portable=True).filled(compiled._fillings)
    names = [array.name for array in compiled.recurrence.carried]
    now = [start[name].copy() for name in names]
    for number in range(1, _SEEN + 1):
        if (number - 1) % _BETWEEN == 0 and _sound(now[names.index("q")], now[names.index("v")]):
            seen.append(now[names.index("q")])
        now = list(kernel(*now, step, start["u"]))
        if number == REPLAYED:
            replay = {name: np.atleast_1d(now[names.index(name)]) for name in ("q", "v")}
    return Undisturbed(step, start, {"steps": REPLAYED, **replay}, np.array(seen))


def _sound(q: np.ndarray, v: np.ndarray) -> bool:
    return bool(np.isfinite(q).all() and (np.abs(v) < RUNAWAY).all())


def live_data(
    simulation: MechanismSimulation, undisturbed: Undisturbed, size: float, sliders: Asked, pull: str | Sequence[str] | None
) -> dict[str, Any]:
    """The simulator of a page, as the entry "live" of a scene of `build_scene`.

    Args:
        simulation: as of `playable`; undisturbed: its motion; size: of what is drawn [m].
        sliders: names, or their ends by name; None for all inputs, targets, gains, gravity and friction.
        pull: the bodies that can be dragged.

    Raises:
        InputError: for sliders or bodies that there are not.
    """
    from ...compile.wasm import wasm_module

    m, actuation, pulled = simulation.mechanism, simulation.actuation, pullable(simulation, pull)
    layout, stepper, replay = actuation.forcing.layout, undisturbed.stepper, undisturbed.replay
    efforts = {} if actuation.program is None else {"efforts": pushed_program(actuation.program, layout.at("tau"))}
    scene: dict[str, Any] = {}
    if stepper is None:
        code, dials = simulation.straight.code, sliders_of(simulation, sliders)
        module = wasm_module({"step": code.repeated, **programs_of(code, pulled)}, efforts, repeated="step")
    else:
        played = PlayedScene(simulation)
        dials = sliders_of(simulation, sliders, played.numbers)
        scene, dials, replay = played.data(stepper, dials, efforts.get("efforts"), REPLAYED)
        module = wasm_module(programs_of(played.code, pulled, mobility_of_parts), efforts)
    state = {name: np.atleast_1d(array).astype(float).ravel() for name, array in undisturbed.start.items()}
    state = {name: array for name, array in state.items() if name in module.places}
    index, ends = {body.name: k for k, body in enumerate(m.bodies)}, {Distance: (0,), Line: (0, 1)}
    return {
        "code": np.frombuffer(module.code, np.uint8),
        "places": {name: [address, int(np.prod(shape))] for name, (address, shape) in module.places.items()},
        "step": undisturbed.step,
        "state": state,
        "runaway": RUNAWAY,
        "frequency": FREQUENCY,
        "mass": float(m.tree.mass),
        "tau": layout.at("tau").start,
        "row": [layout.at("parameters").start, layout.size] if simulation.parameters else None,
        "pulled": [index[name] for name in pulled],
        "sliders": [dial.plain for dial in dials],
        "joints": _joints(m),
        # the bodies drawn for rods and springs: of which loop, and whether each stands at its end
        "struts": [[k, far] for k, loop in enumerate(m.loops) for far in ends.get(type(loop.kind), ())],
        "curves": _curves(m),
        "contact": _contact(simulation, size),
        "digest": _digest(simulation, module.code, scene.get("code", b""), *state.values()),
        "replay": replay,
        "scene": scene or None,
    }  # fmt: skip


def _digest(simulation: MechanismSimulation, *parts: bytes | np.ndarray) -> str:
    """A hash of the mechanism, the settings, the code and the start: pages with the same one simulate the same."""
    plain = json.dumps(simulation.settings, sort_keys=True, default=str)
    found = hashlib.sha256(f"{digest(simulation.mechanism) or repr(simulation.mechanism)} {plain}".encode())
    for part in parts:
        found.update(part if isinstance(part, bytes) else part.tobytes())
    return found.hexdigest()


def _joints(m: Mechanism) -> list[dict[str, Any]]:
    """The sliders of joints, with None in the place of infinite limits."""
    first = {item.q.start + k: item.v.start + k for item in joint_columns(m) for k in range(item.kind.nv)}
    return [
        {
            "name": one.name, "q": one.q, "v": first[one.q], "unit": one.unit, "low": one.lower, "high": one.upper,
            "limits": [end if np.isfinite(end) else None for end in (one.least, one.most)], "turns": one.turns,
        }
        for one in joint_sliders(m)
    ]  # fmt: skip


def _curves(m: Mechanism) -> list[dict[str, Any]]:
    """The plots of a live motion: which numbers of which array each curve is, and a factor, as graphs of runs have them."""
    bases = [k for item in joint_columns(m) if is_base(item) for k in range(item.v.start, item.v.stop)]
    efforts = np.where(np.isin(np.arange(m.nv), bases), 0, np.arange(m.nv))  # bases have none, and so no plot
    numbers = {"q": np.arange(m.nq), "v": np.arange(m.nv), "tau": efforts}
    places = SimpleNamespace(mechanism=m, contact=(), loops={}, **{name: row[None] for name, row in numbers.items()})
    found, many = [], False
    for name in numbers:
        for panel in joint_panels(places, JOINT_PANELS.index(name), degrees=False):  # type: ignore[arg-type]
            if panel.note:  # one curve for each of many bodies, which is not a number of the state
                many = True
                continue
            turning = panel.unit.startswith("rad")
            found.append({
                "title": panel.quantity, "unit": panel.unit.replace("rad", "deg") if turning else panel.unit, "from": name,
                "at": panel.values[0].astype(int).tolist(), "names": list(panel.names),
                "factor": 180.0 / np.pi if turning else 1.0,
            })  # fmt: skip
    if many:
        found.insert(0, {"title": f"Height of {len(m.bodies)} bodies", "unit": "m", "from": "poses", "factor": 1.0,
                         "at": list(range(11, 12 * len(m.bodies), 12)), "names": [body.name for body in m.bodies]})  # fmt: skip
    found.insert(1, {"title": "Energy", "unit": "J", "from": "energy", "at": [0, 1, -1], "factor": 1.0,
                     "names": ["kinetic", "potential", "total"]})  # fmt: skip
    return [curve for curve in found if "quaternion" not in curve["title"]]


def _contact(simulation: MechanismSimulation, size: float) -> dict[str, Any] | None:
    """The arrows of contact: a force as large as the weight is a third of the mechanism long."""
    m, owners = simulation.mechanism, simulation.interaction.touching_bodies
    scene = not isinstance(simulation.compiled, CompiledStep)
    if not (owners or scene):
        return None
    weight = m.tree.mass * float(np.linalg.norm(m.gravity)) or 1.0
    count, ground = len(owners), [k for k, (_, other) in enumerate(owners) if other in (GROUND, WORLD)]
    if scene:  # what touches takes arrows as it comes
        count, ground, weight = _ARROWS * len(m.bodies), [], weight / np.sqrt(len(m.bodies))
    wanted = weight / (0.35 * size)
    power = 10.0 ** np.floor(np.log10(wanted))
    scale = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= wanted * (1.0 - 1e-9))
    return {"count": count, "ground": ground, "scale": float(scale), "longest": 0.5 * size}
