"""Pages that simulate, in a headless browser: from a file, by script and by mouse, without a word on the console."""

import json
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateError
from kumitate.live.playable import live_scene
from kumitate.run import as_run
from kumitate.share.browser import opened, wait_until_ready
from kumitate.view import write_page
from kumitate.view.scene import packed
from studies.papers.runs import space_robot

from ..tools import CHROMIUM
from .test_in_browser import ASKED, LISTEN
from .test_playable import arm

pytestmark = pytest.mark.slow
SIZE = (880, 400)
#: Also what the Content-Security-Policy refuses.
WATCH = LISTEN + "addEventListener('securitypolicyviolation', (event) => window.said.push(event.blockedURI));"
#: Where a body is seen: the point of the view whose ray meets it, nearest to its origin.
SEEN = """(() => {
  const { stage } = kumitate, body = stage.data.bodies.findIndex(({ name }) => name === NAME), { domElement } = stage.renderer;
  const at = stage.camera.position.clone().setFromMatrixPosition(stage.motion.of(body)).project(stage.camera);
  const [x, y] = [((at.x + 1) / 2) * domElement.clientWidth, ((1 - at.y) / 2) * domElement.clientHeight];
  for (let away = 0; away < 90; away += 3) for (let turn = 0; turn < 12; turn++) {
    const [u, w] = [x + away * Math.cos(turn / 2), y + away * Math.sin(turn / 2)];
    if (stage.hitAt(u, w)?.body === body) return [u, w];
  }
})()"""


@pytest.fixture(scope="module")
def shown():
    """Opens pages, each in a tab of one browser, whose start takes 2 s; they must not say or ask for anything."""
    with opened(CHROMIUM.needed(), "about:blank", SIZE) as browser:

        @contextmanager
        def tab(path, fragment=""):
            browser.session = ""
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            try:
                browser.resize(SIZE)
                browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
                browser.call("Page.enable")
                browser.call("Page.navigate", url=path.as_uri() + fragment)
                wait_until_ready(browser)
                yield browser
                assert json.loads(browser.evaluate("JSON.stringify(window.said)")) == []
                assert [url for url in json.loads(browser.evaluate(ASKED)) if not url.startswith(("data:", "blob:"))] == []
            finally:
                browser.session = ""
                browser.call("Target.closeTarget", targetId=target)

        yield tab


def numbers(browser, expression):
    return np.array(browser.evaluate(f"[...{expression}]"), dtype=float)


def click(browser, element):
    browser.evaluate(f"document.getElementById('{element}').click()")


def replayed(browser):
    browser.evaluate("[...document.querySelectorAll('.acts button')].at(-1).click()")
    return browser.evaluate("document.querySelector('.said').textContent")


def move(browser, index, value):
    """Moves a slider as a person does."""
    slider = f"document.querySelectorAll('.dial input')[{index}]"
    browser.evaluate(f"{{ const one = {slider}; one.value = {value}; one.dispatchEvent(new Event('input')); }}")


def dragged(browser, body):
    """Drags a body by the mouse for 0.3 s of simulation or more; how far the point is from the pointer before and after."""

    def mouse(kind, x, y):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    x, y = browser.evaluate(SEEN.replace("NAME", json.dumps(body)))
    mouse("mousePressed", x, y)
    held = numbers(browser, "kumitate.simulator.pull.end")
    mouse("mouseMoved", x + 30, y + 10)
    mouse("mouseMoved", x + 60, y + 20)
    assert browser.evaluate("kumitate.simulator.step(300)") is True
    target, end = (numbers(browser, f"kumitate.simulator.pull.{name}") for name in ("target", "end"))
    before, after = (float(np.linalg.norm(target - place)) for place in (held, end))
    mouse("mouseReleased", x + 60, y + 20)
    assert browser.evaluate("kumitate.simulator.pull") is None
    assert not numbers(browser, "kumitate.simulator.machine.tau").any()
    return before, after


