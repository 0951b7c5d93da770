"""Rates of guesses that come true, and what a release adds to them.

An attacker makes the same guesses about people who are in a release (*main*) and about people who
are not (*control*); the *naive* one guesses without it. The control shows what holds for people in
general; the excess is due to being in the release (Giomi et al. 2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module

from dbt_anonymize.extensions.attacks.result import AttackResult


@dataclass(frozen=True)
class Rate:
    """Share of guesses that came true; there is at least one guess."""

    successes: int
    guesses: int

    @property
    def share(self) -> float:
        """The rate itself."""
        return self.successes / self.guesses

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of Wilson (1927).

        Examples
        --------
        >>> [round(end, 4) for end in Rate(0, 10).interval]
        [0.0, 0.2775]
        """
        # Imported here: scipy takes a while, and few commands need it.
        binomtest = import_module("scipy.stats").binomtest
        low, high = binomtest(self.successes, self.guesses).proportion_ci(method="wilson")
        return float(low), float(high)


def excess(main: float, control: float) -> float:
    """Return (main - control) / (1 - control); 0 where the control is 1.

    It is at most 1, and negative where others are guessed better.

    Examples
    --------
    >>> round(excess(0.7, 0.4), 6), excess(1.0, 1.0)
    (0.5, 0.0)
    """
    return 0.0 if control >= 1 else (main - control) / (1 - control)


def excess_interval(main: Rate, control: Rate) -> tuple[float, float]:
    """Return an interval of the excess from those of both rates (Newcombe 1998, method 10).

    Examples
    --------
    >>> [round(end, 2) for end in excess_interval(Rate(70, 100), Rate(40, 100))]
    [0.27, 0.7]
    """
    (main_lower, main_upper), (lower, upper) = main.interval, control.interval
    difference = main.share - control.share
    below = math.hypot(main.share - main_lower, upper - control.share)
    above = math.hypot(main_upper - main.share, control.share - lower)
    if control.share >= 1:
        return 0.0, 0.0
    rest = 1 - control.share
    return (difference - below) / rest, min(1.0, (difference + above) / rest)


def with_rates(result: AttackResult, main: Rate, control: Rate, naive: Rate) -> AttackResult:
    """Return a result with its rates, their intervals, the risk and the number of guesses."""
    risk_lower, risk_upper = excess_interval(main, control)
    return replace(
        result,
        main=main.share,
        main_lower=main.interval[0],
        main_upper=main.interval[1],
        control=control.share,
        control_lower=control.interval[0],
        control_upper=control.interval[1],
        naive=naive.share,
        naive_lower=naive.interval[0],
        naive_upper=naive.interval[1],
        risk=excess(main.share, control.share),
        risk_lower=risk_lower,
        risk_upper=risk_upper,
        guesses=main.guesses,
        explanation=(
            f"{result.explanation} {main.share:.1%} of {main.guesses:,} guesses come true; about "
            f"people who were left out {control.share:.1%}, without the release {naive.share:.1%}."
        ),
    )
