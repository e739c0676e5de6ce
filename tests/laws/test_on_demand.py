"""The search for mechanisms that break a law: it finds them, makes them small, and writes what reproduces them."""

from __future__ import annotations

import numpy as np

from kumitate.dynamics import Acting, aba

from ..mechanisms import random_case
from . import on_demand
from .on_demand import LAWS, broken, hunt, read, shrunk


def test_laws_hold_over_some_mechanisms(tmp_path):
    found = hunt(iter(range(400, 404)), lambda: False, tmp_path, LAWS)
    assert not list(tmp_path.iterdir())
    assert {name: held for name, (held, _, _) in found.items()} == dict.fromkeys(LAWS, 4) | {"compiled": 1, "methods_agree": 1}
    assert all(most < 1.0 for _, most, _ in found.values())


def slides_badly(case) -> float:
    """Made up: prismatic joints are wrong where they move."""
    wrong = [link for link in case.mechanism.tree.links if link.kind.name == "prismatic" and case.v[link.v_start]]
    return 2.0 if wrong else 0.0


def test_what_breaks_a_law_is_made_small_and_reproduced(tmp_path):
    seed = next(seed for seed in range(99) if slides_badly(random_case(seed)) and len(random_case(seed).mechanism.joints) > 5)
    found = hunt(iter([seed]), lambda: False, tmp_path, {"slides_badly": slides_badly})
    (path,) = found["slides_badly"][2]
    name, case = read(path)
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
