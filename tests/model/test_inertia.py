"""Inertias in files that no body has: warned of, made harmless, fixed, or kept as faults."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import check_inertias
from kumitate.model.read import read_urdf
from kumitate.model.read.parts import nearest_inertia


def robot(xx: float, yy: float, zz: float, mass: float = 1.0) -> str:
    inertia = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
    return f'<robot name="r">\n<link name="thing"><inertial><mass value="{mass}"/>\n{inertia}</inertial></link></robot>'


def read(text: str, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        body = read_urdf(text, **options).body("thing")
    assert all(issubclass(item.category, KumitateWarning) for item in caught)
    return np.diag(np.array(body.inertia)), [str(item.message) for item in caught]


@pytest.mark.parametrize("seed", range(10))
def test_the_nearest_inertia_is_one(seed):
    rng = np.random.default_rng(seed)
    given = rng.normal(size=(3, 3))
    found = nearest_inertia(given + given.T)
    a, b, c = np.linalg.eigvalsh(found)
    assert a >= -1e-12
    assert c <= (a + b) + 1e-12
    np.testing.assert_allclose(nearest_inertia(found), found, atol=1e-12)


def test_an_inertia_that_a_body_can_have_is_left_alone():
    for values in ((1.0, 2.0, 3.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0)):
        for fix in (False, True):
            inertia, said = read(robot(*values), fix_inertia=fix)
            assert tuple(inertia) == values
            assert not said


def test_a_large_negative_value_is_a_fault_and_can_be_fixed():
    with pytest.warns(KumitateWarning, match="large negative principal value"):
        mechanism = read_urdf(robot(-0.1, 1.0, 1.0))
    (fault,) = mechanism.faults
    for part in ("<text>:3", "'thing'", "negative principal value -0.1", "(-0.1, 1, 1)", "fix_inertia=True (--fix-inertia)"):
        assert part in fault
    with pytest.raises(ModelError) as caught:
        check_inertias(mechanism)
    assert str(caught.value) == fault
    check_inertias(replace(mechanism, faults=()))
    inertia, (said,) = read(robot(-0.1, 1.0, 1.0), fix_inertia=True)
    a, b, c = sorted(inertia)
    assert a >= 0.0
    assert c <= a + b + 1e-12
    assert "'thing' (-0.1, 1, 1) →" in said


@pytest.mark.parametrize("text", [robot(-9e-4, 1.0, 1.0), robot(-0.5, 1.0, 1.0, mass=1e-6)])
def test_small_negative_values_and_placeholders_are_read_as_zero(text):
    inertia, said = read(text)
    np.testing.assert_allclose(inertia, (0.0, 1.0, 1.0), atol=1e-12)
    assert len(said) == 1
    assert "small negative principal value" in said[0]
    assert "'thing'" in said[0]


def test_a_broken_triangle_is_used_as_given_or_fixed():
    inertia, (said,) = read(robot(1.0, 1.0, 4.0))
    assert tuple(inertia) == (1.0, 1.0, 4.0)
    assert "fix_inertia" in said
    inertia, (said,) = read(robot(1.0, 1.0, 4.0), fix_inertia=True)
    np.testing.assert_allclose(inertia, (2.0, 2.0, 4.0))
    assert "'thing' (1, 1, 4) → (2, 2, 4)" in said
