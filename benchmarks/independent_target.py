"""Share of efforts that beat the zero rule where there is nothing to learn.

Tables of people whose target is drawn independently of everything, among the columns a category of
500 values. For each, levels are searched by quality as ``dbt-anonymize search`` does, which stops
where no model surely learns anything from a table that was not searched for, and each effort is
scored again as a build does, on other splits of the same records. Printed is on how many tables
there was a search, and on how many any effort surely beats the zero rule.

    python benchmarks/independent_target.py --tables 200
"""

from __future__ import annotations

import argparse
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import cast

import duckdb
import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.search.by_quality import QualitySearch, corrected_interval
from dbt_anonymize.extensions.search.evidence import check_learned
from dbt_anonymize.extensions.search.predictions import with_predictions
from dbt_anonymize.extensions.search.race import Budget, Track
from dbt_anonymize.extensions.trial.sample import read_sample
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.extensions.trial.test_counted import InMemory

SIZES = (5, 10, 20, 50)
_FIRST_SPLIT = 1_000


class Memory(InMemory):
    """A DuckDB in memory, as far as counting and sampling need a warehouse."""

    def columns(self, relation: str) -> list[tuple[str, str]]:
        """Return names and types."""
        found = self.session.execute(f"describe {relation}").fetchall()
        return [(str(row[0]), str(row[1])) for row in found]

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the session."""
        return self.session

    def get_columns_in_relation(self, _: str) -> list[object]:
        """Return none: no column has a mask."""
        return []

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Return rows."""
        return self.session.execute(sql).fetchall()


def plans() -> list[Plan]:
    """Return the hierarchies: ages, a few regions, and a category of 500 values."""
    many = tuple(f"v{number:03}" for number in range(500))
    groups, coarse = tuple(v[:3] for v in many), tuple(v[:2] for v in many)
    few = tuple("abcdef")
    return [
        Plan("age", "a", equal_width_intervals(0, 100, [5, 10, 20]), ""),
        Plan("job", "b", CategoricalHierarchy(many, (groups, coarse, ("*",) * 500)), ""),
        Plan("region", "c", CategoricalHierarchy(few, (tuple("aaabbb"), ("*",) * 6)), ""),
    ]


def people(state: int, records: int) -> Warehouse:
    """Return a table ``people`` in memory whose target is drawn independently of everything."""
    draw = np.random.default_rng(state)
    session = duckdb.connect(":memory:")
    session.execute("create table people (id bigint, age int, job text, region text, ill text)")
    ages, jobs = draw.integers(18, 90, records), draw.integers(0, 500, records)
    regions, ill = draw.integers(0, 6, records), draw.random(records) < 0.4
    rows = [
        (at, int(ages[at]), f"v{jobs[at]:03}", "abcdef"[regions[at]], "yes" if ill[at] else "no")
        for at in range(records)
    ]
    session.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    return cast("Warehouse", Memory(session))


def declared() -> Spec:
    """Return the spec of `people`."""
    spec, problems = validate(raw_spec())
    assert spec is not None, problems
    return spec


def beats(state: int, *, records: int, evaluations: int) -> tuple[bool, bool]:
    """Tell whether levels of one table are searched, and whether one surely beats the zero rule."""
    spec, warehouse = declared(), people(state, records)
    counted = count_combinations(warehouse, "people", plans())
    with duckdb.connect(":memory:") as own:
        sampled = read_sample(warehouse, "people", spec, counted, own)
        table = with_predictions(counted.table, sampled.records)
        guarantees = compile_guarantees(spec.guarantees.resolved, table)
        limit = Decimal(str(spec.suppression_limit))
        names = list(spec.quasi_identifiers)
        track = Track(sampled.records, spec.quality, names)
        budget = Budget(evaluations=evaluations)
        search = QualitySearch(table, guarantees, limit, track=track, budget=budget)
        try:
            check_learned(track, search.least_loss_candidate(SIZES[0]), budget)
        except SearchError:
            return False, False
        races = search.run(SIZES)
        splits = range(_FIRST_SPLIT, _FIRST_SPLIT + spec.quality.repetitions)
        _, zero_rule = track.baselines(splits)
        is_better = []
        for required, checked in races.points:
            candidate = search.candidates.of(checked.node, required)
            assert candidate is not None
            scores = np.array(track.trained(candidate, splits, budget))
            is_better.append(corrected_interval(scores - zero_rule, track.test_share)[0] > 0)
        return True, any(is_better)


def raw_spec() -> dict[str, object]:
    """Return the spec that ``init`` would draft."""
    trees = {one.column: (one.seed, one.kind, one.hierarchy.levels) for one in plans()}
    return {
        "version": 1,
        "name": "people",
        "description": "Nothing can be learned here.",
        "source": {"ref": "people"},
        "record_key": "id",
        "columns": {
            **{
                name: {
                    "role": "quasi_identifier",
                    "hierarchy": {"ref": seed, "kind": kind, "levels": levels},
                }
                for name, (seed, kind, levels) in trees.items()
            },
            "ill": {"role": "sensitive"},
        },
        "target": "ill",
        "features": list(trees),
        "efforts": [],
        "guarantees": {"k_anonymity": {"k": 5}},
        "suppression_limit": 0.05,
        "quality": {
            "model": "random_forest",
            "parameters": {"n_estimators": 30, "max_depth": 8},
            "measure": "roc_auc",
            "repetitions": 5,
            "test_share": 0.3,
            "random_state": 1,
        },
        "alpha": 0.1,
        "qnf": "1 - 1/k",
    }


def main() -> None:
    """Print the share of tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    asked = parser.parse_args()
    begin, searched, found = time.monotonic(), 0, 0
    for state in range(asked.first, asked.first + asked.tables):
        of_table = beats(state, records=asked.records, evaluations=asked.evaluations)
        searched, found = searched + of_table[0], found + of_table[1]
        tables, seconds = state - asked.first + 1, time.monotonic() - begin
        print(
            f"{tables} tables: levels are searched on {searched}, an effort beats the zero rule on "
            f"{found}; {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
