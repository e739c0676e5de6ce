"""Balance with feet that may lift (T-f4): laws, drives, and what the floor bears."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kumitate.errors import InputError
from studies.papers import standing
from studies.papers.on_feet import LAWS, Drives, fate, footing, own_damping, robot, run
from studies.papers.on_feet_account import PUSHES, drives_table, push_table
from studies.papers.standing import read

from ..mechanisms import seeds


@cache
def outcome(name: str, drives: Drives = Drives(), force: float | None = None, duration: float = 6.0):  # noqa: B008  # frozen
    strategy = LAWS[name]
    if force is not None:
        strategy = replace(strategy, force=(force, 0.0, 0.0))
    result = run(strategy, drives, duration=duration)
    return result, footing(result), read(strategy, result)


@pytest.mark.parametrize("name", LAWS)
def test_own_dampers_are_what_the_law_does_against_a_joints_own_rate(name):
    """At rest, and turned far beyond the splines' knots, −∂τ_i/∂v_i is between the least and the most that is said."""
    strategy = LAWS[name]
    law = strategy.controller(strategy.mechanism())
    least, most = own_damping(strategy, min), own_damping(strategy, max)
    assert np.all(least <= most)
    far = np.zeros(10)
    far[strategy.mechanism().v_names.index("left_hip_yaw")] = far[strategy.mechanism().v_names.index("left_hip_pitch")] = 1.0
    for q, wanted in ((np.zeros(10), least), (far, most)):
        found = [law(0.0, q, np.zeros(10))[i] - law(0.0, q, np.eye(10)[i])[i] for i in range(10)]
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(**seeds(2))
@pytest.mark.parametrize(
    "drives", [Drives(), Drives(period=2e-3), Drives(period=2e-3, local=True)], ids=["now", "2ms", "local"]
)
def test_whatever_the_drives_the_law_is_the_held_robots(drives, seed):
    """What the law gives, less what the mechanism damps, are the strategy's torques: nothing is added, nothing lost."""
    rng = np.random.default_rng(seed)
    q, v = 0.1 * rng.normal(size=10), 0.1 * rng.normal(size=10)
    strategy = LAWS["combined"]
    given = drives.law(strategy)(0.0, q, v) - drives.damping(strategy) * v
    np.testing.assert_allclose(given, strategy.controller(strategy.mechanism())(0.0, q, v), atol=1e-12)
    mechanism = robot(strategy, drives.damping(strategy))
    own = np.ravel([joint.damping for joint in mechanism.joints if joint.kind.nv == 1])
    np.testing.assert_array_equal(own, drives.damping(strategy))


def test_limp_joints_have_stops_alone():
    law = Drives(on=False).law(LAWS["combined"])
    rng = np.random.default_rng(1)
    assert not np.any(law(0.0, np.zeros(10), rng.normal(size=10)))
    assert np.any(law(0.0, np.full(10, 2.0), np.zeros(10)))


def test_delay_without_a_period_is_refused():
    with pytest.raises(InputError, match="give its period"):
        Drives(delay=2e-3).law(LAWS["combined"])


@pytest.mark.slow
@pytest.mark.row("T-6.3", "T-f4")
def test_while_both_soles_are_down_free_feet_move_as_held_ones():
    """Upper-body rotation: the floor does what the holds did, by another solver and another integrator."""
    strategy = LAWS["rotation"]
    result, feet, shown = outcome("rotation")
    held = standing.run(strategy, duration=6.0, step=1e-3)
    assert fate(result, feet) == "stands"
    assert feet.lift.max() < 1e-5
    assert feet.slip.max() < 1e-4
    assert np.abs(held.q).max() > 0.1
    np.testing.assert_allclose(result.q[:, 7:], held.q, atol=5e-3)
    np.testing.assert_allclose(shown.zmp, read(strategy, held).zmp, atol=1e-3)
    assert standing.correlation(shown) < -0.5


