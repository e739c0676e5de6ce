"""A scenario's mistakes are all told at once, each with its line and what was probably meant."""

import re

import pytest

import kumitate as km
from kumitate.errors import InputError

#: Lines of a scenario; behind ## what its mistake says, if it has one.
WRONG = """\
robot: planar_3r
start:
  q: {joint_1: 30deg}            ## start.q.joint_1: there is no such key, did you mean 'joint1'?
  v: [1.0, 2.0]                  ## start.v: has 2 values; it must have 3
  height: 0.1                    ## start.height: is a height above the floor, and there is no contact
controler: pd                    ## controler: there is no such key, did you mean 'controller'?
tau: {joint2: many}              ## tau.joint2: joint2 is 'many', which is not a real number
prescribed:
  joint_1: {velocity: 1.0}       ## prescribed.joint_1: there is no such key, did you mean 'joint1'?
  joint2: {velocity: 1, mean: 2} ## prescribed.joint2: is a steady velocity or an oscillation
  joint3: {amplitude: 0.1}       ## prescribed.joint3: has an amplitude and no frequency
solver:
  step: -1e-3                    ## solver.step: step is -0.001; it must be above zero
  integrator: rk44               ## solver.integrator: there is no integrator 'rk44', did you mean 'rk4'?
  every: 1.5                     ## solver.every: every is 1.5; it must be a whole number
  every: 2                       ## 'every' stands here for the second time
outputs:
  - energy
  - enery                        ## outputs.1: planar_3r: there is no output 'enery', did you mean 'energy'?
  - pose:link9                   ## the output 'pose:link9' is of 'link9', which is not a body or frame
parameters:
  mass:link33: 2.0               ## there is no parameter 'mass:link33', did you mean 'mass:link3'?
  maas:link3: 2.0                ## there is no parameter 'maas:link3', did you mean 'mass:link3'?
  mass:link2: -2.0               ## mass:link2 is -2.0; it must be zero, or from
  gravity: !!python/name:os.system ## the tag
sweep:
  grid:
    damping:*: [0.1, 0.1]        ## has the value 0.1 twice
    damping:joint1: []           ## is []; write a list of values
  random:                        ## has no count
    q:joint1: {unifrom: [0, 1]}  ## uniform, log_uniform and normal have two numbers
    q:joint2: {uniform: [2, 1]}  ## uniform is from 2.0 to 1.0; write the lesser number first
    mass:link1: {uniform: [-1, 1]} ## mass:link1 is -1.0
"""


def test_all_mistakes_are_told_at_once_with_their_lines(tmp_path):
    told_by_line(tmp_path, WRONG)


def told_by_line(folder, wrong):
    """Reads a wrong scenario, and checks that exactly what stands behind its ## is told."""
    lines = [line.partition("##") for line in wrong.splitlines()]
    path = folder / "wrong.yaml"
    path.write_text("\n".join(line for line, *_ in lines))
    with pytest.raises(InputError) as error:
        km.read_scenario(path)
    first, *told = str(error.value).splitlines()
    expected = [(number, words.strip()) for number, (_, mark, words) in enumerate(lines, start=1) if mark]
    for number, words in expected:
        assert any(one.startswith(f"  line {number}: ") and words in one for one in told), (number, words, told)
    assert len(told) == len(expected), "\n".join(told)
    assert first.startswith(f"{path}: {len(expected)} mistakes")


def test_without_a_robot_the_rest_is_read_as_far_as_it_can_be(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("robot: pendulun\nsolver: {step: 0}\n")
    with pytest.raises(InputError) as error:
        km.read_scenario(path)
    assert re.search(r"line 1: robot: .*did you mean 'pendulum'", str(error.value))
    assert "line 2: solver.step" in str(error.value)
    assert "were not checked" in str(error.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "there is nothing in it"),
        (b"- pendulum", "write a section with the keys robot"),
        (b"robot: [1,", r"is not YAML: line 1"),
        (b"robot: pa10\n---\nrobot: pa10", "is not YAML: line 2"),
        (b"\xff\xfe", "is not text in UTF-8"),
        (b"[" * 600, "nested too deeply"),
        (b"robot: &a pendulum\nstart: {q: {angle: *a}}", "an alias (*name) repeats a value"),
        (b"robot: !!python/object/apply:os.getcwd []", "is not read"),
        (b"robot: pendulum\n? [1, 2]\n: 3", "a key is a list"),
        (b"robot: pendulum\nsolver: {duration: 0.0015, sample_time: 0.0015}", "solver: sample_time 0.0015 s is not a multiple"),
        (b"robot: pendulum\ncontroller: nothing.py:f", "cannot be read"),
        (b"robot: pendulum\nsolver: {step: 1e-3}\nsweep: {}", "varies nothing"),
        (b"robot: pendulum\ncontact: rigid", "has a shape to touch with"),
    ],
)
def test_what_is_no_scenario_is_refused(tmp_path, content, words):
    path = tmp_path / "scenario.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(words)) as error:
        km.read_scenario(path)
    assert str(path) in str(error.value)


