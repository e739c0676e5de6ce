"""All passes from a page to machine code, in their order. `python -m kumitate.compile` prints them.

The first passes make a program and belong to `scalar.trace`; the others take programs to machine code, and their results stand
in one `Compilation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..scalar import Program, trace, under_way
from ..scalar.blocks import family
from ..scalar.passes import PROGRAM_PASSES, Pass
from ..scalar.verify import verifying
from .disk import CacheEntry
from .engine import Code, kept_image
from .engine import generate as generate_image
from .engine import link as link_image
from .fastcall import FAST_ENTRY, FastWrapper, can_wrap
from .llvm import Entry, write_module
from .llvm.body import hole_name
from .llvm.entries import OnBlocks
from .llvm.plan import check_partition, line_partition
from .stored import StoredProgram, joint_key, source_stamp, traced
from .target import DOUBLE, Precision, Target, host


@dataclass
class Compilation:
    """Programs on their way to machine code: what is wanted, and what the passes so far have made.

    Attributes:
        entry: how the code is called.
        lanes, precision, portable: as of `llvm.write_module`.
        python: whether there is to be a built-in Python function; `truth`: whether that returns the result as True or False.
        quick: whether LLVM takes as little time as it can, for what few states need.
        key: what says, with the options here, which object file it is, so that it is found on disk without being written first:
            the keys of its programs, unless others are given; "" if only its text says so.
        fillings: programs for holes, by the holes' names.
        shared: programs that have modules of their own, as other code calls them too; each may call those before it.
        target: the processor.
        text: the LLVM module.
        image, code: the object file, and what is in memory.
    """

    entry: Entry
    lanes: int
    precision: Precision = DOUBLE
    portable: bool = False
    python: bool = False
    truth: bool = False
    quick: bool = False
    key: str = ""
    fillings: Mapping[str, Program] = field(default_factory=dict)
    shared: Sequence[Program | StoredProgram] = ()
    target: Target = field(default_factory=host)
    text: str = ""
    image: CacheEntry | None = None
    code: Code | None = None

    def __post_init__(self) -> None:
        self.key = self.key or joint_key(self.entry.programs)

    @property
    def functions(self) -> list[str]:
        """The functions of the module whose addresses are wanted."""
        return [self.entry.name, *([FAST_ENTRY] if self.python and can_wrap() else [])]

    def alone(self, entry: Entry, key: str = "", shared: Sequence[Program | StoredProgram] = ()) -> Compilation:
        """A compilation of another entry with the same options, which this one's code is linked with."""
        return Compilation(entry, self.lanes, self.precision, self.portable, key=key, shared=shared, target=self.target)


def partition(work: Compilation) -> None:
    """Decides how long lines are cut, of the entry's programs and of all that they call."""
    for program in family(map(traced, work.entry.programs)):
        parts = line_partition(program)
        if parts is not None and verifying():
            check_partition(program, parts)


def write(work: Compilation) -> None:
    """Writes the LLVM module."""
    shared = {traced(program): _shared_name(program) for program in work.shared}
    work.text = write_module(work.entry, work.lanes, work.precision, portable=work.portable, shared=shared)


def wrap(work: Compilation) -> None:
    """Adds the Python function, if one is wanted and this interpreter can have it."""
    if work.python and can_wrap():
        wrapper = FastWrapper(work.entry.programs[0], work.lanes, work.precision, truth=work.truth).text(work.entry.name)
        work.text = f"{work.text}\n{wrapper}\n"


def generate(work: Compilation) -> None:
    """Makes the object file, or finds it on disk."""
    work.image = generate_image(work.text, work.target, kept=not work.key, quick=work.quick)


def link(work: Compilation) -> None:
    """Puts the object file into memory."""
    assert work.image is not None
    images = [work.image, *(_filling(work, name, program) for name, program in work.fillings.items())]
    work.code = link_image(images, work.functions, [_shared(work, place) for place in range(len(work.shared))])


def _shared_name(program: Program | StoredProgram) -> str:
    """The name of the function of a shared program: by its key, else by its text."""
    if isinstance(program, StoredProgram):
        return f"shared_{program.key}"
    if program not in _NAMES:
        import hashlib

        _NAMES[program] = f"shared_{hashlib.sha256(str(program).encode()).hexdigest()}"
    return _NAMES[program]


