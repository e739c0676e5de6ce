"""Films have the pictures of a run at their times, decoded again by the library that encoded them."""

from __future__ import annotations

import subprocess

import imageio_ffmpeg
import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateWarning
from kumitate.share import browser

from ..tools import CHROMIUM

SIZE = (160, 120)


@pytest.fixture(scope="module")
def run() -> km.Run:
    """A red ball that slides along x at 1 m/s between two grey posts, which keep the view wide."""
    red, grey = (0.9, 0.05, 0.05, 1.0), (0.6, 0.6, 0.6, 1.0)
    ball = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), visuals=(km.Geometry(km.Sphere(0.15), color=red),))
    posts = tuple(km.Geometry(km.Box((0.05, 0.05, 0.6)), km.pose((x, 0.0, 0.0)), grey) for x in (-0.8, 0.8))
    joints = (km.Joint("rail", "prismatic", "world", "ball", axis=(1, 0, 0)), km.Joint("held", "fixed", "world", "posts"))
    mechanism = km.Mechanism("slider", (ball, km.Body("posts", visuals=posts)), joints, gravity=(0.0, 0.0, 0.0))
    return km.simulate(mechanism, [-0.5], [1.0], duration=1.0)


def decoded(path) -> np.ndarray:
    """All pictures (n, height, width, 3)."""
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-loglevel",
        "error",
        "-i",
        str(path),
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    data = subprocess.run(command, capture_output=True, check=True).stdout
    return np.frombuffer(data, np.uint8).reshape(-1, SIZE[1], SIZE[0], 3).astype(int)


def red_columns(pictures: np.ndarray) -> np.ndarray:
    """The mean column of what is red in each picture."""
    red = (pictures[..., 0] > 120) & (pictures[..., 1] < 90) & (pictures[..., 2] < 90)
    assert (red.sum(axis=(1, 2)) > 10).all()
    return np.array([np.nonzero(picture)[1].mean() for picture in red])


def check(pictures: np.ndarray, count: int) -> None:
    """As many as asked for; the ball moves at one speed, so that every picture is of its own time."""
    assert len(pictures) == count
    columns = red_columns(pictures)
    moved = np.diff(columns)
    assert (np.abs(moved) > 5.0).all()
    np.testing.assert_allclose(moved, moved.mean(), atol=0.2 * abs(moved.mean()))  # in perspective, nearly the same


def test_without_a_browser_the_skeleton_is_shown(run, tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CHROMIUM", str(tmp_path / "nowhere"))
    done = []
    with pytest.warns(
        KumitateWarning, match="no Chromium was found that renders the page, so that the film shows the skeleton"
    ):
        path = run.export(tmp_path / "film.mp4", fps=8.0, size=SIZE, progress=done.append)
    check(decoded(path), 9)
    assert done == [(k + 1) / 9 for k in range(9)]


@pytest.mark.slow
def test_a_browser_renders_the_page(run, tmp_path):
    CHROMIUM.needed()
    check(decoded(run.export(tmp_path / "film.mp4", fps=4.0, size=SIZE)), 5)


def test_a_browser_that_is_none_is_an_error(run, tmp_path):
    page = tmp_path / "page.html"
    with pytest.raises(InputError, match=r"the browser ended|did not answer"):
        next(browser.page_pictures("/bin/true", page, [0.0], SIZE))
    with pytest.raises(InputError, match="the browser does not start"):
        next(browser.page_pictures(str(tmp_path / "nowhere"), page, [0.0], SIZE))


@pytest.mark.parametrize("options", [{"fps": 0.0}, {"fps": 1000.0}, {"size": (161, 120)}, {"size": (16, 16)}])
def test_films_that_cannot_be_shown_are_refused(run, tmp_path, options):
    with pytest.raises(InputError, match=r"a film of .* pictures per second"):
        run.export(tmp_path / "film.mp4", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("user", "tries"), [(0, [True]), (1000, [False, True])])
def test_the_sandbox_of_the_browser_is_left_out_only_where_it_cannot_start(tmp_path, monkeypatch, user, tries):
    """The page shows the names of a robot's file, and a sandbox is one more wall around it."""
    program, calls = tmp_path / "browser", tmp_path / "calls"
    program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\n')
    program.chmod(0o755)
    monkeypatch.setattr(browser.os, "geteuid", lambda: user)
    with pytest.raises(InputError, match="the browser ended"), browser.opened(str(program), "about:blank", SIZE):
        pass
    assert [" --no-sandbox " in call for call in calls.read_text().splitlines()] == tries
