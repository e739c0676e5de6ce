"""Sine, cosine, exponential, logarithm, hyperbolic tangent and arc tangent from operations that every processor rounds alike.

Libraries of mathematics differ in the last bits. Code that must give the same bits everywhere, portable machine code and
WebAssembly, calls these programs instead, within 2 ulp of the truth: sine and cosine up to |x| = 10⁶, the others everywhere.
They do not branch and work on no bits of numbers. Coefficients are those of Sun's fdlibm (k_sin.c, k_cos.c, e_exp.c, e_log.c,
s_atan.c) and of Moshier's Cephes (tanh.c).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from .blocks import Program
from .evaluate import evaluate
from .operations import FLOAT
from .rules import absolute, both, either, equal, maximum, minimum, select
from .tracing import trace

_ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to an integer
_HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624871116645580e-21, 8.47842766036889956997e-32)
_PI, _PI_LOW = math.pi, 1.2246467991473531772e-16
LN2, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10

SINE = (
    1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
)  # fmt: skip
SINE_FIRST = -1.66666666666666324348e-01
COSINE = (
    -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
    -1.38888888888741095749e-03, 4.16666666666666019037e-02,
)  # fmt: skip
_EXPONENTIAL = (
    4.13813679705723846039e-08, -1.65339022054652515390e-06, 6.61375632143793436117e-05, -2.77777777770155933842e-03,
    1.66666666666666019037e-01,
)  # fmt: skip
LOGARITHM = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
    2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
)  # fmt: skip
_TANGENT = (-9.64399179425052238628e-01, -9.92877231001918586564e01, -1.61468768441708447952e03)
_TANGENT_BELOW = (1.0, 1.12811678491632931402e02, 2.23548839060100448583e03, 4.84406305325125486048e03)
ARC = (
    1.62858201153657823623e-02, -3.65315727442169155270e-02, 4.97687799461593236017e-02, -5.83357013379057348645e-02,
    6.66107313738753120669e-02, -7.69187620504482999495e-02, 9.09088713343650656196e-02, -1.11111104054623557880e-01,
    1.42857142725034663711e-01, -1.99999999998764832476e-01, 3.33333333333329318027e-01,
)  # fmt: skip
# the arc tangents of 1/2 and 1, with what is lost by rounding them
_ARC_HALF = (4.63647609000806093515e-01, 2.26987774529616870924e-17)
_ARC_ONE = (7.85398163397448278999e-01, 3.06161699786838301793e-17)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """By Horner's rule, the coefficient of the highest power first."""
    total: Any = coefficients[0]
    for coefficient in coefficients[1:]:
        total = total * x + coefficient
    return total


def _rounded(x: Any) -> Any:
    """The nearest integer."""
    return (x + _ROUND) - _ROUND


def sincos(x: Any) -> list[Any]:
    """Sine and cosine."""
    turns = _rounded(x * (2.0 / math.pi))
    # Cody and Waite: the first three parts of π/2 have 33 bits, so that products with them are exact
    rest, lost = x - turns * _HALF_PI[0], 0.0
    for part in _HALF_PI[1:3]:
        product = turns * part
        less = rest - product
        lost, rest = lost + ((rest - less) - product), less
    lost = lost - turns * _HALF_PI[3]
    r = rest + lost
    tail = (rest - r) + lost
    z = r * r
    cube, half = z * r, 0.5 * z
    sine = r - ((z * (0.5 * tail - cube * _polynomial(z, SINE)) - tail) - cube * SINE_FIRST)
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + (z * (z * _polynomial(z, COSINE)) - r * tail))
    quarter = turns - 4.0 * _rounded(0.25 * turns)  # −2 … 2
    odd, opposite = equal(absolute(quarter), 1.0), equal(absolute(quarter), 2.0)
    sine, cosine = select(odd, cosine, sine), select(odd, sine, cosine)
    return [
        select(either(quarter < 0.0, opposite), -sine, sine),
        select(either(equal(quarter, 1.0), opposite), -cosine, cosine),
    ]


