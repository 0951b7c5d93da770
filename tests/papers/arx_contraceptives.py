"""Case 3 of the article: answers of 1,473 women, released where that pays, and naive Bayes.

All 16,200 combinations of levels of the nine answers are enumerated for each gain. One woman may be
a class of her own, which a spec refuses: the article names no k.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

from dbt_anonymize.extensions.hierarchy_builders.groups import ordered_groups
from dbt_anonymize.hierarchies import CategoricalHierarchy
from tests.case_studies.preparation import Study, contraceptive_method_choice
from tests.papers.arx_scores import Compared, Floats, Ints, Score, Spread, auc_and_brier, mean_score

Node = tuple[int, ...]
GAINS = (0, 500, 1000, 1500, 2000)
BENEFIT, COST, DEFAULT_LOSS = 1200, 4, 300
SEEDS = range(100)
# Over the five gains: lowest, mean and highest.
PUBLISHED = {"relative AUC": (77.33, 90.35, 100.0), "Brier skill": (-0.04, -0.02, 0.0)}
PUBLISHED_UNTOUCHED = 71.82
DIGITS = {"relative AUC": 1, "Brier skill": 2}


@dataclass(frozen=True)
class Setting:
    """Choices that the article leaves open: the smallest class, and the cost of a found woman."""

    smallest: int = 1
    loss_of: Callable[[float], float] = float


BASE = Setting()
SETTINGS = {
    "as above": BASE,
    "classes of at least two": replace(BASE, smallest=2),
    "a loss of 300 whatever the gain": replace(BASE, loss_of=lambda _: DEFAULT_LOSS),
}


@dataclass(frozen=True)
class Column:
    """Labels of an answer by level, as numbers, and the share of the logarithm of its leaves."""

    name: str
    codes: tuple[Ints, ...]
    logs: tuple[Floats, ...]
    whole: float


def study() -> Study:
    """Return the study with a hierarchy of each answer."""
    known = contraceptive_method_choice()
    pairs = ordered_groups(["1", "2", "3", "4"], [2])
    hidden = CategoricalHierarchy(("0", "1"), (("*", "*"),))
    trees = {
        "husband_education": pairs,
        "wife_religion": hidden,
        "wife_working": hidden,
        "husband_occupation": pairs,
        "sol_index": pairs,
        "media_exposure": hidden,
    }
    names = [name for name in known.rows[0] if name != "method"]
    all_trees = {name: {**known.hierarchies, **trees}[name] for name in names}
    return replace(known, name="arx_contraceptives", hierarchies=all_trees)


@cache
def columns() -> tuple[Column, ...]:
    """Return the nine answers."""
    women = study()
    found = []
    for name, tree in women.hierarchies.items():
        assert isinstance(tree, CategoricalHierarchy)
        place = {value: n for n, value in enumerate(tree.values)}
        leaf = np.array([place[row[name]] for row in women.rows])
        of_leaves = [
            np.unique(labels, return_inverse=True)[1] for labels in (tree.values, *tree.labels)
        ]
        logs = [np.log(np.bincount(codes)[codes]) for codes in of_leaves]
        found.append(
            Column(
                name,
                tuple(codes[leaf] for codes in of_leaves),
                tuple(log[leaf] for log in logs),
                float(np.log(len(tree.values))),
            )
        )
    return tuple(found)


@cache
def methods() -> Ints:
    """Return the method of each woman as a number."""
    return np.unique([row["method"] for row in study().rows], return_inverse=True)[1]


def nodes() -> Iterator[Node]:
    """Yield all combinations of levels."""
    return itertools.product(*(range(len(column.codes)) for column in columns()))


def sizes_and_losses(node: Node) -> tuple[Ints, Floats]:
    """Return the size of each woman's class, and the share of information that its labels lose."""
    keys = np.zeros(len(methods()), dtype=np.int64)
    lost = np.zeros(len(keys))
    for column, level in zip(columns(), node, strict=True):
        codes = column.codes[level]
        keys = keys * (int(codes.max()) + 1) + codes
        lost += column.logs[level]
    _, of, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return sizes[of], lost / sum(column.whole for column in columns())


