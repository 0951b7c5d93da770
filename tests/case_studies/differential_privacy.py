"""A differentially private release of tumours: ten draws, and what a model learns from each.

A build draws with the operating system, never twice alike. So that the page can be confirmed, the
draws here are those of a seeded generator; sample, class size and suppression are as in a build.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.differential_privacy.model import k_of, largest_beta
from tests.case_studies.preparation import wisconsin_grades

EPSILON, DELTA, DRAWS = 1.0, 1e-3, 10
BETA = largest_beta(EPSILON)


@dataclass(frozen=True)
class Design:
    """Released grades; the tumour is part of a class, or kept as it is (not private)."""

    features: tuple[str, ...]
    beta: float = BETA
    is_private: bool = True

    @property
    def k(self) -> int:
        """Least people of the sample in a class."""
        return k_of(EPSILON, DELTA, self.beta)


DESIGNS = {
    "chromatin": Design(("bland_chromatin",)),
    "chromatin_half": Design(("bland_chromatin",), beta=BETA / 2),
    "with_nuclei": Design(("bland_chromatin", "bare_nuclei")),
    "with_nuclei_half": Design(("bland_chromatin", "bare_nuclei"), beta=BETA / 2),
    "tumour_kept": Design(("bland_chromatin", "bare_nuclei"), is_private=False),
}


@dataclass(frozen=True)
class Outcome:
    """Released rows and classes of one draw, and what a model learned: None if nothing."""

    rows: int
    classes: int
    roc_auc: float | None
    brier_skill_score: float | None


@cache
def tables(features: tuple[str, ...]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return grades as they are, chromatin in pairs by midpoint, and whether a tumour is malignant.

    A missing grade is a value of its own; as a feature it is the median.
    """
    rows = wisconsin_grades(features)
    raw = np.array([[float(row[name] or "nan") for name in features] for row in rows])
    raw = np.where(np.isnan(raw), np.nanmedian(raw, axis=0), raw)
    pairs = raw.copy()
    place = features.index("bland_chromatin")
    pairs[:, place] = np.ceil(raw[:, place] / 2) * 2 - 0.5
    return raw, pairs, np.array([row["tumour"] == "malignant" for row in rows], dtype=np.int64)


def outcome(design: Design, seed: int) -> Outcome:
    """Draw a sample, suppress its small classes, and score a model on original records."""
    raw, pairs, tumour = tables(design.features)
    sampled = np.random.default_rng(seed).random(len(raw)) < design.beta
    labels = [
        (*row, target if design.is_private else None)
        for row, target in zip(pairs, tumour, strict=True)
    ]
    sizes = Counter(label for label, is_in in zip(labels, sampled, strict=True) if is_in)
    released = sampled & np.array([sizes[label] >= design.k for label in labels])
    classes = sum(size >= design.k for size in sizes.values())
    scores = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=1).split(raw, tumour):
        learned = train[released[train]]
        if len(set(tumour[learned])) < 2:
            return Outcome(int(released.sum()), classes, None, None)
        model = LogisticRegression().fit(pairs[learned], tumour[learned])
        untouched = LogisticRegression().fit(raw[train], tumour[train])
        found, best = (m.predict_proba(raw[test])[:, 1] for m in (model, untouched))
        skill = 1 - brier_score_loss(tumour[test], found) / brier_score_loss(tumour[test], best)
        scores.append((roc_auc_score(tumour[test], found), skill))
    auc, skill = np.mean(scores, axis=0)
    return Outcome(int(released.sum()), classes, float(auc), float(skill))


def rows() -> list[dict[str, Any]]:
    """Return what the page tells: one row per design."""
    return [_row(name, design) for name, design in DESIGNS.items()]


def _row(name: str, design: Design) -> dict[str, Any]:
    found = [outcome(design, seed) for seed in range(1, DRAWS + 1)]
    learned = [one for one in found if one.roc_auc is not None]
    aucs = [one.roc_auc for one in learned if one.roc_auc is not None]
    skills = [one.brier_skill_score for one in learned if one.brier_skill_score is not None]
    return {
        "design": name,
        "k": design.k,
        "rows": round(float(np.mean([one.rows for one in found]))),
        "classes": float(np.mean([one.classes for one in found])),
        "draws": len(learned),
        "roc_auc": float(np.mean(aucs)) if aucs else None,
        "lowest": min(aucs, default=None),
        "highest": max(aucs, default=None),
        "skill": float(np.mean(skills)) if skills else None,
    }
