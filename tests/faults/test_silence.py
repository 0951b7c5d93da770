"""Console, logs and target of dbt hold no value of a person, whatever fails.

Every message is looked at, those for debugging too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import duckdb
import pytest
import yaml

from tests.projects import Project
from tests.written import everything_written

pytestmark = pytest.mark.sampled_tests(group="faults")

# In the columns of identifiers, of quasi-identifiers and of others: what nobody may read.
NAME, MAIL, ZIP, GENDER = "Planted-Name", "planted@mail.example", "PLANTEDZIP", "planted-gender"
PLANTED = (NAME, MAIL, ZIP, GENDER, "PLANTED-ORDER", "1977-07-07")
CUSTOMERS = "seeds/customers.csv"
# A project that installs the package asks for its way of loading seeds.
DISPATCH = """
dispatch:
  - macro_namespace: dbt
    search_order: [shop, dbt_anonymize, dbt]
"""


@pytest.fixture
def careful(shop: Project) -> Project:
    """Give a project whose seeds are loaded by the macro of the package, without logs."""
    shop.edit("dbt_project.yml", lambda text: text + DISPATCH)
    (shop.folder / "logs" / "dbt.log").unlink(missing_ok=True)
    return shop


def everything_said(project: Project, *arguments: str) -> str:
    """Run a dbt command that must fail, and return all that anybody can read of it afterwards."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    said: list[str] = []
    runner = dbtRunner(callbacks=[lambda event: said.append(event.info.msg)])
    with contextlib.chdir(project.folder):
        result = runner.invoke(
            [*arguments, "--debug", "--log-level-file", "debug", "--profiles-dir", "."]
        )
    DuckDBConnectionManager.close_all_connections()
    reset_adapters()
    assert not result.success
    said.append(str(result.exception))
    return "".join(said) + everything_written(project)


def plant(*cells: str) -> Callable[[str], str]:
    """Add a line to the customers."""
    return lambda text: f"{text}{','.join(cells)}\n"


def planted(
    key: str = "1", born: str = "1980-01-01", zip_code: str = "01067", order: str = "1"
) -> Callable[[str], str]:
    return plant(key, NAME, MAIL, born, zip_code, "female", order, "170", "1.0", "yes")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(planted(zip_code=ZIP), "does not cover", id="a value outside its hierarchy"),
        pytest.param(planted(key=""), "must be unique", id="no record key"),
        pytest.param(
            planted(order="PLANTED-ORDER"), "line 402 column order (cast)", id="text for a number"
        ),
        pytest.param(
            planted(born=NAME), "line 402 column birth_date (cast)", id="a name for a date"
        ),
        pytest.param(plant("1", NAME, MAIL), "(missing columns)", id="a line cut off"),
        pytest.param(
            plant("1", f'"{NAME}', MAIL, "1980-01-01", ZIP, "female", "1", "170", "1.0", "yes"),
            "line 402 column full name (unquoted value)",
            id="a quote that is not closed",
        ),
        pytest.param(
            lambda text: planted()(text).replace("customer_id,full name", "full name,customer_id"),
            "must have a first line with the columns of the table, in their order",
            id="columns in another order",
        ),
        pytest.param(
            lambda text: planted()("").rstrip("\n") + "\n" + text.partition("\n")[2],
            "must have a first line with the columns of the table",
            id="no header, so that the first line is somebody's",
        ),
    ],
)
def test_a_seed_that_stops_the_build(
    careful: Project, change: Callable[[str], str], says: str
) -> None:
    careful.edit(CUSTOMERS, change)
    said = everything_said(careful, "build", "--store-failures")
    assert says in said
    assert [value for value in PLANTED if value in said] == []


def test_a_seed_in_another_encoding(careful: Project) -> None:
    file = careful.folder / CUSTOMERS
    file.write_bytes(file.read_bytes() + f"1,{NAME}é,{MAIL}".encode("latin-1"))
    said = everything_said(careful, "build")
    assert "codec can't decode byte" in said
    assert [value for value in PLANTED if value in said] == []