def _shared(work: Compilation, place: int) -> Code:
    """The machine code of the shared program at a place, which stays in memory as long as code that calls it."""
    program, name = work.shared[place], _shared_name(work.shared[place])
    options = (name, work.lanes, work.precision.name, work.portable, work.target)
    found = _SHARED.get(options)
    if found is None:
        entry = OnBlocks(name, program, own_memory=False)
        found = _SHARED[options] = machine_code(work.alone(entry, shared=work.shared[:place]))
    return found


def _filling(work: Compilation, name: str, program: Program) -> CacheEntry:
    """The object file of a program for a hole, made once for all code with such a hole."""
    options = (name, work.lanes, work.precision.name, work.portable, work.target)
    known = _FILLINGS.setdefault(program, {})
    if options not in known:
        content = f"{source_stamp()}\0filling\0{program}"  # its text says all of it, and is shorter than that of its module
        known[options] = object_file(work.alone(OnBlocks(hole_name(name), program, own_memory=True), content))
    return known[options]


#: The object files of programs in holes, by program and options.
_FILLINGS: WeakKeyDictionary[Program, dict[tuple[Any, ...], CacheEntry]] = WeakKeyDictionary()

#: The names of shared programs that have no key.
_NAMES: WeakKeyDictionary[Program, str] = WeakKeyDictionary()

#: The machine code of shared programs, by name and options.
_SHARED: WeakValueDictionary[tuple[Any, ...], Code] = WeakValueDictionary()

#: From programs to machine code. Each reads and adds to a `Compilation`.
CODE_PASSES: tuple[Pass, ...] = (
    Pass("partition", "cuts lines of more than 60 000 nodes into functions of 1000, with what crosses in memory", partition),
    Pass("write", "writes LLVM text: the entry around the program's body, and every called program once", write),
    Pass("wrap", "adds a built-in Python function that checks arrays and calls the entry", wrap),
    Pass(
        "generate",
        "has LLVM make an object file, its scheduler on for short code, or takes the one of the same text from disk",
        generate,
    ),
    Pass(
        "link",
        "puts the object file into memory, with those that fill its holes, and gives the addresses of its functions",
        link,
    ),
)
_TRACE = Pass(
    "trace", "runs the page over symbols: nodes, simplified by the rules, equal ones once, loop-invariant ones outside", trace
)
#: All of them.
PASSES: tuple[Pass, ...] = (_TRACE, *PROGRAM_PASSES, *CODE_PASSES)


def compiled(name: str, begun: dict[int, Compilation], wanted: Compilation, fillings: Mapping[str, Program]) -> Code:
    """The machine code of a compilation, with what fills its holes; `begun`: those without fillings, by their lanes."""
    with under_way(lambda: f"compiling {name}") as work:
        known = begun.setdefault(wanted.lanes, wanted)
        object_file(known)
        code = machine_code(replace(known, fillings=fillings))
        work.note = "; the next time it is read from disk" if code.on_disk else ""
    return code


def machine_code(work: Compilation) -> Code:
    """The machine code of a compilation that begins, or of one that has its object file and lacks only fillings."""
    object_file(work)
    CODE_PASSES[-1].run(work)
    assert work.code is not None
    return work.code


def object_file(work: Compilation) -> CacheEntry:
    """The object file of a compilation: all passes but the last."""
    if work.image is None:
        if work.key:
            options = f"{work.entry.name} {work.lanes} {work.precision.name} {work.portable} {work.truth} {work.quick} "
            options += str(work.functions)
            options += "".join(f" {_shared_name(program)}" for program in work.shared)
            work.image = kept_image(f"{work.key} {options}", work.target, lambda: _generated(work).content)
        else:
            work.image = _generated(work)
    return work.image


def _generated(work: Compilation) -> CacheEntry:
    """The object file by all passes but the last, over a copy: threads that call a new kernel at once begin with the same."""
    copy = replace(work)
    for step in CODE_PASSES[:-1]:
        step.run(copy)
    assert copy.image is not None
    return copy.image


def pass_table() -> str:
    """The passes as a table of Markdown, as docs/architecture.md shows it."""
    places = [f"{step.run.__module__.removeprefix('kumitate.')}.{step.run.__qualname__}" for step in PASSES]
    named = enumerate(zip(PASSES, places, strict=True), start=1)
    rows = [f"| {k} | `{step.name}` | {step.does} | `{place}` |" for k, (step, place) in named]
    return "\n".join(["| | pass | what it does | function |", "|---|---|---|---|", *rows])
