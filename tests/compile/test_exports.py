"""The other forms of a program (C, Python, CasADi, SymPy) compute what the reference and the kernel compute."""

from __future__ import annotations

import ctypes
import math
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import kumitate as km
from kumitate import scalar
from kumitate.compile import Kernel
from kumitate.compile.exports import to_c, to_casadi, to_sympy
from kumitate.errors import InputError
from kumitate.model import Body, Joint, Mechanism
from kumitate.programs import make_program
from kumitate.scalar import Hole, Program, trace
from kumitate.scalar.elementary import PORTABLE
from kumitate.spatial import pose

from ..robots import ROBOT_FILES
from ..tools import GCC
from .test_random_programs import INPUTS, SYMBOLS, run, steps

FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", "-shared", "-fPIC"]
EXPONENTS = scalar.table([0.3, -1.2, 0.7, 2.5, -0.4, 1.0 / 3.0])
LENGTH = 5


# --- programs ---------------------------------------------------------------------------------------------------------
def every_operation(x: Any, h: Any, m: Any) -> dict[str, Any]:
    """All operations; constants of all kinds; inputs that are results; a number, a matrix and an array of three axes."""
    a, b, c = x[0], x[1], x[2]
    holds = scalar.both(a < b, scalar.either(b <= c, ~(scalar.equal(a, c))))
    roots = scalar.sqrt(1.0 + a * a) + scalar.log(2.0 + scalar.absolute(b)) + scalar.exp(-a) / 3.0
    turns = scalar.sin(a) * scalar.cos(b) - scalar.arctan2(a, b) + scalar.tanh(c)
    ends = scalar.minimum(a, b) - scalar.maximum(b, -0.1) + scalar.select(holds, 1.0e-300 * c, -2.5e22 - h)
    rows = [[m[i][j] * (0.1 + h) for i in range(2)] for j in range(3)]
    return {"sum": roots + turns + ends, "x": [c, a, b], "m": rows, "cube": [rows, rows[::-1]], "none": []}


def carried_on(x: Any, m: Any) -> list[Any]:
    """A loop over tables, inputs by index and captured values, whose carried values swap; a second one reads its stack."""
    scale = scalar.sin(x[0])

    def body(i: Any, pair: list[Any]) -> tuple[list[Any], Any]:
        u, v = pair
        return [v, u * EXPONENTS[i] + x[i + 1] * scale], [u + i.value, v * m[1][i]]

    pair, kept = scalar.loop(LENGTH, body, [x[0], m[0][1]])

    def back(i: Any, total: Any) -> tuple[Any, Any]:
        return total * 0.5 + kept[LENGTH - 1 - i][0] * kept[i][1], None

    total, _ = scalar.loop(LENGTH, back, pair[0])
    return [*pair, total, kept[2][0], *m[0]]


def nested(x: Any) -> list[Any]:
    """A loop in a loop, which reads what a loop before it and the outer one kept."""
    _, squares = scalar.loop(LENGTH, lambda i, u: (u + x[i], x[i] * u), x[0])

    def outer(i: Any, u: Any) -> tuple[Any, Any]:
        inner, kept = scalar.loop(3, lambda j, w: (w * 0.5 + squares[j] + u, w), u + squares[i])
        return inner, kept[2] + x[i]

    last, rows = scalar.loop(LENGTH, outer, x[1])
    return [last, rows[0], rows[LENGTH - 1]]


def stopped(x: Any) -> list[Any]:
    """A loop that stops early, at a pass that depends on the input."""
    last, _ = scalar.loop(
        20,
        lambda i, pair: ([pair[0] * 0.5, pair[1] + 1.0], None),
        [10.0 * scalar.absolute(x[0]), 0.0],
        while_=lambda p: p[0] > 0.1,
    )
    return last


