"""The search for mechanisms that break a law: it finds them, makes them small, and writes what reproduces them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kumitate.dynamics import Acting, aba

from ..mechanisms import random_case
from . import on_demand, scenes_on_demand
from .on_demand import FAMILIES, LAWS, SELDOM, broken, hunt, read, shrunk


def test_laws_hold_over_some_mechanisms(tmp_path):
    found = hunt(iter(range(400, 404)), lambda: False, tmp_path, LAWS)
    assert not list(tmp_path.iterdir())
    assert {name: held for name, (held, _, _) in found.items()} == dict.fromkeys(LAWS, 4) | {"compiled": 1, "methods_agree": 1}
    assert all(most < 1.0 for _, most, _ in found.values())


@pytest.mark.parametrize(("family", "seeds"), [("loops", range(2, 5)), ("steps", range(7)), ("scenes", range(1))])
def test_laws_hold_over_some_loops_steps_and_scenes(family, seeds, tmp_path):
    kind = FAMILIES[family]
    found = hunt(
        iter(seeds), lambda: False, tmp_path, {n: law for n, law in kind.laws.items() if SELDOM.get(n, 1) < 20}, family
    )
    assert not list(tmp_path.iterdir())
    assert all(held >= len(seeds) // SELDOM.get(name, 1) for name, (held, _, _) in found.items())
    case = kind.draw(0)
    again = kind.read(json.loads(json.dumps(kind.plain(case))))
    assert kind.plain(again) == kind.plain(case)


def held_by_a_rod(case) -> float:
    """Made up: rods are wrong."""
    return 2.0 if any(loop.kind.name == "distance" for loop in case.mechanism.loops) else 0.0


def test_what_breaks_a_law_of_loops_is_made_small():
    kind = FAMILIES["loops"]
    case = next(case for case in map(kind.draw, range(30)) if held_by_a_rod(case))
    less = shrunk(held_by_a_rod, case, kind.smaller)
    assert (len(less.mechanism.loops), len(less.mechanism.couplings), any(less.v)) == (1, 0, False)
    assert len(less.mechanism.joints) < len(case.mechanism.joints)


def test_what_breaks_a_law_of_scenes_is_made_small():
    scene = next(s for s in map(scenes_on_demand.drawn, range(9)) if len(s.mechanism.joints) == len(s.q) // 7)
    less = shrunk(lambda scene: 2.0 * any(b.name == "body1" for b in scene.mechanism.bodies), scene, scenes_on_demand.smaller)
    assert [body.name for body in less.mechanism.bodies] == ["body1"]
    assert (len(less.q), len(less.v), less.friction, less.restitution) == (7, 6, 0.0, 0.0)


def slides_badly(case) -> float:
    """Made up: prismatic joints are wrong where they move."""
    wrong = [link for link in case.mechanism.tree.links if link.kind.name == "prismatic" and case.v[link.v_start]]
    return 2.0 if wrong else 0.0


def test_what_breaks_a_law_is_made_small_and_reproduced(tmp_path):
    seed = next(seed for seed in range(99) if slides_badly(random_case(seed)) and len(random_case(seed).mechanism.joints) > 5)
    found = hunt(iter([seed]), lambda: False, tmp_path, {"slides_badly": slides_badly})
    (path,) = found["slides_badly"][2]
    name, case, _ = read(path)
    assert name == "slides_badly"
    assert slides_badly(case) == 2.0
    assert [link.kind.name for link in case.mechanism.tree.links].count("prismatic") == 1
    assert len(case.mechanism.joints) <= 2  # it, and another one that carries it or cannot be left out
    assert np.count_nonzero(case.v) == 1
    assert not case.mechanism.frames


def test_errors_and_nan_break_a_law_and_stay_what_they_are():
    case = random_case(3)
    assert broken(lambda _: float("nan"), case) == "beyond its bound"
    assert broken(lambda _: 1 / 0, case) == "ZeroDivisionError"
    assert broken(lambda _: 0.5, case) == ""

    def error_with_two(case) -> float:
        if len(case.mechanism.joints) >= 2:
            raise ValueError("two")
        return 2.0

    assert len(shrunk(error_with_two, random_case(11)).mechanism.joints) == 2


def test_a_wrong_page_is_found(monkeypatch):
    """Gravity a tenth of a millionth too strong."""
    monkeypatch.setitem(
        on_demand.FORWARD_DYNAMICS, "wrong",
        lambda tree, q, v, tau, acting: aba(tree, q, v, tau, Acting(tuple(g * (1.0 + 1e-7) for g in acting.gravity))),
    )  # fmt: skip
    assert any(broken(on_demand.methods_agree, random_case(seed)) for seed in range(4))
