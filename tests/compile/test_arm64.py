"""Code for 64-bit ARM: emitted on any machine, run where a cross compiler and an emulator are installed."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import ARM64
from kumitate.compile.engine import assembly
from kumitate.compile.llvm import HostBatch, write_module

from ..tools import ARM_EMULATOR, ARM_GCC

EM_AARCH64 = 183


@pytest.fixture(scope="module")
def kernel():
    return km.load("pa10").compile("forward_dynamics")


@pytest.mark.parametrize("lanes", [1, 2])
def test_the_object_file_is_for_arm(kernel, lanes):
    image = kernel.object_code(ARM64, lanes=lanes)
    assert image[:4] == b"\x7fELF"
    assert struct.unpack_from("<H", image, 18)[0] == EM_AARCH64


def test_two_lanes_are_vector_instructions(kernel):
    text = assembly(write_module(HostBatch(kernel.program), 2), ARM64)
    vectors = text.count(".2d")
    assert vectors > kernel.operations / 2


@pytest.mark.parametrize("lanes", [1, 2])
def test_arm_code_gives_the_same_numbers(kernel, lanes, tmp_path: Path):
    gcc, emulator = ARM_GCC.needed(), ARM_EMULATOR.needed()
    n, nv = 5, 7  # a tail behind whole blocks
    rng = np.random.default_rng(4)
    states = [rng.normal(size=(n, nv)) for _ in range(3)]
    (tmp_path / "kernel.o").write_bytes(kernel.object_code(ARM64, lanes=lanes))
    arrays = "".join(
        f"static const double {name}[] = {{{', '.join(float(x).hex() for x in array.ravel())}}};\n"
        for name, array in zip("qvt", states, strict=True)
    )
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <stdint.h>\n"
        "void kernel(int64_t, const double *, const double *, const double *, double *);\n"
        f"{arrays}static double out[{n * nv}];\n"
        f'int main(void) {{ kernel({n}, q, v, t, out); for (int i = 0; i < {n * nv}; i++) printf("%a\\n", out[i]); }}\n'
    )
    subprocess.run([gcc, "-static", "main.c", "kernel.o", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([emulator, "./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    there = np.array([float.fromhex(line) for line in printed.split()]).reshape(n, nv)
    assert np.abs(there - kernel(*states)).max() <= 1e-14 * np.abs(there).max()
