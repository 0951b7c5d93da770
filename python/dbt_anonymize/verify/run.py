"""All checks of one anonymization, one after the other."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from dbt_anonymize.errors import VerificationError, WarehouseError, safe_reason
from dbt_anonymize.project.engines import engine_names, find_engine, is_refused, missing_engine
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import require_reachable
from dbt_anonymize.project.results import is_built, release_file
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.release.audit import read_error
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.checked import Checked, content_of, kept, still
from dbt_anonymize.verify.checks import (
    check_names,
    names_on_rows,
    of_release,
    of_sources,
    of_vault,
    run_check,
)
from dbt_anonymize.verify.copies import check_copies
from dbt_anonymize.verify.duckdb_mirror import copied_to_duckdb
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.project import check_release
from dbt_anonymize.verify.relations import spill_in_private
from dbt_anonymize.verify.writing import write_findings


def verify(
    project: Project,
    spec: Spec,
    *,
    checks: Collection[str] | None = None,
    earlier: Sequence[Path] = (),
    target: str | None = None,
) -> Iterator[Finding]:
    """Check what is promised about the release of an anonymization, as it lies there now.

    The project must be built, and no other process may have its warehouse open. ``checks`` are all
    by default. ``earlier`` are release files of the same people, for the attack by composition; the
    vault remembers those of its own last ten releases. Findings are yielded as they are known; what
    cannot be checked does not hold. An anonymization that is not built is a `WarehouseError`. All
    findings are kept in ``<n>_verification``, attacks also write ``<n>_attacks``; nothing else is
    changed.
    """
    findings: list[Finding] = []
    checks = _known(check_names() if checks is None else checks)
    require_reachable(project.root, target)
    manifest = None
    # Compiling has dbt open the warehouse for itself.
    for one in (one for one in of_sources() if one.name in checks):
        with open_warehouse(project, target) as warehouse:
            manifest = warehouse.manifest
        follow = functools.partial(run_check, one, project, spec, target=target, manifest=manifest)
        of_check = _carried_out(one.name, spec, follow)
        findings += of_check
        yield from of_check
    with contextlib.ExitStack() as until_checked:
        opened = open_warehouse(project, target, manifest=manifest)
        warehouse = until_checked.enter_context(opened)
        if not is_built(warehouse, spec):
            raise WarehouseError(
                f"{spec.name}: is not built under this name, so nothing can be verified. Run "
                f"`dbt build --select +{spec.name}_anonymized`."
            )
        content = content_of(warehouse, spec)
        runs: dict[str, Callable[[], list[Finding]]] = {}
        on_rows = [check for check in names_on_rows() if check in checks]
        if on_rows and (reason := _why_unchecked(warehouse, project, spec)):
            unchecked = [Finding(check, spec.name, False, reason) for check in on_rows]
            findings += unchecked
            yield from unchecked
        elif on_rows:
            read, release = warehouse, None
            if warehouse.is_duckdb:
                spill_in_private(warehouse)
                release = project.root / release_file(warehouse, spec.name)
            else:
                read = until_checked.enter_context(copied_to_duckdb(warehouse, spec))
            runs = _on_rows(Checked(warehouse, read, project, spec, release, content, earlier))
        runs |= {one.name: functools.partial(run_check, one, warehouse, spec) for one in of_vault()}
        for check, run in runs.items():
            if check in checks:
                of_check = _carried_out(check, spec, run, warehouse)
                findings += of_check
                yield from of_check
        yield from kept(
            warehouse,
            spec,
            on_rows,
            lambda: write_findings(
                warehouse, spec, checks, findings, still(warehouse, spec, content)
            ),
        )


def _known(checks: Collection[str]) -> Collection[str]:
    """Return names of checks; an unknown one is a `VerificationError`."""
    if unknown := {*checks} - {*check_names()}:
        raise VerificationError(
            f"checks must be among {', '.join(check_names())}; got {', '.join(sorted(unknown))}. "
            "Correct the name."
        )
    return checks


def _why_unchecked(warehouse: Warehouse, project: Project, spec: Spec) -> str | None:
    """Say why nothing can be checked on the release, or None where it can."""
    if not warehouse.is_duckdb:
        if find_engine(warehouse.kind):
            return None
        return missing_engine(warehouse.kind) or (
            f"this can be checked on {', '.join(engine_names())} only; the warehouse is "
            f"{warehouse.kind}. Verify a target of one of these with the same spec."
        )
    release = project.root / release_file(warehouse, spec.name)
    if not release.is_file():  # each check says so
        return None
    reason = read_error(warehouse.cursor(), release)
    return reason and (
        f"{release}: the release file must be readable from end to end; it is not ({reason}). "
        "Run `dbt build` again."
    )


def _carried_out(
    check: str,
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
            "what this check reads must be readable to whoever verifies; the server refused it "
            f"({safe_reason(error)}). Run `verify` as the role that builds, or as a custodian."
        )
    return [Finding(check, spec.name, holds=False, message=message)]


def _findings_of(check: str, findings: list[Finding]) -> list[Finding]:
    """Return the findings of one check."""
    return [finding for finding in findings if finding.check == check]


def _on_rows(checked: Checked) -> dict[str, Callable[[], list[Finding]]]:
    """Return the checks that read rows, those of the core first."""
    read, project, spec, release = checked.read, checked.project, checked.spec, checked.release

    @functools.cache
    def recomputed() -> list[Finding]:
        return check_release(read, project, spec, release=release)

    def copies() -> Iterator[Finding]:
        return check_copies(read, spec, release=release) if release else iter(())

    added = {one.name: functools.partial(run_check, one, checked) for one in of_release()}
    return {
        "recomputation": lambda: [*_findings_of("recomputation", recomputed()), *copies()],
        "guarantees": lambda: _findings_of("guarantees", recomputed()) or [_uncounted(spec)],
        **added,
    }


def _uncounted(spec: Spec) -> Finding:
    """Say that guarantees were not counted, since what they are counted on is not as it must be."""
    message = (
        "guarantees must be counted on what follows from the source; that was not possible, as the "
        "check recomputation says. Mend that, and verify again."
    )
    return Finding("guarantees", spec.name, False, message)
