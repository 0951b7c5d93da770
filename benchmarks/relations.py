"""Time of the SQL of an anonymization on a large table, beside the plain ``group by``.

usage: python benchmarks/relations.py [ROWS]

Runs the golden SQL of the test project, which is what its macros compile to, on random customers.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

REPOSITORY = Path(__file__).resolve().parent.parent
SEEDS = REPOSITORY / "tests" / "consumer_project" / "seeds"
# In the order in which they are built.
RELATIONS = (
    "microdata",
    "frequencies",
    "classes",
    "privacy",
    "information_loss",
    "risk_profile",
    "quasi_identifier_risk",
)
GOLDEN = REPOSITORY / "tests" / "golden" / "sql"
HIERARCHIES = {
    "customers_hierarchy_birth_date": "types={'level_1': 'varchar'}",
    "customers_hierarchy_zip": "types={'value': 'varchar'}",
    "customers_hierarchy_gender": "header=true",
}
CUSTOMERS = """
create table customers as
select
    range as customer_id,
    'Customer ' || range as "full name",
    'c' || range || '@example.org' as "e-mail",
    case when random() > 0.02
        then date '1950-01-01' + cast(floor(random() * 50 * 365) as integer) end as birth_date,
    ['01067', '01097', '01099', '04103', '04105', '10115', '10117', '10119', '20095', '20097']
        [1 + cast(floor(random() * 10) as integer)] as zip,
    ['female', 'male', 'diverse'][1 + cast(floor(random() * 3) as integer)] as gender,
    cast(floor(random() * 30) as integer) as "order",
    cast(150 + floor(random() * 50) as integer) as "größe",
    round(random() * 100, 2) as spending,
    case when random() < 0.5 then 'yes' else 'no' end as churned
from range({rows})
"""


def main(rows: int) -> None:
    """Build every relation that needs no model, and print what each step took."""
    with tempfile.TemporaryDirectory() as folder:
        # The golden SQL names the database `shop`.
        connection = duckdb.connect(str(Path(folder) / "shop.duckdb"))
        connection.execute("select setseed(0.5)")
        connection.execute(CUSTOMERS.format(rows=rows))
        for name, option in HIERARCHIES.items():
            connection.execute(
                f"create table {name} as from read_csv('{SEEDS / name}.csv', {option})"
            )
        print(f"{rows:,} records")
        step(
            connection,
            "plain group by",
            "select zip, gender, count(*) from customers group by 1, 2",
        )
        for name in RELATIONS:
            step(connection, name, f"create table customers_{name} as {golden(name)}")
        for effort in range(4):
            view = f"create view customers_effort_{effort} as {golden(f'effort_{effort}')}"
            connection.execute(view)
        step(connection, "fidelity", f"create table customers_fidelity as {golden('fidelity')}")
        # Its floor: what is released, grouped once per effort.
        labels = "birth_date, birth_date_lower, birth_date_upper, zip, gender, churned"
        floor = " union all ".join(
            f"select {effort}, {labels}, count(*) from customers_effort_{effort}"  # noqa: S608
            f" where not is_suppressed group by {labels}"
            for effort in range(4)
        )
        step(connection, "group by of efforts", f"create table floor_of_fidelity as {floor}")
        scan = "select count(equivalence_class), sum(class_size) from customers_effort_3"
        step(connection, "scan of an effort", scan)
        step(connection, "release", f"create table released as {golden('anonymized')}")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(f"{'largest memory':<20}{memory:8.2f} GB")


def golden(name: str) -> str:
    """Return the SQL of a relation of the test project."""
    return (GOLDEN / f"customers_{name}.sql").read_text(encoding="utf-8")


def step(connection: duckdb.DuckDBPyConnection, name: str, sql: str) -> None:
    """Run a statement and print its time."""
    started = time.perf_counter()
    connection.execute(sql).fetchall()
    print(f"{name:<20}{time.perf_counter() - started:8.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
