"""k-anonymity: see ``docs/models/k_anonymity.md``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbt_anonymize.privacy.model import K, PrivacyModel, Weakest

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import Table


class KAnonymity(PrivacyModel):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    k: K

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        compiler.require_size(self.k)

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return what an infeasible declaration may weaken."""
        return [Weakest("k", 1, 1)]
