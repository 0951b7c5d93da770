"""The levels of the page about payouts are those that pay most, by the definition."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import yaml

from dbt_anonymize.hierarchies import CategoricalHierarchy
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import STUDIES, is_available
from tests.oracle.privacy import Class, payout

NAME = "contraceptive_payouts"
# Those of Wan et al., which the page does not change.
GAME = {"publisher_benefit": 1200, "adversary_cost": 4, "attacker": "prosecutor"}
GAINS = (0, 500, 1000, 1500, 2000)
Covered = tuple[tuple[Fraction, int], ...]


@cache
def classes() -> Mapping[tuple[int, ...], Counter[tuple[int, Covered]]]:
    """Return size and leaves of each record's class, counted, for all levels of all answers."""
    study = STUDIES[NAME]()
    trees = study.hierarchies.values()
    found = {}
    for levels in itertools.product(*(range(tree.levels + 1) for tree in trees)):
        labels = []
        for (name, tree), level in zip(study.hierarchies.items(), levels, strict=True):
            assert isinstance(tree, CategoricalHierarchy)
            of_leaves = [tree.values, *tree.labels][level]
            label, leaves = dict(zip(tree.values, of_leaves, strict=True)), Counter(of_leaves)
            labels.append([(label[row[name]], leaves[label[row[name]]]) for row in study.rows])
        records = list(zip(*labels, strict=True))
        sizes = Counter(records)
        wholes = [len(tree.values) for tree in trees if isinstance(tree, CategoricalHierarchy)]
        found[levels] = Counter(
            (
                sizes[record],
                tuple((Fraction(n), all_) for (_, n), all_ in zip(record, wholes, strict=True)),
            )
            for record in records
        )
    return found


def total(game: Mapping[str, Any], levels: tuple[int, ...]) -> float:
    """Return what all records bring: those of classes of two, and that bring something."""
    return sum(
        records * max(0.0, payout({**GAME, **game}, Class(size, covered=covered)))
        for (size, covered), records in classes()[levels].items()
        if size >= 2
    )


def best(game: Mapping[str, Any]) -> tuple[int, ...]:
    return max(classes(), key=lambda levels: total(game, levels))


@pytest.mark.sampled_tests(group="figures")
@pytest.mark.skipif(not is_available(NAME), reason="needs DBT_ANONYMIZE_DATA")
def test_the_levels_of_the_page_pay_most() -> None:
    assert len(classes()) == 75
    efforts = yaml.safe_load(CasePage(NAME).spec)["efforts"]
    for gain, effort in zip(GAINS, efforts[:5], strict=True):
        game = {"publisher_loss": gain, "adversary_gain": gain}
        assert effort["guarantees"] == {"profitable": game}
        assert tuple(effort["levels"].values()) == best(game)
    # If a found record costs the same, whatever the gain.
    second = tuple(efforts[1]["levels"].values())
    assert {best({"publisher_loss": 300, "adversary_gain": gain}) for gain in GAINS[1:]} == {second}
