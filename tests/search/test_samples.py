"""Samples of the classes of a node: whole classes, with the keys that all rows have."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.search import keys, sums_of_codes
from dbt_anonymize.search.grouped import Counted
from dbt_anonymize.search.keys import Keys
from tests.oracle.brute_force import nodes_of, numbered_table


@pytest.mark.parametrize("memory", [0, 20_000, 1 << 20])
@pytest.mark.parametrize("word_bits", [7, 63])
@pytest.mark.parametrize("few", [0, 32])
def test_a_sample_has_whole_classes_with_their_keys(
    memory: int, word_bits: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "WORD_BITS", word_bits)
    monkeypatch.setattr(sums_of_codes, "_FEW", few)
    table = numbered_table(rows=500)
    of_table = Keys(Counted.of(table), memory)
    bottom = of_table.rows_of_table((0, 0, 0))
    plain = dict(
        zip(nodes_of(table), (of_table.at(bottom, n) for n in nodes_of(table)), strict=True)
    )
    of_table.set_bottom(bottom)
    sizes = []
    for node, expected in plain.items():
        for word, found in zip(expected, of_table.at(bottom, node), strict=True):
            np.testing.assert_array_equal(found, word)
        for bits in (1, 3):
            rows, words = of_table.sample(node, bits)
            for word, found in zip(expected, words, strict=True):
                np.testing.assert_array_equal(found, word[rows])
            classes = np.unique(np.stack(expected), axis=1, return_inverse=True)[1].reshape(-1)
            others = np.setdiff1d(np.arange(len(classes)), rows)
            assert not set(classes[rows].tolist()) & set(classes[others].tolist())
        sizes.append(len(rows))
    # About an eighth of the rows at the finest node.
    assert len(table.records) / 32 < sizes[0] < len(table.records) / 2
