"""Find obstacles to a build: one finding per check, with what to do. Changes nothing."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from dbt_anonymize.errors import AnonymizeError, safe_reason
from dbt_anonymize.extension import diagnoses
from dbt_anonymize.extensions.installation.ephemeral import ephemeral_sources
from dbt_anonymize.extensions.installation.missing_refs import missing_refs
from dbt_anonymize.extensions.installation.project_files import (
    VAULT_VARIABLE,
    publishers,
    read_yaml_file,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.engines import find_server, missing_engine
from dbt_anonymize.project.engines.settings import missing_settings
from dbt_anonymize.project.generate import check
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.package import installed_version
from dbt_anonymize.project.profile import read_profile
from dbt_anonymize.project.register import PUBLISHED_TARGETS
from dbt_anonymize.project.vault_owner import TABLE, Owner
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.spec.loading import load_specs, spec_paths
from dbt_anonymize.vault.files import missing_vault, require_folders
from dbt_anonymize.versions import PACKAGE, mismatch

Status = Literal["ok", "note", "stop"]

_DBT = ((1, 10, 5), (1, 13, 0))
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_GIGABYTE = 1_000_000_000
_LEAST_DISK = _GIGABYTE // 10
# Commands that take a target.
_COMMAND = re.compile(r"`(dbt-anonymize (?:new|verify|erase|build|init)\b[^`]*|dbt build[^`]*)`")


@dataclass(frozen=True)
class Finding:
    """Result of a check; ``stop``: a build would fail, or lose what a vault held."""

    check: str
    status: Status
    text: str


def examine(folder: Path, target: str | None = None) -> Iterator[Finding]:
    """Yield the findings, each as soon as it is known; their commands name the target."""
    for finding in _findings(folder, target):
        text = finding.text
        if target:
            text = _COMMAND.sub(rf"`\1 --target {shlex.quote(target)}`", text)
        yield replace(finding, text=text)


def _findings(folder: Path, target: str | None) -> Iterator[Finding]:
    yield from _environment()
    try:
        root = find_project(folder).root
    except AnonymizeError as error:
        yield Finding("project", "stop", str(error))
        return
    yield Finding("project", "ok", str(root))
    with contextlib.chdir(root):
        yield from _package(root)
        profile = vault = None
        try:
            profile = read_profile(root, target)
        except AnonymizeError as error:
            yield Finding("profile", "stop", str(error))
        if profile is not None:
            credentials = profile.credentials
            text = f"{profile.profile_name}, target {profile.target_name} ({credentials.type})"
            yield Finding("profile", "ok", text)
            yield from _publishers(root, profile.target_name)
            if credentials.type == "duckdb":
                yield from _warehouse(root, credentials)
                yield from _vault(root, credentials, profile.target_name)
                vault = _vault_path(root, credentials)
            yield from _engine(root, credentials)
        specs = list[Spec]()
        try:
            specs = load_specs(root)
        except AnonymizeError as error:
            yield Finding("anonymizations", "stop", str(error).replace("\n", "; "))
        else:
            yield from _specs(root, specs, None if profile is None else profile.target_name)
        file = (root / vault).resolve() if vault and ":" not in vault else None
        is_readable = file is not None and file.is_file() and not _is_open_elsewhere(file)
        for diagnose in diagnoses():
            noted = diagnose(root, specs, file if is_readable else None)
            yield from (Finding(*one) for one in noted)


def _environment() -> Iterator[Finding]:
    yield Finding("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    installed = version("dbt-core")
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdigit())
    fits = _DBT[0] <= numbers < _DBT[1]
    remedy = "; must be from 1.10.5 to 1.12. Run `pip install 'dbt-core>=1.10.5,<1.13'`."
    yield Finding("dbt", "ok" if fits else "stop", installed if fits else installed + remedy)


def _package(root: Path) -> Iterator[Finding]:
    project = read_yaml_file(root / PROJECT_FILE)
    if project.get("name") == PACKAGE:
        yield Finding("dbt package", "ok", "this project itself")
        return
    installed = installed_version(root)
    problem = mismatch(installed) if installed else None
    if installed is None:
        text = "must be installed in the project; it is not. Run `dbt-anonymize new`."
        yield Finding("dbt package", "stop", text)
    else:
        yield Finding("dbt package", "stop" if problem else "ok", problem or installed)
    orders = [
        items(mapping(dispatch).get("search_order")) for dispatch in items(project.get("dispatch"))
    ]
    if not any(PACKAGE in order for order in orders):
        text = "a seed line that cannot be loaded is printed as a whole. Run `dbt-anonymize new`."
        yield Finding("dispatch", "note", text)


def _engine(root: Path, credentials: Any) -> Iterator[Finding]:
    """Yield missing settings of an engine, and its own diagnosis."""
    project, kind = read_yaml_file(root / PROJECT_FILE), str(credentials.type)
    missing = missing_settings(kind, root, project)
    if missing:
        text = f"dbt_project.yml must have {', '.join(map(str, missing))}. Run `dbt-anonymize new`."
        yield Finding("engine", "stop", text)
    if reason := missing_engine(kind):
        yield Finding("engine", "stop", reason)
    if server := find_server(kind):
        for diagnosis in server.diagnose(project, credentials):
            yield Finding(*diagnosis)


def _publishers(root: Path, target: str) -> Iterator[Finding]:
    """Say whether this target builds drafts, if the project names publishing targets."""
    named = publishers(read_yaml_file(root / PROJECT_FILE))
    if named is not None and target not in named:
        text = (
            f"{', '.join(named) or 'nobody'} ({PUBLISHED_TARGETS}); {target} builds drafts, unless "
            "it has released before"
        )
        yield Finding("published targets", "ok", text)


def _warehouse(root: Path, credentials: Any) -> Iterator[Finding]:
    path = str(credentials.path)
    if path == ":memory:" or ":" in path:
        yield Finding("warehouse", "note", "no local file: not checked")
        return
    file = root / path
    if not file.parent.is_dir():
        command = f"mkdir -p {shlex.quote(str(file.parent))}"
        text = f"its file must have a folder; there is no {file.parent}. Run `{command}`."
        yield Finding("warehouse", "stop", text)
        return
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        text = f"{file}: must be writable. Change its rights, or build as its owner."
        yield Finding("warehouse", "stop", text)
    elif _is_open_elsewhere(file):
        text = "open in another process (a notebook, a database browser). Close it there."
        yield Finding("warehouse", "stop", text)
    else:
        yield Finding("warehouse", "ok", str(file))
    yield _disk(file)


def _disk(file: Path) -> Finding:
    """Compare free disk with the warehouse: a build writes new relations before it drops old."""
    free = shutil.disk_usage(file.parent).free
    size = file.stat().st_size if file.exists() else 0
    text = f"{free / _GIGABYTE:.1f} GB free"
    if free < _LEAST_DISK + size:
        return Finding("disk", "stop", f"{text}, the warehouse has {size:,} bytes. Free some.")
    if free < _GIGABYTE + 2 * size:
        return Finding("disk", "note", f"{text}, twice the warehouse may be needed. Free some.")
    return Finding("disk", "ok", text)


def _is_open_elsewhere(file: Path) -> bool:
    """Tell whether another process holds the lock of DuckDB; checked only on POSIX."""
    if os.name != "posix" or not file.exists():
        return False
    import fcntl  # noqa: PLC0415 (not on Windows)

    with file.open("rb+") as opened:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        fcntl.lockf(opened, fcntl.LOCK_UN)
    return False


def _vault_path(root: Path, credentials: Any) -> str | None:
    """Return the path of the vault that the profile attaches."""
    alias = _vault_alias(root)
    attached = [
        (str(attachment.alias or Path(attachment.path).stem), attachment)
        for attachment in credentials.attach or ()
    ]
    return next(
        (str(attachment.path) for name, attachment in attached if name.lower() == alias), None
    )


def _vault_alias(root: Path) -> str:
    declared = mapping(read_yaml_file(root / PROJECT_FILE).get("vars"))
    return str(declared.get(VAULT_VARIABLE, "vault")).lower()


def _vault(root: Path, credentials: Any, target: str) -> Iterator[Finding]:
    try:
        require_folders(credentials)
    except AnonymizeError as error:
        yield Finding("vault", "stop", str(error))
        return
    path = _vault_path(root, credentials)
    if path is None:
        alias = _vault_alias(root)
        text = f"the profile must attach a file as {alias}; it does not. Run `dbt-anonymize new`."
        yield Finding("vault", "stop", text)
        return
    if ":" in path:
        yield Finding("vault", "note", "no local file: not checked")
        return
    file = (root / path).resolve()
    others = {"the project": root, "the warehouse": root / str(credentials.path)}
    shared = [name for name, other in others.items() if _holds(file.parent, other)]
    if shared:
        text = (
            f"{file.parent} must be a folder of its own; it also holds {shared[0]}. Attach "
            "vault/vault.duckdb in the profile instead, and move the file."
        )
        yield Finding("vault", "stop", text)
        return
    if not file.exists() and (
        built := _built(root / str(credentials.path), list(spec_paths(root)))
    ):
        text = f"must exist, since {', '.join(built)} was built; {missing_vault(file)}"
        yield Finding("vault", "stop", text)
        return
    yield _modes(file)
    yield from _owner(root, file, credentials.schema, target)


def _built(warehouse: Path, names: list[str]) -> list[str]:
    """Return the anonymizations of which the warehouse has relations or a register."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    if not warehouse.is_file() or _is_open_elsewhere(warehouse):
        return []
    try:
        with duckdb.connect(str(warehouse), read_only=True) as session:
            rows = session.execute("select table_name from duckdb_tables()").fetchall()
    except duckdb.Error:
        return []  # encrypted, or damaged
    tables = {table for (table,) in rows}
    return [name for name in names if {f"{name}_register", f"{name}_microdata"} & tables]