def test_a_dictionary_is_read_likewise():
    with pytest.raises(InputError, match="there is no such key, did you mean 'solver'"):
        km.read_scenario({"robot": "pendulum", "solvr": {}})
    with pytest.raises(InputError, match="is not plain data"):
        km.read_scenario({"robot": "pendulum", "start": {1: {2, 3}, (1, 2): 4}})


WRONG_CONTACT = """\
robot: planar_3r
contact:
  frction: 0.5                   ## contact.frction: there is no such key, did you mean 'friction'?
  torsional: -0.1                ## contact.torsional: torsional is -0.1; it must be zero or more
  belt: [1, 0, 0]                ## contact.belt: there is no such key
  surfaces:
    lnik1: {friction: 1}         ## contact.surfaces.lnik1: there is no such key, did you mean 'link1'?
    link1: {roling: 1}           ## contact.surfaces.link1.roling: there is no such key, did you mean 'rolling'?
    link2:
      belt: [1, 0]               ## belt [m/s]
    link3: {damping: 3}          ## contact.surfaces.link3: a surface has the damping 3 N·s/m and no stiffness
  pairs:
    - {bodies: [link1, lnik2]}   ## contact.pairs.0.bodies: there is no body 'lnik2', did you mean 'link2'?
    - {friction: 0.1}            ## contact.pairs.1: names no bodies
    - {bodies: [link1, link1]}   ## contact.pairs.2.bodies: is of 'link1' against itself
    - {bodies: [link1, link2], friction: 0.1}
    - {bodies: [link2, link1], friction: 0.2} ## contact.pairs.4: is the second surface of 'link2' and 'link1'
    - {bodies: [link1, link3], friction: much} ## contact.pairs.5.friction: friction is 'much'
  between: [[link1, link33]]     ## contact.between: there is no body 'link33', did you mean 'link3'?
  apart: [[link1, grond]]        ## contact.apart: there is no body 'grond', did you mean 'ground'?
  groups:
    lnik1: [1, 2]                ## contact.groups.lnik1: there is no such key, did you mean 'link1'?
"""


def test_mistakes_of_contact_are_told_with_their_lines(tmp_path):
    told_by_line(tmp_path, WRONG_CONTACT)


WRONG_DRIVING = """\
robot: four_bar
lock: pivot9                     ## lock: four_bar: there is no joint 'pivot9'
hold: maybe                      ## hold: hold is 'maybe'; it must be a natural frequency above zero, 20Hz, or soft
wrenches:
  leg9: [0, 0, 0, 0, 0, 1]       ## wrenches.leg9: there is no such key, did you mean
  leg1: [0, 0, 1]                ## wrenches.leg1: leg1 is [0.0, 0.0, 1.0] (3 values); it must be 6 numbers
  leg0: push.txt:away            ## wrenches.leg0: is 'push.txt:away', which is not the function of a file
  top0: {force: 3}               ## wrenches.top0: is {'force': 3}, which is not the function of a file; write FILE.py:FUNCTION
loop_tau:
  loop1: 0.3                     ## loop_tau.loop1: there is no such key, did you mean 'loop0'?; there are loop0
  loop0: [0.1, much]             ## loop_tau.loop0: loop0 is 'much', which is not a real number
inputs:
  q: 1.0                         ## inputs.q: four_bar: an input is called 'q'
  k: {pivot0: 1.0}               ## inputs.k: k is {'pivot0': 1.0}, which is not a real number
prescribed:
  pivot1: nothing.py:f           ## prescribed.pivot1: {place}/nothing.py: cannot be read
  pivot0: "mine.py:2"            ## prescribed.pivot0: 'mine.py:2' names no function; write FILE.py:FUNCTION
held:
  tip: {point: [0, 0, 1]}        ## held.tip.body: there is no body 'tip'; there are
  leg1: {point: [0, 1]} ## held.leg1.point: the point [m] is [0.0, 1.0] (2 values); it must be 3 numbers
  leg0: {surface: {kind: ball}}  ## held.leg0.surface.kind: there is no kind 'ball'; there are plane, sphere, cylinder
  top0: {surface: sphere}        ## held.top0: the surface has no radius; write a number, radius: 0.5
solver:
  traced: 1                      ## solver.traced: traced is 1; write true or false
  held_method: row               ## solver.held_method: there is no held_method 'row'; there are rows
  until: 3                       ## solver.until: is 3, which is not the function of a file; write FILE.py:FUNCTION
  sample_time: -1                ## solver.sample_time: sample_time is -1.0; it must be zero or more
"""


def test_mistakes_of_what_drives_and_holds_are_told_with_their_lines(tmp_path):
    told_by_line(tmp_path, WRONG_DRIVING.replace("{place}", str(tmp_path)))
