"""Load ``<n>_frequencies`` and the hierarchies as the coded table of a search.

The warehouse codes values: only whole numbers and counts are fetched, packed into as few columns as
possible, one row per combination that matters to the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.declared import search_of
from dbt_anonymize.extensions.search.packed_keys import packed_keys, unpack_keys
from dbt_anonymize.extensions.search.preconditions import check_readable
from dbt_anonymize.extensions.search.source import Source, rebuild
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.privacy.label_shares import shares_of_labels, width
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Hierarchy, Spec


@dataclass(frozen=True)
class Coding:
    """Codes of the leaves of a quasi-identifier in a table.

    Attributes
    ----------
    declared : dict
        The quasi-identifier as an argument of macros.
    by : str
        raw: each raw value has a code; leaf: each leaf of the hierarchy.
    present : array of int, shape (codes of the warehouse + 1,)
        Code in the table, -1 for absent values; the last is that of NULL.
    """

    declared: dict[str, Any]
    by: str
    present: Ints

    @property
    def name(self) -> str:
        """Name of the quasi-identifier."""
        return str(self.declared["name"])

    @property
    def is_interval(self) -> bool:
        """Tell whether codes stand for numbers or dates, not texts."""
        return bool(self.declared["kind"] == "interval")


@dataclass(frozen=True)
class Loaded:
    """A table, the codes of its leaves, and the relations that it was read from."""

    table: Table
    codings: tuple[Coding, ...]
    relations: Sequence[Any]

    def coded_values(self, warehouse: Warehouse, coding: Coding) -> list[Any]:
        """Return the values in the order of their codes in the warehouse."""
        sql = warehouse.macro(
            "_search_values_in_order",
            relations=self.relations,
            quasi_identifier=coding.declared,
            by=coding.by,
        )
        return [value for (value,) in warehouse.rows(sql)]


def load_table(warehouse: Warehouse, spec: Spec, *, measure: str) -> Table:
    """Return the table alone; see `load`."""
    return load(warehouse, spec, measure=measure).table


def load(warehouse: Warehouse, spec: Spec, *, measure: str) -> Loaded:
    """Load ``<n>_frequencies``, ``<n>_population`` and the hierarchies for a search.

    Rows are in the order of their codes. A NULL quasi-identifier is a leaf of its own with the
    label ``*`` at every level above 0; ``*`` covers everything. Search bounds decide if raw values
    have codes of their own; the measure ``classification_metric`` reads the targets.

    Raises
    ------
    WarehouseError
        If a relation does not exist or cannot be read.
    SearchError
        If the frequencies are of another spec or older than the hierarchies, a hierarchy is not
        functional or not nested, an attribute of a guarantee has a NULL, or the population lacks
        subjects of the source.
    """
    source = Source.find(warehouse, spec)
    _check_hierarchies(source)
    check_readable(spec, measure)
    columns = [_Column.read(source, name) for name in _columns_to_read(spec, measure)]
    attributes = [_Domain.read(source, name) for name in spec.quasi_identifiers]
    rows = _Rows.read(source, attributes, columns)
    return _coded_table(source, attributes, columns, rows)


def _check_hierarchies(source: Source) -> None:
    """Check that hierarchies are nested, well-formed, and the same as in the last build."""
    spec = source.spec
    scattered = [name for name, tree in spec.quasi_identifiers.items() if not tree.nested]
    if scattered:
        raise SearchError(
            f"{spec.name}: must have nested hierarchies to be searched, so that a higher level "
            f"never parts what a lower one joins; nested is false for {', '.join(scattered)}. "
            "Write the efforts by hand, or make the hierarchy nested."
        )
    problems: list[str] = []
    for name in spec.quasi_identifiers:
        declared = source.quasi_identifier(name)
        errors = source.warehouse.macro("_hierarchy_errors", quasi_identifier=declared)
        problems.extend(f"{spec.name}: {error}" for error in errors)
    if problems:
        raise SearchError("\n".join(problems))
    for name in spec.quasi_identifiers:
        uncovered = source.numbers(
            "_search_uncovered",
            relations=source.relations,
            quasi_identifier=source.quasi_identifier(name),
        )["records"]
        if int(uncovered[0]):
            problems.append(
                f"{spec.name}: the hierarchy of {name} must be the one that the frequencies were "
                f"built with; {int(uncovered[0])} records have another place in it now. "
                f"{rebuild(spec)}"
            )
    if problems:
        raise SearchError("\n".join(problems))


def _columns_to_read(spec: Spec, measure: str) -> list[str]:
    """Return the columns beside the quasi-identifiers that guarantees and measure read."""
    attributes = [str(g["attribute"]) for g in spec.guarantees.resolved if "attribute" in g]
    targets = spec.loss_targets if measure == "classification_metric" else []
    return list(dict.fromkeys([*attributes, *targets]))


@dataclass(frozen=True)
class _Column:
    """A sensitive attribute of a guarantee, or a target."""

    name: str
    size: int
    tree: tuple[Ints, ...]

    @classmethod
    def read(cls, source: Source, name: str) -> _Column:
        """Count the values, none of which may be NULL, and code their hierarchy."""
        counts = source.numbers("_search_kept_counts", frequencies=source.frequencies, column=name)
        missing = int(counts["missing"][0])
        if missing:
            raise SearchError(
                f"{source.spec.name}: {name} must not be NULL where a guarantee limits it or a "
                f"measure reads it; got {pluralized(missing, 'record')} without. Give them a value "
                f"in a model, such as coalesce({name}, 'none'), or filter them. Then "
                f"{source.spec.name}_frequencies must be built again. {rebuild(source.spec)}"
            )
        return cls(name, int(counts["size"][0]), cls._tree(source, name))

    @staticmethod
    def _tree(source: Source, name: str) -> tuple[Ints, ...]:
        hierarchy = source.spec.sensitive_hierarchies.get(name)
        if hierarchy is None:
            return ()
        levels = source.numbers(
            "_search_kept_tree",
            frequencies=source.frequencies,
            column=name,
            hierarchy=source.warehouse.relation_of_ref(hierarchy.ref),
            levels=hierarchy.levels,
        )
        codes = [levels[f"level_{level}"] for level in range(1, hierarchy.levels + 1)]
        uncovered = int((codes[-1] < 0).sum())
        if uncovered:
            raise SearchError(
                f"{source.spec.name}: the hierarchy of {name} must have all of its values; "
                f"it lacks {pluralized(uncovered, 'value')}. Add them to {hierarchy.ref}."
            )
        return (
            np.arange(len(codes[0])),
            *(np.unique(level, return_inverse=True)[1].astype(np.int64) for level in codes),
        )

    @property
    def part(self) -> dict[str, Any]:
        """The column as a part of a key."""
        return {"name": self.name, "role": "kept", "size": self.size}


@dataclass(frozen=True)
class _Domain:
    """A quasi-identifier with all of its leaves, also absent ones; the last is NULL."""

    name: str
    hierarchy: Hierarchy
    declared: dict[str, Any]
    by: str
    levels: tuple[Ints, ...]
    shares: tuple[Floats, ...]
    rows: int

    @classmethod
    def read(cls, source: Source, name: str) -> _Domain:
        """Read the codes of a hierarchy, and for intervals also those of raw values."""
        hierarchy, declared = source.spec.quasi_identifiers[name], source.quasi_identifier(name)
        relation, is_interval = declared["hierarchy"], hierarchy.kind == "interval"
        codes = source.numbers(
            "_search_hierarchy",
            hierarchy=relation,
            kind=hierarchy.kind,
            levels=hierarchy.levels,
        )
        bounds = _bounds(source, relation) if is_interval else None
        rows = len(codes["level_1"])
        bound = search_of(source.spec).levels.get(name)
        # Raw numbers and dates are many; if none may be released, their intervals suffice.
        is_raw = is_interval and (bound is None or bound.lowest == 0)
        if is_raw:
            leaves = source.numbers(
                "_search_values", relations=source.relations, quasi_identifier=declared
            )["leaf"]
        else:
            leaves = np.arange(rows)
        levels, shares = [np.arange(len(leaves) + 1)], [np.zeros(len(leaves) + 1)]
        if not is_interval:
            shares[0][:] = 1.0 / rows
        shares[0][-1] = 1.0
        for level in range(1, hierarchy.levels + 1):
            labels, is_root = codes[f"level_{level}"], codes[f"is_root_{level}"] == 1
            label_shares = shares_of_labels(labels, bounds)
            label_shares[labels[is_root]] = 1.0
            # NULL has the label `*`, which may be that of other leaves too.
            null = int(labels[is_root][0]) if is_root.any() else len(label_shares)
            levels.append(np.append(labels[leaves], null))
            shares.append(label_shares if is_root.any() else np.append(label_shares, 1.0))
        by = "raw" if is_raw else "leaf"
        return cls(name, hierarchy, declared, by, tuple(levels), tuple(shares), rows)

    @property
    def part(self) -> dict[str, Any]:
        """The quasi-identifier as a part of a key."""
        size = len(self.levels[0]) - 1
        return {**self.declared, "role": "quasi_identifier", "by": self.by, "size": size}

    def restrict_to(self, is_present: Bools, spec: Spec) -> Attribute:
        """Return the attribute with only the present leaves, in the same order."""
        levels, shares = [], []
        for labels, label_shares in zip(self.levels, self.shares, strict=True):
            occurring, codes = np.unique(labels[is_present], return_inverse=True)
            levels.append(codes.reshape(-1).astype(np.int64))
            shares.append(label_shares[occurring])
        bound = search_of(spec).levels.get(self.name)
        is_interval = self.hierarchy.kind == "interval"
        return Attribute(
            name=self.name,
            levels=tuple(levels),
            shares=tuple(shares),
            domain_size=self.rows,
            smallest_share=0.0 if is_interval else 1.0 / self.rows,
            weight=spec.weights[self.name],
            lowest=0 if bound is None else bound.lowest,
            highest=None if bound is None else bound.highest,
        )


def _bounds(source: Source, hierarchy: Any) -> tuple[Floats, Floats]:
    """Return start and end of each interval, relative to the start of its hierarchy."""
    bounds = source.warehouse.rows(source.warehouse.macro("_search_bounds", hierarchy=hierarchy))
    start = min(lower for lower, _ in bounds)
    ends = np.array([[width(end - start) for end in interval] for interval in bounds])
    return ends[:, 0], ends[:, 1]


@dataclass(frozen=True)
class _Rows:
    """Counts from the warehouse; codes of quasi-identifiers first, in the order of the keys."""

    codes: tuple[Ints, ...]
    kept: tuple[Ints, ...]
    subject: Ints | None
    records: Ints
    population: Ints
    starts: Ints

    @classmethod
    def read(
        cls, source: Source, attributes: Sequence[_Domain], columns: Sequence[_Column]
    ) -> _Rows:
        """Count the records of each combination of codes, and unpack the keys."""
        qi_keys, column_keys = (
            packed_keys(a.part for a in attributes),
            packed_keys(k.part for k in columns),
        )
        counts = source.numbers(
            "_search_rows",
            frequencies=source.frequencies,
            population=source.population,
            keys=[*qi_keys, *column_keys],
            has_subject=source.spec.subject is not None,
            # Under differential privacy a search pays for the whole source: the sample protects
            # people in the release.
            share=source.spec.sample.share if source.spec.sample else None,
        )
        if not len(counts["records"]):
            raise SearchError(
                f"{source.frequencies.identifier}: must hold records; it has none. "
                f"{rebuild(source.spec)}"
            )
        keys = [
            counts.pop(f"key_{number}") for number in range(1, len(qi_keys) + len(column_keys) + 1)
        ]
        changes = np.zeros(len(counts["records"]), dtype=np.bool_)
        changes[0] = True
        for key in keys[: len(qi_keys)]:
            changes[1:] |= key[1:] != key[:-1]
        return cls(
            codes=tuple(unpack_keys(keys[: len(qi_keys)], qi_keys)),
            kept=tuple(unpack_keys(keys[len(qi_keys) :], column_keys)),
            subject=counts.get("subject"),
            records=counts["records"],
            population=counts["population"],
            starts=np.flatnonzero(changes),
        )


def _coded_table(
    source: Source, attributes: Sequence[_Domain], kept_columns: Sequence[_Column], rows: _Rows
) -> Loaded:
    # Stored by column, as a search reads it.
    leaves = np.empty((len(rows.records), len(attributes)), dtype=np.int64, order="F")
    present: list[Attribute] = []
    codings: list[Coding] = []
    for place, (domain, codes) in enumerate(zip(attributes, rows.codes, strict=True)):
        is_present = np.bincount(codes, minlength=len(domain.levels[0])) > 0
        code = np.where(is_present, np.cumsum(is_present) - 1, -1)
        leaves[:, place] = code[codes]
        codings.append(Coding(domain.declared, domain.by, code))
        present.append(domain.restrict_to(is_present, source.spec))
    if source.population is not None:
        _check_population(source, rows)
    subject = rows.subject
    if subject is not None:
        subject = np.unique(subject, return_inverse=True)[1].reshape(-1)
    columns_by_name = {
        column.name: (column, codes) for column, codes in zip(kept_columns, rows.kept, strict=True)
    }
    weights = source.spec.loss_targets.items()
    limited = {g["attribute"] for g in source.spec.guarantees.resolved if "attribute" in g}
    table = Table(
        attributes=tuple(present),
        leaves=leaves,
        records=rows.records,
        sensitive=tuple(
            (SensitiveAttribute(name, column.size, column.tree), codes)
            for name, (column, codes) in columns_by_name.items()
            if name in limited
        ),
        subject=subject,
        population=None if source.population is None else rows.population,
        population_size=source.spec.population_size,
        targets=tuple(
            (columns_by_name[name][1], weight)
            for name, weight in weights
            if name in columns_by_name
        ),
    )
    return Loaded(table, tuple(codings), source.relations)


def _check_population(source: Source, rows: _Rows) -> None:
    records = np.add.reduceat(rows.records, rows.starts)
    population = np.add.reduceat(rows.population, rows.starts)
    missing = int(((records > 0) & (population == 0)).sum())
    if missing:
        spec = source.spec
        raise SearchError(
            f"{spec.name}: the population must hold everybody in the source; {missing} of "
            f"{int((records > 0).sum())} combinations of quasi-identifiers are missing in it. "
            f"Correct its relation. {rebuild(spec)}"
        )
