"""No profitable attack (Wan et al. 2015): see ``docs/extensions/payouts/no_attack.md``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import Positive, PrivacyModel, Weakest


class NoAttack(PrivacyModel):
    """Looking for a person costs an attacker at least what finding the person is worth."""

    WEAKEST = (Weakest("adversary_gain", 0, 1),)
    MAY_DIFFER_BY_EFFORT = True
    READS_SIZES_ALONE = True

    adversary_gain: Annotated[float, Field(ge=0)] = 300
    """Gain of an attacker from finding a person."""
    adversary_cost: Positive = 4
    """Cost of one attempt to the attacker."""
    attacker: Literal["prosecutor", "journalist"] = "prosecutor"
    """Knowledge of the attacker: that the person is in the table (prosecutor), or only in the
    population (journalist).
    """

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        size = size_without_attack(self.adversary_gain, self.adversary_cost)
        if self.attacker == "prosecutor":
            compiler.require_size(size)
            return
        if compiler.table.population is None:
            compiler.problem("needs the population for a journalist", "none", "Declare it")
        compiler.min_population = max(compiler.min_population, size)


def size_without_attack(gain: float, cost: float) -> int:
    """Return the smallest number of candidates n with gain / n <= cost; a tie is no attack.

    Numbers are taken as they are written, so that 0.3 / 0.1 is 3.

    Examples
    --------
    >>> size_without_attack(300, 4), size_without_attack(0.3, 0.1), size_without_attack(10, 4)
    (75, 3, 3)
    """
    return math.ceil(Fraction(repr(gain)) / Fraction(repr(cost)))
