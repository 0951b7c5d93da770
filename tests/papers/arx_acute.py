"""Case 1 of the article: k-anonymous findings of 120 patients, and forests that learn from them.

All 128 combinations of levels are enumerated. Choices that the article leaves open are a
`Setting`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from dbt_anonymize.hierarchies import IntervalHierarchy
from tests.case_studies.preparation import DIAGNOSES, STUDIES, SYMPTOMS
from tests.papers.arx_scores import Compared, Floats, Ints, Score, Spread, mean_score, score_of_fold

Node = tuple[int, ...]
KS = (5, 10, 15, 20, 25)
SEEDS, FEWER_SEEDS = range(20), range(10)
# Relative AUC in percent and Brier skill.
PUBLISHED = {5: (100, 0), 10: (100, 0.08), 15: (100, -0.78), 20: (87.72, -1.25), 25: (48.37, -4.05)}
_HIDDEN_TEMPERATURE = 3


@dataclass(frozen=True)
class Setting:
    """Choices that the article leaves open."""

    measure: str = "classification_metric"
    targets: tuple[str, ...] = DIAGNOSES[:1]
    suppressed_cost: float = 1
    suppression_limit: float = 1
    is_aggregated: bool = True
    trees: int = 30
    folds: int = 10


BASE = Setting()
SETTINGS = {
    "as above, 10 seeds": BASE,
    "a left-out record costs half, at most 17 %": replace(
        BASE, suppressed_cost=0.5, suppression_limit=0.17
    ),
    "temperatures as labels": replace(BASE, is_aggregated=False),
    "levels of least `loss`": replace(BASE, measure="loss"),
    "levels for both diagnoses": replace(BASE, targets=DIAGNOSES),
    "100 trees": replace(BASE, trees=100),
    "five folds": replace(BASE, folds=5),
}


@dataclass(frozen=True)
class Table:
    """Temperatures, symptoms (0 or 1), and diagnoses (0 or 1) by name."""

    temperature: Floats
    symptoms: Ints
    diagnoses: dict[str, Ints]
    intervals: tuple[Ints, ...]
    """Number of the interval of each temperature, at levels 1 and 2."""
    widths: tuple[Floats, ...]
    """Share of the range that it covers, at levels 0 to 3."""


@cache
def table() -> Table:
    """Read the patients."""
    study = STUDIES["acute_inflammations"]()
    temperature = np.array([float(row["temperature"]) for row in study.rows])
    tree = study.hierarchies["temperature"]
    assert isinstance(tree, IntervalHierarchy)
    uppers = np.array([float(str(bound)) for bound in tree.upper_bounds])
    lowers = np.array([float(str(bound)) for bound in tree.lower_bounds])
    leaf = np.searchsorted(uppers, temperature, side="right")
    of_leaf = [np.unique(tree.labels[level], return_inverse=True)[1] for level in (0, 1)]
    spans = [np.bincount(codes, uppers - lowers)[codes] for codes in of_leaf]
    shares = [span[leaf] / (uppers[-1] - lowers[0]) for span in spans]
    return Table(
        temperature,
        np.array([[row[name] == "yes" for name in SYMPTOMS] for row in study.rows], dtype=int),
        {d: np.array([row[d] == "yes" for row in study.rows], dtype=int) for d in DIAGNOSES},
        tuple(codes[leaf] for codes in of_leaf),
        (np.zeros(len(leaf)), *shares, np.ones(len(leaf))),
    )


def nodes() -> Iterator[Node]:
    """Yield the levels of temperature and of all symptoms."""
    return itertools.product(range(_HIDDEN_TEMPERATURE + 1), *([range(2)] * len(SYMPTOMS)))


@cache
def classes(node: Node) -> NDArray[np.intp]:
    """Return the number of each record's class."""
    people = table()
    numbers = (people.temperature, *people.intervals, np.zeros(len(people.temperature)))
    shown = [numbers[node[0]], *(people.symptoms.T * (1 - np.array(node[1:]))[:, None])]
    return np.unique(np.column_stack(shown), axis=0, return_inverse=True)[1].ravel()


def released(node: Node, k: int) -> NDArray[np.bool_]:
    """Return whether each record is in a class of at least k."""
    return np.bincount(classes(node))[classes(node)] >= k


def cost(node: Node, k: int, setting: Setting) -> float:
    """Return what the levels cost at k; infinite beyond the limit of suppression."""
    kept = released(node, k)
    suppressed = int((~kept).sum())
    if suppressed > setting.suppression_limit * len(kept):
        return float("inf")
    if setting.measure == "loss":
        shares = [table().widths[node[0]], *(np.full(len(kept), level) for level in node[1:])]
        losses = [np.where(kept, share, 1.0).mean() for share in shares]
        return float(np.exp(np.mean(np.log1p(losses))) - 1)
    wrong = [_minority(classes(node)[kept], table().diagnoses[t][kept]) for t in setting.targets]
    return float(np.mean(wrong)) + setting.suppressed_cost * suppressed


def _minority(of_records: NDArray[np.intp], target: Ints) -> int:
    """Count records that are not of the majority of their class; a tie has none."""
    sizes, sick = np.bincount(of_records), np.bincount(of_records, target)
    smaller = np.minimum(sick, sizes - sick)
    return int(np.where(2 * smaller == sizes, sizes, smaller).sum())


