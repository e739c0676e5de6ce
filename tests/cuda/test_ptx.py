"""PTX of six robots: NVIDIA's own assembler takes it for four generations of GPUs, and spills no more than is recorded.

The assembler comes with the extra test and needs no GPU; what runs on one is tested in `test_on_gpu.py`.
"""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest

import kumitate as km
from kumitate.compile.target import DOUBLE, SINGLE, Precision, gpu_target
from kumitate.cuda.ptx import StatePerThread, StepsPerThread, ptx
from kumitate.examples.gallery import cassie
from kumitate.scalar import call, cos, exp, loop, select, sin, sqrt, trace, when

GENERATIONS = ((8, 0), (9, 0), (10, 0), (12, 0))


def assembler() -> Path:
    try:
        found = [file for file in files("nvidia-cuda-nvcc") or () if file.name == "ptxas"]
    except PackageNotFoundError:
        found = []
    if not found:
        pytest.skip("there is no ptxas; run pip install nvidia-cuda-nvcc, or the extra test, on Linux with an x86-64 processor")
    return Path(str(found[0].locate()))


def assembled(text: str, capability: tuple[int, int], folder: Path) -> tuple[int, int]:
    """The registers, and the bytes of values spilled to memory, of the function that is launched."""
    (folder / "code.ptx").write_text(text, encoding="utf-8")
    arch = f"sm_{capability[0]}{capability[1]}"
    command = [assembler(), "-v", f"-arch={arch}", "-o", folder / "code.cubin", folder / "code.ptx"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr[:2000]
    (registers,) = re.findall(r"Used (\d+) registers", told.stderr)
    return int(registers), sum(int(size) for size in re.findall(r"(\d+) bytes spill stores", told.stderr))


def robot(name: str) -> km.Robot:
    if name == "cassie":
        return km.Robot(cassie.cassie())
    return km.load(name, floating_base=name in ("hyq", "g1", "talos"))


@pytest.mark.parametrize(
    ("name", "precision", "most", "capability"),
    [
        *(
            (*case, capability)
            for case in (("pa10", SINGLE, 0), ("pa10", DOUBLE, 0), ("panda", SINGLE, 0), ("hyq", SINGLE, 100))
            for capability in GENERATIONS
        ),
        *(  # long ones take the assembler seconds, whatever the generation: each is for one of them
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("g1", SINGLE, 4500, (8, 0)),
                ("cassie", SINGLE, 9000, (9, 0)),
                ("talos", SINGLE, 12000, (10, 0)),
                ("g1", SINGLE, 4500, (12, 0)),
            )
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Precision) else str(value),
)
@pytest.mark.filterwarnings("ignore::kumitate.errors.KumitateWarning")
def test_forward_dynamics_is_assembled(name, precision, most, capability, tmp_path):
    """The bounds are twice what was seen: assemblers differ."""
    program = robot(name).compile("forward_dynamics").program
    registers, spilled = assembled(ptx(StatePerThread(program), precision, gpu_target(capability)), capability, tmp_path)
    assert registers <= 255
    assert spilled <= most, f"{spilled} bytes are spilled, over {most}"


def test_single_precision_stays_single(tmp_path):
    """Doubles are slow on most GPUs; sine and cosine need none."""
    text = ptx(StatePerThread(km.load("pa10").compile("forward_dynamics").program), SINGLE, gpu_target((9, 0)))
    assert ".f64" not in text  # registers may be called %f64
    assert "call" not in text


def test_steps_with_controllers_and_stops_are_assembled(tmp_path):
    sim = km.Simulation(km.load("double_pendulum"), controller=lambda t, q, v: -10.0 * q - v)
    steps = sim.straight.recurrence
    assert steps.fillings
    for precision in (SINGLE, DOUBLE):
        text = ptx(StepsPerThread(steps.step, steps.fillings), precision, gpu_target((9, 0)))
        assert assembled(text, (9, 0), tmp_path)[0] <= 255


def test_loops_calls_and_branches_are_assembled(tmp_path):
    inner = trace(lambda x: [sin(x[0]) * x[1], sqrt(x[1])], {"x": 2}, "inner")

    def page(x):
        first, root = call(inner, x)
        (end,), kept = loop(12, lambda k, a: ((select(a[0] > 100.0, a[0], a[0] * a[0] + x[0]),), a[0]), (first,))
        return [end, root, kept[3], *when(x[0] > 0.0, lambda: [cos(x[1]), exp(x[0])], [0.0, 0.0])]

    program = trace(page, {"x": 2}, "page")
    for precision in (SINGLE, DOUBLE):
        assert assembled(ptx(StatePerThread(program), precision, gpu_target((8, 0))), (8, 0), tmp_path)[0] <= 255


@pytest.mark.parametrize(
    ("capability", "cpu"), [((8, 0), "sm_80"), ((8, 9), "sm_80"), ((9, 0), "sm_90"), ((10, 3), "sm_100"), ((12, 1), "sm_120")]
)
def test_code_is_for_the_last_generation_that_the_gpu_runs(capability, cpu):
    assert gpu_target(capability).cpu == cpu
