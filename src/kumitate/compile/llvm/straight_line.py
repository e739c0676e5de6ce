"""Straight-line code: one instruction per node; inputs are loaded where they are first used.

**Sums** have the form that the machine computes fastest: a·b + c in one instruction, for as many products as there are. A
trace adds two terms at a time: x + (a·b + c·d) is a product, a fused product, and a sum. Flattened, it is two fused products.
The order of the terms is decided here, alike for every number of lanes, so that a state has the same bits alone and in a
batch.

**Sine and cosine** are written out: both at once, branch-free, for any number of lanes, within 2 ulp up to |x| = 10⁵.
Cody-Waite reduction by three parts of π/2 with fused products, so that little is lost near multiples of π/2; then the
polynomials of Sun's fdlibm (k_sin.c, k_cos.c: minimax on [−π/4, π/4]; the coefficients are theirs), chosen and signed by the
quadrant, which is read off the low bits of a sum with 1.5·2⁵². For one state, those of several joints are computed at once,
four in a vector, before anything else, and go through memory, where the scalar code that follows reads them. Vectors of eight
would be slower: processors that have them run at half their width meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...scalar import LoopBlock, Program, Symbol
from ...scalar.elementary import COSINE, SINE, SINE_FIRST, elementary
from ...scalar.operations import LIBRARY, TRACED
from ..target import DOUBLE, SINGLE, Precision
from .writer import Module, Writer, exact

#: A sum takes in what stands at most so many nodes before its use: until then its terms live, and registers are few.
WINDOW = 40
#: How many are computed at once, in 256 bits.
PACKED = 4
#: An angle: the node, the input that it is read from, and the number that is added to that.
Angle = tuple[Symbol, Symbol, float]

_TWO_OVER_PI = 0.6366197723675814


class _Series(NamedTuple):
    """The numbers for sine and cosine in a precision.

    Attributes:
        integer: the type of the bits of a number.
        sign: the place of the sign's bit, less one.
        round: adding it rounds to an integer and leaves that integer in the low bits.
        half_pi: parts of π/2; sine, cosine: the coefficients, of the highest power first.
    """

    integer: str
    sign: int
    round: float
    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


_SERIES = {
    DOUBLE: _Series(
        "i64", 62, 6755399441055744.0, (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
        (*SINE, SINE_FIRST), COSINE,
    ),
    # of a GPU's threads; the coefficients are those of k_sinf.c and k_cosf.c
    SINGLE: _Series(
        "i32", 30, 12582912.0, (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        (2.71831149398982190e-06, -1.98393348360966317e-04, 8.33332938588946318e-03, -1.66666666416265235596e-01),
        (2.43904487962774090654e-05, -1.38867637746099294692e-03, 4.16666233237390631894e-02),
    ),
}  # fmt: skip


class StraightLine(Writer):
    """Writes the lines of one function. Nodes that are not arithmetic are left to the methods `compute_…` of subclasses."""

    def __init__(self, module: Module):
        super().__init__(module)
        self.values: dict[Symbol, str] = {}
        self.deferred: set[Symbol] = set()  # computed where they are used, if at all
        self.trig: dict[Symbol, Sequence[str]] = {}
        self.packed: dict[Symbol, int] = {}  # where the sines of angles are in memory; the cosines stand behind
        self.turn_size = 0
        self.sums: dict[Symbol, list[Term]] = {}
        self.patterns = module.patterns

    def run_line(
        self, line: Sequence[Symbol], used: Mapping[Symbol, int], noted: Callable[[Symbol], None] | None = None
    ) -> None:
        """Computes the nodes of a line in order; `used`: how often each is, outside too; `noted`: as of `compute_line`."""
        self.look_ahead(line, used)
        self.compute_line(line, noted)

    def look_ahead(self, line: Sequence[Symbol], used: Mapping[Symbol, int]) -> None:
        """Finds the sums of a line; for one state, computes angles that are known before it runs."""
        if not self.module.portable:
            if self.module.packs:
                self.pack_turns(line)
            sums, taken = fused_sums(line, used)
            self.sums |= sums
            self.deferred |= taken

    def compute_line(self, line: Sequence[Symbol], noted: Callable[[Symbol], None] | None = None) -> None:
        """Computes the nodes of a line that was looked ahead at; `noted` is called with every node whose value is new."""
        for node in line:
            # what is only read, not computed, is loaded where it is first used
            if node not in self.deferred and node.op not in ("const", "input", "carried", "counter", "capture"):
                self.value(node)
                if noted is not None:
                    noted(node)

    def value(self, node: Symbol) -> str:
        """The name of a node's value, which is computed here if it is not known yet."""
        found = self.values.get(node)
        if found is None:
            found = self.values[node] = self.compute(node)
        return found

    def compute(self, node: Symbol) -> str:
        """Writes what computes a node."""
        op = node.op
        if node in self.sums:
            return self.sum(self.sums[node])
        pattern = self.patterns.get(op)
        if pattern is not None:
            return self.line(pattern.format(*[self.value(x) for x in node.args]))
        if op in ("sin", "cos"):
            return self.turn(node)
        if op in LIBRARY:
            portable = self.module.portable
            return self.own(elementary(op)[0], [self.value(x) for x in node.args])[0] if portable else self.foreign(node)
        name: str = getattr(self, f"compute_{op}")(node)
        return name

    def compute_const(self, node: Symbol) -> str:
        return self.module.constant(node.payload)

    def sum(self, terms: Sequence[Term]) -> str:
        """A sum, term by term, with products fused into it; signs cost nothing, as they are turned in operands."""
        real = self.module.real
        negative, factors = terms[0]
        total = self.value(factors[0]) if len(factors) == 1 else self.line(f"fmul {real} {', '.join(map(self.value, factors))}")
        for term in terms[1:]:
            turned = term.negative != negative
            if len(term.factors) == 2:
                total = self.fused(term.factors, total, minus_product=turned and not negative, minus_total=turned and negative)
            else:
                value = self.value(term.factors[0])
                pair = f"{value}, {total}" if turned and negative else f"{total}, {value}"
                total = self.line(f"{'fsub' if turned else 'fadd'} {real} {pair}")
            negative = negative and not turned
        return total

    def fused(self, factors: Sequence[Symbol], total: str, *, minus_product: bool, minus_total: bool) -> str:
        """±a·b ± total, rounded once where the processor can, at every number of lanes."""
        module = self.module
        real, name = module.real, f"llvm.fmuladd.{module.suffix}"
        first, second = (self.value(factor) for factor in factors)
        if minus_product:  # a constant is the first factor: turned round, it would be stored a second time
            second = self.line(f"fneg {real} {second}")
        if minus_total:
            total = self.line(f"fneg {real} {total}")
        return self.line(f"call {real} @{name}({real} {first}, {real} {second}, {real} {total})")

    def turn(self, node: Symbol) -> str:
        """Sine or cosine: both are computed at once."""
        (x,) = node.args
        if x in self.packed:
            return self.load_block("%turns", self.packed[x] + (PACKED if node.op == "cos" else 0))
        if x not in self.trig:
            self.trig[x] = self.sincos(self.value(x), self.module.lanes)
        return self.trig[x][node.op == "cos"]

    def pack_turns(self, line: Sequence[Symbol]) -> None:
        """Computes the sines and cosines of angles that are inputs, several at a time, and leaves them in `%turns`."""
        module = self.module
        vector = module.vector(module.element, PACKED)
        for group in packed_angles(line):
            filled = [*group, *[group[0]] * (PACKED - len(group))]
            x = self.gathered([self.value(read) for _, read, _ in filled], vector)
            offsets = ", ".join(f"{module.element} {module.number(offset)}" for _, _, offset in filled)
            x = self.line(f"fadd {vector} {x}, <{offsets}>")
            for k, found in enumerate(self.sincos(x, PACKED)):
                address = self.slot("%turns", self.turn_size + k * PACKED)
                self.effect(f"store {vector} {found}, ptr {address}, align {PACKED * module.precision.bytes}")
            self.packed |= {angle: self.turn_size + k for k, (angle, _, _) in enumerate(group)}
            self.turn_size += 2 * PACKED

    def sincos(self, x: str, lanes: int) -> Sequence[str]:
        """Sine and cosine of so many numbers at once; of single precision by way of double, save in a GPU's threads."""
        module = self.module
        if module.portable:
            return self.own(elementary("sin")[0], [x])
        if module.threads:
            return emit_sincos(x, lanes, self.line, module.precision)
        real, wide = module.vector(module.element, lanes), module.vector("double", lanes)
        if real != wide:
            x = self.line(f"fpext {real} {x} to {wide}")
        sine, cosine = emit_sincos(x, lanes, self.line)
        if real != wide:
            sine, cosine = (self.line(f"fptrunc {wide} {y} to {real}") for y in (sine, cosine))
        return sine, cosine

    def own(self, program: Program, arguments: Sequence[str]) -> list[str]:
        """All that a program of `scalar.elementary` gives, in double precision."""
        module, real = self.module, self.module.real
        wide = module.vector("double")
        if real != wide:
            arguments = [self.line(f"fpext {real} {x} to {wide}") for x in arguments]
        returned = f"{{ {', '.join([wide] * len(program.results))} }}"
        listed = ", ".join(f"{wide} {x}" for x in arguments)
        found = self.line(f"call {returned} {elementary_function(module, program, wide, returned)}({listed})")
        values = [self.line(f"extractvalue {returned} {found}, {k}") for k in range(len(program.results))]
        return [self.line(f"fptrunc {wide} {x} to {real}") for x in values] if real != wide else values

    def foreign(self, node: Symbol) -> str:
        """A function of the C library, lane by lane, in double precision."""
        module = self.module
        arguments = [self.value(x) for x in node.args]
        if module.lanes == 1:
            return self.called(node.op, arguments)
        value = "poison"
        for lane in range(module.lanes):
            result = self.called(node.op, [self.line(f"extractelement {module.real} {a}, i32 {lane}") for a in arguments])
            value = self.line(f"insertelement {module.real} {value}, {module.element} {result}, i32 {lane}")
        return value

    def called(self, name: str, arguments: Sequence[str]) -> str:
        """One value of a function of the C library."""
        element = self.module.element
        if element != "double":
            arguments = [self.line(f"fpext {element} {a} to double") for a in arguments]
        result = self.line(TRACED[name].llvm.format(*arguments))
        return result if element == "double" else self.line(f"fptrunc double {result} to {element}")