@pytest.mark.slow
@pytest.mark.row("T-6.4", "T-f4")
def test_a_heel_lifts_and_comes_down_again():
    """Pushed with 10 N: the left foot stands on its toes for a while; then it stands on both soles, at rest."""
    result, feet, shown = outcome("combined")
    assert fate(result, feet) == "stands"
    assert 1e-3 < feet.lift[:, 0].max() < 0.01
    lifted = feet.lift[:, 0] > 1e-3
    toe = shown.polygon.vertices[:, 0].max()
    np.testing.assert_allclose(feet.pressure[lifted, 0, 0], toe, atol=1e-4)  # the edge carries
    assert feet.slip.max() < 1e-3
    # the floor's forces by another road: the rate of momentum of the whole robot
    mass = sum(body.mass for body in result.mechanism.bodies)
    rate = np.diff(result.momentum[:, 3:], axis=0) / 1e-3
    outer = np.add(shown.push[:-1], (0.0, 0.0, -9.81 * mass))
    floor = result.contact.on("left_foot") + result.contact.on("right_foot")
    np.testing.assert_allclose(floor[:-1], rate - outer, atol=0.02 * 9.81 * mass)
    np.testing.assert_allclose(floor[:-1].mean(axis=0), (rate - outer).mean(axis=0), atol=1e-2)
    apart = np.abs(shown.zmp - result.contact.center_of_pressure())[:, :2].max(axis=1)
    closing = (result.contact.gap * (result.contact.normal_force > 0.0)).max(axis=1) > 1e-6  # pushed before they are down
    assert closing.sum() < 0.02 * len(closing)
    assert apart[~closing].max() < 1e-4  # accelerations are means over steps, in axes that turn
    assert apart.max() < 1e-3
    assert shown.margin.min() > 0.0


@pytest.mark.slow
@pytest.mark.row("T-f4")
def test_without_the_law_it_falls():
    """Limp, it lies before the push; by the joints' springs alone, after it; with the printed gains, too."""
    result, feet, _ = outcome("combined", Drives(on=False), duration=2.0)
    assert fate(result, feet) == "falls"
    assert feet.head[999] < feet.head[0] / 2.0
    for name in ("combined, eq. 6.6 alone", "combined, gains as printed"):
        result, feet, _ = outcome(name, duration=4.0)
        assert fate(result, feet) == "falls"
        assert feet.head[result.time <= 1.0].min() > 0.46
        assert feet.trunk[-1] < feet.trunk[0] / 3.0


@pytest.mark.slow
@pytest.mark.row("T-f4")
def test_it_stands_by_a_law_that_is_sampled_late_and_noisy():
    """500 Hz, 2 ms late, noise of 1e-4 rad and 0.01 rad/s, dampers in the drives: it stands still, and it bears the push."""
    drives = Drives(period=2e-3, delay=2e-3, noise=(1e-4, 0.01), seed=3, local=True)
    for force in (0.0, 10.0):
        result, feet, _ = outcome("combined", drives, force)
        assert fate(result, feet) == "stands"
    again, *_ = outcome.__wrapped__("combined", drives, 10.0, duration=2.0)
    np.testing.assert_array_equal(again.q, result.q[: len(again)])


@pytest.mark.slow
def test_smaller_steps_tell_the_same():
    strategy = LAWS["combined"]
    fine, coarse = (run(strategy, duration=1.4, step=step) for step in (2.5e-4, 1e-3))
    np.testing.assert_allclose(coarse.q[:, 7:], fine.q[::4, 7:], atol=0.02)
    assert np.abs(fine.q[:, 7:]).max() > 0.2


@pytest.mark.slow
def test_the_tables_in_the_documents_are_what_the_runs_say():
    page = (Path(__file__).parents[2] / "docs" / "balance.md").read_text(encoding="utf-8")
    some = {"combined": PUSHES["combined"][:2]}
    lines = push_table(some).splitlines()[2:] + drives_table(("combined",), {"every 1 ms": Drives()}).splitlines()[2:]
    rows = [row.split(" | ") for row in page.splitlines()]
    for line in lines:
        cells = line.split(" | ")
        named = 2 if cells[1].endswith(" N") else 1
        found = next(row for row in rows if row[:named] == cells[:named])
        wanted = [re.findall("[a-z]+", cell)[0] for cell in cells[named:] if re.match("[a-z]", cell)]
        assert [re.findall("[a-z]+", cell)[0] for cell in found[named : named + len(wanted)]] == wanted