def payouts(sizes: Ints, losses: Floats, gain: float, setting: Setting) -> Floats:
    """Return what each record brings; nothing where it is left out."""
    is_attacked = gain / sizes > COST
    paid = BENEFIT * (1 - losses) - np.where(is_attacked, setting.loss_of(gain) / sizes, 0)
    return np.where(sizes >= setting.smallest, np.maximum(paid, 0), 0)


@cache
def best_nodes() -> Mapping[tuple[str, int], Node]:
    """Return the levels with the largest payout by setting and gain, the first of several."""
    best: dict[tuple[str, int], tuple[float, Node]] = {}
    for node in nodes():
        sizes, losses = sizes_and_losses(node)
        for name, setting in SETTINGS.items():
            for gain in GAINS:
                total = float(payouts(sizes, losses, gain, setting).sum())
                if total > best.get((name, gain), (-1.0, node))[0] + 1e-9:
                    best[name, gain] = (total, node)
    return {key: node for key, (_, node) in best.items()}


def released(node: Node, gain: float, setting: Setting) -> NDArray[np.bool_]:
    """Return who brings something."""
    return payouts(*sizes_and_losses(node), gain, setting) > 0


@cache
def features(node: Node) -> Floats:
    """Return a column of zeros and ones for each label."""
    of_columns = [
        np.eye(int(column.codes[level].max()) + 1)[column.codes[level]]
        for column, level in zip(columns(), node, strict=True)
    ]
    return np.hstack(of_columns)


@cache
def splits(seed: int) -> list[tuple[Ints, Ints]]:
    """Return ten folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=seed)
    return list(folds.split(methods(), methods()))


@cache
def score(node: Node, kept: bytes, seed: int) -> Score:
    """Return the score of naive Bayes of the released records on original ones."""
    is_kept = np.frombuffer(kept, dtype=bool)
    asked, target = features(node), methods()
    found = []
    for train, test in splits(seed):
        rows = train[is_kept[train]]
        chances = MultinomialNB().fit(asked[rows], target[rows]).predict_proba(asked[test])
        found.append(auc_and_brier(chances, target[test]))
    return mean_score(found)


def compared(setting: str, gain: int, seed: int) -> Compared:
    """Return one cross-validation beside the untouched table."""
    node = best_nodes()[setting, gain]
    kept = released(node, gain, SETTINGS[setting])
    return Compared(score(node, kept.tobytes(), seed), untouched(seed))


def untouched(seed: int) -> Score:
    """Return the score of naive Bayes of the untouched table."""
    return score((0,) * len(columns()), np.ones(len(methods()), dtype=bool).tobytes(), seed)


@cache
def measured(setting: str) -> dict[str, Floats]:
    """Return the measures of all seeds and gains, shape (seeds, gains)."""
    found = [[compared(setting, gain, seed) for gain in GAINS] for seed in SEEDS]
    return {
        "relative AUC": np.array([[one.relative_auc for one in of_seed] for of_seed in found]),
        "Brier skill": np.array([[one.skill for one in of_seed] for of_seed in found]),
    }


def rows() -> list[dict[str, Any]]:
    """Return the table of the case: levels, women who are left out, and scores by gain."""
    found = measured("as above")
    table = []
    for place, gain in enumerate(GAINS):
        node = best_nodes()["as above", gain]
        generalized = [
            f"{column.name} {level}" for column, level in zip(columns(), node, strict=True) if level
        ]
        table.append(
            {
                "gain": gain,
                "levels": ", ".join(generalized) or "raw",
                "left out": int((~released(node, gain, BASE)).sum()),
            }
            | {m: Spread.of(values[:, place]).shown(DIGITS[m]) for m, values in found.items()}
        )
    return table


def rows_of_gains() -> list[dict[str, Any]]:
    """Return lowest, mean and highest over the gains beside the published ones, by setting."""
    table = []
    for measure, published in PUBLISHED.items():
        for place, (of, reduce) in enumerate(
            (("lowest", np.min), ("mean", np.mean), ("highest", np.max))
        ):
            row: dict[str, Any] = {"over gains": f"{of} {measure}", "article": published[place]}
            for setting in SETTINGS:
                spread = Spread.of(reduce(measured(setting)[measure], axis=1))
                verdict = spread.verdict(published[place], DIGITS[measure])
                row[setting] = f"{spread.shown(DIGITS[measure])}, {verdict}"
            table.append(row)
    return table
