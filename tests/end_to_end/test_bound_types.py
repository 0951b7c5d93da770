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

pytestmark = pytest.mark.sampled_tests(2)

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


def test_points_in_time_have_a_distance_from_bounds_that_are_dates(consumer: Project) -> None:
    """And none with a time zone is a quasi-identifier: its labels would follow the session."""
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        dates = warehouse.relation_of_ref("customers_hierarchy_birth_date")
        width = warehouse.macro(
            "_width",
            lower="date '2024-03-31'",
            upper="timestamp '2024-04-01 06:00:00'",
            hierarchy=dates,
        )
        assert warehouse.rows(f"select {width}") == [(1.25,)]
        warehouse.cursor().execute(
            "create table moments as "
            "select now() as zoned, now()::timestamp as local, current_date as day"
        )
        relation = dates.incorporate(path={"identifier": "moments"})
        found = {
            column.name: warehouse.macro("_zone_errors", column=column)
            for column in warehouse.adapter.get_columns_in_relation(relation)
        }
    assert found["local"] == found["day"] == []
    assert "zoned must have no time zone" in found["zoned"][0]
    assert "zoned at time zone 'UTC'" in found["zoned"][0]


def test_numbers_of_four_bytes_are_compared_with_none_of_eight(consumer: Project) -> None:
    """Of tenths from 0 to 10 as REAL, 40 fell one leaf below the value that is shown."""
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        dates = warehouse.relation_of_ref("customers_hierarchy_birth_date")

        def errors(value: str, bound: str) -> list[str]:
            tree = dates.incorporate(path={"identifier": "tenths"})
            warehouse.cursor().execute(
                f"create or replace table tenths as select 0.7::{bound} as lower_bound, "
                f"0.8::{bound} as upper_bound, 0.7::{value} as weight"
            )
            columns = warehouse.adapter.get_columns_in_relation(tree)
            asked = {"name": "weight", "kind": "interval", "hierarchy": tree}
            return list(
                warehouse.macro("_bound_type_errors", quasi_identifier=asked, column=columns[2])
            )

        assert errors("real", "real") == errors("double", "decimal(3, 1)") == []
        for bound in ("double", "decimal(3, 1)", "integer"):
            (lower, upper) = errors("real", bound)
            assert "weight must be a number of eight bytes" in lower
            assert "cast(cast(weight as" in upper


def test_texts_that_a_collation_takes_for_equal_are_refused(consumer: Project) -> None:
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        dates = warehouse.relation_of_ref("customers_hierarchy_birth_date")
        relation = dates.incorporate(path={"identifier": "collated"})
        names = ("nocase", "noaccent", "nfc", "nocase.noaccent", "de")
        columns = [f"v collate {name} as c{place}" for place, name in enumerate(names)]
        mended = 'v collate nocase collate "binary" as mended'
        shown = ", ".join([*columns, "v as plain", mended])
        warehouse.cursor().execute(
            f"create view collated as select {shown}, 1 as n from (values (null), ('x')) as s(v)"
        )
        found = warehouse.adapter.get_columns_in_relation(relation)
        (error,) = warehouse.macro("_collation_errors", relation=relation, columns=found)
        assert "the collation of c0, c1, c2, c3, c4 takes different ones for equal" in error
        assert 'c0 collate "binary"' in error
        plain = [column for column in found if column.name[0] != "c"]
        assert warehouse.macro("_collation_errors", relation=relation, columns=plain) == []


def test_types_that_a_format_cannot_hold_are_named_before_anything_is_built(
    consumer: Project,
) -> None:
    consumer.edit(
        "anonymizations/customers.yml",
        lambda text: f"{text}release: {{formats: [duckdb, parquet]}}\n",
    )
    generate(consumer.folder)
    consumer.execute(
        'create table sums as select * replace ("order"::hugeint as "order") from customers'
    )
    consumer.execute("drop table customers cascade")
    consumer.execute("alter table sums rename to customers")
    stops(
        consumer,
        "run",
        "--select",
        "customers_microdata",
        says=("parquet has order, which is hugeint, as a double. Cast it in a model before",),
    )


@pytest.mark.slow
def test_a_table_of_points_in_time_is_measured_before_it_is_published(consumer: Project) -> None:
    consumer.edit(
        "seeds/_seeds.yml",
        lambda text: text.replace("{zip: text}", "{zip: text, birth_date: timestamp}"),
    )
    outcome = consumer.dbt(*SEED_AND_RUN)
    assert outcome.succeeded, outcome.messages
    losses = consumer.query(
        "select birth_date_sse_sst, birth_date_loss from customers_information_loss "
        "where effort > 0 order by effort"
    )
    assert all(0 < sse < 1 and 0 < loss < 1 for sse, loss in losses)
