"""Columns are followed to where they are stored; what identifiers are made of is not released."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_anonymize.extensions.provenance.check import provenance_findings
from dbt_anonymize.extensions.provenance.compiled import Relation, Relations
from dbt_anonymize.spec.models import Spec
from dbt_anonymize.verify.finding import Finding
from tests.extensions.provenance.leaks.clinic import CRM, SPEC

PEOPLE = ("visit_id", "name", "ssn", "age", "zip", "smoker", "diagnosis")
RELATIONS = {
    relation.name: relation
    for relation in (
        Relation("people", "model", ("clinic", "main", "people"), columns=PEOPLE),
        Relation("registry", "seed", ("clinic", "main", "Registry"), columns=PEOPLE),
        CRM,
        Relation(
            "zips", "seed", ("clinic", "main", "zips"), columns=("value", "level_1", "level_2")
        ),
    )
}


LAST = "row_number() over (partition by visit_id order by age desc)"
HASH = "md5(cast(coalesce(cast(visit_id as text), '_') || '-' || coalesce(ssn, '_') as text))"
SURROGATE = HASH.replace("'_'", "'_dbt_utils_surrogate_key_null_'")
STAGED = """
    select
        cast(visit_id as integer) as visit_id,
        upper(trim(name)) as name,
        cast(ssn as text) as ssn,
        age,
        zip,
        case smoker when 'yes' then 'y' when 'no' then 'n' else 'unknown' end as smoker,
        coalesce(diagnosis, 'none') as diagnosis
    from {r}
