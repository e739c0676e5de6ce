"""The page of a sweep: one file that loads nothing, holds what the table says, and that a browser draws."""

import json
import re

import pytest

from kumitate.view.page import SHOWN, write_sweep_page

from .browser import played

UNITS = {"run": "", "gain:kp": "1/s", "status": "", "message": "", "largest:x": "m", "recorded": ""}


def page(folder, count=4, message="</script><b>"):
    columns = {
        "run": list(range(count)),
        "gain:kp": [0.1 * k for k in range(count)],
        "status": ["done"] * (count - 1) + ["failed"],
        "message": [""] * (count - 1) + [message],
        "largest:x": [1.23456789 * k for k in range(count - 1)] + [float("nan")],
        "recorded": ["runs/000000"] + [None] * (count - 1),
    }
    path = folder / "page.html"
    return write_sweep_page(path, columns, UNITS, ["gain:kp"], title="a <sweep>", runs=count, folder="my sweep")


def held(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), flags=re.DOTALL)[1])


def test_the_page_holds_the_table_and_loads_nothing(tmp_path):
    path = page(tmp_path)
    data, text = held(path), path.read_text(encoding="utf-8")
    assert [column["name"] for column in data["columns"]] == ["gain:kp", "largest:x"]
    assert data["columns"][1] == {"name": "largest:x", "unit": "m", "parameter": False, "values": [0.0, 1.23457, 2.46914, None]}
    assert data["command"] == "kumitate simulate 'my sweep' --run "
    assert data["recorded"][0] == "runs/000000"
    assert "default-src 'none'" in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert "<b>" not in text, "data broke out of its element"
    assert "<title>a &lt;sweep&gt;</title>" in text


def test_of_many_runs_some_are_drawn_spread_over_all(tmp_path):
    data = held(page(tmp_path, 3 * SHOWN))
    assert data["done"] == 3 * SHOWN
    assert len(data["run"]) == SHOWN
    assert data["run"][0] == 0
    assert data["run"][-1] == 3 * SHOWN - 1


@pytest.mark.slow
def test_a_browser_draws_the_page_without_complaint(tmp_path):
    document = played(page(tmp_path), tmp_path)
    assert "4 of 4 runs: 3 done, 1 failed" in document
    assert "Run 0: done" in document
    assert 'href="runs/000000/page.html"' in document
    assert "largest:x [m]" in document
