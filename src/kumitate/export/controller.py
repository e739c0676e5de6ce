"""Functions of a robot as C for controllers: a header, a source, a test program that checks itself, and how to build them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..compile import Kernel
from ..compile.exports import to_c
from ..compile.exports.text import described, exact, identifiers, wrapped
from ..errors import InputError
from ..kinematics import integrate
from ..model import Mechanism
from ..model.files import replacing
from ..programs import PROGRAMS, make_program
from ..scalar import Program, call, trace
from ..share.run_files import units
from ..simulate.setup import Setup
from ..simulate.simulation import MechanismSimulation

#: The name of a step of a simulation among the functions.
STEP = "step"
#: The types of numbers, and the largest part of a result by which a program that checks itself may miss it.
REALS = {"double": 1e-11, "float": 2e-4}
_CASES = 5
_CALLS = 20_000


def write_c(
    robot: Mechanism, start: Any, functions: Sequence[str] | str, folder: str | PathLike[str], *, real: str = "double"
) -> Path:
    """Writes functions of a mechanism as C into a folder; arguments and errors as of `kumitate.Robot.to_c`."""
    target, m = Path(folder), robot
    names = [part.strip() for part in (functions.split(",") if isinstance(functions, str) else functions)]
    if real not in REALS:
        raise InputError(f"{m.name}: there is no type {real!r} for numbers in C; there are {', '.join(REALS)}")
    if not names or not all(names):
        raise InputError(f"{m.name}: no function is named; give functions=['inverse_dynamics', 'pose:{m.bodies[-1].name}', …]")
    prefix = identifiers([m.name], ())[0]
    programs = {name: _program(m, name, start) for name in dict.fromkeys(names)}
    called = dict(zip(programs, identifiers([f"{prefix}_{name.replace(':', '_')}" for name in programs], ()), strict=True))
    renamed = [replace(program, name=called[name]) for name, program in programs.items()]
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: a file of this name is there; name a folder")
    target.mkdir(parents=True, exist_ok=True)
    text = f'#include "{prefix}.h"\n\n{to_c(*renamed, real=real, quick=True)}'
    named = ([", ".join(a.name for a in arrays) for arrays in (one.inputs, one.outputs)] for one in renamed)
    rows = [
        f"| `{one.name}` | {' | '.join(both)} | {one.operations.total()} |" for one, both in zip(renamed, named, strict=True)
    ]
    orders = [f"- {line}" for line in _ordered(m)]
    put = {"NAME": prefix, "ROBOT": m.name, "REAL": real, "ROWS": "\n".join(rows), "ORDERS": "\n".join(orders)}
    put |= _test(m, renamed, start, real)
    contents = {f"{prefix}.h": _header(m, prefix, renamed, real), f"{prefix}.c": text}
    for one in (files(__package__) / "assets" / "controller").iterdir():
        contents[one.name] = re.sub(r"@([A-Z]+)@", lambda found: put[found[1]], one.read_text(encoding="utf-8"))
    for name, content in contents.items():
        with replacing(target / name) as temporary:
            temporary.write_text(content, encoding="utf-8", newline="\n")
    return target


def _program(m: Mechanism, name: str, start: Any) -> Program:
    """The program of a function by its name, "pose:hand", or of a step; an `InputError` for an unknown one."""
    if name == STEP:
        return _step(MechanismSimulation(Setup(m, *start)))
    function, _, place = name.partition(":")
    if function not in PROGRAMS:
        raise InputError(f"{m.name}: there is no function {name!r} for C; there are {STEP}, {', '.join(PROGRAMS)}")
    try:
        return make_program(m, function, **({"place": place} if place else {}))
    except TypeError:
        raise InputError(
            f"{m.name}: {name!r} {'has no place' if place else 'needs a place, as in ' + function + ':hand'}"
        ) from None


def _step(simulation: MechanismSimulation) -> Program:
    """(h, q, v, tau, targets of drives if there are any) → q and v one step h later."""
    simulation.check_without_python("C")
    code, m = simulation.straight.code, simulation.mechanism
    layout, u0 = code.layout, simulation.actuation.constants.tolist()
    if layout.count("states"):
        raise InputError(
            f"{m.name}: drives have states of their own, which a function without memory cannot keep; write the simulation as "
            "a unit of FMI (sim.fmu), whose C has them"
        )
    places = {"tau": layout.at("tau"), **layout.group("commands")}

    def step(h: Any, q: Any, v: Any, *given: Any) -> dict[str, Any]:
        u: list[Any] = list(u0)
        for place, values in zip(places.values(), given, strict=True):
            u[place] = list(values)
        after = call(code.program, 0.0, h, q, v, 0.0, u)
        return {"q_next": list(after["q"]), "v_next": list(after["v"])}

    sizes = {name: place.stop - place.start for name, place in places.items()}
    return trace(step, {"h": (), "q": m.nq, "v": m.nv, **sizes}, STEP)


# --- texts ----------------------------------------------------------------------------------------------------------------
def _ordered(m: Mechanism) -> Iterator[str]:
    for order, (title, names) in enumerate((("q", m.q_names), ("v", m.v_names))):
        yield f"{title}: " + ", ".join(f"{name} [{unit or '1'}]" for name, unit in zip(names, units(m, order), strict=True))
    yield "tau: " + ", ".join(f"{name} [{unit}]" for name, unit in zip(m.v_names, units(m, 3), strict=True))


def _header(m: Mechanism, prefix: str, programs: Sequence[Program], real: str) -> str:
    guard = f"{prefix.upper()}_H"
    lines = ["/*", f" * {m.name}: functions of the robot, written by kumitate. No memory, no recursion, only libm.", " *"]
    lines += [f" * {text}" for text in _ordered(m)]
    lines += [
        " *", " * SI units and radians, angular parts first, matrices row by row. Outputs may lie on inputs.", " */",
        f"#ifndef {guard}", f"#define {guard}", "", f"#define {prefix.upper()}_NQ {m.nq}",
        f"#define {prefix.upper()}_NV {m.nv}", "", "#ifdef __cplusplus", 'extern "C" {', "#endif",
    ]  # fmt: skip
    for program in programs:
        told = [line for line in described(program)[:-2] if line]
        typed = [f"{real} {a.name}" if a.shape == () else f"const {real} *{a.name}" for a in program.inputs]
        typed += [f"{real} *{a.name}" for a in program.outputs]
        lines += ["", "/*", *(f" * {line}".replace("*/", "* /") for line in told), " */"]
        lines += wrapped(f"void {program.name}(", typed, ");")
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _cases(m: Mechanism, program: Program, start: Any) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Inputs near the start, and the outputs that kumitate's own code gives."""
    rng, kernel = np.random.default_rng(20125), Kernel(program)
    q = np.asarray(start[0], dtype=float)

    def near() -> Any:
        return q if m.loops else integrate(m.tree, q.tolist(), rng.uniform(-0.5, 0.5, m.nv).tolist())

    own: dict[str, Callable[[], Any]] = {"q": near, "h": lambda: 1e-3, "t": lambda: 0.0}
    for _ in range(_CASES):
        given = [
            np.array(own[a.name]() if a.name in own else rng.normal(size=a.shape), dtype=float).reshape(a.shape)
            for a in program.inputs
        ]
        found = kernel(*given)
        yield given, [np.asarray(x) for x in (found if isinstance(found, list | tuple) else [found])]


