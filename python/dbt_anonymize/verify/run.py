"""All checks of one anonymization, one after the other."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError, WarehouseError, safe_reason
from dbt_anonymize.extension import Reads, other_release
from dbt_anonymize.project.driver_errors import as_warehouse_error, is_statement_error
from dbt_anonymize.project.engines import engine_names, find_engine, is_refused, missing_engine
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import require_reachable
from dbt_anonymize.project.results import is_built, release_file
from dbt_anonymize.project.vault_places import require_vaults
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.release.audit import read_error
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.checked import Checked, content_of, current_content, write_or_note
from dbt_anonymize.verify.checks import check_names, checks_that_read, names_on_rows, run_check
from dbt_anonymize.verify.copies import check_copies
from dbt_anonymize.verify.duckdb_mirror import copied_to_duckdb
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.kept import kept_finding
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
    """Check the promises of the present release of an anonymization.

    The project must be built, and no other process may have its warehouse open. ``checks`` are all
    by default. ``earlier`` are release files of the same people, for the attack by composition; the
    vault remembers its own last ten releases. Findings are yielded as soon as they are known; a
    check that cannot run does not hold. An anonymization that is not built is a `WarehouseError`.
    All findings are stored in ``<n>_verification``, and attacks in ``<n>_attacks``; nothing else is
    changed.
    """
    findings: list[Finding] = []
    checks = _require_known(check_names() if checks is None else checks)
    require_reachable(project.root, target)
    if release := other_release(spec):
        yield from _verify_other(release, project, spec, checks, target)
        return
    manifest = None
    # For compiling, dbt opens the warehouse itself.
    for added in (check for check in checks_that_read(Reads.sources) if check.name in checks):
        with open_warehouse(project, target) as warehouse:
            manifest = warehouse.manifest
            if warehouse.missing:  # which dbt would create
                _require_built(warehouse, spec)
                require_vaults(warehouse)
        job = functools.partial(run_check, added, project, spec, target=target, manifest=manifest)
        check_findings = _run_or_fail(added.name, spec, job)
        findings += check_findings
        yield from check_findings
    with contextlib.ExitStack() as stack:
        warehouse = stack.enter_context(open_warehouse(project, target, manifest=manifest))
        _require_built(warehouse, spec)
        content = content_of(warehouse, spec)
        runs: dict[str, Callable[[], list[Finding]]] = {}
        on_rows = [check for check in names_on_rows() if check in checks]
        if on_rows and (reason := _obstacle(warehouse, project, spec)):
            unchecked = [Finding(check, spec.name, False, reason) for check in on_rows]
            findings += unchecked
            yield from unchecked
        elif on_rows:
            read, release = warehouse, None
            if warehouse.is_duckdb:
                spill_in_private(warehouse)
                release = project.root / release_file(warehouse, spec.name)
            else:
                read = stack.enter_context(copied_to_duckdb(warehouse, spec))
            checked = Checked(warehouse, read, project, spec, release, content, earlier)
            runs = _row_checks(checked, on_rows[0])
        for added in checks_that_read(Reads.vault):
            runs[added.name] = functools.partial(run_check, added, warehouse, spec)
        for check, run in runs.items():
            if check in checks:
                check_findings = _run_or_fail(check, spec, run, warehouse)
                findings += check_findings
                yield from check_findings
        yield from write_or_note(
            warehouse,
            spec,
            on_rows,
            lambda: write_findings(
                warehouse, spec, checks, findings, current_content(warehouse, spec, content)
            ),
        )


def _verify_other(
    release: Any, project: Project, spec: Spec, checks: Collection[str], target: str | None
) -> Iterator[Finding]:
    """Check the release of a spec that releases something else than records."""
    with contextlib.ExitStack() as stack:
        warehouse = stack.enter_context(open_warehouse(project, target))
        read = warehouse
        if not warehouse.is_duckdb:
            read = stack.enter_context(copied_to_duckdb(warehouse, spec))

        def run() -> list[Finding]:
            return list(release.findings(warehouse, read, project, spec))

        found = _run_or_fail("recomputation", spec, run, warehouse)
        yield from (finding for finding in found if finding.check in checks)


def _require_built(warehouse: Warehouse, spec: Spec) -> None:
    if not is_built(warehouse, spec):
        raise WarehouseError(
            f"{spec.name}: is not built under this name, so nothing can be verified. Run "
            f"`dbt build --select +{spec.name}_anonymized`."
        )


def _require_known(checks: Collection[str]) -> Collection[str]:
    """Return names of checks; an unknown one is a `VerificationError`."""
    if unknown := {*checks} - {*check_names()}:
        raise VerificationError(
            f"checks must be among {', '.join(check_names())}; got {', '.join(sorted(unknown))}. "
            "Correct the name."
        )
    return checks


def _obstacle(warehouse: Warehouse, project: Project, spec: Spec) -> str | None:
    """Return the reason why the rows of the release cannot be checked, or None."""
    if not warehouse.is_duckdb:
        if find_engine(warehouse.kind):
            return None
        return missing_engine(warehouse.kind) or (
            f"this can be checked on {', '.join(engine_names())} only; the warehouse is "
            f"{warehouse.kind}. Verify a target of one of these with the same spec."
        )
    release = project.root / release_file(warehouse, spec.name)
    if not release.is_file():  # each check reports it
        return None
    reason = read_error(warehouse.cursor(), release)
    return reason and (
        f"{release}: the release file must be readable from end to end; it is not ({reason}). "
        "Run `dbt build` again."
    )


def _run_or_fail(
    check: str,
    spec: Spec,
    run: Callable[[], list[Finding]],
    warehouse: Warehouse | None = None,
) -> list[Finding]:
    """Return the findings of a check; one that cannot run does not hold."""
    try:
        return run()
    except VerificationError as error:
        message = str(error)
    except Exception as error:
        if warehouse is not None and is_refused(warehouse, error):
            message = (
                "what this check reads must be readable to whoever verifies; the server refused it "
                f"({safe_reason(error)}). Run `verify` as the role that builds, or as a custodian."
            )
        elif is_statement_error(error):  # the other checks are told, whatever became of this one
            message = str(as_warehouse_error(error))
        else:
            raise
    return [Finding(check, spec.name, holds=False, message=message)]


def _row_checks(checked: Checked, first: str) -> dict[str, Callable[[], list[Finding]]]:
    """Return the checks that read released rows, those of the core first.

    Of an earlier release that is kept, the ``first`` one says that others cannot be run.
    """
    read, project, spec, release = checked.read, checked.project, checked.spec, checked.release

    @functools.cache
    def recompute() -> list[Finding]:
        is_kept = checked.kept is not None
        return check_release(read, project, spec, release=release, is_kept=is_kept)

    def recomputed(check: str) -> list[Finding]:
        return [finding for finding in recompute() if finding.check == check]

    def guarantees() -> list[Finding]:
        if checked.kept:
            return []
        return recomputed("guarantees") or [_uncounted_finding(spec)]

    def copies() -> Iterator[Finding]:
        return check_copies(read, spec, release=release) if release else iter(())

    added = {
        check.name: functools.partial(run_check, check, checked)
        for check in checks_that_read(Reads.release)
    }
    runs: dict[str, Callable[[], list[Finding]]] = {
        "recomputation": lambda: [*recomputed("recomputation"), *copies()],
        "guarantees": guarantees,
        **added,
    }
    if checked.kept:
        kept, run = kept_finding(first, spec, checked.kept), runs[first]
        runs[first] = lambda: [kept, *_run_or_fail(first, spec, run, checked.warehouse)]
    return runs


def _uncounted_finding(spec: Spec) -> Finding:
    """Return the finding that guarantees were not counted, since recomputation failed."""
    message = (
        "guarantees must be counted on what follows from the source; that was not possible, as the "
        "check recomputation says. Mend that, and verify again."
    )
    return Finding("guarantees", spec.name, False, message)
