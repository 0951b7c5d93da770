"""The command ``dbt-anonymize evaluate``: evaluation in projects without Python models."""

from __future__ import annotations

from typing import Annotated

import typer

from dbt_anonymize.cli.common import Lines, Names, note
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SpecError
from dbt_anonymize.pluralize import pluralized


@on_target
def evaluate(
    place: Place,
    names: Names = None,
    *,
    step: Annotated[
        str,
        typer.Option(help="evaluation, outer_quality, or recoding_<i> of effort i."),
    ] = "evaluation",
) -> None:
    """Train models on every effort, in projects without Python models."""
    from dbt_anonymize.evaluation.progress import logged_to  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.profile import require_reachable  # noqa: PLC0415
    from dbt_anonymize.project.rows import update_rows  # noqa: PLC0415
    from dbt_anonymize.project.steps import steps_of  # noqa: PLC0415

    chosen = []
    for spec in place.specs(names):
        steps = {declared.name: declared for declared in steps_of(spec)}
        if step in steps:
            chosen.append((spec, steps[step]))
        elif names:
            why = (
                "no model tests it" if spec.efforts and not spec.is_tested else "it has no efforts"
            )
            raise SpecError(
                f"{spec.name}: --step must be one that it has "
                f"({', '.join(steps) or f'none: {why}'}); got {step}."
            )
    require_reachable(place.project.root, place.target)
    with place.warehouse() as warehouse, logged_to(Lines()):
        for spec, chosen_step in chosen:
            rows = update_rows(warehouse, spec, chosen_step)
            note(f"{chosen_step.rows}: {pluralized(rows, 'row')}.")
