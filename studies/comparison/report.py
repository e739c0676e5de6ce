"""The comparison as a whole: run, and written as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kumitate.measure.timing import Effort, machine, seconds_text

from .abilities import LENGTHS, Ability, abilities
from .inertia import InertiaEntry, inertia_curves, inertia_tables, measured_inertias
from .times import FAMILIES, Entry, Family, measured

__all__ = ["METHODS", "Comparison", "Target", "compare", "curves"]


@dataclass(frozen=True)
class Target:
    """The thesis's ratio of hybrid to another method on its longest chain, and ours."""

    family: str
    links: int
    form: str
    method: str
    beside: str
    parts: tuple[int, ...]
    at_most: float
    operations: float
    time: float

    @property
    def verdict(self) -> str:
        """Whether both are reached: asked of the thesis's sub-chains in compiled dense blocks; others are shown."""
        if self.form not in ("dense blocks", "prepared") or self.method != "hybrid":
            return ""
        return "met" if max(self.operations, self.time) <= self.at_most else "missed"


@dataclass(frozen=True)
class Comparison:
    """All that was measured, on which machine."""

    machine: dict[str, str]
    entries: tuple[Entry, ...]
    inertias: tuple[InertiaEntry, ...]
    abilities: tuple[Ability, ...]
    rounds: int

    def ratio(self, family: str, links: int, form: str, method: str, beside: str = "ADA") -> tuple[float, float]:
        """Operations and time of a method as part of another's in the same form; a prepared one's as `_BESIDE` says."""
        mine = self.entry(family, links, form, method)
        other = self.entry(family, links, _BESIDE[beside].get(form, form), beside)
        return mine.operations / other.operations, mine.timing.minimum / other.timing.minimum

    def entry(self, family: str, links: int, form: str, method: str) -> Entry:
        """The entry of a chain, form and method.

        Raises:
            KeyError: if it does not exist.
        """
        for entry in self.entries:
            if (entry.family, entry.links, entry.form, entry.method) == (family, links, form, method):
                return entry
        raise KeyError((family, links, form, method))

    @property
    def targets(self) -> list[Target]:
        """The thesis's ratios and ours."""
        found = []
        for family, beside, at_most in _PRINTED:
            longest = max((entry.links for entry in self.entries if entry.family == family), default=0)
            for form, method in _RATIOS:
                if any((e.family, e.links, e.form, e.method) == (family, longest, form, method) for e in self.entries):
                    parts = self.entry(family, longest, form, method).parts
                    ours = self.ratio(family, longest, form, method, beside)
                    found.append(Target(family, longest, form, method, beside, parts, at_most, *ours))
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain data, times in seconds."""
        return {
            "machine": self.machine, "rounds": self.rounds, "entries": [asdict(entry) for entry in self.entries],
            "inertias": [asdict(entry) for entry in self.inertias],
            "targets": [{**asdict(target), "verdict": target.verdict} for target in self.targets],
            "abilities": [{**asdict(a), "growth": a.growth, "deepening": a.deepening} for a in self.abilities],
        }  # fmt: skip

    def tables(self) -> list[tuple[Sequence[str], list[tuple[str, ...]]]]:
        """All tables, as heads and rows: operations and times of each family, ratios, inertia matrices, abilities."""
        found: list[tuple[Sequence[str], list[tuple[str, ...]]]] = []
        for family in FAMILIES:
            found += [self._operations(family), self._times(family)]
        return [
            *found,
            (_RATIO_HEAD, [_ratio(target) for target in self.targets]),
            *inertia_tables(self.inertias),
            (_ABILITY_HEAD, [*map(_ability, self.abilities)]),
        ]

    def markdown(self) -> str:
        """The page; it shows the figures in the folder images next to it."""
        tables = [_table(head, rows) for head, rows in self.tables()]
        parts = [_HEAD.format(rounds=self.rounds), *_table(("machine", ""), self.machine.items())]
        for family in FAMILIES:
            parts += ["", f"## {family.title}", "", f"![Time over links](images/comparison-{family.name}.png)"]
            parts += ["", "Operations of one evaluation:", "", *tables.pop(0)]
            parts += ["", "Time of one evaluation:", "", *tables.pop(0)]
        parts += ["", "## Ratios: hybrid / ADA, hybrid / Lagrange", "", _RATIO_TEXT, "", *tables.pop(0)]
        parts += [
            "",
            "## The inertia matrix (article C)",
            "",
            "![Time over links](images/comparison-inertia.png)",
            "",
            _INERTIA_TEXT,
        ]
        for what in (
            "Operations of one evaluation:",
            "Time of one evaluation:",
            "Operations and time, as ratios to composite bodies':",
        ):
            parts += ["", what, "", *tables.pop(0)]
        parts += ["", "## The methods (table 2.3)", "", _ABILITY_TEXT, "", *tables.pop(0)]
        return "\n".join(parts) + "\n"

    def _operations(self, family: Family) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return self._by_links(family, _operations, [form for form in _FORMS if not form.startswith("interpreted")])

    def _times(self, family: Family) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        head, rows = self._by_links(family, _time, _FORMS)
        for method, seconds in family.printed.items():
            cells = (f"{seconds[n]:g}" if n in seconds else "—" for n in self.lengths(family))
            rows.append(("thesis, s per 10 s", method, *cells))
        return head, rows

    def _by_links(self, family: Family, cell: Callable[[Entry], str], forms: Sequence[str]) -> tuple[Sequence[str], list]:
        """A row a form and method, a column a length."""
        rows = []
        for form in forms:
            for method in METHODS:
                own = {e.links: e for e in self.entries if (e.family, e.form, e.method) == (family.name, form, method)}
                if own:
                    rows.append((form, method, *(cell(own[n]) if n in own else "—" for n in self.lengths(family))))
        return ("form", "method", *(f"{n} link{'s' * (n > 1)}" for n in self.lengths(family))), rows

    def lengths(self, family: Family) -> list[int]:
        """The lengths of chains that were compared."""
        return sorted({entry.links for entry in self.entries if entry.family == family.name})


def compare(
    *, effort: Effort | None = None, longest: int | None = None, progress: Callable[[float], None] | None = None
) -> Comparison:
    """Counts and times all methods over the thesis's chains, and asks what each can do.

    Args:
        effort: how much is spent on timing.
        longest: leaves chains of more links out.
        progress: called with the fraction done, 0 to 1.

    Raises:
        KumitateError: if the methods' accelerations differ: nothing is then timed.
    """
    effort = effort or Effort()
    chains = [(family, n) for family in FAMILIES for n in family.lengths if longest is None or n <= longest]
    entries: list[Entry] = []
    for done, (family, n) in enumerate(chains):
        if progress is not None:
            progress(done / (len(chains) + 2))
        entries.extend(measured(family, n, effort))
    inertias, found = tuple(measured_inertias(effort, longest)), tuple(abilities())
    if progress is not None:
        progress(1.0)
    return Comparison(machine(), tuple(entries), inertias, found, effort.rounds)


def curves(found: Comparison) -> dict[str, dict[str, dict[str, dict[int, float]]]]:
    """What figures 4.13, 4.16 and that of the inertia matrices show: by figure, panel ("traced [µs]", …), method and links."""
    figures: dict[str, dict[str, dict[str, dict[int, float]]]] = {}
    for family in FAMILIES:
        panels: dict[str, dict[str, dict[int, float]]] = {"dense blocks [µs]": {}, "traced [µs]": {}}
        for entry in found.entries:
            title = "traced [µs]" if entry.form == "traced" else "dense blocks [µs]"
            if entry.family == family.name and not entry.form.startswith("interpreted"):
                name = f"{entry.method}, prepared" if entry.form == "prepared" else entry.method
                panels[title].setdefault(name, {})[entry.links] = entry.timing.minimum * 1e6
        figures[f"comparison-{family.name}"] = panels
    return {**figures, "comparison-inertia": inertia_curves(found.inertias)}


METHODS = ("Lagrange", "CRBA", "ABA", "ADA", "hybrid", "hybrid, best")
_FORMS = ("interpreted", "interpreted, prepared", "dense blocks", "prepared", "traced")
_RATIOS = tuple(
    (form, method)
    for form, methods in (
        ("prepared", ("hybrid",)), ("dense blocks", ("hybrid", "hybrid, best")), ("interpreted, prepared", ("hybrid",)),
        ("interpreted", ("hybrid", "hybrid, best")), ("traced", ("hybrid", "hybrid, best")),
    )
    for method in methods
)  # fmt: skip

#: The thesis's ratios: of which chain, against which method.
_PRINTED = (("planar", "ADA", 0.60), ("space", "ADA", 0.66), ("planar", "Lagrange", 0.50))
#: The methods a prepared hybrid is compared with: ADA's dense blocks; Lagrange's equations prepared as well.
_BESIDE = {
    "ADA": {"prepared": "dense blocks", "interpreted, prepared": "interpreted"},
    "Lagrange": {"prepared": "traced", "interpreted, prepared": "interpreted"},
}

_HEAD = """# The methods compared

