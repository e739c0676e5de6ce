"""kumitate equations"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from .options import AsJson, FloatingBase, RobotName, flag
from .report import complain, print_json


def equations(
    robot: RobotName,
    /,
    *,
    floating_base: FloatingBase = False,
    seconds: Annotated[float, Parameter(help="Approximate time for simplifying the expressions [s].")] = 20.0,
    braces: Annotated[bool, flag("Label the parts by braces below them: A, the accelerations, b and F.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the equations of motion of a small mechanism in LaTeX: A(q) q̈ = b + F."""
    from .. import load
    from ..lagrange import of_mechanism

    mechanism = load(robot, floating_base=floating_base).mechanism
    found = of_mechanism(mechanism).equations(seconds=seconds)
    latex = found.latex(braces=braces)
    if not found.tidied:
        complain("the equations are too long to be shortened in full; --seconds gives more time", what="note")
    if as_json:
        names = {f"q_{k}": name for k, name in enumerate(mechanism.q_names, start=1)}
        print_json({"name": mechanism.name, "coordinates": names, "latex": latex, "shortened": found.tidied})
        return
    for k, name in enumerate(mechanism.v_names, start=1):
        print(f"% q_{{{k}}}, \\tau_{{{k}}}: {name}")
    print(latex)
