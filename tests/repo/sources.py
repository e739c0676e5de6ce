"""Where the sources of the package and of its studies are, and what their files import."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "kumitate"
PROBLEMS = ROOT / "src" / "kumitate_problems"
STUDIES = ROOT / "studies"

#: In the order that data flows in: a room imports only from itself and from rooms before it.
ROOMS = (
    "scalar", "compile", "cuda", "procedure", "spatial", "model", "kinematics", "dynamics", "lagrange", "contact", "held",
    "analysis", "inverse_kinematics", "control", "records", "simulate", "slopes", "measure", "diagnose", "examples", "view",
    "share", "live", "programs", "export", "calls", "derivatives", "outputs", "robot", "loading", "run", "runs", "simulation",
    "world", "predictive", "pullbacks", "torch", "identification", "scenario", "sweeps", "papers", "gym", "cli",
)  # fmt: skip


@cache
def modules() -> list[Path]:
    """All Python files of the package."""
    return sorted(PACKAGE.rglob("*.py"))


@cache
def studies() -> list[Path]:
    """All Python files of the studies."""
    return sorted(STUDIES.rglob("*.py"))


@cache
def sources() -> list[Path]:
    """All Python files of the package, of the reference problems that it installs beside it, and of its studies."""
    return [*modules(), *sorted(PROBLEMS.rglob("*.py")), *studies()]


def title(path: Path) -> str:
    """A file's path inside the package, or inside the checkout for a study: for messages and test names."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()


def dotted(path: Path) -> str:
    """A file's name as a module: "kumitate.model.joints.turning"."""
    top = PACKAGE.parent if path.is_relative_to(PACKAGE.parent) else ROOT
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def text(path: Path) -> str:
    """What stands in a file."""
    return path.read_text(encoding="utf-8")


def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(text(path), filename=str(path))


def room(module: str) -> str:
    """The room that a module of kumitate is in: "model" for "kumitate.model.joints"; "" for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """(line, module) of all that a file imports of kumitate and its studies, wherever in the file, relative or not."""
    here = dotted(path).split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            # `from .. import errors` imports the module errors, not the package
            names = [f"{origin}.{alias.name}" for alias in node.names] if _is_package_root(origin) else [origin]
        else:
            continue
        found += [(node.lineno, name) for name in names if name.split(".")[0] in {"kumitate", "studies"}]
    return found


def _is_package_root(module: str) -> bool:
    return module == "kumitate"


@cache
def modules_imported(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in it: `from .joints import contract` imports that file."""
    here = dotted(path).split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if is_module(alias.name)}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                found |= {inner} if is_module(inner) else {origin} if is_module(origin) else set()
    return found


@cache
def is_module(name: str) -> bool:
    """Whether the package has a file of this name."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """The sets of names that lead to each other along arrows, two names or more each."""
    reached: dict[str, set[str]] = {}
    for name in arrows:
        waiting, seen = [name], set()
        while waiting:
            for after in arrows.get(waiting.pop(), ()):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        reached[name] = seen
    rings = {frozenset({name} | {other for other in reached[name] if name in reached.get(other, ())}) for name in arrows}
    return [set(ring) for ring in rings if len(ring) > 1]
