"""False alarms of the content check on honest builds, and planted leaks that it finds there.

usage: python benchmarks/false_alarms.py [SEEDS [ROWS [FIRST_SEED]]]

Each seed makes customers whose notes hold order numbers of the size of their postcodes, or a survey
(every fourth) with serial numbers as identifier and as kept column. dbt builds a release with each
mapping in turn. Whatever the check reports then is a false alarm. After that one identifier each is
planted in the release, in a table of the warehouse and in a dropped table: all three must be found.
Exits with 1 unless there is no false alarm and nothing is missed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from dbt_anonymize.extensions.identifier_search.content import check_content  # noqa: E402
from dbt_anonymize.project.generate import generate  # noqa: E402 (found by the line above)
from dbt_anonymize.project.layout import find_project  # noqa: E402
from dbt_anonymize.project.results import release_file  # noqa: E402
from dbt_anonymize.spec import load_specs  # noqa: E402
from dbt_anonymize.verify.checked import Checked  # noqa: E402
from dbt_anonymize.verify.finding import Finding  # noqa: E402
from tests.projects import Project, copy_consumer  # noqa: E402
from tests.verify.clinic import opened  # noqa: E402

MAPPINGS = ("class", "token", "none")
# A number from 0 to 1 by row and column, the same on every machine.
DRAW = "(('0x' || substr(md5({seed} || '{column}' || i), 1, 8))::bigint / 4294967296.0)"
DRAWN = (
    *("first", "last", "born", "place", "sex", "city"),
    *("spend", "said", "left", "age", "region", "wave"),
)
FIRST_NAMES = "['Anna', 'Bora', 'Chloé', 'Dmitri', 'Eve', 'Füsun', 'Gus', 'Hana', 'Jo', 'O''Neil']"
LAST_NAMES = "['Smith', 'Müller', 'García', 'de la Cruz', 'Nguyễn', 'Ivanov', 'Kim', 'Okafor']"
CUSTOMERS = """
with drawn as (
    select
        i, {first_names}[1 + floor({first} * 10)::int] as first_name,
        {last_names}[1 + floor({last} * 8)::int] as last_name, {born} as born, {place} as place,
        {sex} as sex, {city} as city, {spend} as spend, {said} as said, {left} as gone
    from range(1, {rows} + 1) as numbers(i)
)
select
    i as customer_id,
    first_name || ' ' || last_name || case when i % 7 = 0 then '-' || i else '' end as full_name,
    case when i % 50 > 0 then lower(first_name) || '.' || i || '@example.org' end as email,
    case when said < 0.3 then 'Called ' || first_name || ' about order ' || i * 13 end as note,
    date '1930-01-01' + floor(28000 * sqrt(born))::int as birthdate,
    lpad((1000 + floor(29000 * place * place))::int::varchar, 5, '0') as postcode,
    case when sex < 0.48 then 'F' when sex < 0.92 then 'M' when sex < 0.94 then 'X' end as gender,
    ['Lisbon', 'Porto', 'Vigo', 'Berlin', 'Munich', 'Lyon'][1 + floor(city * 6)::int] as city,
    round(exp(1 + 5 * spend), 2) as total_spend,
    'order ' || (i * 13 + 7) as last_order,
    case when gone < 0.2 + 0.5 * born then 'yes' else 'no' end as churned
from drawn
"""
SURVEY = """
with drawn as (
    select
        i, {age} as age, {region} as region, {sex} as sex, {wave} as wave, {left} as gone
    from range(1, {rows} + 1) as numbers(i)
)
select
    i as customer_id,
    'Household ' || md5(i::varchar)[:6] as full_name,
    (2024000000 + i * 3)::varchar as email,
    '00' || (41000000 + i * 17) as note,
    date '1930-01-01' + floor(28000 * age)::int as birthdate,
    lpad((1 + floor(60 * region))::int::varchar, 5, '0') as postcode,
    case when sex < 0.5 then 'F' else 'M' end as gender,
    ['spring', 'autumn'][1 + floor(wave * 2)::int] as city,
    2024000000 + floor(wave * 400000)::bigint as total_spend,
    (2024000000 + (i * 7919) % 300000)::varchar as last_order,
    case when gone < 0.2 + 0.5 * age then 'yes' else 'no' end as churned
