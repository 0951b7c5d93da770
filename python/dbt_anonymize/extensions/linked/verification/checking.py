"""The check ``linked`` of `verify`: a release of linked tables, computed and counted again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.linked.declared import keys_of
from dbt_anonymize.extensions.linked.graph import Graph, read_graph
from dbt_anonymize.extensions.linked.scratch import Scratch
from dbt_anonymize.extensions.linked.verification.attack import attack_findings
from dbt_anonymize.extensions.linked.verification.content import (
    decision_findings,
    has_columns,
    row_findings,
    table_findings,
)
from dbt_anonymize.extensions.linked.verification.earlier import earlier_findings
from dbt_anonymize.extensions.linked.verification.expected import expect_records
from dbt_anonymize.extensions.linked.verification.kept_columns import kept_findings
from dbt_anonymize.extensions.linked.verification.keys import key_findings, order_finding
from dbt_anonymize.extensions.linked.verification.linked_release import LinkedRelease
from dbt_anonymize.extensions.linked.verification.recount import Count, count_matches
from dbt_anonymize.extensions.linked.verification.sensitive_recount import sensitive_values
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.results import read_results
from dbt_anonymize.verify.checked import Checked
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.project import tables_of
from dbt_anonymize.verify.relations import attached_release, open_release


def check_linked(checked: Checked) -> list[Finding]:
    """Check keys, rows, guarantee and attacks of linked tables; without any there is no finding."""
    if keys_of(checked.spec).linked is None:
        return []
    if checked.kept and checked.kept.spec != checked.spec.fingerprint:
        return []  # what it promises is no longer declared
    with _opened(checked) as release:
        findings = list(table_findings(release))
        if not has_columns(release):  # then nothing else can be read
            return findings
        if checked.kept:
            return findings + list(_findings_of_kept(release))
        findings += _findings(release)
        if checked.release:
            present = checked.release.resolve()
            files = [file for file in checked.earlier if file.resolve() != present]
            findings += earlier_findings(release, files, checked.read.cursor())
        elif checked.earlier:
            message = "not run: files of earlier releases are compared on DuckDB alone."
            findings.append(Finding("linked", "earlier releases", None, message, was_run=False))
        return findings


@contextlib.contextmanager
def _opened(checked: Checked) -> Iterator[LinkedRelease]:
    """Attach the release file beside what it was built from, or copy what a server publishes."""
    warehouse, spec = checked.read, checked.spec
    efforts = [result.effort for result in read_results(warehouse, spec.name) if result.is_chosen]
    if checked.kept:
        efforts = [checked.kept.effort or 0]
    if len(efforts) != 1 or efforts[0] not in spec.numbered_efforts or efforts[0] == 0:
        raise VerificationError(
            f"{spec.name}: one effort must be released that is declared; the results name "
            f"{efforts or 'none'}. Run `dbt build` again."
        )
    (effort,) = efforts

    def built(part: str) -> str:
        return str(warehouse.relation_of_ref(f"{spec.name}_{part}"))

    linked = keys_of(spec).linked_tables
    with contextlib.ExitStack() as stack:
        cursor, relation, (database, schema) = _published(stack, checked)
        yield LinkedRelease(
            spec=spec,
            effort=effort,
            tables=tables_of(warehouse, spec, effort, cursor, relation),
            scratch=stack.enter_context(Scratch(cursor)),
            database=database,
            schema=schema,
            place="file" if checked.release else "schema",
            sources={n: str(warehouse.relation_of(table.source)) for n, table in linked.items()},
            built={name: built(f"released_{name}") for name in linked},
            decisions=built(f"linked_decisions_{effort}"),
            hierarchies={
                name: {
                    column: str(warehouse.relation_of_ref(tree.ref))
                    for column, tree in table.quasi_identifiers.items()
                }
                for name, table in linked.items()
            },
        )


def _published(
    stack: contextlib.ExitStack, checked: Checked
) -> tuple[Any, str | None, tuple[str, str]]:
    """Return a DuckDB cursor, the table of the subjects where it is of a file, and its place."""
    warehouse, spec = checked.read, checked.spec
    if checked.release is not None:
        with open_release(spec, checked.release) as alone:
            columns = alone.columns
        released = stack.enter_context(attached_release(warehouse, spec, checked.release, columns))
        database, schema, _ = released.relation.split(".", 2)
        return released.cursor, released.relation, (database, schema)
    subjects = warehouse.relation_of_ref(f"{spec.name}_anonymized")
    for name in spec.tables_beside:
        warehouse.find(subjects.incorporate(path={"identifier": name}))  # copies it
    return warehouse.cursor(), None, (str(subjects.database), str(subjects.schema))


def _findings(release: LinkedRelease) -> Iterator[Finding]:
    expected = expect_records(release)
    for name in release.linked:
        yield from key_findings(release, name)
        yield order_finding(expected, name)
        yield from decision_findings(expected, name)
        yield from row_findings(expected, name)
    graph = read_graph(release.scratch, release.released_subjects(), release.released_records())
    yield from guarantee_findings(release, graph)
    yield from attack_findings(expected, graph)
    yield from kept_findings(expected, graph)


def _findings_of_kept(release: LinkedRelease) -> Iterator[Finding]:
    """Check what an earlier release tells by itself: its sources are not those of the warehouse."""
    for name in release.linked:
        yield from key_findings(release, name)
    graph = read_graph(release.scratch, release.released_subjects(), release.released_records())
    yield from guarantee_findings(release, graph)


def guarantee_findings(release: LinkedRelease, graph: Graph) -> Iterator[Finding]:
    """Count (k, k^m)-anonymity again, from the rows of the file."""
    rule = release.rule
    counts = list(
        count_matches(
            graph,
            release.k,
            rule.known_records,
            known_count=rule.known_count,
            sensitive=sensitive_values(release, graph) if rule.l else None,
        )
    )
    known = "all" if rule.known_records == "all" else f"up to {rule.known_records}"
    subject = f"{release.spec.name}: own values and {known} linked records"
    judged = [count for count in counts if count.below is not None]
    least = min((c for c in judged if c.fewest is not None), key=_fewest, default=None)
    number = sum(count.combinations for count in judged)
    message = "the file has no subject."
    holds = True
    if least is not None:
        holds = not any(count.below for count in judged)
        message = (
            f"at least k = {release.k} subjects must match each combination; the fewest are "
            f"{least.fewest:,}, of {_known(least)}; {number:,} combinations counted."
        )
    if not holds:
        below = sum(count.below or 0 for count in judged)
        message += (
            f" {below:,} are matched by fewer than k. The release breaks its promise: withdraw it, "
            "and build it again."
        )
    yield Finding("linked", subject, holds, message)
    if rule.l:
        told = sum(count.told for count in counts)
        message = (
            f"of those who match a combination no more than 1 in {rule.l} may have the same "
            f"sensitive value; {told:,} of {number:,} combinations tell one."
        )
        if told:
            message += " The release breaks its promise: withdraw it, and build it again."
        yield Finding("linked", f"{subject}, sensitive values", not told, message)
    for count in counts:
        if count.below is None:
            message = (
                f"not run: there are up to {count.combinations:,} combinations of "
                f"{_known(count)}, too many to be counted here. Release fewer records of those who "
                "have most, or lower known_records."
            )
            yield Finding("linked", subject, None, message, was_run=False)


def _fewest(count: Count) -> int:
    return count.fewest or 0


def _known(count: Count) -> str:
    if count.known is None:
        return "all records"
    return pluralized(count.known, "known record") if count.known else "own values alone"
