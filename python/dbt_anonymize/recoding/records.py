"""The records of a table as distinct rows of codes, and back to a label for each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dbt_anonymize.errors import RecodingError
from dbt_anonymize.evaluation.data.relations import SOURCE, query
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.table import FloatArray, IntArray, SensitiveAttribute, Table
from dbt_anonymize.recoding.labels import Labels, check_labels
from dbt_anonymize.recoding.leaves import Leaves

if TYPE_CHECKING:
    import duckdb

_IN_WAREHOUSE = "dbt_anonymize_text"


@dataclass(frozen=True, kw_only=True)
class Source:
    """Input of a recoding, as generated models declare it.

    Attributes
    ----------
    quasi_identifiers : sequence of mappings
        With `name`, `kind`, `levels` and `hierarchy`, a relation.
    guarantees : sequence of mappings
        With `model` and parameters, those of the effort among them.
    k : int, optional
        Smallest class that the effort wants, where it is larger than guaranteed.
    sensitive_hierarchies : mapping
        Relations, by the attributes that have one.
    """

    session: duckdb.DuckDBPyConnection
    microdata: duckdb.DuckDBPyRelation
    record_key: str
    quasi_identifiers: Sequence[Mapping[str, Any]]
    guarantees: Sequence[Mapping[str, Any]]
    k: int | None = None
    has_subject: bool = False
    population_size: int | None = None
    sensitive_hierarchies: Mapping[str, duckdb.DuckDBPyRelation] = field(default_factory=dict)

    @property
    def sensitive(self) -> list[str]:
        """Attributes that guarantees are about."""
        return list(dict.fromkeys(g["attribute"] for g in self.guarantees if "attribute" in g))

    @property
    def as_text(self) -> str:
        """SQL of a value as text, with braces for it, as the warehouse writes it."""
        sql = f"select count(*) from duckdb_functions() where function_name = '{_IN_WAREHOUSE}'"  # noqa: S608
        ((count,),) = self.session.sql(sql).fetchall()
        return f"{_IN_WAREHOUSE}({{}})" if count else "cast({} as varchar)"


@dataclass(frozen=True, eq=False)
class Records:
    """Distinct rows of codes in ascending order; arrays are (rows,).

    Attributes
    ----------
    codes : sequence of arrays of int
        Leaf of each quasi-identifier; see `Leaves`.
    numbers : sequence of arrays of float, or None of categories
        The values that rows are told apart by, in the unit of the leaves; NaN is NULL.
    table : Table
        Records, sensitive values and subjects, as guarantees judge them.
    sensitive_texts : mapping
        The values of each sensitive attribute, in the order of their codes.
    """

    leaves: tuple[Leaves, ...]
    codes: tuple[IntArray, ...]
    numbers: tuple[FloatArray | None, ...]
    table: Table
    sensitive_texts: Mapping[str, Sequence[str | None]]
    source: Source
    # One row per record: `record_key`, and the columns of `_rows`, which has a row per row.
    _keyed: duckdb.DuckDBPyRelation
    _rows: pd.DataFrame

    def __len__(self) -> int:
        return len(self.table.records)

    @classmethod
    def read(cls, source: Source, *, by_value: bool = False, by_record: bool = False) -> Records:
        """Count the distinct rows of the microdata; a value that a hierarchy lacks is refused.

        ``by_value``: numbers are told apart by their values, not by their leaves. ``by_record``:
        each record is a row, in the order of codes and record keys.
        """
        leaves = tuple(Leaves.read(one, source.as_text) for one in source.quasi_identifiers)
        keyed = query(source.microdata, _columns(source))
        keys = [_Key.of(keyed, place, one, by_value) for place, one in enumerate(leaves)]
        for key in keys:
            keyed = key.join(keyed)
        sensitive: list[SensitiveAttribute] = []
        texts: list[list[str | None]] = []
        for place, name in enumerate(source.sensitive):
            keyed, values = _coded(keyed, f"value_{place}")
            texts.append(_texts(values, source))
            sensitive.append(_attribute(name, texts[-1], source))
        if source.has_subject:
            keyed, _ = _coded(keyed, "subject")
        names = [f"key_{place}" for place in range(len(keys))]
        if by_record:
            number = f"row_number() over (order by {', '.join(names)}, record_key) - 1 as row"
            keyed = query(keyed, f"select *, {number} from {SOURCE}")  # noqa: S608
        extra = [f"value_{place}" for place in range(len(sensitive))]
        extra += ["subject"] if source.has_subject else []
        rows = _counted(keyed, names, [*extra, *(["row"] if by_record else [])])
        found = [key.codes(rows[name]) for key, name in zip(keys, names, strict=True)]
        return cls(
            leaves,
            tuple(codes for codes, _ in found),
            tuple(numbers for _, numbers in found),
            Table(
                attributes=(),
                leaves=np.empty((len(rows["records"]), 0), dtype=np.int64),
                records=rows["records"],
                sensitive=tuple(
                    (one, rows[f"value_{place}"]) for place, one in enumerate(sensitive)
                ),
                subject=rows.get("subject"),
                population_size=source.population_size,
            ),
            dict(zip(source.sensitive, texts, strict=True)),
            source,
            keyed,
            pd.DataFrame({name: rows[name] for name in (["row"] if by_record else names)}),
        )

    def recoded(
        self,
        labels: Sequence[Labels],
        of_rows: Sequence[IntArray],
        classes: IntArray | None = None,
    ) -> duckdb.DuckDBPyRelation:
        """Return the recoding, one row per record; ``of_rows`` has the label of each row.

        A label has one meaning, or with ``classes`` those of a class together have one.
        """
        check_labels(self.leaves, labels, classes)
        keys = list(self._rows.columns)
        ids = {f"id_{place}": of.astype(np.int32) for place, of in enumerate(of_rows)}
        rows = self.source.session.from_df(self._rows.assign(**ids).drop_duplicates(keys))
        same = " and ".join(f"l.{key} = r.{key}" for key in keys)
        # A record without labels would be lost: the effort stops.
        labelled = _joined(self._keyed, rows, same, [f"r.{name}" for name in ids], "l.record_key")
        columns = [f"record_key as {quote_name(self.source.record_key)}"]
        for place, (leaves, of_place) in enumerate(zip(self.leaves, labels, strict=True)):
            shown = self._shown(leaves, of_place)
            parts = ["label", *(["lower", "upper"] if leaves.is_interval else []), "level", "share"]
            names = [leaves.name, *(f"{leaves.name}_{part}" for part in parts[1:])]
            added = [f"r.{part} as {part}_{place}" for part in parts]
            labelled = _joined(labelled, shown, f"l.id_{place} = r.id", added)
            columns += [
                f"{part}_{place} as {quote_name(name)}"
                for part, name in zip(parts, names, strict=True)
            ]
        return query(labelled, f"select {', '.join(columns)} from {SOURCE}")  # noqa: S608

    def _shown(self, leaves: Leaves, labels: Labels) -> duckdb.DuckDBPyRelation:
        """Return labels with the bounds that their leaves have in the hierarchy."""
        shown, as_text = self.source.session.from_df(labels.frame()), self.source.as_text
        label = "label"
        if leaves.is_interval:
            for end, bound in (("first", "leaf"), ("last", "upper_bound")):
                on, added = f"l.{end}_code = r.code", [f"r.{bound} as {end}_bound"]
                shown = _joined(shown, leaves.relation, on, added)
            label = f"coalesce({as_text.format(leaves.written_number)}, label)"
        bounds = "first_bound as lower, last_bound as upper, " if leaves.is_interval else ""
        return query(shown, f"select id, {label} as label, {bounds} level, share from {SOURCE}")  # noqa: S608


def _columns(source: Source) -> str:
    """Return a select of the microdata under names of our own."""
    columns = {"record_key": source.record_key}
    for place, one in enumerate(source.quasi_identifiers):
        columns |= {f"raw_{place}": one["name"], f"leaf_{place}": f"{one['name']}_leaf"}
    columns |= {f"value_{place}": name for place, name in enumerate(source.sensitive)}
    columns |= {"subject": "subject"} if source.has_subject else {}
    listed = ", ".join(f"{quote_name(name)} as {own}" for own, name in columns.items())
    return f"select {listed} from {SOURCE}"  # noqa: S608


def _joined(
    left: duckdb.DuckDBPyRelation,
    right: duckdb.DuckDBPyRelation,
    condition: str,
    added: Sequence[str],
    kept: str = "l.*",
) -> duckdb.DuckDBPyRelation:
    joined = left.set_alias("l").join(right.set_alias("r"), condition, how="left")
    return joined.project(", ".join([kept, *added]))


@dataclass(frozen=True)
class _Key:
    """Codes that tell rows apart in one quasi-identifier: of its leaves, or of its values."""

    place: int
    leaves: Leaves
    values: duckdb.DuckDBPyRelation | None

    @classmethod
    def of(cls, keyed: duckdb.DuckDBPyRelation, place: int, leaves: Leaves, by_value: bool) -> _Key:
        if not (by_value and leaves.is_interval):
            return cls(place, leaves, None)
        values = query(
            keyed,
            f"select raw_{place} as raw, min(leaf_{place}) as leaf, "  # noqa: S608
            f"cast(row_number() over (order by raw_{place}) as integer) as code from {SOURCE} "
            f"where raw_{place} is not null group by raw_{place}",
        )
        added = ["coalesce(r.code, -1) as leaf_code"]
        return cls(place, leaves, _joined(values, leaves.relation, "l.leaf = r.leaf", added))

    def join(self, keyed: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Add `key_<place>`: 0 of NULL, -1 of what the hierarchy lacks."""
        place, own = self.place, "leaf" if self.values is None else "raw"
        code = f"case when l.{own}_{place} is null then 0 else coalesce(r.code, -1) end"
        keys = self.leaves.relation if self.values is None else self.values
        return _joined(keyed, keys, f"l.{own}_{place} = r.{own}", [f"{code} as key_{place}"])

    def codes(self, keys: IntArray) -> tuple[IntArray, FloatArray | None]:
        """Return the codes of leaves, and the numbers that keys stand for."""
        numbers = None
        if self.values is not None:
            number = self.leaves.number_sql("raw", self.values)
            found = query(
                self.values,
                f"select leaf_code, {number} as number from {SOURCE} order by code",  # noqa: S608
            ).fetchnumpy()
            numbers = np.append(np.nan, np.ma.getdata(found["number"]))[keys]
            keys = np.append(0, np.ma.getdata(found["leaf_code"]))[keys]
        missing = int((keys < 0).sum())
        if missing:
            raise RecodingError(
                f"every value of {self.leaves.name} must be in its hierarchy; {missing} are not. "
                "Build again from the microdata on."
            )
        return keys, numbers