def test_an_arm_is_dragged_set_and_reset(shown, tmp_path):
    path = arm().page(tmp_path / "arm.html", sliders={"target": (-2.0, 2.0), "kd": (0.0, 1e6), "gravity": (0.0, 20.0)})
    with shown(path) as browser:
        start = numbers(browser, "kumitate.simulator.machine.q")
        click(browser, "stepper")
        assert browser.evaluate("kumitate.simulator.time") == pytest.approx(1e-3)
        before, after = dragged(browser, "link4")
        assert after < before
        click(browser, "again")
        assert (numbers(browser, "kumitate.simulator.machine.q") == start).all()
        move(browser, 1, 1.5)
        assert browser.evaluate("kumitate.simulator.values[1]") == 1.5
        browser.evaluate("kumitate.simulator.step(3000)")
        assert abs(numbers(browser, "kumitate.simulator.machine.q")[1] - 1.5) < 0.4
        assert "the same bits" in replayed(browser)  # whatever is set meanwhile
        browser.evaluate("kumitate.simulator.keep(true)")
        rows = browser.evaluate("kumitate.simulator.record.csv()").split("\r\n")
        assert rows[0].startswith('"t [s]","Joint angle: joint1 [deg]"')
        assert len(rows) >= 4
        link, q = browser.evaluate("kumitate.simulator.link"), numbers(browser, "kumitate.simulator.machine.q")
        # so much damping is too stiff for these steps
        move(browser, 7, 1e6)
        assert browser.evaluate("kumitate.simulator.step(100)") is False
        assert (numbers(browser, "kumitate.simulator.machine.q") == q).all()
        assert "ran away" in browser.evaluate("kumitate.clock.changed(), document.getElementById('trouble').textContent")
    with shown(path, f"#{link}") as browser:
        assert (numbers(browser, "kumitate.simulator.machine.q") == q).all()
        assert browser.evaluate("kumitate.simulator.values[1]") == 1.5
        told = browser.evaluate("kumitate.simulator.restore('00000000.AAAA')")
        assert "of another simulation" in told


def test_a_run_of_a_loop_is_taken_over(shown, tmp_path):
    four_bar = km.load("four_bar").mechanism
    first, *others = four_bar.joints
    hostile = replace(first, name="<img src=x onerror=window.said.push('taken')>")
    simulation = km.Simulation(replace(four_bar, joints=(hostile, *others)))
    run = simulation.run(duration=1.0)
    with shown(run.page(tmp_path / "loop.html", live=True, title="<script>document.title = 'taken'</script>")) as browser:
        assert browser.evaluate("document.title").startswith("<script>")
        browser.evaluate("kumitate.clock.seek(0.5)")
        click(browser, "take")
        at = round(browser.evaluate("kumitate.simulator.time") / simulation.step_size)
        assert (numbers(browser, "kumitate.simulator.machine.q") == run.q[at]).all()
        assert browser.evaluate("kumitate.stage.ghost.root.parent === kumitate.stage.scene")
        before, after = dragged(browser, "top0")
        assert after < before
        assert "<img src=x" in browser.evaluate("document.querySelector('#dials').textContent")
        assert "the same bits" in replayed(browser)
        browser.evaluate("kumitate.simulator.slide(kumitate.scene.live.joints[0], kumitate.simulator.machine.q[0] + 0.4)")
        q = numbers(browser, "kumitate.simulator.machine.q")
        gaps = km.analysis.LoopEquations(simulation.mechanism).gaps(q, np.zeros(3))
        assert max(gap.size(1.0) for gap in gaps) < 1e-9
        click(browser, "take")
        assert browser.evaluate("[kumitate.clock.start, kumitate.clock.end]") == [0.0, 1.0]
    cut = "window.said = []; delete globalThis.WebAssembly;"
    with opened(CHROMIUM.needed(), (tmp_path / "loop.html").as_uri(), SIZE, before=cut) as browser:
        with pytest.raises(KumitateError, match="no WebAssembly"):
            wait_until_ready(browser)
        assert browser.evaluate("document.documentElement.dataset.state") == "ready"


