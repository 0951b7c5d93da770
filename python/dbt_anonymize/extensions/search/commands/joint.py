"""``dbt-anonymize search`` of a spec whose release holds other tables, too."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dbt_anonymize.cli.common import SafeConsole, figures_table, spinner
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.declared import search_of
from dbt_anonymize.information_loss import LOSS
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.cli.place import Place
    from dbt_anonymize.extensions.search.beside import Beside
    from dbt_anonymize.extensions.search.efforts import Options
    from dbt_anonymize.extensions.search.joint import JointOutcome
    from dbt_anonymize.extensions.search.results import ProgressCallback
    from dbt_anonymize.privacy.table import Node
    from dbt_anonymize.spec import Spec

SECONDS = 120.0
"""Seconds of a search by default, for all efforts."""


def check_options(spec: Spec, measure: str | None, recoding: str, evaluations: int | None) -> None:
    """Raise a `SearchError` for options that cannot be combined with other tables."""
    measure = measure or search_of(spec).measure
    for is_wrong, option, reason in (
        (
            measure not in {None, LOSS},
            f"the measure loss; got {measure}",
            "their records are counted by no other",
        ),
        (
            recoding != "full_domain",
            f"--recoding full_domain; got {recoding}",
            "all records of a table have the same levels",
        ),
        (
            evaluations is not None,
            "no --evaluations",
            "no models are trained; --time-limit ends it",
        ),
    ):
        if is_wrong:
            raise SearchError(
                f"{spec.name}: a search for levels of several tables must have {option}: {reason}."
            )


def search_joint(
    console: SafeConsole, place: Place, spec: Spec, options: Options, progress: Any
) -> tuple[Beside, JointOutcome]:
    """Read all tables, search and print; ``progress`` starts the progress bar of a step."""
    from dbt_anonymize.extensions.search.beside import read_beside  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.search.coded_guarantees import coded_guarantees  # noqa: PLC0415
    from dbt_anonymize.extensions.search.efforts import Task  # noqa: PLC0415
    from dbt_anonymize.extensions.search.joint import find_joint_efforts  # noqa: PLC0415
    from dbt_anonymize.extensions.search.load import load  # noqa: PLC0415
    from dbt_anonymize.extensions.search.records import rows_by_key  # noqa: PLC0415

    begin = time.monotonic()
    with place.warehouse() as warehouse:
        with spinner("Reading records"):
            loaded = load(warehouse, spec, measure=options.loss)
            beside = read_beside(warehouse, spec)
            rows = rows_by_key(warehouse, spec, loaded)
        task = Task(spec, loaded.table, coded_guarantees(warehouse, spec), options)
    if beside is None:
        raise TypeError("a spec with trees_beside must have tables beside")
    bar: ProgressCallback = progress("efforts")
    outcome = find_joint_efforts(task, beside, rows, bar)
    _print(console, task.spec, beside, outcome, time.monotonic() - begin)
    return beside, outcome


def _print(
    console: SafeConsole, spec: Spec, beside: Beside, outcome: JointOutcome, seconds: float
) -> None:
    """Print the efforts, and what becomes of the other tables in each."""
    console.print(
        f"{spec.name}: efforts from weak to strong, the least mean loss of all tables with the "
        "required k"
    )
    efforts = figures_table(("effort", "required k", "reached k", "suppressed", LOSS), ["levels"])
    tables = figures_table(("effort",), ["table"])
    for heading in ("raised", "hidden", "left out", LOSS):
        tables.add_column(heading, justify="right")
    tables.add_column("levels")
    for number, point in enumerate(outcome.points, start=1):
        checked = point.checked
        figures = (number, point.required, checked.k, checked.suppressed, f"{point.loss:.4f}")
        efforts.add_row(*map(str, figures), _levels(spec.quasi_identifiers, checked.node))
        listed = zip(beside.columns.items(), point.found.outcomes, point.found.nodes, strict=True)
        for (table, columns), one, node in listed:
            shares = (f"{100 * share:.1f} %" for share in (one.raised, one.hidden, one.left_out))
            cells = (str(number), table, *shares, f"{one.loss:.4f}", _levels(columns, node))
            tables.add_row(*cells)
    console.print(efforts)
    console.print("Records of linked tables in each effort")
    console.print(tables)
    if any(point.is_estimate for point in outcome.points):
        console.print("Shares and losses of linked tables are estimates, by a part of the classes.")
    way = "Descended through" if outcome.is_large else "Searched best-first through"
    console.print(
        f"{way} {pluralized(outcome.lattice_size, 'node')} in {seconds:.1f} s with "
        f"loading.{_proof(outcome)}"
    )


def _proof(outcome: JointOutcome) -> str:
    if outcome.is_large:
        return " They are too many to search through: the best from several starts, not proven."
    numbered = enumerate(outcome.points, start=1)
    texts = [f"{number} ({point.bound:.4f})" for number, point in numbered if not point.is_proven]
    if not texts:
        return ""
    return (
        " The time limit ended it: best so far, not proven. No levels can reach a better loss than "
        f"that in parentheses, by what was searched: effort {', '.join(texts)}."
    )


def _levels(columns: Iterable[str], node: Node) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(columns, node, strict=True))


def joint_rows(
    spec: Spec, beside: Beside, outcome: JointOutcome
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows of machine-readable output, a row for each effort."""
    columns = ["anonymization", "effort", "required_k", "k", "suppressed_records", "loss"]
    columns += ["lower_bound", "is_estimate", "levels"]
    for table in beside.columns:
        parts = ("levels", "raised", "hidden", "left_out", "loss")
        columns += [f"{table}_{part}" for part in parts]
    rows = []
    for number, point in enumerate(outcome.points, start=1):
        row: list[Any] = [spec.name, number, point.required, point.checked.k]
        row += [point.checked.suppressed, point.loss, point.bound, point.is_estimate]
        row.append(" ".join(map(str, point.checked.node)))
        for node, one in zip(point.found.nodes, point.found.outcomes, strict=True):
            row += [" ".join(map(str, node)), one.raised, one.hidden, one.left_out, one.loss]
        rows.append(tuple(row))
    return columns, rows
