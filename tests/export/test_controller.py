"""C for controllers compiles without a warning and finds what kumitate recorded, on this processor and on emulated ones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

from ..tools import ARM_EMULATOR, ARM_GCC, BARE_GCC, BOARD_EMULATOR, GCC, MAKE

FUNCTIONS = ("inverse_dynamics", "mass_matrix", "pose:link7", "step")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a type of numbers, made once."""
    made: dict[str, Path] = {}

    def of(real: str) -> Path:
        if real not in made:
            made[real] = km.load("pa10").to_c(tmp_path_factory.mktemp("c") / real, FUNCTIONS, real=real)
        return made[real]

    return of


def checked(command: list[str], folder: Path, *, run: list[str]) -> str:
    """What the test program prints, built by a command."""
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "test.c", "pa10.c", "-o", "check", "-lm"]
    done = subprocess.run([*command, *flags], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([*run, "./check"], cwd=folder, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout
    return told.stdout


@pytest.mark.parametrize("real", ["double", "float"])
def test_it_finds_what_was_recorded(folder, real):
    told = checked([GCC.needed()], folder(real), run=[])
    assert [line.split()[0] for line in told.splitlines()] == [f"pa10_{name.replace(':', '_')}" for name in FUNCTIONS]


def test_a_wrong_number_is_found(folder, tmp_path):
    """The check fails where one constant of the code is another."""
    for path in folder("double").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    source = tmp_path / "pa10.c"
    text = source.read_text(encoding="utf-8")
    assert "9.81" in text or "0x1.39eb851eb851fp+3" in text
    source.write_text(text.replace("0x1.39eb851eb851fp+3", "9.8"), encoding="utf-8")
    subprocess.run([GCC.needed(), "-std=c99", "test.c", "pa10.c", "-o", "check", "-lm"], cwd=tmp_path, check=True)
    told = subprocess.run(["./check"], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 1
    assert "FAILED" in told.stdout


def test_it_builds_by_make(folder):
    done = subprocess.run([MAKE.needed(), "test"], cwd=folder("double"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" ok\n") == len(FUNCTIONS)


def test_on_64_bit_arm(folder):
    checked([ARM_GCC.needed(), "-static"], folder("double"), run=[ARM_EMULATOR.needed()])


BOARD = """
extern unsigned long __stack;
void _start(void), Reset(void);
__attribute__((section(".vectors"), used)) static void *const vectors[2] = {&__stack, (void *)Reset};
void Reset(void)
{
    *(volatile unsigned long *)0xE000ED88 |= 0xFu << 20; /* turns the floating-point unit on */
    _start();
}
"""
MEMORY = """
ENTRY(Reset)
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 4M  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text* .rodata*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) } > RAM
  .bss : { __bss_start__ = .; *(.bss* COMMON) __bss_end__ = .; end = .; __end__ = .; } > RAM
  __stack = ORIGIN(RAM) + LENGTH(RAM);
}
"""


def test_on_a_cortex_m7_without_a_system(folder, tmp_path):
    """In float on an emulated board, MPS2+ with a Cortex-M7 (AN500): no system, no heap, and a stack of a kilobyte."""
    emulator = BOARD_EMULATOR.needed()
    for path in folder("float").glob("*.[ch]"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "board.c").write_text(BOARD)
    (tmp_path / "board.ld").write_text(MEMORY)
    options = ["-mcpu=cortex-m7", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard", "-fstack-usage", "--specs=rdimon.specs"]
    board = [emulator, "-M", "mps2-an500", "-display", "none", "-semihosting-config", "enable=on,target=native", "-kernel"]
    told = checked([BARE_GCC.needed(), *options, "-T", "board.ld", "board.c"], tmp_path, run=board)
    assert told.count(" ok\n") == len(FUNCTIONS)
    taken = [line.split("\t")[:2] for line in (tmp_path / "check-pa10.su").read_text().splitlines()]
    print(told, *taken, sep="\n")
    assert sum(int(size) for _, size in taken) < 2500  # bytes of the stack, were all functions within each other


def recorded(text: str, name: str) -> np.ndarray:
    """A table of the test program."""
    found = re.search(rf"double {name}\[\d+\] = {{(.*?)}};", text, re.DOTALL)
    assert found
    words = found[1].replace("\n", " ").split(",")
    return np.array([float.fromhex(word) if "x" in word else float(word) for word in words])


def test_a_step_is_that_of_a_simulation(tmp_path):
    """What is recorded of a step by h, q, v, tau and the targets of drives."""
    drives = {"joint1": km.PositionDrive(kp=50.0, kd=2.0), "joint3": km.PositionDrive(kp=20.0)}
    robot = km.load("planar_3r").with_drives(drives)
    text = (robot.to_c(tmp_path / "c", ["step"]) / "test.c").read_text(encoding="utf-8")
    h, q, v, tau, target, rate, ahead, after, faster = (recorded(text, f"planar_3r_step_{k}") for k in range(9))
    simulation = km.Simulation(robot)
    inputs = {"target": target[:2], "target_velocity": rate[:2], "feed_forward": ahead[:2]}
    state = simulation.step(simulation.start(q[:3], v[:3]), tau=tau[:3], inputs=inputs)
    assert h[0] == simulation.step_size
    assert np.abs(state.q - after[:3]).max() < 1e-15
    assert np.abs(state.v - faster[:3]).max() < 1e-12


@pytest.mark.parametrize(
    ("functions", "options", "message"),
    [
        ("pose", {}, "'pose' needs a place, as in pose:hand"),
        ("invers_dynamics", {}, "there is no function 'invers_dynamics' for C"),
        ("mass_matrix:link7", {}, "'mass_matrix:link7' has no place"),
        ("mass_matrix", {"real": "half"}, "there is no type 'half'"),
        ([], {}, "no function is named"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, functions, options, message):
    with pytest.raises(InputError, match=message):
        km.load("pa10").to_c(tmp_path / "c", functions, **options)
    assert not (tmp_path / "c").exists()


def test_drives_with_states_are_refused(tmp_path):
    from kumitate.examples.gallery.excavator import excavator

    with pytest.raises(InputError, match=r"drives have states of their own.*a unit of FMI"):
        km.Robot(excavator()).to_c(tmp_path / "c", "step")
