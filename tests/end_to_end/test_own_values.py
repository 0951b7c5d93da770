"""A build warns once of kept columns that are keys, and of identifiers that repeat."""

from __future__ import annotations

import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.projects import Project
from tests.worlds.specs import IDENTIFIER, INSENSITIVE

COLUMNS = """
    n + 7 as rowno,
    if(n % 20 = 0, 'none', 'C' || n) as claim,
    cast(if(n % 4 = 0, null, n * 3) as double) as card,
    date '2000-01-01' + cast(n as integer) as day,
    n / 7.0 as weight,
    n * 5 as known_number,
    n // 5 as town,
    n // 10 as household
"""
ROLES = {
    **dict.fromkeys(("rowno", "claim", "card", "day", "weight", "town"), INSENSITIVE),
    "known_number": INSENSITIVE | {"unique": "accepted"},
    "household": IDENTIFIER,
}


def test_a_build_warns_once_of_columns_that_are_keys(consumer: Project) -> None:
    (consumer.folder / "models" / "claims.sql").write_text(
        f"select * exclude (n), {COLUMNS} from (select *, row_number() over () - 1 as n "
        "from {{ ref('customers') }}) as numbered",
        encoding="utf-8",
    )
    path = consumer.folder / "anonymizations" / "customers.yml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["source"] = {"ref": "claims"}
    spec["columns"] |= ROLES
    path.write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    generate(consumer.folder)
    outcome = consumer.dbt("run", "--select", "claims", "customers_microdata")
    assert outcome.succeeded, outcome.messages
    keys = "have a value of their own in card, claim, day, rowno, and are found"
    repeated = "have the same household (10.0 records each): a class of k may be one person"
    for told in (keys, repeated):
        assert outcome.messages.count(told) == 1, outcome.messages
    # Of many records a part of the values is counted, of a subject with several its own.
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        microdata = warehouse.relation_of_ref("customers_microdata")
        names = [*ROLES, "spending"]
        found = warehouse.macro("_own_values", relation=microdata, names=names)
        assert set(found["single"]) == {"rowno", "claim", "card", "day", "known_number"}
        assert set(found["fractions"]) == {"weight", "spending"}
        of_people = microdata.incorporate(path={"identifier": "of_people"})
        warehouse.cursor().execute(
            f"create table {of_people} as select town, rowno // 5 as five, rowno // 5 as subject "
            f"from {microdata}, range(300)"
        )
        found = warehouse.macro(
            "_own_values", relation=of_people, names=["town", "five"], has_subject=True
        )
        assert found["single"] == ["five"]
