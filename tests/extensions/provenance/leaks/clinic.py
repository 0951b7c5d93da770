"""A small clinic that an attacker may edit: compiled once by dbt, built many times by DuckDB alone.

Two clinics that differ in nothing but a secret must publish the same release. Where an edit makes
the releases differ, the edit leaks the secret: so no leak of the catalogue is a strawman.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.extensions.provenance.compiled import (
    Relation,
    Relations,
    compile_sql,
    read_relations,
)
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_spec
from dbt_anonymize.spec.models import Spec
from tests.projects import REPOSITORY, Project
from tests.worlds.specs import IDENTIFIER, INSENSITIVE, SENSITIVE, categories, intervals, spec_of

SPEC = spec_of(
    "visits",
    {
        "name": IDENTIFIER,
        "ssn": IDENTIFIER,
        "age": intervals("ages", 3),
        "zip": categories("zips", 2),
        "smoker": INSENSITIVE,
        "diagnosis": SENSITIVE,
    },
    source={"ref": "people"},
    record_key="visit_id",
    target="diagnosis",
    features=["age", "zip", "smoker"],
    efforts=[{"age": 1, "zip": 1}, {"age": 2, "zip": 1}],
    guarantees={"k_anonymity": {"k": 2}},
    suppression_limit=0.5,
)
AGES = [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14), (14, 16)]
ZIPS = ("11", "12", "21", "22")
NAMES = ("Ana", "Bo", "Cem", "Dina", "Eva", "Finn", "Gus", "Hana")
# What changes about each visit, where nothing else may change.
SECRETS: Mapping[str, str] = {
    "identifier": "update {relation} set name = reverse(name),"
    " ssn = cast(100 + 37 * cast(ssn as int) % 887 as text)",
    "record key": "update {relation} set {key} = 1000 - 3 * {key}",
    # Within the finest interval, and under the same label.
    "quasi-identifier": "update {relation} set age = age + 1, zip = case right(zip, 1) when '1'"
    " then left(zip, 1) || '2' else left(zip, 1) || '1' end",
}
EFFORTS = ("effort_0", "effort_1", "effort_2")
# Who holds the people, with the name of the record key in it. What is kept of customers is there
# beside the registry, so each relation has rows of its own, and is a source of the project.
HOLDERS = {"registry": "visit_id", "crm": "id"}
CRM = Relation(
    "raw.crm",
    "source",
    ("clinic", "main", "crm"),
    columns=("id", "name", "ssn", "age", "zip", "consent", "segment"),
)
CRM_SQL = """
create table crm as select visit_id as id, name, ssn, age, zip,
    case when visit_id % 4 = 0 then 'no' else 'yes' end as consent,
    case when age < 6 then 'a' else 'b' end as segment
