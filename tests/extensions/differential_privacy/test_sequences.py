"""Costs of releases add up: an attacker who has all of them learns no more than was paid."""

from __future__ import annotations

import random

import pytest

from tests.extensions.differential_privacy.sequences import (
    ABSENT,
    BETA,
    EPSILON,
    K,
    State,
    Step,
    excess,
)
from tests.sampling import number_of

TRIALS = number_of("trials of a sequence of releases", 40_000, 2_000)
PAIRS = number_of("pairs of histories", 3_000, 4)
# One in a million runs of an honest mechanism may fail, over all pairs.
ERROR = 1e-6 / (PAIRS + 10)

LARGE = 2 * round(K / BETA)
# Nobody is in her finest class but herself; two others survive whatever is drawn.
OTHERS: State = (1,) * LARGE + (2,) * LARGE
HERS: State = (0, *OTHERS)
NOBODY: State = (ABSENT, *OTHERS)
FINE, COARSE = Step(HERS, NOBODY), Step(HERS, NOBODY, is_coarse=True)

SEQUENCES = {
    "coarse and fine": [COARSE, FINE],
    "she joins": [Step(NOBODY, NOBODY, is_coarse=True), Step(HERS, NOBODY, is_coarse=True, draw=2)],
    "she leaves": [COARSE, Step(NOBODY, NOBODY, is_coarse=True, draw=2)],
    "her value changes": [
        Step((1, *OTHERS), (1, *OTHERS)),
        Step((2, *OTHERS), (1, *OTHERS), draw=2),
    ],
    "of another anonymization": [COARSE, Step(HERS, NOBODY, is_coarse=True, anonymization="other")],
    "published again": [COARSE, COARSE],
    "stopped where she joins": [Step(NOBODY, NOBODY, is_coarse=True), COARSE],
    "and again where she leaves": [COARSE, FINE, Step(NOBODY, NOBODY)],
}
# Other anonymizations always drew by themselves, and the same thing again shows nothing.
BROKEN_BEFORE = (
    "coarse and fine",
    "she joins",
    "she leaves",
    "her value changes",
    "stopped where she joins",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", SEQUENCES)
def test_releases_together_show_no_more_than_was_paid(name: str) -> None:
    assert excess(SEQUENCES[name], TRIALS, error=ERROR) <= 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BROKEN_BEFORE)
def test_draws_that_serve_again_are_found(name: str) -> None:
    assert excess(SEQUENCES[name], TRIALS, error=ERROR, shares_draws=True) > 0


def history(chance: random.Random) -> list[Step]:
    """Return a sequence of two or three builds of random tables and changes."""
    sizes = [
        chance.choice([0, 1, K - 1, K, round(K / BETA), LARGE]) for _ in range(chance.randint(1, 3))
    ]
    others = tuple(place for place, size in enumerate(sizes) for _ in range(size))
    classes = [ABSENT, *range(len(sizes))]
    hers, steps = chance.choice(classes[1:]), []
    for number in range(1, chance.randint(2, 3) + 1):
        change = chance.choice(["none", "joins or leaves", "another value", "somebody else leaves"])
        if change == "joins or leaves":
            hers = chance.choice(classes[1:]) if hers == ABSENT else ABSENT
        elif change == "another value":
            hers = chance.choice(classes[1:])
        elif change == "somebody else leaves" and others:
            place = chance.randrange(len(others))
            others = (*others[:place], ABSENT, *others[place + 1 :])
        steps.append(
            Step(
                (hers, *others),
                (ABSENT, *others),
                is_coarse=chance.random() < 0.5,
                draw=chance.choice([1, number]),
                anonymization=chance.choice(["first", "first", "other"]),
            )
        )
    return steps


def test_random_histories_show_no_more_than_was_paid() -> None:
    chance = random.Random(20)
    for number in range(PAIRS):
        found = excess(history(chance), 2_000, error=ERROR)
        assert found <= 0, f"pair {number}: an event is likelier by {found} than {EPSILON} allows"
