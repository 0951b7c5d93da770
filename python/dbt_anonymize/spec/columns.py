"""Columns of a spec: role, hierarchy, mask."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from dbt_anonymize.extension import Part, keys
from dbt_anonymize.spec.masks import Mask, check_mask
from dbt_anonymize.validation import ColumnNames, Hierarchy, Strict, rule_error

Role = Literal["identifier", "quasi_identifier", "sensitive", "insensitive", "masked", "dropped"]


def _type_name(value: object) -> object:
    if isinstance(value, str) and not _TYPE_NAME.fullmatch(value):
        raise rule_error(
            "must be the name of a type",
            "Write it as the warehouse does, for example decimal(9, 2).",
        )
    return value


# It becomes SQL as it is: words, and numbers in brackets.
_TYPE_NAME = re.compile(r"[A-Za-z_]\w*( \w+)*( ?\(\d+(, ?\d+)*\))?( \w+)*(\[\])*", re.ASCII)
DataType = Annotated[str, Field(max_length=100), BeforeValidator(_type_name)]


class CoreColumn(Strict):
    """Role, hierarchy and mask of a column, but for the keys of extensions."""

    role: Role
    """identifier: vault only; quasi_identifier: released generalized; sensitive and insensitive:
    released as they are; masked: only a mask of it is released; dropped: read by nothing.
    """
    hierarchy: Hierarchy | None = None
    """Generalization of values; of a sensitive column, the measure of their nearness."""
    mask: Mask | None = None
    """Mask that is released instead of the values of the column."""
    data_type: DataType | None = None
    """Type of the values in the warehouse, of an interval quasi-identifier that of its bounds.
    Declared for all released columns, they are the contract of the release.
    """
    free_text: Literal["accepted"] | None = None
    """accepted: release texts that look like prose as they are."""
    unique: Literal["accepted"] | None = None
    """accepted: release a column in which nearly every record has a value of its own; without it,
    builds warn.
    """
    repeats: Literal["accepted"] | None = None
    """accepted: several people share a value of this identifier, as they do a surname; without it,
    builds warn where it repeats and there is no subject.
    """
    weight: Annotated[float, Field(gt=0)] | None = None
    """Weight of a loss in this quasi-identifier, relative to the others; 1 by default."""
    derived_from: ColumnNames = ()
    """Identifiers, record key or quasi-identifiers that the column may be made of upstream of the
    source.
    """

    @model_validator(mode="after")
    def _mask_where_released(self) -> Self:
        check_mask(self.role, self.mask)
        if self.free_text and (self.mask or self.role not in {"sensitive", "insensitive"}):
            raise rule_error(
                "must accept free text only of a column that is released as it is", "Remove it."
            )
        return self

    @model_validator(mode="after")
    def _accepted_where_it_occurs(self) -> Self:
        if self.unique and self.role not in {"sensitive", "insensitive", "masked"}:
            raise rule_error("must accept unique values only of a released column", "Remove it.")
        if self.repeats and self.role not in {"identifier", "masked"}:
            raise rule_error("must accept repeated values only of an identifier", "Remove it.")
        return self

    @model_validator(mode="after")
    def _hierarchy_where_generalized(self) -> Self:
        if self.role == "quasi_identifier" and self.hierarchy is None:
            raise rule_error(
                "must have a hierarchy: a quasi-identifier is released generalized",
                "Add hierarchy: {ref: ..., kind: interval or categorical}.",
            )
        if self.role not in {"quasi_identifier", "sensitive"} and self.hierarchy is not None:
            raise rule_error(
                f"must not have a hierarchy: columns of role {self.role} are not generalized",
                "Remove the hierarchy, or make the role quasi_identifier.",
            )
        if self.role == "sensitive" and self.hierarchy is not None:
            if self.hierarchy.kind != "categorical":
                raise rule_error(
                    "must have a categorical hierarchy: that of a sensitive column says how near "
                    "its values are to each other (t_closeness)",
                    "Change kind to categorical, or remove the hierarchy.",
                )
            if self.hierarchy.unknown:
                raise rule_error(
                    "must not have a hierarchy with unknown: a sensitive value is released as it "
                    "is, and one that the hierarchy does not hold is like no other",
                    "Remove unknown.",
                )
        if self.role != "quasi_identifier" and self.weight is not None:
            raise rule_error(
                "must not have a weight: only what is generalized can lose information",
                "Remove it.",
            )
        return self


if TYPE_CHECKING:
    Column = CoreColumn
else:

    class Column(*keys(Part.column), CoreColumn):
        """Role, hierarchy and mask of a column."""
