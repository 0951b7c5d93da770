"""The class size of (epsilon, delta)-privacy from its definition, in exact fractions."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction


def gamma(epsilon: Decimal, beta: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of 1 - (1 - beta) exp(-epsilon), 60 digits apart."""
    with localcontext() as context:
        context.prec = 70
        kept = (-epsilon).exp()
        step = Decimal(1).scaleb(-60)
        low, high = (
            Fraction(kept.quantize(step, rounding)) for rounding in (ROUND_FLOOR, ROUND_CEILING)
        )
    return 1 - (1 - beta) * high, 1 - (1 - beta) * low


def excess(people: int, epsilon: Decimal, beta: Fraction) -> Fraction:
    """Return the probability that more than gamma * people of so many are drawn."""
    below, above = gamma(epsilon, beta)
    most = math.floor(below * people)
    assert most == math.floor(above * people)
    return sum(
        (
            math.comb(people, drawn) * beta**drawn * (1 - beta) ** (people - drawn)
            for drawn in range(most + 1, people + 1)
        ),
        Fraction(0),
    )


def least_size(epsilon: str, delta: str, beta: Fraction, people: int) -> int:
    """Return the smallest k with no excess of delta, looking at classes of up to ``people``."""
    wanted = Fraction(delta)
    excesses = [excess(n, Decimal(epsilon), beta) for n in range(people + 1)]
    share = gamma(Decimal(epsilon), beta)[0]
    k = 1
    while any(e >= wanted for e in excesses[math.ceil(k / share - 1) :]):
        k += 1
    return k