"""
# What dbt projects do before their data are anonymized; `{r}` is what they read.
HONEST = {
    "a named window": "select * replace (min(smoker) over w as smoker) from {r}"
    " window w as (partition by smoker)",
    "values that are written down": "select r.* replace (m.b as smoker) from {r} as r"
    " join (values ('yes', 'ja'), ('no', 'nein')) as m (a, b) on r.smoker = m.a",
    "two halves": "select * from {r} where age < 5 union all select * from {r} where age >= 5",
    "halves by name": "select * from {r} where age < 5 union all by name"
    " select diagnosis, smoker, zip, age, ssn, name, visit_id from {r} where age >= 5",
    "one row per record": f"select * from {{r}} qualify {LAST} = 1",
    "one row per record of a union": "with u as (select *, 1 as part from {r} union all by name"
    " select *, 2 as part from {r}) select * exclude (part) from u"
    " qualify row_number() over (partition by visit_id order by part) = 1",
    "distinct on": "select distinct on (visit_id) * from {r} order by visit_id, age",
    "any value per record": "select visit_id, any_value(name) as name, any_value(ssn) as ssn,"
    " any_value(age) as age, any_value(zip) as zip, any_value(smoker) as smoker,"
    " any_value(diagnosis) as diagnosis from {r} group by visit_id",
    "a count per person": "with n as"
    " (select ssn, count(*) as n from {r} where ssn is not null group by ssn)"
    " select r.* replace (cast(n.n as text) as smoker) from {r} as r left join n on n.ssn = r.ssn",
    "staged": STAGED,
    "an ephemeral model": f"with __dbt__cte__staged as ({STAGED}) select * from __dbt__cte__staged",
    "renamed columns": "select * replace (upper(diagnosis) as diagnosis) rename (smokes as smoker)"
    " from (select * rename (smoker as smokes) from {r}) as q",
    "a natural join": "select r.* from {r} as r natural join (select visit_id, zip from {r}) as p",
    "a spine": "with recursive spine as (select 0 as n union all select n + 1 from spine"
    " where n < 20) select r.* from {r} as r join spine on spine.n = r.age",
    "facts about a person from elsewhere": "select r.* replace (k.segment as smoker) from {r} as r"
    " join {k} as k on r.visit_id = k.id where k.consent = 'yes'",
    "people who are known elsewhere": "select r.* replace (case when k.id is null then 'no' else"
    " 'yes' end as smoker) from {r} as r left join {k} as k on r.visit_id = k.id",
    "the newest entry of each elsewhere": "select r.* replace (k.segment as smoker) from {r} as r"
    " join (select * from {k} qualify row_number() over (partition by id order by age desc) = 1)"
    " as k on r.visit_id = k.id",
    "how many entries elsewhere": "select r.* replace (cast(k.n as text) as smoker) from {r} as r"
    " join (select ssn, count(*) as n from {k} group by ssn having count(*) < 9) as k using (ssn)",
    "a number for each place": "select r.* replace (z.n as smoker) from {r} as r join"
    " (select zip, count(*) as n from {k} group by zip) as z on z.zip = r.zip",
    "a join by a cleaned identifier": "with a as (select * replace (lower(trim(name)) as name)"
    " from {r}), b as (select distinct lower(trim(name)) as name from {r})"
    " select a.* from a join b on a.name = b.name",
    "a surrogate key": f"with k as (select *, {HASH} as k from {{r}})"
    " select * exclude (k) replace (k as visit_id) from k"
    " qualify row_number() over (partition by k order by age) = 1",
    "aggregates of others": "select r.* replace (cast(m.n as text) as smoker) from {r} as r"
    " join (select diagnosis, count(*) as n from {r} group by diagnosis) as m using (diagnosis)",
    "a name from elsewhere, else that of the register": "select r.* replace"
    " (coalesce(k.name, r.name, 'unknown') as name) from {r} as r left join {k} as k"
    " on k.id = r.visit_id",
    "one row per record of two relations": "with u as (select *, 1 as part from {r} union all"
    " select id, name, ssn, age, zip, segment, 'none', 2 from {k})"
    " select * exclude (part) from u"
    " qualify row_number() over (partition by visit_id order by part) = 1",
    "a join by a surrogate key": f"with a as (select *, {SURROGATE} as k from {{r}}), b as"
    f" (select *, {SURROGATE} as k from {{r}}) select a.* exclude (k) from a join b using (k)",
    "groups of a record and what stands for its identifier": "select visit_id,"
    " coalesce(ssn, 'unknown') as ssn, max(name) as name, max(age) as age, max(zip) as zip,"
    " max(smoker) as smoker, max(diagnosis) as diagnosis from {r}"
    " group by visit_id, coalesce(ssn, 'unknown')",
}  # fmt: skip
# How often each person came, by the record key and without joining rows of anybody else.
VISIT_NUMBERS = (
    "select * replace (cast(row_number() over (partition by ssn order by visit_id) as text)"
    " as smoker) from {r}",
    "with s as (select * replace (cast(ssn as text) as ssn) from {r}), n as"
    " (select *, count(*) over (partition by ssn order by visit_id) as n from s)"
    " select * exclude (n) replace (cast(n as text) as smoker) from n",
    "select r.* replace (cast(rank() over (partition by r.ssn order by r.visit_id) as text)"
    " as smoker) from {r} as r left join {z} as z on z.value = r.zip",
)


def relations(sql: str | None, *others: Relation, **fields: Any) -> Relations:
    """Return relations in which a query makes the source: `{r}`, `{k}` and `{z}` are read."""
    if sql is not None:
        for short, table in (("{r}", "registry"), ("{k}", "crm"), ("{z}", "zips")):
            sql = sql.replace(short, f'"clinic"."main"."{table}"')
    made = {"people": replace(RELATIONS["people"], sql=sql, **fields)}
    return Relations({**RELATIONS, **{r.name: r for r in others}, **made}, functions=PEEK)


PEEK = frozenset({"peek"})


def spec(**columns: Any) -> Spec:
    """Return the spec of the clinic, with more said about some columns."""
    declared = {name: column | columns.get(name, {}) for name, column in SPEC["columns"].items()}
    return Spec.model_validate(SPEC | {"columns": declared})


def problems(sql: str | None, *others: Relation, **columns: Any) -> dict[str, str]:
    return broken(provenance_findings(relations(sql, *others), spec(**columns)))


def broken(findings: list[Finding]) -> dict[str, str]:
    return {f.subject: f.message for f in findings if f.holds is False}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_source_passes(name: str) -> None:
    assert problems(HONEST[name]) == {}


MADE = {
    "a hash": ("md5(ssn)", "ssn"),
    "a condition": ("case when name < 'E' then 'yes' else 'no' end", "name"),
    "a cast that fails": ("try_cast(ssn as utinyint) is null", "ssn"),
    "whether a part is missing": ("nullif(name, 'Ana') is null", "name"),
    "a window": ("rank() over (partition by zip order by name)", "name"),
    "a count by the person": ("count(*) over (partition by ssn)", "ssn"),
    "a subquery": ("(select count(*) from {r} as p where p.name < r.name)", "name"),
    "a list": ("list_transform([ssn], lambda x: x || '!')", "ssn"),
    "a unit of time": ("date_trunc(ssn, date '2001-05-05')", "ssn"),
    "the record key": ("visit_id % 7", "visit_id"),
    "a recursive common table": (
        "(with recursive w as (select ssn as a, '' as b, '' as c from {r} union all select a, a, b"
        " from w where c = '') select max(c) from w)",
        "ssn",
    ),
    "a list in rows": ("(select max(u.x) from unnest([r.ssn]) as u (x))", "ssn"),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("column", ["smoker", "zip"])
def test_what_is_made_of_an_identifier_is_refused_unless_declared(name: str, column: str) -> None:
    """As a kept column and as a quasi-identifier."""
    expression, origin = MADE[name]
    sql = f"select r.* replace ({expression} as {column}) from {{r}} as r"
    found = problems(sql)
    if column == "smoker" and "zip" in expression:
        assert "`derived_from: zip`" in found.pop("people.smoker")
        return
    assert f"`derived_from: {origin}`" in found[f"people.{column}"]
    assert problems(sql, **{column: {"derived_from": origin}}) == {}
    other = "ssn" if origin == "name" else "name"
    assert problems(sql, **{column: {"derived_from": [other]}}) == found


def test_a_kept_column_is_not_made_of_a_quasi_identifier_unless_declared() -> None:
    sql = (
        "select * replace (cast(age > 7 as text) as smoker, age + cast(zip as int) as age) from {r}"
    )
    assert set(problems(sql)) == {"people.smoker"}, "quasi-identifiers may share an origin"
    assert problems(sql, smoker={"derived_from": ["age", "zip"]}) == {}
    label = (
        "select r.* replace (z.level_1 as smoker) from {r} as r join {z} as z on z.value = r.zip"
    )
    assert "level_1 of zips" in problems(label)["people.smoker"]


@pytest.mark.parametrize(
    ("join", "smoker", "origin"),
    [
        ("join {k} as k on r.name = k.name", "k.segment", ""),
        ("join {k} as k on r.visit_id = k.id", "case when k.id is null then 'a' else 'b' end", ""),
        ("join {k} as k on r.visit_id = k.id", "k.id", "id of raw.crm"),
        (
            "join {k} as k on lower(r.ssn) = lower(k.consent)",
            "md5(k.consent)",
            "consent of raw.crm",
        ),
        (", {k} as k where r.ssn = k.consent", "k.consent", "consent of raw.crm"),
        ("join {k} as k using (ssn)", "k.name", "name of raw.crm"),
        ("join {k} as k using (zip)", "k.name", ""),
        # Two that meet a third are not equal: a calendar has the days of both.
        ("join {k} as k on k.segment = r.ssn and k.segment = r.diagnosis", "r.diagnosis", ""),
    ],
)
def test_what_a_join_equates_with_an_identifier_is_it(join: str, smoker: str, origin: str) -> None:
    found = problems(f"select r.* replace ({smoker} as smoker) from {{r}} as r {join}")
    assert set(found) == ({"people.smoker"} if origin else set())
    assert origin in "".join(found.values())


NOT_FOLLOWED = {
    "whole row": ("select r.* replace (r::text as smoker) from {r} as r", "a row as a whole"),
    "columns by pattern": ("select columns('a|e|i') from {r}", ""),
    "a pivot": (
        "select r.* replace (p.yes as smoker) from {r} as r cross join (select * from (pivot"
        " (select name, smoker from {r}) on smoker in ('yes') using max(name)) as q) as p",
        "",
    ),
    "a pivot of a relation": (
        "select r.* replace (p.yes as smoker) from {r} as r join"
        " (select * from {r} pivot (max(name) for smoker in ('yes'))) as p using (visit_id)",
        "",
    ),
    "a number of a row": ("select * replace (rowid as smoker) from {r}", ""),
    "a lateral": (
        "select r.* replace (l.n as smoker) from {r} as r cross join lateral"
        " (select r.name as n) as l",
        "",
    ),
    "a function of the database": (
        "select * replace (peek(zip) as smoker) from {r}",
        "calls peek(), which is defined in the database",
    ),
    "a file": ("select * from read_csv('registry.csv')", "no relation of the project"),
    "a file by its name": ("select * from 'registry.csv'", "registry.csv, which is no relation"),
    "another relation": ("select * from clinic.main.hidden", "clinic.main.hidden, which is no"),
    "two queries": ("select * from {r}; select 1", "is not one query"),
    "no SQL": ("select from where", "is not SQL that sqlglot follows"),
    "itself": ('select * from "clinic"."main"."people"', "reads itself"),
    "a Python model": (None, "is a Python model"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_named_and_does_not_hold(name: str) -> None:
    sql, reason = NOT_FOLLOWED[name]
    found = problems(sql)["people.smoker"]
    assert found.startswith("not followed: "), found
    assert reason in found


def test_a_source_that_no_model_makes_holds() -> None:
    for kind in ("seed", "source"):
        made = relations(None, kind=kind)
        (finding,) = provenance_findings(made, spec())
        assert finding.holds
        assert "no model of the project makes it" in finding.message


def test_models_are_followed_through_models() -> None:
    staged = Relation(
        "staged",
        "model",
        ("clinic", "main", "staged"),
        'select *, md5(ssn) as tag, upper(zip) as place from "clinic"."main"."registry"',
        (*PEOPLE, "tag", "place"),
    )
    sql = 'select {columns} as smoker, diagnosis from "clinic"."main"."staged"'
    sql = sql.replace("{columns}", "visit_id, name, ssn, age, place as zip, {smoker}")
    assert problems(sql.replace("{smoker}", "smoker"), staged) == {}
    assert "ssn of registry" in problems(sql.replace("{smoker}", "tag"), staged)["people.smoker"]
    python = replace(staged, sql=None)
    found = problems(sql.replace("{smoker}", "smoker"), python)
    assert found["people.smoker"].startswith("not followed: people staged is a Python model")


def test_labels_of_a_hierarchy_are_not_made_of_an_identifier() -> None:
    def hierarchy(labels: str) -> Relation:
        columns = ("value", "level_1", "level_2")
        return Relation("zips", "model", ("clinic", "main", "zips"), labels, columns)

    honest = "select x as value, x // 10 as level_1, 1 as level_2 from range(10, 30) as t (x)"
    assert problems("select * from {r}", hierarchy(honest)) == {}
    leaky = "select zip as value, min(name) as level_1, 1 as level_2 from clinic.main.registry"
    found = problems("select * from {r}", hierarchy(f"{leaky} group by zip"))
    assert set(found) == {"zips.level_1"}


VISITS = ("id", "patient_id", "visited_at", "smoker", "diagnosis", "site_id", "updated_at")
PATIENTS = ("id", "first_name", "last_name", "ssn", "birth_date", "zip", "consent", "updated_at")
PROJECT = """
with __dbt__cte__stg_visits as (
    with source as (select * from raw.raw.visits),
    renamed as (
        select
            cast(id as integer) as visit_id,
            patient_id,
            cast(visited_at as timestamp) as visited_at,
            lower(smoker) as smoker,
            nullif(trim(diagnosis), '') as diagnosis,
            site_id,
            row_number() over (partition by id order by updated_at desc) as newest
        from source
    )
    select * exclude (newest) from renamed where newest = 1
),
__dbt__cte__stg_patients as (
    select
        id as patient_id,
        first_name || ' ' || last_name as name,
        ssn,
        date_diff('year', birth_date, date '2026-01-01') as age,
        zip
    from raw.raw.patients
    where consent and ssn is not null
    qualify row_number() over (partition by id order by updated_at desc) = 1
),
sites as (select id as site_id, region from raw.raw.sites)
select
    v.visit_id, p.name, p.ssn, p.age, p.zip, {smoker} as smoker,
    coalesce(v.diagnosis, 'none') as diagnosis
