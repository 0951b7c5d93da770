"""The report of a table: its efforts, and a picture of what is released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from dbt_anonymize.extensions.tables.picture import Picture
from dbt_anonymize.extensions.tables.register import RegisteredTable, read_table_register, said_of
from dbt_anonymize.extensions.tables.results import chosen_effort, read_results, released_rows
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.results import release_location
from dbt_anonymize.project.sections import Answer, Cell, Report, Section, number

if TYPE_CHECKING:
    from dbt_anonymize.extensions.tables.declared import Table
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

_LIMITS = (
    "It shows the released table and figures of its efforts: no true count of a hidden, perturbed "
    "or rounded cell, and no record."
)
_COLUMNS = {
    "effort": "effort",
    "protection": "protection",
    "cells": "cells",
    "hidden_cells": "hidden cells",
    "qf": "QF",
    "zero_rule": "zero rule",
    "qnf": "QNF",
    "q": "Q",
    "qualifies": "qualifies",
    "reason": "why",
}
_MEASURED = frozenset({"qf", "zero_rule", "qnf", "q"})
_ZERO_ANSWERS = {"share": "equal shares", "trend": "no change", "rank": "ties"}
# With more than one decimal they would tell hidden counts to whoever tries these out.
_OF_TRUE_COUNTS = frozenset({"qf", "zero_rule", "q"})


class TableFindings(NamedTuple):
    """All that a report of a table is made of; the picture is None where nothing is released."""

    spec: Spec
    efforts: list[dict[str, Any]]
    register: list[RegisteredTable]
    location: str | None
    picture: Picture | None

    @property
    def table(self) -> Table:
        """The declared table."""
        return cast("Table", cast(Any, self.spec).table)

    @property
    def chosen(self) -> Mapping[str, Any] | None:
        """The effort that the last build released; None where an earlier table stays."""
        return chosen_effort(self.efforts)


def report(warehouse: Warehouse, spec: Spec) -> Report:
    """Return what a report shows; a `WarehouseError` where nothing is built."""
    efforts = read_results(warehouse, spec.name)
    location = release_location(warehouse, spec.name)
    picture = None
    if location is not None:
        picture = Picture.of(*released_rows(warehouse, spec.name, Path(location)))
    register = read_table_register(warehouse, spec.name)
    return report_of(TableFindings(spec, efforts, register, location, picture))


def report_of(found: TableFindings) -> Report:
    """Return the report of findings."""
    pictures = [*found.picture.sections(), *found.picture.margins()] if found.picture else []
    return Report(
        found.spec,
        [
            Answer("What is released?", tuple(_release_sentences(found))),
            Answer("What does it promise?", tuple(_promises(found))),
            Answer("What does it cost?", tuple(_costs(found))),
            Answer("How is it chosen?", tuple(_choice(found))),
        ],
        sorted([*pictures, _efforts(found)], key=lambda part: not part.is_open),
        _LIMITS,
        _figures(found),
        alpha=found.table.alpha,
    )


def _release_sentences(found: TableFindings) -> Iterator[str]:
    picture, chosen = found.picture, found.chosen
    if picture is None:
        yield "Nothing: run `dbt build`." if chosen else "Nothing: no effort qualifies."
        return
    measures = f", with sums of {', '.join(picture.measures[1:])}" * (len(picture.measures) > 1)
    yield (
        f"Counts by {', '.join(picture.dimensions)}{measures}, and no records: "
        f"{pluralized(len(picture.cells), 'cell')}, {picture.hidden_cells or 'none'} of them "
        "hidden."
    )
    if meanings := picture.meanings:
        yield f"Labels stand for values, {', '.join(meanings)}."
    if picture.intervals:
        yield (
            f"Between which two counts each cell may be stands beside it, in columns that are not "
            f"drawn: {', '.join(picture.intervals)}."
        )
    if chosen is None:
        yield (
            "It is an earlier table, which stays: no effort of the last build may take its place. "
            "What follows about efforts was built and not released."
        )
    yield f"It lies in {found.location}."
    if said := said_of(found.register):
        yield f"Released {said}."


def _promises(found: TableFindings) -> Iterator[str]:
    method, most = _method(found), found.table.minimum_frequency - 1
    small = f"cells with 1 to {most} people" if most > 1 else "cells with one person"
    if method == "hide":
        yield f"No figure is shown of {small}, and others are hidden so that totals do not tell it."
    elif method is not None:
        yield f"Figures of {small} are not told: all counts are changed at random, once for all."
    chosen = found.chosen
    if chosen is not None and (qnf := number(chosen["qnf"])) is not None:
        yield (
            f"All that is shown leaves to a reader an interval of each small cell: QNF {qnf:.3f}, "
            "of which 0.5 is just enough and 1 says that no cell is small."
        )
    yield (
        f"`dbt-anonymize verify {found.spec.name}` counts every cell again and audits hidden cells."
    )
    yield "It promises nothing about another release of the same people beside it."


def _method(found: TableFindings) -> str | None:
    """Return the way of protection of what is released, as its cells say it."""
    if found.picture is None:
        return None
    statuses = {figures[-1] for figures in found.picture.cells.values()}
    return "hide" if statuses <= {"published", "hidden"} else "other"


def _costs(found: TableFindings) -> Iterator[str]:
    chosen = found.chosen
    if chosen is None:
        yield "Not known of the last build: it released nothing."
    else:
        yield (
            f"QF {chosen['qf']:.1f} says how well the table answers its questions: true counts at "
            "the finest levels of all efforts would have 1; the zero rule, which knows no count "
            f"and answers with {_zero_answers(found.table)}, has {chosen['zero_rule']:.1f}. One "
            "decimal: they follow from true counts, and more would tell hidden ones."
        )
    if found.picture is not None and (hidden := found.picture.hidden_cells):
        share = hidden / len(found.picture.cells)
        yield f"{pluralized(hidden, 'cell')} of {len(found.picture.cells):,} hidden: {share:.0%}."


def _zero_answers(table: Table) -> str:
    """Return the answers of the zero rule to the questions of a table."""
    kinds = dict.fromkeys([one.kind for one in table.questions] or ["share"])
    *others, last = [_ZERO_ANSWERS[kind] for kind in kinds]
    return f"{', '.join(others)} and {last}" if others else last


def _choice(found: TableFindings) -> Iterator[str]:
    for row in found.efforts:
        yield f"Effort {row['effort']}, {row['protection']}, is {row['reason']}."


def _figures(found: TableFindings) -> list[tuple[str, str]]:
    chosen, picture = found.chosen, found.picture
    figures = []
    if chosen is not None:
        names = {"qf": "QF of the table", "zero_rule": "QF of the zero rule", "qnf": "QNF"}
        figures = [(text, _figure(name, chosen[name])) for name, text in names.items()]
    if picture is not None:
        figures.append(("hidden cells", f"{picture.hidden_cells:,} of {len(picture.cells):,}"))
    return figures


def _efforts(found: TableFindings) -> Section:
    return Section(
        "efforts",
        "Ways to protect the table",
        "One row per effort. The highest Q of those that qualify is released; `-` is not measured.",
        tuple(_COLUMNS.values()),
        [[_cell(name, row[name]) for name in _COLUMNS] for row in found.efforts],
        is_open=True,
    )


def _cell(name: str, value: Any) -> Cell:
    if name in _OF_TRUE_COUNTS and value is not None:
        return _figure(name, value)
    return number(value) if name in _MEASURED else cast("Cell", value)


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name in _OF_TRUE_COUNTS else f"{value:.3f}"
