"""The machine on which times were measured."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..compile import host
from ..version import __version__


def version_of(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine() -> dict[str, str]:
    """The processor, and the versions of kumitate and its dependencies."""
    import llvmlite.binding as llvm

    target = host()
    llvm_version = ".".join(str(part) for part in llvm.llvm_version_info)
    return {
        "processor": f"{_processor()} ({target.cpu}), {os.cpu_count()} cores",
        "float64 lanes": str(target.lanes),
        "system": f"{_system()}, {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "NumPy": version_of("numpy") or "",
        "llvmlite": f"{version_of('llvmlite')} (LLVM {llvm_version})",
        "kumitate": __version__,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # not Linux
        return f"{platform.system()} {platform.release()}"
