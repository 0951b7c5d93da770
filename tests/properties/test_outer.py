"""The SQL that draws outer subjects, against the definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.outer import is_outer
from tests.properties.outer import SHARES
from tests.properties.warehouse import Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import PROPERTY

PERSON = st.one_of(st.integers().map(str), st.text(st.characters(exclude_categories=["Cs"])))


@examples(PROPERTY, 40)
@given(people=st.lists(PERSON.filter(lambda text: "\0" not in text), unique=True, max_size=30))
def test_who_is_outer_is_the_definition_whoever_else_is_there(
    warehouse: Warehouse, people: list[str]
) -> None:
    warehouse.load("outer_people", {"person": "varchar"}, [(person,) for person in people])
    for number, share in enumerate(SHARES):
        found = {row["person"]: row["is_outer"] for row in warehouse.rows(f"outer_{number}")}
        assert found == {person: is_outer(person, share, number) for person in people}


def test_as_many_are_outer_as_the_share_says() -> None:
    drawn = sum(is_outer(str(key), 0.2, 1) for key in range(10_000))
    both = sum(is_outer(str(key), 0.2, 1) and is_outer(str(key), 0.2, 2) for key in range(10_000))
    assert abs(drawn - 2_000) < 4 * 40
    assert abs(both - 400) < 4 * 20
