"""The study of environments for learning: what it counts, and what the command answers."""

import json

from studies import environments, suite_speed
from studies.commands import gym as verb


def test_machine_code_takes_a_part_of_the_time():
    found = environments.measure("cart_pole", "at random", count=32, steps=20)
    assert 0.0 < found.machine < found.seconds
    assert 0.0 < found.python < 1.0
    assert found.resets > 0.0
    assert found.rate == 32 / found.seconds


def test_the_command_answers(capsys, tmp_path):
    verb.gym("cart_pole", quick=True, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert [item["policy"] for item in answer["environments"]] == list(environments.POLICIES)
    verb.gym("acrobot", quick=True, markdown=tmp_path / "page.md")
    assert "acrobot" in capsys.readouterr().out
    assert "| acrobot | at rest | 1 × 200 ms | 16 |" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_the_suite_is_timed_beside_mujoco(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    verb.gym("reacher", quick=True, markdown=tmp_path / "page.md")
    assert "implicitfast" in capsys.readouterr().out
    line = next(line for line in (tmp_path / "page.md").read_text(encoding="utf-8").splitlines() if "no contact" in line)
    assert line.startswith("| reacher |")
    assert line.endswith("| 4, no contact | 4, no contact |")
    compared = suite_speed.compare("reacher", count=4, steps=3)
    assert min(compared.rates.values()) > 0.0
    assert list(compared.rates) == list(suite_speed.COLUMNS)
