"""Compare the description of a release with its rows, its results and its spec."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.about import facts_of
from dbt_anonymize.project.results import read_results
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import Released

_COLUMNS = ["place", "fact", "value", "number"]
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def check_about(
    warehouse: Warehouse, spec: Spec, released: Released, about: str | None, place: str = ""
) -> Iterator[Finding]:
    """Require exactly the expected facts in the description of a release.

    ``about`` is its table, as SQL, or None; ``place`` is its place in messages.
    """
    if about is None:
        return
    columns = [name for name, *_ in released.rows(f"describe {about}")]
    differing = {"its columns"}
    if columns == _COLUMNS:
        differing = _differing_facts(warehouse, spec, released, about)
    message = "it says what the rows, the results and the spec say."
    if differing:
        message = (
            "it must say what the rows, the results and the spec say; these differ: "
            f"{', '.join(sorted(differing))}. Do not hand it out, and build again."
        )
    yield Finding("recomputation", f"{place}{spec.name}_about", not differing, message)


def _differing_facts(warehouse: Warehouse, spec: Spec, released: Released, about: str) -> set[str]:
    rows = released.rows(f"select place, fact, value, number from {about}")  # noqa: S608
    dates = [str(value) for _, fact, value, _ in rows if fact == "date"]
    date = dates[0] if len(dates) == 1 and _DATE.fullmatch(dates[0]) else ""
    shown = spec.released_quasi_identifiers
    counts = ", ".join(["count(*)", *(f"count(nullif({quote_name(name)}, '*'))" for name in shown)])
    ((records, *labels),) = released.rows(f"select {counts} from {released.relation}")  # noqa: S608
    labelled = {name for name, count in zip(shown, labels, strict=True) if count}
    starred = [name for name in spec.quasi_identifiers if name not in labelled]
    facts = facts_of(spec, read_results(warehouse, spec.name), date, records, starred)
    expected = [(n, fact.fact, fact.value, fact.number) for n, fact in enumerate(facts, start=1)]
    # Unknown facts are not named: they may hold anything.
    known = {fact.fact for fact in facts}
    differing = {str(row[1]) for row in {*rows} ^ {*expected}}
    return (differing & known) | (
        {"others"} if differing - known or len(rows) > len(known) else set()
    )
