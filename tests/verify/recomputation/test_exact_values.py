"""Records that exact values find are counted: no class hides them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain
from typing import Any

import pytest

from dbt_anonymize.relations import EXACT_VALUES
from dbt_anonymize.verify.finding import Finding
from tests.verify.recomputation.world import COLUMNS, SOURCE, World, open_world, spec_of


def finding_of(world: World) -> Finding | None:
    return next((one for one in world.findings() if one.subject == EXACT_VALUES), None)


def alone(world: World, *names: str) -> int:
    """Count the released records with values of their own, one by one."""
    rows = world.connection.execute(
        f"select {', '.join(names)} from {world.tables.release}"
    ).fetchall()
    # NaN is like another NaN here, and nothing is no value.
    texts = [tuple(str(value) for value in row) for row in rows if set(row) != {None}]
    return sum(count == 1 for count in Counter(texts).values())


def test_records_that_are_alone_with_what_is_kept_are_counted() -> None:
    with open_world(spec_of()) as world:
        found = finding_of(world)
        assert found is not None
        assert found.status == "measured"
        names = ["diagnosis", "score", "note"]
        counts = {name: alone(world, name) for name in names}
        assert {name for name, count in counts.items() if count} == {"score"}
        assert f"{counts['score']} with their score" in found.message
        assert f"{alone(world, *names)} with their values together" in found.message


@pytest.mark.parametrize(
    "score",
    [{"role": "insensitive", "mask": {"round": 100}}, {"role": "dropped"}],
)
def test_what_is_masked_or_not_released_is_not_told_of(score: dict[str, Any]) -> None:
    with open_world(spec_of(columns={**COLUMNS, "score": score})) as world:
        assert finding_of(world) is None


def test_people_are_counted_where_a_subject_is_declared() -> None:
    """Two records of one person with a value that nobody else has."""
    source = SOURCE.replace("as visit,", "as visit, i // 2 as person,").replace(
        "else i / 7.0::double", "else i // 2 / 7.0::double"
    )
    columns = {**COLUMNS, "person": {"role": "identifier"}}
    with open_world(spec_of(columns=columns, subject="person"), source=source) as world:
        found = finding_of(world)
        assert found is not None
        rows = world.connection.execute(
            "select person, effort.score::text from effort join source using (visit) "
            "where not is_suppressed"
        ).fetchall()
        of_score = defaultdict(set)
        for person, score in rows:
            of_score[score].add(person)
        people = {*chain(*(own for score, own in of_score.items() if score and len(own) == 1))}
        assert len(people) > 5
        everybody = len({person for person, _ in rows})
        assert f"Of {everybody} released people are alone: {len(people)} with their score" in (
            found.message
        )