@cache
def best_nodes(k: int, setting: Setting) -> tuple[Node, ...]:
    """Return all levels of the least cost."""
    costs = {node: cost(node, k, setting) for node in nodes()}
    least = min(costs.values())
    return tuple(node for node, value in costs.items() if value <= least + 1e-9)


def node_of(k: int, setting: Setting, seed: int) -> Node:
    """Return the levels that a seed draws among equally good ones."""
    best = best_nodes(k, setting)
    return best[np.random.default_rng([seed, k]).integers(len(best))]


def features(node: Node, kept: NDArray[np.bool_], setting: Setting) -> tuple[Floats, Floats]:
    """Return what a model learns from, and what it is asked; hidden columns are left out."""
    people = table()
    symptoms = people.symptoms[:, [level == 0 for level in node[1:]]]
    learned = asked = people.temperature
    if node[0] == _HIDDEN_TEMPERATURE:
        learned = asked = np.zeros(len(kept))
    elif node[0] > 0 and setting.is_aggregated:
        of = classes(node)
        learned = (np.bincount(of, people.temperature) / np.bincount(of))[of]
    elif node[0] > 0:
        learned = asked = people.intervals[node[0] - 1].astype(float)
    return np.column_stack([learned, symptoms]), np.column_stack([asked, symptoms])


@cache
def score(node: Node, k: int, setting: Setting, seed: int) -> Score:
    """Return the score of forests of the released records on original ones."""
    target = table().diagnoses[DIAGNOSES[0]]
    kept = released(node, k)
    learned, asked = features(node, kept, setting)
    found = []
    folds = StratifiedKFold(setting.folds, shuffle=True, random_state=seed)
    for train, test in folds.split(asked, target):
        rows = train[kept[train]]
        forest = RandomForestClassifier(setting.trees, random_state=seed)
        if len(set(target[rows])) < 2:
            share = target[rows].mean() if len(rows) else 0.5
            found.append((0.5, float(np.mean((target[test] - share) ** 2))))
            continue
        model = forest.fit(learned[rows], target[rows])
        found.append(score_of_fold(model, asked[test], target[test]))
    return mean_score(found)


def compared(k: int, setting: Setting, seed: int) -> Compared:
    """Return one cross-validation at k beside the untouched table."""
    raw = (0,) * (len(SYMPTOMS) + 1)
    evaluated = replace(BASE, trees=setting.trees, folds=setting.folds)
    aside = replace(evaluated, is_aggregated=setting.is_aggregated)
    return Compared(
        score(node_of(k, setting, seed), k, aside, seed), score(raw, 1, evaluated, seed)
    )


def removed(node: Node) -> int:
    """Count the columns that show nothing."""
    return (node[0] == _HIDDEN_TEMPERATURE) + sum(node[1:])


def row(k: int) -> dict[str, Any]:
    """Return what the page tells of k."""
    found = [compared(k, BASE, seed) for seed in SEEDS]
    relative = Spread.of([one.relative_auc for one in found])
    skill = Spread.of([one.skill for one in found])
    best = best_nodes(k, BASE)
    hidden = sorted({removed(node) for node in best})
    left_out = sorted({int((~released(node, k)).sum()) for node in best})
    published = PUBLISHED[k]
    return {
        "k": k,
        "levels that tie": len(best),
        "columns without content": _range(hidden),
        "left out": _range(left_out),
        "relative AUC, article": published[0],
        "here": relative.shown(1),
        "": relative.verdict(published[0], 1),
        "skill, article": published[1],
        "here ": skill.shown(2),
        " ": skill.verdict(published[1], 2),
    }


def rows() -> list[dict[str, Any]]:
    """Return the table of the case."""
    return [row(k) for k in KS]


def rows_of_levels() -> list[dict[str, Any]]:
    """Return what all levels give that leave out at most 17 %, best or not, with one seed."""
    return [row_of_levels(k) for k in KS]


def row_of_levels(k: int) -> dict[str, Any]:
    """Return what the page tells of all levels at k."""
    limited = replace(BASE, suppression_limit=0.17)
    raw = score((0,) * (len(SYMPTOMS) + 1), 1, BASE, 1)
    possible = [node for node in nodes() if np.isfinite(cost(node, k, limited))]
    found = [Compared(score(node, k, BASE, 1), raw).relative_auc for node in possible]
    published = PUBLISHED[k][0]
    return {
        "k": k,
        "levels": len(possible),
        "relative AUC, lowest": f"{min(found):.1f}",
        "median": f"{np.median(found):.1f}",
        "highest": f"{max(found):.1f}",
        "article": published,
        "levels at least so good": sum(value >= published - 0.05 for value in found),
    }


def rows_of_settings() -> list[dict[str, Any]]:
    """Return medians of relative AUC and skill by setting."""
    return [row_of_setting(name) for name in SETTINGS]


def row_of_setting(name: str) -> dict[str, Any]:
    """Return what the page tells of a setting."""
    found: dict[str, Any] = {"setting": name}
    for k in KS:
        outcomes = [compared(k, SETTINGS[name], seed) for seed in FEWER_SEEDS]
        relative = np.median([one.relative_auc for one in outcomes])
        skill = np.median([one.skill for one in outcomes])
        found[f"k = {k}"] = f"{relative:.1f}, {skill + 0.0:.2f}"
    return found


def _range(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"
