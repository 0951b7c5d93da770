"""Labels of merged leaves, as a recoding writes them, against the verifier's own reading."""

from __future__ import annotations

import duckdb
import pytest

from dbt_anonymize.extensions.recoding.recomputation.covering import is_hierarchy_label
from dbt_anonymize.spec import Hierarchy
from dbt_anonymize.verify.recomputation.labels import Generalization
from tests.extensions.recoding.test_multidimensional import NOTATIONS

pytestmark = pytest.mark.costly


def is_known(leaves: str, above: str, label: str, lower: float, upper: float) -> bool:
    """Tell whether the verifier takes a label and its bounds for those of the hierarchy."""
    low, high = above.split("|")
    age = Generalization(
        "age",
        Hierarchy(ref="tree", kind="interval", levels=3),
        "tree",
        lambda value: f"cast({value} as varchar)",
    )
    with duckdb.connect() as session:
        session.execute(
            "create table tree (lower_bound double, upper_bound double, level_1 text, "
            "level_2 text, level_3 text)"
        )
        rows = [
            (10.0 * place, 10.0 * place + 10, leaf, low if place < 2 else high, "*")
            for place, leaf in enumerate(leaves.split("|"))
        ]
        session.executemany("insert into tree values (?, ?, ?, ?, ?)", rows)
        session.execute("create table shown (age text, age_lower double, age_upper double)")
        session.execute("insert into shown values (?, ?, ?)", [label, lower, upper])
        sql = f"select {is_hierarchy_label(age)} from shown as effort"
        ((known,),) = session.execute(sql).fetchall()
        return bool(known)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("leaves", "above", "first", "middle"), NOTATIONS)
def test_each_notation_is_read_with_its_own_bounds_alone(
    leaves: str, above: str, first: str, middle: str
) -> None:
    assert is_known(leaves, above, first, 0.0, 30.0)
    assert is_known(leaves, above, middle, 10.0, 30.0)
    assert not is_known(leaves, above, middle, 0.0, 30.0)
    assert not is_known(leaves, above, first, 0.0, 40.0)
    assert not is_known(leaves, above, first + " ", 0.0, 30.0)
    assert not is_known(leaves, above, "1999", 0.0, 30.0)