from registry
"""
ORDER = ("people", "microdata", "frequencies", "classes", *EFFORTS, "anonymized")


@dataclass(frozen=True)
class Clinic:
    """The compiled models, and databases that differ in one secret each."""

    relations: Relations
    spec: Spec
    databases: Mapping[str, duckdb.DuckDBPyConnection]
    seeds: Path

    def sql(self, model: str) -> str:
        """Return the honest SQL of a model, named without the name of the anonymization."""
        return self.relations.by_name[node_name(model)].sql or ""

    @contextlib.contextmanager
    def built(
        self, secret: str, edited: Mapping[str, str], healed: Collection[str] = ()
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """Build the clinic with edited models; those that are healed are built honestly again."""
        connection = self.databases[secret]
        connection.execute("begin")
        try:
            first = min(ORDER.index(model) for model in edited) if edited else len(ORDER)
            for model in ORDER[first:]:
                build(connection, model, edited.get(model, self.sql(model)))
            for model in healed:
                build(connection, model, self.sql(model))
            yield connection
        finally:
            connection.execute("rollback")

    def release(self, secret: str, edited: Mapping[str, str]) -> str:
        """Return all that the release shows, its order and bits included, where models are edited.

        An error is shown too: its message is read by whoever builds.
        """
        try:
            with self.built(secret, edited) as connection:
                rows = connection.execute("from visits_anonymized").fetchall()
        except duckdb.InvalidInputException as error:
            return str(error)
        return repr(
            [[struct.pack("d", v) if isinstance(v, float) else v for v in row] for row in rows]
        )


def build(connection: duckdb.DuckDBPyConnection, model: str, sql: str) -> None:
    connection.execute(f"drop table if exists {node_name(model)} cascade")
    connection.execute(f"create table {node_name(model)} as {sql}")


def node_name(model: str) -> str:
    return model if model == "people" else f"visits_{model}"


def registry() -> str:
    """Return visits as CSV, sorted by nothing that is secret."""
    lines = ["visit_id,name,ssn,age,zip,smoker,diagnosis"]
    for i in range(32):
        age = 2 * ((i * 5) % 8)
        zip_code = ZIPS[(i * 3) % 4]
        smoker = "yes" if i % 3 == 0 else "no"
        diagnosis = ("flu", "cold", "cough")[i % 3 if i % 2 else (i // 2) % 3]
        lines.append(
            f"{100 + 7 * i % 64},{NAMES[i % 8]}{i},{111 + 23 * i % 800},"
            f"{age},{zip_code},{smoker},{diagnosis}"
        )
    return "\n".join(lines) + "\n"


def hierarchies() -> Mapping[str, str]:
    ages = ["lower_bound,upper_bound,level_1,level_2,level_3"]
    ages += [f"{lo},{hi},{lo}-{hi},{lo // 4 * 4}-{lo // 4 * 4 + 4},*" for lo, hi in AGES]
    zips = ["value,level_1,level_2", *(f"{z},{z[0]}?,*" for z in ZIPS)]
    diagnoses = ["value,level_1,level_2", "flu,infection,*", "cold,infection,*", "cough,other,*"]
    texts = {"ages": ages, "zips": zips, "diagnoses": diagnoses}
    return {name: "\n".join(lines) + "\n" for name, lines in texts.items()}


def write_clinic(folder: Path, *specs: Mapping[str, Any]) -> Project:
    """Write the dbt project with one anonymization or more, generated and not built."""
    flags = {"send_anonymous_usage_stats": False}
    project = {"name": "clinic", "version": "1.0", "profile": "clinic", "flags": flags}
    project["models"] = {"clinic": {"people": {"+materialized": "table"}}}  # type: ignore[assignment]
    target = {
        "type": "duckdb",
        "path": "clinic.duckdb",
        "attach": [{"path": "vault/vault.duckdb", "alias": "vault"}],
    }
    columns = {"column_types": {"zip": "text", "ssn": "text"}}
    texts = {
        "dbt_project.yml": json.dumps(project),
        "packages.yml": json.dumps({"packages": [{"local": "package"}]}),
        "profiles.yml": json.dumps({"clinic": {"target": "t", "outputs": {"t": target}}}),
        **{
            f"anonymizations/{spec['name']}.yml": yaml.safe_dump(dict(spec), sort_keys=False)
            for spec in specs or (SPEC,)
        },
        "models/people.sql": "select * from {{ ref('registry') }}",
        # Nobody reads them; that their names and relations are not their own is no matter.
        **{f"models/other_v{v}.sql": "select 1 as a" for v in (1, 2)},
        "models/_models.yml": json.dumps(
            {
                "models": [
                    {"name": "other", "latest_version": 2, "versions": [{"v": 1}, {"v": 2}]}
                ],
                "sources": [
                    {"name": name, "schema": "main", "tables": [{"name": "registry"}]}
                    for name in ("raw", "again")
                ],
            }
        ),
        "seeds/registry.csv": registry(),
        "seeds/_seeds.yml": json.dumps(
            {
                "seeds": [
                    {"name": "registry", "config": columns},
                    {"name": "zips", "config": {"column_types": {"value": "text"}}},
                ]
            }
        ),
        **{f"seeds/{name}.csv": text for name, text in hierarchies().items()},
    }
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for place in ("vault", "package"):
        (folder / place).mkdir()
    for part in ("dbt_project.yml", "macros"):
        (folder / "package" / part).symlink_to(REPOSITORY / part)
    made = Project(folder, "clinic.duckdb")
    assert made.dbt("deps").succeeded
    generate(folder)
    return made


@contextlib.contextmanager
def compiled(project: Project, name: str = "visits") -> Iterator[tuple[Relations, Spec]]:
    """Compile the models of an anonymization as `verify` does, and let go of the database."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(project.folder))
        spec = load_spec(project.folder / "anonymizations" / f"{name}.yml")
        try:
            sql = compile_sql(find_project(project.folder), spec, None)
            with open_warehouse(find_project(project.folder)) as warehouse:
                yield read_relations(warehouse, sql, spec), spec
        finally:
            DuckDBConnectionManager.close_all_connections()


def open_clinics(
    project: Project, relations: Relations, folder: Path
) -> dict[str, duckdb.DuckDBPyConnection]:
    """Build the clinic as it is and once with each secret changed."""
    opened = {}
    for secret in ("", *SECRETS):
        place = folder / (secret.replace(" ", "_") or "honest")
        place.mkdir()
        shutil.copy(project.folder / "clinic.duckdb", place / "clinic.duckdb")
        connection = duckdb.connect(str(place / "clinic.duckdb"))
        connection.execute("attach ':memory:' as vault")
        connection.execute(CRM_SQL)
        if secret:
            for relation, key in HOLDERS.items():
                connection.execute(SECRETS[secret].format(relation=relation, key=key))
        # What an attacker may have left in the database, where dbt does not see it.
        connection.execute("create view hidden as select * replace (name as smoker) from registry")
        connection.execute("create view hidden_k as from hidden")
        connection.execute(
            "create macro peek(key) as (select max(name) from registry where visit_id = key)"
        )
        for model in ORDER:
            node = relations.by_name[node_name(model)]
            connection.execute("create schema if not exists main_release")
            build(connection, model, node.sql or "")
        connection.execute(
            "create table vault.main.visits_identifiers as select visit_id, name, ssn from people"
        )
        opened[secret] = connection
    return opened
