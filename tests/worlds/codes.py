"""People with one of 100,000 codes, whose hierarchy is a model of the warehouse, not a seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import yaml

from dbt_anonymize.project.generate import generate
from tests.projects import Project, copy_consumer
from tests.worlds.specs import SENSITIVE, categories, spec_of

NAME, HIERARCHY = "coded", "all_codes"
CODES, PEOPLE, K = 100_000, 20_000, 5
# Characters that are shown at each level.
SHOWN = (4, 3, 2, 0)
EFFORTS = [{"code": 2}, {"code": 3}]

_HIERARCHY = f"""{{{{ config(materialized='<materialized>') }}}}
select
    code as value,
    substr(code, 1, 4) || '*' as level_1,
    substr(code, 1, 3) || '**' as level_2,
    substr(code, 1, 2) || '***' as level_3,
    '*' as level_4
from (
    select lpad(cast(number as text), 5, '0') as code
    from generate_series(0, {CODES - 1}) as numbers(number)
) as codes
"""
# Whoever has one of the first 40,000 codes is ill, but for every tenth of them.
_PEOPLE = f"""{{{{ config(materialized='table') }}}}
select
    person,
    lpad(cast(code as text), 5, '0') as code,
    case when code < 40000 and person % 10 > 0 then 'flu' else 'none' end as illness
from (
    select person, (person * 7919) % {CODES} as code
    from generate_series(1, {PEOPLE}) as numbers(person)
) as people
"""


def write(folder: Path, materialized: str) -> Project:
    """Write the project, unbuilt."""
    project = copy_consumer(folder)
    for place in ("models/customers", "anonymizations", "seeds"):
        for path in (folder / place).iterdir():
            path.unlink()
    (folder / "models" / "unit_tests.yml").unlink()
    for name, sql in ((f"{NAME}_source", _PEOPLE), (HIERARCHY, _HIERARCHY)):
        text = sql.replace("<materialized>", materialized)
        (folder / "models" / f"{name}.sql").write_text(text, encoding="utf-8")
    columns = {"code": categories(HIERARCHY, len(SHOWN)), "illness": SENSITIVE}
    spec = spec_of(
        NAME,
        columns,
        record_key="person",
        target="illness",
        features=["code"],
        efforts=EFFORTS,
        guarantees={"k_anonymity": {"k": K}},
    )
    path = folder / "anonymizations" / f"{NAME}.yml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    generate(folder)
    return project


def label(code: int, level: int) -> str:
    """Return the label of a code."""
    shown = SHOWN[level - 1]
    return "*" if not shown else f"{code:05}"[:shown] + "*" * (5 - shown)


def class_sizes(level: int) -> Counter[str]:
    """Return how many people have each label of a level."""
    return Counter(label(person * 7919 % CODES, level) for person in range(1, PEOPLE + 1))
