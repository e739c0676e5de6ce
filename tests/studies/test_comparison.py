"""The comparison of methods: all forms of a method agree, counts are what they are called, ratios are those of the tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.dynamics import Acting, aba
from kumitate.dynamics.hybrid import hybrid_operations
from kumitate.measure.timing import Effort, random_states
from kumitate.model import Mechanism
from kumitate.model.samples import FLOATING_ARM_START, floating_arm, floating_chain, planar_7r, planar_chain
from kumitate.model.tree.subchains import parts_by_cuts
from studies.bench.dense import dense_program
from studies.comparison import compare
from studies.comparison.abilities import abilities
from studies.comparison.chains import chain_in_space
from studies.comparison.dense import dense_aba, dense_ada, dense_crba, dense_hybrid, dense_lagrange, prepared_hybrid
from studies.comparison.growth import plot_growth
from studies.comparison.inertia import INERTIA_METHODS
from studies.comparison.report import curves
from studies.comparison.times import FAMILIES, Entry

CASES = [(planar_chain(5), {2, 4}), (planar_chain(7), {4}), (floating_chain(4, axial_inertia=0.01), {1, 3})]


def dense_forms(mechanism: Mechanism, cuts):
    tree, gravity, parts = mechanism.tree, mechanism.gravity, parts_by_cuts(mechanism.tree, cuts)
    return {
        "lagrange": dense_lagrange(tree, gravity),
        "crba": dense_crba(tree, gravity),
        "aba": dense_aba(tree, gravity),
        "ada": dense_ada(tree, gravity),
        "hybrid": dense_hybrid(tree, gravity, parts),
        "prepared": prepared_hybrid(tree, gravity, parts),
    }


@pytest.mark.row("T-4.3", "T-4.4")
@pytest.mark.parametrize(("mechanism", "cuts"), CASES, ids=lambda x: getattr(x, "name", ""))
def test_every_dense_form_gives_the_accelerations_compiled_and_interpreted(mechanism, cuts):
    states = random_states(mechanism, 3)
    expected = np.array([aba(mechanism.tree, *row, Acting(mechanism.gravity)) for row in zip(*map(np.ndarray.tolist, states))])  # noqa: B905
    for name, form in dense_forms(mechanism, cuts).items():
        compiled = Kernel(form.program(mechanism.tree, name))(*states, np.tile(form.constants, (3, 1)))
        by_python = [form.page(*row, form.constants.tolist()) for row in zip(*map(np.ndarray.tolist, states))]  # noqa: B905
        for found in (compiled, by_python):
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max(), err_msg=name)


def test_the_program_of_a_dense_form_knows_no_number_of_the_mechanism():
    """One program serves another chain with the same joints: longer, heavier, askew."""
    one, other = floating_chain(3, axial_inertia=0.01), floating_chain(3, axial_inertia=0.3)
    parts = parts_by_cuts(one.tree, {1})
    made, wanted = (dense_hybrid(m.tree, m.gravity, parts) for m in (one, other))
    states = random_states(other, 2)
    expected = [aba(other.tree, *row, Acting(other.gravity)) for row in zip(*map(np.ndarray.tolist, states))]  # noqa: B905
    found = Kernel(made.program(one.tree, "made"))(*states, np.tile(wanted.constants, (2, 1)))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.row("T-4.3", "T-4.4")
@pytest.mark.parametrize(("family", "links", "bar"), [("planar", 7, 0.60), ("space", 12, 0.66)])
def test_hybrid_takes_the_thesis_part_of_the_operations_of_ada(family, links, bar):
    chosen = next(item for item in FAMILIES if item.name == family)
    mechanism = chosen.build(links)
    tree, gravity, parts = mechanism.tree, mechanism.gravity, chosen.partition(mechanism.tree)
    assert [len(part) for part in parts] == ([4, 3] if family == "planar" else [3, 3, 3, 3])
    ada = dense_ada(tree, gravity).program(tree, "ada").operations.total()
    assert prepared_hybrid(tree, gravity, parts).program(tree, "hybrid").operations.total() <= bar * ada
    assert hybrid_operations(tree, parts) < dense_hybrid(tree, gravity, parts).program(tree, "dense").operations.total()


@pytest.mark.row("T-2.3")
def test_the_abilities_are_those_of_table_2_3():
    table = {line.method: line for line in abilities()}
    assert list(table) == ["Lagrange", "ABA", "DCA", "ADA", "hybrid"]
    assert all(line.loops for line in table.values())
    assert {name for name, line in table.items() if line.forces} == {"Lagrange", "ABA", "DCA", "ADA"}
    assert table["DCA"].inverses == {6: 7, 1: 7}
    assert table["ADA"].inverses == {5: 7}
    assert table["ABA"].inverses == {1: 7}
    assert table["Lagrange"].inverses == {7: 1}
    assert table["Lagrange"].growth > 1.6 > 1.4 > max(table[name].growth for name in ("ABA", "DCA", "ADA", "hybrid"))
    assert max(table["ADA"].deepening, table["DCA"].deepening) < 0.6 < 0.9 < table["ABA"].deepening  # log n, and n


@pytest.fixture(scope="module")
def small():
    return compare(effort=Effort.quick(), longest=3)


def test_a_small_comparison_has_every_table_and_agrees(small):
    assert {entry.form for entry in small.entries} >= {"interpreted", "dense blocks", "prepared", "traced"}
    assert max(entry.agreement for entry in small.entries) < 1e-6
    text = small.markdown()
    assert text.count("\n| form | method |") == 7
    assert "| thesis, s per 10 s | ADA | 6.2 | 17.8 |" in text
    json.dumps(small.as_dict())


def test_ratios_are_those_of_the_entries(small):
    ratio = next(t for t in small.targets if t.form == "prepared")
    ours, other = (small.entry("space", 3, form, m) for form, m in (("prepared", "hybrid"), ("dense blocks", "ADA")))
    assert ratio.operations == ours.operations / other.operations
    assert ratio.time == ours.timing.minimum / other.timing.minimum
    assert {t.beside for t in small.targets} == {"ADA"}  # against Lagrange the planar chain is printed, which is whole here
    assert all(bool(t.verdict) == (t.form in ("dense blocks", "prepared") and t.method == "hybrid") for t in small.targets)
    with pytest.raises(KeyError):
        small.entry("space", 99, "traced", "ADA")


@pytest.mark.row("C-crb", "C-uv", "C-mj")
def test_inertia_matrices_on_equal_footing(small):
    assert {(e.form, e.method) for e in small.inertias} == {
        (form, method) for form in ("interpreted", "dense blocks", "traced") for method in INERTIA_METHODS
    }
    assert all(entry.agreement < 1e-11 for entry in small.inertias)
    counts = {e.method: e.operations for e in small.inertias if (e.links, e.form) == (3, "traced")}
    assert counts["composite bodies"] == min(counts.values())


@pytest.mark.row("C-crb", "C-uv", "C-mj")
@pytest.mark.parametrize(("links", "fewest"), [(3, "Jacobians"), (7, "composite bodies")])
def test_composite_bodies_take_the_fewest_operations_from_arms_on(links, fewest):
    """All grow with the square of the links; composite bodies have more to do for each link and less for each pair."""
    tree = chain_in_space(links).tree
    counts = {name: dense_program(page, tree, name).operations.total() for name, page in INERTIA_METHODS.items()}
    assert min(counts, key=counts.__getitem__) == fewest


@pytest.mark.row("T-lag", "T-4.3")
def test_lagrange_is_derived_from_the_energies_and_takes_more_than_composite_bodies(small):
    """By what O(n²) of second derivatives cost; from one link, where M is a number, to where chains begin to differ."""
    for form in ("dense blocks", "traced"):
        assert small.entry("planar", 1, form, "Lagrange").operations == small.entry("planar", 1, form, "CRBA").operations
        assert small.entry("planar", 3, form, "Lagrange").operations > small.entry("planar", 3, form, "CRBA").operations


def test_figures_show_every_compiled_entry(small, tmp_path):
    drawn = curves(small)
    shown = sum(len(values) for panels in drawn.values() for lines in panels.values() for values in lines.values())
    compiled: list[Entry] = [entry for entry in small.entries if not entry.form.startswith("interpreted")]
    matrices = [entry for entry in small.inertias if entry.form != "interpreted"]
    assert shown == len(compiled) + len(matrices)
    for name, panels in drawn.items():
        assert plot_growth(panels, tmp_path / f"{name}.png").stat().st_size > 5000


@pytest.mark.row("T-4.1", "T-4.2")
def test_the_arms_are_those_of_the_thesis():
    planar, floating = planar_7r(), floating_arm()
    assert (planar.nv, floating.nv, len(floating.bodies)) == (7, 11, 6)
    assert [tuple(joint.axis) for joint in floating.joints[1:]] == [(0, 0, 1), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1)]
    assert all(tuple(joint.axis) == (0, 1, 0) for joint in planar.joints)
    assert [len(part) for part in FLOATING_ARM_START] == [floating.nq, floating.nv]
