"""Write an alternative of ``dbt-anonymize try``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbt_anonymize.cli.common import note
from dbt_anonymize.cli.place import Place
from dbt_anonymize.extensions.trial.commands.alternatives_table import starred_columns
from dbt_anonymize.extensions.trial.commands.tried import Tried, count
from dbt_anonymize.pluralize import pluralized


def take(place: Place, tried: Tried, name: str, path: Path, *, replaces: bool) -> None:
    """Count the alternatives again; write their spec, hierarchies and models."""
    from dbt_anonymize.extensions.drafting.commands.seeds import write_seeds  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.drafting.text import spec_text  # noqa: PLC0415
    from dbt_anonymize.extensions.search.editing import with_efforts  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.alternatives import recount  # noqa: PLC0415
    from dbt_anonymize.project import generate  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415
    from dbt_anonymize.spec.yaml_text import set_value  # noqa: PLC0415

    alternatives = tried.trial.alternatives
    number = next(
        at for at, alternative in enumerate(alternatives, start=1) if name in alternative.names
    )
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(tried.source)
        recounted = count(warehouse, relation, tried.spec, tried.drafted)
    for alternative in alternatives:
        recount(tried.spec, recounted, alternative)
    efforts = [alternative.effort(tried.spec) for alternative in alternatives]
    # Existing efforts would keep their text without reasons.
    drafted = replace(tried.drafted, efforts=[{}], is_tried=True)
    text = spec_text(
        *(tried.name, tried.source, drafted), takes_all=True, purpose=tried.aim.purpose.value
    )
    reasons = [
        f"{', '.join(alternative.names)}: {tried.reason(alternative)}"
        for alternative in alternatives
    ]
    text = set_value(with_efforts(text, efforts, reasons), ["release", "effort"], number)
    write_schema(place.project.root)
    written = write_seeds(place, tried.name, tried.drafted, replaces=replaces)
    (place.project.root / path).write_text(text, encoding="utf-8")
    changed = generate.generate(place.folder, [tried.name])
    released_note = f", the release takes effort {number}" if efforts[1:] else ""
    note(
        f"{path.as_posix()}: {pluralized(len(efforts), 'effort')}{released_note}. Read its reasons."
    )
    if starred := starred_columns(tried):
        note(f"Not released, since `*` in every effort: {', '.join(starred)}.")
    seeds = place.relative_name(place.project.seeds)
    note(
        f"{seeds}/: {pluralized(len(written), 'file')} of hierarchies; models/{tried.name}/: "
        f"{pluralized(len(changed), 'model file')}."
    )
    note(f"Next: `dbt build`, then `dbt-anonymize results {tried.name}`.")
