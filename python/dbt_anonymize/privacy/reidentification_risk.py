"""Re-identification risk: see ``docs/models/reidentification_risk.md``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import model_validator

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import PrivacyModel, Probability, Weakest
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.validation import rule_error


class ReidentificationRisk(PrivacyModel):
    """The risk of finding the record of a person, on average or for the one at highest risk."""

    READS_SIZES_ALONE = True

    average: Probability | None = None
    """Largest average risk of all people of the release."""
    highest: Probability | None = None
    """Largest risk of any person of the release."""

    @model_validator(mode="after")
    def _something_is_limited(self) -> ReidentificationRisk:
        if self.average is None and self.highest is None:
            raise rule_error("must limit the average or the highest risk", "Add one of them.")
        return self

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        if (highest := self.highest) is not None:
            compiler.require_size(math.ceil(1.0 / highest - TOLERANCE))
        if (average := self.average) is not None:
            limit = average * (1.0 + TOLERANCE)
            compiler.release_rules.append(lambda sizes: len(sizes) <= limit * int(sizes.sum()))
            compiler.declare_size_based()

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters that an infeasible declaration may weaken."""
        limits = (("average", self.average), ("highest", self.highest))
        return [Weakest(name, 1, 1000) for name, limit in limits if limit is not None]
