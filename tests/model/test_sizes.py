"""Files are read in a time that grows as they do: twice the file, about twice the lines of Python that run."""

import json
import sys
import warnings
from pathlib import Path

import pytest

import kumitate
from kumitate.errors import KumitateError
from kumitate.model import Coupling, Joint
from kumitate.model.mechanism import _check_couplings
from kumitate.model.read import xml
from kumitate.model.read.json import from_json
from kumitate.model.read.parts import check_circles
from kumitate.model.read.sdf import read_sdf
from kumitate.model.read.srdf import read_srdf
from kumitate.model.read.urdf import read_urdf

HOME = str(Path(kumitate.__file__).parent)


def lines_run(call, *arguments):
    """How many lines of the package run."""
    count = 0

    def line(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return line

    def called(frame, _event, _argument):
        return line if frame.f_code.co_filename.startswith(HOME) else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        call(*arguments)
    except KumitateError:
        pass
    finally:
        sys.settrace(before)
    return count


# --- files of n parts -------------------------------------------------------------------------------------------------------
def urdf(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def chain(n, inside=lambda k: ""):
    links = (f'<link name="l{k}"/>' for k in range(n + 1))
    joints = (
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>{inside(k)}</joint>'
        for k in range(n)
    )
    return urdf(*links, *joints)


def doubled_key(n):
    return from_json, json.dumps({f"k{k}": 0 for k in range(n)})[:-1] + f', "k{n - 1}": 1}}'


def mimics_in_a_row(n):
    return check_circles, {f"j{k}": f"j{k + 1}" for k in range(n)}, {}


def mimics_before_a_circle(n):
    row = {f"j{k}": f"j{k + 1}" for k in range(n)}
    return check_circles, row | {f"j{n}": f"j{n - 1}"}, {f"j{k}": xml.Element("joint", {}, "<text>", 1) for k in range(n + 1)}


def couplings_in_a_row(n):
    joints = {f"j{k}": Joint(f"j{k}", "revolute", "world", "b") for k in range(n)}
    couplings = [Coupling(f"c{k}", f"j{k}", f"j{k + 1}") for k in reversed(range(n - 1))]
    return _check_couplings, "m", joints, couplings


def joints_in_a_circle(n):
    text = chain(n)
    return read_urdf, text.replace(
        "</robot>", f'<joint name="x" type="fixed"><parent link="l{n}"/><child link="l0"/></joint></robot>'
    )


def materials(n):
    return read_urdf, urdf('<link name="l"/>', *(f'<material name="m{k}"><color rgba="1 1 1 1"/></material>' for k in range(n)))


def sdf(*parts):
    return read_sdf, f'<sdf version="1.9"><model name="m"><link name="l0"/>{"".join(parts)}</model></sdf>'


def links_by_links(n):
    return sdf(*(f'<link name="l{k + 1}"><pose relative_to="l{k}">0 0 1 0 0 0</pose></link>' for k in range(n)))


def frames_on_frames(n):
    return sdf(
        *(f'<frame name="f{k}" attached_to="{f"f{k - 1}" if k else "l0"}"><pose>0 0 1 0 0 0</pose></frame>' for k in range(n))
    )


ROBOT = read_urdf(chain(400, lambda k: '<axis xyz="0 0 1"/>'))


def groups_twice_in_groups(n):
    groups = (f'<group name="g{k}"><group name="g{k + 1}"/><group name="g{k + 1}"/></group>' for k in range(n))
    return read_srdf, f'<robot name="r">{"".join(groups)}<group name="g{n}"><joint name="j0"/></group></robot>', ROBOT


@pytest.mark.parametrize(
    ("file", "n"),
    [
        (doubled_key, 500), (mimics_in_a_row, 200), (mimics_before_a_circle, 200), (couplings_in_a_row, 200),
        (joints_in_a_circle, 60), (materials, 60), (links_by_links, 60), (frames_on_frames, 60), (groups_twice_in_groups, 7),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_twice_the_file_takes_about_twice_the_lines(file, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines_run(*file(n))  # what is loaded at the first time
        one, two = lines_run(*file(n)), lines_run(*file(2 * n))
    print(f"{file.__name__}: {one} lines for {n}, {two} for {2 * n}")
    assert two < 2.5 * one


def test_a_text_is_joined_once_however_many_comments_cut_it(monkeypatch):
    sets = []

    class Element(xml.Element):
        def __setattr__(self, name, value):
            sets.append(name)
            super().__setattr__(name, value)

    monkeypatch.setattr(xml, "Element", Element)
    root, _ = xml.read_xml(f"<robot>{'some text<!-- -->' * 5000}</robot>", "robot")
    assert root.text == "some text" * 5000
    assert sets.count("raw_text") <= 2


def test_a_chain_of_a_group_compares_no_joints(monkeypatch):
    """Joints are large: they are told apart by their names."""
    compared = []
    monkeypatch.setattr(Joint, "__eq__", lambda a, b: compared.append(1) or a is b)
    text = '<robot name="r"><group name="g"><chain base_link="l0" tip_link="l400"/></group></robot>'
    assert len(read_srdf(text, ROBOT).groups["g"]) == 400
    assert len(compared) < 400


def test_groups_that_stand_too_deep_in_one_another_are_refused():
    groups = "".join(f'<group name="g{k}"><group name="g{k + 1}"/></group>' for k in range(3000))
    with pytest.raises(KumitateError, match="<text>:1: group 'g101' is more than 100 groups deep in 'g0'; take some out"):
        read_srdf(f'<robot name="r">{groups}<group name="g3000"/></robot>', ROBOT)


def test_a_file_of_more_elements_or_bytes_than_any_model_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(xml, "_MOST_ELEMENTS", 10)
    with pytest.raises(KumitateError, match="<text>:1: the file has more than 10 elements, which no model needs; leave out"):
        read_urdf(urdf("<a/>" * 20))
    with open(tmp_path / "large.json", "wb") as file:
        file.truncate(2**27)  # of holes: it takes no room
    with pytest.raises(KumitateError, match=r"large\.json: the file has 128 MB; files of its kind may have 64 MB\. Leave out"):
        kumitate.load(tmp_path / "large.json")
