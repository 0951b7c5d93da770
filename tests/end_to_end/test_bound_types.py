"""Bounds of hierarchies are refused before a failed cast of DuckDB could quote a value."""

from __future__ import annotations

import itertools

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.end_to_end.test_fail_closed import SEED_AND_RUN, add_rows, stops
from tests.projects import Project
from tests.written import everything_written

# Every plain ordered type with the largest value that it holds.
LARGEST = {
    "tinyint": "127",
    "smallint": "32767",
    "integer": "2147483647",
    "bigint": "9223372036854775807",
    "hugeint": "170141183460469231731687303715884105727",
    "utinyint": "255",
    "usmallint": "65535",
    "uinteger": "4294967295",
    "ubigint": "18446744073709551615",
    "uhugeint": "340282366920938463463374607431768211455",
    "float": "3e38",
    "double": "1.7e308",
    "decimal(18,3)": "999999999999999.999",
    "decimal(38,0)": "9" * 38,
    "decimal(38,10)": "9" * 28,
    "decimal(28,9)": "9" * 19,
    "date": "'9999-12-31'",
    "timestamp": "'9999-12-31'",
    "timestamp_s": "'9999-12-31'",
    "timestamp_ms": "'9999-12-31'",
    "timestamp_ns": "'2262-01-01'",
    "timestamp with time zone": "'9999-12-31'",
}


def test_accepted_types_compare_without_an_error(built_consumer: Project) -> None:
    with open_warehouse(find_project(built_consumer.folder), None) as warehouse:
        fits = {
            pair: warehouse.macro("_fits_in", values=pair[0], bounds=pair[1])
            for pair in itertools.product(LARGEST, repeat=2)
        }
        types = ["ENUM('Ann', 'Bo')", "DECIMAL(9,2)", "TIMESTAMP(6) WITH TIME ZONE", "INT4[]"]
        shown = [warehouse.macro("_shown_type", type=one) for one in types]
    # A message shows no parameters that may be values.
    assert shown == ["enum", "decimal(9,2)", "timestamp(6) with time zone", "int4"]
    refused_needlessly = []
    with duckdb.connect() as connection:
        for (values, bounds), is_accepted in fits.items():
            connection.execute(
                f"create or replace table found as select cast({LARGEST[values]} as {values}) as v"
            )
            connection.execute(
                f"create or replace table bounds as select cast({LARGEST[bounds]} as {bounds}) as b"
            )
            try:
                connection.execute("select 1 from found join bounds on v >= b").fetchall()
            except duckdb.Error:
                assert not is_accepted, (values, bounds)
            else:
                refused_needlessly += [(values, bounds)] * (not is_accepted)
    # Types that nobody needs together; everything usual is accepted.
    usual = {"integer", "bigint", "double", "decimal(18,3)", "date", "timestamp"}
    assert not [pair for pair in refused_needlessly if usual.issuperset(pair)]


@pytest.mark.usefixtures("everything_logged")
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("bound_type", "says"),
    [
        ("timestamp_ns", "must have a type that holds every value of birth_date, which is date"),
        ("integer", "must have a type that holds every value of birth_date, which is date"),
    ],
)
def test_bounds_that_cannot_hold_a_value_stop_before_they_are_compared(
    consumer: Project, bound_type: str, says: str
) -> None:
    far = "9876-05-04"
    consumer.edit("seeds/customers.csv", add_rows(f"1,A,a@e.org,{far},01067,female,1,1,1.0,yes"))
    cast = f"cast(2000 as {bound_type})" if bound_type == "integer" else "bound"
    consumer.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace("ref: customers_hierarchy_birth_date", "ref: typed_hierarchy"),
    )
    bounds = [
        f"{cast if cast != 'bound' else name}::{bound_type} as {name}"
        for name in ("lower_bound", "upper_bound")
    ]
    (consumer.folder / "models" / "typed_hierarchy.sql").write_text(
        "{{ config(materialized='table') }}\nselect * replace ("
        + ", ".join(bounds)
        + ") from {{ ref('customers_hierarchy_birth_date') }}\n",
        encoding="utf-8",
    )
    generate(consumer.folder)
    stops(consumer, *SEED_AND_RUN, says=(says,))
    assert far not in everything_written(consumer)


DAYS = 3652058.0
SMALLEST = {"date": "'0001-01-01'", "timestamp": "'0001-01-01'", "ubigint": "0"}
WIDTHS = {"date": DAYS, "timestamp": DAYS * 86400, "ubigint": 2.0**64, "bigint": 2.0**64}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "bound_type", ["tinyint", "integer", "decimal(38,0)", "decimal(38,10)", *WIDTHS]
)
def test_an_interval_may_be_as_wide_as_its_type(consumer: Project, bound_type: str) -> None:
    highest = LARGEST[bound_type]
    lowest = SMALLEST.get(bound_type, f"-{highest}")
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        known = warehouse.relation_of_ref("customers_hierarchy_birth_date")
        wide = known.incorporate(path={"identifier": "wide_hierarchy"})
        bounds = f"{lowest}::{bound_type} as lower_bound, {highest}::{bound_type} as upper_bound"
        warehouse.cursor().execute(f"create table {wide} as select {bounds}")
        width = warehouse.macro("_width", lower="lower_bound", upper="upper_bound", hierarchy=wide)
        ((found,),) = warehouse.rows(f"select {width} from {wide}")
    expected = WIDTHS.get(bound_type) or 2.0 * float(highest)
    assert found == pytest.approx(expected, rel=1e-15)
