"""delta-disclosure: see ``docs/models/delta_disclosure.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Positive, Shares, Weakest


class DeltaDisclosure(AttributeModel):
    """The share of no value changes by a factor of 2^delta or more in any class."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "delta": (
            "largest |log2| of the factor by which the share of a value changes (delta-"
            "disclosure); NULL stands for infinite: a value of the table is absent"
        ),
    }
    WEAKEST = (Weakest("delta", 64, 1000),)
    COMPARES_WITH_TABLE = True
    MAY_DIFFER_BY_EFFORT = True
    JUDGES_PARTS = True

    delta: Positive
    """The share of a value in a class changes by a factor of less than 2^delta."""

    def share_bound(self, shares: Shares) -> float:
        """Return 2^delta P."""
        return float(2**self.delta) * shares.largest

    def _compile(self, compiler: Compiler, position: int) -> None:
        p, limit = compiler.global_shares(position), self.delta - TOLERANCE
        compiler.add_rule(
            3, position, lambda values: distances.delta_disclosure(values, p) >= limit
        )
        # An absent value violates, so each share is held between two bounds: this is convex too.
        compiler.declare_convex()
