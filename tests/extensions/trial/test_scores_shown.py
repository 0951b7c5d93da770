"""Scores of `dbt-anonymize try`: with their uncertainty, and no more than there is to keep."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.search.by_quality import WinnerScores, corrected_interval
from dbt_anonymize.extensions.search.race import SPLITS, Candidate
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.trial.commands.alternatives_table import (
    differ_by_chance,
    kept_share,
    less_than_wanted,
    score_text,
    untouched_text,
)
from dbt_anonymize.extensions.trial.uncertainty import chance_pairs, uncertainty_of
from tests.docs.pages import DOCS

TEST_SHARE = 0.3
NAMES = (("more-use",), ("balanced",), ("more-privacy",))


def page() -> str:
    return " ".join((DOCS / "extensions" / "trial.md").read_text(encoding="utf-8").split())


def alternatives(*scores: float, names: tuple[tuple[str, ...], ...] = NAMES) -> Any:
    return [
        SimpleNamespace(names=of, raced=WinnerScores(score, 0.8, 0.5, (-1.0, 1.0), 10))
        for of, score in zip(names, scores, strict=False)
    ]


def trial(*scores: float, best: float = 0.8, pairs: tuple[tuple[int, int], ...] = ()) -> Any:
    return SimpleNamespace(
        alternatives=alternatives(*scores), best_gain=best - 0.5, chance_pairs=pairs
    )


class Scored:
    """Candidates with scripted scores on splits, of which the untouched table has others."""

    test_share = TEST_SHARE

    def __init__(self, *scores: list[float]) -> None:
        none = np.zeros(0, dtype=np.int64)
        self.candidates = [
            Candidate(CheckedNode((at,), 5, 0, 0.0, is_feasible=True), 5, none > 0, none)
            for at in range(len(scores))
        ]
        self.scores = {
            one.key: dict(enumerate(of)) for one, of in zip(self.candidates, scores, strict=True)
        }

    def splits(self, candidate: Candidate) -> int:
        """Return the number of splits."""
        return len(self.scores[candidate.key])

    @staticmethod
    def baselines(splits: range) -> tuple[list[float], list[float]]:
        """Return scores of the untouched table, and of the zero rule."""
        return [0.8 + 0.01 * (split % 2) for split in splits], [0.5 for _ in splits]


def test_scores_have_the_interval_that_results_compute() -> None:
    scores = [0.7, 0.75, 0.71, 0.74]
    track: Any = Scored(scores)
    found = uncertainty_of(track, track.candidates[0])
    lower, upper = corrected_interval(np.array(scores), TEST_SHARE)
    assert (lower, upper) == pytest.approx((0.725 - found.score, 0.725 + found.score))
    # By hand: t with 3 degrees of freedom, splits that overlap.
    variance = np.var(scores, ddof=1) * (1 / 4 + 0.3 / 0.7)
    assert found.score == pytest.approx(3.1824463 * variance**0.5)
    assert 0 < found.untouched < found.score
    one: Any = SimpleNamespace(
        raced=WinnerScores(0.725, 0.805, 0.5, (-1.0, 1.0), 4), uncertainty=found
    )
    assert score_text(one) == f"0.725 ± {found.score:.3f}"
    assert untouched_text(one) == f"0.805 ± {found.untouched:.3f}"


def test_a_single_split_has_no_interval() -> None:
    track: Any = Scored([0.7])
    one: Any = SimpleNamespace(
        raced=WinnerScores(0.7, 0.8, 0.5, (-1.0, 1.0), 1),
        uncertainty=uncertainty_of(track, track.candidates[0]),
    )
    assert (score_text(one), untouched_text(one)) == ("0.700", "0.800")


def test_scores_that_differ_by_less_than_their_uncertainty_are_pairs() -> None:
    """Compared split by split: what is harder for one is harder for the others."""
    draw = np.random.default_rng(1)
    first = draw.normal(0.8, 0.1, SPLITS)
    noise = draw.normal(0.0, 0.01, (2, SPLITS))
    track: Any = Scored([*first], [*(first - 0.1 + noise[0])], [*(first - 0.1 + noise[1])])
    assert chance_pairs(track, track.candidates) == ((1, 2),)
    assert chance_pairs(track, track.candidates[:2]) == ()
    few: Any = Scored([0.9], [0.1])
    assert chance_pairs(few, few.candidates) == ((0, 1),), "of one split nothing is known"


@pytest.mark.needs("installation", "report")  # of the page
@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((), None),
        (((0, 1),), "The scores of more-use and balanced"),
        (
            ((0, 1), (1, 2)),
            "The scores of more-use and balanced, and of balanced and more-privacy",
        ),
        (((0, 1), (0, 2), (1, 2)), "All scores"),
    ],
)
def test_differences_that_may_be_chance_are_said(
    pairs: tuple[tuple[int, int], ...], expected: str | None
) -> None:
    end = "differ by less than their uncertainty, so maybe by chance."
    said = [*differ_by_chance(trial(0.79, 0.78, 0.7, pairs=pairs))]
    assert said == ([] if expected is None else [f"{expected} {end}"])
    assert f"All scores {end}" in page()


@pytest.mark.parametrize(("score", "share"), [(0.8, 1.0), (0.95, 1.0), (0.65, 0.5), (0.4, 0.0)])
def test_no_more_is_kept_than_there_is(score: float, share: float) -> None:
    assert kept_share(alternatives(score)[0].raced) == pytest.approx(share)


@pytest.mark.needs("installation", "report")  # of the page
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0.79, 0.77, 0.75), ""),
        # Shares are compared as they are printed: 0.947 is 95 %, and 0.897 is 90 %.
        ((0.784, 0.769, 0.74), ""),
        (
            (0.782, 0.755, 0.74),
            "more-use keeps 94%, below its 95%; balanced keeps 85%, below its 90%: shares count "
            "from the best levels that were found, which keep 94%.",
        ),
        (
            (0.77, 0.745, 0.72),
            "more-use keeps 90%, below its 95%; balanced keeps 82%, below its 90%; more-privacy "
            "keeps 73%, below its 75%: shares count from the best levels that were found, which "
            "keep 91%.",
        ),
    ],
)
def test_an_alternative_that_keeps_less_than_its_name_says_is_named(
    scores: tuple[float, ...], expected: str
) -> None:
    best = 0.773 if scores[0] == 0.77 else scores[0]
    said = [*less_than_wanted(trial(*scores, best=best))]
    assert said == [f"Of what models learn untouched, {expected}"] * bool(expected)
    assert "below its 90%: shares count from the best levels that were found, which" in page()
