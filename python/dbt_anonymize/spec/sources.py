"""The relations about people: the source, and the population."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from dbt_anonymize.validation import RelationName, Source, Strict, rule_error

__all__ = ["Population", "Source"]


class Population(Strict):
    """The people among whom an attacker looks: a relation, a number, or both."""

    ref: RelationName | None = None
    """A model or seed with one row per person and the same quasi-identifiers."""
    source: Annotated[tuple[RelationName, RelationName] | None, Field(strict=False)] = None
    """A dbt source with the same: [source_name, table_name]."""
    size: Annotated[int, Field(ge=1)] | None = None
    """Number of people, for estimates."""

    @model_validator(mode="after")
    def _says_something(self) -> Population:
        if self.ref is not None and self.source is not None:
            raise rule_error("must name at most one relation", "Remove ref or source.")
        if self.ref is None and self.source is None and self.size is None:
            raise rule_error(
                "must name a relation or a size", "Write {ref: model_or_seed} or {size: 83000000}."
            )
        return self

    @property
    def relation(self) -> Source | None:
        """The table of the population, with the same quasi-identifiers as the source."""
        if self.ref is None and self.source is None:
            return None
        return Source(ref=self.ref, source=self.source)
