"""delta-disclosure: see ``docs/models/delta_disclosure.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import Positive, PrivacyModel, Weakest
from dbt_anonymize.validation import ColumnName

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import Table


class DeltaDisclosure(PrivacyModel):
    """The share of no value changes by a factor of 2^delta or more in any class."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "delta": (
            "largest |log2| of the factor by which the share of a value changes (delta-"
            "disclosure); NULL stands for infinite: a value of the table is absent"
        ),
    }

    attribute: ColumnName
    delta: Positive

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        position = compiler.position(self.attribute)
        if position is None:
            return
        p, limit = compiler.global_shares(position), self.delta - TOLERANCE
        compiler.add_rule(3, position, lambda values: distances.delta_disclosed(values, p) >= limit)
        # An absent value violates, so each share is held between two bounds: this is convex too.
        compiler.declare_convex()

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return what an infeasible declaration may weaken."""
        return [Weakest("delta", 64, 1000)]