def calling(x: Any) -> list[Any]:
    """Programs that call programs, one of them in a loop; names that no language takes."""
    inner = trace(
        lambda q, h, m: {"y0": [q[1] + h * m[0][1], q[0]], "double": h * m[1][0]}, {"q": 2, "h": (), "m": (2, 2)}, "sin"
    )
    middle = trace(lambda q: scalar.call(inner, q, q[0], [[1.0, q[1]], [2.0, 3.0]])["y0"], {"t0": 2}, "for each")

    def body(i: Any, pair: Any) -> tuple[Any, Any]:
        return [0.3 * part for part in scalar.call(middle, pair)], None

    last, _ = scalar.loop(4, body, [x[0], x[1]])
    once = scalar.call(inner, last, x[2], [[x[0], x[1]], last])
    return [*once["y0"], once["double"], *scalar.call(middle, [x[1], x[0]])]


PROGRAMS: dict[str, Callable[[], Program]] = {
    "every operation": lambda: trace(every_operation, {"x": 3, "h": (), "m": (2, 3)}, "every-operation"),
    "loops": lambda: trace(carried_on, {"x": 6, "m": (2, 5)}, "loops"),
    "loops in loops": lambda: trace(nested, {"x": 5}, "nested"),
    "early stops": lambda: trace(stopped, {"x": 1}, "while"),
    "calls": lambda: trace(calling, {"x": 3}, "calls"),
    "no input": lambda: trace(lambda: [1.0, 2.5e-7], {}, "constants"),
    "empty input": lambda: trace(lambda q, v: [q[0]], {"q": 1, "v": 0}, "lambda"),
    "pendulum": lambda: make_program(km.load("pendulum").mechanism, "forward_dynamics"),
    "pa10": lambda: make_program(km.load("pa10").mechanism, "forward_dynamics"),
    "pa10 inertia": lambda: make_program(km.load("pa10").mechanism, "mass_matrix"),
    "rolled chain": lambda: rolled_chain(300),
}


def rolled_chain(links: int) -> Program:
    """Forward dynamics of a chain without symmetries, which is a loop over its links."""
    rng, bodies, joints = np.random.default_rng(3), [], []
    for k in range(links):
        inertia = np.diag(rng.uniform(0.02, 0.03, 3)) + 0.001 * np.ones((3, 3))
        bodies.append(Body(f"link{k}", rng.uniform(0.5, 1.5), rng.uniform(-0.1, 0.1, 3), inertia))
        place = pose(rng.uniform(-0.2, 0.2, 3), rng.uniform(-1.0, 1.0, 3))
        axis = rng.normal(size=3)
        parent = f"link{k - 1}" if k else "world"
        joints.append(Joint(f"joint{k}", "revolute", parent, f"link{k}", place, axis / np.linalg.norm(axis)))
    return make_program(Mechanism("chain", bodies, joints), "forward_dynamics")


def states(program: Program, number: int = 3) -> list[list[np.ndarray]]:
    rng = np.random.default_rng(17)
    return [[rng.uniform(-2.0, 2.0, array.shape) for array in program.inputs] for _ in range(number)]


