"""Use a release in Apache Superset, as docs/dashboards.md says: `make bi`.

Superset runs in an environment of its own; every number is compared with what DuckDB finds.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.bi.conftest import Clinic
from tests.bi.superset import NOT_TESTED, OPTIONS, PROGRAM, Superset, metric, values
from tests.chromium import BROWSER, page
from tests.docs.pages import DOCS

if not (PROGRAM.parents[1] / ".ready").exists():
    pytest.skip(NOT_TESTED, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

PICTURE = DOCS / "images" / "superset.png"
PATIENTS = metric("count(*)", "patients")
ILL = metric("avg(case when diagnosis = 'ill' then 1.0 else 0.0 end)", "ill")
FROM = metric("min(age_lower)", "from")


@pytest.fixture(scope="module")
def database(reader: Superset, clinic: Clinic) -> int:
    return reader.add_release("release", clinic.file)


@pytest.fixture(scope="module")
def dataset(reader: Superset, database: int) -> int:
    return reader.add_dataset(database, "main", "patients_anonymized")


def test_whoever_writes_sql_reads_no_other_file(
    reader: Superset, database: int, clinic: Clinic
) -> None:
    assert f"patients.duckdb?{OPTIONS}`" in (DOCS / "dashboards.md").read_text(encoding="utf-8")
    ((count,),) = clinic.rows("select count(*) from patients_anonymized")
    asked = "select count(*) as patients from patients_anonymized"
    assert reader.query(database, asked) == [{"patients": count}]
    (vault,) = (clinic.folder / "vault").glob("*.duckdb")
    for sql, refusal in (
        (f"select * from '{clinic.folder}/seeds/patients.csv'", "Permission Error"),
        (f"attach '{vault}' as vault (read_only)", "Permission Error"),
        ("set enable_external_access = true", "Cannot enable external access"),
    ):
        with pytest.raises(AssertionError, match=refusal):
            reader.query(database, sql)


def test_columns_have_the_descriptions_of_the_release(
    reader: Superset, dataset: int, clinic: Clinic
) -> None:
    expected = dict(
        clinic.rows(
            "select column_name, comment from duckdb_columns() "
            "where table_name = 'patients_anonymized'"
        )
    )
    assert expected["age"].startswith("Quasi-identifier")
    found = {name: column["description"] for name, column in reader.columns(dataset).items()}
    assert found == expected


def test_bars_over_ages_are_in_the_order_of_the_labels(
    reader: Superset, dataset: int, clinic: Clinic
) -> None:
    found = reader.chart(dataset, columns=["age"], metrics=[PATIENTS], orderby=[[FROM, True]])
    labels = [row["age"] for row in found]
    assert values(found) == clinic.rows(
        "select age, count(*) from patients_anonymized group by age order by min(age_lower)"
    )
    assert labels[0] == "[5, 10)"
    assert labels[-1] == "[100, 105)"
    assert labels != sorted(labels), "text would do"


def test_a_browser_draws_them_in_this_order(
    reader: Superset, dataset: int, clinic: Clinic, tmp_path: Path
) -> None:
    """With the settings that docs/dashboards.md names; UPDATE_PICTURES=1 takes its picture."""
    if BROWSER is None:
        pytest.skip("NOT TESTED: Superset in a browser. Run `make chromium` first.")
    chart = reader.save_chart(
        dataset,
        "Patients that are ill, by age",
        kind="echarts_timeseries_bar",
        x_axis="age",
        metrics=[ILL],
        timeseries_limit_metric=FROM,
        x_axis_sort="from",
        x_axis_sort_asc=True,
        x_axis_title="age",
        x_axis_title_margin=30,
        y_axis_title="share that is ill",
        y_axis_title_margin=40,
        y_axis_format=".0%",
        row_limit=1000,
        show_legend=False,
    )
    with page(tmp_path, width=1000, height=420) as found:
        rows, picture = reader.draw(found, chart)
    assert [row["age"] for row in rows] == [
        age
        for (age,) in clinic.rows(
            "select age from patients_anonymized group by age order by min(age_lower)"
        )
    ]
    assert picture.startswith(b"\x89PNG")
    if os.environ.get("UPDATE_PICTURES"):
        PICTURE.write_bytes(picture)


def test_a_crosstab_with_a_filter(reader: Superset, dataset: int, clinic: Clinic) -> None:
    pivot = {
        "operation": "pivot",
        "options": {
            "index": ["age"],
            "columns": ["diagnosis"],
            "aggregates": {"patients": {"operator": "sum"}},
        },
    }
    found = reader.chart(
        dataset,
        columns=["age", "diagnosis"],
        metrics=[PATIENTS],
        filters=[{"col": "smoker", "op": "==", "val": "yes"}],
        post_processing=[pivot, {"operation": "flatten"}],
    )
    cells = {
        (row["age"], name.removeprefix("patients, ")): count
        for row in found
        for name, count in row.items()
        if name != "age" and count is not None
    }
    assert cells == {
        (age, diagnosis): count
        for age, diagnosis, count in clinic.rows(
            "select age, diagnosis, count(*) from patients_anonymized where smoker = 'yes' "
            "group by age, diagnosis"
        )
    }
    assert {name for _, name in cells} == {"ill", "well"}


def test_rates_by_numeric_bounds(reader: Superset, dataset: int, clinic: Clinic) -> None:
    bounds = [
        {"col": "age_lower", "op": ">=", "val": 40},
        {"col": "age_upper", "op": "<=", "val": 80},
    ]
    found = reader.chart(
        dataset, columns=["age_lower"], metrics=[ILL], filters=bounds, orderby=[["age_lower", True]]
    )
    expected = clinic.rows(
        "select age_lower, avg(case when diagnosis = 'ill' then 1.0 else 0.0 end) "
        "from patients_anonymized where age_lower >= 40 and age_upper <= 80 "
        "group by age_lower order by age_lower"
    )
    assert [row["age_lower"] for row in found] == [lower for lower, _ in expected]
    assert [row["ill"] for row in found] == pytest.approx([rate for _, rate in expected])
    assert 3 < len(found) < 12


def test_a_line_over_the_middles_of_ages(reader: Superset, dataset: int, clinic: Clinic) -> None:
    assert reader.columns(dataset)["age_midpoint"]["type"] == "FLOAT"
    found = reader.chart(
        dataset, columns=["age_midpoint"], metrics=[PATIENTS], orderby=[["age_midpoint", True]]
    )
    assert values(found) == clinic.rows(
        "select (age_lower + age_upper) / 2, count(*) from patients_anonymized "
        "group by age_lower, age_upper order by age_lower"
    )


def test_a_card_says_what_the_release_promises(
    reader: Superset, database: int, clinic: Clinic
) -> None:
    about = reader.add_dataset(database, "main", "patients_about")
    shown = reader.chart(about, columns=["place", "fact", "value"], orderby=[["place", True]])
    assert values(shown) == clinic.rows("select place, fact, value from patients_about")
    is_k = [{"col": "fact", "op": "==", "val": "k"}]
    found = reader.chart(about, metrics=[metric("max(number)", "k")], filters=is_k)
    assert [row["k"] for row in found] == [
        min(n for (n,) in clinic.rows("select count(*) from patients_anonymized group by cqi"))
    ]


def test_the_next_release_is_read_without_a_restart(
    reader: Superset, dataset: int, clinic: Clinic
) -> None:
    """Queries go on while it is put in place, and none fails."""
    clinic.add_patients(20_001, 62, 30)

    def count() -> int:
        (row,) = reader.chart(dataset, columns=[], metrics=[PATIENTS])
        return int(row["patients"])

    before, stop = count(), threading.Event()
    counts: list[int] = []
    errors: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                counts.append(count())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        clinic.build()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
    ((after,),) = clinic.rows("select count(*) from patients_anonymized")
    assert before < after <= before + 30
    assert len(counts) > 10
    assert {*counts} <= {before, after}
    assert count() == after
