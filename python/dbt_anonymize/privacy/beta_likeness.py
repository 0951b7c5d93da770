"""beta-likeness: see ``docs/models/beta_likeness.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Positive, Shares, Weakest
from dbt_anonymize.privacy.table import Table


class BetaLikeness(AttributeModel):
    """No value gains more than beta, relative to its share in the whole table, in any class."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "beta": (
            "largest relative gain of a value over its share in the whole table (basic beta-"
            "likeness)"
        ),
        "enhanced_beta": (
            "largest excess of a value's relative gain over the bound of enhanced beta-likeness; "
            "at most 0 where it holds"
        ),
    }
    COMPARES_WITH_TABLE = True
    MAY_DIFFER_BY_EFFORT = True
    JUDGES_PARTS = True

    beta: Positive
    """Largest gain of a value: its share in a class, relative to that in the whole table, minus 1.
    """
    variant: Literal["basic", "enhanced"] = "enhanced"
    """enhanced limits the gain of frequent values more."""

    @property
    def measured(self) -> Sequence[str]:
        """Measures that these parameters need."""
        return ("beta",) if self.variant == "basic" else ("enhanced_beta",)

    def share_bound(self, shares: Shares) -> float:
        """Return (1 + beta) P, or (1 + min(beta, -ln P)) P, which grows with P."""
        most = math.inf if self.variant == "basic" else -math.log(shares.largest)
        return (1 + min(self.beta, most)) * shares.largest

    def _compile(self, compiler: Compiler, position: int) -> None:
        p, beta = compiler.global_shares(position), float(self.beta)
        if self.variant == "basic":
            limit = beta * (1.0 + TOLERANCE)
            compiler.add_rule(3, position, lambda values: distances.beta_gain(values, p) > limit)
        else:
            compiler.add_rule(
                3,
                position,
                lambda values: distances.enhanced_beta_excess(values, p, beta) > TOLERANCE,
            )
        compiler.declare_convex()

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters that an infeasible declaration may weaken."""
        return [Weakest("beta", table.total, 1000)]
