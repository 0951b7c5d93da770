"""Differential privacy by sampling and k-anonymity.

See ``docs/extensions/differential_privacy.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import cache
from importlib import import_module
from typing import Annotated, Any

from pydantic import Field, computed_field, model_validator

from dbt_anonymize.arrays import np
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import Mechanism, Share
from dbt_anonymize.validation import rule_error

Epsilon = Annotated[float, Field(ge=0.001, le=5)]

# Draws are multiples of 1 / this, so a default beta is one, too.
_DRAWS = 2**52
_DIGITS = 60
# Above the relative rounding error of a binomial tail in double precision.
_ROUNDED_UP = 1 + 1e-9


class DifferentialPrivacy(Mechanism):
    """Nobody learns from the release whether a person was in the source.

    (epsilon, delta): whatever is released is at most exp(epsilon) times as likely with a person as
    without her, but for events of probability delta.
    """

    PROMISE = (
        "Whether a person was in the source changes what is released by a factor of at most "
        "e^{epsilon}, but for a chance of {delta}."
    )

    epsilon: Epsilon
    """Budget: one person makes a release likelier by a factor of at most exp(epsilon)."""
    delta: Share
    """Probability of the events that epsilon does not bound."""
    beta: Share | None = None
    """Probability of each person to be in the sample; by default the largest that epsilon allows.
    """
    draw: Annotated[int, Field(ge=1)] = 1
    """Seed of the sample: another number is another release, drawn and paid for by itself."""
    search_epsilon: Epsilon | None = None
    """Part of epsilon that a search for the levels may spend."""
    total_epsilon: Annotated[float, Field(gt=0)] | None = None
    """Limit of all releases of the source together; by default that of one."""
    total_delta: Share | None = None
    """Limit of all releases of the source together; by default that of one."""

    @model_validator(mode="before")
    @classmethod
    def _has_no_seed(cls, value: object) -> object:
        if isinstance(value, dict) and {"seed", "random_state"} & set(value):
            raise rule_error(
                "must not have a seed: whoever reads it knows who is in the sample",
                "Remove it; the operating system draws, and the vault keeps what was drawn.",
            )
        return value

    @model_validator(mode="after")
    def _can_be_kept(self) -> DifferentialPrivacy:
        if self.search_epsilon is not None and self.search_epsilon >= self.epsilon:
            raise rule_error(
                "must have search_epsilon < epsilon: the release needs the rest",
                "Lower search_epsilon.",
            )
        if self.beta is not None and self.beta > largest_beta(self.release_epsilon):
            raise rule_error(
                "must have a beta of at most 1 - exp(-epsilon), here "
                f"{largest_beta(self.release_epsilon):.6f} (epsilon without search_epsilon)",
                "Lower beta, or remove it.",
            )
        if (self.total_epsilon or math.inf) < self.epsilon or (self.total_delta or 1) < self.delta:
            raise rule_error(
                "must have totals of at least epsilon and delta: they limit all releases together",
                "Raise them, or remove them: then there is one release.",
            )
        return self

    @property
    def release_epsilon(self) -> float:
        """Budget (epsilon) of the release."""
        return float(Decimal(str(self.epsilon)) - Decimal(str(self.search_epsilon or 0)))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float:
        """Probability of each person to be in the sample."""
        return largest_beta(self.release_epsilon) if self.beta is None else self.beta

    @computed_field  # type: ignore[prop-decorator]
    @property
    def k(self) -> int:
        """Least people of the sample in each class."""
        return k_of(self.release_epsilon, self.delta, self.share)

    @property
    def least_people(self) -> int:
        """Fewest people of the sample in a class."""
        return self.k

    @property
    def facts(self) -> dict[str, str]:
        """Facts that `<n>_about` tells of the price."""
        return {"epsilon": f"{self.release_epsilon:g}", "delta": f"{self.delta:g}"}

    def digest(self, spec: Any) -> str:
        """Return a digest that identifies the mechanism; its draws are stored under it."""
        from dbt_anonymize.extensions.differential_privacy.mechanism import (  # noqa: PLC0415 (a cycle)
            mechanism_of,
        )

        return mechanism_of(spec, self)

    def budget(self, spec: Any) -> dict[str, object]:
        """Return the price, as the macros of the vault read it."""
        return {
            "source": spec.source.name,
            "epsilon": self.release_epsilon,
            "delta": self.delta,
            "total_epsilon": self.total_epsilon or self.epsilon,
            "total_delta": self.total_delta or self.delta,
            "mechanism": spec.mechanism,
            "share": self.share,
            "k": spec.largest_k,
            "draw": self.draw,
        }

    @classmethod
    def recounted_size(cls, parameters: Mapping[str, Any]) -> int:
        """Return the class size that `verify` demands, computed independently of `k`."""
        from dbt_anonymize.extensions.differential_privacy.recounted_size import (  # noqa: PLC0415
            private_size,
        )

        return private_size(parameters)

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        compiler.require_size(self.k)


def largest_beta(epsilon: float) -> float:
    """Return 1 - exp(-epsilon), rounded down to a probability that draws have exactly.

    Examples
    --------
    >>> round(largest_beta(1.0), 5)
    0.63212
    """
    with localcontext() as context:
        context.prec = _DIGITS
        share = 1 - (-Decimal(str(epsilon))).exp()
        return int((share * _DRAWS).to_integral_value(ROUND_FLOOR)) / _DRAWS


@cache
def k_of(epsilon: float, delta: float, beta: float) -> int:
    """Return the smallest k with which sampling and suppression are (epsilon, delta)-private.

    Li, Qardaji and Su: with gamma = 1 - (1 - beta) exp(-epsilon), the most that a class of n people
    of the source can exceed exp(epsilon) by is A(n), the probability that more than gamma n of them
    are drawn. A released class has at least k / gamma - 1; k is large enough if A(n) < delta for
    all such n. Decimals are taken as written: exp of a rational number is irrational, so gamma n is
    never a whole number, and its whole part is found with 60 digits where double precision cannot
    tell. Tails are rounded up.

    Parameters
    ----------
    epsilon, delta : float
        epsilon > 0, delta in (0, 1).
    beta : float
        In (0, 1 - exp(-epsilon)].

    References
    ----------
    .. [1] N. Li, W. Qardaji, D. Su, On sampling, anonymization, and differential privacy, 2012.
    .. [2] R. Bild, K. Kuhn, F. Prasser, SafePub, PoPETs 2018(1):67-87.

    Examples
    --------
    >>> k_of(1.0, 1e-4, largest_beta(1.0)), k_of(1.0, 1e-4, 0.316)
    (47, 14)
    """
    # Imported here: scipy takes a while, and few specs need it.
    tail = import_module("scipy.stats").binom.sf

    with localcontext() as context:
        context.prec = _DIGITS
        exact = 1 - (1 - Decimal(str(beta))) * (-Decimal(str(epsilon))).exp()
        gamma = float(exact)
        # From here on the bound of Chernoff is below delta.
        rate = gamma * math.log(gamma / beta) - (gamma - beta)
        people = np.arange(math.ceil(-math.log(delta) / rate) + 2)
        expected = people * gamma
        whole = np.floor(expected)
        for n in people[np.abs(expected - np.round(expected)) < 1e-9 * (1 + expected)]:
            whole[n] = int((exact * int(n)).to_integral_value(ROUND_FLOOR))
        tails = tail(whole, people, beta) * _ROUNDED_UP
        # The smallest class size from which on all are private, and its k.
        private = int(np.flatnonzero(np.append(delta, tails) >= delta)[-1])
        return int((exact * private).to_integral_value(ROUND_FLOOR)) + 1