def elementary_function(module: Module, program: Program, real: str, results: str) -> str:
    """The name of the function of an elementary program on numbers of a type, written into the module if it is not yet."""

    def written(program: Program, name: str) -> str:
        writer = StraightLine(Module(module.lanes, DOUBLE, portable=True))
        parameters = [f"%x{k}" for k in range(len(program.inputs))]
        places = {array.name: name for array, name in zip(program.inputs, parameters, strict=True)}
        writer.values = {node: places[node.payload[0]] for node in program.line if node.op == "input"}
        writer.compute_line(program.line)
        returned = "poison"
        for k, node in enumerate(program.results):
            returned = writer.line(f"insertvalue {results} {returned}, {real} {writer.value(node)}, {k}")
        writer.effect(f"ret {results} {returned}")
        listed = ", ".join(f"{real} {name}" for name in parameters)
        return writer.framed(f"define internal {results} {name}({listed}) noinline #0")

    return module.callee(program, written)


# --- sums -----------------------------------------------------------------------------------------------------------------
class Term(NamedTuple):
    """One term of a sum: a value or the product of two, and whether it is subtracted."""

    negative: bool
    factors: tuple[Symbol, ...]


def uses(line: Sequence[Symbol], further: Iterable[Symbol]) -> Counter[Symbol]:
    """How often each node of a line is used: in the line, and by what is listed as `further`."""
    found = Counter(further)
    for node in line:
        found.update(node.args)
    return found


