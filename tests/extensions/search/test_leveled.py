"""An effort that is made of untouched columns is the one that is read when it is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats
from dbt_anonymize.evaluation.data.features import SPACES, Reading
from dbt_anonymize.evaluation.data.reading import (
    PER_RECORD,
    Effort,
    EffortReader,
    FeatureColumn,
)
from dbt_anonymize.evaluation.data.sampling import draw_sample
from dbt_anonymize.evaluation.data.spaces import Space
from dbt_anonymize.evaluation.problem import EffortData
from dbt_anonymize.extensions.search.leveled import generalized_effort
from tests.evaluation.read_efforts import Connection, efforts_of, intervals
from tests.evaluation.tables import table

pytestmark = pytest.mark.costly

TREE = pd.DataFrame(
    {
        "value": ["cook", "baker", "nurse", "doctor"],
        "level_1": ["food", "food", "health", "health"],
        "level_2": "*",
    }
)


def world(connection: Connection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return efforts over a number and a text, both with NULL, and 60 records."""
    draws = np.random.default_rng(5)
    age = [None if n % 11 == 0 else float(v) for n, v in enumerate(draws.integers(0, 16, 60))]
    job = [None if n % 13 == 0 else str(v) for n, v in enumerate(draws.choice(TREE["value"], 60))]
    label = draws.choice(["no", "yes"], 60)
    levels = [{"age": a, "job": j} for a in (0, 1, 2, 3) for j in (0, 1, 2)]
    trees = {"age": intervals(range(17), range(0, 17, 2), range(0, 17, 4)), "job": TREE}
    return efforts_of(
        connection, {"age": age, "job": job}, trees, levels, label, suppressed=range(0, 60, 7)
    )


def with_classes(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return an effort with a class for each combination of labels."""
    return relation.project("*, concat(age, '/', job) as equivalence_class")


def shown(data: EffortData, space: Space) -> Floats:
    """Return the features of each record."""
    return data.design.take(space, data.design.codes, data.means)


@pytest.fixture
def connection() -> Iterator[Connection]:
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.sampled(3)
@pytest.mark.parametrize("numbers", ["by_model", "midpoint", "bounds", "class_mean"])
@pytest.mark.parametrize("categories", ["label", "leaves", "frequencies"])
def test_leveled_columns_are_those_that_are_read(
    connection: Connection, numbers: str, categories: str
) -> None:
    efforts, features = world(connection)
    chosen = [Effort(**{**one, "relation": with_classes(one["relation"])}) for one in efforts]
    columns = [FeatureColumn(**feature) for feature in features]
    sample = draw_sample(chosen[0].relation, "record_id", 1000, 1)
    reader = EffortReader(
        chosen[0], columns, Reading(numbers, categories), sample, "record_id", has_recount=True
    )
    untouched, _, first = reader.read_untouched({})
    for effort in chosen[1:]:
        assert not isinstance(effort.levels, str)
        built = reader.read_effort(effort, first)
        assert built.classes is not None
        made = generalized_effort(reader, first, effort.levels, built.suppressed, built.classes)
        for space in SPACES:
            np.testing.assert_allclose(shown(made, made.own[space]), shown(built, built.own[space]))
            np.testing.assert_allclose(
                shown(untouched, made.original[space]), shown(untouched, built.original[space])
            )
        np.testing.assert_array_equal(made.suppressed, built.suppressed)


def recoded(
    connection: Connection, efforts: list[dict[str, Any]], nodes: list[dict[str, int]]
) -> tuple[Effort, NDArray[np.int64]]:
    """Return records at different nodes as a local recoding is built, and the node of each."""
    of_record = np.arange(60) % len(nodes)
    frames = []
    for number, levels in enumerate(nodes):
        (one,) = (e for e in efforts if e["effort"] and e["levels"] == levels)
        frame = one["relation"].df()
        own = frame[of_record[frame["record_id"].to_numpy()] == number]
        frames.append(own.assign(**{f"{name}_level": level for name, level in levels.items()}))
    built = table(connection, pd.concat(frames).assign(is_suppressed=False))
    return Effort(1, with_classes(built), PER_RECORD), of_record


@pytest.mark.sampled(3)
@pytest.mark.parametrize("numbers", ["by_model", "midpoint", "bounds", "class_mean"])
@pytest.mark.parametrize("categories", ["label", "leaves", "frequencies"])
def test_rounds_are_those_that_are_read(
    connection: Connection, numbers: str, categories: str
) -> None:
    efforts, features = world(connection)
    columns = [FeatureColumn(**feature) for feature in features]
    untouched = Effort(**{**efforts[0], "relation": with_classes(efforts[0]["relation"])})
    sample = draw_sample(untouched.relation, "record_id", 1000, 1)
    reader = EffortReader(
        untouched, columns, Reading(numbers, categories), sample, "record_id", has_recount=True
    )
    raw, _, first = reader.read_untouched({})
    names = ["age", "job"]
    for rounds in ([(0, 1), (2, 0)], [(1, 1), (2, 1)], [(1, 0), (2, 1), (3, 2)], [(0, 0), (3, 2)]):
        nodes = [dict(zip(names, node, strict=True)) for node in rounds]
        effort, of_record = recoded(connection, efforts, nodes)
        built = reader.read_effort(effort, first)
        assert built.classes is not None
        # In the order of the record key, which is that of the records here.
        levels = {name: np.array([node[name] for node in nodes])[of_record] for name in names}
        made = generalized_effort(reader, first, levels, built.suppressed, built.classes)
        assert made.is_recoded
        for space in SPACES:
            np.testing.assert_allclose(shown(made, made.own[space]), shown(built, built.own[space]))
            np.testing.assert_allclose(
                shown(raw, made.original[space]), shown(raw, built.original[space])
            )