def _test(m: Mechanism, programs: Sequence[Program], start: Any, real: str) -> dict[str, str]:
    """The parts of the program that checks the functions against recorded numbers, and measures them."""
    tables, checks = [], []
    for program in programs:
        cases = [[*given, *found] for given, found in _cases(m, program, start)]
        arrays = list(zip((*program.inputs, *program.outputs), zip(*cases, strict=True), strict=True))
        names = [f"{program.name}_{k}" for k in range(len(arrays))]
        for name, (array, values) in zip(names, arrays, strict=True):
            kind = real if array in program.inputs else "double"
            rows = [exact(x) for value in values for x in np.ravel(value).tolist()]
            tables += wrapped(f"static const {kind} {name}[{len(rows)}] = {{", rows, "};")
        inputs = zip(names, program.inputs, strict=False)
        given = [f"{name}[k]" if a.shape == () else f"{name} + {a.size}*k" for name, a in inputs]
        outs = [f"found + {at}" for at in np.cumsum([0, *(a.size for a in program.outputs)])[:-1].tolist()]
        called = f"{program.name}({', '.join([*given, *outs])});"
        compared = [
            f"        worst = compared(worst, {name} + {a.size}*k, {out}, {a.size});"
            for name, a, out in zip(names[len(given) :], program.outputs, outs, strict=True)
        ]
        size = sum(a.size for a in program.outputs)
        checks += [
            "    {", f"        static {real} found[{max(size, 1)}];", "        double worst = 0.0;", "        long n;",
            f"        for (int k = 0; k < {_CASES}; k++) {{", f"        {called}", *compared, "        }",
            "        begin = clock();", f"        for (n = 0; n < {_CALLS}; n++) {{ const int k = (int)(n % {_CASES});",
            f"        {called} }}",
            f'        failed |= told("{program.name}", worst, (double)(clock() - begin) / CLOCKS_PER_SEC / {_CALLS});', "    }",
        ]  # fmt: skip
    return {"TOLERANCE": repr(REALS[real]), "TABLES": "\n".join(tables), "CHECKS": "\n".join(checks)}
