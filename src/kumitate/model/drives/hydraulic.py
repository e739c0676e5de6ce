"""Hydraulic cylinders: two chambers of compressible oil, and a valve or a pump that feeds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ...scalar import Scalar, Scalars, maximum, minimum, select, sqrt
from ..values import FINITE, POSITIVE, Rule
from .contract import Command, DriveWithState, StateLaw


class _Flow(NamedTuple):
    """The flow into a chamber [m³/s], and how it changes with the pressure there [m³/(s·Pa)]."""

    into: Scalar
    by_pressure: Scalar = 0.0


@dataclass(frozen=True, kw_only=True)
class HydraulicCylinder(DriveWithState):
    """f = A p_A − B p_B + feed_forward; the pressures of the two chambers are the drive's own state.

    The oil of a chamber of volume V resists compression: ṗ = β (Q − V̇ − leak)/V, with V = D + A (q − retracted) on the piston's
    side and D + B (retracted + stroke − q) on the rod's. A valve lets K u √Δp through at an opening u, the target, between
    −1 and 1: where u > 0 from the supply into the piston's side and from the rod's side to the tank, and the other way round
    else. Without a valve the target is the flow [m³/s] of a pump into the piston's side, with B/A of it out of the rod's.
    Oil that tears at pressures below zero, and hits at the ends of the stroke, are not simulated.

    Source: H. E. Merritt, Hydraulic Control Systems, Wiley 1967, sections 3.2 and 6.2.

    Attributes:
        piston_area: A [m²]; `rod_side_area`: B, of the ring around the rod.
        stroke: [m]; `retracted`: the joint's coordinate with the piston all the way in [m].
        dead_volume: D, of each side where the piston is at its end, with its hose [m³].
        bulk_modulus: β [Pa]; `leak`: past the piston [m³/(s·Pa)].
        valve: K [m³/(s·√Pa)]; None for a pump. `supply`, `tank`: pressures at the valve [Pa].
        laminar: pressure differences well below this pass the valve as a laminar flow, in proportion [Pa].
        piston_pressure, rod_pressure: at the start [Pa].

    >>> cylinder = HydraulicCylinder(piston_area=4e-3, rod_side_area=3e-3, stroke=1.0, dead_volume=1e-3, piston_pressure=2e6)
    >>> cylinder.law(0.5, 0.0, Command(target=0.0)).effort
    8000.0
    """

    kind = "hydraulic_cylinder"
    rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("piston_area", "rod_side_area", "stroke", "dead_volume", "bulk_modulus", "laminar"), POSITIVE),
        "retracted": FINITE,
    }
    piston_area: float
    rod_side_area: float
    stroke: float
    dead_volume: float
    retracted: float = 0.0
    bulk_modulus: float = 1.4e9
    leak: float = 0.0
    valve: float | None = None
    supply: float = 0.0
    tank: float = 0.0
    laminar: float = 1e4
    piston_pressure: float = 0.0
    rod_pressure: float = 0.0

    @property
    def start(self) -> Mapping[str, float]:
        return {"piston_pressure": self.piston_pressure, "rod_pressure": self.rod_pressure}

    def state_law(self, q: Scalar, v: Scalar, command: Command, state: Scalars) -> StateLaw:
        (a, b), A, B = state, self.piston_area, self.rod_side_area
        out = maximum(minimum(q - self.retracted, self.stroke), 0.0)
        stiff_a = self.bulk_modulus / (self.dead_volume + A * out)
        stiff_b = self.bulk_modulus / (self.dead_volume + B * (self.stroke - out))
        into_a, into_b = self._flows(command.target, a, b)
        lost = self.leak * (a - b)
        return StateLaw(
            A * a - B * b + command.feed_forward,
            (A, -B),
            (stiff_a * (into_a.into - lost - A * v), stiff_b * (into_b.into + lost + B * v)),
            (
                (stiff_a * (into_a.by_pressure - self.leak), stiff_a * self.leak),
                (stiff_b * self.leak, stiff_b * (into_b.by_pressure - self.leak)),
            ),
            (-A * stiff_a, B * stiff_b),
        )

    def _flows(self, target: Scalar, a: Scalar, b: Scalar) -> tuple[_Flow, _Flow]:
        """The flows into the two chambers at their pressures."""
        if self.valve is None:
            return _Flow(target), _Flow(-target * (self.rod_side_area / self.piston_area))
        opening = maximum(minimum(target, 1.0), -1.0)
        width = self.valve * maximum(opening, -opening)
        extends = opening > 0.0
        return (
            self._through(width, select(extends, self.supply, self.tank), a),
            self._through(width, select(extends, self.tank, self.supply), b),
        )

    def _through(self, width: Scalar, source: Scalar, pressure: Scalar) -> _Flow:
        """Through an edge of the valve, from a pressure into a chamber: width·Δ/(Δ² + laminar²)^¼, which is width·√Δ above."""
        away = source - pressure
        square = away * away + self.laminar**2
        root = sqrt(square)
        flow = away / sqrt(root)
        return _Flow(width * flow, -width * (0.5 * away * away + self.laminar**2) / (square * sqrt(root)))
