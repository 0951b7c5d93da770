"""Counts of the target by category among inner records, for hierarchies that merge by target."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbt_anonymize.errors import HierarchyError, SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, kind_of
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal, is_amount
from dbt_anonymize.extensions.drafting.subjects import propose_subject
from dbt_anonymize.extensions.hierarchy_builders.by_target import TargetCounts, merge_by_target
from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Defaults of drafts.
OUTER_SHARE, RANDOM_STATE, K = 0.2, 1, 5


@dataclass(frozen=True)
class Inner:
    """The inner records of a relation that have a target.

    ``person`` is the column by which outer records are drawn: subject or record key.
    """

    warehouse: Warehouse
    relation: Any
    target: str
    person: str
    share: float = OUTER_SHARE
    random_state: int = RANDOM_STATE

    @property
    def sql(self) -> str:
        """SQL of the inner records, for a ``from``."""
        outer = self.warehouse.macro(
            "is_outer",
            person=quote_name(self.person),
            share=self.share,
            random_state=self.random_state,
        )
        known = f"{quote_name(self.target)} is not null"
        return f"(select * from {self.relation} where {known} and not {outer}) as inner_records"  # noqa: S608 (quoted)

    def merge(
        self, column: str, records: dict[str, int], *, k: int = K
    ) -> tuple[CategoricalHierarchy, str]:
        """Return the hierarchy of a column, and the arguments of its command."""
        is_number = self._is_amount()
        text = self.warehouse.macro("_as_text", expression=quote_name(column))
        people = f"count(distinct {quote_name(self.person)})"
        source = f"from {self.sql} where {quote_name(column)} is not null"
        subjects = self.warehouse.rows(f"select {text}, {people} {source} group by 1")
        sums = self._numbers(text, source) if is_number else self._classes(text, source)
        counts_of_target = {
            str(value): TargetCounts(int(count), sums[str(value)]) for value, count in subjects
        }
        tree = merge_by_target(records, counts_of_target, k=k, is_amount=is_number)
        options = {"predict": self.target, "person": self.person}
        command_options = (f" --{option} {shlex.quote(name)}" for option, name in options.items())
        return tree, f"by-target{''.join(command_options)}"

    def _is_amount(self) -> bool:
        """Tell whether the target is a number by its inner records."""
        types = dict(self.warehouse.columns(self.relation))
        kind = types[self.target]
        ((distinct,),) = self.warehouse.rows(
            f"select count(distinct {quote_name(self.target)}) from {self.sql}"  # noqa: S608 (quoted)
        )
        return is_amount(ColumnFacts(self.target, kind, kind_of(kind), 0, 0, int(distinct)))

    def _numbers(self, text: str, source: str) -> dict[str, tuple[float, ...]]:
        number = f"cast({quote_name(self.target)} as {self.warehouse.macro('_type_double')})"
        rows = self.warehouse.rows(f"select {text}, count(*), sum({number}) {source} group by 1")
        totals: dict[str, tuple[float, ...]] = {
            str(value): (float(count), float(total)) for value, count, total in rows
        }
        if not np.isfinite([total for _, total in totals.values()]).all():
            raise HierarchyError(
                f"{self.target}: must hold finite numbers; some are not. Make them NULL in a model "
                "before."
            )
        return totals

    def _classes(self, text: str, source: str) -> dict[str, tuple[float, ...]]:
        label_sql = self.warehouse.macro("_as_text", expression=quote_name(self.target))
        rows = self.warehouse.rows(f"select {text}, {label_sql}, count(*) {source} group by 1, 2")
        positions = {
            label: place for place, label in enumerate(sorted({str(row[1]) for row in rows}))
        }
        counts_by_value: dict[str, list[float]] = {}
        for value, label, count in rows:
            counts_by_value.setdefault(str(value), [0.0] * len(positions))[
                positions[str(label)]
            ] = float(count)
        return {value: tuple(counts) for value, counts in counts_by_value.items()}


def find_inner(warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal]) -> Inner:
    """Return the inner records by the roles of a draft; a missing key is a `SpecError`."""
    target = next(proposal.name for proposal in proposals if proposal.is_target)
    key = next((proposal for proposal in proposals if proposal.role == KEY), None)
    person = propose_subject(proposals) or key
    if person is None:
        raise SpecError(
            "--categories target needs a record key or a subject, by which outer records are "
            "drawn; there is none. Add a unique column in a model, such as row_number()."
        )
    return Inner(warehouse, relation, target, person.name)


def find_inner_by_name(
    column: TableColumn, predict: str, person: str, *, share: float, random_state: int
) -> Inner:
    """Return the inner records of the relation of a column, by the names of other columns."""
    if not 0 < share < 1:
        raise HierarchyError(
            f"--outer-share must be a number between 0 and 1; got {share}. Write that of the spec."
        )
    table = column.warehouse, column.relation
    target, person_column = (TableColumn.find(*table, name).name for name in (predict, person))
    return Inner(*table, target, person_column, share=share, random_state=random_state)