from __dbt__cte__stg_visits as v
inner join __dbt__cte__stg_patients as p on v.patient_id = p.patient_id
left join sites using (site_id)
left join raw.raw.opted_out as o on o.patient_id = v.patient_id
where o.patient_id is null and v.visited_at >= date '2020-01-01' {where}
"""


@pytest.mark.parametrize(
    ("smoker", "origin"),
    [
        ("v.smoker", ""),
        ("region", ""),
        ("cast(extract(year from v.visited_at) as text)", ""),
        ("case when p.patient_id is null then 'a' else 'b' end", ""),
        ("cast(count(*) over (partition by p.ssn) as text)", "ssn of raw.patients"),
        ("cast(rank() over (partition by region order by v.visit_id) as text)", "id of raw.visits"),
        ("left(p.name, 1)", "first_name of raw.patients, last_name of raw.patients"),
    ],
)
def test_a_project_of_staged_relations_is_judged(smoker: str, origin: str) -> None:
    """Visits and patients are staged, deduplicated, joined and looked up, as projects do."""
    tables = {"visits": VISITS, "patients": PATIENTS, "sites": ("id", "region")}
    others = [
        Relation(f"raw.{name}", "source", ("raw", "raw", name), columns=columns)
        for name, columns in (tables | {"opted_out": ("patient_id",)}).items()
    ]
    found = problems(PROJECT.replace("{smoker}", smoker).replace("{where}", ""), *others)
    assert set(found) == ({"people.smoker"} if origin else set())
    assert origin in "".join(found.values())
