"""The body of ``<n>_table_efforts``: the table, protected in each way, and how well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.cell_keys import perturbation_table, perturbed
from dbt_anonymize.extensions.tables.declared import (
    PEOPLE,
    RECORDS,
    Hide,
    Noise,
    Round,
    Table,
    TableEffort,
)
from dbt_anonymize.extensions.tables.effort_rows import Protected, effort_rows, small_rows
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.few_people import (
    FewPeople,
    HiddenOfLine,
    records_of_few,
    told_of_few,
    with_others,
)
from dbt_anonymize.extensions.tables.hidden import hidden_intervals
from dbt_anonymize.extensions.tables.hiding import (
    Measure,
    beside,
    hidden_cells,
    judged,
    known_by_contributors,
    known_of,
    own_folder,
    rows_of,
)
from dbt_anonymize.extensions.tables.likely import likely_of_noise, likely_of_rounding
from dbt_anonymize.extensions.tables.questions import Finest, answers, score
from dbt_anonymize.extensions.tables.reading import MOST_CELLS, Published, read_table
from dbt_anonymize.extensions.tables.rounding import rounded
from dbt_anonymize.extensions.tables.subtotals import key_of, keyed, trees_of
from dbt_anonymize.extensions.tables.told import (
    qnf_of,
    told_by_earlier,
    told_of_changed,
    told_of_hidden,
)

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.arrays import Bools

STATUS_OF = {"hide": "published", "noise": "perturbed", "round": "rounded"}
# Of released sums.
DECIMALS = 4
# Solvers leave off as much of whole numbers.
_NEAR = 1e-6
# Combinations of the finest labels, each a number of 8 bytes.
_MOST_FINEST = 10_000_000
_NOBODY = "nobody is in the table"


def table_efforts(
    cells: duckdb.DuckDBPyRelation, labels: duckdb.DuckDBPyRelation, table: str
) -> pd.DataFrame:
    """Protect a table in every declared way; called by a generated model.

    Parameters
    ----------
    cells, labels : relations
        ``<n>_table_cells`` and ``<n>_table_labels``.
    table : str
        The key ``table`` of the spec, as JSON.

    Returns
    -------
    DataFrame
        The columns of ``<n>_table_efforts``: rows of cells, then one of the effort itself. An
        effort that cannot be released has a ``refusal`` and no cells.
    """
    import pandas as pd  # noqa: PLC0415

    declared, names = Table.model_validate_json(table), labels.df()
    refusals = {number: _too_large(names, number) for number in range(len(declared.efforts) + 1)}
    fit = [str(number) for number, refusal in refusals.items() if refusal is None]
    counted = cells.filter(f"effort in ({', '.join(fit) or 'null'})").df()
    counted = _with_keys(counted, declared)
    untouched = counted[(counted["effort"] == 0) & (counted[PEOPLE] > 0)]
    frames = []
    for number, effort in enumerate(declared.efforts, start=1):
        if refusal := refusals[0] or refusals[number]:
            shown = Protected(counted.iloc[:0].assign(status=""), refusal=refusal)
            frames.append(effort_rows(number, shown, declared))
            continue
        own = counted[counted["effort"] == number]
        shown = _protected(own, names[names["effort"] == number], effort, declared)
        if shown.refusal is None:
            finest = _finest(names, number, declared)
            quality = _quality(untouched, shown.cells, declared, finest)
            shown = replace(shown, quality=quality)
        frames.append(effort_rows(number, shown, declared))
    return pd.concat(frames, ignore_index=True)


def _too_large(names: pd.DataFrame, number: int) -> str | None:
    """Return why an effort is refused before its cells are read, from the numbers of its labels.

    Effort 0 has the finest labels, of which each question makes an array.
    """
    shown = names[names["effort"] == number].drop_duplicates(["dimension", "level", "label"])
    labels = shown["dimension"].value_counts(sort=False)
    cells = math.prod(int(count) + 1 for count in labels)
    most = MOST_CELLS if number else _MOST_FINEST
    if cells <= most:
        return None
    counts = ", ".join(f"{name} {count:,}" for name, count in labels.items())
    return (
        f"the table must have at most {most:,} cells, totals included; with its labels "
        f"({counts}{'' if number else ', the finest of all efforts'}) it has {cells:,}. Coarsen a "
        "dimension by levels, or leave one out"
    )


def _with_keys(cells: pd.DataFrame, declared: Table) -> pd.DataFrame:
    """Return cells with keys in the place of labels, in dimensions with subtotals."""
    columns = declared.level_columns.items()
    return cells.assign(**{name: keyed(cells, name, levels) for name, levels in columns})


def _protected(
    own: pd.DataFrame, names: pd.DataFrame, effort: TableEffort, declared: Table
) -> Protected:
    nothing = own.iloc[:0].assign(status="")
    cells = own[own[PEOPLE] > 0].reset_index(drop=True)
    if not len(cells):
        return Protected(nothing, refusal=_NOBODY)
    try:
        table = _read(cells, names, effort, declared)
        if isinstance(effort, Hide):
            return _hidden(own, cells, table, effort, declared)
        return _changed(cells, table, effort, declared)
    except (TableError, SpecError) as error:
        return Protected(nothing, refusal=str(error).rstrip("."))


def _read(
    cells: pd.DataFrame, names: pd.DataFrame, effort: TableEffort, declared: Table
) -> Published:
    """Return the table of which only the declared margins are shown."""
    dimensions = list(declared.dimensions)
    number = declared.efforts.index(effort) + 1
    shown = declared.shown_levels(number)
    trees = trees_of(names, {name: shown[name] for name in declared.subtotals})
    table = read_table(
        rows_of(cells, [*dimensions, declared.counts]), dimensions, None, trees=trees
    )
    # A margin that was shown before is known, zeros too, though it is shown no longer.
    margins = (table.cube.categories > 0) @ (1 << np.arange(len(dimensions)))
    known = table.of_row[cells["released"].notna().to_numpy()]
    is_shown = _is_shown(table.cube.categories > 0, declared) | np.isin(margins, margins[known])
    return replace(table, is_shown=is_shown)


def _hidden(
    own: pd.DataFrame, cells: pd.DataFrame, table: Published, effort: Hide, declared: Table
) -> Protected:
    """Hide cells; those that were released before keep their status."""
    _require_same_people(own)
    # Of all cells, those that are not shown too.
    whole = replace(table, is_shown=np.ones(table.cube.size, dtype=bool))
    measures, also = _judged(whole, cells, declared)
    of_few = records_of_few(table.of_row, cells["few_people"]) if declared.counts == RECORDS else {}
    few_people = FewPeople(of_few, declared.rules)
    is_hidden = _hidden_with_few(table, [*measures, *also], few_people, effort)
    earlier = cells["released"].to_numpy()
    is_known = cells["released"].notna().to_numpy()
    is_hidden[table.of_row[is_known]] = earlier[is_known] == "hidden"
    names, told = (declared.counts, *declared.sums), []
    for name, (measure, least) in zip(names, known_of(table, measures), strict=True):
        told.append(told_of_hidden(name, table, (measure, least), is_hidden))
        if [*known_by_contributors(table.cube, measures, measure, is_hidden, least)]:
            raise told_by_earlier()
    if any(_of_few(table, measures, is_hidden, few_people)):
        raise told_by_earlier()
    of_row = is_hidden[table.of_row]
    shown = cells.assign(status=np.where(of_row, "hidden", STATUS_OF["hide"]))
    for name in names:
        shown[name] = (
            shown[name].astype("Int64" if name == declared.counts else "Float64").mask(of_row)
        )
    # Without the dust of adding up fractions.
    shown[[*declared.sums]] = shown[[*declared.sums]].round(DECIMALS)
    released = _of_margins(shown, declared)
    if declared.intervals:
        released = _with_intervals(released, table, declared)
    return Protected(released, small_rows(cells, told, declared), qnf_of(told))


def _hidden_with_few(
    table: Published, measures: list[Measure], few_people: FewPeople, effort: Hide
) -> Bools:
    """Hide cells, and more of them where those of a line are of few people together."""
    is_hidden, folder = np.zeros(table.cube.size, dtype=bool), own_folder(None)
    is_hidden = hidden_cells(table, measures, is_hidden, effort.seconds, folder)
    while told := [*_of_few(table, measures, is_hidden, few_people)]:
        measures = [with_others(measures[0], told)]
        is_hidden = hidden_cells(table, measures, is_hidden, effort.seconds, folder)
    return is_hidden


def _of_few(
    table: Published, measures: Sequence[Measure], is_hidden: Bools, few_people: FewPeople
) -> Iterator[HiddenOfLine]:
    """Yield what lines hide of few people and tell too closely, to somebody who is in them."""
    (measure, least), *_ = known_of(table, measures)
    if measure.largest is not None:
        least = np.maximum(least, np.minimum(measure.largest, measure.figures))
    return told_of_few(table, measure.figures, least, is_hidden, few_people)


def _judged(
    whole: Published, cells: pd.DataFrame, declared: Table
) -> tuple[list[Measure], list[Measure]]:
    """Return each measure, the count first.

    Then a measure that is not shown, the people of records, once for each of the finest
    cells: records of few may be many, and those that a line hides follow from its total, so that
    they are to be of enough people together.
    """
    pairs = {name: (f"{name}_first", f"{name}_second") for name in declared.summed}
    of_sums = {name: pairs[name] for name in declared.sums}
    rules = declared.rules
    measures = judged(whole, cells, declared.counts, of_sums, rules)
    if declared.counts != RECORDS:
        return measures, []
    records = measures[0].figures
    people, first, second = (
        np.nan_to_num(beside(whole, cells, name).values) for name in (PEOPLE, *pairs[RECORDS])
    )
    measures[0] = Measure(records, rules.of_records(records, people, first, second), first)
    parts = whole.cube.totals(people)
    return measures, [Measure(parts, rules.of_parts(parts, people))]


def _with_intervals(shown: pd.DataFrame, table: Published, declared: Table) -> pd.DataFrame:
    """Return cells with both ends of each count, as readers of these rows can compute them."""
    trees = {one.name: one for one in table.cube.dimensions}
    rows = rows_of(shown, [*trees, declared.counts])
    told = hidden_intervals(read_table(rows, list(trees), None, trees=trees))
    # Of cells that are too many to be solved as whole numbers.
    ends = {
        one.labels: (np.floor(one.lowest + _NEAR), np.ceil(one.highest - _NEAR)) for one in told
    }
    both = [ends.get(cast(Any, tuple(labels)), (count, count)) for *labels, count in rows]
    return shown.assign(**dict(zip(declared.interval, zip(*both, strict=True), strict=True)))


def _require_same_people(own: pd.DataFrame) -> None:
    was = own["released"].notna()
    others = int((was & ~own["is_same"].astype(bool)).sum())
    if others:
        raise TableError(
            "cells of an earlier release must be of the same people, with the same sums; "
            f"{others:,} of {was.sum():,} are not, and the difference would tell of a few of them"
        )


def _is_shown(has_label: Bools, declared: Table) -> Bools:
    """Tell of each cell whether its margin is declared; ``has_label`` is cells by dimensions."""
    wanted = np.array([[n in margin for n in declared.dimensions] for margin in declared.margins])
    is_shown: Bools = (has_label[:, None, :] == wanted[None]).all(axis=2).any(axis=1)
    return is_shown


def _changed(
    cells: pd.DataFrame, table: Published, effort: Noise | Round, declared: Table
) -> Protected:
    """Change counts by the keys of those who are counted."""
    counts, keys = (cells[name].to_numpy(dtype=np.int64) for name in (PEOPLE, "keys"))
    if isinstance(effort, Round):
        shown, largest = rounded(counts, keys, effort.base), effort.base - 1
        likely = likely_of_rounding(shown, effort.base)
    else:
        noise = perturbation_table(
            variance=effort.variance, largest=effort.largest, forbidden=effort.forbidden
        )
        shown, largest = perturbed(counts, keys, noise), effort.largest
        likely = likely_of_noise(shown, noise)
    changed = cells.assign(**{PEOPLE: shown}, status=STATUS_OF[effort.method])
    if declared.intervals:  # somebody is in each cell that has a row
        ends = (np.maximum(shown - largest, 1.0), shown + float(largest))
        changed = changed.assign(**dict(zip(declared.interval, ends, strict=True)))
    told = [told_of_changed(table, cells, likely, declared.rules)]
    return Protected(
        _of_margins(changed, declared), small_rows(cells, told, declared), qnf_of(told)
    )


def _of_margins(cells: pd.DataFrame, declared: Table) -> pd.DataFrame:
    has_label = cells[[*declared.dimensions]].notna().to_numpy()
    shown: pd.DataFrame = cells[_is_shown(has_label, declared)]
    return shown


def _finest(names: pd.DataFrame, number: int, declared: Table) -> dict[str, Finest]:
    of_effort = names[names["effort"] == number]
    levels, finest_levels, found = declared.levels(number), declared.levels(0), {}
    for name in declared.dimensions:
        is_own = (of_effort["dimension"] == name) & (of_effort["level"] == levels[name])
        own = of_effort[is_own]
        if name in declared.subtotals:
            finest = [key_of(finest_levels[name], label) for label in own["finest_label"]]
            own = own.assign(label=keyed(own, "label", "level"), finest_label=finest)
        found[name] = Finest.of(own)
    return found


def _quality(
    untouched: pd.DataFrame, shown: pd.DataFrame, declared: Table, finest: Mapping[str, Finest]
) -> tuple[float, float]:
    """Return QF and that of an answer that knows nothing: means over the questions."""
    if declared.intervals:  # the middle, if there is one, answers for a hidden count
        middle = shown[[*declared.interval]].mean(axis=1).replace(np.inf, np.nan)
        counts = shown[declared.counts].astype("Float64").fillna(middle)
        shown = shown.assign(**{str(declared.counts): counts})
    itself = {
        name: one._replace(labels=one.finest, coarse=np.arange(len(one.finest)))
        for name, one in finest.items()
    }
    dimensions, scores = declared.dimensions, []
    asked: list[tuple[str, tuple[str, ...], str, bool]] = [
        (one.kind, one.margin, one.of or declared.counts, False) for one in declared.questions
    ] or [("share", margin, declared.counts, True) for margin in declared.margins if margin]
    for kind, margin, of, is_joint in asked:
        truth = answers(untouched, dimensions, margin, of, itself)
        told = answers(shown, dimensions, margin, of, finest)
        if is_joint:
            truth, told = truth.ravel(), told.ravel()
        scores.append(score(kind, truth, told))
    if not scores:  # a single number is shown
        return 1.0, 0.0
    own, zero = np.array(scores).T
    return float(own.mean()), float(zero.mean())
