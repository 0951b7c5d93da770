"""Keys of a spec whose source is the subjects of linked tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast

from pydantic import Field, model_validator

from dbt_anonymize.validation import (
    ColumnName,
    ColumnNames,
    Hierarchy,
    Levels,
    Source,
    Strict,
    generalized_columns,
    rule_error,
)

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec

# A record of a subject, in which its key is that of the subject.
SUBJECTS = "subjects"
TOKEN = "token"  # noqa: S105 (the name of a column)
_KEPT = ("sensitive", "insensitive")

TableName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=30)]


class LinkedColumn(Strict):
    """Role and hierarchy of a column of a linked table."""

    role: Literal["quasi_identifier", "sensitive", "insensitive", "dropped"]
    """quasi_identifier: what somebody may know of a record, released generalized; sensitive and
    insensitive: released as they are; dropped: read by nothing, as what names a person.
    """
    hierarchy: Hierarchy | None = None
    """Generalization of a quasi-identifier."""
    free_text: Literal["accepted"] | None = None
    """accepted: release texts that look like prose as they are."""
    unique: Literal["accepted"] | None = None
    """accepted: release a column in which nearly every record has a value of its own."""

    @model_validator(mode="after")
    def _has_a_hierarchy_where_generalized(self) -> Self:
        is_generalized = self.role == "quasi_identifier"
        if is_generalized and self.hierarchy is None:
            raise rule_error(
                "must have a hierarchy: a quasi-identifier is released generalized",
                "Add hierarchy: {ref: ..., kind: interval or categorical}.",
            )
        beside: dict[str, object] = {} if is_generalized else {"hierarchy": self.hierarchy}
        if self.role not in _KEPT:
            beside |= {"free_text": self.free_text, "unique": self.unique}
        if wrong := [key for key, value in beside.items() if value]:
            raise rule_error(f"must not have {wrong[0]} with the role {self.role}", "Remove it.")
        return self


class LinkedTable(Strict):
    """A table whose records lead to subjects."""

    source: Source
    """The table."""
    key: ColumnName
    """Column that is unique and never NULL; the release has a new one in its place."""
    to_subject: ColumnName | Annotated[dict[TableName, ColumnName], Field(min_length=1)]
    """Column with the record key of the subject, or one such column by the name of another table.
    """
    columns: Annotated[dict[ColumnName, LinkedColumn], Field(min_length=1)]
    """Every other column, with its role."""
    suppression_limit: Annotated[float, Field(ge=0, le=1)] | None = None
    """Largest share of its records that may be hidden or left out; that of the spec by default."""

    @property
    def over(self) -> str:
        """Name of the table that it leads over; `SUBJECTS` if none."""
        return next(iter(self.to_subject)) if isinstance(self.to_subject, Mapping) else SUBJECTS

    @property
    def parent(self) -> str:
        """Column that leads to the subject, or to the record of another table."""
        to = self.to_subject
        return next(iter(to.values())) if isinstance(to, Mapping) else to

    @property
    def released_parent(self) -> str:
        """Column of the release that leads there."""
        return TOKEN if self.over == SUBJECTS else released_key(self.over)

    @property
    def quasi_identifiers(self) -> dict[str, Hierarchy]:
        """Hierarchy of each quasi-identifier, in declared order."""
        columns = self.columns.items()
        return {
            name: column.hierarchy
            for name, column in columns
            if column.role == "quasi_identifier" and column.hierarchy is not None
        }

    @property
    def generalized_columns(self) -> list[str]:
        """Released columns of quasi-identifiers: labels, and bounds of intervals."""
        return generalized_columns(self.quasi_identifiers)

    @property
    def kept_columns(self) -> list[str]:
        """Columns that are released as they are."""
        return [name for name, column in self.columns.items() if column.role in _KEPT]

    @property
    def sensitive(self) -> list[str]:
        """Columns of which nobody is to learn a value."""
        return [name for name, column in self.columns.items() if column.role == "sensitive"]

    def accepted(self, name: Literal["free_text", "unique"]) -> list[str]:
        """Return the columns in which texts, or values that are nearly unique, are accepted."""
        return [column for column, declared in self.columns.items() if getattr(declared, name)]

    @property
    def dropped(self) -> list[str]:
        """Columns that nothing reads."""
        return [name for name, column in self.columns.items() if column.role == "dropped"]


class LinkedFeatures(Strict):
    """Aggregates of the records of a subject in one table, of which models learn."""

    count: bool = False
    """Number of her records."""
    mean: ColumnNames = ()
    """Mean of each of these numbers, which are released as they are."""
    any: dict[ColumnName, Annotated[tuple[str, ...], Field(min_length=1, strict=False)]] = Field(
        default_factory=dict
    )
    """1 if one of her records has one of these labels, of any level, in a quasi-identifier."""


class Linked(Strict):
    """Tables around the subjects, and what an attacker knows of them."""

    tables: Annotated[dict[TableName, LinkedTable], Field(min_length=1)]
    """The tables by name."""
    known_records: Annotated[int, Field(ge=1, le=5)] | Literal["all"] = 2
    """Most records of a subject that an attacker knows, or all of them."""
    known_count: bool = False
    """An attacker knows how many records she has in each table."""
    l: Annotated[int, Field(ge=2)] | None = None  # noqa: E741 (the name of the model)
    """Of those who match, no more than a share of 1 / l have the same sensitive value."""
    features: dict[TableName, LinkedFeatures] = Field(default_factory=dict)
    """Aggregates of records by table, as further features of models."""

    def features_of(self, table: str) -> list[dict[str, Any]]:
        """Return name, aggregate and argument of each feature of the records of a table."""
        declared = self.features.get(table, LinkedFeatures())
        features: list[dict[str, Any]] = []
        if declared.count:
            features.append({"name": f"{table}_count", "aggregate": "count"})
        for column in declared.mean:
            name = f"{table}_mean_{column}"
            features.append({"name": name, "aggregate": "mean", "column": column})
        for column, labels in declared.any.items():
            name = f"{table}_any_{column}"
            features.append(
                {"name": name, "aggregate": "any", "labelled": column, "labels": [*labels]}
            )
        return features


class EffortKeys(Strict):
    """Keys of an effort."""

    linked: dict[str, Levels] | None = None
    """Level of each quasi-identifier of each linked table."""

    @property
    def levels_beside(self) -> dict[str, int]:
        """The level of each quasi-identifier of linked tables, by both names."""
        return {
            f"{table}.{name}": level
            for table, levels in (self.linked or {}).items()
            for name, level in levels.items()
        }

    def levels_shown_beside(self, trees: Mapping[str, Hierarchy]) -> dict[str, list[int]]:
        """Return the level of each such quasi-identifier, and that of raised records above it."""
        return {
            name: sorted({level, min(level + 1, trees[name].levels)})
            for name, level in self.levels_beside.items()
        }


class Keys(Strict):
    """Keys of the spec."""

    if TYPE_CHECKING:
        name: str
        suppression_limit: float

    linked: Linked | None = None
    """Tables of which a person has several records each, such as orders or stays; the release holds
    them all.
    """

    @property
    def linked_tables(self) -> dict[str, LinkedTable]:
        """The linked tables, each behind that which it leads over."""
        declared = dict(self.linked.tables) if self.linked else {}
        ordered: dict[str, LinkedTable] = {}
        while ready := [n for n, one in declared.items() if one.over in {SUBJECTS, *ordered}]:
            ordered |= {name: declared.pop(name) for name in ready}
        return ordered

    @property
    def linked_features(self) -> dict[str, str]:
        """Table and aggregate of each feature of linked records, in words."""
        return {
            feature["name"]: f"{feature['aggregate']} of {table}"
            for table in self.linked_tables
            for feature in (self.linked.features_of(table) if self.linked else ())
        }

    @property
    def most_sensitive(self) -> int:
        """Most sensitive columns of a linked table, where no value may be told."""
        tables = self.linked_tables.values() if self.linked and self.linked.l else ()
        return max((len(table.sensitive) for table in tables), default=0)

    def limit_of(self, table: str) -> float:
        """Return the largest share of the records of a linked table that may be lost."""
        declared = self.linked_tables[table].suppression_limit
        return self.suppression_limit if declared is None else declared

    @property
    def trees_beside(self) -> dict[str, Hierarchy]:
        """The hierarchy of each quasi-identifier of linked tables, by both names."""
        return {
            f"{table}.{name}": tree
            for table, declared in self.linked_tables.items()
            for name, tree in declared.quasi_identifiers.items()
        }

    @property
    def judged_privacy(self) -> str:
        """Relation that says which efforts keep guarantees, and limits of linked records."""
        return "linked_privacy" if self.linked else str(cast(Any, super()).judged_privacy)

    @property
    def judged_loss(self) -> str:
        """Relation with the loss of all tables, by which an effort is chosen without models."""
        return "linked_information_loss" if self.linked else str(cast(Any, super()).judged_loss)

    @property
    def kept_beside(self) -> list[str]:
        """Columns of linked tables that are released as they are, by both names."""
        tables = self.linked_tables.items()
        return [f"{table}.{name}" for table, declared in tables for name in declared.kept_columns]

    @property
    def tables_beside(self) -> dict[str, list[str]]:
        """Models that are published with the release, as tables of its file, with their columns."""
        inherited: dict[str, list[str]] = dict(cast(Any, super()).tables_beside)
        tables = self.linked_tables.items()
        return inherited | {
            f"{self.name}_released_{name}": released_columns(name, table) for name, table in tables
        }

    @property
    def composition_beside(self) -> Mapping[str, Any] | None:
        """The function that compares linked tables with those that are published."""
        if self.linked is None:
            return cast("Mapping[str, Any] | None", cast(Any, super()).composition_beside)
        tables = self.linked_tables.items()
        people = {
            "name": SUBJECTS,
            "relation": f"{self.name}_anonymized",
            # An earlier release may have columns that are `*` in every effort of this one.
            "columns": [*cast(Any, self).generalized_columns],
        }
        return {
            "module": "dbt_anonymize.extensions.linked.composition",
            "function": "compare",
            "declared": {
                "known_records": self.linked.known_records,
                "known_count": self.linked.known_count,
                "tables": [
                    people,
                    *(
                        {
                            "name": name,
                            "relation": f"{self.name}_released_{name}",
                            "columns": table.generalized_columns,
                            "over": table.over,
                            "parent": table.released_parent,
                        }
                        for name, table in tables
                    ),
                ],
            },
        }

    @property
    def read_beside(self) -> list[str]:
        """Models and seeds beside the microdata, whose rows steps in Python read."""
        inherited: list[str] = list(cast(Any, super()).read_beside)
        models = [f"{self.name}_linked_table_{table}" for table in self.linked_tables]
        return inherited + models + [tree.ref for tree in self.trees_beside.values()]

    @property
    def obstacles(self) -> list[str]:
        """Models whose ``problem`` says why nothing may be published."""
        inherited: list[str] = list(cast(Any, super()).obstacles)
        return inherited + ([f"{self.name}_linked_risk"] if self.linked else [])

    @property
    def other_sources_of_people(self) -> list[tuple[Source, str]]:
        """Sources of linked tables that lead to a person, with the column that does."""
        inherited: list[tuple[Source, str]] = list(cast(Any, super()).other_sources_of_people)
        tables = self.linked_tables.values()
        return inherited + [(one.source, one.parent) for one in tables if one.over == SUBJECTS]

    @property
    def renews_tokens(self) -> bool:
        """Tell whether each build draws new tokens: releases of linked tables do not join."""
        return self.linked is not None


def released_key(table: str) -> str:
    """Return the name of the new key of a linked table."""
    return f"{table}_key"


def released_columns(name: str, table: LinkedTable) -> list[str]:
    """Return all columns of a released linked table, in order."""
    keys = [released_key(name), table.released_parent]
    return [*keys, *table.generalized_columns, *table.kept_columns]


def keys_of(spec: Spec) -> Keys:
    """Return a spec with the keys that linked tables add to it."""
    return cast(Keys, spec)
