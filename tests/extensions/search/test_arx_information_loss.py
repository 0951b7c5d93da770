"""The SQL of information loss gives the losses that ARX's own tests expect on the adult table."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.table import Table
from tests.extensions.search.arx_measures import make_arx_loss
from tests.oracle.arx import (
    ADULT,
    EXPECTATIONS,
    Expectation,
    arx_guarantees,
    expectations,
    table_of,
)
from tests.properties.compilation import Ref, body, compile_models
from tests.properties.warehouse import Warehouse

pytestmark = [
    pytest.mark.sampled_tests(3),
    pytest.mark.skipif(
        not (EXPECTATIONS.exists() and ADULT.exists()),
        reason=f"needs the adult table and ARX's expectations: {ADULT}, {EXPECTATIONS}",
    ),
]

# Of measures without a term for suppression, ARX's number is ours where nothing is suppressed.
MONOTONE = {"monotone_non_uniform_entropy", "monotone_discernibility"}


def is_measured(expected: Expectation) -> bool:
    """Say whether the SQL has the measure, and the suppressed records are those of our models."""
    if expected.node is None or expected.name in {"EntropyLDiversity-0", "EntropyLDiversity-3"}:
        return False
    if expected.name == "RiskBased-5":
        return False
    return expected.measure not in MONOTONE or expected.suppressed == 0


CHOSEN = [expected for expected in expectations() if is_measured(expected)]


def name_of(table: Table) -> str:
    return f"adult_{len(table.attributes)}"


def table_for(expected: Expectation) -> Table:
    return table_of(expected.attributes, expected.sensitive, expected.sample)


@cache
def statements() -> dict[str, str]:
    """Compile one model for each set of quasi-identifiers."""
    tables = {name_of(table): table for table in map(table_for, CHOSEN)}
    models = {
        name: body(
            "information_loss",
            classes=Ref("classes"),
            frequencies=Ref("frequencies"),
            quasi_identifiers=[
                {
                    "name": attribute.name,
                    "kind": "categorical",
                    "hierarchy": Ref(f"hierarchy_{attribute.name}"),
                    "levels": attribute.height,
                }
                for attribute in table.attributes
            ],
            efforts=[1],
        )
        for name, table in tables.items()
    }
    hierarchies = {f"hierarchy_{a.name}" for table in tables.values() for a in table.attributes}
    with tempfile.TemporaryDirectory() as folder:
        return compile_models(Path(folder), models, ["classes", "frequencies", *hierarchies])


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Warehouse(connection, statements())


@pytest.mark.parametrize("expected", CHOSEN or [None], ids=lambda one: one.name if one else "none")
def test_the_loss_of_the_expected_vector(warehouse: Warehouse, expected: Expectation) -> None:
    table = table_for(expected)
    load(warehouse, table, expected)
    [row] = warehouse.rows(name_of(table))
    found = row[expected.measure.removeprefix("monotone_")]
    assert found == pytest.approx(expected.loss, rel=1e-9)


def load(warehouse: Warehouse, table: Table, expected: Expectation) -> None:
    """Create hierarchies, frequencies and the classes of the expected vector."""
    assert expected.node is not None
    classes = classes_of(table, expected.node)
    guarantees = arx_guarantees(expected.guarantees, table)
    order = make_arx_loss(expected.measure, aggregate=expected.aggregate).per_class(table, classes)
    limit = int(float(expected.suppression_limit) * table.total)
    suppressed = guarantees.suppress(classes, guarantees.violating(classes), order, limit)
    for attribute in table.attributes:
        values = [(str(leaf),) for leaf in range(attribute.domain_size)]
        warehouse.load(f"hierarchy_{attribute.name}", {"value": "varchar"}, values)
    names = [attribute.name for attribute in table.attributes]
    sampled = np.flatnonzero(table.records)
    warehouse.load(
        "frequencies",
        {**dict.fromkeys(names, "varchar"), "records": "bigint"},
        [
            (*map(str, table.leaves[row].tolist()), records)
            for row, records in zip(sampled, table.records[sampled].tolist(), strict=True)
        ],
    )
    shares = [a.shares[level] for a, level in zip(table.attributes, expected.node, strict=True)]
    columns = [
        {name: "varchar", f"{name}_share": "double", f"{name}_level": "integer"} for name in names
    ]
    rows = []
    for codes, records, gone in zip(
        classes.codes.tolist(), classes.records.tolist(), suppressed.tolist(), strict=True
    ):
        if records:
            labels = zip(codes, shares, expected.node, strict=True)
            shown = (("*" if s[c] == 1 else f"{n}:{c}", float(s[c]), n) for c, s, n in labels)
            rows.append((*chain(*shown), 1, records, records, True, gone))
    warehouse.load(
        "classes",
        {
            **{name: kind for column in columns for name, kind in column.items()},
            "effort": "integer",
            "records": "bigint",
            "majority_records": "bigint",
            "has_majority": "boolean",
            "is_suppressed": "boolean",
        },
        rows,
    )
