"""Use tables of counts in Apache Superset, as docs/extensions/tables.md says: `make bi`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from tests.bi.conftest import reader  # noqa: F401 (a fixture)
from tests.bi.superset import NOT_TESTED, PROGRAM, Superset, metric, values
from tests.chromium import BROWSER, Page, page
from tests.docs.pages import DOCS
from tests.extensions.tables.projects import HIDE, LEVELS, NAME, declare
from tests.projects import Project, copy_consumer

if not (PROGRAM.parents[1] / ".ready").exists():
    pytest.skip(NOT_TESTED, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

PAGE = " ".join((DOCS / "extensions" / "tables.md").read_text(encoding="utf-8").split())
NOISY = "noisy"
NOISE = {"method": "noise", "variance": 15, "largest": 20, "levels": LEVELS}
# Of the labels and of their subtotals.
LEVEL, COARSER = 2, 3
PEOPLE = metric("case when count(*) = 1 then max(people) end", "people")
TEXT = metric(
    "case when count(*) = 1 then coalesce(cast(max(people) as varchar), max(status)) end", "people"
)
SUM = metric("sum(people)", "people")
# A name that the browser sends for NULL.
TOTAL = "<NULL>"


class Reading:
    """The data sets of two tables, and what DuckDB finds in their files."""

    def __init__(self, superset: Superset, project: Project) -> None:
        self.superset = superset
        self.files = {name: project.release_file(name) for name in (NAME, NOISY)}
        self.datasets = {
            name: superset.add_dataset(superset.add_release(name, file), "main", f"{name}_table")
            for name, file in self.files.items()
        }

    def chart(self, name: str, *columns: str, by: dict[str, str], where: Sequence[Any]) -> Any:
        """Return the values that a chart draws, in the order of the text of labels."""
        asked = {"columns": [*columns], "metrics": [by], "filters": [*where]}
        found = values(self.superset.chart(self.datasets[name], **asked))
        return sorted(found, key=str)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return rows of the tables `counts` and `noisy`, in the same order."""
        with duckdb.connect() as connection:
            for name, file in self.files.items():
                connection.execute(f"attach '{file}' as file_{name} (read_only)")
                connection.execute(f"create view {name} as from file_{name}.{name}_table")
            return sorted(connection.execute(sql).fetchall(), key=str)


@pytest.fixture(scope="module")
def reading(
    reader: Superset,  # noqa: F811 (a fixture)
    tmp_path_factory: pytest.TempPathFactory,
) -> Reading:
    project = copy_consumer(tmp_path_factory.mktemp("tables") / "project")
    declare(project, efforts=[HIDE])
    declare(project, efforts=[NOISE], subtotals={"birth_date": [COARSER]}, more={"name": NOISY})
    generate(project.folder, [NAME, NOISY])
    project.build("--select", f"+path:models/{NAME}", f"+path:models/{NOISY}")
    return Reading(reader, project)


def null(*names: str) -> list[dict[str, Any]]:
    return [{"col": name, "op": "IS NULL"} for name in names]


def shown(*names: str) -> list[dict[str, Any]]:
    return [{"col": name, "op": "IS NOT NULL"} for name in names]


def among(name: str, *labels: Any) -> list[dict[str, Any]]:
    return [{"col": name, "op": "IN", "val": [*labels]}]


def test_the_page_has_these_metrics() -> None:
    for one in (PEOPLE, TEXT):
        assert f"`{one['sqlExpression']}`" in PAGE


def test_a_sum_counts_people_several_times_and_the_metric_never(reading: Reading) -> None:
    ((everybody,),) = reading.rows(
        "select people from counts where coalesce(birth_date, zip, churned) is null"
    )
    ((added,),) = reading.chart(NAME, by=SUM, where=[])
    assert added > 2 * everybody
    assert reading.chart(NAME, by=PEOPLE, where=[]) == [(None,)]
    assert {n for _, n in reading.chart(NAME, "zip", by=PEOPLE, where=[])} == {None}
    totals = reading.rows(
        "select zip, people from counts where birth_date is null and churned is null"
    )
    others = null("birth_date", "churned")
    assert reading.chart(NAME, "zip", by=PEOPLE, where=others) == totals
    assert (None, everybody) in totals


