"""The values of SDF, in the text of elements: numbers, flags, poses."""

from __future__ import annotations

import math

from ...spatial import Transform, Vector3, pose, quaternion_normalized, quaternion_rotation
from ..values import LARGEST
from .xml import UNLIMITED, Element

#: The tolerance of the length of quaternions, which files contain rounded.
_ROUNDED = 1e-3


def read_text(owner: Element, tag: str) -> str | None:
    """The text of a child, without blanks around it; None if it is not there or empty."""
    part = owner.child(tag)
    return None if part is None else part.text.strip() or None


def read_numbers(part: Element, *counts: int) -> tuple[float, ...]:
    """The finite numbers in an element's text; as many as one of `counts`."""
    values = tuple(_number(part, word) for word in part.text.split())
    if len(values) not in counts:
        wanted = " or ".join(map(str, counts))
        raise part.error(
            f"<{part.tag}> {part.text.strip()!r} has {len(values)} numbers; it must have {wanted}, with blanks between"
        )
    if not all(map(math.isfinite, values)):
        raise part.error(f"<{part.tag}> {part.text.strip()!r} is not finite; write finite numbers")
    if max(map(abs, values), default=0.0) > LARGEST:
        raise part.error(f"<{part.tag}> {part.text.strip()!r} is larger than {LARGEST:g}; check the number and its unit (SI)")
    return values


def read_number(owner: Element, tag: str, default: float | None = None) -> float:
    """The number in a child; `default` if it is not there (None: it must be)."""
    part = owner.need_child(tag) if default is None else owner.child(tag)
    if part is None:
        assert default is not None
        return default
    return read_numbers(part, 1)[0]


def read_bound(owner: Element | None, tag: str) -> float | None:
    """The limit in a child element; None if it is missing or so large that it means no limit."""
    part = None if owner is None else owner.child(tag)
    if part is None:
        return None
    words = part.text.split()
    value = _number(part, words[0]) if len(words) == 1 else math.nan
    if math.isnan(value):
        raise part.error(f"<{tag}> {part.text.strip()!r} is not a number; write one, or leave the element out")
    return value if abs(value) < UNLIMITED else None


def read_flag(owner: Element, tag: str, *, default: bool = False) -> bool:
    """Whether a child says "true" or "1"."""
    text = read_text(owner, tag)
    return default if text is None else _truth(owner.need_child(tag), f"<{tag}>", text)


def read_word(owner: Element, name: str) -> bool:
    """Whether an attribute says "true" or "1"; it need not be there."""
    return _truth(owner, f"<{owner.tag}> {name}", owner.get(name) or "false")


def _truth(part: Element, what: str, text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise part.error(f"{what} {text!r} is neither true nor false; write one of them")
    return text.lower() in ("true", "1")


def read_pose(part: Element | None) -> Transform:
    """The pose in an element's text: x y z [m], then roll pitch yaw [rad, or degrees if it says so] or a quaternion x y z w."""
    if part is None:
        return Transform()
    form = part.get("rotation_format") or "euler_rpy"
    degrees = read_word(part, "degrees")
    if not part.text.strip():
        return Transform()
    if form == "euler_rpy":
        x, y, z, *angles = read_numbers(part, 6)
        return pose((x, y, z), [math.radians(angle) for angle in angles] if degrees else angles)
    if form != "quat_xyzw":
        raise part.error(f"<pose> has the unknown rotation_format {form!r}; it is euler_rpy or quat_xyzw")
    x, y, z, *quaternion = read_numbers(part, 7)
    length = math.hypot(*quaternion)
    if abs(length - 1.0) > _ROUNDED:
        raise part.error(
            f"<pose> {part.text.strip()!r}: the quaternion has the length {length:.4g}; it must be one. The order is x y z, "
            f"then qx qy qz qw{'; divide its parts by its length' if length > 0.0 else ', and no turn is 0 0 0 1'}"
        )
    return Transform(quaternion_rotation(quaternion_normalized(quaternion)), Vector3(x, y, z)).dense()


def relative_to(part: Element | None) -> str | None:
    """The name of the frame that a <pose> is given in, if it names one (`frame` before SDF 1.7)."""
    return None if part is None else part.get("relative_to") or part.get("frame") or None


def _number(part: Element, word: str) -> float:
    try:
        if "_" in word:  # Python's digit grouping, which other programs do not read
            raise ValueError
        return float(word)
    except ValueError:
        remedy = "write a decimal point, and blanks between numbers" if "," in word else "write digits, a point, an exponent"
        raise part.error(f"<{part.tag}>: {word!r} is not a number; {remedy}") from None
