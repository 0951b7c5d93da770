"""Recounts who agreed to a release that leads back to people."""

from __future__ import annotations

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec


def who_agreed(spec: Spec, source: str) -> str:
    """Return the records of people who agreed in all of theirs, as SQL; without consent all."""
    if spec.consent is None:
        return source
    return f"(select * from {source} where {_agreed(spec, source)})"  # noqa: S608


def with_others(spec: Spec, source: str, identifiers: str) -> str:
    """Return rows of the vault with those of people who did not agree, which lead nowhere."""
    if spec.consent is None:
        return identifiers
    columns = ", ".join(map(quote_name, (spec.record_key, *spec.identifiers)))
    return (
        f"select *, true as has_consent from ({identifiers}) union all by name "  # noqa: S608
        f"select {columns}, false as has_consent from {source} where not {_agreed(spec, source)}"
    )


def _agreed(spec: Spec, source: str) -> str:
    person, agreed = quote_name(spec.person_column), quote_name(str(spec.consent))
    return (
        f"coalesce({person} in (select {person} from {source} group by {person} "  # noqa: S608
        f"having count(*) = count(*) filter (where {agreed})), false)"
    )
