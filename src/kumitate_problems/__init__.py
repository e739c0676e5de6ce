"""Reference problems: mechanisms and scenes whose motion somebody else has published, each written once.

`kumitate validate` runs them; tests and studies use the same pages. A problem is a `Problem`, the contract that says its source
and what it measures, in the list `PROBLEMS` of a module; a further one is an entry there, and a further class a file.
"""

from . import closed_loops, contact, driven, linkages, pendulums, rolling, scenes, tops
from .contract import Checked, Measured, Problem

__all__ = [
    "PROBLEMS", "Checked", "Measured", "Problem", "closed_loops", "contact", "driven", "linkages", "pendulums", "rolling",
    "scenes", "tops",
]  # fmt: skip

#: All problems, by name.
PROBLEMS: dict[str, Problem] = {
    problem.name: problem
    for module in (pendulums, tops, linkages, closed_loops, rolling, driven, contact, scenes)
    for problem in module.PROBLEMS
}
