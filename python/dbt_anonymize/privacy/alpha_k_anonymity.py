"""(alpha, k)-anonymity: see ``docs/models/alpha_k_anonymity.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.model import K, PrivacyModel, Share, Weakest
from dbt_anonymize.validation import ColumnName

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import Table


class AlphaKAnonymity(PrivacyModel):
    """No value of the attribute is more frequent than alpha in any class of at least k people."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "highest_share": "share of the most frequent value (alpha-k-anonymity)",
        "limited_share": "share of the most frequent of the limited values (alpha-k-anonymity)",
    }

    attribute: ColumnName
    alpha: Share
    k: K
    values: Annotated[tuple[str | int | bool, ...], Field(min_length=1, strict=False)] | None = None

    @property
    def measured(self) -> Sequence[str]:
        """Return which of the measures these parameters need."""
        return ("highest_share",) if self.values is None else ("limited_share",)

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        compiler.require_size(self.k)
        position = compiler.position(self.attribute)
        if position is None:
            return
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

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return what an infeasible declaration may weaken."""
        return [Weakest("alpha", 1, 1000), Weakest("k", 1, 1)]
