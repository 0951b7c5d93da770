"""Recomputation: compute a release again from its source, and compare.

This needs a DuckDB connection, relations on it and a spec, but no dbt project, and shares nothing
with the macros. From the present source, the hierarchies and the levels of the effort it computes
microdata, effort, release and mapping, and compares them with the relations of `Tables` as
multisets of rows.

- Labels of a recoding are chosen per record by its macro. They are read from the effort; each must
  cover the value of its record, and each mean must be that of its group.
- Tokens are random: they are read from the vault, and must be distinct and well-formed.

The records of the source and the released effort are taken as decided. No message shows a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.relations import EXACT_VALUES
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison
from dbt_anonymize.verify.recomputation.counts import Classes, count_of
from dbt_anonymize.verify.recomputation.expected import PERSON, Expected
from dbt_anonymize.verify.recomputation.guarantees import Recount, name_of
from dbt_anonymize.verify.recomputation.tables import Tables

# Identifiers with fewer values per record repeat.
_MOST_DIFFERENT = 0.95
_HEXADECIMAL = "^[0-9a-f]{32}$"


def recompute(tables: Tables, spec: Spec, *, effort: int) -> list[Finding]:
    """Compute a release and compare it with the built one.

    ``effort`` is the number of the released effort, from 1. There is a finding for each comparison
    and each guarantee; if the microdata differ from the source, they are the only finding, as
    nothing else can be verified. A source or hierarchy from which nothing can be computed is a
    `VerificationError`. Beside DuckDB, memory holds a few numbers per class and sensitive value.
    """
    if effort in spec.external_efforts:
        return list(spec.findings_of_external(tables, effort))
    efforts = {spec.release.effort} if spec.release.effort != "auto" else set(spec.numbered_efforts)
    if effort not in efforts - {0}:
        raise VerificationError(
            f"{spec.name}: the released effort must be one that is declared; got {effort}. "
            "Run `dbt-anonymize generate` and build again."
        )
    expected = Expected(tables, spec, effort)
    try:
        return list(_findings(expected))
    finally:
        expected.close()


def _findings(expected: Expected) -> Iterator[Finding]:
    tables, spec = expected.tables, expected.spec
    comparer = Comparer(tables)
    _require_keys(expected)
    for generalization in expected.generalizations.values():
        generalization.require_well_formed(tables)
    if tables.microdata:
        unchanged = _microdata_finding(expected, comparer, tables.microdata)
        yield unchanged
        if not unchanged.holds:
            return
    if recoding := spec.numbered_efforts[expected.number].recomputation:
        yield from recoding.findings(expected)
    yield _suppression_finding(expected)
    if spec.holds_back_joiners:
        yield from spec.recomputation.members_findings(tables, spec, expected.effort)
    for comparison in _comparisons(expected):
        differing = comparer.differences(comparison)
        message = "has exactly the rows that follow from the source."
        if differing:
            message = (
                f"must have exactly the rows that follow from the source; {differing}. Do not use "
                "this release; build again."
            )
        yield Finding("recomputation", comparison.subject, not differing, message)
    yield from _order_and_token_findings(expected)
    yield from _guarantee_findings(expected)
    yield from _exact_value_findings(expected)
    yield from _repeat_warnings(expected)


def _order_and_token_findings(expected: Expected) -> Iterator[Finding]:
    """Check order and tokens of released relations that have the declared columns."""
    tables, spec = expected.tables, expected.spec
    for subject, relation in _released_relations(expected):
        if set(spec.released_columns) <= set(tables.types(f"select * from {relation}")):  # noqa: S608
            if tables.has_order:
                yield _order_finding(expected, f"{subject}, order of rows", relation)
            if spec.mapping == "token":
                yield _token_finding(expected, f"{subject}.token", relation)


def _require_keys(expected: Expected) -> None:
    key = quote_name(expected.spec.record_key)
    ((records, keys),) = expected.tables.rows(
        f"select count(*), count(distinct {key}) from {expected.tables.source}"  # noqa: S608
    )
    if not records or records != keys:
        raise VerificationError(
            f"{expected.spec.record_key}: every record of the source must have a key of its own; "
            f"{keys:,} of {records:,} have. Nothing can be verified. Correct the source."
        )


def _microdata_finding(expected: Expected, comparer: Comparer, microdata: str) -> Finding:
    subject, key = f"{expected.spec.name}_microdata", expected.spec.record_key
    differing = comparer.differences(Comparison(subject, expected.microdata, microdata, key=key))
    message = "are those of the source as it is now."
    if differing:
        message = (
            f"changed since the build, cannot be verified: {differing}. Build again; if that does "
            "not help, the source gives other values each time it is read: materialize it as a "
            "table."
        )
    return Finding("recomputation", subject, not differing, message)


def _suppression_finding(expected: Expected) -> Finding:
    """Suppress the classes that must be, and compare their records with the limit."""
    spec, sizes = expected.spec, expected.count_classes()
    recount = Recount(spec, expected.classes, expected.generalizations, expected.number)
    suppressed = recount.suppressed()
    records, dropped = int(sizes.sum()), int(sizes[suppressed].sum())
    allowed = math.floor(Fraction(repr(spec.suppression_limit)) * records)
    message = f"{dropped:,} of {records:,} records are suppressed; at most {allowed:,} may be."
    if dropped <= allowed:
        expected.suppress(suppressed)
        return Finding("recomputation", "suppression", True, message)
    message = f"{dropped:,} of {records:,} records must be suppressed; at most {allowed:,} may be"
    remedy = "the source or the limit changed since. Do not use this release; build again."
    return Finding("recomputation", "suppression", False, f"{message}: {remedy}")


def _released_relations(expected: Expected) -> Iterator[tuple[str, str]]:
    """Yield the relations that hold released rows, with their names in findings."""
    tables, name = expected.tables, f"{expected.spec.name}_anonymized"
    if tables.anonymized:
        yield name, tables.anonymized
    if tables.release:
        yield f"release file, {name}", tables.release


def _comparisons(expected: Expected) -> Iterator[Comparison]:
    tables, spec = expected.tables, expected.spec
    if tables.effort:
        columns = expected.effort_columns
        shown = ", ".join(expected.shown(columns))
        rows = f"select {shown} from ({expected.effort}) as rows_"  # noqa: S608
        subject = f"{spec.name}_effort_{expected.number}"
        yield Comparison(subject, rows, tables.effort, columns, spec.record_key)
    token = "token" if spec.mapping == "token" else None
    for subject, relation in _released_relations(expected):
        yield Comparison(subject, expected.release, relation, key=token)
    if tables.identifiers:
        # The tokens themselves, where the vault stores them apart.
        mapped = spec.mapping_columns if spec.mapping == "class" or tables.tokens else []
        consent = ["has_consent"] if spec.consent else []
        columns = (spec.record_key, *spec.identifiers, *mapped, *consent)
        subject = f"{spec.name}_identifiers"
        yield Comparison(
            subject, expected.identifiers, tables.identifiers, columns, spec.record_key
        )


def _order_finding(expected: Expected, subject: str, relation: str) -> Finding:
    """Require the order of the released columns: any other could reveal that of the source."""
    row = f"row({', '.join(map(quote_name, expected.spec.released_columns))})"
    ((misplaced,),) = expected.tables.rows(
        "select count(*) from "  # noqa: S608
        f"(select {row} as current, lag({row}) over () as earlier from {relation}) as rows_ "
        "where current < earlier"
    )
    message = "the rows are in the order of what is released."
    if misplaced:
        message = (
            "the rows must be in the order of the released columns, so that their order tells "
            f"nothing else; {misplaced:,} are not. Build again."
        )
    return Finding("recomputation", subject, not misplaced, message)


def _token_finding(expected: Expected, subject: str, relation: str) -> Finding:
    """Require a random token for each record: equal tokens would link records of a subject."""
    ((records, tokens, formed),) = expected.tables.rows(
        "select count(*), count(distinct encode(token)), "  # noqa: S608
        f"count(*) filter (where regexp_full_match(token, '{_HEXADECIMAL}')) from {relation}"
    )
    message = f"each of {records:,} records has a token of its own."
    if not records == tokens == formed:
        message = (
            "each record must have a token of its own, 32 hexadecimal digits; got "
            f"{tokens:,} different ones, {formed:,} of that form, for {records:,} records. Records "
            "of one subject could be joined, or a token could say more. Build again."
        )
    return Finding("recomputation", subject, records == tokens == formed, message)


def _repeat_warnings(expected: Expected) -> Iterator[Finding]:
    """Warn of identifiers that repeat: without a subject, classes count records."""
    spec = expected.spec
    names = [name for name in spec.identifiers if name not in spec.accepted_repeats]
    for name in names if spec.subject is None else ():
        ((known, different),) = expected.tables.rows(
            f"select count({quote_name(name)}), count(distinct {quote_name(name)}) "  # noqa: S608
            f"from {expected.tables.source}"
        )
        if known and different <= _MOST_DIFFERENT * known:
            message = (
                f"k counts records, and {known:,} have {different:,} values of {name}; a class has "
                f"as few as {expected.fewest_in_class(name):,}. Declare who it is as `subject`, "
                "make one record per person in a model before, or, where several people have the "
                "same, declare `repeats: accepted` of the column."
            )
            yield Finding("guarantees", f"{name} repeats", None, message, is_warning=True)


def _exact_value_findings(expected: Expected) -> Iterator[Finding]:
    """Count the people whom exact values find, which no class hides."""
    spec, tables = expected.spec, expected.tables
    names = [name for name in spec.kept_columns if name not in spec.masks]
    if not names:
        return
    relation = expected.exact_values(names)
    alone = []
    for columns in [[name] for name in names] + [names] * (len(names) > 1):
        listed = ", ".join(map(quote_name, columns))
        is_known = " or ".join(f"{quote_name(name)} is not null" for name in columns)
        ((count,),) = tables.rows(
            f"select count(distinct one) from (select min({PERSON}) as one from {relation} "  # noqa: S608
            f"where {is_known} group by {listed} having min({PERSON}) = max({PERSON})) as alone"
        )
        alone.append((columns[0] if len(columns) == 1 else "values together", int(count)))
    if found := [f"{count:,} with their {name}" for name, count in alone if count]:
        ((everybody,),) = tables.rows(f"select count(distinct {PERSON}) from {relation}")  # noqa: S608
        message = (
            f"k does not count them. Of {everybody:,} released "
            f"{'people' if spec.subject else 'records'} are alone: {', '.join(found)}. Whoever "
            "knows these of somebody finds the record."
        )
        yield Finding("guarantees", EXACT_VALUES, None, message)


def _guarantee_findings(expected: Expected) -> Iterator[Finding]:
    """Judge the guarantees: records by the release itself, subjects by the expected release."""
    spec, tables = expected.spec, expected.tables
    relation = tables.release or tables.anonymized
    effort = spec.numbered_efforts[expected.number]
    guarantees = [*spec.guarantees.resolved, *effort.own_guarantees]
    classes = expected.released_classes
    if relation and spec.subject is None:
        if not set(spec.released_columns) <= set(tables.types(f"select * from {relation}")):  # noqa: S608
            for guarantee in guarantees:
                message = "the release lacks declared columns, so that nothing can be counted."
                yield Finding("guarantees", name_of(guarantee), False, message)
            return
        keys = tuple(
            f"encode(cast({quote_name(name)} as varchar))" for name in spec.released_labels
        )
        count, sampled = count_of(spec), expected.sampled
        starred = sorted(spec.quasi_identifiers.keys() - spec.released_quasi_identifiers)
        labels = "".join(f", '*' as {quote_name(name)}" for name in starred)
        rows = f"(select *{labels} from {relation}) as rows_"  # noqa: S608 (quoted)
        classes = Classes(tables, rows, keys, expected.source, count, everybody=sampled)
    recount = Recount(spec, classes, expected.generalizations, expected.number)
    yield from map(recount.judge, guarantees)
