"""Options and output that the commands which build a hierarchy share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dbt_anonymize.cli.common import errors_without_traceback, note, say
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.commands.files import text_labels_note
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_rows, write_hierarchy

Output = Annotated[Path, typer.Option("--output", "-o", help="CSV file (a dbt seed) to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


def writing(build: Callable[..., Hierarchy]) -> Callable[..., None]:
    """Give a command that builds a hierarchy the options of the seed that it writes."""

    def run(*args: Any, output: Output, force: Force = False, **kwargs: Any) -> None:
        with errors_without_traceback():
            if output.exists() and not force:
                raise HierarchyError(f"{output} exists and is kept. Replace it with --force.")
            if not output.parent.is_dir():
                raise HierarchyError(f"the folder {output.parent} must exist. Create it first.")
            replaced = _columns(output)
            hierarchy = build(*args, **kwargs)
            write_hierarchy(hierarchy, output)
        _note_written(hierarchy, output)
        if replaced and replaced != _columns(output):
            say(
                "Its columns changed. Correct `kind` and `levels` in the spec and in the tests of "
                "the seed, then load it anew: "
                f"`dbt seed --full-refresh --select {output.stem}`."
            )

    of_file = inspect.signature(run, eval_str=True).parameters
    first, *own = inspect.signature(build, eval_str=True).parameters.values()
    functools.update_wrapper(run, build)
    options = [first, of_file["output"], *own, of_file["force"]]
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return run


def _note_written(hierarchy: Hierarchy, output: Path) -> None:
    leaves = len(hierarchy.labels[0])
    kind = "intervals" if isinstance(hierarchy, IntervalHierarchy) else "values"
    nesting = "nested" if is_nested(hierarchy) else "not nested: declare nested: false"
    note(f"Wrote {output}: {leaves} {kind}, {hierarchy.levels} levels, {nesting}.")
    if declare := text_labels_note(output.stem, hierarchy.table()):
        note(declare)


def _columns(file: Path) -> tuple[str, ...]:
    """Return the header of a CSV file; empty if it cannot be read."""
    try:
        rows = read_rows(file) if file.exists() else []
    except HierarchyError:
        return ()
    return tuple(rows[0].cells) if rows else ()