def reference(program: Program, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs by the reference semantics."""
    flat = scalar.evaluate(program, [float(x) for array in arrays for x in array.ravel()])
    outputs, start = [], 0
    for array in program.outputs:
        outputs.append(np.array(flat[start : start + array.size]).reshape(array.shape))
        start += array.size
    return outputs


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Program:
    return PROGRAMS[request.param]()


# --- C ----------------------------------------------------------------------------------------------------------------
def compiled_c(program: Program, folder: Path, *flags: str, **options: Any) -> Callable[[list[np.ndarray]], list[np.ndarray]]:
    """The C form, with these options of it, as a function of arrays."""
    text = to_c(program, **options)
    source, library = folder / "program.c", folder / "program.so"
    source.write_text(text, encoding="utf-8")
    command = [GCC.needed(), *FLAGS, *flags, "-o", library, source, "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    line = next(line for line in text.splitlines() if line.startswith("void "))
    function = getattr(ctypes.CDLL(str(library)), line.split("(")[0].removeprefix("void "))
    function.restype = None

    def run(arrays: list[np.ndarray]) -> list[np.ndarray]:
        outputs = [np.full(array.shape, np.nan) for array in program.outputs]
        numbers = [array.shape == () for array in program.inputs]
        given = [ctypes.c_double(x) if one else ctypes.c_void_p(x.ctypes.data) for x, one in zip(arrays, numbers, strict=True)]
        function(*given, *(ctypes.c_void_p(array.ctypes.data) for array in outputs))
        return outputs

    return run


@pytest.mark.parametrize("name", ["every operation", "loops in loops", "pa10"])
def test_portable_c_has_the_bits_of_portable_kernels(name, tmp_path):
    """Functions of mathematics are plain operations in it, in lines and in loops."""
    program = PROGRAMS[name]()
    run, kernel = compiled_c(program, tmp_path, portable=True), Kernel(program, portable=True)
    for arrays in states(program):
        found = kernel(*arrays)
        for ours, theirs in zip(run(arrays), found if isinstance(found, list | tuple) else [found], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_c_of_several_programs_shares_what_they_call_and_fills_holes(tmp_path):
    """Two functions in one file, one of them with a hole that a third program fills; an empty hole is refused."""
    inner = trace(lambda x: [scalar.sin(x[0]) * x[1]], {"x": 2}, "inner")
    hole = Hole.of("law", inner.inputs, inner.outputs)
    one = trace(lambda x: [scalar.call(inner, x)[0] + 1.0], {"x": 2}, "one")
    other = trace(lambda x: [scalar.call(hole, x)[0] * 2.0], {"x": 2}, "other")
    text = to_c(one, other, fillings={"law": inner})
    assert text.count("static void inner(") == 1
    assert [line.split("(")[0] for line in text.splitlines() if line.startswith("void ")] == ["void one", "void other"]
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    subprocess.run([GCC.needed(), *FLAGS, "-o", tmp_path / "a.so", tmp_path / "a.c", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "a.so"))
    x, found = (ctypes.c_double * 2)(0.3, 2.0), ctypes.c_double()
    for name, expected in (("one", math.sin(0.3) * 2.0 + 1.0), ("other", math.sin(0.3) * 4.0)):
        getattr(library, name)(x, ctypes.byref(found))
        assert found.value == expected
    with pytest.raises(InputError, match="the hole 'law' is empty"):
        to_c(other)


def test_quick_c_turns_angles_within_its_bound(tmp_path):
    """Sines and cosines of inputs and of inputs moved by a number, far out and beside multiples of π/2; the rest is as ever."""
    multiples = 0.5 * np.pi * np.array([-3, -1, 1, 2, 3, 4, 5, 8, 4001, 600_001])
    x = np.array([*multiples, *np.nextafter(multiples, 1e9), *np.random.default_rng(3).uniform(-1e6, 1e6, 17), 0.0, 1e-300])
    program = trace(
        lambda x: {
            "s": [scalar.sin(a) for a in x],
            "c": [scalar.cos(a) for a in x],
            "further": [scalar.sin(a + 0.5) for a in x],
        },
        {"x": len(x)},
    )
    # -ffast-math itself would make this process lose small numbers
    for name, flags in {"plain": [], "fused": ["-ffp-contract=fast"], "fast": ["-D__FAST_MATH__"]}.items():
        (tmp_path / name).mkdir()
        sine, cosine, further = compiled_c(program, tmp_path / name, *flags, quick=True)([x])
        for ours, exact in ((sine, np.sin(x)), (cosine, np.cos(x)), (further, np.sin(x + 0.5))):
            assert np.abs(ours - exact).max() < 3e-16
    text = to_c(program, quick=True)
    assert "sin(" not in text.split("#endif")[-1]


def test_c_is_the_reference_bit_by_bit(program, tmp_path):
    run = compiled_c(program, tmp_path)
    for arrays in states(program):
        for ours, theirs in zip(run(arrays), reference(program, arrays), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "name", ["panda_description/urdf/panda.urdf", pytest.param("talos_data/robots/talos_reduced.urdf", marks=pytest.mark.slow)]
)
def test_c_gives_the_kernel_s_numbers_for_real_robots(name, tmp_path):
    robot = real_robot(name)
    kernel = robot.compile("forward_dynamics")
    q, v = robot.random_state(np.random.default_rng(5))
    run = compiled_c(kernel.program, tmp_path)
    arrays = [q, v, np.ones(robot.nv)]
    (ours,) = run(arrays)
    np.testing.assert_array_equal(ours, reference(kernel.program, arrays)[0])
    np.testing.assert_allclose(ours, kernel(*arrays), rtol=1e-9, atol=1e-9 * np.abs(ours).max())


def real_robot(name: str) -> km.Robot:
    """A robot of example-robot-data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return km.load(ROBOT_FILES / name, floating_base="talos" in name)


def test_c_s_outputs_may_lie_on_its_inputs(tmp_path):
    program = trace(lambda x, y: {"x": [x[2], x[0], y[0]], "y": [x[1]]}, {"x": 3, "y": 1}, "turn")
    compiled_c(program, tmp_path)
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, x, y)]
    ctypes.CDLL(str(tmp_path / "program.so")).turn(*pointers)
    assert (*x, *y) == (3.0, 1.0, 4.0, 2.0)


