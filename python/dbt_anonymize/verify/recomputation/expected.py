"""Expected content of the relations of an anonymization, from its source and hierarchies.

Every relation is a query over the source. Labels of a full-domain effort are looked up at its
levels; those that differ per record, and aggregates that are shown for labels, are as the
extension of the recoding reads and judges them. Classes, suppression and everything after them are
computed anew.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.canonical import normalize
from dbt_anonymize.verify.recomputation.consent import who_agreed, with_others
from dbt_anonymize.verify.recomputation.counts import Classes, count_of
from dbt_anonymize.verify.recomputation.labels import Generalization, Lookup, joined
from dbt_anonymize.verify.recomputation.masks import Key, mask_sql, pads
from dbt_anonymize.verify.recomputation.midpoints import with_midpoints
from dbt_anonymize.verify.recomputation.tables import Tables

# Column that says whose record it is, beside kept columns.
PERSON = quote_name("dbt_anonymize_person")
# Prefix of the column with the value of a masked identifier, beside its mask.
_RAW = "value of "
# That of the column with what an effort shows of a class, beside its label.
SHOWN = "shown of "
_TEXT = quote_name("text of a class")  # a name that no column has


@dataclass(frozen=True)
class Expected:
    """The expected relations of one anonymization.

    ``tables`` has source and hierarchies, and effort and vault for random or chosen values;
    ``number`` is the released effort, from 1.
    """

    tables: Tables
    spec: Spec
    number: int
    _classes: str = field(default_factory=lambda: f"classes_{secrets.token_hex(8)}")

    @cached_property
    def generalizations(self) -> dict[str, Generalization]:
        """The hierarchy of each quasi-identifier."""
        return {
            name: Generalization(name, hierarchy, self.tables.hierarchies[name], self.tables.text)
            for name, hierarchy in self.spec.quasi_identifiers.items()
        }

    @cached_property
    def source(self) -> str:
        """Query of the source with one zero and one NaN; identifiers stay as they are."""
        types = self.tables.types(f"select * from {self.tables.source}")  # noqa: S608
        spec = self.spec
        clean = {*spec.quasi_identifiers, *spec.kept_columns} - {*spec.identifiers}
        needed = [spec.record_key, spec.person_column, *spec.identifiers, *clean]
        if missing := [name for name in dict.fromkeys(needed) if name not in types]:
            raise VerificationError(
                f"the source must have the declared columns; missing: {', '.join(missing)}. "
                f"Correct anonymizations/{spec.name}.yml."
            )
        values = {
            name: normalize(quote_name(name), types[name] if name in clean else "")
            for name in dict.fromkeys(needed)
        }
        for name, generalization in self.generalizations.items():
            values[name] = generalization.null_if_unknown(values[name])
        columns = ", ".join(f"{value} as {quote_name(name)}" for name, value in values.items())
        return f"(select {columns} from {who_agreed(spec, self.tables.source)})"  # noqa: S608

    @cached_property
    def microdata(self) -> str:
        """Query of ``<n>_microdata``."""
        columns, joins = [_of("rows_", self.spec.record_key)], []
        for number, (name, generalization) in enumerate(self.generalizations.items()):
            value = _of("rows_", name)
            lookup = generalization.leaf(self.source, value, f"leaf_{number}")
            joins.append(lookup.join)
            columns += [value, f"{lookup.columns['leaf']} as {quote_name(f'{name}_leaf')}"]
        columns += list(self.kept_columns_sql(is_original=True))
        if self.spec.declared_shares:
            joins.append(self._draws)
            branches = (f"when draws.draw < {s} then {s}" for s in self.spec.declared_shares)
            columns.append(
                "cast(case when draws.draw is not null then "
                f"(case {' '.join(branches)} else 1 end) end as double) as sample_share"
            )
        if self.spec.subject:
            subject = quote_name(self.spec.subject)
            columns.append("subjects.subject")
            joins.append(
                f"left join (select {subject} as original, row_number() over (order by {subject}) "  # noqa: S608
                f"as subject from {self.source} where {subject} is not null group by {subject}) "
                f"as subjects on rows_.{subject} = subjects.original"
            )
        if self.spec.outer_share:
            columns.append(f"{self._is_outer} as is_outer")
        return f"select {', '.join(columns)} from {self.source} as rows_ {' '.join(joins)}"  # noqa: S608

    @property
    def _is_outer(self) -> str:
        """SQL of whether a subject only scores; digits of equal length compare as numbers do."""
        spec, person = self.spec, self.tables.text(_of("rows_", self.spec.person_column))
        drawn = f"md5(coalesce('outer {spec.random_state} ' || {person}, ''))"
        below = f"{int((spec.outer_share or 0) * 2**32):08x}"
        return f"substr({drawn}, 1, 8) < {quote_text(below)}"

    @property
    def _draws(self) -> str:
        """Join of the stored draws with the source."""
        person = _of("rows_", self.spec.person_column)
        drawn = f"left join {self.tables.sample} as draws on {person} = draws.person"
        digits = self.spec.mechanism
        return f"{drawn} and draws.mechanism = {quote_text(digits)}" if digits else drawn

    @cached_property
    def labelled(self) -> str:
        """Query of every record with its labels and bounds, and other columns as in the source."""
        effort = self.spec.numbered_efforts[self.number]
        others = [self.spec.record_key, self.spec.person_column, *self.spec.identifiers]
        columns = [
            f"{_of('rows_', name)} as {quote_name(_RAW + name if self._is_hidden(name) else name)}"
            for name in dict.fromkeys(others)
        ]
        columns += self.kept_columns_sql()
        recoding, levels = effort.recomputation, effort.levels or {}
        labels = recoding.labels_of(self) if recoding else joined(self.lookups(levels, "label"))
        columns += (f"{sql} as {quote_name(name)}" for name, sql in labels.columns.items())
        joins = [labels.join]
        if share := self.spec.sample_shares.get(self.number):
            joins.append(self._draws)
            columns.append(f"coalesce(draws.draw < {share}, false) as is_sampled")
        else:
            columns.append("true as is_sampled")
        return f"(select {', '.join(columns)} from {self.source} as rows_ {' '.join(joins)})"  # noqa: S608

    @property
    def sampled(self) -> str:
        """Query of the records of the sample (without one all records), with their labels."""
        return f"(select * from {self.labelled} as rows_ where is_sampled)"  # noqa: S608

    @cached_property
    def frozen(self) -> Any:
        """Placement of records in the committed classes of a frozen recoding, if there is one."""
        if self.tables.frozen is None:
            return None
        prefix = f"{self._classes}_frozen"
        place = self.spec.recomputation.place_records
        return place(self.tables, self.generalizations, self.source, prefix)

    @property
    def classes(self) -> Classes:
        """All records of the sample in the classes of the effort, suppressed ones included."""
        count = count_of(self.spec)
        keys = tuple(f"encode({quote_name(name)})" for name in self.spec.quasi_identifiers)
        rows = f"{self.sampled} as rows_"
        return Classes(self.tables, rows, keys, self.source, count, count, self.sampled)

    @property
    def released_classes(self) -> Classes:
        """The records that are released, in their classes."""
        rows = f"(select * from ({self.effort}) as rows_ where not is_suppressed) as rows_"  # noqa: S608
        return replace(self.classes, relation=rows)

    def fewest_in_class(self, identifier: str) -> int:
        """Return the fewest different values of an identifier in a released class."""
        column = quote_name(_RAW + identifier if self._is_hidden(identifier) else identifier)
        ((fewest,),) = self.tables.rows(
            f"select min(different) from (select count(distinct {column}) as different "  # noqa: S608
            f"from {self.released_classes.relation} group by equivalence_class) as counted"
        )
        return int(fewest or 0)

    def exact_values(self, names: Sequence[str]) -> str:
        """Store kept columns of the released records, and whose they are, as `PERSON`.

        Returns the relation. Where new records wait, it holds the members, each one a person.
        """
        person, rows = self.spec.person_column, f"({self.effort}) as rows_ where not is_suppressed"
        person = quote_name(_RAW + person if self._is_hidden(person) else person)
        if self.spec.holds_back_joiners:
            person, rows = "row_number() over ()", f"({self.release}) as rows_"
        table = f"{self._classes}_exact"
        self.tables.connection.execute(
            f"create or replace temp table {table} as select {', '.join(map(quote_name, names))}, "  # noqa: S608
            f"{person} as {PERSON} from {rows}"
        )
        return table

    def count_classes(self) -> NDArray[Any]:
        """Store the classes, in the order of their labels; return the records of each."""
        labels = ", ".join(map(quote_name, self.spec.quasi_identifiers))
        keys, count = ", ".join(self.classes.keys), self.classes.count
        self.tables.connection.execute(
            f"create temp table {self._classes} as select {labels}, "  # noqa: S608
            f"row_number() over (order by {keys}) - 1 as equivalence_class, records, class_size, "
            f"{self._class_text()} as {_TEXT}, false as is_suppressed from "
            f"(select {labels}, count(*) as records, {count} as class_size "
            f"from {self.sampled} as rows_ group by {labels}) as counted"
        )
        return self.tables.numbers(
            f"select records from {self._classes} order by equivalence_class"  # noqa: S608
        )["records"]

    def suppress(self, suppressed: NDArray[Any]) -> None:
        """Mark the suppressed classes in the stored ones."""
        connection, name = self.tables.connection, f"{self._classes}_suppressed"
        import pandas as pd  # noqa: PLC0415 (keeps other commands fast)

        connection.register(name, pd.DataFrame({"number": np.flatnonzero(suppressed)}))
        connection.execute(
            f"update {self._classes} set is_suppressed = true "  # noqa: S608
            f"where equivalence_class in (select number from {name})"
        )
        connection.unregister(name)

    def close(self) -> None:
        """Drop the temporary tables."""
        keys = {key.table for key in self.__dict__.get("_keys", {}).values()}
        frozen = self.__dict__.get("frozen")
        for table in (
            self._classes,
            f"{self._classes}_exact",
            *keys,
            *(frozen.created if frozen else ()),
        ):
            self.tables.connection.execute(f"drop table if exists {table}")

    @cached_property
    def effort(self) -> str:
        """Query of all records with class and mapping: columns of effort, release and vault."""
        names = list(self.spec.quasi_identifiers)
        same = " and ".join(
            f"{_of('rows_', name)} is not distinct from {_of('classes', name)}" for name in names
        )
        return (
            "select rows_.*, "  # noqa: S608
            f"case when is_sampled then classes.{_TEXT} end as equivalence_class, "
            "classes.class_size, not is_sampled or classes.is_suppressed as is_suppressed "
            f"from {self.labelled} as rows_ "
            f"left join {self._classes} as classes on is_sampled and {same}"
        )

    @property
    def effort_columns(self) -> tuple[str, ...]:
        """The columns of ``<n>_effort_<i>``, without the levels of a recoding."""
        spec = self.spec
        of_class = ("equivalence_class", "class_size", "is_suppressed")
        return (spec.record_key, *spec.generalized_columns, *spec.kept_columns, *of_class)

    def shown(self, names: Sequence[str]) -> list[str]:
        """Return SQL of columns of ``effort``, with aggregates where they are shown for labels."""
        aggregates = self.spec.numbered_efforts[self.number].aggregates
        return [
            f"{_of('rows_', SHOWN + name)} as {quote_name(name)}"
            if name in aggregates
            else _of("rows_", name)
            for name in names
        ]

    @property
    def release(self) -> str:
        """Query of the release: unsuppressed records or, where new ones wait, members."""
        if self.spec.holds_back_joiners:
            members: str = self.spec.recomputation.released_members(self.tables, self.spec)
            return members
        cqi = "rows_.equivalence_class as cqi"
        mapped = {"class": [cqi], "token": ["mapping.token"], "none": []}
        columns = self.shown(self.spec.released_labels + self.spec.kept_columns)
        key = quote_name(self.spec.record_key)
        join = f"left join {self.tables.identifiers} as mapping on rows_.{key} = mapping.{key}"
        rows = (
            f"select {', '.join(columns + mapped[self.spec.mapping])} "  # noqa: S608
            f"from ({self.effort}) as rows_ {join if self.spec.mapping == 'token' else ''} "
            "where not rows_.is_suppressed"
        )
        return with_midpoints(self.tables, self.spec, rows)

    @property
    def identifiers(self) -> str:
        """Query of ``<n>_identifiers``; tokens are those of the vault."""
        columns = [
            f"{_of('rows_', _RAW + name if self._is_hidden(name) else name)} as {quote_name(name)}"
            for name in (self.spec.record_key, *self.spec.identifiers)
        ]
        join = ""
        if self.spec.holds_back_joiners and self.spec.mapping == "class":
            columns.append("members.cqi")
            key = self.tables.text(_of("rows_", self.spec.record_key))
            join = (
                f"left join (select * from {self.tables.members} where left_at is null) as members "  # noqa: S608
                f"on {key} = members.record_key"
            )
        elif self.spec.mapping == "class":
            columns.append(
                "case when not rows_.is_suppressed then rows_.equivalence_class end as cqi"
            )
        elif self.tables.tokens:
            columns.append("tokens.token")
            person = _of("rows_", self.spec.person_column)
            join = f"left join {self.tables.tokens} as tokens on {person} = tokens.person"
        rows = f"select {', '.join(columns)} from ({self.effort}) as rows_ {join}"  # noqa: S608
        return with_others(self.spec, self.tables.source, rows)

    @cached_property
    def _keys(self) -> dict[str, Key]:
        """The stored key of each mask that has one, by column."""
        names = {
            name: f"hash {name}" if mask.keyed_hash else "shift"
            for name, mask in self.spec.masks.items()
            if mask.has_key
        }
        if not names:
            return {}
        rows = self.tables.rows(f"select person, token from {self.tables.mask_keys}")  # noqa: S608
        stored = dict(rows)
        if missing := sorted(set(names.values()) - stored.keys()):
            raise VerificationError(
                f"{self.spec.name}: the vault must hold the key of every mask; missing: "
                f"{', '.join(missing)}. Restore it, or build again."
            )
        keys: dict[str, Key] = {}
        for purpose in set(names.values()):
            keys[purpose] = Key(f"{self._classes}_key_{len(keys)}")
            self.tables.connection.execute(
                f"create temp table {keys[purpose].table} as "
                "select cast(? as blob) as inner_pad, cast(? as blob) as outer_pad",
                list(pads(str(stored[purpose]))),
            )
        return {name: keys[purpose] for name, purpose in names.items()}

    def _is_hidden(self, name: str) -> bool:
        """Tell whether a column is an identifier whose mask is released."""
        return name in self.spec.masks and name not in self.spec.masked_attributes

    def kept_columns_sql(self, *, is_original: bool = False) -> Iterator[str]:
        """Yield SQL of the kept columns, as in the release or as in the microdata."""
        types = self.tables.types(f"select * from {self.tables.source}")  # noqa: S608
        for name in self.spec.kept_columns:
            value, quoted = _of("rows_", name), quote_name(name)
            if name not in self.spec.masks:
                yield f"{value} as {quoted}"
                continue
            person = _of("rows_", self.spec.person_column)
            mask = mask_sql(value, types[name], self.spec.masks[name], self._keys.get(name), person)
            if is_original and not self._is_hidden(name):
                yield f"{value} as {quoted}"
                yield f"{mask} as {quote_name(f'{name}_masked')}"
            else:
                yield f"{mask} as {quoted}"

    def lookups(self, levels: Mapping[str, int], prefix: str) -> Iterator[Lookup]:
        """Yield the lookup of each label at these levels; ``prefix`` begins their aliases."""
        for number, (name, generalization) in enumerate(self.generalizations.items()):
            value = _of("rows_", name)
            yield generalization.label(self.source, value, levels[name], f"{prefix}_{number}")

    def _class_text(self) -> str:
        """Type, length and text of each label, joined by bars."""
        parts = []
        for name, generalization in self.generalizations.items():
            label, tag = quote_name(name), "n" if generalization.is_interval else "t"
            parts.append(f"{quote_text(tag)} || length({label}) || ':' || {label}")
        return " || '|' || ".join(parts)


def _of(alias: str, name: str) -> str:
    return f"{alias}.{quote_name(name)}"