def _owner(root: Path, file: Path, schema: str, target: str) -> Iterator[Finding]:
    """Name the owner of the vault; stop if it is another project or target."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    if not file.is_file() or _is_open_elsewhere(file):
        return
    try:
        with duckdb.connect(str(file), read_only=True) as session:
            owner = _owner_in_file(session, schema)
    except duckdb.Error as error:
        text = f"whose {file} is could not be read ({safe_reason(error)})."
        yield Finding("owner of the vault", "note", text)
        return
    here = Owner(str(read_yaml_file(root / PROJECT_FILE).get("name")), target)
    if owner is not None and owner != here:
        text = (
            f"the schema {schema} of {file} belongs to {owner.title}; this is {here.title}. Attach "
            "a file of its own in the profile, or take it over with "
            f"`dbt-anonymize vault adopt --target {target}`."
        )
        yield Finding("owner of the vault", "stop", text)
    elif owner is not None:
        yield Finding("owner of the vault", "ok", owner.title)


def _owner_in_file(session: Any, schema: str) -> Owner | None:
    """Return the known owner of a schema in an open vault file."""
    table = "select 1 from duckdb_tables() where schema_name = ? and table_name = ?"
    if not session.execute(table, [schema, TABLE]).fetchall():
        return None
    place = f"{quote_name(schema)}.{TABLE}"
    owner = f"select project, target from {place} where anonymization is null"  # noqa: S608 (quoted)
    rows = session.execute(owner).fetchall()
    return Owner(*rows[-1]) if rows else None


def _holds(folder: Path, other: Path) -> bool:
    return other.resolve().is_relative_to(folder)


def _modes(file: Path) -> Finding:
    if os.name != "posix":
        return Finding("vault", "note", f"{file}: set the rights of its folder yourself")
    for path, wanted in ((file.parent, "700"), (file, "600")):
        if path.exists() and path.stat().st_uid not in {os.geteuid(), 0} and os.geteuid() != 0:
            text = f"{path} belongs to somebody else. Build as its owner."
            return Finding("vault", "stop", text)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0
        if mode & _FOR_OTHERS:
            text = (
                f"{path} is open to others (mode {mode:o}); the next build closes it. "
                f"Run `chmod {wanted} {shlex.quote(str(path))}` now."
            )
            return Finding("vault", "note", text)
    return Finding("vault", "ok", str(file))


def _specs(root: Path, specs: Sequence[Spec], target: str | None) -> Iterator[Finding]:
    if not specs:
        text = "there is none yet. Start with `dbt-anonymize init`."
        yield Finding("anonymizations", "note", text)
        return
    yield Finding("anonymizations", "ok", ", ".join(spec.name for spec in specs))
    for name, models in ephemeral_sources(find_project(root), specs, target).items():
        text = (
            f"{name} reads {', '.join(models)}, which must be a table or a view and is ephemeral. "
            "Materialize it, in the vault where it has identifiers."
        )
        yield Finding("sources", "stop", text)
    missing = list(missing_refs(root, specs))
    for text in missing:
        yield Finding("sources", "stop", text)
    if missing:
        return  # what is generated without them would not be right
    try:
        drifts = check(root, specs=specs)
    except AnonymizeError:
        return  # reported above
    if drifts:
        text = f"{drifts[0].path.as_posix()} is {drifts[0].kind}. Run `dbt-anonymize generate`."
        yield Finding("models", "stop", text)
    else:
        yield Finding("models", "ok", "as the specs say")
