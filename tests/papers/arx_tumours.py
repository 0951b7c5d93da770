"""Case 2 of the article: tumours released with differential privacy, and what a model learns.

As in the case study the draws are those of a seeded generator; sample, class size and suppression
are as in a build. Here the model is compared with one of all nine grades.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dbt_anonymize.extensions.differential_privacy.model import k_of, largest_beta
from tests.case_studies.preparation import GRADES, wisconsin_grades
from tests.papers.arx_scores import Compared, Floats, Ints, Score, Spread, auc_and_brier, mean_score

EPSILONS = (2.0, 1.5, 1.0, 0.5, 0.1)
DELTA = 1e-3
ALL_GRADES = tuple(GRADES)
SEEDS = range(100)
PROCESSES = 5
CHROMATIN = "bland_chromatin"
# Widths of intervals of grades; the second is that of another grade beside.
DESIGNS = {
    "chromatin as it is": (1, None),
    "chromatin in pairs": (2, None),
    "chromatin in fours": (4, None),
    "pairs, and another in fours": (2, 4),
}
LEVELS_DRAWN = "one of the first three, drawn"
# At epsilon 1: lowest, mean and highest of five processes.
PUBLISHED = {
    "AUC": (0.858, 0.8828, 0.9227),
    "relative AUC": (61.63, 74.80, 83.96),
    "Brier skill": (-3.45, -2.66, -1.38),
}
ASKED_RAW = "AUC, asked as they are"
DIGITS = {"AUC": 3, "relative AUC": 1, "Brier skill": 2, ASKED_RAW: 3}
PUBLISHED_UNTOUCHED = 0.992


@dataclass(frozen=True)
class Outcome:
    """Released rows of one draw, and what a model learned: None if nothing.

    ``asked_raw`` is its AUC where grades are asked as they are, not as their labels.
    """

    rows: int
    learned: Compared | None = None
    asked_raw: float = float("nan")


@cache
def grades() -> tuple[Floats, Ints]:
    """Return all nine grades, a missing one as the median, and whether a tumour is malignant."""
    rows = wisconsin_grades(ALL_GRADES)
    values = np.array([[float(row[name] or "nan") for name in ALL_GRADES] for row in rows])
    values = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    return values, np.array([row["tumour"] == "malignant" for row in rows], dtype=np.int64)


def midpoints(values: Floats, width: int) -> Floats:
    """Return the midpoint of the whole grades in each interval from 1 on.

    Examples
    --------
    >>> midpoints(np.array([1.0, 2.0, 10.0]), 4).tolist()
    [2.5, 2.5, 10.5]
    """
    return np.floor((values - 1) / width) * width + (width + 1) / 2


@cache
def folds(seed: int = 1) -> list[tuple[Ints, Ints]]:
    """Return ten folds, the same for all draws of a sample."""
    values, tumour = grades()
    return list(StratifiedKFold(10, shuffle=True, random_state=seed).split(values, tumour))


@cache
def untouched(seed: int = 1) -> Score:
    """Return the score of a model of all nine grades."""
    values, tumour = grades()
    ones = np.ones(len(tumour))
    return mean_score(
        auc_and_brier(
            chances(fitted(values[train], ones[train] * tumour[train], ones[train]), values[test]),
            tumour[test],
        )
        for train, test in folds(seed)
    )


def fitted(labels: Floats, malignant: Floats, records: Floats) -> Floats:
    """Return height and slopes of the logistic regression that scikit-learn fits by default.

    Slopes have a penalty of half their squares. ``malignant`` of the ``records`` of each row of
    ``labels``; few rows make it much faster. Newton's method from 0.
    """
    design = np.column_stack([np.ones(len(labels)), labels])
    penalty = np.diag([0.0, *np.ones(labels.shape[1])])
    weights = np.zeros(design.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-(design @ weights)))
        gradient = design.T @ (records * chance - malignant) + penalty @ weights
        curvature = (design.T * (records * chance * (1 - chance))) @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step
        if abs(step).max() < 1e-9:
            break
    return np.asarray(weights)


def chances(weights: Floats, asked: Floats) -> Floats:
    """Return the probability of a malignant tumour, as a column."""
    return np.asarray(1 / (1 + np.exp(-(weights[0] + asked @ weights[1:]))))[:, None]


def size(epsilon: float) -> int:
    """Return the least people of the sample in a class."""
    return k_of(epsilon, DELTA, largest_beta(epsilon))


@cache
def outcome(design: str, epsilon: float, seed: int) -> Outcome:
    """Draw a sample, suppress its small classes, and score a model on original records."""
    values, tumour = grades()
    draw = np.random.default_rng(seed)
    sampled = draw.random(len(tumour)) < largest_beta(epsilon)
    width, width_of_other = DESIGNS[design]
    columns, widths = [ALL_GRADES.index(CHROMATIN)], [width]
    if width_of_other is not None:
        columns.append(int(draw.choice([n for n in range(len(ALL_GRADES)) if n not in columns])))
        widths.append(width_of_other)
    raw = values[:, columns]
    shown = np.column_stack([midpoints(raw[:, n], w) for n, w in enumerate(widths)])
    labels, of = np.unique(shown, axis=0, return_inverse=True)
    of_class = 2 * of.ravel() + tumour
    kept = sampled & (
        np.bincount(of_class[sampled], minlength=2 * len(labels))[of_class] >= size(epsilon)
    )
    found, of_raw = [], []
    for train, test in folds():
        benign, malignant = _counts(of_class[train[kept[train]]], len(labels))
        if not (benign.any() and malignant.any()):
            return Outcome(int(kept.sum()))
        weights = fitted(labels, malignant, benign + malignant)
        found.append(auc_and_brier(chances(weights, shown[test]), tumour[test]))
        of_raw.append(auc_and_brier(chances(weights, raw[test]), tumour[test]))
    learned = Compared(mean_score(found), untouched())
    return Outcome(int(kept.sum()), learned, mean_score(of_raw).auc)


def _counts(of_class: Ints, labels: int) -> tuple[Floats, Floats]:
    counts = np.bincount(of_class, minlength=2 * labels).astype(float)
    return counts[::2], counts[1::2]


def measured(design: str, epsilon: float) -> dict[str, list[float]]:
    """Return the measures of all draws of which a model learns."""
    outcomes = [outcome(design, epsilon, seed) for seed in SEEDS]
    learned = [one.learned for one in outcomes if one.learned is not None]
    return {
        "AUC": [one.released.auc for one in learned],
        "relative AUC": [one.relative_auc for one in learned],
        "Brier skill": [one.skill for one in learned],
        ASKED_RAW: [one.asked_raw for one in outcomes if one.learned is not None],
    }


def row(design: str, epsilon: float) -> dict[str, Any]:
    """Return what the page tells of a design and an epsilon."""
    found = measured(design, epsilon)
    shown = {
        name: Spread.of(values).shown(DIGITS[name]) if values else "-"
        for name, values in found.items()
    }
    return {
        "epsilon": f"{epsilon:g}",
        "k": size(epsilon),
        "design": design,
        "rows": round(float(np.mean([outcome(design, epsilon, seed).rows for seed in SEEDS]))),
        "draws with both": len(found["AUC"]),
        **shown,
    }


def rows() -> list[dict[str, Any]]:
    """Return all designs by epsilon."""
    return [row(design, epsilon) for epsilon in EPSILONS for design in DESIGNS]


def _measured_at_drawn_levels(measure: str) -> list[float]:
    """Return a measure of draws whose seed also draws one of the levels of `CHROMATIN` alone."""
    alone = [design for design, (_, other) in DESIGNS.items() if other is None]
    found = []
    for seed in SEEDS:
        design = alone[np.random.default_rng([seed, len(alone)]).integers(len(alone))]
        learned = outcome(design, 1.0, seed).learned
        if learned is not None:
            found.append(
                {"AUC": learned.released.auc, "relative AUC": learned.relative_auc}.get(
                    measure, learned.skill
                )
            )
    return found


def processes(design: str, measure: str) -> tuple[Spread, Spread, Spread]:
    """Return lowest, mean and highest of five draws in a row at epsilon 1, over all such fives.

    Draws of which nothing is learned are left out.
    """
    of_draws = (
        _measured_at_drawn_levels(measure)
        if design == LEVELS_DRAWN
        else measured(design, 1.0)[measure]
    )
    fives = np.array(of_draws[: len(of_draws) // PROCESSES * PROCESSES]).reshape(-1, PROCESSES)
    return Spread.of(fives.min(axis=1)), Spread.of(fives.mean(axis=1)), Spread.of(fives.max(axis=1))


def rows_of_processes() -> list[dict[str, Any]]:
    """Return the published figures of five processes beside ours."""
    found = []
    for measure, published in PUBLISHED.items():
        digits = DIGITS[measure]
        spreads = {design: processes(design, measure) for design in (*DESIGNS, LEVELS_DRAWN)}
        for place, of in enumerate(("lowest", "mean", "highest")):
            ours = {design: of_design[place] for design, of_design in spreads.items()}
            drawn = ours[LEVELS_DRAWN]
            found.append(
                {"of five": f"{of} {measure}", "article": published[place]}
                | {design: spread.shown(digits) for design, spread in ours.items()}
                | {"": drawn.verdict(published[place], digits)}
            )
    return found
