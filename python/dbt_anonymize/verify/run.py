"""All checks of one anonymization, one after the other."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dbt_anonymize.errors import VerificationError, WarehouseError, safe_reason
from dbt_anonymize.pluralize import counted
from dbt_anonymize.project.engines import ENGINES, require_reached
from dbt_anonymize.project.erasures import count_erasures
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.open_seeds import open_seeds
from dbt_anonymize.project.register import digest_released
from dbt_anonymize.project.results import is_built, release_file
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.release.audit import why_unreadable
from dbt_anonymize.spec import Spec
from dbt_anonymize.vault.relink.audit import check_audit
from dbt_anonymize.verify.attacks import AttackResult, findings, run_attacks
from dbt_anonymize.verify.copied import copying, is_refused
from dbt_anonymize.verify.copies import check_copies
from dbt_anonymize.verify.finding import CHECKS, Check, Finding
from dbt_anonymize.verify.identifiers.content import check_content
from dbt_anonymize.verify.provenance.check import check_provenance
from dbt_anonymize.verify.recomputation.project import check_release
from dbt_anonymize.verify.relations import spill_in_private
from dbt_anonymize.verify.writing import write_findings, write_rows

_ON_ROWS: tuple[Check, ...] = ("content", "recomputation", "guarantees", "attacks")


def verify(
    project: Project,
    spec: Spec,
    *,
    checks: Collection[Check] = CHECKS,
    earlier: Sequence[Path] = (),
    target: str | None = None,
) -> Iterator[Finding]:
    """Check what is promised about the release of an anonymization, as it lies there now.

    The project must be built, and no other process may have its warehouse open. ``earlier`` are
    release files of the same people, for the attack by composition; the vault remembers those of
    its own last ten releases. Findings are yielded as they are known; what cannot be checked
    does not hold. An anonymization that is not built is a `WarehouseError`. The attacks write
    ``<n>_attacks``, and all findings are kept in ``<n>_verification``; nothing else is changed.
    """
    found: list[Finding] = []
    require_reached(project, target)
    manifest = None
    # Compiling has dbt open the warehouse for itself.
    if "provenance" in checks:
        with open_warehouse(project, target) as warehouse:
            manifest = warehouse.manifest
        found += _carried_out(
            "provenance",
            spec,
            lambda: check_provenance(project, spec, target=target, manifest=manifest),
        )
        yield from found
    with contextlib.ExitStack() as until_checked:
        opened = open_warehouse(project, target, manifest=manifest)
        warehouse = until_checked.enter_context(opened)
        if not is_built(warehouse, spec):
            raise WarehouseError(
                f"{spec.name}: is not built under this name, so nothing can be verified. Run "
                f"`dbt build --select +{spec.name}_anonymized`."
            )
        content = _content(warehouse, spec)
        runs: dict[Check, Callable[[], list[Finding]]] = {}
        on_rows = [check for check in _ON_ROWS if check in checks]
        if on_rows and (reason := _why_unchecked(warehouse, project, spec)):
            unchecked = [Finding(check, spec.name, False, reason) for check in on_rows]
            found += unchecked
            yield from unchecked
        elif on_rows:
            read, release = warehouse, None
            if warehouse.is_duckdb:
                spill_in_private(warehouse)
                release = project.root / release_file(warehouse, spec.name)
            else:
                read = until_checked.enter_context(copying(warehouse, spec))
            runs = _on_rows(_Checked(warehouse, read, project, spec, release, content), earlier)
        runs["audit"] = lambda: _audit(warehouse, spec)
        for check, run in runs.items():
            if check in checks:
                of_check = _carried_out(check, spec, run, warehouse)
                found += of_check
                yield from of_check
        yield from _kept(
            warehouse,
            spec,
            on_rows,
            lambda: write_findings(warehouse, spec, checks, found, _same(warehouse, spec, content)),
        )


def _content(warehouse: Warehouse, spec: Spec) -> str | None:
    """Return the digest of the released rows; None where whoever verifies may not read them."""
    if warehouse.adapter.type() not in ENGINES:
        return None
    try:
        return digest_released(warehouse, spec.name)
    except Exception as error:
        if not is_refused(warehouse, error):
            raise
        return None


def _same(warehouse: Warehouse, spec: Spec, content: str | None) -> str | None:
    """Return a digest if it still is that of the release; a server may have published another."""
    is_same = warehouse.is_duckdb or content == _content(warehouse, spec)
    return content if is_same else None


def _why_unchecked(warehouse: Warehouse, project: Project, spec: Spec) -> str | None:
    """Say why nothing can be checked on the release, or None where it can."""
    if not warehouse.is_duckdb:
        if warehouse.adapter.type() in ENGINES:
            return None
        return (
            f"this can be checked on {', '.join(ENGINES)} only; the warehouse is "
            f"{warehouse.adapter.type()}. Verify a target of one of these with the same spec."
        )
    release = project.root / release_file(warehouse, spec.name)
    if not release.is_file():  # each check says so
        return None
    reason = why_unreadable(warehouse.cursor(), release)
    return reason and (
        f"{release}: the release file must be readable from end to end; it is not ({reason}). "
        "Run `dbt build` again."
    )


def _carried_out(
    check: Check,
    spec: Spec,
    run: Callable[[], list[Finding]],
    warehouse: Warehouse | None = None,
) -> list[Finding]:
    """Return what a check finds; one that cannot be carried out does not hold."""
    try:
        return run()
    except VerificationError as error:
        message = str(error)
    except Exception as error:
        if warehouse is None or not is_refused(warehouse, error):
            raise
        message = (
            "what this check reads must be readable to whoever verifies; Postgres refused it "
            f"({safe_reason(error)}). Run `verify` as the role that builds, or as a custodian."
        )
    return [Finding(check, spec.name, holds=False, message=message)]


def _kept(
    warehouse: Warehouse, spec: Spec, checks: Sequence[Check], write: Callable[[], object]
) -> Iterator[Finding]:
    """Write what was found; whoever may only read is told that it is not kept."""
    try:
        write()
    except Exception as error:
        if not is_refused(warehouse, error):
            raise
        yield Finding(
            next(iter(checks), "audit"),
            "tables of findings",
            None,
            f"not run: {spec.name}_attacks and {spec.name}_verification were not written, since "
            "Postgres gives whoever verifies no right to. Read the findings here.",
            was_run=False,
        )


def _of(check: Check, findings: list[Finding]) -> list[Finding]:
    """Return the findings of one check."""
    return [finding for finding in findings if finding.check == check]


@dataclass(frozen=True)
class _Checked:
    """What is checked, and where it is read: in the warehouse itself, or in a copy of it.

    ``release`` is its file, or None where it is a table; ``content`` the digest of its rows.
    """

    warehouse: Warehouse
    read: Warehouse
    project: Project
    spec: Spec
    release: Path | None
    content: str | None


def _on_rows(
    checked: _Checked, earlier: Sequence[Path]
) -> dict[Check, Callable[[], list[Finding]]]:
    """Return the checks that read rows."""
    read, project, spec, release = checked.read, checked.project, checked.spec, checked.release

    @functools.cache
    def recomputed() -> list[Finding]:
        return check_release(read, project, spec, release=release)

    def copies() -> Iterator[Finding]:
        return check_copies(read, spec, release=release) if release else iter(())

    return {
        "content": lambda: [
            *check_content(read, project, spec, release=release),
            *_of_seeds(project, spec),
        ],
        "recomputation": lambda: [*_of("recomputation", recomputed()), *copies()],
        "guarantees": lambda: _of("guarantees", recomputed()),
        "attacks": lambda: _attacks(checked, earlier),
    }


def _of_seeds(project: Project, spec: Spec) -> Iterator[Finding]:
    """Name seeds with identifiers that others read, or git."""
    for seed in open_seeds(project, [spec]):
        yield Finding("content", seed.file.as_posix(), None, f"{seed}", is_warning=True)


def _attacks(checked: _Checked, earlier: Sequence[Path]) -> list[Finding]:
    spec = checked.spec
    results = run_attacks(
        checked.read, checked.project, spec, release=checked.release, earlier=earlier
    )

    def write() -> None:
        content = _same(checked.warehouse, spec, checked.content)
        rows = [replace(one, content=content, spec=spec.fingerprint) for one in results]
        write_rows(checked.warehouse, spec, "attacks", AttackResult, rows)

    kept = _kept(checked.warehouse, spec, ["attacks"], write)
    return [*findings(results), *kept]


def _audit(warehouse: Warehouse, spec: Spec) -> list[Finding]:
    """Count the recorded re-linkings; what their owner changed in them, no count can show."""
    if spec.mapping == "none":
        return []
    attempts, missing = check_audit(warehouse, spec.name)
    message = f"{counted(attempts, 'attempt')} to re-link, numbered without a gap."
    if missing:
        message = (
            f"attempts must be numbered without a gap; {missing:,} of {attempts + missing:,} are "
            "missing. Ask who may write the vault, or restore the relation from a backup."
        )
    of_attempts = Finding("audit", f"{spec.name}_relinkings", holds=not missing, message=message)
    return [of_attempts, *_erasures(warehouse, spec)]


def _erasures(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Say whether somebody who was to be erased may still be in the release or in a file."""
    erasures, begun = count_erasures(warehouse, spec.name)
    message = f"{counted(erasures, 'erasure')}, and all are complete."
    if begun:
        message = (
            f"an erasure that was begun must be completed; {begun:,} of {erasures:,} are not, so "
            "that the published release or the bytes of a file may still have the person. Run the "
            f"same `dbt-anonymize erase {spec.name} --subject ...` again."
        )
    if erasures:
        yield Finding("audit", f"{spec.name}_erasures", holds=not begun, message=message)
