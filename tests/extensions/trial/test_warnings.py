"""Warnings of `dbt-anonymize try` before a release, of what a person should decide."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import duckdb
import pytest

from dbt_anonymize.extensions.trial.commands.tried import singled_by_sensitive
from dbt_anonymize.extensions.trial.commands.try_output import warnings


def undisputed(drafted: SimpleNamespace) -> SimpleNamespace:
    """Return a trial that has nothing to warn of but what is drafted."""
    return SimpleNamespace(
        drafted=drafted, times=[], copies=[], open_identifiers=[], singled=(0, 0)
    )


@pytest.mark.parametrize(("records", "is_said"), [(12, True), (9, False), (0, False)])
def test_sensitive_columns_that_single_out_together_are_said(
    records: int, *, is_said: bool
) -> None:
    drafted = SimpleNamespace(proposals=[], target=None)
    tried = undisputed(drafted)
    tried.singled, tried.counted = (3, records), SimpleNamespace(table=SimpleNamespace(total=1000))
    said = [*warnings(tried)]  # type: ignore[arg-type]
    assert [line.partition(" Who knows")[0] for line in said] == [
        "The 3 sensitive columns are released as they are, and together single out 12 of 1,000 "
        "records."
    ] * is_said


def test_records_that_are_alone_with_sensitive_values_are_counted() -> None:
    with duckdb.connect() as session:
        session.execute(
            "create table people as select * from (values (1, 'a'), (1, 'a'), (1, null), "
            "(2, null), (2, null), (3, 'a')) as t(ill, \"it's\")"
        )
        warehouse = SimpleNamespace(rows=lambda sql: session.execute(sql).fetchall())
        spec = SimpleNamespace(columns=dict.fromkeys(("ill", "it's"), Column("sensitive")))
        assert singled_by_sensitive(warehouse, "people", spec) == (2, 2)  # type: ignore[arg-type]
        spec.columns["it's"] = Column("dropped")
        assert singled_by_sensitive(warehouse, "people", spec) == (1, 0)  # type: ignore[arg-type]


class Column(NamedTuple):
    """A column of which only the role is asked for."""

    role: str
