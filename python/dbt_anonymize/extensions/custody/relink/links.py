"""The SQL that leads from released rows to records of the vault, and its checks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_anonymize.extensions.custody.declared import relinking_of
from dbt_anonymize.extensions.custody.relink.released_rows import GivenRows
from dbt_anonymize.project.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec

# Column of the release that leads to the vault.
LINKS = {"class": "cqi", "token": "token"}
_VALUES_OF_A_STATEMENT = 10_000
_RECORDS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Counts:
    """Counts of given rows that match, of their classes, and of classes too small to show."""

    known_rows: int
    groups: int
    small_groups: int


@dataclass(frozen=True)
class Links:
    """Links of a release (mapping class or token) to its vault.

    ``vault`` is ``<n>_identifiers``. Texts are compared as bytes: no collation may lead to another
    group.
    """

    warehouse: Warehouse
    spec: Spec
    vault: Any

    @property
    def link(self) -> str:
        """Column that release and vault have in common."""
        return LINKS[self.spec.mapping]

    @property
    def columns(self) -> tuple[str, ...]:
        """The link, the record key and the identifiers."""
        return (self.link, self.spec.record_key, *self.spec.identifiers)

    @property
    def least(self) -> int:
        """Fewest people of a group that may be shown."""
        policy = relinking_of(self.spec)
        declared = policy.k if policy else None
        return max(declared or 0, self.spec.largest_k)

    def relation(self, part: str) -> Any:
        """Return the relation of a part of the anonymization."""
        return self.warehouse.relation_of_ref(f"{self.spec.name}_{part}")

    def count_differences(self, effort: int) -> int:
        """Count groups and links that differ between release, vault and the given effort."""
        released, link = self._released, self._as_bytes(self.link)
        equivalence_class = self._as_bytes("equivalence_class")
        of_release = _records_per_key(f"{released} as released", self._class_key())
        of_effort = (
            f"select {equivalence_class} as class_key, records from {self.relation('classes')}"  # noqa: S608
            f" where effort = {effort} and not is_suppressed"
        )
        of_vault = _records_per_key(f"{self.vault} where {self.link} is not null", link)
        differing = self._differing_groups(of_release, of_effort)
        if self.spec.mapping == "class":
            differing += self._differing_groups(of_release, of_vault)
            return differing + self._differing_people(effort)
        # One person is one row of the release; the vault has tokens of suppressed records too.
        ((wrong,),) = self.warehouse.rows(
            f"select count(*) from ({_records_per_key(f'{released} as rows_', link)}) as released"  # noqa: S608
            f" left join ({of_vault}) as vault on released.class_key = vault.class_key"
            " where vault.class_key is null or released.records <> 1"
        )
        return differing + int(wrong)

    def matches(self, input_rows: GivenRows) -> str:
        """Return a query of the given values that are released.

        It selects ``link`` and ``class_key`` (bytes), ``given_rows``, and the ``people`` of the
        class.
        """
        values = self._load(input_rows)
        given_link = self._as_bytes("given.value")
        link = self._as_bytes(self.link)
        if self.spec.mapping == "class":
            # A suppressed record has no cqi, so nothing given is equal to it.
            people = (
                f"select {link} as class_key, count(distinct {self._person('vault')}) as people"  # noqa: S608
                f" from {self.vault} as vault"
                f" where {link} in (select {given_link} from {values} as given) group by {link}"
            )
            return (
                f"select {given_link} as link, counted.class_key, given.given_rows, counted.people"  # noqa: S608
                f" from {values} as given"
                f" inner join ({people}) as counted on counted.class_key = {given_link}"
            )
        # Only a released token has a class.
        key = self._class_key()
        released = f"select {link} as link, {key} as class_key from {self._released} as released"  # noqa: S608
        return (
            "select linked.link, linked.class_key, given.given_rows, counted.people"  # noqa: S608
            f" from {values} as given"
            f" inner join ({released}) as linked on linked.link = {given_link}"
            " inner join (select class_key, count(distinct link) as people"
            f" from ({released}) as keyed group by class_key) as counted"
            " on counted.class_key = linked.class_key"
        )

    def counts(self, matches: str) -> Counts:
        """Count rows, groups and small groups of a query of `matches`."""
        few = f"case when people < {self.least} then class_key end"
        ((rows, groups, small),) = self.warehouse.rows(
            "select coalesce(sum(given_rows), 0), count(distinct class_key),"  # noqa: S608
            f" count(distinct {few}) from ({matches}) as matches"
        )
        return Counts(int(rows), int(groups), int(small))

    def count_people(self, matches: str) -> int:
        """Count the people of a query of `matches` that may be shown."""
        person = self._person("people")
        nobodys = f"sum(case when {person} is null then 1 else 0 end)"
        ((people,),) = self.warehouse.rows(
            f"select count(distinct {person}) + coalesce({nobodys}, 0)"
            f" {self._people_clause(matches)}"
        )
        return int(people)

    def people(self, matches: str) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yield the records of the people of a query of `matches`, as `columns`, in batches.

        The statement itself leaves out groups of fewer than `least` people.
        """
        columns = ", ".join(self._quote(column, "people") for column in self.columns)
        cursor = self.warehouse.cursor()
        cursor.execute(f"select {columns} {self._people_clause(matches)} order by 1, 2")
        while batch := cursor.fetchmany(_RECORDS_AT_ONCE):
            yield [tuple(row) for row in batch]

    def _people_clause(self, matches: str) -> str:
        return (
            f"from {self.vault} as people inner join ({matches}) as matches"
            f" on {self._as_bytes(f'people.{self.link}')} = matches.link"
            f" where matches.people >= {self.least}"
        )

    def _load(self, input_rows: GivenRows) -> str:
        """Write values into a temporary table, as parameters, which dbt does not log."""
        table = f"dbt_anonymize_given_{uuid.uuid4().hex}"
        text = self.warehouse.macro("type_string", package="dbt")
        whole = self.warehouse.macro("type_bigint", package="dbt")
        cursor = self.warehouse.cursor()
        cursor.execute(f"create temporary table {table} (value {text}, given_rows {whole})")
        items = list(input_rows.values.items())
        for start in range(0, len(items), _VALUES_OF_A_STATEMENT):
            values, rows = zip(*items[start : start + _VALUES_OF_A_STATEMENT], strict=True)
            if self.warehouse.is_duckdb:  # takes lists, far faster than rows
                lists = f"unnest(cast(? as {text}[])), unnest(cast(? as {whole}[]))"
                cursor.execute(f"insert into {table} select {lists}", [list(values), list(rows)])
            else:
                marks = ", ".join(["(%s, %s)"] * len(values))
                pairs = [part for pair in zip(values, rows, strict=True) for part in pair]
                cursor.execute(f"insert into {table} values {marks}", pairs)  # noqa: S608
        return table

    def _differing_people(self, effort: int) -> int:
        """Count records whose class differs from that of the effort."""
        key = self._quote(self.spec.record_key, "vault")
        of_effort = self._quote(self.spec.record_key, "effort")
        ((differing,),) = self.warehouse.rows(
            f"select count(*) from (select * from {self.vault} where {self.link} is not null)"  # noqa: S608
            f" as vault full outer join (select * from {self.relation(f'effort_{effort}')}"
            f" where not is_suppressed) as effort on {key} = {of_effort}"
            f" where {key} is null or {of_effort} is null or {self._as_bytes(f'vault.{self.link}')}"
            f" <> {self._as_bytes('effort.equivalence_class')}"
        )
        return int(differing)

    def _differing_groups(self, left: str, right: str) -> int:
        ((differing,),) = self.warehouse.rows(
            f"select count(*) from ({left}) as a full outer join ({right}) as b"  # noqa: S608
            " on a.class_key = b.class_key"
            " where a.class_key is null or b.class_key is null or a.records <> b.records"
        )
        return int(differing)

    @property
    def _released(self) -> str:
        """Rows of the release, with each quasi-identifier that is in classes alone, as `*`."""
        spec = self.spec
        starred = sorted(spec.quasi_identifiers.keys() - spec.released_quasi_identifiers)
        quoted = (self.warehouse.macro("_quote", name=name) for name in starred)
        columns = "".join(f", '*' as {name}" for name in quoted)
        return f"(select rows_.*{columns} from {self.relation('anonymized')} as rows_)"  # noqa: S608

    def _class_key(self) -> str:
        """Return SQL for the equivalence class of a row of ``released``, as bytes."""
        if self.spec.mapping == "class":
            return self._as_bytes(f"released.{self.link}")
        labels = [
            {"name": name, "kind": hierarchy.kind}
            for name, hierarchy in self.spec.quasi_identifiers.items()
        ]
        key = self.warehouse.macro(
            "equivalence_class", quasi_identifiers=labels, relation_alias="released"
        )
        return self._as_bytes(key)

    def _person(self, alias: str) -> str:
        return self._quote(self.spec.subject or self.spec.record_key, alias)

    def _quote(self, column: str, alias: str) -> str:
        return str(self.warehouse.macro("_quote", name=column, relation_alias=alias))

    def _as_bytes(self, expression: str) -> str:
        return str(self.warehouse.macro("_as_bytes", expression=expression))


def _records_per_key(source: str, key: str) -> str:
    """Return a query of the records of each key."""
    return f"select {key} as class_key, count(*) as records from {source} group by {key}"  # noqa: S608
