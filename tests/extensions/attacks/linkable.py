"""Small tables with every kind of label, as a build leaves them, in a database of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from hypothesis import strategies as st

from dbt_anonymize.extensions.attacks.knowledge import Knowledge, load_attacker_knowledge
from dbt_anonymize.extensions.attacks.released import Origin, Released, read_release
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.spec import Spec
from tests.worlds import specs

ZIPS = {"01": ("0*", "*"), "02": ("0*", "*"), "11": ("1*", "*"), "12": ("1*", "*")}
LAST_AGE = 40

Label = tuple[tuple[str, int, int], str]


@dataclass(frozen=True)
class Record:
    """One record and how two releases generalize it; a release may hold levels of all kinds."""

    number: int
    age: int | None
    zip: str | None
    value: str
    person: int
    levels: tuple[tuple[int, int], tuple[int, int]]

    def label(self, release: int) -> Label:
        """Return its label in one of the releases."""
        age, zip_ = self.levels[release]
        return age_label(self.age, age), zip_label(self.zip, zip_)


def age_label(age: int | None, level: int) -> tuple[str, int, int]:
    if age is None or level == 3:
        return "*", 0, LAST_AGE
    if level == 0:
        return str(age), age, age
    width = 5 * level
    lower = age // width * width
    return f"[{lower}, {lower + width})", lower, lower + width


def zip_label(zip_: str | None, level: int) -> str:
    if zip_ is None:
        return "*"
    return zip_ if level == 0 else ZIPS[zip_][level - 1]


@dataclass(frozen=True)
class World:
    """Records, and from how many records on a class is released, in each release."""

    records: Sequence[Record]
    smallest: tuple[int, int]
    has_subject: bool

    def rows(self, release: int) -> list[Record]:
        """Return the records whose class is released."""
        labels = [record.label(release) for record in self.records]
        return [
            record
            for record, label in zip(self.records, labels, strict=True)
            if labels.count(label) >= self.smallest[release]
        ]

    def person(self, record: Record) -> int:
        """Return whose record it is."""
        return record.person if self.has_subject else record.number


_levels = st.tuples(st.integers(0, 3), st.integers(0, 2))
_record = st.tuples(
    st.one_of(st.none(), st.integers(0, LAST_AGE - 1)),
    st.one_of(st.none(), st.sampled_from(sorted(ZIPS))),
    st.sampled_from(["a", "b", "c"]),
    st.integers(1, 6),
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a table; levels are the same for all records, or differ from record to record."""
    rows = draw(st.lists(_record, min_size=3, max_size=14))
    if draw(st.booleans()):
        same = draw(st.tuples(_levels, _levels))
        levels = [same] * len(rows)
    else:
        few = draw(st.lists(st.tuples(_levels, _levels), min_size=2, max_size=3))
        levels = [draw(st.sampled_from(few)) for _ in rows]
    records = [
        Record(n, *row, levels=own)
        for n, (row, own) in enumerate(zip(rows, levels, strict=True), 1)
    ]
    smallest = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    return World(records, smallest, draw(st.booleans()))


def spec_of(world: World, guarantees: dict[str, Any] | None = None, **changes: Any) -> Spec:
    """Return the spec of a world."""
    declared = specs.spec_of(
        "people",
        {
            "age": specs.intervals("ages", 3),
            "zip": specs.categories("zips", 2),
            "value": specs.SENSITIVE,
        },
        record_key="id",
        target="value",
        features=["age"],
        efforts=[{"age": 1, "zip": 1}],
        guarantees=guarantees or {"k_anonymity": {"k": 2}},
    )
    if world.has_subject:
        declared["subject"] = "person"
        declared["columns"]["person"] = specs.IDENTIFIER
    return Spec.model_validate(declared | changes)


class Warehouse:
    """Finds relations by their name, and nothing else."""

    def relation_of_ref(self, name: str) -> str:
        """Return the quoted name."""
        return f'"{name}"'


@contextlib.contextmanager
def session_of(world: World) -> Iterator[Session]:
    """Build a world: microdata, hierarchies, both efforts, both releases and the vault."""
    connection = duckdb.connect(config={"threads": 1})  # tables this small are quicker so
    try:
        connection.execute(
            "create table ages (lower_bound int, upper_bound int, level_1 text, "
            "level_2 text, level_3 text)"
        )
        leaves = [(start, start + 5) for start in range(0, LAST_AGE, 5)]
        _insert(
            connection,
            "ages",
            [(a, b, age_label(a, 1)[0], age_label(a, 2)[0], "*") for a, b in leaves],
        )
        connection.execute("create table zips (value text, level_1 text, level_2 text)")
        _insert(connection, "zips", [(v, *labels) for v, labels in ZIPS.items()])
        connection.execute(
            "create table people_microdata (id int, age int, zip text, value text, subject int)"
        )
        _insert(
            connection,
            "people_microdata",
            [(r.number, r.age, r.zip, r.value, r.person) for r in world.records],
        )
        for release in (0, 1):
            _build(connection, world, release)
        connection.execute(
            "create table people_identifiers as select id, "
            "case when not is_suppressed then cqi end as cqi from effort_0"
        )
        yield Session(Warehouse(), connection)  # type: ignore[arg-type]
    finally:
        connection.close()


def _build(connection: duckdb.DuckDBPyConnection, world: World, release: int) -> None:
    released = {record.number for record in world.rows(release)}
    connection.execute(
        f"create table effort_{release} (id int, age text, age_lower int, age_upper int, "
        "zip text, value text, cqi text, is_suppressed boolean, "
        "equivalence_class text generated always as (cqi))"
    )
    _insert(
        connection,
        f"effort_{release}(id, age, age_lower, age_upper, zip, value, cqi, is_suppressed)",
        [
            (r.number, *age, zip_, r.value, f"{age[0]}|{zip_}", r.number not in released)
            for r in world.records
            for age, zip_ in [r.label(release)]
        ],
    )
    connection.execute(
        f"create table release_{release} as select age, age_lower, age_upper, zip, value, cqi "
        f"from effort_{release} where not is_suppressed"
    )


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert all rows in one statement; one for each takes longer than the attack."""
    row = f"({', '.join('?' * len(rows[0]))})"
    places = ", ".join([row] * len(rows))
    connection.execute(f"insert into {table} values {places}", [v for r in rows for v in r])


def read(session: Session, spec: Spec, release: int, *, has_origin: bool = True) -> Released:
    """Match a release with what is known."""
    knowledge: Knowledge = load_attacker_knowledge(session, spec)
    return read_with(knowledge, release, has_origin=has_origin)


def read_with(knowledge: Knowledge, release: int, *, has_origin: bool = True) -> Released:
    """Match a release with what is known already."""
    found = read_release(
        knowledge,
        f"release_{release}",
        f"release {release}",
        published=knowledge.spec if has_origin else None,
        origin=Origin(f"effort_{release}", "id") if has_origin else None,
    )
    assert found is not None
    return found
