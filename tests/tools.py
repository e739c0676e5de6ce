"""Programs that some tests call: where they are, and what to install where one is missing; and scripts that they import."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from kumitate.share import browser


@dataclass(frozen=True)
class Tool:
    """A program of the machine.

    Attributes:
        title: what it is, for messages.
        names: what it may be called on the PATH, or in full, the first choice first.
        packages: the Debian packages that bring it.
        variable: the environment variable that names another one; "" if there is none.
    """

    title: str
    names: tuple[str, ...]
    packages: tuple[str, ...]
    variable: str = ""

    def found(self) -> str | None:
        """The program's path, or None where it is not installed."""
        chosen = os.environ.get(self.variable) if self.variable else None
        if chosen:
            path = shutil.which(chosen)
            assert path, f"{self.variable}: {chosen} is not a program; give the path of {self.title}, or unset {self.variable}"
            return path
        return next((path for name in self.names if (path := shutil.which(name))), None)

    def needed(self) -> str:
        """The program's path; skips the test where it is not installed (with --no-skips, as in CI, the test fails instead)."""
        path = self.found()
        if path is None:
            or_else = f", or set {self.variable} to its path" if self.variable else ""
            pytest.skip(f"{self.title} is not installed; run apt-get install {' '.join(self.packages)}{or_else}")
        return path


CHROMIUM = Tool(
    "Chromium",
    browser.NAMES,
    ("chromium",),
    browser.VARIABLE,
)  # fmt: skip
GCC = Tool("gcc", ("gcc",), ("gcc", "libc6-dev"))
NODE = Tool("Node", ("node",), ("nodejs",))
ARM_GCC = Tool("gcc for 64-bit ARM", ("aarch64-linux-gnu-gcc",), ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"))
ARM_EMULATOR = Tool("an emulator of 64-bit ARM", ("qemu-aarch64", "qemu-aarch64-static"), ("qemu-user",))
BARE_GCC = Tool("gcc for microcontrollers", ("arm-none-eabi-gcc",), ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi"))
BOARD_EMULATOR = Tool("an emulator of boards with ARM", ("qemu-system-arm",), ("qemu-system-arm",))
WINE = Tool("Wine", ("wine",), ("wine", "wine64"))  # only where it is there: 700 MB for one test
MAKE = Tool("make", ("make",), ("make",))

TOOLS = (CHROMIUM, GCC, NODE, ARM_GCC, ARM_EMULATOR, BARE_GCC, BOARD_EMULATOR, MAKE)


def module_of(script: Path) -> ModuleType:
    """The module of a file that is no part of a package, such as an example."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
