"""Procedures of all sorts, each with random arguments to run it on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kumitate import scalar
from kumitate.procedure import (
    Floats,
    Ints,
    LocatedProgram,
    Shaped,
    ShapedInts,
    apply,
    apply_at,
    at,
    local,
    local_ints,
    over,
    procedure,
)
from kumitate.procedure.called import Procedure

GOLDEN = 0.6180339887498949
CORNERS = ((-1.0, -1.0), (1.0, -0.75), (1.0, 0.5), (-1.5, 1.0))
PRIMES = np.array([2, 3, 5, 7, 11, 13])


@procedure
def insertion_sort(x: Floats, order: Ints) -> None:
    for i in range(len(order)):
        order[i] = i
    for i in range(1, len(order)):
        k = order[i]
        at = i
        while at > 0 and x[order[at - 1]] > x[k]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@procedure
def sort_again(x: Floats, order: Ints) -> None:
    """Hands its arguments on, and reads nothing of them."""
    insertion_sort(x, order)


@procedure
def quick_sort(x: Floats) -> int:
    """With a stack of its own; the number of exchanges."""
    stack = local_ints(64, 2)
    top = 0
    stack[0, 0], stack[0, 1] = 0, len(x)
    exchanges = 0
    while top >= 0:
        begin, end = stack[top, 0], stack[top, 1]
        top -= 1
        if end - begin < 2:
            continue
        pivot = x[(begin + end) // 2]
        i, j = begin, end - 1
        while True:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i >= j:
                break
            x[i], x[j] = x[j], x[i]
            exchanges += 1
            i += 1
            j -= 1
        # the longer half waits, so that the stack stays short
        low = (begin, i)
        high = (i, end)
        if i - begin > end - i:
            stack[top + 1, 0], stack[top + 1, 1] = low
            stack[top + 2, 0], stack[top + 2, 1] = high
        else:
            stack[top + 1, 0], stack[top + 1, 1] = high
            stack[top + 2, 0], stack[top + 2, 1] = low
        top += 2
    return exchanges


@procedure
def root(parent: Ints, k: int) -> int:
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@procedure
def islands(pairs: Ints[2], parent: Ints, island: Ints) -> int:
    """Union by the smaller root, then numbers from 0 on."""
    for k in range(len(parent)):
        parent[k] = k
    for pair in range(len(pairs)):
        a, b = root(parent, pairs[pair, 0]), root(parent, pairs[pair, 1])
        if a != b:
            parent[max(a, b)] = min(a, b)
    count = 0
    for k in range(len(parent)):
        top = root(parent, k)
        if top == k:
            island[k] = count
            count += 1
        else:
            island[k] = island[top]
    return count


@procedure
def sieve(prime: Ints) -> int:
    n = len(prime)
    for k in range(n):
        prime[k] = k > 1
    count = 0
    for k in range(n):
        if not prime[k]:
            continue
        count += 1
        for multiple in range(k * k, n, 7):  # a constant step that some multiples of k are on
            if multiple % k == 0:
                prime[multiple] = 0
        multiple = k * k
        while multiple < n:
            prime[multiple] = 0
            multiple += k
    return count


@procedure
def along_lists(x: Floats, which: Ints) -> float:
    """A list within itself, which is written to on the way."""
    total = 0.0
    for k in which:
        for other in which:
            if other == k:
                continue
            total += x[k] - 0.5 * x[other]
            if total > 3.0:
                break
        which[len(which) - 1] = k
    return total


@procedure
def factor(a: Shaped[6, 6], d: Shaped[6]) -> bool:
    """LDLᵀ in place, the lower triangle; whether all pivots are positive."""
    for k in range(6):
        for j in range(k):
            a[k, j] /= d[j]
        pivot = a[k, k]
        for j in range(k):
            pivot -= a[k, j] ** 2 * d[j]
        if pivot <= 0.0:
            return False
        d[k] = pivot
        for i in range(k + 1, 6):
            for j in range(k):
                a[i, k] -= a[i, j] * a[k, j] if j else a[i, 0] * a[k, 0]
    return True


@procedure
def block_update(b: Shaped[6, 6], low: Shaped[6, 6], up: Shaped[6, 6]) -> None:
    for i in range(6):
        for k in range(6):
            for j in range(6):
                b[i, j] -= low[i, k] * up[k, j]


@procedure
def block_updates(blocks: Floats[6, 6], updates: Ints[3]) -> None:
    for k in range(len(updates)):
        block_update(blocks[updates[k, 0]], blocks[updates[k, 1]], blocks[updates[k, 2]])


class Boxes(NamedTuple):
    low: Floats[3]
    high: Floats[3]


class Sweep(NamedTuple):
    boxes: Boxes
    order: Ints
    margin: float


@procedure
def overlap(boxes: Boxes, a: int, b: int, axis: int) -> bool:
    return boxes.low[a, axis] <= boxes.high[b, axis] and boxes.low[b, axis] <= boxes.high[a, axis]


@procedure
def sweep_and_prune(sweep: Sweep, pairs: Ints[2]) -> int:
    """Pairs of boxes that overlap; −1 minus what is needed if the list is too short."""
    boxes = sweep.boxes
    count = 0
    x = local(1)
    for i in range(len(sweep.order)):
        a = sweep.order[i]
        x[0] = boxes.high[a, 0] + sweep.margin
        for j in range(i + 1, len(sweep.order)):
            b = sweep.order[j]
            if boxes.low[b, 0] > x[0]:
                break
            if overlap(boxes, a, b, 1) and overlap(boxes, a, b, 2):
                if count < len(pairs):
                    pairs[count, 0], pairs[count, 1] = min(a, b), max(a, b)
                count += 1
    return count if count <= len(pairs) else -1 - count


@procedure
def whole_numbers(a: Ints, b: Ints, out: Ints[16]) -> None:
    for k in range(len(a)):
        x, y = a[k], b[k]
        row = out[k]
        row[0], row[1] = x // y, x % y
        row[2], row[3] = x // 8, x % 8
        row[4], row[5] = x // -3, x % -3
        row[6] = (x & y) + (x | y) * 2 + (x ^ y) * 3 + ~x
        row[7] = int(x).bit_count() * 100 + int(y).bit_length()
        row[8] = x << (y & 15)
        row[9] = x >> (y & 15)
        row[10] = abs(x) + min(x, y, 3) * max(x, y, -2)
        row[11] = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y)
        row[12] = -3 < x <= y < 50
        row[-3] = PRIMES[abs(x) % 6] - PRIMES[-1] + x**3
        row[14] = not (x and y > 0) or x == 3
        row[15] = bool(x) ^ (y > 0)


@procedure
def real_numbers(a: Floats, b: Floats, out: Floats[20]) -> None:
    for k in range(len(a)):
        x, y = a[k], b[k]
        out[k, 0] = math.sin(x) * math.cos(y) + math.tan(0.1 * x)
        out[k, 1] = math.sqrt(abs(x)) / (1.0 + y * y)
        out[k, 2] = math.atan2(x, y) - math.asin(math.tanh(x)) + math.acos(math.tanh(y)) * math.atan(x)
        out[k, 3] = math.exp(-abs(x)) + math.log(1.0 + y * y)
        out[k, 4] = math.floor(x) * 10 + math.ceil(y)
        out[k, 5] = int(x) + int(-y) / 4
        out[k, 6] = math.copysign(x, y) + math.fabs(x) - math.hypot(x, y)
        out[k, 7] = min(x, y, 0.5) + 3 * max(x, y)
        out[k, 8] = x if x < y else 1
        out[k, 9] = math.pi * GOLDEN - (x != y) + math.isfinite(x) - math.isnan(y)
        out[k, 10] = x**2 - +(y**2)
        out[k, 11] = -x if x >= y or y == 0.0 else (y if x > -1.0 else 2.0)
        corner = CORNERS[k % 4]
        out[k, 12] = corner[0] * x + CORNERS[k // 4 % 4][1] * y
        out[k, 13:15][0] = x
        tail = out[k, 14:]
        tail[len(tail) - 1] = float(len(out)) + len(tail)
        tail[1] = math.inf if x > 1e300 else math.e


@procedure
def nested_loops(n: int, limit: int, seen: Ints) -> tuple[int, float, bool]:
    """Loops that are left and begun again from the middle; names that keep their values after."""
    steps, value, hit = 0, 0.0, False
    last = 0
    for i in range(n):
        j = i
        while j < n:
            j += 1
            if (i * j) % 3 == 1:
                continue
            k = 0
            while True:
                k += 1
                if k > j:
                    break
                if k * k == i:
                    hit = True
                    break
                steps += 1
                if steps >= limit:
                    return steps, value, hit
            value += k / j
            seen[(i + j) % len(seen)] += k
        last = i
        i = -1
    for back in range(n - 1, -1, -2):
        value -= back * last
    for three in range(3):
        constant = three
    return steps, value + constant + three, hit


@procedure
def swap(a: float, b: float) -> tuple[float, float]:
    return b, a


@procedure
def parts(x: Floats, out: Floats) -> float:
    """Slices of any length, their lengths, and a record made on the way."""
    half = len(x) // 2
    first, second = x[:half], x[half:]
    for k in range(len(second)):
        out[k] = second[k] - (first[k] if k < len(first) else 0.0)
    u, v = swap(first[0], second[-1])
    return shifted(Pair(x[1:half], out), u) + v


class Pair(NamedTuple):
    read: Floats
    written: Floats


@procedure
def shifted(pair: Pair, by: float) -> float:
    total = 0.0
    for k in range(len(pair.read)):
        pair.written[k] += by
        total += pair.read[k]
    return total


@procedure
def minimum_degree(bits: Ints, words: int, n: int, order: Ints) -> None:
    """The order of elimination by the fewest neighbours, on rows of bits; 62 bits in a word."""
    for k in range(n):
        order[k] = -1
    for position in range(n):
        best, fewest = -1, n + 1
        for k in range(n):
            if order[k] >= 0:
                continue
            degree = 0
            for w in range(words):
                degree += int(bits[k * words + w]).bit_count()
            if degree < fewest:
                best, fewest = k, degree
        order[best] = position
        for k in range(n):
            if order[k] < 0 and bits[best * words + k // 62] >> (k % 62) & 1:
                for w in range(words):
                    bits[k * words + w] |= bits[best * words + w]
                bits[k * words + best // 62] &= ~(1 << (best % 62))


@procedure
def rows(table: Ints[2], row: ShapedInts[2], scale: Shaped[3], x: Floats[3, 3]) -> int:
    """Rows of tables and matrices by name, handed on, chosen."""
    found = 0
    for k in range(len(table)):
        chosen = row if k % 2 else table[k]
        found += chosen[0] * chosen[1]
        matrix = x[k]
        for i in range(3):
            line = matrix[i]
            line[i] += scale[i]
            x[k][i][2] *= 2
    return found


@procedure
def side_by_side(a: Floats[6], x: Floats, y: Shaped[6], s: float) -> float:
    """Loops along a row that are one operation."""
    for i in range(len(a)):
        row = a[i]
        for k in range(6):
            row[k] = -row[k] * s + y[k] / 3.0 - (s - x[2])
        for k in range(1, 6):
            a[i, k] /= 1.0 + s
            y[k] += a[i, k] * a[len(a) - 1 - i, k]
    old = local(3, 6)
    for k in range(6):
        old[1, k] = 2.0
    chosen = local(5)
    for k in range(5):
        chosen[k] -= old[1, k] if k < 3 else x[k]
    for k in range(4):
        y[k] = old[1, k]
    return old[1, 5] + old[0, 0] + chosen[1] + chosen[4] + k


@procedure
def look_alike(a: Floats[6], b: Floats[6], c: Floats, d: Floats, e: Shaped[5, 5], f: Ints, g: Floats) -> float:
    """Loops whose passes read what another pass writes, or that are not along a row, each on an array of its own."""
    for k in range(1, 6):
        a[1, k] -= a[1, k - 1]
    for k in range(6):
        b[1, k] *= b[1, 2]
    low, high = c[0:5], c[1:6]
    for k in range(5):
        high[k] = low[k] + 1.0
    for k in range(5):
        d[1:][k] = d[k]
    for k in range(5):
        e[k, k] += 1.0
    for k in range(5):
        e[2, k] *= 0.5  # LLVM's way, because single elements are written above
    for k in range(5):
        f[k] += 1
    total = 0.0
    for k in range(5):
        total += e[k, 1] * k
    for k in range(4):
        g[k] = total
        total = g[k + 1]
    for k in range(3):
        total += k
    return total


def _springs(a: Any, b: Any, stiffness: Any) -> dict[str, Any]:
    """The force of a spring between two points, and its energy; a loop, so that it needs scratch memory."""
    gaps = [b[k] - a[k] for k in range(3)]
    total, kept = scalar.loop(3, lambda i, s: (s + a[i] * b[i], s + i.value), 0.0)
    length = scalar.sqrt(sum((gap * gap for gap in gaps), 1e-3))
    pull = stiffness * (length - 0.5) / length
    return {"force": [pull * gap for gap in gaps], "energy": 0.5 * stiffness * (length - 0.5) ** 2 + 1e-3 * total + kept[2]}


SPRING = scalar.trace(_springs, {"a": 3, "b": 3, "stiffness": ()}, "spring")
# each rounds once, so that all forms give the same bits
ADDED, PRODUCTS = (
    LocatedProgram(scalar.trace(page, {"x": 2, "scale": ()}, f"located_{k}"))
    for k, page in enumerate(
        (
            lambda x, scale: [x[0] + scale, x[1] + scale, x[0] - x[1]],
            lambda x, scale: [x[0] * scale, x[1] * scale, x[0] * x[1]],
        )
    )
)
WIDE = scalar.trace(lambda x: [[scalar.sin(x[i]) * x[j] for i in range(11)] for j in range(11)], {"x": 11}, "wide")


@procedure
def springs(points: Floats[3], pairs: Ints[2], first: Ints, second: Ints, forces: Floats[3], out: Floats[4]) -> float:
    """Programs over a list, on rows, and appended behind each other."""
    for k in range(len(pairs)):
        first[k], second[k] = pairs[k, 0], pairs[k, 1]
    stiffness = local(100)
    energy = local(100)
    for k in range(100):
        stiffness[k] = 1.0 + k
    over(SPRING, len(pairs), at(points, first), at(points, second), stiffness, at(forces, second), energy)
    over(SPRING, 3, points, points[1:], stiffness[5:8], forces[4:], energy[90:])
    total = 0.0
    for k in range(len(pairs)):
        apply(SPRING, points[pairs[k, 0]], points[k % len(points)], k / 2, out[k, 1:4], out[k, 0:1])
        total += energy[k] + out[k, 0]
    return total


#: Short and without loops, so that it is inlined where it is called.
PULL = scalar.trace(
    lambda a, b, stiffness: {
        "force": [stiffness * scalar.select(b[k] > a[k], b[k] - a[k], 0.0) for k in range(3)],
        "energy": 0.5 * stiffness * scalar.sqrt(a[0] * a[0] + b[1] * b[1] + 1e-3),
    },
    {"a": 3, "b": 3, "stiffness": ()},
    "pull",
)


class Ends(NamedTuple):
    """Inputs of PULL and SPRING by their names, and one that they do not have."""

    a: Floats[3]
    stiffness: Floats
    other: Ints


class Pulls(NamedTuple):
    """Outputs of PULL and SPRING by their names."""

    force: Floats[3]
    energy: Floats


@procedure
def springs_of_records(ends: Ends, pulls: Pulls, far: Floats[3], order: Ints, energies: Floats) -> None:
    """A program on the fields of records: a row of each, rows in the order of a list, and all rows."""
    for k in range(len(order)):
        apply(PULL, at(ends, order[k]), far[k], at(pulls, k))
        apply(SPRING, at(ends, k), far[order[k]], pulls.force[k], at(energies, k))
        energies[k] += pulls.energy[k]
        apply(PULL, pulls.force[k], far[k], ends.stiffness[k], pulls.force[k], at(energies, order[k]))  # in place
    over(PULL, len(order), at(ends, order), far, at(pulls, order))
    over(SPRING, 2, ends, far[1:], pulls.force[2:], pulls.energy[2:])


@procedure
def chosen_program(which: Ints, x: Floats[2], scale: float, out: Floats) -> float:
    """Programs by their addresses, on arrays whose length is known at run time."""
    for k in range(len(x)):
        apply_at(which[k % len(which)], (x[k], scale), (out[3 * k : 3 * k + 3],))
    return out[0]


@procedure
def wide_rows(x: Floats[11], out: Floats[11, 11], order: Ints) -> None:
    over(WIDE, len(x), at(x, order), out)
    apply(WIDE, x[0], out[len(x)])


def _pulled(rng: np.random.Generator) -> tuple[Any, ...]:
    n, m = 12, int(rng.integers(1, 30))
    pairs = rng.integers(0, n, (m, 2))
    return rng.normal(size=(n, 3)), pairs, _zeros(m), _zeros(m), np.zeros((n, 3)), np.zeros((m, 4))


def _ends(rng: np.random.Generator) -> tuple[Any, ...]:
    n, floats = 9, rng.normal(size=(2, 9, 3))
    record = Ends(floats[0], rng.uniform(1.0, 2.0, n), np.arange(n))
    return record, Pulls(np.zeros((n, 3)), np.zeros(n)), floats[1], rng.integers(0, n, 6), np.zeros(n)


def _integers(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.integers(-60, 60, 40), rng.integers(-(2**20), 2**20, 10)])


def _divisors(rng: np.random.Generator) -> np.ndarray:
    return np.where((b := _integers(rng)) == 0, 1, b)


def _spd(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=(6, 6))
    return a @ a.T + 0.1 * np.eye(6)


def _links(rng: np.random.Generator, n: int, words: int) -> np.ndarray:
    bits = np.zeros((n, words), dtype=np.int64)
    for a, b in rng.integers(0, n, (2 * n, 2)).tolist():
        if a != b:
            bits[a, b // 62] |= 1 << (b % 62)
            bits[b, a // 62] |= 1 << (a % 62)
    return bits.ravel()


def _sweep(rng: np.random.Generator) -> tuple[Sweep, np.ndarray]:
    low = rng.uniform(size=(30, 3))
    boxes = Boxes(low, low + rng.uniform(0, 0.4, (30, 3)))
    return Sweep(boxes, np.argsort(low[:, 0]), 0.01), np.zeros((int(rng.choice([5, 400])), 2), dtype=np.int64)


def _alike(rng: np.random.Generator) -> tuple[Any, ...]:
    rows = rng.normal(size=(2, 2, 6))
    return *rows, rng.normal(size=6), rng.normal(size=6), rng.normal(size=(5, 5)), _zeros(5), rng.normal(size=6)


def _zeros(n: int, dtype: Any = np.int64) -> np.ndarray:
    return np.zeros(n, dtype=dtype)


#: Every procedure with what makes its arguments.
@procedure
def whole_arrays(A: Shaped[3, 3], b: Floats[3], x: Floats[3], M: Floats[6, 6], n: Ints, s: float, c: int) -> float:
    x[0] = A @ b[c] - s * b[1]
    x[1] += np.cross(b[0], b[1] - x[0]) * (2.0 + x[1, 0])
    M[c] = 0.0
    M[0] += M[1] * M[1, 2, 3] - M[2] / s
    x[3] = (A @ A.T) @ M[0, 1, 3:6]
    x[2, 0:2] = A[0, 0:2]
    b[c + 1] *= 1.0 / b[c + 1, 1]
    x[0] = A @ x[0]
    M[0, 0:3] = M[0, 1:4]
    x[2] -= A.T @ -b[0]
    n[:] = n + c
    n[1:3] = 7
    return b[0] @ (x[0] - b[1])


@procedure
def first_part(x: Shaped[3]) -> float:
    return x[0]


@procedure
def vectors(W: Floats[3], k: int) -> float:
    u, t = W[k] - W[0], W[2] - W[0]
    n = np.cross(u, t)
    n -= n @ u / (u @ u) * u
    n *= 1.0 / math.sqrt(n @ n)
    total = 0.0
    for i in range(len(W)):
        d = W[i] - n
        if i % 2 == 0:
            d = -W[i]
        total += d @ n + d[1] + first_part(d - 2.0 * u)
    return total


def _arrays(rng: np.random.Generator) -> tuple[Any, ...]:
    sizes = ((3, 3), (4, 3), (5, 3), (3, 6, 6))
    return (*(rng.normal(size=size) for size in sizes), rng.integers(0, 9, 5), float(rng.normal()), int(rng.integers(0, 3)))


CASES: list[tuple[Procedure, Callable[[np.random.Generator], tuple[Any, ...]]]] = [
    (insertion_sort, lambda rng: (rng.normal(size=40), _zeros(40))),
    (sort_again, lambda rng: (rng.normal(size=40), _zeros(40))),
    (quick_sort, lambda rng: (rng.integers(0, 50, 100) / 7,)),
    (islands, lambda rng: (rng.integers(0, 40, (25, 2)), _zeros(40), _zeros(40))),
    (sieve, lambda rng: (_zeros(int(rng.integers(2, 300))),)),
    (along_lists, lambda rng: (rng.normal(size=20), rng.integers(0, 20, 12))),
    (factor, lambda rng: (_spd(rng), np.zeros(6))),
    (block_updates, lambda rng: (rng.normal(size=(9, 6, 6)), rng.permutation(9).reshape(3, 3))),
    (sweep_and_prune, _sweep),
    (whole_numbers, lambda rng: (_integers(rng), _divisors(rng), np.zeros((50, 16), dtype=np.int64))),
    (real_numbers, lambda rng: (rng.normal(size=20), rng.normal(size=20), np.zeros((20, 20)))),
    (nested_loops, lambda rng: (int(rng.integers(1, 15)), int(rng.integers(1, 500)), _zeros(7))),
    (parts, lambda rng: (rng.normal(size=(n := int(rng.integers(3, 12)))), np.zeros(n))),
    (minimum_degree, lambda rng: (_links(rng, 70, 2), 2, 70, _zeros(70))),
    (rows, lambda rng: (rng.integers(-9, 9, (4, 2)), rng.integers(-9, 9, 2), rng.normal(size=3), rng.normal(size=(4, 3, 3)))),
    (whole_arrays, _arrays),
    (vectors, lambda rng: (rng.normal(size=(7, 3)), 1)),
    (side_by_side, lambda rng: (rng.normal(size=(4, 6)), rng.normal(size=9), rng.normal(size=6), 1.0 + rng.uniform())),
    (look_alike, _alike),
    (springs, _pulled),
    (springs_of_records, _ends),
    (
        chosen_program,
        lambda rng: (
            np.array([ADDED.address, PRODUCTS.address, ADDED.address]),
            rng.normal(size=(n := int(rng.integers(1, 9)), 2)),
            float(rng.normal()),
            np.zeros(3 * n),
        ),
    ),
    (
        wide_rows,
        lambda rng: (rng.normal(size=(n := int(rng.integers(1, 20)), 11)), np.zeros((n + 1, 11, 11)), rng.permutation(n)),
    ),
]