def test_cassie_stands_and_is_dragged(shown, tmp_path):
    from kumitate.examples.gallery.cassie import standing

    robot, q = standing()
    simulation = km.Simulation(robot, contact="rigid", start=(q, np.zeros(robot.nv)))
    with shown(simulation.page(tmp_path / "cassie.html", sliders=["target"])) as browser:
        assert "the same bits" in replayed(browser)
        browser.evaluate("kumitate.simulator.step(500)")
        browser.evaluate("kumitate.simulator.keep(true); kumitate.clock.changed()")
        pressed = numbers(browser, "kumitate.simulator.pushes").reshape(-1, 9)[:, 2].sum()
        assert pressed == pytest.approx(robot.tree.mass * 9.81, rel=0.2)
        height = numbers(browser, "kumitate.simulator.machine.q")[6]
        before, after = dragged(browser, "pelvis")
        assert after < before
        assert abs(numbers(browser, "kumitate.simulator.machine.q")[6] - height) < 0.1


def pile(count, **options):
    world, rng = km.World("pile"), np.random.default_rng(0)
    world.ground()
    for k in range(count):
        at = km.pose((*rng.uniform(-0.1, 0.1, 2), 0.2 + 0.15 * k))
        world.add(km.box((0.2, 0.16, 0.12), density=300.0), name=f"box{k}", at=at)
    return world.simulation(step=2e-3, **options)


def test_boxes_in_a_pile_are_dragged_and_set(shown, tmp_path):
    scene = live_scene(pile(20))
    assert len(packed(scene)) - len(packed({name: part for name, part in scene.items() if name != "live"})) < 155_000
    with shown(write_page(tmp_path / "pile.html", scene)) as browser:
        assert "the same bits" in replayed(browser)
        labels = browser.evaluate("kumitate.simulator.live.sliders.map((one) => one.label).join()")
        assert labels == "gravity,friction:floor"
        start = numbers(browser, "kumitate.simulator.machine.q")
        assert browser.evaluate("kumitate.simulator.step(800)") is True
        browser.evaluate("kumitate.simulator.keep(true); kumitate.clock.changed()")
        before, after = dragged(browser, "box19")
        assert after < before
        browser.evaluate("kumitate.simulator.keep(true)")
        link, q = browser.evaluate("kumitate.simulator.link"), numbers(browser, "kumitate.simulator.machine.q")
        browser.evaluate("kumitate.simulator.step(50)")
        further = numbers(browser, "kumitate.simulator.machine.q")
        # without gravity all go on straight, but in steps in which some meet: which do depends on how the page was dragged
        move(browser, 0, 0.0)
        velocities = []
        for _ in range(21):
            browser.evaluate("kumitate.simulator.step(1)")
            velocities.append(numbers(browser, "kumitate.simulator.machine.v"))
        assert np.abs(np.diff(velocities, axis=0)).max(axis=1).min() < 9.81 * 2e-3
        click(browser, "again")
        assert (numbers(browser, "kumitate.simulator.machine.q") == start).all()
        browser.evaluate("kumitate.simulator.step(50)")
        assert (numbers(browser, "kumitate.simulator.machine.q") == start).mean() > 0.7  # in the air, nothing pulls them down
    with shown(tmp_path / "pile.html", f"#{link}") as browser:
        assert (numbers(browser, "kumitate.simulator.machine.q") == q).all()
        browser.evaluate("kumitate.simulator.step(50)")
        assert (numbers(browser, "kumitate.simulator.machine.q") == further).all()


