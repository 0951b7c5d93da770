"""Data of a report: the evidence of a dossier, and counts that show no small group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extension import report_sections
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.engines import text_type
from dbt_anonymize.project.evidence import Evidence, Row, collect, find_relation, read_relation
from dbt_anonymize.project.results import records_of_one_value
from dbt_anonymize.project.sections import rounding_unit
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import ALL
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import open_release

# Columns of a relation about models.
_OF_MODELS = {"effort", "target", "model", "fit", "test_on"}
# Sample rows of the release.
_ROWS = 5
# Where a size of classes begins.
SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

_CLASS_SIZES = """
    select
        effort,
        case {sizes} end as size_from,
        count(*) as classes,
        sum(records) as records
    from {relation}
    where not is_suppressed
    group by 1, 2
    order by 1, 2
"""
_LABELS = """
    select effort, cast({column} as {text}) as label, sum(records) as records
    from {relation}
    where effort > 0 and not is_suppressed
    group by 1, 2
"""


@dataclass(frozen=True)
class Findings:
    """The evidence, and further relations by their part of the name; None is missing.

    ``labels``: for each quasi-identifier how many records have a label, per effort, none of fewer
    than ``fewest``. ``hierarchies``: rows of labels, without values. ``own_values``: released
    columns in which nearly every record has a value of its own, ``single`` or ``fractions``.
    ``released``: a few rows of the published release, as they are. ``alike``: released records
    whose whole class has the same value of the target.
    """

    evidence: Evidence
    parts: Mapping[str, Sequence[Row] | None]
    labels: Mapping[str, Sequence[Row]]
    hierarchies: Mapping[str, Sequence[Row]]
    own_values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    released: Sequence[Row] = ()
    alike: int = 0

    @property
    def spec(self) -> Spec:
        """The declaration."""
        return self.evidence.spec

    @property
    def fewest(self) -> int:
        """Counts of people are multiples of this."""
        return rounding_unit(self.spec)

    @property
    def results(self) -> list[Row]:
        """The results, ordered by effort."""
        return sorted(self.evidence.rows("results"), key=lambda row: int(row["effort"]))

    @property
    def chosen(self) -> Row | None:
        """The results of the chosen effort."""
        return next((row for row in self.results if row["is_chosen"]), None)

    @property
    def all_evidence(self) -> Evidence:
        """The evidence with the further relations."""
        relations = {**self.evidence.relations, **self.parts}
        return replace(self.evidence, relations=relations)

    def rows(self, part: str) -> list[Row]:
        """Return the rows of a relation; none where it is missing."""
        return self.all_evidence.rows(part)


def round_count(count: float, base: int) -> int:
    """Return the nearest multiple, down at a tie; what is below ``base`` gives 0.

    Examples
    --------
    >>> [round_count(count, 5) for count in (0, 1, 4, 5, 7, 8, 12)]
    [0, 0, 0, 5, 5, 10, 10]
    """
    return 0 if count < base else int(-(-(2 * count - base) // (2 * base)) * base)


def read_findings(warehouse: Warehouse, spec: Spec) -> Findings:
    """Read what a report shows; a `WarehouseError` where nothing is built."""
    evidence = collect(warehouse, spec)
    chosen = evidence.effort
    efforts = ", ".join(map(str, sorted({0, chosen} - {None})))  # type: ignore[type-var]
    sizes = " ".join(f"when class_size >= {size} then {size}" for size in reversed(SIZES))
    parts = {
        part: read_relation(warehouse, find_relation(warehouse, f"{spec.name}_{part}"), query)
        for part, query in _queries(spec, efforts, evidence).items()
    }
    by_size = _substituted(_CLASS_SIZES, sizes=sizes)
    parts["classes"] = read_relation(warehouse, _countable_classes(warehouse, spec), by_size)
    return Findings(
        evidence,
        parts,
        _labels(warehouse, spec),
        _hierarchies(warehouse, spec),
        _own_values(warehouse, spec),
        _sample_rows(warehouse, evidence),
        records_of_one_value(warehouse, spec, chosen) if evidence.is_current else 0,
    )


def _queries(spec: Spec, efforts: str, evidence: Evidence) -> dict[str, str]:
    """Return the queries of further relations, extensions' included.

    Relations about models are read for the deciding model and these efforts only.
    """
    deciding = _deciding(spec)
    deciding_rows = f"select * from {{relation}} where {deciding} and effort in ({efforts})"  # noqa: S608
    parts = {name for _, sections in report_sections() for name in sections.relations}
    return {
        name: deciding_rows
        if {*ALL[name].column_names} >= _OF_MODELS
        else "select * from {relation}"
        for name in sorted(parts - {*evidence.relations})
    } | {
        "information_loss": "select * from {relation} order by effort",
    }


def _deciding(spec: Spec) -> str:
    """Return the condition for rows about the deciding model, which no row meets without models."""
    if not spec.is_tested:
        return "false"
    quality = spec.tests
    return (
        f"target = {quote_text(spec.predicted)} and model = {quote_text(quality.deciding_model)} "
        f"and fit = {quote_text(quality.fit)} and test_on = {quote_text(quality.test_on)}"
    )


def _sample_rows(warehouse: Warehouse, evidence: Evidence) -> list[Row]:
    """Read rows from all over the release, if it is what was built last and can be read."""
    if evidence.release is None or not evidence.is_published:
        return []
    if not warehouse.is_duckdb:
        return _spaced_rows(warehouse.cursor(), evidence.release)
    try:
        with open_release(evidence.spec, Path(evidence.release)) as release:
            return _spaced_rows(release.cursor, release.relation)
    except VerificationError:
        return []


def _spaced_rows(cursor: Any, relation: str) -> list[Row]:
    cursor.execute(f"select count(*) from {relation}")  # noqa: S608 (names of our own, quoted)
    ((count,),) = cursor.fetchall()
    rows: list[Row] = []
    for place in range(min(_ROWS, count)):
        at = count * place // _ROWS if count > _ROWS else place
        cursor.execute(f"select * from {relation} limit 1 offset {at}")  # noqa: S608 (as above)
        names = [str(column[0]) for column in cursor.description]
        rows += [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return rows


def _own_values(warehouse: Warehouse, spec: Spec) -> dict[str, Sequence[str]]:
    """Name the released columns that are keys, as the build does, accepted ones too."""
    relation = find_relation(warehouse, f"{spec.name}_microdata")
    keyed = [name for name, mask in spec.masks.items() if mask.has_key]
    names = {spec.stored_column(name): name for name in spec.kept_columns if name not in keyed}
    if relation is None:
        return {}
    columns_of_kind: dict[str, list[str]] = warehouse.macro(
        "_own_values", relation=relation, names=list(names), has_subject=spec.subject is not None
    )
    return {
        kind: [names[stored] for stored in columns] for kind, columns in columns_of_kind.items()
    }


def _substituted(query: str, **parts: str) -> str:
    """Fill in the named parts of a query; `read_relation` fills in the relation."""
    for name, part in parts.items():
        query = query.replace(f"{{{name}}}", part)
    return query


def _countable_classes(warehouse: Warehouse, spec: Spec) -> Any:
    """Return the classes to count, as SQL: only released ones if joiners are held back."""
    classes = find_relation(warehouse, f"{spec.name}_classes")
    if not spec.holds_back_joiners or classes is None:
        return classes
    released = find_relation(warehouse, f"{spec.name}_released_classes")
    columns = ["effort", "class_size", "records", *map(quote_name, spec.quasi_identifiers)]
    listed = ", ".join(columns)
    return released and (
        f"(select {listed}, is_suppressed from {classes} where effort = 0 "  # noqa: S608 (quoted)
        f"union all select {listed}, false as is_suppressed from {released}) as told"
    )


def _labels(warehouse: Warehouse, spec: Spec) -> dict[str, Sequence[Row]]:
    """Count labels; under differential privacy nothing, since exact counts are not private."""
    if spec.differential_privacy is not None:
        return {}
    classes = _countable_classes(warehouse, spec)
    text = text_type(warehouse.kind)
    unit = rounding_unit(spec)
    queries = {
        name: _substituted(_LABELS, column=quote_name(name), text=text)
        for name in spec.quasi_identifiers
    }
    return {
        name: round_label_counts(read_relation(warehouse, classes, query) or (), unit)
        for name, query in queries.items()
    }


def round_label_counts(rows: Sequence[Row], unit: int) -> list[Row]:
    """Round the counts of labels; labels that are too rare share one line without a label."""
    frequent, rare = list[Row](), dict[int, float]()
    for row in rows:
        count = round_count(float(row["records"]), unit)
        if count:
            frequent.append({**row, "records": count})
        else:
            effort = int(row["effort"])
            rare[effort] = rare.get(effort, 0) + float(row["records"])
    for effort, records in rare.items():
        if count := round_count(records, unit):
            frequent.append({"effort": effort, "label": None, "records": count})
    return frequent


def _hierarchies(warehouse: Warehouse, spec: Spec) -> dict[str, Sequence[Row]]:
    """Read the labels of hierarchies, in order; never the values below them."""
    labels = dict[str, Sequence[Row]]()
    for name, hierarchy in spec.quasi_identifiers.items():
        levels = ", ".join(f"level_{level}" for level in range(1, hierarchy.levels + 1))
        order = "lower_bound" if hierarchy.kind == "interval" else levels
        query = f"select {levels} from {{relation}} order by {order}"  # noqa: S608 (of our own)
        rows = read_relation(warehouse, find_relation(warehouse, hierarchy.ref), query)
        if rows:
            labels[name] = rows
    return labels
