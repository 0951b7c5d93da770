"""Keys of an effort that is a table of another tool, and of the spec that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field

from dbt_anonymize.validation import Levels, Source, Strict, rule_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dbt_anonymize.spec import Effort
    from dbt_anonymize.verify.finding import Finding
    from dbt_anonymize.verify.recomputation.tables import Tables

Limit = Annotated[float, Field(ge=0, le=1)]


class MeasuredLimits(Strict):
    """Largest measured risk of each attack with which the table of another tool is released."""

    singling_out: Limit
    """Values that exactly one person has."""
    linkability: Limit
    """Two halves of what is known of a person."""
    inference: Limit
    """Sensitive values of a person."""
    closest_record: Limit
    """Persons taken for members since a row is close to them."""

    @property
    def by_attack(self) -> dict[str, float]:
        """The limits by the names of the attacks in `<n>_measured_privacy`."""
        declared = self.model_dump()
        return {"attribute_inference": declared.pop("inference"), **declared}


class EffortKeys(Strict):
    """Keys of an effort that is a table of another tool; it has no others."""

    if TYPE_CHECKING:
        levels: Levels | None

    relation: Source | None = None
    """Table that another tool anonymized or synthesized, with the columns of the release and no
    record key.
    """
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=63)] | None = None
    """Name of the tool in results; that of the relation by default."""

    def check_form(self) -> None:
        """Raise the error of keys that do not fit a table of another tool."""
        if self.relation is None:
            if self.name is not None:
                raise rule_error("must have a name only beside relation", "Remove it.")
            cast(Any, super()).check_form()
            return
        others = self.model_dump(exclude_defaults=True, exclude={"relation", "name"})
        if others:
            raise rule_error(
                f"must have nothing beside relation and name: its rows are taken as they are; "
                f"got {', '.join(others)}",
                "Remove it, or let the other tool do it.",
            )

    @property
    def is_external(self) -> bool:
        """Tell whether another tool made the rows."""
        return self.relation is not None

    @property
    def shown_name(self) -> str:
        """Name of the tool in results."""
        return self.name or (self.relation.name if self.relation else "")

    @property
    def way(self) -> str:
        """The recoding where no levels are declared, in words."""
        if self.relation is None:
            return str(cast(Any, super()).way)
        return f"the table {self.shown_name} of another tool, without formal guarantee"

    @property
    def shown_levels(self) -> str:
        """The levels in the order of the quasi-identifiers, or the name of the tool."""
        return self.shown_name if self.is_external else str(cast(Any, super()).shown_levels)


class Keys(Strict):
    """Keys of the spec."""

    if TYPE_CHECKING:
        efforts: tuple[Effort, ...]
        largest_k: int

    measured_limits: MeasuredLimits | None = None
    """Largest measured risks with which the table of another tool is released; without them it only
    competes.
    """

    @property
    def numbered_efforts(self) -> dict[int, Effort]:
        """Each effort of our own by its number, the untouched baseline (effort 0) included."""
        declared: dict[int, Effort] = cast(Any, super()).numbered_efforts
        return {n: effort for n, effort in declared.items() if not cast(Any, effort).is_external}

    @property
    def external_efforts(self) -> dict[int, Effort]:
        """Each table of another tool by its number."""
        declared: dict[int, Effort] = cast(Any, super()).numbered_efforts
        return {n: effort for n, effort in declared.items() if cast(Any, effort).is_external}

    @property
    def built_efforts(self) -> dict[int, Effort]:
        """Every effort with a relation of its own, by number."""
        return dict(sorted({**self.numbered_efforts, **self.external_efforts}.items()))

    @property
    def judged_privacy(self) -> str:
        """Relation that says which efforts keep their guarantees, or the measured limits."""
        own = str(cast(Any, super()).judged_privacy)
        return "compared_privacy" if self.external_efforts else own

    @property
    def is_chosen_by_outer(self) -> bool:
        """Tell whether the outer records decide: nobody else is unknown to a foreign table."""
        return bool(self.external_efforts)

    def findings_of_external(self, tables: Tables, number: int) -> Iterator[Finding]:
        """Yield what `verify` finds of the release of a table of another tool."""
        from dbt_anonymize.extensions.external_efforts.check import (  # noqa: PLC0415 (a cycle)
            findings,
        )

        return findings(tables, cast(Any, self), number)
