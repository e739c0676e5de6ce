"""kumitate doctor"""

from __future__ import annotations

import re
import time
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from ..compile import cache_folder
from ..compile.threads import thread_count
from ..errors import InputError, KumitateError
from ..measure.timing import machine, version_of
from ..share.browser import VARIABLE, find_chromium
from .cache import kept_on_disk
from .options import AsJson
from .report import print_facts, print_json, print_table

#: Extras that bring others together, or tools for the work on kumitate itself.
_GROUPS = {"all", "test"}
#: A requirement of an extra, as in the metadata: "h5py>=3.11; extra == 'hdf5'".
_OF_EXTRA = re.compile(r"""([\w.-]+)[^;]*;\s*extra\s*==\s*["']([\w-]+)["']""")


def doctor(*, as_json: AsJson = False) -> int:
    """Show what kumitate finds on this machine: processor, LLVM, the cache, extras, a browser; and whether compiling works.

    The exit code is 1 if kumitate cannot compute here.
    """
    facts: dict[str, Any] = {**machine(), "installed in": str(Path(__file__).resolve().parents[1]), "threads": _threads()}
    fault, milliseconds = _compiled()
    cache, extras, browser, gpu = kept_on_disk(cache_folder()), _extras(), find_chromium(), _gpu()
    if as_json:
        print_json({
            "machine": facts, "compiling": {"fault": fault, "milliseconds": milliseconds}, "cache": cache, "extras": extras,
            "chromium": browser, "gpu": gpu,
        })  # fmt: skip
        return int(fault is not None)
    print_facts("this machine", [(name, str(value)) for name, value in facts.items()])
    kept = f"{cache['entries']} entries, {cache['bytes'] / 1e6:.1f} of at most {cache['limit'] / 1e6:.0f} MB"
    checks = [
        ("compiling", f"works, {milliseconds:.0f} ms for a first function" if fault is None else f"fails: {fault}"),
        ("cache", f"{cache['folder'] or 'none'}  ({kept})"),
        *([("", f"not used: {cache['fault']}")] if cache["fault"] else []),
        ("GPU", gpu["fault"] or "{name}, {memory}, {capability}, {driver}; code is compiled for {target}".format(**gpu)),
        ("Chromium", browser or f"not found: films are drawn as skeletons; install it, or set {VARIABLE} to its path"),
    ]
    print_facts("what works", checks)
    rows = [(name, "yes" if not found["missing"] else "no", _listed(found)) for name, found in extras.items()]
    if rows:
        print_table(("extra", "installed", "packages"), rows)
    return int(fault is not None)


def _threads() -> str:
    try:
        return str(thread_count())
    except InputError as error:
        return str(error)


def _gpu() -> dict[str, Any]:
    """The GPU that target="cuda" computes on, and what code is compiled for there; or why there is none."""
    from ..cuda import gpu

    try:
        found = gpu()
        memory, capability = found.memory[1], ".".join(map(str, found.capability))
    except InputError as error:
        return {"fault": str(error)}
    return {
        "fault": None, "name": found.name, "memory": f"{memory / 1e9:.0f} GB", "capability": f"compute capability {capability}",
        "driver": f"a driver for CUDA {found.driver}", "target": found.target.cpu,
    }  # fmt: skip


def _compiled() -> tuple[str | None, float]:
    """Why a function cannot be compiled and called, or None; and the time that it took [ms]."""
    from .. import load

    began = time.perf_counter()
    try:
        pendulum = load("pendulum")
        found = float(pendulum.mass_matrix([0.0])[0, 0])
        fault = None if found == 1.0 else f"the pendulum's inertia is {found}, where it must be 1 kg·m²"
    except (KumitateError, OSError, RuntimeError, ImportError) as error:
        fault = f"{type(error).__name__}: {error}"
    return fault, 1e3 * (time.perf_counter() - began)


def _extras() -> dict[str, dict[str, Any]]:
    """By extra, the packages that are installed, with versions, and those that are missing."""
    try:
        lines = requires("kumitate") or []
    except PackageNotFoundError:  # run from its sources
        lines = []
    found: dict[str, dict[str, Any]] = {}
    for package, extra in (match.groups() for match in map(_OF_EXTRA.match, lines) if match):
        if extra not in _GROUPS and package != "kumitate":
            known = found.setdefault(extra, {"installed": {}, "missing": []})
            version = version_of(package)
            if version is None:
                known["missing"].append(package)
            else:
                known["installed"][package] = version
    return dict(sorted(found.items()))


def _listed(found: dict[str, Any]) -> str:
    parts = [f"{package} {version}" for package, version in found["installed"].items()]
    return ", ".join([*parts, *(f"{package} missing" for package in found["missing"])])
