"""C compilers: that of this machine, or that of the package ziglang, which builds for all platforms."""

from __future__ import annotations

import os
import platform as machine
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, needed

#: Products are not fused with sums, so that all processors give the same bits.
OPTIONS = ("-std=c99", "-ffp-contract=off")
#: From so many lines on, compilers would take many minutes to improve code in straight lines.
_LONG = 60_000


class Platform(NamedTuple):
    """A processor and its system.

    Attributes:
        name: as FMI 3.0 has it; former: as FMI 2.0; suffix: of libraries; target: as ziglang names it.
    """

    name: str
    former: str
    suffix: str
    target: str


PLATFORMS = {
    one.name: one
    for one in (
        Platform("x86_64-linux", "linux64", "so", "x86_64-linux-gnu.2.17"),
        Platform("aarch64-linux", "aarch64-linux", "so", "aarch64-linux-gnu.2.17"),
        Platform("x86_64-windows", "win64", "dll", "x86_64-windows-gnu"),
        Platform("x86_64-darwin", "darwin64", "dylib", "x86_64-macos"),
        Platform("aarch64-darwin", "aarch64-darwin", "dylib", "aarch64-macos"),
    )
}


def host() -> Platform | None:
    """The platform of this machine; None if it is not among them."""
    processor = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
    return PLATFORMS.get(f"{processor.get(machine.machine().lower())}-{machine.system().lower()}")


def build(owner: str, folder: Path, source: str, platform: Platform, *, must: bool) -> bytes | None:
    """The library of a C source; None if there is no compiler, unless there must be.

    Raises:
        InputError: if ziglang is needed and not installed, or a compiler fails.
    """
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
