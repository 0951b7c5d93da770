"""k-anonymity: see ``docs/models/k_anonymity.md``."""

from __future__ import annotations

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import K, PrivacyModel, Weakest


class KAnonymity(PrivacyModel):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    WEAKEST = (Weakest("k", 1, 1),)

    k: K
    """Fewest people in a class of the release."""

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        compiler.require_size(self.k)
