"""k-anonymity: see ``docs/models/k_anonymity.md``."""

from __future__ import annotations

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import K, PrivacyModel, Weakest


class KAnonymity(PrivacyModel):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    WEAKEST = (Weakest("k", 1, 1),)
    PROMISE = (
        "Each released record is one of at least {k}{people} with the same generalized values."
    )
    JUDGES_PARTS = True
    READS_SIZES_ALONE = True

    k: K
    """Fewest people in a class of the release."""

    @property
    def least_people(self) -> int:
        """Fewest people of a class."""
        return self.k

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        compiler.require_size(self.k)