def test_cells_without_any_total_add_up_to_less_than_the_totals(reading: Reading) -> None:
    """Leave hidden counts out."""
    finest = reading.chart(NAME, "zip", by=SUM, where=shown("birth_date", "zip", "churned"))
    totals = reading.chart(
        NAME, "zip", by=PEOPLE, where=[*shown("zip"), *null("birth_date", "churned")]
    )
    assert len(finest) == len(totals) > 2
    assert all(part < total for (_, part), (_, total) in zip(finest, totals, strict=True))


def test_a_crosstab_has_the_published_totals_and_says_what_is_hidden(reading: Reading) -> None:
    found = reading.chart(NAME, "birth_date", "zip", by=TEXT, where=null("churned"))
    assert found == reading.rows(
        "select birth_date, zip, coalesce(people::varchar, status) from counts "
        "where churned is null"
    )
    told = {(birth_date, zip_): text for birth_date, zip_, text in found}
    assert told[None, None].isdigit()
    assert "hidden" in told.values()
    # Nobody is in a cell without a row.
    assert ("*", "010**") not in told


def test_bars_have_no_height_where_a_count_is_hidden(reading: Reading) -> None:
    where = [*shown("birth_date"), *among("zip", "041**"), *null("churned")]
    found = reading.chart(NAME, "birth_date", by=PEOPLE, where=where)
    assert found == reading.rows(
        "select birth_date, people from counts "
        "where zip = '041**' and churned is null and birth_date is not null"
    )
    assert None in {people for _, people in found} > {None}


def test_a_filter_of_a_dashboard_takes_one_label_or_the_total(reading: Reading) -> None:
    for labels, condition in ((["101**"], "zip = '101**'"), ([TOTAL], "zip is null")):
        where = [*among("zip", *labels), *null("churned")]
        assert reading.chart(NAME, "birth_date", by=PEOPLE, where=where) == reading.rows(
            f"select birth_date, people from counts where {condition} and churned is null"
        )
    for several in (["101**", "200**"], ["101**", TOTAL]):
        where = [*among("zip", *several), *null("churned")]
        found = reading.chart(NAME, "birth_date", by=PEOPLE, where=where)
        assert {people for _, people in found} == {None}


def test_superset_adds_what_is_shown_alone(reading: Reading) -> None:
    """Its totals, shares and others, of a decade of which all but one cell is hidden."""
    line = [*among("birth_date", "1950s"), *null("churned")]
    cells = dict(
        reading.rows(
            "select zip, people from counts where birth_date = '1950s' and churned is null"
        )
    )
    published, only = cells.pop(None), cells["010**"]
    assert {zip_ for zip_, people in cells.items() if people} == {"010**"}
    assert f"of {published} people, {only} shown ones become 100 %" in PAGE
    assert reading.chart(NAME, by=SUM, where=[*line, *shown("zip")]) == [(only,)]

    asked: dict[str, Any] = {"columns": ["zip"], "metrics": [SUM]}
    dataset = reading.datasets[NAME]
    share = {
        "operation": "contribution",
        "options": {"columns": ["people"], "rename_columns": ["share"]},
    }
    where = [*line, *shown("zip")]
    found = reading.superset.chart(dataset, **asked, filters=where, post_processing=[share])
    assert {row["zip"]: row["share"] for row in found if row["share"]} == {"010**": 1}

    first: dict[str, Any] = {
        "series_limit": 1,
        "series_columns": ["zip"],
        "group_others_when_limit_reached": True,
    }
    found = reading.superset.chart(dataset, **asked, **first, filters=where, orderby=[[SUM, False]])
    assert sorted(values(found)) == [("010**", only), ("Others", None)]


def test_totals_are_among_others_unless_left_out(reading: Reading) -> None:
    asked: dict[str, Any] = {"columns": ["zip"], "filters": null("birth_date", "churned")}
    asked |= {"series_limit": 2, "series_columns": ["zip"], "group_others_when_limit_reached": True}
    ((everybody,),) = reading.rows(
        "select people from counts where coalesce(birth_date, zip, churned) is null"
    )

    def others(by: dict[str, str]) -> Any:
        found = reading.superset.chart(
            reading.datasets[NAME], metrics=[by], orderby=[[by, False]], **asked
        )
        return {row["zip"]: row["people"] for row in found}["Others"]

    assert others(SUM) > everybody
    assert others(PEOPLE) is None
    asked["filters"] = [*asked["filters"], *shown("zip")]
    assert others(SUM) < everybody
    assert others(PEOPLE) is None


