"""k-anonymity: see ``docs/models/k_anonymity.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt_anonymize.privacy.model import K, PrivacyModel

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler


class KAnonymity(PrivacyModel):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    k: K

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        compiler.require_size(self.k)
