"""`dbt-anonymize audit-table`: tables of a stranger's project, hidden well and badly."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.hidden import Interval, hidden_intervals
from dbt_anonymize.extensions.tables.reading import read_table
from tests.projects import Project

SQL = """
select zip[1:1] as area, coalesce(gender, 'not told') as gender, count(*) as people
from {{ ref('customers') }}
where zip[1:1] in ('0', '1', '2')
group by cube (zip[1:1], coalesce(gender, 'not told'))
"""
NAIVE = """
select area, gender, case when people >= 40 then people end as people from {{ ref('counted') }}
"""
SHARES = """
select
    area,
    gender,
    case when people >= 40 then people end as people,
    round(people / sum(people) over (), 3) as share,
    case when people >= 40 then 'published' else 'hidden' end as status
from {{ ref('counted') }}
"""
BROKEN = """
{{ dbt_anonymize.protected_table(ref('with_shares'), ['area', 'gender'], 'people', 40) }}
"""
TEST = """
models:
  - name: naive
    data_tests:
      - dbt_anonymize.protected_table:
          arguments: {dimensions: [area, gender], measure: people, minimum_frequency: 40}
  - name: with_shares
    data_tests:
      - dbt_anonymize.protected_table:
          arguments: {dimensions: [area, gender], measure: people, minimum_frequency: 40}
          config: {where: "people is not null or area is not null"}
