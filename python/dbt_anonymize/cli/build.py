"""The command ``dbt-anonymize build``: dbt and the steps that need Python, in the right order."""

from __future__ import annotations

import typer

from dbt_anonymize.cli.common import FAILED_CHECK, DbtExecutable, Lines, Names, is_quiet, note, say
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.pluralize import pluralized

# Longest list of differing files in the message.
_MOST_NAMED = 3


@on_target
def build(
    place: Place,
    names: Names = None,
    *,
    dbt: DbtExecutable = None,
) -> None:
    """Build anonymizations from source to release, for a scheduler to call.

    Models that are not those of their specs are not built: the release would keep other promises.
    """
    from dbt_anonymize.cli.publish import publish_all  # noqa: PLC0415
    from dbt_anonymize.evaluation.progress import logged_to  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.generate import check  # noqa: PLC0415
    from dbt_anonymize.project.stages import run_stage, stages_of  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import closed_vaults  # noqa: PLC0415

    if drifts := check(place.folder, names or ()):
        files = ", ".join(f"{d.path.as_posix()} is {d.kind}" for d in drifts[:_MOST_NAMED])
        rest = f" and {pluralized(len(drifts) - _MOST_NAMED, 'file')} more"
        say(
            f"The models must be those of their specs; {files}"
            f"{rest if len(drifts) > _MOST_NAMED else ''} (`dbt-anonymize generate --check` shows "
            "how). Nothing was built. Run `dbt-anonymize generate`.",
            err=True,
        )
        raise typer.Exit(FAILED_CHECK)
    with logged_to(Lines()), closed_vaults(place.project, place.target):
        runner = place.dbt(dbt, is_quiet=is_quiet())
        for spec in place.specs(names):
            for stage in stages_of(place.project, spec):
                code, rows = run_stage(runner, spec, stage)
                if code:
                    say(f"{spec.name}: dbt failed; nothing that follows was built.", err=True)
                    raise typer.Exit(FAILED_CHECK)
                if stage.step and rows is None:
                    note(f"{stage.step.rows}: still of this spec and these records.")
                elif stage.step:
                    note(f"{stage.step.rows}: {pluralized(rows or 0, 'row')}.")
            if spec.efforts:
                publish_all(place, [spec], only_if_unpublished_by_dbt=True)