Printed by `scripts/study compare`.

The forward dynamics of two kinds of chains, by six methods and in five forms. One state at a time, one thread; every time
is the fastest of {rounds} samples, taken by turns in one run (a quarter as many for interpreted forms). All methods gave
the same accelerations before they were timed. Ratios are more reliable than times, which depend on what else the machine
does.

| form | what is computed |
| --- | --- |
| interpreted | Python runs the algorithm on floats, with dense matrices |
| interpreted, prepared | the same, where the equations of each sub-chain were derived symbolically |
| dense blocks | the same dense matrices in machine code; all numbers of the mechanism are inputs, nothing is simplified |
| prepared | the hybrid method as in the thesis: equations of sub-chains derived symbolically, dense matrices between them |
| traced | how kumitate computes: everything is simplified for the one mechanism |

| method | |
| --- | --- |
| Lagrange | M, c and g from the energies by exact derivatives ([lagrange.md](lagrange.md)) |
| CRBA | M by composite rigid bodies, the bias by Newton-Euler |
| ABA, ADA | articulated bodies; assembly and disassembly |
| hybrid | hybrid modelling with the sub-chains of the thesis: 4 + 3 links on the ground, threes in space |
| hybrid, best | with the sub-chains that need the fewest operations |

In space each rod has an inertia of 1e-6 kg·m² about its own axis. The thesis's times of Lagrange's method double with
every link; traced ones do not, because equal parts of its formulas are computed once.
"""
_RATIO_TEXT = """\
The thesis reports that the hybrid method takes 0.60 of ADA's time for 7 planar links, 0.66 for 12 links in space, and
0.50 of Lagrange's for 7 planar links. Verdicts are of the thesis's sub-chains, in the forms "prepared" (as in the thesis,
against ADA in dense blocks and against Lagrange's equations prepared as well, which are traced) and "dense blocks" (without
any preparation); other rows are for information. Lagrange's equations as the thesis prepared them double with every link;
here equal parts of them are computed once, so that 7 links are too few for the hybrid method to be faster.
Traced, the ratio may exceed 1, because ADA is simplified as well. A single sub-chain is the same as CRBA."""
_INERTIA_TEXT = """\
Three ways to compute the inertia matrix: composite rigid bodies, one inverse dynamics per column (unit vectors), and Σ
JᵀIJ over the links (Jacobians). The chains have revolute joints in general directions; PA-10 has parallel and
perpendicular axes; the floating arm is the one of table 4.3 with six links. In dense blocks the joints' axes are inputs
too. The unit-vector method skips the links before joint i; without that it costs more ([benchmarks.md](benchmarks.md))."""
_ABILITY_TEXT = f"""\
What each method can do, found by running it: loops on the planar four-bar linkage, forces at the joints of PA-10.
*Inverses* lists the sizes of the matrices that are inverted for one state of PA-10, and how many (hybrid: sub-chains of 3
links). *Operations* are of traced chains in space with {LENGTHS[0]}, {LENGTHS[1]} and {LENGTHS[2]} links, and *growth* is
their exponent between the last two. *Depth* is the length of the longest sequence of operations that depend on each
other; a growth near 0 means that the method can run in parallel (ADA and DCA in balanced order). The thesis says that ABA
and DCA do not give the forces at joints; they do, ABA by equation (2.23) and DCA in its second pass; Lagrange's method
does by multipliers, as the thesis says. Its table calls DCA constraint-oriented (COR), its text (2.2.3, eq. 2.35)
joint-oriented (JOR): this is the text's."""
_RATIO_HEAD = ("chain", "sub-chains", "form", "method", "against", "operations", "time", "thesis", "verdict")
_ABILITY_HEAD = (
    "method",
    "inertia",
    "joint",
    "loops",
    "forces at joints",
    "inverses",
    "operations",
    "growth",
    "depth",
    "its growth",
)


def _ratio(t: Target) -> tuple[str, ...]:
    ours = (f"{t.operations:.2f}", f"{t.time:.2f}")
    return (t.family, " + ".join(map(str, t.parts)), t.form, t.method, t.beside, *ours, f"≤ {t.at_most:.2f}", t.verdict)


def _ability(a: Ability) -> tuple[str, ...]:
    return (
        a.method, a.inertia, a.joint, "yes" if a.loops else "no", "yes" if a.forces else "no",
        ", ".join(f"{size}×{size}: {count}" for size, count in a.inverses.items()),
        " ".join(f"{count}" for count in a.operations.values()), f"n^{a.growth:.2f}",
        " ".join(f"{count}" for count in a.depth.values()), f"n^{a.deepening:.2f}",
    )  # fmt: skip


def _operations(entry: Entry) -> str:
    return f"{entry.operations}" + (f" ({' + '.join(map(str, entry.parts))})" if entry.method == "hybrid, best" else "")


def _time(entry: Entry) -> str:
    return seconds_text(entry.timing.minimum)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    head = list(head)
    return [line(head), line(["---"] * len(head)), *(line(row) for row in rows)]
