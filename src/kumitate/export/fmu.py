"""A simulation as a file of FMI: its description, C sources, binaries, and a page about it, in one archive."""

from __future__ import annotations

import hashlib
import os
import platform as machine
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from ..compile import Kernel
from ..compile.exports import to_c
from ..compile.exports.text import c_names, exact, identifiers, wrapped
from ..errors import InputError, needed, warn
from ..model import Mechanism
from ..model.files import replacing
from ..programs.catalogue import stored_program
from ..scalar import Program
from ..simulate.divergence import RUNAWAY
from ..simulate.simulation import MechanismSimulation
from .unit import FIXED, INPUT, RATE, SEEN, TUNABLE, FmuModel, build_description, model_description, ready

#: Products are not fused with sums, so that all processors give the same bits.
OPTIONS = ("-std=c99", "-ffp-contract=off")
#: From so many lines on, compilers would take many minutes to improve code in straight lines.
_LONG = 60_000


class Platform(NamedTuple):
    """A processor and its system: as FMI 3.0 and 2.0 name it, the suffix of libraries, and how ziglang calls it."""

    name: str
    former: str
    suffix: str
    target: str


_KNOWN = (
    Platform("x86_64-linux", "linux64", "so", "x86_64-linux-gnu.2.17"),
    Platform("aarch64-linux", "aarch64-linux", "so", "aarch64-linux-gnu.2.17"),
    Platform("x86_64-windows", "win64", "dll", "x86_64-windows-gnu"),
    Platform("x86_64-darwin", "darwin64", "dylib", "x86_64-macos"),
    Platform("aarch64-darwin", "aarch64-darwin", "dylib", "aarch64-macos"),
)
PLATFORMS = {one.name: one for one in _KNOWN}


def host() -> Platform | None:
    """The platform of this machine; None if it is not among them."""
    processor = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
    return PLATFORMS.get(f"{processor.get(machine.machine().lower())}-{machine.system().lower()}")


