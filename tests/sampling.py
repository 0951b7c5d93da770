"""What `make test` runs a seeded sample of; DBT_ANONYMIZE_FULL=1 runs everything.

DBT_ANONYMIZE_SEED draws another sample, and repeats one that failed: the last line says the seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pytest
from hypothesis import settings

FULL = os.environ.get("DBT_ANONYMIZE_FULL", "") not in {"", "0"}
IS_SEEDED = "DBT_ANONYMIZE_SEED" in os.environ
SEED = int(os.environ.get("DBT_ANONYMIZE_SEED", "20"))
# What is counted: how many of how many run.
drawn: dict[str, tuple[int, int]] = {}


def number_of(what: str, full: int, sampled: int) -> int:
    """Return how many to run, and keep it for the closing line."""
    drawn[what] = (full if FULL else sampled, full)
    return drawn[what][0]


def examples(of: settings, full: int, sampled: int | None = None) -> settings:
    """Return settings with as many examples as are to run: a fifth of many, unless in full."""
    number = full if FULL else (sampled or max(2, full // 5))
    return settings(of, max_examples=number)


def sample(
    what: str, cases: Sequence[Any], share: float, kind: Callable[[Any], Hashable]
) -> list[Any]:
    """Return all cases, which have names, as parameters; those that are not drawn are `slow`.

    Of each kind the share is drawn, at least one, so that no class of failure is left out.
    """
    kinds: dict[Hashable, list[int]] = {}
    for number, case in enumerate(cases):
        kinds.setdefault(kind(case), []).append(number)
    chance = random.Random(SEED)
    wanted = {
        number
        for numbers in kinds.values()
        for number in chance.sample(numbers, max(1, round(share * len(numbers))))
    }
    drawn[what] = (len(cases) if FULL else len(wanted), len(cases))
    return [
        pytest.param(case, id=case.name, marks=() if FULL or number in wanted else pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
