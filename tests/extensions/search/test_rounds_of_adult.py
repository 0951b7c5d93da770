"""Local recodings of the adult table: how much they generalize, beside what other tools reach."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.privacy.grouping import classes_of, group, labels_of
from dbt_anonymize.privacy.registry import compile_guarantees
from tests.extensions.recoding.test_adult import pytestmark
from tests.extensions.search.test_local import local_rounds

__all__ = ["pytestmark"]
NAMES = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


@pytest.mark.sampled_tests(group="figures")
def test_local_recoding_suppresses_nobody_and_keeps_more_than_arx() -> None:
    from tests.oracle.arx import table_of

    table = table_of(NAMES, None, "all")
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    rounds = local_rounds(table, guarantees, make_loss("loss", gs=0.05))
    assert sum(count for _, count in rounds) == table.total == 30162
    assert len(rounds) <= 50
    left = np.arange(len(table.leaves))
    lost = np.zeros(len(NAMES))
    for node, count in rounds:
        _, class_of_row = group(labels_of(table, node, left))
        sizes = np.bincount(class_of_row, table.records[left])
        is_released = sizes[class_of_row] >= 5
        released = left[is_released]
        assert table.records[released].sum() == count
        for i, (attribute, level) in enumerate(zip(table.attributes, node, strict=True)):
            shares = attribute.shares[level][attribute.levels[level][table.leaves[released, i]]]
            lost[i] += float((shares * table.records[released]).sum())
        left = left[~is_released]
    assert len(left) == 0
    smallest = np.array([attribute.smallest_share for attribute in table.attributes])
    granularity = 1 - ((lost / table.total - smallest) / (1 - smallest)).mean()
    # ARX: 0.93.
    assert granularity > 0.93


def test_full_domain_generalization_of_the_same_guarantee_loses_more() -> None:
    from tests.oracle.arx import table_of

    table = table_of(NAMES, None, "all")
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    (only,) = local_rounds(table, guarantees, make_loss("loss", gs=0.5), smallest_share=Decimal(1))
    node, count = only
    assert count == table.total
    assert classes_of(table, node).records.min() >= 5