from drawn
"""
HIERARCHIES = {
    "birthdates": (
        "interval",
        3,
        "select make_date(1930 + i::int, 1, 1) as lower_bound, "
        "make_date(1931 + i::int, 1, 1) as upper_bound, (1930 + i)::varchar as level_1, "
        "(1930 + i // 10 * 10) || 's' as level_2, '*' as level_3 from range(80) as years(i)",
    ),
    "postcodes": (
        "categorical",
        4,
        "select distinct postcode as value, postcode[:2] || '***' as level_1, "
        "postcode[:1] || '****' as level_2, '*' as level_3, '*' as level_4 "
        "from {{ ref('people') }}",
    ),
    "genders": (
        "categorical",
        1,
        "select * from (values ('F', '*'), ('M', '*'), ('X', '*')) as genders(value, level_1)",
    ),
}
SPEC = {
    "version": 1,
    "name": "people",
    "source": {"ref": "people"},
    "record_key": "customer_id",
    "columns": {
        **{name: {"role": "identifier"} for name in ("full_name", "email", "note")},
        **{
            name: {
                "role": "quasi_identifier",
                "hierarchy": {"ref": f"{name}s", "kind": kind, "levels": levels},
            }
            for name, (kind, levels, _) in zip(
                ("birthdate", "postcode", "gender"), HIERARCHIES.values(), strict=True
            )
        },
        "city": {"role": "sensitive"},
        **{name: {"role": "insensitive"} for name in ("total_spend", "last_order", "churned")},
    },
    "target": "churned",
    "features": ["birthdate", "gender"],
    "efforts": [
        {"birthdate": 2, "postcode": 2, "gender": 0},
        {"birthdate": 2, "postcode": 4, "gender": 0},
        {"birthdate": 2, "postcode": 4, "gender": 1},
    ],
    "guarantees": {"k_anonymity": {"k": 3}},
    "suppression_limit": 0.2,
    "quality": {
        "model": "naive_bayes",
        "measure": "accuracy",
        "repetitions": 2,
        "test_share": 0.3,
        "random_state": 1,
        "sample": 1000,
    },
    "alpha": 1,
    "qnf": "1 - 1/k",
}
# One value of somebody, where others read it.
PLANTED = {
    "release": "update release.people_anonymized set last_order = 'for {value}' where rowid = 5",
    "table": "create table main.letters as select 'dear {value}' as letter",
    "dropped": "create table main.gone as select '{value}' as note union all select 'x'",
}


def main(seeds: int, rows: int, first: int) -> int:
    """Build and check; return 0 if nothing was accused, and everything planted was found."""
    alarms, missed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        project = prepare(Path(folder) / "project")
        os.environ["DBT_PROFILES_DIR"] = str(project.folder)
        for seed in range(first, first + seeds):
            mapping, is_survey = MAPPINGS[seed % 3], seed % 4 == 0
            started = time.perf_counter()
            build(project, SURVEY if is_survey else CUSTOMERS, seed, rows, mapping)
            built = time.perf_counter()
            wrong = broken(project)
            checked = time.perf_counter()
            plant(project)
            found = broken(project).keys()
            unseen = {"people_anonymized.last_order", "main.letters.letter", "work"} - {
                "work" if subject.startswith("warehouse/") else subject for subject in found
            }
            alarms, missed = alarms + len(wrong), missed + len(unseen)
            print(
                f"seed {seed}, {'survey' if is_survey else 'customers'}, {mapping}: "
                f"{len(wrong)} false alarms, {len(unseen)} missed "
                f"(built in {built - started:.0f} s, checked in {checked - built:.1f} s)",
                *(f"  {subject}: {message}" for subject, message in wrong.items()),
                *(f"  missed: {subject}" for subject in sorted(unseen)),
                sep="\n",
                flush=True,
            )
    print(f"{seeds} builds of {rows:,} rows: {alarms} false alarms, {missed} planted were missed")
    return 1 if alarms or missed else 0


def prepare(folder: Path) -> Project:
    """Write a project that reads its people from the vault."""
    project = copy_consumer(folder)
    for pattern in ("seeds/*", "anonymizations/*", "models/*.*"):
        for path in folder.glob(pattern):
            path.unlink()
    models = {name: sql for name, (_, _, sql) in HIERARCHIES.items()}
    models["people"] = (
        "{{ config(materialized='view', database='vault') }} select * from vault.main.everybody"
    )
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql + "\n", encoding="utf-8")
    return project


def build(project: Project, source: str, seed: int, rows: int, mapping: str) -> None:
    """Build everything anew."""
    for place in ("vault", "warehouse", "release"):
        for path in (project.folder / place).rglob("*.duckdb*"):
            path.unlink()
    draws = {column: DRAW.format(seed=seed, column=column) for column in DRAWN}
    people = source.format(rows=rows, first_names=FIRST_NAMES, last_names=LAST_NAMES, **draws)
    with duckdb.connect(str(project.folder / "vault" / "vault.duckdb")) as vault:
        vault.execute(f"create table everybody as {people}")
    spec = yaml.safe_dump({**SPEC, "mapping": mapping}, sort_keys=False, allow_unicode=True)
    (project.folder / "anonymizations" / "people.yml").write_text(spec, encoding="utf-8")
    generate(project.folder)
    project.build()


def broken(project: Project) -> dict[str, str]:
    """Return what the content check accuses."""
    (spec,) = load_specs(project.folder, ["people"])
    with opened(project) as warehouse:
        release = project.folder / release_file(warehouse, "people")
        findings: list[Finding] = check_content(
            Checked(warehouse, warehouse, find_project(project.folder), spec, release, None)
        )
    return {finding.subject: finding.message for finding in findings if finding.holds is False}


def plant(project: Project) -> None:
    """Put one value each where others read it, and drop one of them again."""
    with duckdb.connect(str(project.folder / project.warehouse)) as c:
        c.execute(f"attach '{project.folder}/vault/vault.duckdb' as vault (read_only)")
        c.execute(f"attach '{project.release_file('people')}' as release")
        values = c.execute(
            "select distinct full_name from vault.everybody where full_name similar to '.*[0-9].*' "
            "order by md5(full_name) limit 3"
        ).fetchall()
        for (value,), sql in zip(values, PLANTED.values(), strict=True):
            c.execute(sql.format(value=value.replace("'", "''")))
        c.execute("checkpoint")
        # Behind it, so that the file cannot simply end earlier.
        c.execute("create table main.behind as from range(100000)")
        c.execute("checkpoint")
        c.execute("drop table main.gone")
    project.release_file("people").chmod(0o644)


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*given, *[20, 50_000, 1][len(given) :]))