def uses_of_pass(block: LoopBlock) -> Counter[Symbol]:
    """How often each node of a loop's line is used in a pass."""
    return uses(block.line, [s for s in (*block.following, *block.stacked, block.condition) if s is not None])


def fused_sums(line: Sequence[Symbol], used: Mapping[Symbol, int]) -> tuple[dict[Symbol, list[Term]], set[Symbol]]:
    """The sums of a line by the node that each ends in, and the nodes that are computed in no other way than within them.

    Terms come in the order in which they are known, behind one that is not a product, if there is one.
    """
    place = {node: k for k, node in enumerate(line)}
    taken: set[Symbol] = set()
    sums: dict[Symbol, list[Term]] = {}
    for node in reversed(line):  # a sum before those that it may take in
        if node.op in ("add", "sub") and node not in taken:
            terms = _terms(node, place, used, taken)
            terms.sort(key=lambda term: max(place.get(factor, -1) for factor in term.factors))
            first = next((k for k, term in enumerate(terms) if len(term.factors) == 1), 0)
            sums[node] = [terms[first], *terms[:first], *terms[first + 1 :]]
    return sums, taken


def _terms(root: Symbol, place: Mapping[Symbol, int], used: Mapping[Symbol, int], taken: set[Symbol]) -> list[Term]:
    """The terms of a sum; what it takes in is added to `taken`."""
    terms: list[Term] = []
    waiting = [(root, False, root)]
    while waiting:
        node, negative, user = waiting.pop()
        if node is not root:
            alone = used[node] == 1 and node in place and place[user] - place[node] <= WINDOW
            if not alone or node.op not in ("add", "sub", "mul"):
                terms.append(Term(negative, (node,)))
                continue
            taken.add(node)
            if node.op == "mul":
                terms.append(Term(negative, node.args))
                continue
        first, second = node.args
        waiting += [(second, negative != (node.op == "sub"), node), (first, negative, node)]
    return terms


