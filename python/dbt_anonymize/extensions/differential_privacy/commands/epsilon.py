"""The command ``dbt-anonymize epsilon``: the class sizes of differential privacy."""

from __future__ import annotations

from typing import Annotated

import typer

from dbt_anonymize.cli.common import (
    BAD_INPUT,
    RowFormat,
    SafeConsole,
    figures_table,
    say,
    show_rows,
)
from dbt_anonymize.output import Format

_SHARES_OF_LARGEST = (1.0, 0.75, 0.5, 0.25)


def epsilon(
    epsilons: Annotated[list[float], typer.Argument(metavar="EPSILON...", help="From 0.001 to 5.")],
    *,
    delta: Annotated[
        list[float], typer.Option(help="Probability of an exception; may be given several times.")
    ],
    beta: Annotated[
        list[float] | None,
        typer.Option(
            help="Probability of each person to be in the sample, may be given several times; "
            "by default the largest that epsilon allows, and parts of it.",
            show_default=False,
        ),
    ] = None,
    form: RowFormat = Format.table,
) -> None:
    """Show the class size k for (epsilon, delta, beta), and the people of the source it needs."""
    from pydantic import ValidationError  # noqa: PLC0415 (keeps --help fast)

    from dbt_anonymize.extensions.differential_privacy.model import (  # noqa: PLC0415
        DifferentialPrivacy,
        largest_beta,
    )

    rows = list[tuple[float, float, float, int, float]]()
    for declared in epsilons:
        for exception in delta:
            for share in beta or _SHARES_OF_LARGEST:
                try:
                    # Checked without beta first: the largest beta needs a valid epsilon.
                    guarantee = DifferentialPrivacy(epsilon=declared, delta=exception)
                    chosen = share if beta else share * largest_beta(declared)
                    guarantee = DifferentialPrivacy(epsilon=declared, delta=exception, beta=chosen)
                except ValidationError as error:
                    detail = error.errors()[0]
                    name = detail["loc"][0] if detail["loc"] else "differential_privacy"
                    say(f"{name}: {detail['msg']}", err=True)
                    raise typer.Exit(BAD_INPUT) from None
                rows.append((declared, exception, chosen, guarantee.k, guarantee.k / chosen))
    if form is not Format.table:
        show_rows(("epsilon", "delta", "beta", "k", "people"), rows, form)
        return
    table = figures_table(("epsilon", "delta", "beta", "k", "people of the source"), ())
    for declared, exception, share, k, people in rows:
        table.add_row(f"{declared:g}", f"{exception:g}", f"{share:.3f}", f"{k:,}", f"{people:,.0f}")
    SafeConsole().print(table)
