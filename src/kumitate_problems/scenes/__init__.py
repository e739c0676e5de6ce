"""Problems of contact beyond a floor, with answers in closed form or published; each is a page with its geometry typed once."""

from ..contract import Problem
from .balls import balls_on_a_box, bounces
from .buildings import arch
from .machines import chain_over_drum, conveyor
from .tops import tippe_top

__all__ = ["PROBLEMS", "arch", "balls_on_a_box", "bounces", "chain_over_drum", "conveyor", "tippe_top"]

_KIND, _SIM_BENCHMARK = "scenes", "Kang and Hwangbo, SimBenchmark, 2018"
PROBLEMS = (
    Problem(
        "balls on a dragged box",
        _KIND,
        "SimBenchmark's rolling test: 25 balls on a box of 10 kg, 150 N along the diagonal: "
        "a (M + 2/7 n m) = F − μ (M + n m) g, balls at 2/7 a",
        f"{_SIM_BENCHMARK}, rolling test",
        balls_on_a_box,
    ),
    Problem(
        "elastic balls",
        _KIND,
        "SimBenchmark's bouncing test: from 10 m, e = 1, 10 s: the energy stays",
        f"{_SIM_BENCHMARK}, bouncing test",
        bounces,
    ),
    Problem(
        "arch",
        _KIND,
        "a half circle of 20 stones stands at t/R = 0.109 and falls at 0.105; the limit is 0.1075 (Milankovitch 1907)",
        "Milankovitch, Z. Math. Phys. 55, 1907",
        arch,
    ),
    Problem(
        "tippe top",
        _KIND,
        "turns over (Cohen 1977); L·r is constant (Jellett), and so its spin ends at (1 − α)/(1 + α) of the first",
        "Cohen, Am. J. Phys. 45, 1977; Jellett, Theory of Friction, 1872",
        tippe_top,
    ),
    Problem(
        "boxes on a conveyor",
        _KIND,
        "at the speed u of the belt after u/(μ g); the belt's work is m u²",
        "Kleppner and Kolenkow, An Introduction to Mechanics, ch. 3",
        conveyor,
    ),
    Problem(
        "chain over a drum",
        _KIND,
        "8 beads hold weights up to ((1 + μ tan δ/2)/(1 − μ tan δ/2))⁸ to 1, δ = π/8 (Euler, Eytelwein)",
        "Eytelwein, Handbuch der Statik, 1808",
        chain_over_drum,
    ),
)
