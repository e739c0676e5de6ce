"""The examples of virtual loops: what they say of sampling, and their figures."""

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.view.panels import panels_of
from studies.papers import all_examples
from studies.papers.four_link_arm import closed_form, tip, tip_velocity


@pytest.mark.row("T-7.1")
def test_the_arm_without_control_falls_and_shows_its_tip():
    result = all_examples()["four_link_arm"].run()
    assert result.audit.energy_drift < 1e-6
    panels = {panel.quantity: panel for panel in panels_of(result, all_examples()["four_link_arm"].panels)}
    assert list(panels) == [
        "Joint angle", "Joint angular velocity", "Joint angular acceleration", "Joint torque", "Position of tip",
        "Velocity of tip", "Energy",
    ]  # fmt: skip
    assert panels["Position of tip"].names == ("x", "z")
    np.testing.assert_allclose(panels["Position of tip"].values, tip(result.q), atol=1e-12)
    np.testing.assert_allclose(panels["Velocity of tip"].values, tip_velocity(result.q, result.v), atol=1e-11)
    with pytest.raises(InputError, match="there are world"):
        panels_of(result, ("position:hand",))
    with pytest.raises(InputError, match="position:NAME"):
        panels_of(result, ("place:tip",))


@pytest.mark.row("T-7.2", "T-7.4")
@pytest.mark.parametrize(("name", "goal"), [("virtual_four_bar", 0.0), ("virtual_four_bar_singular", 95.0)])
def test_the_linkages_say_what_sampling_does_and_have_their_figures(name, goal, tmp_path):
    pytest.importorskip("matplotlib")
    from kumitate.view.figures import plot_plate

    shown = all_examples()[name]
    result = shown.run()
    np.testing.assert_allclose(result.q[:, 0], closed_form(result.time, result.q[0, 0], np.radians(goal)), atol=1e-7)
    said = next(note for note in result.audit.notes if "held for 1 ms" in note)
    whole, held, drawn = (float(part.split(" m ")[0].split()[-1]) for part in said.split(";"))
    assert whole < 1e-8
    assert drawn < 1e-5
    assert held > 1e-3
    for plate_name, plate in shown.plates(result).items():
        assert all(panel.values.shape == (len(result), len(panel.names)) for panel in plate.panels)
        drawn_file = plot_plate(result.time, plate, tmp_path / f"{plate_name}.png")
        assert drawn_file.stat().st_size > 10_000
