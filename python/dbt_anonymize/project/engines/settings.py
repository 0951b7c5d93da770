"""Settings of Postgres and Spark that DuckDB does not need, and tasks of their owner."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project.layout import PYTHON_VARIABLE
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.spec.yaml_text import loaded, with_value

VAULT_LOCATION = "dbt_anonymize_vault_location"
LOCK_TIMEOUT = "dbt_anonymize_lock_timeout"
CUSTODIANS = "dbt_anonymize_custodians"
# As macros/sql/engines/postgres.sql has it.
SECONDS = 10


@dataclass(frozen=True)
class Setting:
    """A key of dbt_project.yml, what `new` writes there, and why."""

    path: tuple[str, ...]
    value: Any
    reason: str

    def __str__(self) -> str:
        """Show it as one writes it."""
        *above, last = self.path
        return f"{'.'.join(above)}: {{{last}: {str(self.value).lower()}}} ({self.reason})"


def missing_settings(kind: str, root: Path, project: Mapping[str, Any]) -> list[Setting]:
    """Return what dbt_project.yml lacks for the adapter of a target; nothing for DuckDB."""
    return [setting for setting in _settings(kind, root) if not _is_there(project, setting)]


def _settings(kind: str, root: Path) -> Iterator[Setting]:
    if kind not in {"postgres", "spark"}:
        return
    reason = "it runs no Python models; `dbt-anonymize build` calls dbt and trains in between"
    yield Setting(("vars", PYTHON_VARIABLE), False, reason)
    if kind == "spark":
        reason = "it has no grants: a folder outside of its warehouse that only custodians can read"
        yield Setting(("vars", VAULT_LOCATION), str(root.resolve() / "vault"), reason)
        for resource in ("models", "seeds"):
            reason = "tables need a format that is read and written alike"
            yield Setting((resource, "+file_format"), "parquet", reason)


def _is_there(project: Mapping[str, Any], setting: Setting) -> bool:
    above, last = setting.path
    if last == PYTHON_VARIABLE:
        return mapping(project.get(above)).get(last) is False
    return bool(list(_values(project.get(above), {last, last.removeprefix("+")})))


def _values(content: object, names: set[str]) -> Iterator[Any]:
    """Yield what stands under a key of these names, however deep."""
    for key, value in mapping(content).items():
        if key in names:
            yield value
        else:
            yield from _values(value, names)


def with_settings(text: str, settings: Sequence[Setting]) -> str:
    """Return dbt_project.yml with them."""
    for setting in settings:
        text = with_value(text, list(setting.path), setting.value)
    return text


def kind_of_target(root: Path, target: str | None = None) -> str | None:
    """Return the adapter of a target as profiles.yml says it; None where only dbt could tell."""
    folders = [os.environ.get("DBT_PROFILES_DIR"), root, Path.home() / ".dbt"]
    files = (Path(folder) / "profiles.yml" for folder in folders if folder)
    file = next((file for file in files if file.is_file()), None)
    try:
        project = mapping(loaded((root / "dbt_project.yml").read_text(encoding="utf-8")))
        profiles = mapping(loaded(file.read_text(encoding="utf-8"))) if file else {}
    except (OSError, ValueError, ProjectError):
        return None
    profile = mapping(profiles.get(os.environ.get("DBT_PROFILE") or str(project.get("profile"))))
    chosen = target or os.environ.get("DBT_TARGET") or profile.get("target")
    kind = mapping(mapping(profile.get("outputs")).get(str(chosen))).get("type")
    return kind if isinstance(kind, str) and "{{" not in kind else None


def needs(root: Path) -> list[str]:
    """Return a line for each setting that a build on the target would stop for."""
    kind = kind_of_target(root)
    if kind is None:
        return []
    text = (root / "dbt_project.yml").read_text(encoding="utf-8")
    missing = missing_settings(kind, root, mapping(loaded(text)))
    return [
        f"{kind} needs in dbt_project.yml: {setting}. Run `dbt-anonymize new`."
        for setting in missing
    ]


def granted_roles(project: Mapping[str, Any]) -> list[str]:
    """Return whom dbt_project.yml lets read a model, and the custodians."""
    found = [*items(mapping(project.get("vars")).get(CUSTODIANS))]
    for grants in _values(project.get("models"), {"+grants", "grants"}):
        for roles in mapping(grants).values():
            found += items(roles) or [roles]
    return sorted({role for role in found if isinstance(role, str) and "{{" not in role})


def unknown_roles(credentials: Any, roles: Sequence[str]) -> list[str]:
    """Return those that the server does not have; the driver's error if it is not reached."""
    import psycopg2  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

    more = {"sslmode": credentials.sslmode} if credentials.sslmode else {}
    connection = psycopg2.connect(
        host=credentials.host,
        port=credentials.port,
        dbname=credentials.database,
        user=credentials.user,
        password=credentials.password,
        connect_timeout=credentials.connect_timeout,
        **more,
    )
    try:
        cursor = connection.cursor()
        cursor.execute(
            "select role from unnest(%s) as listed (role) where to_regrole(role) is null",
            [[role for role in roles if role.lower() not in _KEYWORDS]],
        )
        return [str(role) for (role,) in cursor.fetchall()]
    finally:
        connection.close()


_KEYWORDS = {"public", "current_role", "current_user", "session_user"}
