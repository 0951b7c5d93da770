"""The classification metric of several targets in SQL, against the definition and the search."""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.table import Attribute, Table
from tests.properties.guarded import LEVELS_OF_EFFORTS, LIMIT, TREES, load_trees
from tests.properties.several_targets import FACTORS, TARGETS, WEIGHTS
from tests.properties.warehouse import Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import PROPERTY

# It may be pulled out.
SEARCH = find_spec("dbt_anonymize.extensions.search")
NAMES = ("city", "age")
RECORD = st.tuples(
    *(st.sampled_from(sorted(TREES[name])) for name in NAMES),
    *(st.sampled_from("ab" if name == "income" else "abc") for name in TARGETS),
)
Record = tuple[str, ...]


def labels(record: Record, effort: int) -> Record:
    levels = LEVELS_OF_EFFORTS[effort]
    return tuple(TREES[n][v][levels[n]] for n, v in zip(NAMES, record, strict=False))


def suppressed(records: list[Record], effort: int) -> set[Record]:
    """Return the classes that go: of one record, if the limit allows as many."""
    sizes = Counter(labels(record, effort) for record in records)
    small = {shown for shown, size in sizes.items() if size < 2}
    return small if effort and len(small) <= LIMIT * len(records) else set()


def defined(
    records: list[Record], effort: int, weights: dict[str, float], factors: tuple[float, float]
) -> float:
    """Add up by record what a vote of the others in its class gets wrong, target by target."""
    costs: dict[str, float] = defaultdict(float)
    gone = suppressed(records, effort)
    for record in records:
        shown = labels(record, effort)
        members = [other for other in records if labels(other, effort) == shown]
        for position, name in enumerate(TARGETS, start=len(NAMES)):
            votes = Counter(other[position] for other in members)
            winners = [value for value, n in votes.items() if n == max(votes.values())]
            if shown in gone or len(winners) > 1:
                costs[name] += factors[1]
            elif winners != [record[position]]:
                costs[name] += factors[0]
    mean = sum(weight * costs[name] for name, weight in weights.items()) / sum(weights.values())
    return mean / len(records)


def searched(records: list[Record], effort: int, weights: dict[str, float], factor: float) -> float:
    """Return the measure that a search minimizes."""
    from dbt_anonymize.extensions.search.losses.registry import make_loss

    attributes, leaves = [], []
    for position, name in enumerate(NAMES):
        values = sorted(TREES[name])
        coded = [
            np.unique([TREES[name][value][level] for value in values], return_inverse=True)[1]
            for level in range(3)
        ]
        shares = tuple(np.bincount(codes) / len(values) for codes in coded)
        attributes.append(Attribute(name, tuple(coded), shares, len(values), 1 / len(values)))
        leaves.append([values.index(record[position]) for record in records])
    targets = tuple(
        (np.array([ord(record[len(NAMES) + TARGETS.index(name)]) for record in records]), weight)
        for name, weight in weights.items()
    )
    ones = np.ones(len(records), dtype=np.int64)
    table = Table(tuple(attributes), np.array(leaves).T, ones, targets=targets)
    classes = classes_of(table, tuple(LEVELS_OF_EFFORTS[effort].values()))
    gone = suppressed(records, effort)
    are_gone = np.array([labels(records[row], effort) in gone for row in classes.first])
    loss = make_loss("classification_metric", gs=factor)
    return loss.loss(table, classes, are_gone)


@examples(PROPERTY, 40)
@given(records=st.lists(RECORD, min_size=1, max_size=25))
def test_the_mean_over_targets_is_the_definition_and_what_a_search_minimizes(
    warehouse: Warehouse, records: list[Record]
) -> None:
    load_trees(warehouse)
    names = (*NAMES, *(f"{name}_leaf" for name in NAMES), *TARGETS)
    warehouse.load(
        "targets_microdata",
        dict.fromkeys(names, "varchar"),
        [(*record[:2], *record) for record in records],
    )
    warehouse.build("targets_frequencies")
    warehouse.build("targets_classes")
    for number, declared in enumerate(WEIGHTS):
        weights = declared or {TARGETS[0]: 1.0}
        for factor in FACTORS:
            factors = (min(1.0, 2 - 2 * factor), min(1.0, 2 * factor))
            rows = warehouse.rows(f"targets_metric_{number}_{factor}")
            found = {row["effort"]: row["classification_metric"] for row in rows}
            assert found.keys() == LEVELS_OF_EFFORTS.keys()
            for effort, value in found.items():
                assert value == pytest.approx(defined(records, effort, weights, factors))
                if SEARCH:
                    assert value == pytest.approx(searched(records, effort, weights, factor))


@pytest.mark.needs("search")
def test_a_single_target_is_the_same_to_the_last_digit_whatever_its_weight() -> None:
    from dbt_anonymize.extensions.search.losses.registry import make_loss

    random = np.random.default_rng(7)
    levels = (np.arange(6), np.arange(6) // 2, np.zeros(6, dtype=np.int64))
    shares = tuple(np.bincount(codes) / 6 for codes in levels)
    leaves, target = random.integers(0, 6, (2, 500))
    for factor in FACTORS:
        found = set()
        for weight in (1.0, 0.3, 7.0):
            table = Table(
                (Attribute("a", levels, shares, 6, 1 / 6),),
                leaves[:, None],
                np.ones(500, dtype=np.int64),
                targets=((target, weight),),
            )
            classes = classes_of(table, (1,))
            gone = classes.records < np.median(classes.records)
            found.add(make_loss("classification_metric", gs=factor).loss(table, classes, gone))
        assert len(found) == 1
