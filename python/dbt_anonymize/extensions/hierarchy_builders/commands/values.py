"""Source of the values of a hierarchy: a CSV file, or a relation."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbt_anonymize.cli.common import ProfilesDir, Quiet
from dbt_anonymize.cli.place import Place, ProjectDir, Target, with_options_of
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.seed_csv import read_rows
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from datetime import date

    from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn

MaybeDataFile = Annotated[Path | None, typer.Option("--from", help="CSV file with a header row.")]
MaybeColumn = Annotated[str | None, typer.Option(help="Column that holds the values.")]
Ref = Annotated[str | None, typer.Option(help="Instead of a file: a model or seed.")]
SourceTable = Annotated[
    str | None, typer.Option(help="Or: a dbt source, as source_name.table_name.")
]


@dataclass(frozen=True)
class Values:
    """Values of a column."""

    file: Path | None
    column: str | None
    ref: str | None
    source: str | None
    place: Place

    @property
    def is_given(self) -> bool:
        """Tell whether a column and its file or relation are given."""
        return self.column is not None and self.count == 1

    @property
    def is_absent(self) -> bool:
        """Tell whether neither file, relation nor column is given."""
        return self.column is None and not self.count

    @property
    def count(self) -> int:
        """Number of places that are named; one is right."""
        return sum(place is not None for place in (self.file, self.ref, self.source))

    @property
    def is_table(self) -> bool:
        """Tell whether the values are those of a relation."""
        return self.is_given and self.file is None

    def all(self) -> list[str]:
        """Return the values, each as often as it occurs, those of a relation in order."""
        column = self._required()
        if self.file is not None:
            return read_column(self.file, column)
        with self.table() as table:
            return table.values()

    def distinct(self) -> list[str]:
        """Return each value once, those of a file in its order."""
        return list(self.counts())

    def counts(self) -> dict[str, int]:
        """Return the records of each value, those of a file in its order."""
        column = self._required()
        if self.file is not None:
            return Counter(read_column(self.file, column))
        with self.table() as table:
            return table.counts()

    def number_ends(self) -> tuple[Decimal, Decimal]:
        """Return smallest and largest number of a relation."""
        with self.table() as table:
            return table.number_ends()

    def date_ends(self) -> tuple[date, date]:
        """Return first and last day of a relation, widened to whole years."""
        with self.table() as table:
            return table.date_ends()

    @contextlib.contextmanager
    def table(self) -> Iterator[TableColumn]:
        """Open a column of a relation."""
        from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn  # noqa: PLC0415 (slow to import)

        column = self._required()
        with self.place.warehouse() as warehouse:
            yield TableColumn.find(warehouse, self._relation(warehouse), column)

    def _required(self) -> str:
        if not self.is_given or self.column is None:
            raise HierarchyError(
                "values must come from one place: --from, --ref or --source, with --column; got "
                f"{self.count} places. Name one."
            )
        return self.column

    def _relation(self, warehouse: Any) -> Any:
        if self.ref is not None:
            return warehouse.relation_of_ref(self.ref)
        name, _, table = (self.source or "").partition(".")
        if not name or not table:
            raise HierarchyError("--source must be source_name.table_name. Correct it.")
        return warehouse.relation_of_source(name, table)


def _from_anywhere(
    *,
    data: MaybeDataFile = None,
    column: MaybeColumn = None,
    ref: Ref = None,
    source: SourceTable = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> Values:
    return Values(data, column, ref, source, Place(project_dir, target, profiles_dir))


from_anywhere = with_options_of(_from_anywhere)
from_relation = with_options_of(_from_anywhere, without={"data"})


def read_column(path: Path, column: str) -> list[str]:
    """Return the cells of a column of a CSV file with a header; empty ones (NULL) are left out.

    A missing column, or a row with a wrong number of cells, is a `HierarchyError`.
    """
    rows = read_rows(path)
    header = rows[0].cells if rows else ()
    if column not in header:
        raise HierarchyError(
            f"{path} must have the column {column}; got: {', '.join(header) or 'no header'}. "
            "Correct --column."
        )
    position = header.index(column)
    short = [row.line for row in rows if len(row.cells) != len(header)]
    if short:
        raise HierarchyError(
            f"{path}: every row must have as many cells as the header; "
            f"got {pluralized(len(short), 'row')} of another length, the first on line {short[0]}. "
            "Correct the file."
        )
    return [row.cells[position] for row in rows[1:] if row.cells[position] != ""]
