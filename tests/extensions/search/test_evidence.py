"""Levels are chosen by what models learn only where they surely learn something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.evidence import LOOKS, check_learned
from dbt_anonymize.extensions.search.race import Budget, Candidate, Track
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.spec.quality import Quality

Score = Callable[[int], float]
QUALITY = Quality(model="decision_tree", measure="roc_auc", repetitions=5, random_state=1)
BY_LUCK = (0.52, 0.49, 0.5, 0.53, 0.47, 0.51, 0.5, 0.48, 0.54, 0.5, 0.49, 0.52, 0.46, 0.51)


@dataclass
class Scripted(Track):
    """Scores by split, of the untouched table and of a candidate; nothing is trained."""

    untouched: Score = lambda split: BY_LUCK[split]
    generalized: Score = lambda split: BY_LUCK[-1 - split]
    looked: list[int] = field(default_factory=list)
    test_share: float = 0.3  # type: ignore[misc]

    def baselines(self, splits: range, _: Budget | None = None) -> tuple[list[float], list[float]]:
        """Return scripted scores."""
        self.looked.append(len(splits))
        return [self.untouched(split) for split in splits], [0.5] * len(splits)

    def trained(self, _: Candidate, splits: range, budget: Budget) -> list[float]:
        """Return scripted scores, a second each."""
        budget.spent += len(splits)
        return [self.generalized(split) for split in splits]


def candidate() -> Candidate:
    """Return any."""
    checked = CheckedNode(node=(1,), loss=0.5, k=5, suppressed=0, is_feasible=True)
    nobody = np.zeros(0, dtype=np.int64)
    return Candidate(checked, 5, nobody.astype(bool), nobody)


def scripted(**scores: Score) -> Scripted:
    """Return a track without records."""
    return Scripted(None, QUALITY, [], **scores)  # type: ignore[arg-type]


def test_scores_that_go_up_and_down_around_the_zero_rule_are_luck() -> None:
    track = scripted()
    with pytest.raises(SearchError, match=r"roc_auc is 0\.50\d, with 0\.500 for the zero rule"):
        check_learned(track, candidate(), Budget())
    assert track.looked == [*LOOKS]


def test_what_is_plain_is_seen_after_few_splits() -> None:
    track = scripted(untouched=lambda split: 0.8 + 0.01 * (split % 3))
    budget = Budget()
    check_learned(track, candidate(), budget)
    assert track.looked == [LOOKS[0]]
    assert budget.spent == LOOKS[0]


def test_a_weak_but_steady_advantage_takes_more_splits() -> None:
    track = scripted(untouched=lambda split: 0.56 + 0.04 * (split % 2))
    check_learned(track, None, Budget())
    assert LOOKS[0] in track.looked
    assert len(track.looked) > 1


def test_models_may_learn_from_a_generalized_table_alone() -> None:
    track = scripted(generalized=lambda split: 0.7 + 0.01 * (split % 2))
    check_learned(track, candidate(), Budget())
    with pytest.raises(SearchError):
        check_learned(scripted(), None, Budget())


def test_a_score_that_is_not_known_shows_nothing() -> None:
    track = scripted(untouched=lambda split: -np.inf if split == 1 else 0.9)
    with pytest.raises(SearchError):
        check_learned(track, None, Budget())
