"""The records of a table as distinct rows of codes, and the way back to labels of records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import RecodingError
from dbt_anonymize.evaluation.data.relations import SOURCE, query
from dbt_anonymize.extensions.recoding.labels import Labels, check_labels
from dbt_anonymize.extensions.recoding.leaves import Leaves, Texts
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table

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
    def names(self) -> list[str]:
        """Names of the quasi-identifiers."""
        return [str(declared["name"]) for declared in self.quasi_identifiers]

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
    keys, key_of_row : sequences
        Key of each quasi-identifier, by which rows are distinct, and the code of each row in it.
    table : Table
        Records, sensitive values and subjects, as guarantees judge them.
    sensitive_texts : mapping
        The values of each sensitive attribute, in the order of their codes.
    """

    keys: tuple[Key, ...]
    key_of_row: tuple[Ints, ...]
    codes: tuple[Ints, ...]
    table: Table
    sensitive_texts: Mapping[str, Sequence[str | None]]
    source: Source
    # One row per record: `record_key`, and the columns of `_rows`, which has a row per row.
    _keyed: duckdb.DuckDBPyRelation
    _rows: pd.DataFrame

    def __len__(self) -> int:
        return len(self.table.records)

    @property
    def leaves(self) -> tuple[Leaves, ...]:
        """The leaves of each quasi-identifier."""
        return tuple(key.leaves for key in self.keys)

    @property
    def numbers(self) -> tuple[Floats | None, ...]:
        """Values of keys by value, in the unit of the leaves; NaN is NULL."""
        return tuple(
            None if key.numbers is None else key.numbers[codes]
            for key, codes in zip(self.keys, self.key_of_row, strict=True)
        )

    @classmethod
    def read(
        cls, source: Source, *, by_value: Collection[str] = (), by_record: bool = False
    ) -> Records:
        """Count the distinct rows of the microdata; refuse values that a hierarchy lacks.

        ``by_value``: numbers and dates that are distinct by value, not by leaf. ``by_record``: each
        record is a row, in the order of codes and record keys.
        """
        leaves = tuple(Leaves.read(one, source.as_text) for one in source.quasi_identifiers)
        keyed = query(source.microdata, _columns(source))
        keys = [
            Key.of(keyed, place, one, source.as_text)
            if one.is_interval and one.name in by_value
            else Key(place, one, np.arange(len(one) + 1))
            for place, one in enumerate(leaves)
        ]
        for key in keys:
            keyed = key.join(keyed)
        sensitive: list[SensitiveAttribute] = []
        texts: list[list[str | None]] = []
        for place, name in enumerate(source.sensitive):
            keyed, values = _encode(keyed, f"value_{place}")
            texts.append(_texts(values, source))
            sensitive.append(_attribute(name, texts[-1], source))
        if source.has_subject:
            keyed, _ = _encode(keyed, "subject")
        names = [f"key_{place}" for place in range(len(keys))]
        if by_record:
            number = f"row_number() over (order by {', '.join(names)}, record_key) - 1 as row"
            keyed = query(keyed, f"select *, {number} from {SOURCE}")  # noqa: S608
        extra = [f"value_{place}" for place in range(len(sensitive))]
        extra += ["subject"] if source.has_subject else []
        rows = _count_rows(keyed, names, [*extra, *(["row"] if by_record else [])])
        key_of_row = tuple(rows[name] for name in names)
        return cls(
            tuple(keys),
            key_of_row,
            tuple(key.leaves_of(codes) for key, codes in zip(keys, key_of_row, strict=True)),
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

    def with_attributes(self, attributes: tuple[Attribute, ...]) -> Records:
        """Return the same rows with the labels that guarantees judge."""
        leaves = np.empty((len(self), len(attributes)), dtype=np.int64, order="F")
        for place, keys in enumerate(self.key_of_row):
            leaves[:, place] = keys
        return replace(self, table=replace(self.table, attributes=attributes, leaves=leaves))

    def recoded(
        self, labels: Sequence[Labels], of_rows: Sequence[Ints], classes: Ints | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return the recoding, one row per record; ``of_rows`` has the label of each row.

        Each label has one meaning; with ``classes``, the labels of a class together have one.
        """
        check_labels(self.leaves, labels, classes)
        keys = list(self._rows.columns)
        ids = {f"id_{place}": of.astype(np.int32) for place, of in enumerate(of_rows)}
        rows = self.source.session.from_df(self._rows.assign(**ids).drop_duplicates(keys))
        same = " and ".join(f"l.{key} = r.{key}" for key in keys)
        # Inner joins would lose a record without labels; so it stops the effort.
        labelled = _left_join(
            self._keyed, rows, same, [f"r.{name}" for name in ids], "l.record_key"
        )
        columns = [f"record_key as {quote_name(self.source.record_key)}"]
        for place, (key, of_place) in enumerate(zip(self.keys, labels, strict=True)):
            leaves, bounded = key.leaves, self._with_bounds(key, of_place)
            parts = ["label", *(["lower", "upper"] if leaves.is_interval else []), "level", "share"]
            names = [leaves.name, *(f"{leaves.name}_{part}" for part in parts[1:])]
            added = [f"r.{part} as {part}_{place}" for part in parts]
            labelled = _left_join(labelled, bounded, f"l.id_{place} = r.id", added)
            columns += [
                f"{part}_{place} as {quote_name(name)}"
                for part, name in zip(parts, names, strict=True)
            ]
        return query(labelled, f"select {', '.join(columns)} from {SOURCE}")  # noqa: S608

    def _with_bounds(self, key: Key, labels: Labels) -> duckdb.DuckDBPyRelation:
        """Return labels with the bounds of their leaves in the hierarchy, or with raw values."""
        bounded, as_text = self.source.session.from_df(labels.frame()), self.source.as_text
        leaves, label, lower, upper = key.leaves, "label", "first_bound", "last_bound"
        if leaves.is_interval:
            for end, bound in (("first", "leaf"), ("last", "upper_bound")):
                on, added = f"l.{end}_code = r.code", [f"r.{bound} as {end}_bound"]
                bounded = _left_join(bounded, leaves.relation, on, added)
            label = f"coalesce({as_text.format(leaves.written_number)}, label)"
        if labels.raw is not None and key.raw is not None:
            bounded = _left_join(bounded, key.raw, "l.value_code = r.code", ["r.raw"])
            lower, upper = f"coalesce(raw, {lower})", f"coalesce(raw, {upper})"
        bounds = f"{lower} as lower, {upper} as upper, " if leaves.is_interval else ""
        return query(bounded, f"select id, {label} as label, {bounds} level, share from {SOURCE}")  # noqa: S608


def _columns(source: Source) -> str:
    """Return a select of the microdata under internal names."""
    columns = {"record_key": source.record_key}
    for place, one in enumerate(source.quasi_identifiers):
        columns |= {f"raw_{place}": one["name"], f"leaf_{place}": f"{one['name']}_leaf"}
    columns |= {f"value_{place}": name for place, name in enumerate(source.sensitive)}
    columns |= {"subject": "subject"} if source.has_subject else {}
    listed = ", ".join(f"{quote_name(name)} as {own}" for own, name in columns.items())
    return f"select {listed} from {SOURCE}"  # noqa: S608


def _left_join(
    left: duckdb.DuckDBPyRelation,
    right: duckdb.DuckDBPyRelation,
    condition: str,
    added: Sequence[str],
    columns: str = "l.*",
) -> duckdb.DuckDBPyRelation:
    joined = left.set_alias("l").join(right.set_alias("r"), condition, how="left")
    return joined.project(", ".join([columns, *added]))


@dataclass(frozen=True, eq=False)
class Key:
    """Codes by which rows are distinct in one quasi-identifier: of its leaves, or of its values.

    0 is NULL. Arrays are (codes + 1,); values ascend.
    """

    place: int
    leaves: Leaves
    codes: Ints  # of leaves
    numbers: Floats | None = None
    # One row per value, with its `code` and its `text`.
    raw: duckdb.DuckDBPyRelation | None = None

    @classmethod
    def of(cls, keyed: duckdb.DuckDBPyRelation, place: int, leaves: Leaves, as_text: str) -> Key:
        """Return the values of a quasi-identifier in the microdata."""
        raw = query(
            keyed,
            f"select raw_{place} as raw, {as_text.format(f'raw_{place}')} as text, "  # noqa: S608
            f"min(leaf_{place}) as leaf, "
            f"cast(row_number() over (order by raw_{place}) as integer) as code from {SOURCE} "
            f"where raw_{place} is not null group by raw_{place}",
        )
        added = ["coalesce(r.code, -1) as leaf_code"]
        values = _left_join(raw, leaves.relation, "l.leaf = r.leaf", added)
        number = leaves.number_sql("raw", values)
        ordered = f"select leaf_code, {number} as number from {SOURCE} order by code"  # noqa: S608
        columns = query(values, ordered).fetchnumpy()
        codes = np.append(0, np.ma.getdata(columns["leaf_code"])).astype(np.int64)
        numbers = np.append(np.nan, np.ma.getdata(columns["number"]))
        return cls(place, leaves, codes, numbers, values)

    def join(self, keyed: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Add `key_<place>`: -1 for values that the hierarchy lacks."""
        place, own = self.place, "leaf" if self.raw is None else "raw"
        code = f"case when l.{own}_{place} is null then 0 else coalesce(r.code, -1) end"
        keys = self.leaves.relation if self.raw is None else self.raw
        return _left_join(keyed, keys, f"l.{own}_{place} = r.{own}", [f"{code} as key_{place}"])

    def texts(self) -> Texts:
        """Return the released texts of values, `*` for NULL."""
        if self.raw is None:
            return np.append(np.array(["*"], dtype=object), self.leaves.texts[0])
        texts = query(self.raw, f"select text from {SOURCE} order by code").fetchnumpy()  # noqa: S608
        return np.append(np.array(["*"], dtype=object), np.ma.getdata(texts["text"]))

    def leaves_of(self, keys: Ints) -> Ints:
        """Return the leaves of keys; refuse values that the hierarchy lacks."""
        codes: Ints = np.where(keys < 0, -1, self.codes[keys])
        missing = int((codes < 0).sum())
        if missing:
            raise RecodingError(
                f"every value of {self.leaves.name} must be in its hierarchy; {missing} are not. "
                "Build again from the microdata on."
            )
        return codes


def _encode(
    keyed: duckdb.DuckDBPyRelation, column: str
) -> tuple[duckdb.DuckDBPyRelation, duckdb.DuckDBPyRelation]:
    """Replace the values of a column by ordered codes, NULL last; return the values too."""
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
    paths = {leaf: path for leaf, *path in query(tree, f"select {listed} from {SOURCE}").fetchall()}  # noqa: S608
    missing = sum(text not in paths for text in texts)
    if missing:
        raise RecodingError(
            f"every value of {name} must be in its hierarchy; {missing} are not. Add them."
        )
    levels_of_values = zip(*(paths[text] for text in texts), strict=True)
    coded = [pd.factorize(np.array(one, dtype=object))[0] for one in levels_of_values]
    return SensitiveAttribute(name, len(texts), (np.arange(len(texts)), *coded))


def _count_rows(
    keyed: duckdb.DuckDBPyRelation, keys: Sequence[str], further: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Count the records of each distinct row, in ascending order."""
    names = [*keys, *further]
    listed = ", ".join(names)
    order = ", ".join(["row"] if "row" in further else names)
    rows = query(
        keyed,
        f"select {listed}, count(*) as records from {SOURCE} group by {listed} order by {order}",  # noqa: S608
    ).fetchnumpy()
    return {name: np.ma.getdata(rows[name]) for name in (*names, "records")}
