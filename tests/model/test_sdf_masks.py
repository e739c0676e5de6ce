"""Masks of SDF: the bodies that they keep apart, against the format's rule pair by pair; what is refused and remarked."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from kumitate.contact.scene import Contact, contact_pairs
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model.read import read_sdf


def ball(name: str, *masks: tuple[int | str | None, int | str | None], inside: str = "", static: bool = False) -> str:
    """A model of one link, with a sphere of every (collide_bitmask, category_bitmask)."""
    shapes = "".join(f"<collision name='{name}{k}'><geometry><sphere><radius>.1</radius></sphere></geometry>"
                     f"{surface(*mask, inside)}</collision>" for k, mask in enumerate(masks))  # fmt: skip
    return f"<model name='{name}'><static>{str(static).lower()}</static><link name='{name}'>{INERTIAL}{shapes}</link></model>"


INERTIAL = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


def surface(touches, category, inside: str) -> str:
    tags = {"collide_bitmask": touches, "category_bitmask": category}
    text = "".join(f"<{tag}>{value}</{tag}>" for tag, value in tags.items() if value is not None)
    return f"<surface>{inside}<contact>{text}</contact></surface>" if text else ""


def read(*models: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_sdf(f"<sdf version='1.9'><world name='w'><gravity>0 0 -9.81</gravity>{''.join(models)}</world></sdf>")


@pytest.mark.parametrize("seed", range(5))
def test_bodies_are_kept_apart_by_the_rule_of_the_format(seed):
    """(category1 & touches2) | (category2 & touches1) must not be zero; a missing category is the mask, a missing mask all."""
    rng = np.random.default_rng(seed)
    draw = [[None, None], [int(1 << rng.integers(4)), None], [int(rng.integers(1, 16)), int(1 << rng.integers(4))]]
    given = {f"m{k}": [tuple(draw[rng.integers(3)]) for _ in range(rng.integers(1, 3))] for k in range(8)}
    given |= {"low": [(1, None)], "high": [(8, None)]}
    mechanism = read(*(ball(name, *masks, static=name == "low") for name, masks in given.items()))

    def may(one, two) -> bool:
        (a, b), (c, d) = ((0xFFFF if touches is None else touches, category) for touches, category in (one, two))
        return bool(((a if b is None else b) & c) | ((c if d is None else d) & a))

    wanted = {
        tuple(sorted((f"{one}::{one}", f"{two}::{two}")))
        for one, two in combinations(given, 2)
        if not any(may(a, b) for a in given[one] for b in given[two])
    }
    assert wanted
    assert set(mechanism.no_contact) == wanted
    touching = {pair.bodies for pair in contact_pairs(mechanism, mechanism.base_parameter_tree, Contact())}
    assert not any(tuple(sorted(pair)) in wanted for pair in touching)


def test_bodies_that_joints_connect_are_not_named():
    """As in MJCF files: such bodies touch only on request."""
    links = "".join(f"<link name='{n}'>{INERTIAL}<collision name='c'><geometry><sphere><radius>.1</radius></sphere></geometry>"
                    f"{surface(mask, None, '')}</collision></link>" for n, mask in (("a", 1), ("b", 2)))  # fmt: skip
    joint = "<joint name='j' type='ball'><parent>a</parent><child>b</child></joint>"
    assert read_sdf(f"<sdf version='1.9'><model name='m'>{links}{joint}</model></sdf>").no_contact == ()


def test_a_mask_of_zero_leaves_the_collision_out_with_a_remark():
    with pytest.warns(
        KumitateWarning, match=r"<collision> with a bitmask of 0, which nothing may touch, left out \(one0 in line 1\)"
    ):
        mechanism = read_sdf(f"<sdf version='1.9'>{ball('one', (0, None), (3, None))}</sdf>")
    assert len(mechanism.bodies[0].collisions) == 1


def test_the_rest_of_surfaces_is_remarked():
    with pytest.warns(KumitateWarning, match=r"<friction>: contact settings of another simulator, not used"):
        read_sdf(f"<sdf version='1.9'>{ball('one', (1, None), inside='<friction/>')}</sdf>")


@pytest.mark.parametrize("text", ["-1", "65536", "1.5", "all", "1_0"])
def test_masks_that_are_no_bits_are_refused(text):
    with pytest.raises(
        ModelError, match=r":1: <collide_bitmask> .* is not a whole number of 16 bits; write one from 0 to 65535"
    ):
        read_sdf(f"<sdf version='1.9'>{ball('one', (text, None))}</sdf>")
