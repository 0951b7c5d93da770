"""The command ``dbt-anonymize hierarchy classification``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.extensions.hierarchy_builders.commands.values import Values, from_anywhere
from dbt_anonymize.extensions.hierarchy_builders.commands.writing import writing
from dbt_anonymize.hierarchies.model import Hierarchy


@from_anywhere
@writing
def classification(
    values: Values,
    *,
    codes: Annotated[
        Path, typer.Option(help="CSV file with code and parent, and maybe level and label.")
    ],
) -> Hierarchy:
    """Group codes as a classification does: A01, A00-A09, I."""
    from dbt_anonymize.extensions.hierarchy_builders.classification import (  # noqa: PLC0415
        classify,  # other commands need none of it
        read_classification,
    )

    nodes = read_classification(codes)
    return classify(nodes, None if values.is_absent else sorted(values.distinct()))
