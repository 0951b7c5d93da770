"""Masks in SQL: what the macros write, and what ``verify`` recomputes, against plain Python."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_anonymize.spec.masks import Mask
from dbt_anonymize.verify.recomputation.masks import mask_sql as recomputed
from tests.oracle.masks import masked
from tests.properties.statements import MASKS
from tests.properties.warehouse import Warehouse
from tests.sampling import examples

PROPERTY = examples(
    settings(
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    ),
    200,
    15,
)
TEXTS = [
    *("a@b", "@b", "anna@Example.ORG", "anna@example.org (Anna)", "a@b@c", "@", "a@", "", "é@ü.de"),
    *("+49 351 1234-567", "12", "123456", "call Anna 5551234", "٣٤٥٦٧٨٩", "a\n@b.c"),
    f"a@{chr(0x212A)}.de",  # in lower case an ASCII letter
]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(-(2**31), 2**31 - 1) | st.integers(-200, 200),
    "bigint": st.integers(-(2**63) + 20, 2**63 - 20) | st.integers(900, 1100),
    # Multiples of a power of two, so that no quotient is rounded.
    "double": st.integers(-(10**6), 10**6).map(lambda n: n / 8)
    | st.sampled_from([-0.0, math.nan, math.inf, -math.inf]),
    "date": st.dates(date(1700, 1, 1), date(2200, 1, 1)),
    "timestamp": st.datetimes(),
    "varchar": st.sampled_from(TEXTS)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
}


def same(found: Any, expected: Any) -> bool:
    """Compare values of one type; NaN equals itself, and zero has no sign."""
    if isinstance(found, float) and isinstance(expected, float):
        if math.isnan(found) or math.isnan(expected):
            return math.isnan(found) and math.isnan(expected)
        return found == expected and math.copysign(1, found) == math.copysign(1, expected)
    return type(found) is type(expected) and bool(found == expected)


@pytest.mark.parametrize("kind", MASKS)
@given(data=st.data())
@PROPERTY
def test_a_mask_is_what_its_definition_says(
    data: st.DataObject, kind: str, warehouse: Warehouse
) -> None:
    values = data.draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=20))
    warehouse.load(f"masked_{kind}", {"key": "integer", "value": kind}, list(enumerate(values)))
    rows = warehouse.rows(f"masks_{kind}")
    again = ", ".join(
        f"{recomputed('value', kind.upper(), Mask.model_validate(mask))} as mask_{number}"
        for number, mask in enumerate(MASKS[kind])
    )
    verified = warehouse.connection.execute(
        f"select key, {again} from masked_{kind} order by key"
    ).fetchall()
    for row, other, value in zip(rows, verified, values, strict=True):
        for number, mask in enumerate(MASKS[kind]):
            found = row[f"mask_{number}"]
            if "constant" in mask and not isinstance(mask["constant"], str):
                assert float(found) == mask["constant"]
                continue
            expected = masked(value, mask)
            if isinstance(expected, float):
                expected += 0.0
            assert same(found, expected), mask
            assert same(other[number + 1], expected), mask
