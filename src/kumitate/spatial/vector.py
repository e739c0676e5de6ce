"""Three-dimensional vectors and matrices over scalars. Zeros and ones are free: tracing removes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from ..scalar import Scalar, Scalars, sqrt

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def quantity(cls: type[T]) -> type[T]:
    """A dataclass with slots that type checkers know as frozen.

    Tracing makes such values by the million, and Python takes three times as long to make one that it freezes itself.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


@quantity
class Vector3:
    """A vector by its components; the name of the variable says in which frame."""

    x: Scalar = 0.0
    y: Scalar = 0.0
    z: Scalar = 0.0

    @classmethod
    def of(cls, components: Scalars) -> Vector3:
        """The vector with these three components."""
        x, y, z = components
        return cls(x, y, z)

    @classmethod
    def unit(cls, axis: int) -> Vector3:
        """The unit vector along coordinate axis 0, 1 or 2."""
        return (_X, _Y, _Z)[axis]

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, axis: int) -> Scalar:
        return (self.x, self.y, self.z)[axis]

    def __add__(self, other: Vector3) -> Vector3:
        return Vector3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector3) -> Vector3:
        return Vector3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector3:
        return Vector3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vector3:
        return Vector3(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    def dot(self, other: Vector3) -> Scalar:
        """Scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector3) -> Vector3:
        """Vector product self × other."""
        return Vector3(
            self.y * other.z - self.z * other.y, self.z * other.x - self.x * other.z, self.x * other.y - self.y * other.x
        )

    def norm(self) -> Scalar:
        """Length."""
        return sqrt(self.dot(self))


_X, _Y, _Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)


@quantity
class Matrix3:
    """A 3×3 matrix by its rows."""

    rows: tuple[Vector3, Vector3, Vector3]

    @classmethod
    def of(cls, rows: Sequence[Scalars]) -> Matrix3:
        """The matrix with these rows."""
        a, b, c = rows
        return cls((Vector3.of(a), Vector3.of(b), Vector3.of(c)))

    @classmethod
    def zero(cls) -> Matrix3:
        return cls((Vector3(), Vector3(), Vector3()))

    @classmethod
    def outer(cls, a: Vector3, b: Vector3) -> Matrix3:
        """a bᵀ."""
        return cls((b * a.x, b * a.y, b * a.z))

    def __iter__(self) -> Iterator[Vector3]:
        return iter(self.rows)

    def __getitem__(self, row: int) -> Vector3:
        return self.rows[row]

    @property
    def T(self) -> Matrix3:
        """Transpose."""
        a, b, c = self.rows
        return Matrix3((Vector3(a.x, b.x, c.x), Vector3(a.y, b.y, c.y), Vector3(a.z, b.z, c.z)))

    def __add__(self, other: Matrix3) -> Matrix3:
        return Matrix3.of([list(a + b) for a, b in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Matrix3) -> Matrix3:
        return Matrix3.of([list(a - b) for a, b in zip(self.rows, other.rows, strict=True)])

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Vector3):
            a, b, c = self.rows
            return Vector3(a.dot(other), b.dot(other), c.dot(other))
        columns = other.T.rows
        return Matrix3.of([[row.dot(column) for column in columns] for row in self.rows])

    def transposed_times(self, vector: Vector3) -> Vector3:
        """selfᵀ · vector."""
        a, b, c = self.rows
        return a * vector.x + b * vector.y + c * vector.z


@quantity
class Symmetric3:
    """A symmetric 3×3 matrix by its six entries."""

    xx: Scalar = 0.0
    yy: Scalar = 0.0
    zz: Scalar = 0.0
    xy: Scalar = 0.0
    xz: Scalar = 0.0
    yz: Scalar = 0.0

    @classmethod
    def of(cls, rows: Sequence[Scalars]) -> Symmetric3:
        """From the upper triangle of these rows."""
        return cls(rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])

    @classmethod
    def diagonal(cls, x: Scalar, y: Scalar, z: Scalar) -> Symmetric3:
        return cls(x, y, z)

    def __iter__(self) -> Iterator[Vector3]:
        return iter(self.matrix())

    def __getitem__(self, row: int) -> Vector3:
        return self.matrix()[row]

    @property
    def entries(self) -> tuple[Scalar, ...]:
        """The six entries xx, yy, zz, xy, xz, yz."""
        return self.xx, self.yy, self.zz, self.xy, self.xz, self.yz

    def matrix(self) -> Matrix3:
        """All nine entries."""
        return Matrix3.of([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]])

    def __add__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(
            self.xx + other.xx, self.yy + other.yy, self.zz + other.zz,
            self.xy + other.xy, self.xz + other.xz, self.yz + other.yz,
        )  # fmt: skip

    def __sub__(self, other: Symmetric3) -> Symmetric3:
        return self + other * -1.0

    def __mul__(self, factor: Scalar) -> Symmetric3:
        return Symmetric3(
            self.xx * factor, self.yy * factor, self.zz * factor, self.xy * factor, self.xz * factor, self.yz * factor
        )

    __rmul__ = __mul__

    def __matmul__(self, vector: Vector3) -> Vector3:
        return Vector3(
            self.xx * vector.x + self.xy * vector.y + self.xz * vector.z,
            self.xy * vector.x + self.yy * vector.y + self.yz * vector.z,
            self.xz * vector.x + self.yz * vector.y + self.zz * vector.z,
        )
