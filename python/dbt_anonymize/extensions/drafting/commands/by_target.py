"""The command ``dbt-anonymize hierarchy by-target``."""

from __future__ import annotations

from typing import Annotated

import typer

from dbt_anonymize.extensions.hierarchy_builders.commands.values import Values, from_relation
from dbt_anonymize.extensions.hierarchy_builders.commands.writing import writing
from dbt_anonymize.hierarchies.model import Hierarchy


@from_relation
@writing
def by_target(
    values: Values,
    *,
    predict: Annotated[str, typer.Option(help="Column that models predict, the target.")],
    person: Annotated[
        str, typer.Option(help="Subject or else record key, by which outer records are drawn.")
    ],
    k: Annotated[int, typer.Option(min=1, help="Rarer categories are pooled.")] = 5,
    outer_share: Annotated[
        float, typer.Option(help="As quality.outer_share of the spec: these are not seen.")
    ] = 0.2,
    random_state: Annotated[int, typer.Option(help="As quality.random_state of the spec.")] = 1,
) -> Hierarchy:
    """Merge categories that mean the same for a target, by inner records alone."""
    from dbt_anonymize.extensions.drafting.by_target import (  # noqa: PLC0415 (slow to import)
        find_inner_by_name,
    )

    with values.table() as column:
        inner = find_inner_by_name(
            column, predict, person, share=outer_share, random_state=random_state
        )
        return inner.merge(column.name, column.counts(), k=k)[0]
