"""Samples of the classes of a node: whole classes, with the keys that all rows have."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.extensions.search import keys, samples
from dbt_anonymize.extensions.search.grouped import CountedColumns
from dbt_anonymize.extensions.search.keys import Keys
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.extensions.search.samples import Samples
from tests.extensions.search.brute_force import nodes_of, numbered_table


@pytest.mark.parametrize("memory", [0, 20_000, 1 << 20])
@pytest.mark.parametrize("word_bits", [7, 63])
def test_a_sample_has_whole_classes_with_their_keys(
    memory: int, word_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "WORD_BITS", word_bits)
    monkeypatch.setattr(samples, "SPARE", 1)
    table = numbered_table(rows=500)
    of_table = Keys(CountedColumns.of(table), memory)
    bottom = of_table.rows_of_table((0, 0, 0))
    plain = {node: of_table.at(bottom, node) for node in nodes_of(table)}
    of_table.set_bottom(bottom)
    lattice = Lattice.of(table)
    nodes = OpenNodes(lattice, np.zeros(lattice.shape, dtype=np.uint8), of_table.entropies)
    kept = Samples(of_table, bottom, memory)
    seen = 0
    for node, expected in plain.items():
        for word, found in zip(expected, of_table.at(bottom, node), strict=True):
            np.testing.assert_array_equal(found, word)
        sample = kept.of(node, bottom, nodes)
        if sample is None:
            continue
        seen += 1
        end = sample.end(1)
        assert end is not None
        rows = np.zeros(0, dtype=np.int64)
        # Part after part; the larger one is made anew.
        for start, stop in ((0, end), (end, sample.end(end + 1)), (0, end)):
            if stop is None:
                continue
            part = sample.part(start, stop)
            for word, found in zip(expected, of_table.at(part, node), strict=True):
                np.testing.assert_array_equal(found, word[part.first])
            np.testing.assert_array_equal(part.records, table.records[part.first])
            rows = np.union1d(rows, part.first)
            # No class goes on elsewhere.
            classes = np.unique(np.stack(expected), axis=1, return_inverse=True)[1].reshape(-1)
            others = np.setdiff1d(np.arange(len(classes)), part.first)
            assert not set(classes[part.first].tolist()) & set(classes[others].tolist())
        assert len(rows) < len(table.records)
    assert 10 < seen < len(plain)


def test_a_sample_has_about_the_part_that_is_asked_for() -> None:
    table = numbered_table(rows=5000)
    of_table = Keys(CountedColumns.of(table), 1 << 20)
    bottom = of_table.rows_of_table((0, 0, 0))
    of_table.set_bottom(bottom)
    sample = samples.Sample(bottom, of_table.at(bottom, (0, 0, 0)))
    count = len(bottom)
    for part in (32, 8, 4, 3):
        end = sample.end(count / part)
        assert end is not None
        assert count / part <= end < count / part + 2 * count / 32
    assert sample.end(0.8 * count) is None


def test_nodes_share_a_sample_that_is_made_only_instead_of_grouping_the_table() -> None:
    table = numbered_table(rows=5000)
    of_table = Keys(CountedColumns.of(table), 1 << 20)
    bottom = of_table.rows_of_table((0, 0, 0))
    of_table.set_bottom(bottom)
    lattice = Lattice.of(table)
    nodes = OpenNodes(lattice, np.zeros(lattice.shape, dtype=np.uint8), of_table.entropies)
    kept = Samples(of_table, bottom, 1 << 20)
    assert kept.of((0, 0, 0), bottom.narrow(), nodes) is None
    first = kept.of((0, 0, 0), bottom, nodes)
    assert first is not None
    assert kept.of((0, 0, 0), bottom.narrow(), nodes) is first
    assert kept.of((0, 1, 0), bottom, nodes) is first
