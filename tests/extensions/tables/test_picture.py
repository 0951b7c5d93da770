"""Crosstabs of released tables: nothing but what is released, bounded, in order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.extensions.tables import picture
from dbt_anonymize.extensions.tables.picture import ALL, HIDDEN, Picture
from dbt_anonymize.extensions.tables.register import RegisteredTable
from dbt_anonymize.extensions.tables.report import TableFindings, report_of
from dbt_anonymize.spec import Spec
from tests import chromium
from tests.extensions.tables.test_declared import spec

HOSTILE = "</script><script>alert(1)</script><img src=https://example.org/x>|"
ROWS = [
    ("north", "yes", None, "hidden"),
    ("north", "no", None, "hidden"),
    ("north", None, 9, "published"),
    ("south", "yes", None, "hidden"),
    ("south", None, 20, "published"),
    (None, None, 29, "published"),
]
COLUMNS = ["ward", "ill", "people", "status"]


def findings(shown: Picture | None, **changed: Any) -> TableFindings:
    effort = {
        "effort": 1,
        "protection": "hide",
        "cells": 6,
        "hidden_cells": 3,
        "qf": 0.8,
        "zero_rule": 0.4,
        "qnf": 0.5,
        "q": 0.8,
        "qualifies": True,
        "is_chosen": True,
        "reason": "chosen: the best Q of those that protect enough",
    }
    effort |= changed
    register = [
        RegisteredTable(n, f"2026-0{n}-03 10:00:00", 1, "hide", 6, 3, 0.8, 0.5, 0.8, "1f")
        for n in (1, 2)
    ]
    return TableFindings(Spec.model_validate(spec()), [effort], register, "here", shown)


def figures(shown: Picture) -> Iterator[Any]:
    """Yield all figures of all sections."""
    for part in (*shown.sections(), *shown.margins()):
        yield from (cell for row in part.rows for cell in row[1:])
        yield from (bar["people"] for bar in part.data)


def test_a_crosstab_has_totals_one_mark_zeros_and_what_is_not_released() -> None:
    (part,) = Picture.of(COLUMNS, ROWS).sections()
    assert part.headings == ("ward", "no", "yes", ALL)
    assert part.rows == [
        ("north", HIDDEN, HIDDEN, 9),
        ("south", 0, HIDDEN, 20),
        (ALL, None, None, 29),
    ]
    assert part.texts[2] == [ALL, "-", "-", "29"]
    assert part.mark == HIDDEN
    assert "`-` is not released" in part.sentence


def test_figures_that_a_release_must_not_have_are_not_shown_either() -> None:
    """A hidden row with a figure is one of a table that somebody changed."""
    shown = Picture.of(COLUMNS, [("north", "yes", 3, "hidden"), ("north", None, 9, "published")])
    assert 3 not in {*figures(shown)}


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.integers(5, 99)),
        min_size=1,
        max_size=40,
        unique_by=lambda row: row[:3],
    )
)
def test_every_figure_is_a_released_one(rows: list[tuple[int, int, int, int]]) -> None:
    """Labels are absent from totals (0); even counts are hidden."""
    table = [
        (
            *(f"l{n}" if n else None for n in row[:3]),
            *((row[3], "published"), (None, "hidden"))[row[3] % 2 == 0],
        )
        for row in rows
    ]
    shown = Picture.of(["a", "b", "c", "people", "status"], table)
    told = {row[3] for row in table if row[3] is not None}
    assert {*figures(shown)} <= {*told, 0, None, HIDDEN}
    cells = [cell for part in shown.sections() for row in part.rows for cell in row[1:]]
    assert cells.count(HIDDEN) == sum(row[-1] == "hidden" for row in table)
    assert sum(cell for cell in cells if isinstance(cell, int)) == sum(
        row[3] for row in table if row[3] is not None
    )


def test_large_tables_are_bounded_and_say_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, most in (("MOST_TABLES", 3), ("MOST_ROWS", 5), ("MOST_COLUMNS", 2)):
        monkeypatch.setattr(picture, name, most)
    sizes = {"a": 8, "b": 4, "c": 6}
    labels = [[None, *(f"{name} {n}" for n in range(size))] for name, size in sizes.items()]
    rows = [(*cell, 7, "rounded") for cell in itertools.product(*labels)]
    parts = Picture.of([*sizes, "people", "status"], rows).sections()
    *tables, last = parts
    assert len(tables) == 3
    assert last.sentence.endswith("4 further tables of other labels or sums.")
    for part in tables:
        assert len(part.rows) <= picture.MOST_ROWS + 1
        assert len(part.headings) == 1 + 2 + 1
        assert "Left out: 2 further labels of b." in part.sentence
        assert "rounded" in part.sentence
    assert [part.title for part in tables] == [
        "a by b; c: all",
        "a by b; c: c 0",
        "a by b; c: c 1",
    ]


def test_the_longest_dimension_stands_down_and_numbers_are_in_order() -> None:
    ages = ["[5, 10)", "[10, 20)", "*", "[-5, 5)"]
    rows = [("x", age, 5, "published") for age in ages]
    (part,) = Picture.of(["ward", "age", "people", "status"], rows).sections()
    assert [row[0] for row in part.rows] == ["[-5, 5)", "[5, 10)", "[10, 20)", "*"]
    assert part.headings == ("age", "x")


def test_records_are_named_where_they_are_counted() -> None:
    ends = ("records_lowest", "records_highest")
    rows = [("a", 7, 7, 7, "published"), ("b", None, 1, 6, "hidden")]
    shown = Picture.of(["ward", "records", *ends, "status"], rows)
    assert (shown.measures, shown.intervals) == (("records",), ends)
    (margin,) = shown.margins()
    assert margin.title == "Records by ward"
    assert margin.data[0] == {"label": "a", "records": 7}


def test_subtotals_stand_after_the_finest_labels() -> None:
    columns = ["age", "ill", "ill_level", "age_level", "people", "status"]
    rows = [
        (age, ill, "mild", level, 9, "published")
        for age, level in (("20s", 2), ("[20, 25)", 1), ("[25, 30)", 1), (None, None))
        for ill in ("yes", None)
    ]
    shown = Picture.of(columns, rows)
    assert shown.dimensions == ("age", "ill", "ill_level")
    part, *others = shown.sections()
    assert not others
    assert [row[0] for row in part.rows] == ["[20, 25)", "[25, 30)", "20s (level +1)", ALL]
    assert all(row[1:] == (9, 9) for row in part.rows)


def test_one_dimension_has_its_sums_beside_and_a_chart_without_hidden_bars() -> None:
    columns = ["ward", "people", "cost", "status"]
    rows = [("a", 9, 12.5, "published"), ("b", None, None, "hidden"), (None, 12, 9e4, "published")]
    shown = Picture.of(columns, rows)
    (part,), (chart,) = shown.sections(), shown.margins()
    assert part.rows == [("a", 9, "12.50"), ("b", HIDDEN, HIDDEN), (ALL, 12, 90_000)]
    assert chart.data == [{"label": "a", "people": 9}, {"label": "b: hidden", "people": None}]


def test_intervals_are_no_measures() -> None:
    columns = ["ward", "people", "people_lowest", "people_highest", "cost", "status"]
    shown = Picture.of(columns, [("a", None, 1, 7, None, "hidden"), ("b", 9, 9, 9, 4, "published")])
    assert shown.measures == ("people", "cost")
    (part,) = shown.sections()
    assert part.rows == [("a", HIDDEN, HIDDEN), ("b", 9, 4)]
    said = report_of(findings(shown)).answers[0].sentences
    assert any("not drawn: people_lowest, people_highest." in sentence for sentence in said)


def test_the_report_tells_an_earlier_table_and_none() -> None:
    shown = Picture.of(COLUMNS, ROWS)

    def said(found: TableFindings) -> str:
        return " ".join(s for answer in report_of(found).answers for s in answer.sentences)

    assert "6 cells, 3 of them hidden" in said(findings(shown))
    assert "first on 2026-01-03, last on 2026-02-03, by hide" in said(findings(shown))
    assert "an earlier table, which stays" not in said(findings(shown))
    nothing = {"qf": None, "qnf": None, "q": None, "zero_rule": None, "is_chosen": False}
    stays = said(findings(shown, **nothing, reason="not chosen: others"))
    assert "an earlier table, which stays" in stays
    assert "QF 0.800" not in stays
    assert "Nothing: no effort qualifies." in said(findings(None, **nothing))
    perturbed = Picture.of(COLUMNS, [("north", "yes", 7, "perturbed")])
    assert "all counts are changed at random" in said(findings(perturbed))
    assert "Nothing: run `dbt build`." in said(findings(None))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([("*", "yes", 9, "published")], "Labels stand for values, `*` for a missing one."),
        (
            [("north", None, 9, "published")],
            "Labels stand for values, `all` for a total, which is NULL in the table.",
        ),
        (
            [("*", "yes", 9, "published"), (None, "yes", 9, "published")],
            "Labels stand for values, `*` for a missing one, `all` for a total, which is NULL in "
            "the table.",
        ),
        ([("north", "yes", 9, "published")], None),
    ],
)
def test_a_report_explains_once_what_labels_stand_for(rows: list[Any], says: str | None) -> None:
    told = report_of(findings(Picture.of(COLUMNS, rows)))
    said = [sentence for answer in told.answers for sentence in answer.sentences]
    assert [one for one in said if one.startswith("Labels stand")] == ([says] if says else [])


def test_the_report_says_what_quality_is_compared_with() -> None:
    shown = Picture.of(COLUMNS, ROWS)
    (said, *_) = report_of(findings(shown)).answers[2].sentences
    assert "true counts at the finest levels of all efforts would have 1" in said
    assert "the zero rule, which knows no count and answers with equal shares, has 0.4." in said
    found = findings(shown)
    asked = [{"rank": "ward"}, {"share": "ward"}, {"trend": "age"}]
    found = found._replace(spec=Spec.model_validate(spec(questions=asked)))
    (said, *_) = report_of(found).answers[2].sentences
    assert "answers with ties, equal shares and no change, has 0.4." in said


@pytest.mark.needs("report")
def test_labels_are_never_markup_and_charts_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair")
    from dbt_anonymize.extensions.report import charts
    from dbt_anonymize.extensions.report.rendering import as_html, as_json, as_markdown

    monkeypatch.setattr(charts, "IS_CHECKED", True)
    rows = [(HOSTILE, HOSTILE, None, "hidden"), (HOSTILE, None, 9, "published")]
    report = report_of(findings(Picture.of(COLUMNS, rows)))
    page = as_html(report)
    body, *scripts = page.split("<script")
    assert len(scripts) == 4
    assert "<img" not in body
    assert '<td class="mark">hidden</td>' in page
    assert '<th scope="row">&lt;/script&gt;' in page
    assert "<script" not in as_markdown(report)
    assert "margin_0" in as_json(report)


@pytest.mark.needs("report")
def test_a_crosstab_is_seen_whole(tmp_path: Path) -> None:
    """No box hides rows of it; wide ones are moved from left to right."""
    from dbt_anonymize.extensions.report.rendering import as_html

    sizes = {"town": picture.MOST_ROWS, "trade": picture.MOST_COLUMNS}
    labels = [[None, *(f"{name} number {n}" for n in range(size))] for name, size in sizes.items()]
    rows = [(*cell, 7, "published") for cell in itertools.product(*labels)]
    file = tmp_path / "report.html"
    page = as_html(report_of(findings(Picture.of([*sizes, "people", "status"], rows))))
    file.write_text(page, encoding="utf-8")
    hides = (
        "[...document.querySelectorAll('.scroll:has(.crosstab)')].filter(box => "
        "box.offsetHeight && box.scrollHeight > box.clientHeight + 1).length"
    )
    with chromium.shown(file, tmp_path / "profile") as shown:
        assert shown.evaluate("document.querySelectorAll('#table_1 tbody tr').length") == 41
        for media in ("screen", "print"):
            shown.send("Emulation.setEmulatedMedia", media=media)
            assert shown.evaluate(hides) == 0
            assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
