"""The descriptions in a file of FMI: modelDescription.xml, of version 2.0 or 3.0, and how its sources are built."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..version import __version__
from .unit import FIXED, INPUT, RATE, SEEN, TUNABLE, FmuModel, Variable

#: Powers of the base units in what others are made of.
_MADE_OF = {"N": {"kg": 1, "m": 1, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3}, "1": {}}
_SIGNS = str.maketrans({"·": ".", "²": "2", "³": "3"})


def base_unit(unit: str) -> dict[str, int]:
    """The powers of the base units of SI, and of radians, in a unit.

    >>> base_unit("N·m·s/rad")
    {'kg': 1, 'm': 2, 's': -1, 'rad': -1}
    """
    powers: Counter[str] = Counter()
    for k, part in enumerate(unit.translate(_SIGNS).split("/")):
        for word in part.strip("()").split("."):
            found = re.fullmatch(r"([A-Za-z]+|1)(\d?)", word)
            if found is None:
                return {}
            for base, power in _MADE_OF.get(found[1], {found[1]: 1}).items():
                powers[base] += (-1 if k else 1) * power * int(found[2] or 1)
    return {base: power for base, power in powers.items() if power}


def model_description(model: FmuModel, version: str, name: str, token: str, glue: str) -> bytes:
    """modelDescription.xml."""
    third = version == "3.0"
    root = Element("fmiModelDescription", {
        "fmiVersion": version, "modelName": model.code.mechanism.name, "instantiationToken" if third else "guid": token,
        "description": f"{model.code.mechanism.name}: a mechanism simulated in steps of {model.simulation.step_size:g} s",
        "generationTool": f"kumitate {__version__}", "variableNamingConvention": "structured",
        **({} if third else {"numberOfEventIndicators": "0"}),
    })  # fmt: skip
    state = "FMUState" if third else "FMUstate"
    able = {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    slopes = {"providesDirectionalDerivatives" if third else "providesDirectionalDerivative": "true"} if model.dots else {}
    kinds = {} if model.exchange else {"ModelExchange": able | slopes}
    kinds["CoSimulation"] = able | {"canHandleVariableCommunicationStepSize": "true"}
    for kind, options in kinds.items():
        element = SubElement(root, kind, {"modelIdentifier": name, **options})
        if not third:
            SubElement(SubElement(element, "SourceFiles"), "File", {"name": glue})
    units = SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(one.unit for one in model.variables):
        if unit:
            powers = {base: str(power) for base, power in base_unit(unit).items()}
            SubElement(SubElement(units, "Unit", {"name": unit.translate(_SIGNS)}), "BaseUnit", powers)
    if not len(units):
        root.remove(units)
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError", "description": "why a call failed"})
    SubElement(root, "DefaultExperiment", {
        "startTime": "0", "stopTime": "1", "stepSize": repr(model.simulation.step_size),
    })  # fmt: skip
    variables = [Variable("time", "time", 0, 1, "s"), *model.variables]
    listed = SubElement(root, "ModelVariables")
    index = {one.at: k for k, one in enumerate(variables, 1)}
    for one in variables:
        common, own = _attributes(one, index if not third else None)
        if third:
            SubElement(listed, "Float64", common | own)
        else:
            SubElement(SubElement(listed, "ScalarVariable", common), "Real", own)
    _structure(SubElement(root, "ModelStructure"), model, index, third=third)
    return _text(root)


def _attributes(one: Variable, index: dict[int, int] | None) -> tuple[dict[str, str], dict[str, str]]:
    """What is said of a variable, and of its value; `index`: of variables by their places, where these are named by it."""
    kinds = {
        INPUT: ("input", "continuous", ""),
        TUNABLE: ("parameter", "tunable", "exact"),
        FIXED: ("parameter", "fixed", "exact"),
    }
    causality, variability, initial = next(
        (said for bit, said in kinds.items() if one.sort & bit),
        ("output" if one.sort & SEEN else "local", "continuous", "calculated"),
    )
    if one.at == 0:
        causality, initial = "independent", ""
    common = {"name": one.name, "valueReference": str(one.at), "causality": causality, "variability": variability}
    common |= {"initial": initial} if initial else {}
    common |= {"description": one.own} if one.own != one.name else {}
    own = {"unit": one.unit.translate(_SIGNS)} if one.unit and one.at else {}
    own |= {} if one.start is None else {"start": repr(one.start)}
    if one.of is not None:
        own["derivative"] = str(one.of if index is None else index[one.of])
    return common, own


def _structure(element: Element, model: FmuModel, index: dict[int, int], *, third: bool) -> None:
    """What follows from what: nothing is said of dependencies, so that all may depend on all."""
    seen = [one.at for one in model.variables if one.sort & SEEN]
    rates = [one.at for one in model.variables if one.sort & RATE]
    first = sorted([*seen, *rates, *model.states])
    groups: Iterable[tuple[str, str, Sequence[int]]] = (
        ("Outputs", "Output", seen),
        ("Derivatives", "ContinuousStateDerivative", rates),
        ("InitialUnknowns", "InitialUnknown", first),
    )
    for group, name, places in groups:
        if third:
            for at in places:
                SubElement(element, name, {"valueReference": str(at)})
        elif places:
            inside = SubElement(element, group)
            for at in places:
                SubElement(inside, "Unknown", {"index": str(index[at])})


def build_description(name: str, glue: str, options: Sequence[str]) -> bytes:
    """buildDescription.xml of version 3.0."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    configuration = SubElement(root, "BuildConfiguration", {"modelIdentifier": name})
    files = SubElement(configuration, "SourceFileSet", {"language": "C99", "compilerOptions": " ".join(options)})
    SubElement(files, "SourceFile", {"name": glue})
    return _text(root)


def _text(root: Element) -> bytes:
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"
