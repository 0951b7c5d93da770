"""A clinic with vault, warehouse and release in files, made without dbt: small, easy to spoil."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb

from dbt_anonymize.project.layout import Project, find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.sources import Source
from dbt_anonymize.verify.finding import Finding
from tests import projects
from tests.worlds import visits
from tests.worlds.specs import IDENTIFIER, INSENSITIVE, SENSITIVE, categories, intervals, spec_of

PEOPLE = 120
DIAGNOSES = ("asthma", "flu", "lupus")
SPEC: dict[str, Any] = spec_of(
    "visits",
    {
        "name": IDENTIFIER,
        "phone": IDENTIFIER,
        "age": intervals("ages", 3),
        "zip": categories("zips", 2),
        "diagnosis": SENSITIVE | {"hierarchy": categories("diagnoses", 2)["hierarchy"]},
        "cost": INSENSITIVE,
        "note": INSENSITIVE,
    },
    record_key="visit",
    target="cost",
    features=["age"],
    efforts=[{"age": 1, "zip": 0}, {"age": 2, "zip": 1}, {"age": 3, "zip": 2}],
)
SOURCE = """
select
    1000 + i as visit, {subject}
    'Person ' || chr((65 + i % 26)::integer) || 'owsky-' || i as name,
    '0113 49' || (6000 + i) || ' 77' as phone,
    case when i = 7 then null else 20 + (i * 7) % 40 end as age,
    case when i % 2 = 0 then '01067' else '01097' end as zip,
    ['asthma', 'flu', 'lupus'][1 + (i // 4) % 3] as diagnosis,
    100 + i % 3 as cost,
    ['seen', 'to be seen'][1 + i % 2] as note
from range({people}) as numbers(i)
"""
RELEASE = """
select
    {age} as age,
    coalesce({lower}, 0) as age_lower,
    coalesce({upper}, 100) as age_upper,
    {zip} as zip,
    diagnosis, cost, note
    {mapping}
from work.visits_source
where visit not in (select visit from suppressed)
order by all
"""
# Labels of the efforts 1 to 3, written without the hierarchies.
AGE = {1: ("age // 10 * 10", "age // 10 * 10 + 10"), 2: ("age // 20 * 20", "age // 20 * 20 + 20")}
ZIP = {1: "zip", 2: "'010**'", 3: "'*'"}


@dataclass(frozen=True)
class Relation:
    """A relation as dbt knows it."""

    database: str
    schema: str
    identifier: str

    def __str__(self) -> str:
        return f'"{self.database}"."{self.schema}"."{self.identifier}"'


@dataclass
class SmallWarehouse:
    """The part of a warehouse that proofs use, on a connection without dbt."""

    connection: duckdb.DuckDBPyConnection
    places: dict[str, str]
    adapter: Any = field(init=False)
    manifest: Any = field(init=False)
    is_duckdb = True
    kind = "duckdb"

    def __post_init__(self) -> None:
        handle = SimpleNamespace(cursor=lambda: self.connection)
        name = "visits_anonymized"
        config = SimpleNamespace(meta={"dbt_anonymize": {"folder": "release"}})
        node = SimpleNamespace(config=config, name=name, alias=name)
        self.manifest = SimpleNamespace(nodes={name: node})
        self.adapter = SimpleNamespace(
            type=lambda: "duckdb",
            connections=SimpleNamespace(
                clear_transaction=lambda: None,
                get_thread_connection=lambda: SimpleNamespace(handle=handle),
            ),
        )

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return the connection."""
        return self.connection

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.connection.execute(sql).fetchall()

    def numbers(self, sql: str) -> dict[str, Any]:
        """Return all rows of a query of numbers, as one array per column."""
        return self.connection.execute(sql).fetchnumpy()

    def columns(self, relation: Relation) -> list[tuple[str, str]]:
        """Return name and data type of each column."""
        found = self.connection.execute(f"describe {relation}").fetchall()
        return [(row[0], row[1]) for row in found]

    def relation_of_ref(self, name: str) -> Relation:
        """Return a table of the vault, or of the warehouse."""
        return Relation(self.places.get(name, "work"), "main", name)

    def relation_of(self, source: Source) -> Relation:
        """Return the table of a source."""
        return self.relation_of_ref(str(source.ref))

    def macro(self, name: str, /, **arguments: str) -> str:
        """Return what a macro writes about a column or an expression, or the type of texts."""
        (argument,) = arguments.values()
        quoted = '"' + argument.replace('"', '""') + '"'
        return {
            "_quote": quoted,
            "_as_text": f"cast({argument} as varchar)",
            "_as_bytes": f"encode({argument})",
            "type_string": "varchar",
        }[name]


@dataclass(frozen=True)
class Clinic:
    """Files of one anonymization, and its spec."""

    folder: Path
    spec: Spec

    @property
    def release(self) -> Path:
        """File that everybody reads."""
        return self.folder / "release" / "visits.duckdb"

    @property
    def warehouse_file(self) -> Path:
        """File that analysts read."""
        return self.folder / "work.duckdb"

    @property
    def vault_file(self) -> Path:
        """File that custodians read."""
        return self.folder / "vault" / "vault.duckdb"

    @property
    def project(self) -> Project:
        """Root of the file names in findings."""
        return Project(self.folder, "clinic", self.folder / "models", self.folder / "seeds")

    def change_release(self, *statements: str) -> None:
        """Change the release behind everybody's back."""
        with duckdb.connect(str(self.release)) as connection:
            for sql in statements:
                connection.execute(sql)
        self.release.chmod(0o644)

    @contextmanager
    def open(self) -> Iterator[Warehouse]:
        """Open warehouse and vault."""
        with duckdb.connect() as connection:
            for path in (self.warehouse_file, self.vault_file):
                connection.execute(f"attach '{path}' as {path.stem}")
            connection.execute("use work")
            self.vault_file.chmod(0o600)
            places = dict.fromkeys(["visits_source", "visits_identifiers"], "vault")
            yield cast(Warehouse, SmallWarehouse(connection, places))


def open_clinic(
    folder: Path,
    *,
    effort: int = 2,
    suppressed: str = "visit = 1007",
    whose: str = "",
    release_sql: str = RELEASE,
    **changes: Any,
) -> Clinic:
    """Make source, vault, hierarchies and a release.

    ``suppressed`` is the condition of the records that are not released, ``whose`` SQL of a further
    column of the source, the subject. Changes are of the spec.
    """
    folder.mkdir(parents=True)
    if whose:
        columns = {"person": {"role": "identifier"}, **SPEC["columns"]}
        changes |= {"columns": columns, "subject": "person"}
    clinic = Clinic(folder, Spec.model_validate(SPEC | changes))
    clinic.release.parent.mkdir()
    clinic.vault_file.parent.mkdir(mode=0o700)
    with duckdb.connect() as c:
        for path in (clinic.warehouse_file, clinic.vault_file):
            c.execute(f"attach '{path}' as {path.stem}")
        person = f"{whose} as person," if whose else ""
        c.execute(
            f"create table vault.visits_source as {SOURCE.format(subject=person, people=PEOPLE)}"
        )
        c.execute("create view visits_source as from vault.visits_source")
        c.execute(f"create table suppressed as select visit from visits_source where {suppressed}")
        c.execute(f"create table work.ages as {visits.AGES}")
        c.execute(f"create table work.zips as {visits.ZIPS}")
        c.execute(
            "create table work.diagnoses as select * from (values ('asthma', 'lung', '*'), "
            "('flu', 'lung', '*'), ('lupus', 'other', '*')) as tree(value, level_1, level_2)"
        )
        # Everybody twice, and somebody who is in no visit.
        c.execute(
            "create table work.town as select age, zip from visits_source "
            "union all select age, zip from visits_source union all select 99, '01067'"
        )
        _release(c, clinic, effort, release_sql)
    clinic.release.chmod(0o644)
    clinic.vault_file.chmod(0o600)
    return clinic


def _release(c: duckdb.DuckDBPyConnection, clinic: Clinic, effort: int, sql: str) -> None:
    lower, upper = AGE.get(effort, ("null", "null"))
    label = f"coalesce('[' || {lower} || ', ' || {upper} || ')', '*')" if effort < 3 else "'*'"
    zip_ = ZIP[effort]
    text = f"'n' || length({label}) || ':' || {label} || '|t' || length({zip_}) || ':' || {zip_}"
    shown = {"class": f", {text} as cqi", "token": ", md5('salt' || {0}) as token", "none": ""}
    whose = clinic.spec.subject or "visit"
    mapping = shown[clinic.spec.mapping].format(whose)
    c.execute(f"attach '{clinic.release}' as release")
    filled = sql.format(age=label, lower=lower, upper=upper, zip=ZIP[effort], mapping=mapping)
    c.execute(f"create table release.visits_anonymized as {filled.replace('work.', '')}")
    c.execute("detach release")
    kept = "visit not in (select visit from suppressed)"
    column = {
        "class": f"case when {kept} then {text} end as cqi",
        "token": f"md5('salt' || {whose}) as token",
        "none": "null as nothing",
    }[clinic.spec.mapping]
    if clinic.spec.mapping != "none":
        c.execute(
            "create table vault.visits_identifiers as select visit, "
            f"{', '.join(clinic.spec.identifiers)}, {column} from visits_source"
        )
    # What analysts have: the record key and everything but identifiers.
    c.execute(
        "create table work.visits_microdata as "
        "select visit, age, zip, diagnosis, cost, note from visits_source"
    )


@contextmanager
def opened(project: projects.Project) -> Iterator[Warehouse]:
    """Open the warehouse of a project that dbt built, and let go of its files afterwards."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    DuckDBConnectionManager.close_all_connections()
    try:
        with open_warehouse(find_project(project.folder)) as warehouse:
            yield warehouse
    finally:
        DuckDBConnectionManager.close_all_connections()


def broken(findings: list[Finding]) -> dict[str, str]:
    """Return message by subject of what does not hold."""
    return {finding.subject: finding.message for finding in findings if finding.holds is False}
