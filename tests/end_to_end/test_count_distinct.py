"""Keys are counted by bits or by a hash table: the same number, whatever their type and range."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.projects import copy_consumer

BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}
NO_BITS = {"hugeint": 128, "varchar": 20, "double": 20}


def drawn(random_: random.Random) -> dict[str, tuple[str, list[int | None]]]:
    """Return columns by the names of their tables: dense, sparse, at the ends of the type."""
    columns: dict[str, tuple[str, list[int | None]]] = {"empty": ("bigint", [])}
    columns["nothing"] = ("bigint", [None, None])
    for name, bits in (BITS | NO_BITS).items():
        for unsigned in (False, True) if name in BITS else (False,):
            lowest, highest = (
                (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            )
            kind = f"u{name}" if unsigned else name
            for shape, numbers in {
                "low": range(lowest, lowest + 90),
                "high": range(highest - 90, highest + 1),
                "ends": (lowest, highest),
                "one": (highest,),
            }.items():
                values: list[int | None] = [random_.choice(numbers) for _ in range(60)]
                columns[f"{kind}_{shape}"] = (kind, [*values, *([None] * random_.randint(0, 2))])
    return columns


def test_distinct_values_are_counted_alike_by_bits_and_by_hashes(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    tables = drawn(random.Random(14))
    with project.connection() as connection:
        for name, (kind, values) in tables.items():
            connection.execute(f'create table "{name}" (" k""ey" {kind})')
            if values:
                rows = ", ".join(f"({'null' if value is None else value})" for value in values)
                connection.execute(f'insert into "{name}" values {rows}')
    (project.folder / "macros").mkdir(exist_ok=True)
    (project.folder / "macros" / "counted.sql").write_text(
        "{% macro counted(names) %}{% set found = {} %}{% for name in names %}"
        "{% set table = api.Relation.create(target.database, target.schema, name) %}"
        "{% do found.update({name: [dbt_anonymize._count_distinct(table, ' k\"ey'),"
        " dbt_anonymize.default___count_distinct(table, ' k\"ey')]}) %}{% endfor %}"
        "{% do log('counted ' ~ tojson(found) ~ ' end', info=true) %}{% endmacro %}",
        encoding="utf-8",
    )
    outcome = project.dbt("run-operation", "counted", "--args", json.dumps({"names": list(tables)}))
    assert outcome.succeeded, outcome.messages
    counted = json.loads(outcome.messages.split("counted ")[-1].split(" end")[0])
    expected = {name: len(set(values) - {None}) for name, (_, values) in tables.items()}
    assert counted == {name: [number, number] for name, number in expected.items()}