def _coded(
    keyed: duckdb.DuckDBPyRelation, column: str
) -> tuple[duckdb.DuckDBPyRelation, duckdb.DuckDBPyRelation]:
    """Replace the values of a column by codes in their order, NULL last; return also the values."""
    values = query(
        keyed,
        f"select {column} as value, cast(row_number() over (order by {column} nulls last) - 1 "  # noqa: S608
        f"as integer) as code from {SOURCE} group by {column}",
    )
    joined = keyed.set_alias("l").join(
        values.set_alias("r"), f"l.{column} is not distinct from r.value", how="left"
    )
    return joined.project(f"l.* replace (r.code as {column})"), values


def _texts(values: duckdb.DuckDBPyRelation, source: Source) -> list[str | None]:
    """Return values as text, in the order of their codes."""
    sql = f"select {source.as_text.format('value')} from {SOURCE} order by code"  # noqa: S608
    return [text for (text,) in query(values, sql).fetchall()]


def _attribute(name: str, texts: Sequence[str | None], source: Source) -> SensitiveAttribute:
    """Describe the values of a sensitive attribute, with their labels at each level."""
    tree = source.sensitive_hierarchies.get(name)
    if tree is None:
        return SensitiveAttribute(name, len(texts))
    levels = sum(column.lower().startswith("level_") for column in tree.columns)
    columns = ["value", *(f"level_{level}" for level in range(1, levels + 1))]
    listed = ", ".join(map(source.as_text.format, columns))
    known = {leaf: path for leaf, *path in query(tree, f"select {listed} from {SOURCE}").fetchall()}  # noqa: S608
    missing = sum(text not in known for text in texts)
    if missing:
        raise RecodingError(
            f"every value of {name} must be in its hierarchy; {missing} are not. Add them."
        )
    levels_of_values = zip(*(known[text] for text in texts), strict=True)
    coded = [pd.factorize(np.array(one, dtype=object))[0] for one in levels_of_values]
    return SensitiveAttribute(name, len(texts), (np.arange(len(texts)), *coded))


def _counted(
    keyed: duckdb.DuckDBPyRelation, keys: Sequence[str], others: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Count the records of each distinct row, in ascending order."""
    names = [*keys, *others]
    listed = ", ".join(names)
    order = ", ".join(["row"] if "row" in others else names)
    rows = query(
        keyed,
        f"select {listed}, count(*) as records from {SOURCE} group by {listed} order by {order}",  # noqa: S608
    ).fetchnumpy()
    return {name: np.ma.getdata(rows[name]) for name in (*names, "records")}
