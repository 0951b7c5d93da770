"""delta-presence: see ``docs/models/delta_presence.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import PrivacyModel, Weakest
from dbt_anonymize.validation import rule_error


class DeltaPresence(PrivacyModel):
    """Nobody learns with more certainty than declared who of the population is in the table."""

    WEAKEST = (Weakest("maximum", 1, 1000), Weakest("minimum", 0, 1000))

    minimum: Annotated[float, Field(ge=0, le=1)]
    """Smallest share of the population of a class that is in the table."""
    maximum: Annotated[float, Field(ge=0, le=1)]
    """Largest share of the population of a class that is in the table."""

    @model_validator(mode="after")
    def _is_a_range(self) -> DeltaPresence:
        if self.minimum > self.maximum:
            raise rule_error("must have minimum <= maximum", "Exchange them.")
        return self

    @classmethod
    def needed_population(cls, parameters: Mapping[str, Any]) -> Literal["table", "size"] | None:
        """Return the population data that the model needs."""
        return "table"

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        if compiler.table.population is None:
            compiler.problem("needs the population", "none", "Declare a population")
        compiler.presence.append((self.minimum, self.maximum))
        compiler.is_monotone_in_suppression = False
        if self.minimum > 0:
            # A class may be merged with people of the population only, which lowers its share.
            compiler.is_monotone_in_generalization = False