"""


def audit(
    project: Project,
    model: str,
    *more: str,
    minimum: int = 40,
    of: tuple[str, ...] = ("area", "gender"),
) -> tuple[int, str]:
    command = ["audit-table", model, *(word for name in of for word in ("--dimension", name))]
    command += ["--measure", "people", "--minimum-frequency", str(minimum), *more]
    result = CliRunner().invoke(
        app,
        [*command, "--project-dir", str(project.folder)],
        env={"DBT_PROFILES_DIR": str(project.folder)},
    )
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def shop(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = built_consumer.copy(tmp_path_factory.mktemp("tables") / "project")
    models = project.folder / "models"
    (models / "counted.sql").write_text(SQL, encoding="utf-8")
    (models / "naive.sql").write_text(NAIVE, encoding="utf-8")
    (models / "dropped.sql").write_text(
        "select * from {{ ref('counted') }} where people >= 40", encoding="utf-8"
    )
    (models / "with_shares.sql").write_text(SHARES, encoding="utf-8")
    (models / "broken.sql").write_text(BROKEN, encoding="utf-8")
    (models / "tables.yml").write_text(TEST, encoding="utf-8")
    assert project.dbt("run", "-s", "counted", "naive", "dropped", "with_shares").succeeded
    return project


def test_small_cells_hidden_alone_are_told_by_totals(shop: Project) -> None:
    """A dbt test sees what a line tells; the command lists the values."""
    outcome = shop.dbt("test", "-s", "naive")
    assert not outcome.succeeded
    assert "rules of a table with small cells hidden that are broken" in outcome.messages
    code, output = audit(shop, "naive", "--format", "json")
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert code == 1
    rows = shop.query("select area, gender, people from counted")
    true = {(area, gender): people for area, gender, people in rows}
    told = [one for one in found if one["lowest"] == one["highest"]]
    assert told
    for one in found:
        assert one["lowest"] <= true[one["area"], one["gender"]] <= one["highest"]
        assert one["is_hidden_enough"] == (
            one["highest"] >= 40 and one["highest"] - one["lowest"] >= 39
        )


def test_a_table_must_show_where_it_hides(shop: Project) -> None:
    """Left out, cells are of labels that nobody can list: an audit would take them for zero."""
    code, output = audit(shop, "dropped")
    assert code == 2
    assert "hide what is missing by a row with NULL" in " ".join(output.split())


def test_a_column_that_may_give_counts_away_is_named(shop: Project) -> None:
    """A share tells the hidden count; a status only which counts are hidden."""
    code, output = audit(shop, "with_shares")
    assert code == 2
    assert "no argument names share." in " ".join(output.split())
    assert audit(shop, "with_shares", "--other", "share")[1] == audit(shop, "naive")[1].replace(
        "naive", "with_shares"
    )
    assert shop.dbt("run", "-s", "broken").succeeded
    told = "select dimension from broken where rule like 'a column may give hidden counts away%'"
    assert shop.query(told) == [("share",)]
    assert not shop.dbt("test", "-s", "with_shares").succeeded


def test_a_status_of_its_own_is_a_column_as_any(shop: Project) -> None:
    (shop.folder / "models" / "with_status.sql").write_text(
        "select *, case when people < 60 then 'few' end as status from {{ ref('naive') }}",
        encoding="utf-8",
    )
    assert shop.dbt("run", "-s", "with_status").succeeded
    code, output = audit(shop, "with_status")
    assert code == 2
    assert "no argument names status." in " ".join(output.split())


def test_a_table_that_hides_nothing_holds(shop: Project) -> None:
    code, output = audit(shop, "counted")
    assert (code, output) == (0, "counted: 0 cells hidden, 0 of them told exactly.\n")


@pytest.mark.parametrize(
    ("model", "measure", "said"),
    [("counted", "persons", "missing: persons"), ("counts", "people", "counts")],
)
def test_a_wrong_name_is_said(shop: Project, model: str, measure: str, said: str) -> None:
    code, output = audit(shop, model, "--measure", measure)
    assert code > 1
    assert said in output


def test_what_cannot_be_read_is_said_without_a_value() -> None:
    for rows, said in (
        ([("a", 3), ("a", 4)], "1 of 2 rows repeat another. Group by ward"),
        ([("a", -3), (None, 4)], "1 of 2 are"),
        ([], "it has no row"),
    ):
        with pytest.raises(TableError, match=said):
            read_table(rows, ["ward"], None)
    wide = [(str(i), str(i), 1) for i in range(1001)]
    with pytest.raises(TableError, match="at most 1,000,000 cells"):
        read_table(wide, ["a", "b"], None)


def test_a_label_may_mark_totals() -> None:
    rows = [("all", 9), ("north", 5), (None, None), ("west", None)]
    assert hidden_intervals(read_table(rows, ["ward"], "all")) == [
        Interval(("NULL",), 1, 3, 1),
        Interval(("west",), 1, 3, 1),
    ]
    assert hidden_intervals(read_table(rows, ["ward"], "all"), least_hidden=0)[1].highest == 4


def test_hidden_cells_are_not_empty_unless_zeros_are_hidden_as_well() -> None:
    """Six hidden cells that add up to 6 are six ones."""
    rows = [(None, 26), *((str(n), None) for n in range(6)), ("rest", 20)]
    table = read_table(rows, ["ward"], None)
    assert {one[1:3] for one in hidden_intervals(table)} == {(1, 1)}
    assert {one[1:3] for one in hidden_intervals(table, least_hidden=0)} == {(0, 6)}
    empty = read_table([(None, 21), ("a", None), ("b", None), ("rest", 20)], ["ward"], None)
    with pytest.raises(TableError, match="--least-hidden 0"):
        hidden_intervals(empty)


def test_a_total_of_small_cells_may_be_as_small_as_everybody_knows() -> None:
    """Three cells with somebody in each have three people: `suppress_table` asks no more."""
    inner = {"a": (None, None, None, None), "b": (None, None, None, None), "c": (9, 9, 9, 27)}
    rows = [
        (ward, age, people)
        for ward, line in {**inner, None: (13, 13, 13, 39)}.items()
        for age, people in zip(("x", "y", "z", None), line, strict=True)
    ]
    found = {one.labels: one for one in hidden_intervals(read_table(rows, ["ward", "age"], None))}
    total, cell = found["a", None], found["a", "x"]
    assert (total[1:], total.hides(9), total.hides(10)) == ((3, 9, 3), True, False)
    assert (cell[1:], cell.hides(3), cell.hides(4)) == ((1, 3, 1), True, False)


def test_noise_widens_what_is_told() -> None:
    rows = [(None, 10), ("north", 7), ("west", None)]
    (exact,) = hidden_intervals(read_table(rows, ["ward"], None))
    (noisy,) = hidden_intervals(read_table(rows, ["ward"], None), within=2)
    assert (exact.lowest, exact.highest, noisy.lowest, noisy.highest) == (3, 3, 1, 7)


def test_only_margins_are_shown() -> None:
    """Cells of combinations that the table does not show are no hidden cells of it."""
    rows = [("a", None, 4), ("b", None, 6), (None, "x", 3), (None, "y", 7), (None, None, 10)]
    assert hidden_intervals(read_table(rows, ["first", "second"], None)) == []
