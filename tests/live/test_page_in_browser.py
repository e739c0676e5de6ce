"""Pages that simulate, in a headless browser: from a file, by script and by mouse, without a word on the console."""

import json
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateError
from kumitate.share.browser import opened, wait_until_ready

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


@contextmanager
def shown(path, fragment="", before=WATCH):
    """A page that is open; it must not say or ask for anything."""
    with opened(CHROMIUM.needed(), path.as_uri() + fragment, SIZE, before=before) as browser:
        wait_until_ready(browser)
        yield browser
        assert json.loads(browser.evaluate("JSON.stringify(window.said)")) == []
        assert [url for url in json.loads(browser.evaluate(ASKED)) if not url.startswith(("data:", "blob:"))] == []


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


def test_an_arm_is_dragged_set_and_reset(tmp_path):
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


def test_a_run_of_a_loop_is_taken_over(tmp_path):
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


def test_cassie_stands_and_is_dragged(tmp_path):
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
