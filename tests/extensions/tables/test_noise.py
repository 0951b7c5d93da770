"""Noise and rounding in Python models of a stranger's project: the same in every build."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import dbt_anonymize
from dbt_anonymize.extensions.tables.errors import TableError
from tests.docs.pages import DOCS, Page
from tests.projects import Project

PAGE = Page(DOCS / "extensions" / "tables.md")


def model_of_page(name: str) -> str:
    """Return the code whose first line, a comment, names the file."""
    (code,) = re.findall(rf"```\w+\n\S+ models/{name}\n(.*?)```", PAGE.text, re.S)
    return str(code)


KEYS, COUNTED, NOISY = map(model_of_page, ("keys.sql", "counted.sql", "noisy.py"))


@pytest.fixture
def project(consumer: Project) -> Project:
    """Give the stranger's project the models of the page."""
    models = consumer.folder / "models"
    for name, text in (("keys.sql", KEYS), ("counted.sql", COUNTED), ("noisy.py", NOISY)):
        (models / name).write_text(text, encoding="utf-8")
    (models / "rounded.py").write_text(
        NOISY.replace("perturb_table", "round_table").replace("variance=2, largest=5", "base=5"),
        encoding="utf-8",
    )
    return consumer


def test_noise_stays_where_people_stay(project: Project) -> None:
    selected = ("run", "-s", "keys+")
    assert project.dbt(*selected).succeeded
    tables = ("noisy", "rounded")
    before = {name: project.query(f"select * from {name} order by all") for name in tables}
    true = dict(project.query("select (zip, gender), people from counted"))
    for name, most in (("noisy", 5), ("rounded", 4)):
        shown = {(area, gender): people for area, gender, people in before[name]}
        assert shown.keys() == true.keys()
        changes = [shown[cell] - true[cell] for cell in true]
        assert any(changes)
        assert max(map(abs, changes)) <= most
    assert all(people % 5 == 0 for *_, people in before["rounded"])
    assert project.dbt(*selected).succeeded
    assert {name: project.query(f"select * from {name} order by all") for name in tables} == before


CELLS = pd.DataFrame({"ward": ["a", "b"], "people": [3, 8], "keys": [12, 2**40]})


@pytest.mark.parametrize(
    ("cells", "options", "said"),
    [
        (CELLS, {"keys": "key"}, "missing: key"),
        (CELLS.assign(keys=[0.5, 1]), {}, r"its type is float64.*as bigint"),
        (CELLS.assign(people=[-1, 1]), {}, "people must have whole numbers >= 0"),
        (
            CELLS.assign(people=pd.array([3, None], dtype="Int64")),
            {},
            "people must have whole numbers >= 0, none of them NULL",
        ),
        (CELLS, {"variance": None}, "must have variance and largest, or the table of an office"),
        (CELLS, {"largest": 0}, "largest must be"),
    ],
)
def test_what_cannot_be_perturbed_is_said(
    cells: pd.DataFrame, options: dict[str, Any], said: str
) -> None:
    given = {"count": "people", "keys": "keys", "variance": 1, "largest": 2, **options}
    with pytest.raises((TableError, ValueError), match=said):
        dbt_anonymize.perturb_table(cells, **given)


def test_the_table_of_an_office_is_read(tmp_path: Any) -> None:
    """Every count becomes 10."""
    file = tmp_path / "office.csv"
    rows = [f"{count},0,{10 - count if count else 0}" for count in range(20)]
    rows += [f"{count},1,{10 - count if count else 0}" for count in range(20)]
    file.write_text("\n".join(["pcv,ckey,pvalue", *rows]), encoding="utf-8")
    shown = dbt_anonymize.perturb_table(CELLS, count="people", keys="keys", table=file)
    assert shown.to_dict("list") == {"ward": ["a", "b"], "people": [10, 10]}