def test_c_says_what_it_is_and_writes_constants_exactly():
    text = to_c(trace(lambda x: [0.1 * x[0] + 2.5], {"x": 1}, "line */ of"))
    assert "line * / of: 2 operations (1 mul, 1 add)" in text
    assert "in   x: 1 number\n" in text
    assert f"{(0.1).hex()}*x[0]" in text
    assert "+ 2.5" in text


@given(recipe=steps(2), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, derandomize=True)
def test_c_of_random_programs(recipe, seed):
    program, values, expected = random_program(recipe, seed)
    with tempfile.TemporaryDirectory() as folder:
        # what gcc computes of constants it rounds better than the library
        (found,) = compiled_c(program, Path(folder), "-fno-builtin")([np.array(values)])
    assert np.array_equal(found, expected), program


def random_program(recipe: list, seed: int) -> tuple[Program, list[float], list[float]]:
    """A program of a recipe, an input for it, and what the reference gives."""
    values = np.random.default_rng(seed).uniform(-2.0, 2.0, INPUTS).tolist()
    program = trace(lambda x: run(recipe, [x[k] for k in range(INPUTS)], x, SYMBOLS), {"x": INPUTS}, "random")
    try:
        expected = scalar.evaluate(program, values)
    except (ArithmeticError, ValueError):  # Python's functions refuse infinity, C's do not
        reject()
    assume(np.isfinite(expected).all())
    return program, values, expected


# --- CasADi -----------------------------------------------------------------------------------------------------------
def test_casadi_gives_the_reference_s_numbers(program):
    casadi = pytest.importorskip("casadi")
    function = to_casadi(program)
    assert isinstance(function, casadi.Function)
    assert function.name_in() == [array.name for array in program.inputs]
    assert function.name_out() == [array.name for array in program.outputs]
    for arrays in states(program):
        rows = [folded(array) for array in arrays]
        found = function.call([casadi.DM(row) for row in rows])
        for ours, theirs in zip(found, reference(program, arrays), strict=True):
            np.testing.assert_allclose(np.array(ours).reshape(theirs.shape), theirs, rtol=1e-11, atol=1e-11)


def folded(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, array.shape[-1] if array.ndim > 1 else 1)


def test_casadi_s_derivative_is_ours():
    casadi = pytest.importorskip("casadi")
    robot = km.load("pa10")
    program = make_program(robot.mechanism, "forward_dynamics")
    function = to_casadi(program)
    q, v, dq = *robot.random_state(np.random.default_rng(2)), np.linspace(-1.0, 1.0, robot.nq)
    symbols = [casadi.SX.sym(name, 7) for name in ("q", "v", "tau")]
    slope = casadi.Function("slope", symbols, [casadi.jtimes(function(*symbols), symbols[0], dq)])
    tau, none = np.ones(7), np.zeros(7)
    _, ours = Kernel(scalar.directional(program))(q, v, tau, dq, none, none)
    np.testing.assert_allclose(ours, np.array(slope(q, v, tau)).ravel(), rtol=1e-9, atol=1e-9)


