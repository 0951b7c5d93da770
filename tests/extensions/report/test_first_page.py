"""First page of a report: figures and rows of the release, warnings, the worst columns."""

from __future__ import annotations

import re
from dataclasses import replace

import duckdb
import pytest

from dbt_anonymize.extensions.report import reading
from dbt_anonymize.extensions.report.charts import spec_of
from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.rendering import as_html, as_markdown
from dbt_anonymize.extensions.report.sections import sections
from dbt_anonymize.extensions.report.sections.labels import distributions, invented_records, losses
from dbt_anonymize.extensions.report.summary import figures, sample_section
from tests.effort_results import LINES
from tests.extensions.report.findings import findings, spec, wide
from tests.extensions.report.test_report import NOW


def test_the_first_figures_are_those_of_the_chosen_effort() -> None:
    assert figures(findings()) == [
        ("smallest group, k", "2"),
        ("QF of the release", "0.880"),
        ("QF of the untouched table", "0.900"),
        ("QF of the zero rule", "0.600"),
        ("left out", "0 of 100"),
    ]


def test_k_counts_people_where_a_subject_is_declared() -> None:
    of = findings()
    promised = "Each released record is one of at least {} with the same generalized values."
    k = of.spec.guarantees.k_anonymity.k
    assert promised.format(k) in as_markdown(of, now=NOW)
    people = of.spec.model_copy(update={"subject": "name"})
    of = replace(of, evidence=replace(of.evidence, spec=people))
    assert promised.format(f"{k} people") in as_markdown(of, now=NOW)


def test_classes_that_give_the_target_away_are_told_with_what_prevents_them() -> None:
    """In multiples, as all counts of people."""
    assert "have the same value" not in as_markdown(findings(), now=NOW)
    text = as_markdown(replace(findings(), alike=23), now=NOW)
    assert "About 25 released records are in classes of which all have the same value" in text
    assert "(attribute value, l 2) prevents that" in text


def test_columns_of_which_nothing_is_left_are_named() -> None:
    of = findings()
    assert "Nothing is left" not in as_markdown(of, now=NOW)
    lost = [{"effort": effort, "age_loss": 0.5, "town_loss": 1.0} for effort in LINES]
    starred = replace(of, parts={**of.parts, "information_loss": lost})
    assert "Nothing is left of town" in as_markdown(starred, now=NOW)


def test_rows_are_those_of_the_release_from_all_over_it() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table released as select i, -i as j from range(100) as t (i)")
        rows = reading._spaced_rows(connection.cursor(), "released")
        assert rows == [{"i": i, "j": -i} for i in (0, 20, 40, 60, 80)]
        connection.execute("delete from released where i > 2")
        assert [row["i"] for row in reading._spaced_rows(connection.cursor(), "released")] == [
            0,
            1,
            2,
        ]


def test_rows_are_shown_with_generalized_columns_first_and_bounds_named() -> None:
    row = {"value": "yes", "age": "[0, 10)", "age_lower": 0, "age_upper": 10, "town": None}
    of, middle = findings(), spec(release={"midpoints": True})
    told = replace(of, evidence=replace(of.evidence, spec=middle))
    shown = sample_section(replace(told, released=[row | {"age_midpoint": 5}]))
    assert shown is not None
    assert shown.rows == [("age", "[0, 10)"), ("town", ""), ("value", "yes")]
    assert "say the same: age_lower, age_upper, age_midpoint." in shown.sentence
    assert sample_section(findings()) is None


@pytest.mark.needs("attacks")
def test_what_matters_is_open_and_comes_first() -> None:
    def opened(of: Findings) -> list[str]:
        parts = sections(of)
        assert [part.is_open for part in parts] == sorted((p.is_open for p in parts), reverse=True)
        return [part.key for part in parts if part.is_open]

    of = findings()  # an attack has a warning
    assert opened(of) == ["quality", "attacks", "losses"]
    calm = [row for row in of.rows("attacks") if not row["is_warning"]]
    relations = {**of.evidence.relations, "attacks": calm}
    of = replace(of, evidence=replace(of.evidence, relations=relations))
    assert opened(of) == ["quality", "losses"]
    folded = re.findall(r'<section id="(\w+)"[^>]*>\s*<details class="part">', as_html(of, now=NOW))
    assert folded == [part.key for part in sections(of) if not part.is_open]


def test_bars_are_in_the_order_of_labels() -> None:
    tree = [{"level_1": label, "level_2": "*"} for label in ("[5, 10)", "[10, 20)", "[100, 200)")]
    counts = {"[100, 200)": 90, "[5, 10)": 10, "[10, 20)": 50, None: 20, "9": 5, "70": 5}
    labels = [{"effort": 1, "label": label, "records": n} for label, n in counts.items()]
    others = [{"effort": 2, "label": "*", "records": 100}]
    of = replace(
        findings(),
        hierarchies={**findings().hierarchies, "age": tree},
        labels={"age": [*others, *labels], "town": []},
    )
    ages, _ = distributions(of)
    order = ["[5, 10)", "[10, 20)", "[100, 200)", "9", "70", "rare labels together"]
    assert [row[1] for row in ages.rows] == ages.options["order"] == order
    drawn = spec_of(ages)
    assert drawn is not None
    assert drawn["spec"]["encoding"]["y"]["sort"] == order


def test_a_wide_table_is_told_by_its_worst_columns() -> None:
    of = wide()
    worst = [f"answer_{place:02}" for place in range(29, 19, -1)]
    lost = losses(of)
    assert [row["column"] for row in lost.data] == worst
    assert [row[0] for row in lost.rows][:10] == worst
    assert len(lost.rows) == 30
    *shown_alone, others = distributions(of)
    assert [part.title for part in shown_alone] == [f"Distribution of {name}" for name in worst]
    rest = [f"answer_{place:02}" for place in range(19, -1, -1)]
    assert [row[0] for row in others.rows] == rest
    (records,) = invented_records(of)
    assert list(records.headings[2:]) == worst
    assert "Not shown: answer_00" in records.sentence
    shown = sample_section(of)
    assert shown is not None
    assert [row[0] for row in shown.rows][:10] == worst
    assert as_html(of, now=NOW).count("<summary>21 more</summary>") == 1


def test_no_line_joins_builds_of_different_specifications() -> None:
    (history,) = [part for part in sections(findings()) if part.key == "history"]
    drawn = spec_of(history)
    assert drawn is not None
    assert drawn["encoding"]["detail"]["field"] == "fingerprint"
