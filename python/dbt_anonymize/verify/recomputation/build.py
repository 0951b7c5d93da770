"""Recomputation within a build: of the candidate, before it is published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.errors import PublishError, VerificationError, safe_reason
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.tables import Tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def require_recomputed(
    session: DuckDBPyConnection,
    *,
    folder: str,
    name: str,
    effort: int,
    relations: Mapping[str, str],
    hierarchies: Mapping[str, str],
) -> None:
    """Recompute a release before it is published; a difference is a `PublishError`.

    ``session`` sees all relations, committed; ``folder`` is the dbt project (empty: the working
    directory). Names are quoted: ``relations`` by the fields of `Tables`, ``hierarchies`` by
    column. No message shows a value.
    """
    (spec,) = load_specs(Path(folder), [name])
    with session.cursor() as cursor:
        tables = Tables(cursor, hierarchies=hierarchies, **relations)
        try:
            findings = recompute(tables, spec, effort=effort)
        except VerificationError as error:
            reasons = [str(error)]
        except Exception as error:  # the message of the driver may quote a value
            reasons = [safe_reason(error)]
        else:
            reasons = [f"{f.subject}: {f.message}" for f in findings if f.holds is False]
    if reasons:
        raise PublishError(
            f"{name} must be what follows from its source, computed again by independent code; it "
            "is not. The earlier release is unchanged.\n  - " + "\n  - ".join(reasons)
        )