# --- SymPy ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["every operation", "loops", "loops in loops", "calls", "pendulum"])
def test_sympy_gives_the_reference_s_numbers(name):
    sympy = pytest.importorskip("sympy")
    program = PROGRAMS[name]()
    for arrays in states(program, 1):
        symbols = {array.name: array_of_symbols(sympy, array) for array in program.inputs}
        expressions = to_sympy(program, symbols)
        values = {
            symbol: sympy.Float(x)
            for array, given in zip(program.inputs, arrays, strict=True)
            for symbol, x in zip(np.ravel(symbols[array.name]), given.ravel(), strict=True)
        }
        for array, theirs in zip(program.outputs, reference(program, arrays), strict=True):
            found = expressions[array.name]
            flat = [found] if array.shape == () else list(sympy.flatten(found))
            ours = [float(one.subs(values)) for one in flat]
            np.testing.assert_allclose(ours, theirs.ravel(), rtol=1e-12, atol=1e-12)


def array_of_symbols(sympy: Any, array: scalar.Array) -> Any:
    flat = [sympy.Symbol(f"{array.name}{k}", real=True) for k in range(array.size)]
    return np.array(flat, dtype=object).reshape(array.shape).tolist()


def test_sympy_expressions_are_those_of_paper():
    sympy = pytest.importorskip("sympy")
    program = trace(lambda q, h: {"y": [scalar.sin(q[0]) ** 2 + 2.0 * h], "n": h}, {"q": 1, "h": ()}, "paper")
    angle, h = sympy.symbols("theta h", real=True)
    found = to_sympy(program, {"q": [angle]})
    assert found["y"] == sympy.Matrix([sympy.sin(angle) ** 2 + 2 * h])
    assert found["n"] == h


def test_sympy_refuses_what_it_cannot_do():
    pytest.importorskip("sympy")
    small = trace(lambda q: [q[0]], {"q": 2}, "small")
    with pytest.raises(InputError, match="no input 'p'"):
        to_sympy(small, {"p": [1]})
    with pytest.raises(InputError, match="3 symbols are given for the input 'q'"):
        to_sympy(small, {"q": [1, 2, 3]})
    with pytest.raises(InputError, match="stops early"):
        to_sympy(PROGRAMS["early stops"]())
    with pytest.raises(InputError, match="2000"):
        to_sympy(rolled_chain(300))


def test_names_that_no_language_takes_are_changed(tmp_path):
    program = trace(lambda a, b: {"wrench_left foot": [a[0] - b[0]], "t0": a[0]}, {"wrench_left foot": 1, "ß.1": 1}, "int")
    assert "void int_(const double *wrench_left_foot, const double *x__1, double *wrench_left_foot_, double *t0_)" in to_c(
        program
    )
    outputs = compiled_c(program, tmp_path)([np.array([3.0]), np.array([1.0])])
    assert [x.item() for x in outputs] == [2.0, 3.0]
    pytest.importorskip("casadi")
    assert to_casadi(program).name_in()[0] == "wrench_left_foot"


# --- access to the exports ----------------------------------------------------------------------------------------------
def test_a_missing_library_is_named_with_its_extra(monkeypatch):
    program = PROGRAMS["pendulum"]()
    for library, form, extra in (("casadi", to_casadi, "casadi"), ("sympy", to_sympy, "lagrange")):
        monkeypatch.setitem(__import__("sys").modules, library, None)
        with pytest.raises(InputError, match=rf"kumitate\[{extra}\]"):
            form(program)


def test_kernels_offer_all_forms():
    kernel = Kernel(PROGRAMS["pendulum"]())
    assert kernel.source("c") == to_c(kernel.program)
    with pytest.raises(InputError, match="the forms are program, llvm, c"):
        kernel.source("fortran")
    pytest.importorskip("sympy")
    assert kernel.to_sympy() == to_sympy(kernel.program)
    casadi = pytest.importorskip("casadi")
    assert isinstance(kernel.to_casadi(), casadi.Function)


@pytest.mark.parametrize("lanes", [1, 9])
def test_portable_kernels_have_the_bits_of_the_reference(lanes):
    """Nothing is fused, and sine and cosine are those of `scalar.elementary`."""
    program = make_program(km.load("pa10").mechanism, "forward_dynamics")
    rng = np.random.default_rng(11)
    arrays = [rng.normal(size=(lanes, array.size)) for array in program.inputs]
    found = Kernel(program, portable=True)(*arrays)
    for k in range(lanes):
        assert scalar.evaluate(program, [x for array in arrays for x in array[k]], PORTABLE) == found[k].tolist()
