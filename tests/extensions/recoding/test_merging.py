"""Groups that are merged until they keep the guarantees, against plain Python."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.recoding.test_grouping import (
    FAST,
    PATHS,
    as_text,
    groups_of,
    row_of,
    tables,
)
from tests.oracle.merging import Group, merged

pytestmark = pytest.mark.costly

DIVERSE = {"model": "l_diversity", "attribute": "disease", "variant": "distinct", "l": 3}
PROPORTIONAL = {"model": "t_closeness", "attribute": "disease", "distance": "equal", "t": 0.2}


def breaks(group: Group, whole: Counter[str], guarantee: dict[str, Any]) -> bool:
    """Tell whether a group breaks a guarantee, by its definition."""
    inside = Counter(disease for _, disease in group)
    if guarantee is DIVERSE:
        return len(inside) < 3
    apart = (abs(inside[d] / inside.total() - whole[d] / whole.total()) for d in whole)
    return sum(apart) / 2 > 0.2 + 1e-9


@given(
    tables(),
    st.integers(0, 2**32),
    st.sampled_from([2, 3]),
    st.sampled_from([DIVERSE, PROPORTIONAL]),
    st.sampled_from([("mdav", {}), ("systematic", {}), ("systematic", {"passes": 2})]),
)
@FAST
def test_groups_are_merged_as_defined_until_all_keep_the_guarantee(
    records: list[tuple[int | None, str | None]],
    seed: int,
    k: int,
    guarantee: dict[str, Any],
    method: tuple[str, dict[str, Any]],
) -> None:
    diseases = random.Random(seed).choices("abcd", weights=[5, 3, 2, 1], k=len(records))
    name, options = method
    before = groups_of(records, k, name, diseases=diseases, guarantees=[guarantee], **options)
    groups: dict[int, Group] = {number: [] for number in sorted(set(before.values()))}
    for record, disease in zip(records, diseases, strict=True):
        groups[before[as_text(*record)]].append((row_of(*record), disease))
    whole = Counter(diseases)
    expected = merged(
        list(groups.values()), [[], [*PATHS, None]], lambda g: breaks(g, whole, guarantee)
    )

    options = {**options, "merge": True}
    after = groups_of(records, k, name, diseases=diseases, guarantees=[guarantee], **options)
    found: dict[int, Group] = {}
    for record, disease in zip(records, diseases, strict=True):
        found.setdefault(after[as_text(*record)], []).append((row_of(*record), disease))
    as_sets = [{frozenset(Counter(g).items()) for g in some} for some in (found.values(), expected)]
    assert as_sets[0] == as_sets[1]
    assert len(found) == 1 or not any(breaks(g, whole, guarantee) for g in found.values())
    # Only whole groups are merged.
    assert all(len({after[r] for r, n in before.items() if n == one}) == 1 for one in groups)


def test_groups_that_keep_the_guarantee_stay_as_they_are() -> None:
    records: list[tuple[int | None, str | None]] = [(n // 3, "a") for n in range(12)]
    diseases, ways = "abc" * 4, {"guarantees": [DIVERSE]}
    assert groups_of(records, 3, diseases=diseases, merge=True, **ways) == groups_of(
        records, 3, diseases=diseases, **ways
    )


def test_a_table_that_cannot_keep_it_is_one_group() -> None:
    records: list[tuple[int | None, str | None]] = [(n, "a") for n in range(12)]
    found = groups_of(records, 3, diseases="aabb" * 3, guarantees=[DIVERSE], merge=True)
    assert set(found.values()) == {1}


@pytest.mark.parametrize("method", ["mdav", "systematic", "optimal"])
def test_each_group_takes_the_nearest_one(method: str) -> None:
    # Pairs at 0, 4 and 12; the first has one disease and joins the second.
    records: list[tuple[int | None, str | None]] = [(n, "a") for n in (0, 0, 4, 4, 12, 12)]
    diseases = {"diseases": "aaabab", "guarantees": [{**DIVERSE, "l": 2}]}
    found = groups_of(records, 2, method, merge=True, **diseases)
    by_age = {key[0]: group for key, group in found.items()}
    assert by_age["0"] == by_age["4"] != by_age["12"]
