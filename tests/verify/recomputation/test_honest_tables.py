"""Whatever honest values a table has, its release is what follows from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extensions import with_known_keys
from tests.verify.recomputation.world import COLUMNS, open_world, spec_of

pytestmark = pytest.mark.costly

TEXTS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", " ", "NULL", "a", "A", "a ", "1:a", "|", "é", "e\u0301", "\U0001f600", "\u202e"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
DOUBLES = st.sampled_from(["-0.0", "0.0", "nan", "-nan", "inf", "-inf", "1e-300", "0.1", "5"])
# Type and texts of its values.
KEPT: dict[str, st.SearchStrategy[str]] = {
    "double": DOUBLES,
    "float": st.sampled_from(["-0.0", "0.0", "nan", "inf", "0.1", "16777217"]),
    "decimal(38, 4)": st.decimals(-(10**20), 10**20, places=4).map(str),
    "hugeint": st.integers(-(2**126), 2**126).map(str),
    "ubigint": st.integers(0, 2**64 - 1).map(str),
    "boolean": st.sampled_from(["true", "false"]),
    "date": st.dates().map(str),
    "timestamp": st.datetimes().map(str),
    "timestamp_ns": st.sampled_from(["2026-01-01 00:00:00.000000001", "2026-01-01"]),
    "timestamptz": st.sampled_from(
        ["2026-10-25 02:30:00+02", "2026-10-25 02:30:00+01", "infinity", "1969-12-31 23:59:59.5+00"]
    ),
    "time": st.times().map(str),
    "uuid": st.uuids().map(str),
}
# Values of a quasi-identifier of each type, with the type of the bounds.
QUASI = {
    "integer": (st.integers(0, 99).map(str), "integer"),
    "double": (st.sampled_from(["0", "-0.0", "0.1", "9.999", "10", "99.5"]), "double"),
    "decimal(6, 2)": (st.decimals(0, "99.99", places=2).map(str), "decimal(8, 3)"),
    "date": (st.sampled_from(["2026-01-01", "2026-01-10", "2026-02-28"]), "date"),
    "timestamp": (st.sampled_from(["2026-01-01", "2026-01-10 23:59:59.999999"]), "timestamp"),
}
RECODINGS: list[dict[str, Any]] = with_known_keys(
    [
        {"age": 0, "zip": 1},
        {"age": 1, "zip": 0},
        {"age": 2, "zip": 1},
        {"recoding": "local", "rounds": [{"age": 0, "zip": 0}, {"age": 1, "zip": 1}]},
    ]
)


def tree(kind: str) -> str:
    """Return the hierarchy of a type: ten intervals, of days where it is a time."""
    start, width = ("date '2026-01-01'", "30") if kind in {"date", "timestamp"} else ("0", "10")
    lower, upper = f"{start} + {width} * i::integer", f"{start} + {width} * (i + 1)::integer"
    return (
        f"select ({lower})::{kind} as lower_bound, ({upper})::{kind} as upper_bound, "
        "'[' || i || ', ' || i + 1 || ')' as level_1, '*' as level_2 from range(10) as numbers(i)"
    )


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, str, list[Any]]:
    """Draw the type of bounds, the query of a source, and its parameters."""
    quasi = draw(st.sampled_from(sorted(QUASI)))
    kept = draw(st.sampled_from(sorted(KEPT)))
    values, bounds = QUASI[quasi]
    rows = draw(
        st.lists(
            st.tuples(
                st.none() | values, st.sampled_from(["x", "y", None]), st.none() | KEPT[kept], TEXTS
            ),
            min_size=4,
            max_size=25,
        )
    )
    sql = " union all ".join(
        f"select {i} as visit, 'Person {i}' as name, try_cast(? as {quasi}) as age, "
        f"?::varchar as zip, 'flu' as diagnosis, ?::{kept} as score, ?::varchar as note"
        for i in range(len(rows))
    )
    return bounds, sql, [value for row in rows for value in row]


@settings(max_examples=25, deadline=None)
@given(
    source=sources(),
    recoding=st.sampled_from(RECODINGS),
    mapping=st.sampled_from(["none", "class", "token"]),
    k=st.integers(2, 4),
)
def test_an_honest_release_of_any_types_passes(
    source: tuple[str, str, list[Any]], recoding: dict[str, Any], mapping: str, k: int
) -> None:
    bounds, sql, parameters = source
    age = {"ref": "ages", "kind": "interval", "levels": 2}
    zip_ = {"ref": "zips", "kind": "categorical", "levels": 1}
    columns = {
        **COLUMNS,
        "age": {"role": "quasi_identifier", "hierarchy": age},
        "zip": {"role": "quasi_identifier", "hierarchy": zip_},
    }
    spec = spec_of(
        mapping=mapping,
        columns=columns,
        efforts=[recoding],
        guarantees={"k_anonymity": {"k": k}},
        suppression_limit=0.99,
    )
    trees = {"age": tree(bounds), "zip": "select unnest(['x', 'y']) as value, '*' as level_1"}
    with open_world(spec, source=sql, parameters=parameters, hierarchies=trees) as world:
        small = f"select 1 from effort where not is_suppressed and class_size < {k}"
        # An effort that has to suppress too many does not qualify.
        if not world.connection.execute(small).fetchall():
            assert world.broken() == set()
