"""Kept columns, compared row by row with identifiers, record key and quasi-identifiers.

This finds what a search for values cannot: numbers, dates and codes too short to be searched for,
and values that a one-to-one function has changed.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dbt_anonymize.extensions.identifier_search.agreement import Agreement, SampledColumn, agreement
from dbt_anonymize.extensions.identifier_search.places import has_numbers
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

# A sample of this size shows what holds in nine of ten records.
_MOST_ROWS = 2_000


def compare_rows(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Compare each kept column, as it is released, with identifiers, record key, quasi-identifiers.

    The warehouse is DuckDB, or a copy. There is a finding for each column that equals one of them,
    or a one-to-one function of one, in more rows than by chance; for a quasi-identifier a warning,
    since models may need it. The last finding says what was compared.
    """
    secrets = list(dict.fromkeys([*spec.identifiers, spec.record_key, *spec.quasi_identifiers]))
    released, of_source = _sample_columns(warehouse, spec, secrets)
    clear, declared = 0, []
    for name, column in released.items():
        allowed = spec.columns[name].derived_from
        declared += [f"{name} with {secret}" for secret in secrets if secret in allowed]
        # A mask may derive from its own column.
        compared = [secret for secret in secrets if secret not in {name, *allowed}]
        agreements = {secret: agreement(column, of_source[secret]) for secret in compared}
        agreeing = [(secret, result) for secret, result in agreements.items() if result]
        yield from (_agreement_finding(spec, name, *result) for result in agreeing)
        clear += not agreeing
    yield _coverage_finding(spec, of_source, clear, declared)


def _agreement_finding(spec: Spec, name: str, secret: str, result: Agreement) -> Finding:
    title = "the record key" if secret == spec.record_key else "the identifier"
    how = (
        f"it {result.relation} in {result.matches:,} of {result.rows:,} records "
        f"({result.by_chance:,.0f} by chance)"
    )
    declare = f"mask it, or declare `derived_from: {secret}` if it may tell that much."
    subject = f"{spec.name}_anonymized.{name}"
    if secret in spec.quasi_identifiers:
        message = (
            f"tells the quasi-identifier {secret}, ungeneralized: {how}. Who knows {secret} finds "
            f"the record, whatever k is. Make {name} a quasi-identifier, drop or {declare}"
        )
        return Finding("content", subject, None, message, is_warning=True)
    message = f"must not tell {title} {secret}: {how}. Give {name} the role identifier or dropped, "
    return Finding("content", subject, False, f"{message}{declare}")


def _coverage_finding(
    spec: Spec, of_source: Mapping[str, SampledColumn], clear: int, declared: Sequence[str]
) -> Finding:
    rows = len(of_source[spec.record_key].texts)
    left_out = f". Not compared, as it is declared: {', '.join(declared)}" if declared else ""
    if not rows:
        message = "no record of the microdata is in the source, so that nothing can be compared."
        return Finding("content", "row by row", False, f"{message} Build again.")
    return Finding(
        "content",
        "row by row",
        True,
        f"{clear:,} of {len(spec.kept_columns):,} kept columns do not tell any of "
        f"{', '.join(of_source)}, alike or by a shift, a factor, a prefix, the order of digits or "
        f"a plain hash, in more of {rows:,} records than by chance{left_out}",
    )


def _sample_columns(
    warehouse: Warehouse, spec: Spec, secrets: Sequence[str]
) -> tuple[dict[str, SampledColumn], dict[str, SampledColumn]]:
    """Sample records: kept columns as they are released, and the secrets of the source."""
    microdata = str(warehouse.relation_of_ref(f"{spec.name}_microdata"))
    source = str(warehouse.relation_of(spec.source))
    forms: list[str] = []
    for alias, relation, names in (
        ("kept", microdata, [spec.stored_column(name) for name in spec.kept_columns]),
        ("people", source, secrets),
    ):
        described = warehouse.rows(f"describe select * from {relation}")
        types = {str(name).lower(): str(data_type) for name, data_type, *_ in described}
        for name in names:
            forms += _forms(f"{alias}.{quote_name(name)}", types[name.lower()])
    keys = (
        f"cast({alias}.{quote_name(spec.record_key)} as varchar)" for alias in ("kept", "people")
    )
    rows = warehouse.rows(
        f"select {', '.join(forms)} from (select * from {microdata} using sample "
        f"reservoir({_MOST_ROWS} rows) repeatable (0)) as kept "
        f"inner join {source} as people on {' = '.join(keys)}"
    )
    columns = [
        SampledColumn.of([row[n] for row in rows], [row[n + 1] for row in rows])
        for n in range(0, len(forms), 2)
    ]
    count = len(spec.kept_columns)
    return (
        dict(zip(spec.kept_columns, columns[:count], strict=True)),
        dict(zip(secrets, columns[count:], strict=True)),
    )


def _forms(value: str, data_type: str) -> tuple[str, str]:
    """Return SQL of a value as text and as an exact number; dates and digits give numbers too."""
    text, kind = f"cast({value} as varchar)", data_type.lower()
    if has_numbers(data_type):
        return rf"regexp_replace({text}, '\.0+$', '')", value
    if kind == "date":
        return text, f"try({value} - date '1970-01-01')"
    if kind.startswith("timestamp"):
        return text, f"try(epoch_us({value}))"
    digits = f"regexp_replace({text}, '[^0-9]', '', 'g')"
    numbers = (f"try_cast({number_text} as decimal(38, 10))" for number_text in (text, digits))
    return text, f"coalesce({', '.join(numbers)})"
