"""Somebody with a role of the server reads a release in Apache Superset: `make bi`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bi.conftest import reader  # noqa: F401 (a fixture)
from tests.bi.superset import NOT_TESTED, PROGRAM, Superset, metric, values
from tests.extensions.postgres.published import RELEASE, Published
from tests.extensions.postgres.test_about import published  # noqa: F401 (a fixture)

if not (PROGRAM.parents[1] / ".ready").exists():
    pytest.skip(NOT_TESTED, allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.dbt]


def test_a_role_that_has_the_release_alone_reads_it_on_postgres(
    reader: Superset,  # noqa: F811 (a fixture)
    published: Published,  # noqa: F811 (a fixture)
) -> None:
    """Descriptions, a crosstab, and the next release; no other table."""
    server = published.server
    address = (
        f"postgresql+psycopg2://{server.analyst}:{server.password}"
        f"@{server.host}:{server.port}/{server.database}"
    )
    database = reader.add_database("postgres", address)
    dataset = reader.add_dataset(database, *RELEASE.split("."))
    columns = reader.columns(dataset)
    assert "Target that the models predict" in columns["churned"]["description"]
    customers = metric("count(*)", "customers")
    ((gender,),) = server.query(f"select min(gender) from {RELEASE}")
    query: dict[str, Any] = {
        "columns": ["birth_date", "churned"],
        "metrics": [customers],
        "filters": [{"col": "gender", "op": "==", "val": gender}],
        "orderby": [[metric("min(birth_date_lower)", "from"), True], ["churned", True]],
    }
    expected = server.query(
        f"select birth_date, churned, count(*) from {RELEASE} where gender = '{gender}' "
        "group by 1, 2 order by min(birth_date_lower), 2"
    )
    assert values(reader.chart(dataset, **query)) == expected != []
    assert published.publish().succeeded
    assert values(reader.chart(dataset, **query)) == expected
    tables = reader.ask(f"database/{database}/tables/?q=(schema_name:shop_release)")["result"]
    assert {table["value"] for table in tables} == {"customers_anonymized", "customers_about"}
    for schema, table in (("shop", "customers_results"), ("shop_vault", "customers_identifiers")):
        with pytest.raises(AssertionError) as refused:
            reader.chart(
                reader.add_dataset(database, schema, table), columns=[], metrics=[customers]
            )
        said = str(refused.value)
        assert "permission denied" in said or "could not be found" in said
