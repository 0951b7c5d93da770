"""Settings of Spark, for `new`, `generate` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.project.engines import Diagnosis
from dbt_anonymize.project.engines.settings import VAULT_LOCATION, WITHOUT_PYTHON, Setting


def settings(root: Path) -> Iterator[Setting]:
    """Yield what dbt_project.yml must have."""
    yield WITHOUT_PYTHON
    reason = "it has no grants: a folder outside of its warehouse that only custodians can read"
    yield Setting(("vars", VAULT_LOCATION), str(root.resolve() / "vault"), reason)
    for resource in ("models", "seeds"):
        reason = "tables need a format that is read and written alike"
        yield Setting((resource, "+file_format"), "parquet", reason)


def unreached(credentials: Any) -> str | None:
    """Return the reason why commands cannot read a Spark outside their process, or None."""
    method = str(credentials.method)
    if method == "session":
        return None
    return (
        f"spark: evaluate and verify reach only a Spark with `method: session`, in their own "
        f"process; the profile says {method}. dbt itself builds with any: give the commands a "
        "target with a session of the same metastore. See docs/extensions/spark.md."
    )


def diagnose(project: Mapping[str, Any], credentials: Any) -> Iterator[Diagnosis]:
    """Say whether commands can read it."""
    del project
    if reason := unreached(credentials):
        yield Diagnosis("engine", "note", reason)
