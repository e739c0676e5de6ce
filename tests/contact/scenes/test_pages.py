"""The pages of scenes one by one, against plain NumPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from kumitate.contact.scenes.arrays import BlockFactors, Island
from kumitate.contact.scenes.broad_phase import near_pairs, place_solids
from kumitate.contact.scenes.building import log_of, roomier, scene_of
from kumitate.contact.scenes.islands import group
from kumitate.contact.scenes.motion import read_state
from kumitate.contact.scenes.points import measured, relative
from kumitate.contact.scenes.solvers.assembly import assemble, find_reaches
from kumitate.contact.scenes.solvers.blocks import factor, solve_factored
from kumitate.contact.scenes.solvers.cone_laws import aimed, divided, inner, product, scaled, scaling, step_to_cone, stepped
from kumitate.contact.scenes.solvers.interior_point import interior_point
from kumitate.contact.scenes.solvers.laws import move, residual
from kumitate.contact.scenes.solvers.ordering import BITS, eliminate, pattern
from kumitate.contact.scenes.step import DONE, ROOM, advance_scene, touch
from kumitate.contact.surface import Surface

from .places import at_random, bin_of, mixed


def blank(count: int, couplings: int) -> BlockFactors:
    sizes = (1, count, count, count, count * ((count + BITS - 1) // BITS), count, count + 1, couplings, count)
    listed = [np.zeros(size, dtype=np.int64) for size in sizes]
    blocks = [np.zeros((size, 6, 6)) for size in (count, count, couplings, couplings)]
    return BlockFactors(*listed[:8], *blocks, listed[8])


@pytest.mark.parametrize(("seed", "count"), [(1, 1), (2, 7), (3, 70)])
def test_block_factors_solve_what_numpy_solves(seed, count):
    rng = np.random.default_rng(seed)
    couples = [pair for pair in combinations(range(count), 2) if rng.random() < 3.0 / count]
    full = np.zeros((count, 6, count, 6))
    factors = blank(count, count * count)
    words = (count + BITS - 1) // BITS
    for k in range(count):
        full[k, :, k] = rng.normal(size=(6, 6)) + 30.0 * np.eye(6)
    for i, j in couples:
        full[i, :, j], full[j, :, i] = rng.normal(size=(6, 6)), rng.normal(size=(6, 6))
        factors.near[i * words + j // BITS] |= 1 << (j % BITS)
        factors.near[j * words + i // BITS] |= 1 << (i % BITS)
    found = eliminate(count, words, factors)
    assert len(couples) <= found < count * count
    order, place = factors.unit.copy(), factors.mark.copy()
    assert sorted(order) == list(range(count))
    for k in range(count):
        factors.diagonal[k] = full[order[k], :, order[k]]
        stretch = slice(factors.first[k], factors.first[k + 1])
        factors.later[stretch] = np.sort(place[factors.later[stretch]])
        for e in range(stretch.start, stretch.stop):
            later = order[factors.later[e]]
            factors.upper[e], factors.lower[e] = full[order[k], :, later], full[later, :, order[k]]
    b = rng.normal(size=(count, 6))
    x = b[order].copy()
    factor(count, factors)
    solve_factored(count, factors, x)
    expected = np.linalg.solve(full.reshape(6 * count, -1).T, b.ravel()).reshape(count, 6)
    assert np.abs(x - expected[order]).max() < 1e-13


def scene_at(seed: int, count: int):
    rng = np.random.default_rng(seed)
    q, v = at_random(rng, count, spacing=0.1)
    scene = scene_of(mixed(count), bin_of(0.3), [], step=1e-3, patience=0, flies=True)
    q, v = q.reshape(-1, 7), v.reshape(-1, 6)
    read_state(scene.rules, scene.bodies, scene.pulls, q, v)
    return scene, q, v


def first_island(scene) -> Island:
    """The first island of a scene whose points are known."""
    lists = scene.islands
    return Island(lists.bodies[: lists.first_body[1]], lists.points[: lists.first_point[1]],
                  scene.bodies, scene.points, scene.factors, scene.trial)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_point_yields_to_an_impulse_by_what_is_measured_at_it(seed):
    """A unit impulse on A and its opposite on B, by Newton and Euler, against the masses and velocities of the page."""
    rng = np.random.default_rng(seed)
    places, twists, masses, roots = (rng.normal(size=shape) for shape in ((2, 3), (2, 2, 6), 2, (2, 3, 3)))
    masses, mobilities, normal = 0.1 + masses**2, roots @ roots.transpose(0, 2, 1), rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    rows = np.zeros((2, 24))
    rows[:, :3], rows[:, 3:15], rows[:, 21] = places, twists.reshape(2, 12), 1.0 / masses
    for k, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]):
        rows[:, 15 + k] = mobilities[:, i, j]
    on_world = seed % 2 == 1
    if on_world:
        rows[1] = 0.0
        rows[1, 22] = 1.0
    position, gap = rng.normal(size=3), 0.01 * rng.normal()
    found = {name: np.array(value) for name, value in measured(position, gap, normal, *rows, Surface().numbers).items()}
    frame, place = found["frame"], found["place"]
    assert np.abs(frame @ frame.T - np.eye(3)).max() < 1e-15
    assert np.linalg.det(frame) == pytest.approx(1.0)
    assert np.abs(frame[0] + normal).max() == 0.0
    assert np.abs(place - position - (0.5 * gap * normal if on_world else 0.0)).max() < 1e-15
    levers = place - rows[:, :3]
    assert np.abs([found["lever_a"], found["lever_b"]] - levers).max() == 0.0
    for name, at in (("before", 3), ("free", 9)):
        speeds = rows[:, at + 3 : at + 6] + np.cross(rows[:, at : at + 3], levers)
        assert np.abs(found[name] - frame @ (speeds[0] - speeds[1])).max() < 1e-13
    along = []
    for axis in frame:
        yielded = 0.0
        for lever, mass, mobility in list(zip(levers, masses, mobilities, strict=True))[: 1 if on_world else 2]:
            yielded += axis @ (axis / mass + np.cross(mobility @ np.cross(lever, axis), lever))
        along.append(yielded)
    assert found["size"] == pytest.approx(max(along), rel=1e-12)
    assert found["mass"] == pytest.approx(1.0 / max(along), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_near_pairs_are_all_whose_boxes_overlap(seed):
    scene, _, _ = scene_at(seed, 14)
    placed = scene.placed
    placed.margin[:] = 0.005
    place_solids(scene.bodies, placed)
    count = near_pairs(placed, scene.allowed, scene.pairs, scene.starts, scene.space)
    found = [tuple(pair) for pair in scene.pairs[:count]]
    low, high = placed.low, placed.high
    expected = {
        (i, j) for i, j in combinations(range(14), 2) if (low[i] <= high[j]).all() and (low[j] <= high[i]).all()
    }  # fmt: skip
    assert {pair for pair in found if pair[1] < 14} == expected, seed
    assert found == sorted(found), seed
    corners = placed.half[:14, None] * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    turn, place = placed.pose[:14, :3], placed.pose[:14, None, 3]
    world = np.einsum("bij,bkj->bki", turn, corners) + place
    for plane in range(14, 19):
        n, at = placed.pose[plane, :3, 2], placed.pose[plane, 3]
        depth = np.minimum(((world - at) @ n).min(axis=1), 1e9)
        ball = (placed.pose[:14, 3] - at) @ n - placed.reach[:14]
        near = {k for k in range(14) if max(depth[k], ball[k]) <= 0.01}
        assert {pair[0] for pair in found if pair[1] == plane} == near, seed


@pytest.mark.parametrize("seed", range(3))
def test_islands_are_what_can_be_reached(seed):
    scene, _, _ = scene_at(seed, 14)
    while (count := touch(scene)) < 0:
        scene = roomier(scene)
    islands = group(scene.bodies.robots, count, scene.points, scene.islands)
    links = [tuple(body) for body in scene.points.body[:count] if body[1] >= 0]
    touched = {body for pair in scene.points.body[:count] for body in pair if body >= 0}
    reached = {body: {body} for body in touched}
    for _ in range(14):
        for a, b in links:
            reached[a] = reached[b] = reached[a] | reached[b]
            for other in reached[a]:
                reached[other] = reached[a]
    lists = scene.islands
    found = [
        frozenset(int(body) for body in lists.bodies[lists.first_body[k] : lists.first_body[k + 1]]) for k in range(islands)
    ]
    assert set(found) == {frozenset(int(x) for x in group) for group in reached.values()}, seed
    assert sorted(lists.points[:count]) == list(range(count)), seed


def test_the_scaling_of_the_cone():
    rng = np.random.default_rng(4)
    for _ in range(50):
        x, z, d = rng.normal(size=(3, 3))
        for vector in (x, z):
            vector[0] = np.linalg.norm(vector[1:]) + 10.0 ** rng.uniform(-6, 1)
        W = np.array(scaling(x, z))
        assert W @ z == pytest.approx(np.linalg.solve(W, x), rel=1e-6, abs=1e-9)
        assert np.array(product(x, divided(x, d))) == pytest.approx(d, rel=1e-8, abs=1e-8)
        share = step_to_cone(x, d)
        if np.isfinite(share):
            end = x + share * d
            assert end[0] == pytest.approx(np.linalg.norm(end[1:]), abs=1e-9 * (1.0 + share))
        else:
            assert d[0] >= np.linalg.norm(d[1:])
        assert inner(x) == pytest.approx(x[0] ** 2 - x[1] ** 2 - x[2] ** 2, abs=1e-12)


def test_steps_of_smooth_points_end_where_their_impulse_or_speed_is_zero():
    """Both roots are the same number, which rounding must not take away."""
    rng = np.random.default_rng(6)
    for first, step in 10.0 ** rng.uniform(-12.0, 3.0, size=(200, 2)):
        assert step_to_cone([first, 0.0, 0.0], [-step, 0.0, 0.0]) == pytest.approx(first / step, rel=1e-7)
        assert step_to_cone([first, 0.0, 0.0], [step, 0.0, 0.0]) == np.inf


def test_the_matrix_of_an_island_is_that_of_its_points_velocities():
    """Σ uᵀ K u' + vᵀ M v' for all pairs of unit velocities, u being the velocities of the points; transposed in its blocks."""
    rng = np.random.default_rng(8)
    scene, _, _ = scene_at(7, 3)
    while (count := touch(scene)) < 0:
        scene = roomier(scene)
    bodies, islands, points, factors, trial = scene.bodies, scene.islands, scene.points, scene.factors, scene.trial
    assert group(bodies.robots, count, points, islands) > 0
    island = first_island(scene)
    pattern(island)
    find_reaches(island)
    trial.K[:] = rng.normal(size=trial.K.shape)
    assemble.plain(island)
    nodes = int(factors.count[0])
    of_points, units = island.listed, factors.unit[:nodes]
    assert 1 < nodes < len(of_points)
    expected = np.zeros((nodes, 6, nodes, 6))
    for k, body in enumerate(units):
        expected[k, :3, k, :3], expected[k, 3:, k, 3:] = bodies.inertia[body], bodies.mass[body] * np.eye(3)
    for c in of_points:
        J = np.zeros((3, nodes, 6))
        for k in range(6 * nodes):
            twists = np.zeros((len(bodies.mass), 6))
            twists[units[k // 6], k % 6] = 1.0
            relative.plain(points, c, twists, points.body[c, 0], points.body[c, 1], J[:, k // 6, k % 6])
        expected += np.einsum("iab,ij,jcd->abcd", J, trial.K[c], J)
    made = np.zeros_like(expected)
    for k in range(nodes):
        made[k, :, k] = factors.diagonal[k]
        for e in range(factors.first[k], factors.first[k + 1]):
            made[k, :, factors.later[e]], made[factors.later[e], :, k] = factors.upper[e], factors.lower[e]
    np.testing.assert_allclose(made, expected.transpose(2, 3, 0, 1), atol=1e-12)


def test_the_interior_point_method_forgets_what_it_left_before():
    """Space that a failed solve left full of what is not a number."""
    found = []
    for left in (0.0, np.nan):
        scene, _, _ = scene_at(7, 3)
        while (count := touch(scene)) < 0:
            scene = roomier(scene)
        assert group(scene.bodies.robots, count, scene.points, scene.islands) > 0
        for space in scene.trial[:-1]:
            space[:] = left
        island = first_island(scene)
        move(island)
        pattern(island)
        find_reaches(island)
        found.append(interior_point.plain(island, 4, 1.0, 1e-9, 0.0, 0.1, 0.01))
    assert found[0] == found[1] < np.inf


def test_the_interior_point_method_ends_where_the_residual_is_good():
    """The path estimates the residual by √τ, which may lag behind it: then fewer rounds leave as much as is asked for."""
    rounds = []
    for good in (0.0, 1e-4):
        scene, _, _ = scene_at(7, 3)
        while (count := touch(scene)) < 0:
            scene = roomier(scene)
        group(scene.bodies.robots, count, scene.points, scene.islands)
        island = first_island(scene)
        move(island)
        pattern(island)
        find_reaches(island)
        left = interior_point.plain(island, 40, 1.0, 1e-7, good, 0.1, 0.01)
        assert left <= max(good, 1e-5)
        assert left == pytest.approx(residual(island), rel=1e-6)
        rounds.append(int(scene.trial.did[0]))
    assert rounds[1] < rounds[0]


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_the_law_of_a_point_in_the_interior_point_method(mu):
    """Any du: dx and dz solve λ̄∘(W⁻¹ dx + W dz) = τ m e − λ̄∘λ̄ − second, λ̄ = W z, and dz closes what z lacks of A u."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, z, u, du, second = rng.normal(size=(5, 3)) * [1.0, *((1.0, 1.0) if mu else (0.0, 0.0))]
        for vector in (x, z):
            vector[0] = np.linalg.norm(vector[1:]) + 10.0 ** rng.uniform(-3, 1)
        tau, mass, target = 0.01, 0.7, 0.2
        law = {name: np.array(value) for name, value in scaled(mu, target, u, x, z, [np.sqrt(tau), 0.6]).items()}
        aim = aimed(mu, mass, x, z, law["W"], law["lack"], second, [tau, 1.0])
        step = stepped(mu, law["K"], aim["push"], law["slope"], law["lack"], du, x, z, law["W"])
        bar, dx, dz = law["W"] @ z, np.array(step["dx"]), np.array(step["dz"])
        both = np.linalg.solve(law["W"], dx) + law["W"] @ dz
        wanted = tau * mass * np.eye(3)[0] - product(bar, bar) - second
        assert np.array(product(bar, both)) == pytest.approx(wanted, rel=1e-7, abs=1e-7)
        assert step["second"] == pytest.approx(product(np.linalg.solve(law["W"], dx), law["W"] @ dz), rel=1e-6, abs=1e-7)
        # what x becomes is the total impulse less the stiffness along du, in the units of x
        total = np.array(aim["total"]) - law["K"] @ du
        assert [(mu or 1.0) * total[0], *total[1:]] == pytest.approx(x + dx, rel=1e-9, abs=1e-9)
        root = tau**0.5
        epsilon = 0.3 * tau / (root + np.hypot(*u[1:]))
        length = np.hypot(np.hypot(*u[1:]), epsilon) - epsilon if mu else 0.0
        slope = 0.6 * u[1:] / np.hypot(np.hypot(*u[1:]), epsilon) if mu else np.zeros(2)
        ahead = (u[0] + du[0] - target) / (mu or 1.0) + length + slope @ du[1:]
        assert [z[0] + dz[0], *(z + dz)[1:]] == pytest.approx([ahead, *((u + du)[1:] if mu else (0.0, 0.0))], abs=1e-9)


