"""Files of earlier linked releases, which `verify --earlier` names, subtracted from the present."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dbt_anonymize.extensions.linked.composition import compare, is_comparable
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.literals import quote_name, quote_path
from dbt_anonymize.release.audit import read_error
from dbt_anonymize.verify.finding import Finding

_ALIAS = "linked_earlier_release"


def earlier_findings(
    release: LinkedRelease, files: Sequence[Path], cursor: Any
) -> Iterator[Finding]:
    """Say of each file whom the difference to the present release would find.

    A spec promises nothing about other releases, so this is a warning. A file that cannot be read
    fails, and one that is no such release is not compared.
    """
    declared = (release.spec.composition_beside or {})["declared"]
    for file in files:
        subject = f"{release.spec.name} and {file.name}"
        if reason := read_error(cursor, file):
            message = (
                "it must be a release file of DuckDB that nobody writes; it could not be read "
                f"({reason}). Correct the path."
            )
            yield Finding("linked", subject, False, message)
            continue
        cursor.execute(f"attach {quote_path(file)} as {quote_name(_ALIAS)} (read_only)")
        try:
            can_be = is_comparable(cursor, _ALIAS, declared)
            told = list(compare(cursor, _ALIAS, release.database, release.k, declared))
        finally:
            cursor.execute(f"detach {quote_name(_ALIAS)}")
        if not can_be:
            message = (
                f"not compared: it has no table {release.spec.name}_anonymized with tokens. Name a "
                "release of linked tables of this spec."
            )
            yield Finding("linked", subject, None, message, was_run=False)
            continue
        message = "k people match what is known of each who is in one of both releases alone."
        if told:
            message = (
                f"{'; '.join(told)}. Whoever has both files finds them: if this one is still "
                "out there, raise k, or wait until more people joined."
            )
        yield Finding("linked", subject, None, message, is_warning=bool(told))
