"""(alpha, k)-anonymity: see ``docs/models/alpha_k_anonymity.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from dbt_anonymize.arrays import np
from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import AttributeModel, K, Share, Shares, Weakest


class AlphaKAnonymity(AttributeModel):
    """No value of the attribute is more frequent than alpha in any class of at least k people."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "highest_share": "share of the most frequent value (alpha-k-anonymity)",
        "limited_share": "share of the most frequent of the limited values (alpha-k-anonymity)",
    }
    WEAKEST = (Weakest("alpha", 1, 1000), Weakest("k", 1, 1))
    PROMISE = (
        "No group of {k} or more tells a value of {attribute} with a certainty above {alpha:.0%}."
    )
    JUDGES_PARTS = True

    alpha: Share
    """Largest share of one value in a class."""
    k: K
    """Fewest people in a class."""
    values: Annotated[tuple[str | int | bool, ...], Field(min_length=1, strict=False)] | None = None
    """Values that are limited; all by default."""

    @property
    def measured(self) -> Sequence[str]:
        """Measures that these parameters need."""
        return ("highest_share",) if self.values is None else ("limited_share",)

    @property
    def least_people(self) -> int:
        """Fewest people of a class."""
        return self.k

    def share_bound(self, shares: Shares) -> float | None:
        """Return alpha, where all values are limited."""
        return None if self.values else self.alpha

    def _compile(self, compiler: Compiler, position: int) -> None:
        compiler.require_size(self.k)
        limited = None
        if (codes := self.values) is not None:
            limited = np.zeros(compiler.table.sensitive[position][0].size, dtype=np.bool_)
            limited[[int(code) for code in codes]] = True
        # A share is one division of whole numbers: exact, as in SQL.
        limit = self.alpha
        compiler.add_rule(
            1, position, lambda values: distances.largest_share(values, limited) > limit
        )
        compiler.declare_convex()
