"""Writing of an alternative that ``dbt-anonymize try`` found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbt_anonymize.cli.common import note
from dbt_anonymize.cli.place import Place
from dbt_anonymize.extensions.trial.commands.tried import Tried, count
from dbt_anonymize.pluralize import pluralized


def take(place: Place, tried: Tried, wanted: str, path: Path, *, replaces: bool) -> None:
    """Count the alternatives once more; write spec, hierarchies and models of them."""
    from dbt_anonymize.extensions.drafting.commands.init import write_seeds  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.drafting.text import spec_text  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.alternatives import recount  # noqa: PLC0415
    from dbt_anonymize.project import generate  # noqa: PLC0415
    from dbt_anonymize.spec.editing import with_efforts, with_released_effort  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415

    alternatives = tried.trial.alternatives
    number = next(at for at, one in enumerate(alternatives, start=1) if wanted in one.names)
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(tried.source)
        recounted = count(warehouse, relation, tried.spec, tried.drafted)
    for one in alternatives:
        recount(tried.spec, recounted, one)
    efforts = [one.effort(tried.spec) for one in alternatives]
    # What stands there already would keep its text, without a reason.
    drafted = replace(tried.drafted, efforts=[{}], is_tried=True)
    text = spec_text(
        *(tried.name, tried.source, drafted), takes_all=True, purpose=tried.aim.purpose.value
    )
    reasons = [f"{', '.join(one.names)}: {tried.reason(one)}" for one in alternatives]
    text = with_released_effort(with_efforts(text, efforts, reasons), number)
    write_schema(place.project.root)
    written = write_seeds(place, tried.name, tried.drafted, replaces=replaces)
    (place.project.root / path).write_text(text, encoding="utf-8")
    changed = generate.generate(place.folder, [tried.name])
    others = f", the release takes effort {number}" if efforts[1:] else ""
    note(f"{path.as_posix()}: {pluralized(len(efforts), 'effort')}{others}. Read its reasons.")
    seeds = place.relative_name(place.project.seeds)
    note(
        f"{seeds}/: {pluralized(len(written), 'file')} of hierarchies; models/{tried.name}/: "
        f"{pluralized(len(changed), 'model file')}."
    )
    note(f"Next: `dbt build`, then `dbt-anonymize results {tried.name}`.")
