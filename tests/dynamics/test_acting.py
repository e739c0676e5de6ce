"""What acts on a mechanism, as one value: a method that knows nothing of integration steps refuses theirs."""

import re

import pytest

import kumitate as km
from kumitate.dynamics import Acting, joint_forces, loop_wrenches
from kumitate.errors import InputError
from kumitate.programs import FORWARD_DYNAMICS

AT_AN_INSTANT = {**FORWARD_DYNAMICS, "joint_forces": joint_forces, "loop_wrenches": loop_wrenches}
del AT_AN_INSTANT["aba"]


@pytest.mark.parametrize("sample", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("page", AT_AN_INSTANT.values(), ids=AT_AN_INSTANT)
@pytest.mark.parametrize("step", [{"implicit_step": 0.01}, {"baumgarte": 20.0}], ids=lambda step: next(iter(step)))
def test_what_belongs_to_an_integration_step_is_refused_where_it_would_be_dropped(sample, page, step):
    m = km.load(sample).mechanism
    q = [x for joint in m.joints for x in joint.kind.neutral()]
    still = [0.0] * m.nv
    ((name, value),) = step.items()
    with pytest.raises(InputError, match=re.escape(f"{name} is {value}, which only articulated bodies take into account")):
        page(m.tree, q, still, still, Acting(m.gravity, **step))
