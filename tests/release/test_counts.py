"""DuckDB keeps a release of few distinct rows as counts, and writes rows once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb
import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.release.publish import publish
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.costly

SPEC = "anonymizations/customers.yml"
COUNTS = "main_release.customers_anonymized__counts"
ROWS = "main_release.customers_anonymized"
OF_COUNTS = (
    "select table_name from information_schema.tables where contains(table_name, '__counts')"
)


def declare(project: Project, *insensitive: str) -> None:
    """Release the quasi-identifiers, the sensitive column, and those that are named."""
    path = project.folder / SPEC
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name in ("order", "größe", "spending"):
        role = "insensitive" if name in insensitive else "dropped"
        spec["columns"][name] = {"role": role}
    spec["features"] = ["birth_date", "zip", "gender"]
    spec["quality"]["measure"] = "roc_auc"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    generate(project.folder)


@pytest.fixture
def accounts(tmp_path: Path) -> Project:
    """Give a project, unbuilt, in which no column differs from person to person."""
    project = copy_consumer(tmp_path / "project")
    (project.folder / "models" / "unit_tests.yml").unlink()
    declare(project)
    return project


def released(project: Project) -> Counter[tuple[str, ...]]:
    """Count the published rows, as texts."""
    return Counter(tuple(map(str, row)) for row in project.release("customers"))


@pytest.mark.sampled_tests(1)
def test_counts_are_the_release(accounts: Project) -> None:
    accounts.build()
    ((effort,),) = accounts.query("select effort from customers_results where is_chosen")
    columns = [name for name, *_ in accounts.query(f"describe {ROWS}")]
    listed = ", ".join("equivalence_class" if name == "cqi" else name for name in columns)
    expected = Counter(
        tuple(map(str, row))
        for row in accounts.query(
            f"select {listed} from customers_effort_{effort} where not is_suppressed"
        )
    )
    assert released(accounts) == expected
    counts = {tuple(map(str, row[:-1])): row[-1] for row in accounts.query(f"from {COUNTS}")}
    assert counts == expected
    assert Counter(tuple(map(str, row)) for row in accounts.query(f"from {ROWS}")) == expected
    # Rows that are alike lie together, in the order of what is shown.
    assert accounts.release("customers") == accounts.query(f"from {ROWS}")
    # With a collation the engine holds texts for equal that everybody sees as different.
    (compiled,) = (accounts.folder / "target" / "compiled").rglob("customers_anonymized.sql")
    query = compiled.read_text(encoding="utf-8")
    effort_of_shop = f'"shop"."main"."customers_effort_{effort}"'
    assert effort_of_shop in query
    accounts.execute(
        "create table collated as select * replace (case when random() < 0.5 then upper(churned) "
        f"else churned end collate nocase as churned) from {effort_of_shop}"
    )
    shown = {
        row[columns.index("churned")]
        for row in accounts.query(query.replace(effort_of_shop, "collated"))
    }
    assert shown == {"yes", "YES", "no", "NO"}


@pytest.mark.sampled_tests(1)
def test_many_records_are_repeated_in_little_memory(accounts: Project) -> None:
    accounts.build()
    accounts.execute(
        f"update {COUNTS} set records = 2e9 where rowid = (select min(rowid) from {COUNTS})"
    )
    command = [sys.executable, "-c", READER, str(accounts.folder / accounts.warehouse)]
    read = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 0 < int(read.stdout.split()[-1]) < 1e9


@pytest.mark.sampled_tests(1)
def test_a_release_changes_its_form(accounts: Project) -> None:
    accounts.build()
    before = released(accounts)
    declare(accounts, "order")
    accounts.build()
    assert accounts.query(OF_COUNTS) == []
    assert len(accounts.release("customers")[0]) == len(next(iter(before))) + 1
    declare(accounts)
    # What a build leaves that is killed between the candidate and the release.
    accounts.execute(f"create table {ROWS}__dbt_tmp__counts as select 'somebody' as value")
    accounts.build()
    assert accounts.query(OF_COUNTS) == [("customers_anonymized__counts",)]
    assert released(accounts) == before


@pytest.mark.sampled_tests(1)
def test_counts_are_what_is_checked(accounts: Project) -> None:
    accounts.build()
    before = released(accounts)
    # A class of too few, by hand, behind the back of what has judged the effort.
    view = accounts.query(
        "select sql from duckdb_views() where view_name like 'customers_effort_%' "
        "and view_name = 'customers_effort_' || (select effort from customers_results "
        "where is_chosen)"
    )[0][0]
    broken = view.replace("SELECT * FROM effort", BROKEN)
    assert broken != view
    accounts.execute(broken.replace("CREATE VIEW", "create or replace view"))
    stopped = accounts.dbt("run", "--select", "customers_anonymized")
    assert not stopped.succeeded
    assert "1 of" in stopped.messages
    assert "classes break it" in stopped.messages
    assert released(accounts) == before
    assert accounts.query(f"select sum(records) from {COUNTS}") == [(before.total(),)]


def test_rows_are_written_once_and_in_their_order(tmp_path: Path) -> None:
    """Space that is free in a new file is that of rows which were written, and then again."""
    with duckdb.connect(config={"threads": 2}) as session:
        session.execute("create table counts as select 'age ' || i as age from range(500) as r(i)")
        session.execute(
            "create view repeated as "
            "select age from (select age, unnest(repeat([true], 4000)) from counts)"
        )
        publish(session, relation="repeated", table="ages", folder=str(tmp_path), path="a.duckdb")
        expected = session.table("repeated").fetchall()
    with duckdb.connect(str(tmp_path / "a.duckdb"), read_only=True) as reader:
        blocks = "select used_blocks > 0, free_blocks from pragma_database_size()"
        assert reader.execute(blocks).fetchall() == [(True, 0)]
        assert reader.table("ages").fetchall() == expected


BROKEN = (
    "SELECT * replace (case when row_number() over (order by customer_id) = 1 then 'alone' "
    "else zip end as zip) FROM effort where not is_suppressed"
)
# VmHWM is of this program alone, while ru_maxrss begins with what the parent had.
READER = f"""
import re, sys
import duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    assert len(connection.execute("select * from {ROWS} limit 1").fetchall()) == 1
print(1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]))
"""
