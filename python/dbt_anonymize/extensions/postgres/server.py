"""Settings and roles of a server, for `new`, `generate` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt_anonymize.extensions.postgres.plain import connect
from dbt_anonymize.project.engines import Diagnosis
from dbt_anonymize.project.engines.settings import WITHOUT_PYTHON, Setting, values_under
from dbt_anonymize.spec.draft import items, mapping

CUSTODIANS = "dbt_anonymize_custodians"
_LOCK_TIMEOUT = "dbt_anonymize_lock_timeout"
# As macros/extensions/postgres/locks.sql has it.
_SECONDS = 10
_KEYWORDS = {"public", "current_role", "current_user", "session_user"}


def settings(root: Path) -> Iterator[Setting]:
    """Yield what dbt_project.yml must have."""
    del root
    yield WITHOUT_PYTHON


def diagnose(project: Mapping[str, Any], credentials: Any) -> Iterator[Diagnosis]:
    """Say whether the server is reached and has the roles, and how long a release waits."""
    yield _server(credentials, granted_roles(project))
    seconds = mapping(project.get("vars")).get(_LOCK_TIMEOUT, _SECONDS)
    text = f"a release waits {seconds} s for who is reading the earlier one ({_LOCK_TIMEOUT})"
    yield Diagnosis("lock timeout", "ok", text)
    text = (
        "dbt lets roles read a release, not enter its schema. After the first build: "
        "`grant usage on schema <that of the release> to <role>`."
    )
    yield Diagnosis("schema", "note", text)


def _server(credentials: Any, roles: list[str]) -> Diagnosis:
    place = f"{credentials.host}:{credentials.port}/{credentials.database}"
    try:
        unknown = unknown_roles(credentials, roles)
    except Exception as error:
        text = f"{place} must be reached; it is not ({type(error).__name__}). See `dbt debug`."
        return Diagnosis("server", "stop", text)
    if unknown:
        text = (
            f"whoever is granted a relation must be a role of the server; {', '.join(unknown)} "
            f"{'is' if len(unknown) == 1 else 'are'} not. Correct +grants and {CUSTODIANS}."
        )
        return Diagnosis("server", "stop", text)
    return Diagnosis("server", "ok", place)


def granted_roles(project: Mapping[str, Any]) -> list[str]:
    """Return the roles that dbt_project.yml grants models to, and the custodians."""
    roles = [*items(mapping(project.get("vars")).get(CUSTODIANS))]
    for grants in values_under(project.get("models"), {"+grants", "grants"}):
        for granted in mapping(grants).values():
            roles += items(granted) or [granted]
    return sorted({role for role in roles if isinstance(role, str) and "{{" not in role})


def unknown_roles(credentials: Any, roles: Sequence[str]) -> list[str]:
    """Return the roles that the server does not have; raise the driver's error if unreachable."""
    connection = connect(credentials)
    try:
        cursor = connection.cursor()
        cursor.execute(
            "select role from unnest(%s) as listed (role) where to_regrole(role) is null",
            [[role for role in roles if role.lower() not in _KEYWORDS]],
        )
        return [str(role) for (role,) in cursor.fetchall()]
    finally:
        connection.close()