def test_friction_holds_a_box_in_the_page_and_none_lets_it_slide(shown, tmp_path):
    world = km.World("slope")
    world.ground(at=km.pose((0.0, 0.0, 0.0), (0.0, 0.3, 0.0)))
    for k in range(6):
        world.add(
            km.box((0.2, 0.2, 0.2), density=300.0),
            name=f"box{k}",
            at=km.pose((0.0, 0.5 * k, 0.1 / np.cos(0.3)), (0.0, 0.3, 0.0)),
        )
    with shown(world.simulation(step=2e-3).page(tmp_path / "slope.html", sliders={"friction:floor": (0.0, 1.0)})) as browser:

        def slid(friction):
            click(browser, "again")
            move(browser, 0, friction)
            browser.evaluate("kumitate.simulator.step(500)")
            return np.linalg.norm(numbers(browser, "kumitate.simulator.machine.q").reshape(-1, 7)[:, 4:] - start, axis=1)

        start = numbers(browser, "kumitate.simulator.machine.q").reshape(-1, 7)[:, 4:]
        assert slid(0.8).max() < 1e-3
        np.testing.assert_allclose(slid(0.0), 0.5 * 9.81 * np.sin(0.3), rtol=1e-2)
        np.testing.assert_allclose(slid(0.2), 0.5 * 9.81 * (np.sin(0.3) - 0.2 * np.cos(0.3)), rtol=1e-2)


def test_an_arm_among_bricks_is_dragged(shown, tmp_path):
    def hold(t, q, v, kp=300.0, kd=30.0):
        return -kp * q - kd * v

    world = km.World("cell")
    world.ground()
    world.add("pa10", name="arm")
    world.control("arm", hold)
    for k in range(5):
        world.add(km.box((0.2, 0.2, 0.2), density=200.0), name=f"brick{k}", at=(0.7, 0.0, 0.11 + 0.22 * k))
    run = world.simulation(step=1e-3).run(duration=0.3)
    page = run.page(tmp_path / "cell.html", live=True)
    with shown(page) as browser:
        browser.evaluate("kumitate.clock.seek(0.2)")
        click(browser, "take")
        at = round(browser.evaluate("kumitate.simulator.time") / 1e-3)
        assert (numbers(browser, "kumitate.simulator.machine.q") == run.q[at]).all()
        assert "the same bits" in replayed(browser)
        before, after = dragged(browser, "arm/link5")
        assert after < before
        browser.evaluate("kumitate.simulator.step(2000)")
        arm = numbers(browser, "kumitate.simulator.machine.q")[:7]
        assert np.abs(arm).max() < 0.1  # the controller brought it back


def test_a_small_humanoid_falls_on_a_floor_and_is_dragged(shown, tmp_path):
    robot = km.load("hoap1")
    run = km.simulate(robot, *robot.start, contact="rigid", duration=0.6)
    with shown(run.page(tmp_path / "hoap1.html", live=True)) as browser:
        browser.evaluate("kumitate.clock.seek(0.3)")
        click(browser, "take")
        at = round(browser.evaluate("kumitate.simulator.time") / 1e-3)
        assert (numbers(browser, "kumitate.simulator.machine.q") == run.q[at]).all()
        assert "the same bits" in replayed(browser)
        before, after = dragged(browser, "trunk")
        assert after < before
        click(browser, "again")
        assert (numbers(browser, "kumitate.simulator.machine.q") == run.q[at]).all()


def test_the_space_robot_is_dragged_and_does_not_turn_by_itself(shown, tmp_path):
    run = as_run(space_robot.EXAMPLE.run())
    with shown(run.page(tmp_path / "space.html", live=True)) as browser:
        browser.evaluate("kumitate.clock.seek(2.0)")
        click(browser, "take")
        assert "the same bits" in replayed(browser)
        before = numbers(browser, "kumitate.simulator.machine.q")[:4]
        assert browser.evaluate("kumitate.simulator.step(500)") is True
        after = numbers(browser, "kumitate.simulator.machine.q")[:4]
        np.testing.assert_allclose(after, before, atol=1e-6)  # the arm moves in the null space of its reaction
        near, nearer = dragged(browser, "arm7")
        assert nearer < near