# One of every test that the package offers, with arguments that this table does not meet.
GENERIC_TESTS = {
    "k_anonymity": {"k": 3},
    "k_map": {"k": 3, "population": "ref('people')"},
    "alpha_k_anonymity": {"attribute": "answer", "alpha": 0.1, "k": 3},
    "l_diversity": {"attribute": "answer", "l": 3},
    "t_closeness": {"attribute": "answer", "t": 0.01},
    "beta_likeness": {"attribute": "answer", "beta": 0.01},
    "delta_disclosure": {"attribute": "answer", "delta": 0.01},
    "delta_presence": {"minimum": 0.0, "maximum": 0.01, "population": "ref('people')"},
    "reidentification_risk": {"highest": 0.1},
    "uniqueness": {"sample_share": 0.01},
}
HIERARCHIES = {
    "categorical_hierarchy": (
        "words",
        f"select '{ZIP}' as value, '{GENDER}' as level_1 union all select '{ZIP}', '*'",
    ),
    "interval_hierarchy": (
        "numbers",
        f"select 1 as lower_bound, 3 as upper_bound, '{ZIP}' as level_1"
        f" union all select 2, 5, '{GENDER}'",
    ),
}


def test_failing_tests_of_the_package_say_and_store_nothing(careful: Project) -> None:
    folder = careful.folder / "models" / "people"
    folder.mkdir()
    row = f"select '{ZIP}' || i as zip, '{GENDER}' as gender, '{NAME}' || i as answer"
    models = {"people": f"{row} from range(5) as r(i)"}
    tests = {
        "people": [
            {f"dbt_anonymize.{name}": {"arguments": {"quasi_identifiers": ["zip", "gender"]} | a}}
            for name, a in GENERIC_TESTS.items()
        ]
    }
    for name, (model, sql) in HIERARCHIES.items():
        models[model] = sql
        tests[model] = [{f"dbt_anonymize.{name}": {"arguments": {"levels": 1}}}]
    for model, sql in models.items():
        # Literals in the SQL of a model are not what this test is about.
        (folder / f"{model}.sql").write_text(f"select * from main.raw_{model}\n", encoding="utf-8")
        careful.execute(f"create table raw_{model} as {sql}")
    declared = [{"name": model, "data_tests": tests[model]} for model in models]
    (folder / "_people.yml").write_text(yaml.safe_dump({"models": declared}), encoding="utf-8")
    said = everything_said(careful, "build", "-s", *models, "--store-failures")
    for name in [*GENERIC_TESTS, *HIERARCHIES]:
        assert f"dbt_anonymize_{name}_" in said
    assert said.count("[FAIL ") >= len(GENERIC_TESTS) + len(HIERARCHIES)
    assert [value for value in PLANTED if value in said] == []
    assert stored_failures(careful) == []


def stored_failures(project: Project) -> list[tuple[str, ...]]:
    return project.query(
        "select schema_name, table_name from duckdb_tables() where schema_name like '%dbt_test%'"
    )


def test_failing_tests_of_generated_models_store_nothing(careful: Project) -> None:
    """The record keys of a working copy that somebody has changed."""
    careful.execute("insert into customers_microdata from customers_microdata limit 3")
    everything_said(careful, "test", "-s", "customers_microdata", "--store-failures")
    assert stored_failures(careful) == []


def test_identifiers_are_in_no_byte_of_warehouse_and_release(careful: Project) -> None:
    """Files keep what was dropped, so they are looked at after builds, failures and rebuilds."""
    careful.edit(CUSTOMERS, planted(zip_code=ZIP))
    everything_said(careful, "build", "--full-refresh")
    careful.edit(CUSTOMERS, lambda text: text.replace(ZIP, "01067"))
    careful.build()
    with duckdb.connect(str(careful.folder / "vault" / "vault.duckdb"), read_only=True) as vault:
        rows = vault.execute('select "full name", "e-mail" from customers').fetchall()
    values = {value.encode() for row in rows for value in row if value and len(value) >= 6}
    assert len(values) > 400
    assert MAIL.encode() in values
    files = [
        path
        for folder in ("warehouse", "release")
        for path in (careful.folder / folder).rglob("*")
        if path.is_file()
    ]
    content = b"".join(path.read_bytes() for path in files)
    assert len(content) > 1_000_000
    assert [value for value in values if value in content] == []
    vault_bytes = (careful.folder / "vault" / "vault.duckdb").read_bytes()
    assert MAIL.encode() in vault_bytes