def exponential(x: Any) -> Any:
    """e to the power x."""
    x = minimum(maximum(x, -746.0), 710.0)  # beyond, 0 and infinity
    power = _rounded(x * (1.0 / math.log(2.0)))
    high, low = x - power * LN2, power * LN2_LOW
    r = high - low
    square = r * r
    c = r - square * _polynomial(square, _EXPONENTIAL)
    value = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    # times 2 to the power: the binary digits of that from above, their factors from below, so that only the last one rounds
    rest, factors = absolute(power), []
    for size in (512, *(2**k for k in range(9, -1, -1))):
        holds = rest >= float(size)
        rest = select(holds, rest - float(size), rest)
        factors.append(select(holds, select(power < 0.0, 2.0**-size, 2.0**size), 1.0))
    for factor in reversed(factors):
        value = value * factor
    return value


def logarithm(x: Any) -> Any:
    """The natural logarithm; minus infinity at 0, and no number below."""
    m, power = x, 0.0
    for bound, size in ((2.0**-511, 563), (1.0, 511)):
        holds = m < bound
        m, power = select(holds, m * 2.0**size, m), select(holds, power - float(size), power)
    for size in (2**k for k in range(9, -1, -1)):
        holds = m >= 2.0**size
        m, power = select(holds, m * 2.0**-size, m), select(holds, power + float(size), power)
    holds = m > math.sqrt(2.0)
    m, power = select(holds, 0.5 * m, m), select(holds, power + 1.0, power)
    f = m - 1.0
    s = f / (2.0 + f)
    z, half = s * s, 0.5 * (f * f)
    value = power * LN2 - ((half - (s * (half + z * _polynomial(z, LOGARITHM)) + power * LN2_LOW)) - f)
    beyond = select(equal(x, 0.0), -math.inf, select(x < 0.0, math.nan, x))
    return select(both(x > 0.0, x < math.inf), value, beyond)


def hyperbolic_tangent(x: Any) -> Any:
    """The hyperbolic tangent."""
    size, square = absolute(x), x * x
    small = x + x * (square * (_polynomial(square, _TANGENT) / _polynomial(square, _TANGENT_BELOW)))
    large = 1.0 - 2.0 / (exponential(2.0 * size) + 1.0)
    return select(size < 0.625, small, select(x < 0.0, -large, large))


def arc_tangent(y: Any, x: Any) -> Any:
    """The angle of the point (x, y); π for y = 0 and x < 0, whatever the sign of that zero."""
    along, aside = absolute(x), absolute(y)
    less, more = minimum(along, aside), maximum(along, aside)
    t = select(both(equal(less, more), more > 0.0), 1.0, less / select(more > 0.0, more, 1.0))  # 0 … 1
    # atan t = atan c + atan((t − c)/(1 + c t)), for c = 0, 1/2, 1
    low, middle = t < 0.4375, t < 0.6875
    u = select(low, t, select(middle, 2.0 * t - 1.0, t - 1.0) / select(middle, 2.0 + t, t + 1.0))
    z = u * u
    curved = u * (z * _polynomial(z, ARC))
    high, lost = (select(low, 0.0, select(middle, half, one)) for half, one in zip(_ARC_HALF, _ARC_ONE, strict=True))
    angle = high - ((curved - lost) - u)
    # the octant: π/2 ∓ the angle, π − the angle, or the angle itself
    steep, behind = aside > along, x < 0.0
    base = select(steep, 0.5 * _PI, select(behind, _PI, 0.0))
    base_low = select(steep, 0.5 * _PI_LOW, select(behind, _PI_LOW, 0.0))
    turned = select(equal(select(steep, 1.0, 0.0), select(behind, 1.0, 0.0)), angle, -angle)
    angle = select(either(steep, behind), base + (turned + base_low), angle)
    return select(y < 0.0, -angle, angle)


#: The operations that these programs are for: the page, its inputs, and which of its results it is.
_PAGES = {
    "sin": (sincos, "x", 0),
    "cos": (sincos, "x", 1),
    "exp": (exponential, "x", 0),
    "log": (logarithm, "x", 0),
    "tanh": (hyperbolic_tangent, "x", 0),
    "atan2": (arc_tangent, "yx", 0),
}


@cache
def _program(page: Any, inputs: str) -> Program:
    return trace(page, dict.fromkeys(inputs, ()), page.__name__)


def elementary(operation: str) -> tuple[Program, int]:
    """The program of an operation, and which of its results is wanted."""
    page, inputs, result = _PAGES[operation]
    return _program(page, inputs), result


def _on_floats(operation: str, *given: float) -> float:
    program, result = elementary(operation)
    return evaluate(program, given)[result]


#: What the traced operations mean on plain numbers in portable code.
PORTABLE = FLOAT | {operation: partial(_on_floats, operation) for operation in _PAGES}