def test_noise_does_not_add_up_to_the_published_totals(reading: Reading) -> None:
    level = among("birth_date_level", LEVEL)
    parts = reading.chart(
        NOISY, "birth_date", by=SUM, where=[*level, *shown("zip"), *null("churned")]
    )
    totals = reading.chart(NOISY, "birth_date", by=PEOPLE, where=[*level, *null("zip", "churned")])
    assert totals == reading.rows(
        "select birth_date, people from noisy "
        f"where birth_date_level = {LEVEL} and zip is null and churned is null"
    )
    assert [label for label, _ in parts] == [label for label, _ in totals]
    assert parts != totals


def test_subtotals_need_a_filter_of_the_level(reading: Reading) -> None:
    others = null("zip", "churned")
    both = reading.chart(NOISY, "birth_date", by=PEOPLE, where=others)
    assert {"1950s", "1950-1969"} < {label for label, _ in both}
    where = [*among("birth_date_level", LEVEL, TOTAL), *others]
    one = reading.chart(NOISY, "birth_date", by=PEOPLE, where=where)
    assert one == reading.rows(
        "select birth_date, people from noisy where zip is null and churned is null "
        f"and (birth_date_level = {LEVEL} or birth_date_level is null)"
    )
    assert {"1950s", None} < {label for label, _ in one}


def test_a_browser_shows_a_crosstab(reading: Reading, tmp_path: Path) -> None:
    """As numbers, hidden cells are as blank as empty ones, and totals of Superset are too small."""
    if BROWSER is None:
        pytest.skip("NOT TESTED: Superset in a browser. Run `make chromium` first.")
    cells = {
        (birth_date or "null", zip_ or "null"): (people, status)
        for birth_date, zip_, people, status in reading.rows(
            "select birth_date, zip, people, status from counts where churned is null"
        )
    }
    decades, zips = ([*dict.fromkeys(labels)] for labels in zip(*sorted(cells), strict=True))

    def row_of(decade: str, hidden: str) -> list[str]:
        of_row = [cells.get((decade, zip_), ("", "")) for zip_ in sorted(zips)]
        return [hidden if status == "hidden" else str(people) for people, status in of_row]

    with page(tmp_path) as browser:
        found = _crosstab(reading, browser, TEXT, null("churned"), totals=False)
        assert found == {
            "zip": sorted(zips),
            **{decade: row_of(decade, "hidden") for decade in decades},
        }
        assert found["*"] == ["", "hidden", "hidden", "hidden", str(cells["*", "null"][0])]

        where = [*shown("birth_date", "zip"), *null("churned")]
        found = _crosstab(reading, browser, SUM, where, totals=True)
    assert "*" not in found
    assert found["1950s"][:-1] == row_of("1950s", "")[:-1]
    added = sum(people or 0 for labels, (people, _) in cells.items() if "null" not in labels)
    assert found["Total (Sum)"][-1] == str(added)
    assert added < cells["null", "null"][0]


def _crosstab(
    reading: Reading,
    browser: Page,
    by: dict[str, str],
    filters: Sequence[dict[str, Any]],
    *,
    totals: bool,
) -> dict[str, list[str]]:
    """Return the cells of each line, and of the line of labels, as the browser shows them."""
    simple = {"expressionType": "SIMPLE", "clause": "WHERE"}
    chart = reading.superset.save_chart(
        reading.datasets[NAME],
        "Customers",
        kind="pivot_table_v2",
        groupbyRows=["birth_date"],
        groupbyColumns=["zip"],
        metrics=[by],
        adhoc_filters=[{**simple, "subject": f["col"], "operator": f["op"]} for f in filters],
        aggregateFunction="Sum",
        metricsLayout="COLUMNS",
        rowTotals=totals,
        colTotals=totals,
        row_limit=1000,
    )
    _, labels, _, *lines = reading.superset.crosstab(browser, chart)
    return {line[0]: line[1:] for line in (labels, *lines)}