def build(owner: str, folder: Path, source: str, platform: Platform, *, must: bool) -> bytes | None:
    """The library of a C source; None without a compiler, unless there must be one: then, or if it fails, an `InputError`."""
    command = _compiler(platform)
    if command is None:
        if not must:
            return None
        needed("ziglang", f"{owner}: a library for {platform.name} needs the compiler of ziglang", "fmu")
        command = _zig(platform)
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in folder.iterdir() if path.suffix in (".c", ".h"))
    library = folder / f"library.{platform.suffix}"
    options = [*OPTIONS, "-O2" if lines < _LONG else "-O0", "-fPIC", "-shared", "-fvisibility=hidden"]
    steps = [[source, "-o", library.name, "-lm"]]
    if platform.suffix == "dll":  # its C library takes ziglang more than a minute to build; instance.h does without
        linked = ["-nostdlib", "model.o", "-o", library.name, "-lkernel32", "-lcompiler_rt"]
        steps = [["-DNO_LIBRARY", "-c", source, "-o", "model.o"], linked]
    for step in steps:
        done = subprocess.run([*command, *options, *step], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(f"{owner}: the C compiler ({' '.join(command)}) failed: {done.stderr.strip()[-600:]}")
    return library.read_bytes()


def _compiler(platform: Platform) -> list[str] | None:
    own = [shutil.which(name) for name in (os.environ.get("KUMITATE_CC", ""), "cc", "gcc", "clang") if name]
    found = next((path for path in own if path), None)
    if found and platform == host() and sys.platform != "win32":
        return [found]
    return _zig(platform) if find_spec("ziglang") else None


def _zig(platform: Platform) -> list[str]:
    return [sys.executable, "-m", "ziglang", "cc", "-target", platform.target]


# --- the file -------------------------------------------------------------------------------------------------------------
VERSIONS = ("2.0", "3.0")
_GLUE = {"2.0": "fmi2.c", "3.0": "fmi3.c"}
_PICTURES = {"2.0": "model.png", "3.0": "documentation/diagram.png"}
_ROLES = ("input", "parameter", "at the start", "output", "rate of a state", "state")
#: What a role's results are called that go to other places than "ROLE.NAME".
_BACK = ("step", "begin")


def write_fmu(
    simulation: MechanismSimulation, path: str | Path, *, version: str = "2.0", platforms: Sequence[str] | str | None = None,
    page: bool = True,
) -> Path:  # fmt: skip
    """Writes a simulation as a unit of FMI; arguments and errors as of `kumitate.Simulation.fmu`."""
    target, owner = Path(path), simulation.mechanism.name
    if target.suffix.lower() != ".fmu":
        raise InputError(f"{target}: units of FMI are files .fmu; {target.suffix!r} is not that suffix")
    if version not in VERSIONS:
        raise InputError(f"{owner}: there is no FMI {version!r} to write; there are {', '.join(VERSIONS)}")
    model = FmuModel(ready(simulation))
    name = identifiers([owner], ())[0]
    code = model_header(model)
    token = hashlib.sha256(f"{version} {code}".encode()).hexdigest()
    token = "{" + "-".join(token[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))) + "}"
    glue = _GLUE[version]
    assets = files(__package__) / "assets"
    sources = {one: (assets / one).read_text(encoding="utf-8") for one in (glue, "instance.h")}
    sources["model.h"] = f'#define TOKEN "{token}"\n{code}'
    with TemporaryDirectory() as folder:
        for one, text in sources.items():
            (Path(folder) / one).write_text(text, encoding="utf-8")
        binaries = list(_binaries(owner, Path(folder), glue, name, _asked(owner, platforms), version))
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        entries: dict[str, str | bytes] = {"modelDescription.xml": model_description(model, version, name, token, glue)}
        entries |= {f"sources/{one}": text for one, text in sources.items()}
        if version == "3.0":
            entries["sources/buildDescription.xml"] = build_description(name, glue, OPTIONS)
        entries |= dict(binaries)
        entries |= _documentation(model, page, version)
        for one, content in entries.items():
            archive.writestr(zipfile.ZipInfo(one, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return target


def _asked(owner: str, platforms: Sequence[str] | str | None) -> list[Platform] | None:
    if platforms is None:
        return None
    names = [platforms] if isinstance(platforms, str) else list(platforms)
    names = list(PLATFORMS) if names == ["all"] else names
    for name in names:
        if name not in PLATFORMS:
            raise InputError(f"{owner}: there is no platform {name!r}; there are {', '.join(PLATFORMS)}, or 'all'")
    return [PLATFORMS[name] for name in names]


def _binaries(
    owner: str, folder: Path, glue: str, name: str, asked: list[Platform] | None, version: str
) -> Iterator[tuple[str, bytes]]:
    """The libraries by their names in the archive."""
    here = host()
    for platform in asked if asked is not None else [here] if here else []:
        library = build(owner, folder, glue, platform, must=asked is not None)
        if library is None:
            warn(
                f"{owner}: there is no C compiler, so that the FMU has its sources only, which few tools take; install one, or "
                "pip install 'kumitate[fmu]'"
            )
        else:
            place = platform.name if version == "3.0" else platform.former
            yield f"binaries/{place}/{name}.{platform.suffix}", library


# --- C --------------------------------------------------------------------------------------------------------------------
def model_header(model: FmuModel) -> str:
    """The model as C: its programs, what stands where, and the functions that instance.h calls."""
    programs = list(model.programs.values())
    text = to_c(*programs, fillings=model.fillings, portable=True, private=True)
    names = c_names(programs, model.fillings, portable=True)
    m, memory = model.code.mechanism, model.memory
    size = memory.size
    numbers: dict[str, object] = {
        "NUMBERS": size, "N_Q": m.nq, "N_V": m.nv, "N_X": len(model.states), "N_DOTTED": len(model.dots),
        "N_FOUND": len(model.found_dots), "STEP": exact(model.simulation.step_size), "RUNAWAY": exact(RUNAWAY),
    }  # fmt: skip
    numbers |= {f"AT_{name.upper()}": model.slot(name) for name in ("time", "number", "h")}
    numbers |= {f"AT_{name.upper()}": memory.places[name][0] for name in ("q", "v")}
    roles = {one.at: one.sort for one in model.variables} | {0: 1}
    sorts = [roles.get(at, 0) for at in range(size)]
    dots, found = ([f"{{{a}, {b}}}" for a, b in pairs or [(0, 0)]] for pairs in (model.dots, model.found_dots))
    listed = {
        "double model_first[NUMBERS]": map(exact, model.first.tolist()), "unsigned char model_sorts[NUMBERS]": map(str, sorts),
        "unsigned model_states[]": map(str, model.states or [0]), "unsigned model_rates[]": map(str, model.rates or [0]),
        "unsigned model_dots[][2]": dots, "unsigned model_found[][2]": found,
    }  # fmt: skip
    tables = [line for name, x in listed.items() for line in wrapped(f"static const {name} = {{", list(x), "};")]
    functions = [_function(model, role, names) for role in ("begin", "numbers", "step", "look", "flow")]
    slopes = [line for role in ("flow_slope", "look_slope") for line in _calls(model, role, names)]
    functions.append("\n".join(["static void model_slope(double *m)", "{", *(slopes or ["    (void)m;"]), "}"]))
    defined = [f"#define {name} {value}" for name, value in numbers.items()]
    return "\n".join([text, *defined, "", *tables, "", *functions, ""])


def _function(model: FmuModel, role: str, names: dict[Program, str]) -> str:
    lines, places = _calls(model, role, names), model.memory.places
    if role == "begin" and not lines:
        pairs = (("Q", places["start_q"][0]), ("V", places["start_v"][0]))
        lines = [f"    for (size_t k = 0; k != N_{x}; k++) m[AT_{x} + k] = m[{start} + k];" for x, start in pairs]
    return "\n".join([f"static void model_{role}(double *m)", "{", *(lines or ["    (void)m;"]), "}", ""])


def _calls(model: FmuModel, role: str, names: dict[Program, str]) -> list[str]:
    """The call of a program with its arrays in their places."""
    if role not in model.programs:
        return []
    program, places, layout = model.programs[role], model.memory.places, model.code.layout
    own = role.removesuffix("_slope")
    given = [f"m[{places[a.name][0]}]" if a.shape == () else f"m + {places[a.name][0]}" for a in program.inputs]
    for array in program.outputs:
        if role == "numbers":
            at = places["u"][0] + layout.at("parameters").stop - array.size
        else:
            at = places[array.name if role in _BACK else f"{own}.{array.name}"][0]
        given.append(f"m + {at}")
    return [*wrapped(f"    {names[program]}(", given, ");")]


# --- documentation --------------------------------------------------------------------------------------------------------
def _picture(m: Mechanism, q: np.ndarray) -> bytes:
    """The mechanism at its start, drawn by matplotlib, as PNG."""
    from ..view.drawing_window import Stage
    from ..view.stick_shapes import with_struts
    from ..view.style import drawing

    drawn, X = with_struts(m, Kernel(stored_program(m, "poses", {}), quick=True)(q[None]))
    stage, figure, file = Stage(drawn, X), drawing("matplotlib.figure").Figure(figsize=(2.56, 2.56), dpi=100), BytesIO()
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    stage.frame(axes, X[0])
    stage.draw(axes, X[0])
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def _documentation(model: FmuModel, page: bool, version: str) -> Iterator[tuple[str, str | bytes]]:
    """A page about the model, one that is the simulator, and a picture where the standard has its place."""
    from ..live.playable import live_scene
    from ..view.page import page_text

    m = model.code.mechanism
    bits = (INPUT, TUNABLE, FIXED, SEEN, RATE)  # in the order of `_ROLES`
    listed = sorted((next((k for k, bit in enumerate(bits) if one.sort & bit), len(bits)), one) for one in model.variables)
    rows = "".join(
        f"<tr><td>{_ROLES[role]}</td><td>{escape(one.name)}</td><td>{escape(one.own)}</td><td>{escape(one.unit)}</td>"
        f"<td>{'' if one.start is None else f'{one.start:g}'}</td></tr>"
        for role, one in listed
    )
    told = [*model.notes, f"Steps of {model.simulation.step_size:g} s by {model.simulation.integrator.name}."]
    if model.exchange:
        told.append(f"There is no model exchange: {model.exchange}.")
    notes = "".join(f"<li>{escape(note)}</li>" for note in told)
    link = '<p><a href="simulator.html">The model moves here</a>: drag its bodies.</p>' if page else ""
    if page:
        yield "documentation/simulator.html", page_text(live_scene(model.simulation))
    if page and find_spec("matplotlib"):
        yield _PICTURES[version], _picture(m, model.first[model.memory.slots("q")])
        link += f'<p><img src="{"diagram.png" if version == "3.0" else "../model.png"}" alt="{escape(m.name)}"></p>'
    style = "body{font:15px sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:left;border-bottom:1px solid #ddd}"
    yield (
        "documentation/index.html",
        f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>{escape(m.name)}</title><style>{style}</style>"
        f"<h1>{escape(m.name)}</h1><ul>{notes}</ul>{link}<p>SI units and radians; angular parts first.</p>"
        f"<table><tr><th></th><th>variable</th><th>in kumitate</th><th>unit</th><th>start</th></tr>{rows}</table></html>\n",
    )
