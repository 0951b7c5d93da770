"""The body of ``<n>_table_efforts``: the table, protected in each way, and how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.cell_keys import perturbation_table, perturbed
from dbt_anonymize.extensions.tables.declared import PEOPLE, Hide, Noise, Round, Table, TableEffort
from dbt_anonymize.extensions.tables.errors import NotAdditiveError, TableError
from dbt_anonymize.extensions.tables.hiding import (
    hidden_cells,
    judged,
    own_folder,
    rows_of,
    with_least,
)
from dbt_anonymize.extensions.tables.likely import likely_of_noise, likely_of_rounding
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.questions import Finest, answers, score
from dbt_anonymize.extensions.tables.reading import Published, read_table
from dbt_anonymize.extensions.tables.rounding import rounded
from dbt_anonymize.extensions.tables.subtotals import key_of, keyed, label_of, trees_of
from dbt_anonymize.extensions.tables.suppression import LARGEST_CHECKED, narrow_cells, reachable

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.extensions.tables.cube import Booleans, Floats, Integers
    from dbt_anonymize.extensions.tables.primary import Primary

_STATUS = {"hide": "published", "noise": "perturbed", "round": "rounded"}
# Of released sums.
DECIMALS = 4
_NOBODY = "nobody is in the table"


@dataclass(frozen=True)
class _Protected:
    """Cells as an effort shows them, and its privacy; or why it cannot be released."""

    cells: pd.DataFrame
    qnf: float | None = None
    refusal: str | None = None
    quality: tuple[float | None, float | None] = field(default=(None, None))


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

    declared = Table.model_validate_json(table)
    counted, names = _with_keys(cells.df(), declared), labels.df()
    untouched = counted[(counted["effort"] == 0) & (counted[PEOPLE] > 0)]
    frames = []
    for number, effort in enumerate(declared.efforts, start=1):
        own = counted[counted["effort"] == number]
        shown = _protected(own, names[names["effort"] == number], effort, declared)
        if shown.refusal is None:
            finest = _finest(names, number, declared)
            quality = _quality(untouched, shown.cells, declared, finest)
            shown = replace(shown, quality=quality)
        frames.append(_rows(number, shown, declared))
    return pd.concat(frames, ignore_index=True)


def _with_keys(cells: pd.DataFrame, declared: Table) -> pd.DataFrame:
    """Return cells with keys in the place of labels, in dimensions with subtotals."""
    columns = declared.level_columns.items()
    return cells.assign(**{name: keyed(cells, name, levels) for name, levels in columns})


def _protected(
    own: pd.DataFrame, names: pd.DataFrame, effort: TableEffort, declared: Table
) -> _Protected:
    nothing = own.iloc[:0].assign(status="")
    cells = own[own[PEOPLE] > 0].reset_index(drop=True)
    if not len(cells):
        return _Protected(nothing, refusal=_NOBODY)
    try:
        table = _read(cells, names, effort, declared)
        if isinstance(effort, Hide):
            return _hidden(own, cells, table, effort, declared)
        return _changed(cells, table, effort, declared)
    except (TableError, SpecError) as error:
        return _Protected(nothing, refusal=str(error).rstrip("."))


def _read(
    cells: pd.DataFrame, names: pd.DataFrame, effort: TableEffort, declared: Table
) -> Published:
    """Return the table of which only the declared margins are shown."""
    dimensions = list(declared.dimensions)
    number = declared.efforts.index(effort) + 1
    shown = declared.shown_levels(number)
    trees = trees_of(names, {name: shown[name] for name in declared.subtotals})
    table = read_table(rows_of(cells, [*dimensions, PEOPLE]), dimensions, None, trees=trees)
    # A margin that was shown before is known, zeros too, though it is shown no longer.
    margins = (table.cube.categories > 0) @ (1 << np.arange(len(dimensions)))
    known = table.of_row[cells["released"].notna().to_numpy()]
    is_shown = _is_shown(table.cube.categories > 0, declared) | np.isin(margins, margins[known])
    return replace(table, is_shown=is_shown)


def _hidden(
    own: pd.DataFrame, cells: pd.DataFrame, table: Published, effort: Hide, declared: Table
) -> _Protected:
    """Hide cells; those that were released before keep their status."""
    _require_same_people(own)
    measures = _judged(table, cells, declared)
    is_hidden = hidden_cells(table, measures, effort.seconds, own_folder(None))
    earlier = cells["released"].to_numpy()
    is_known = cells["released"].notna().to_numpy()
    is_hidden[table.of_row[is_known]] = earlier[is_known] == "hidden"
    qnf = min(
        _least_width(table, figures, primary, is_hidden, least)
        for figures, primary, least in with_least(table, measures)
    )
    of_row = is_hidden[table.of_row]
    shown = cells.assign(status=np.where(of_row, "hidden", _STATUS["hide"]))
    for name in (PEOPLE, *declared.sums):
        shown[name] = shown[name].astype("Int64" if name == PEOPLE else "Float64").mask(of_row)
    # Without the dust of adding up fractions.
    shown[[*declared.sums]] = shown[[*declared.sums]].round(DECIMALS)
    return _Protected(_of_margins(shown, declared), qnf)


def _require_same_people(own: pd.DataFrame) -> None:
    was = own["released"].notna()
    others = int((was & ~own["is_same"].astype(bool)).sum())
    if others:
        raise TableError(
            "cells of an earlier release must be of the same people, with the same sums; "
            f"{others:,} of {was.sum():,} are not, and the difference would tell of a few of them"
        )


def _judged(table: Published, cells: pd.DataFrame, declared: Table) -> list[tuple[Floats, Primary]]:
    pairs = {name: (f"{name}_first", f"{name}_second") for name in declared.sums}
    return judged(table, cells, PEOPLE, pairs, declared.rules)


def _is_shown(has_label: Booleans, declared: Table) -> Booleans:
    """Tell of each cell whether its margin is declared; ``has_label`` is cells by dimensions."""
    wanted = np.array([[n in margin for n in declared.dimensions] for margin in declared.margins])
    is_shown: Booleans = (has_label[:, None, :] == wanted[None]).all(axis=2).any(axis=1)
    return is_shown


def _changed(
    cells: pd.DataFrame, table: Published, effort: Noise | Round, declared: Table
) -> _Protected:
    """Change counts by the keys of those who are counted."""
    counts, keys = (cells[name].to_numpy(dtype=np.int64) for name in (PEOPLE, "keys"))
    if isinstance(effort, Round):
        shown = rounded(counts, keys, effort.base)
        likely = likely_of_rounding(shown, effort.base)
    else:
        noise = perturbation_table(
            variance=effort.variance, largest=effort.largest, forbidden=effort.forbidden
        )
        shown = perturbed(counts, keys, noise)
        likely = likely_of_noise(shown, noise)
    changed = cells.assign(**{PEOPLE: shown}, status=_STATUS[effort.method])
    qnf = _qnf_of_changed(cells, table, likely, declared)
    return _Protected(_of_margins(changed, declared), qnf)


def _qnf_of_changed(
    cells: pd.DataFrame, table: Published, likely: tuple[Integers, Integers], declared: Table
) -> float:
    """Return QNF where each shown count is likely of counts between two ends.

    An interval as wide as the minimum frequency less one is demanded, wherever it lies.
    """
    demanded, (low, high) = declared.minimum_frequency - 1.0, likely
    try:
        ((counts, primary),) = _judged(table, cells, declared)
    except NotAdditiveError:
        # People are in several cells: a total narrows no cell but to what it has itself.
        counts = cells[PEOPLE].to_numpy(dtype=float)
        width = (high - low).astype(float)
        return _narrowest(width[declared.rules.of_counts(counts).is_primary], demanded)
    if table.cube.size > LARGEST_CHECKED:
        raise TableError(
            f"a table must have at most {LARGEST_CHECKED:,} cells, totals included, to be checked "
            f"as a whole; got {table.cube.size:,}. Coarsen a dimension"
        )
    # Everybody sees which cells have a row: somebody is in those, and nobody in the others.
    lowest = np.zeros(table.cube.size)
    highest = np.where(table.is_shown, 0.0, np.inf)
    is_row = table.is_shown[table.of_row]
    lowest[table.of_row[is_row]], highest[table.of_row[is_row]] = low[is_row], high[is_row]
    found = np.flatnonzero(primary.is_primary)
    # A far-fetched change that occurred is reckoned with: without it there may be no such table.
    known = Known(np.minimum(lowest, counts), np.maximum(highest, counts))
    ends = intervals(table.cube, known, found, are_integers=True)
    return _narrowest(ends[1] - ends[0], demanded)


def _least_width(
    table: Published, figures: Floats, primary: Primary, is_hidden: Booleans, least: Floats
) -> float:
    """Return QNF of one measure: of small cells, how wide the interval of an attacker is.

    Raises a `TableError` where one ends too early at either side.
    """
    demanded = reachable(table.cube, figures, primary, least)
    if narrow_cells(table.cube, figures, demanded, is_hidden, least).any():
        raise TableError(
            "small cells must stay hidden beside those of an earlier release, which keep their "
            "status; some would be told too closely"
        )
    found = np.flatnonzero(primary.is_primary)
    known = Known(np.where(is_hidden, least, figures), np.where(is_hidden, np.inf, figures))
    are_integers = bool((figures == np.round(figures)).all())
    low, high = intervals(table.cube, known, found, are_integers=are_integers)
    return _narrowest(high - low, (demanded.lower + demanded.upper)[found])


def _narrowest(width: Floats, demanded: Floats | float) -> float:
    """Return the smallest w / (w + d), 1 where nothing is demanded; nothing may bound a cell."""
    if not len(width):
        return 1.0
    return float((1 - demanded / (width + demanded)).min())


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
    itself = {
        name: one._replace(labels=one.finest, coarse=np.arange(len(one.finest)))
        for name, one in finest.items()
    }
    dimensions, scores = declared.dimensions, []
    asked: list[tuple[str, tuple[str, ...], str, bool]] = [
        (one.kind, one.margin, one.of, False) for one in declared.questions
    ] or [("share", margin, PEOPLE, True) for margin in declared.margins if margin]
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


def _rows(number: int, shown: _Protected, declared: Table) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    of_effort: dict[str, Any] = {
        "kind": "effort",
        "qf": shown.quality[0],
        "zero_rule": shown.quality[1],
        "qnf": shown.qnf,
        "refusal": shown.refusal,
    }
    types = {
        "effort": "int64",
        "kind": "str",
        **dict.fromkeys(declared.dimensions, "str"),
        **dict.fromkeys(declared.level_columns.values(), "Int64"),
        "cell": "str",
        PEOPLE: "Int64",
        **dict.fromkeys(declared.sums, "Float64"),
        "status": "str",
        **dict.fromkeys(("qf", "zero_rule", "qnf"), "Float64"),
        "refusal": "str",
    }
    records = _without_keys(shown.cells, declared).to_dict("records")
    rows: list[dict[Any, Any]] = [*({**row, "kind": "cell"} for row in records), of_effort]
    return pd.DataFrame(
        {
            name: pd.Series(
                [_known(number if name == "effort" else row.get(name)) for row in rows],
                dtype="object" if kind == "str" else kind,
            )
            for name, kind in types.items()
        }
    )


def _without_keys(cells: pd.DataFrame, declared: Table) -> pd.DataFrame:
    keys = {name: cells[name] for name in declared.level_columns}
    labels: dict[str, Any] = {
        name: [label_of(key) if isinstance(key, str) else None for key in own]
        for name, own in keys.items()
    }
    return cells.assign(**labels)


def _known(value: Any) -> Any:
    """Return None of what is missing in any of pandas' ways."""
    import pandas as pd  # noqa: PLC0415

    return None if value is None or value is pd.NA or value != value else value  # noqa: PLR0124