def test_machine_code_and_python_make_the_same_steps():
    ends = []
    for make in (advance_scene, advance_scene.plain):
        scene, q, v = scene_at(7, 3)
        scene = roomier(scene)
        log, work = log_of(3, 4, 200), np.zeros(1)
        while (ended := make(scene, q, v, work, 4, 1, log)) == ROOM:
            scene = roomier(scene)
        assert ended == DONE
        ends.append(np.concatenate([q.ravel(), v.ravel(), work, log.sums.ravel()]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-8


def test_room_grows_where_a_step_lacks_it():
    scene, q, v = scene_at(9, 12)
    small = scene._replace(pairs=scene.pairs[:1], space=scene.space[:1])
    log = log_of(12, 1, 1000)
    before = q.copy()
    assert advance_scene(small, q, v, np.zeros(1), 1, 1, log) == ROOM
    assert np.array_equal(q, before)
    grown = roomier(small)
    assert len(grown.pairs) > small.counts[1]
    assert advance_scene(grown, q, v, np.zeros(1), 1, 1, log) in (DONE, ROOM)


@pytest.mark.parametrize("k", range(3))
def test_a_guess_of_nans_has_an_infinite_residual(k):
    """In machine code and in Python; the same law as of traced pairs, whose test is in `contact.test_newton`."""
    scene, _, _ = scene_at(7, 3)
    while (count := touch(scene)) < 0:
        scene = roomier(scene)
    assert group(scene.bodies.robots, count, scene.points, scene.islands) > 0
    island = first_island(scene)
    move(island)
    assert residual(island) < np.inf
    c = island.listed[0]
    for guess in (scene.points.impulse, scene.points.speed):
        kept, guess[c, k] = guess[c, k], np.nan
        assert residual(island) == residual.plain(island) == np.inf
        guess[c, k] = kept