# --- sine and cosine ------------------------------------------------------------------------------------------------------
def emit_sincos(x: str, lanes: int, line: Callable[[str], str], precision: Precision = DOUBLE) -> tuple[str, str]:
    """Writes sine and cosine of `x`, a number on each of `lanes` lanes, by `line`, which names the value of an instruction."""
    series, element = _SERIES[precision], precision.name
    real, integer, condition = (kind if lanes == 1 else f"<{lanes} x {kind}>" for kind in (element, series.integer, "i1"))
    suffix = precision.suffix if lanes == 1 else f"v{lanes}{precision.suffix}"

    def constant(value: float) -> str:
        number = exact(float(precision.dtype.type(value)))
        return number if lanes == 1 else f"splat ({element} {number})"

    def whole(value: int) -> str:
        return str(value) if lanes == 1 else f"splat ({series.integer} {value})"

    def fma(a: str, b: str, c: str) -> str:
        return line(f"call {real} @llvm.fma.{suffix}({real} {a}, {real} {b}, {real} {c})")

    def binary(op: str, a: str, b: str) -> str:
        return line(f"{op} {real} {a}, {b}")

    def bits(op: str, a: str, b: str) -> str:
        return line(f"{op} {integer} {a}, {b}")

    shifted = fma(x, constant(_TWO_OVER_PI), constant(series.round))
    turns = binary("fsub", shifted, constant(series.round))
    back = line(f"fneg {real} {turns}")
    r = x
    for part in series.half_pi:
        r = fma(back, constant(part), r)
    z = binary("fmul", r, r)

    s = constant(series.sine[0])
    for coefficient in series.sine[1:]:
        s = fma(s, z, constant(coefficient))
    s = fma(binary("fmul", s, z), r, r)

    c = constant(series.cosine[0])
    for coefficient in series.cosine[1:]:
        c = fma(c, z, constant(coefficient))
    half = binary("fmul", z, constant(0.5))
    w = binary("fsub", constant(1.0), half)
    lost = binary("fsub", binary("fsub", constant(1.0), w), half)  # what rounding 1 − z/2 dropped
    c = binary("fadd", w, fma(binary("fmul", z, z), c, lost))

    quadrant = line(f"bitcast {real} {shifted} to {integer}")
    odd = line(f"icmp ne {integer} {bits('and', quadrant, whole(1))}, {whole(0)}")

    def signed(swapped: str, straight: str, sign_bits: str) -> str:
        chosen = line(f"select {condition} {odd}, {real} {swapped}, {real} {straight}")
        sign = bits("shl", bits("and", sign_bits, whole(2)), whole(series.sign))
        return line(f"bitcast {integer} {bits('xor', line(f'bitcast {real} {chosen} to {integer}'), sign)} to {real}")

    return signed(c, s, quadrant), signed(s, c, bits("add", quadrant, whole(1)))


def packed_angles(line: Sequence[Symbol]) -> list[list[Angle]]:
    """The arguments of sines and cosines that are known before the line runs, in groups of two to `PACKED`."""
    angles = known_angles(line)
    groups = [angles[k : k + PACKED] for k in range(0, len(angles), PACKED)]
    return [group for group in groups if len(group) > 1]


def known_angles(line: Sequence[Symbol]) -> list[Angle]:
    """The arguments of sines and cosines that are known before the line runs."""
    turned = dict.fromkeys(node.args[0] for node in line if node.op in ("sin", "cos"))
    return [angle for angle in map(_read, turned) if angle is not None]


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
