"""Sine and cosine as LLVM text: both at once, branch-free, for any number of lanes, within 2 ulp up to |x| = 10⁵.

Cody-Waite reduction by three parts of π/2 with fused products, so that little is lost near multiples of π/2; then
the polynomials of Sun's fdlibm (k_sin.c, k_cos.c: minimax on [−π/4, π/4]; the coefficients are theirs), chosen and signed
by the quadrant, which is read off the low bits of a sum with 1.5·2⁵².

For one state, those of several joints are computed at once, four in a vector, before anything else, and go through memory,
where the scalar code that follows reads them. Vectors of eight would be slower: processors that have them run at half their
width meanwhile.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ...scalar import Symbol

__all__ = ["PACKED", "emit_sincos", "packed_angles"]

#: How many are computed at once, in 256 bits.
PACKED = 4
#: An angle: the node, the input that it is read from, and the number that is added to that.
Angle = tuple[Symbol, Symbol, float]

_TWO_OVER_PI = 0.6366197723675814
_ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to an integer and leaves that integer in the low bits
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_SIN = (
    1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
    8.33333333332248946124e-03, -1.66666666666666324348e-01,
)  # fmt: skip
_COS = (
    -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
    -1.38888888888741095749e-03, 4.16666666666666019037e-02,
)  # fmt: skip


def emit_sincos(x: str, lanes: int, line: Callable[[str], str]) -> tuple[str, str]:
    """Writes the code for sin and cos of the value `x` (a double on each of `lanes` lanes); returns the names of the two.

    `line` writes one instruction and returns the name of its value.
    """
    real, integer, condition = (kind if lanes == 1 else f"<{lanes} x {kind}>" for kind in ("double", "i64", "i1"))
    suffix = "f64" if lanes == 1 else f"v{lanes}f64"

    def constant(value: float) -> str:
        exact = f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        return exact if lanes == 1 else f"splat (double {exact})"

    def whole(value: int) -> str:
        return str(value) if lanes == 1 else f"splat (i64 {value})"

    def fma(a: str, b: str, c: str) -> str:
        return line(f"call {real} @llvm.fma.{suffix}({real} {a}, {real} {b}, {real} {c})")

    def binary(op: str, a: str, b: str) -> str:
        return line(f"{op} {real} {a}, {b}")

    def bits(op: str, a: str, b: str) -> str:
        return line(f"{op} {integer} {a}, {b}")

    shifted = fma(x, constant(_TWO_OVER_PI), constant(_ROUND))
    turns = binary("fsub", shifted, constant(_ROUND))
    back = line(f"fneg {real} {turns}")
    r = x
    for part in _HALF_PI:
        r = fma(back, constant(part), r)
    z = binary("fmul", r, r)

    s = constant(_SIN[0])
    for coefficient in _SIN[1:]:
        s = fma(s, z, constant(coefficient))
    s = fma(binary("fmul", s, z), r, r)

    c = constant(_COS[0])
    for coefficient in _COS[1:]:
        c = fma(c, z, constant(coefficient))
    half = binary("fmul", z, constant(0.5))
    w = binary("fsub", constant(1.0), half)
    lost = binary("fsub", binary("fsub", constant(1.0), w), half)  # what rounding 1 − z/2 dropped
    c = binary("fadd", w, fma(binary("fmul", z, z), c, lost))

    quadrant = line(f"bitcast {real} {shifted} to {integer}")
    odd = line(f"icmp ne {integer} {bits('and', quadrant, whole(1))}, {whole(0)}")

    def signed(swapped: str, straight: str, sign_bits: str) -> str:
        chosen = line(f"select {condition} {odd}, {real} {swapped}, {real} {straight}")
        sign = bits("shl", bits("and", sign_bits, whole(2)), whole(62))
        return line(f"bitcast {integer} {bits('xor', line(f'bitcast {real} {chosen} to {integer}'), sign)} to {real}")

    return signed(c, s, quadrant), signed(s, c, bits("add", quadrant, whole(1)))


def packed_angles(line: Sequence[Symbol]) -> list[list[Angle]]:
    """The arguments of sines and cosines that are known before the line runs, in groups of two to `PACKED`."""
    found: dict[Symbol, Angle] = {}
    for node in line:
        if node.op in ("sin", "cos") and node.args[0] not in found:
            angle = _read(node.args[0])
            if angle is not None:
                found[angle[0]] = angle
    angles = list(found.values())
    groups = [angles[k : k + PACKED] for k in range(0, len(angles), PACKED)]
    return [group for group in groups if len(group) > 1]


def _read(node: Symbol) -> Angle | None:
    """An input, or an input and a number."""
    if node.op == "input":
        return node, node, -0.0  # which changes no number, zeros included
    if node.op not in ("add", "sub"):
        return None
    first, second = node.args
    if first.op == "input" and second.op == "const":
        return node, first, second.payload if node.op == "add" else -second.payload
    return (node, second, first.payload) if node.op == "add" and first.op == "const" and second.op == "input" else None
