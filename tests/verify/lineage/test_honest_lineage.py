"""Honest anonymizations pass, whatever they declare; a built project is proved as a whole."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage import Node, check_lineage, lineage_findings
from tests.projects import Project
from tests.verify.lineage.clinic import SPEC, Clinic, compiled, write_clinic
from tests.verify.lineage.leaks import CRM

CLASSES = {"attribute": "diagnosis"}


def recoded() -> dict[str, Any]:
    """Return a spec with subjects, level 0, both recodings and every measure of a class."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    rounds = [{"age": 0, "zip": 0}, {"age": 1, "zip": 1}, {"age": 3, "zip": 2}]
    efforts = [{"age": 0, "zip": 1}, {"age": 1, "zip": 0}]
    recodings = [{"recoding": "local", "rounds": rounds}, {"recoding": "multidimensional"}]
    guarantees = {
        "k_anonymity": {"k": 2},
        "alpha_k_anonymity": {**CLASSES, "alpha": 0.9, "k": 2},
        "l_diversity": {**CLASSES, "l": 2, "variant": "recursive", "c": 3.0},
        "t_closeness": {**CLASSES, "t": 0.9, "distance": "ordered"},
        "beta_likeness": {**CLASSES, "beta": 9.0},
        "delta_disclosure": {**CLASSES, "delta": 9.0},
    }
    return spec | {
        "name": "recoded",
        "subject": "ssn",
        "efforts": [*efforts, *recodings],
        "guarantees": guarantees,
    }


def among() -> dict[str, Any]:
    """Return a spec with a population, sample-based guarantees and a sensitive hierarchy."""
    spec: dict[str, Any] = copy.deepcopy(SPEC)
    hierarchy = {"ref": "diagnoses", "kind": "categorical", "levels": 2}
    spec["columns"]["diagnosis"] = {"role": "sensitive", "hierarchy": hierarchy}
    guarantees = {
        "k_anonymity": {"k": 2},
        "k_map": {"k": 2},
        "delta_presence": {"minimum": 0.0, "maximum": 1.0},
        "reidentification_risk": {"average": 0.5},
        "l_diversity": {**CLASSES, "l": 2, "variant": "entropy"},
        "t_closeness": {**CLASSES, "t": 0.9, "distance": "hierarchical"},
    }
    population = {"ref": "registry", "size": 1000}
    return spec | {"name": "among", "population": population, "guarantees": guarantees}


@pytest.fixture(scope="module")
def clinics(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project with anonymizations that use everything, of which nothing is built."""
    project = write_clinic(tmp_path_factory.mktemp("honest") / "project", recoded(), among())
    project.build("--select", "+people", "ages", "zips", "diagnoses")
    return project


def broken(findings: list[Finding]) -> list[str]:
    return [f"{f.subject}: {f.message}" for f in findings if f.holds is False]


@pytest.mark.parametrize("name", ["recoded", "among"])
def test_everything_that_a_spec_can_declare_passes(clinics: Project, name: str) -> None:
    with compiled(clinics, name) as (models, spec):
        findings = lineage_findings(models, spec)
        assert broken(findings) == []
        told = [
            f.message
            for f in findings
            if "found its labels" in f.message or "rests on" in f.message
        ]
        assert len(told) == (name == "recoded"), "what a proof rests on is said"
        # With another role, the same models are a leak.
        smoker = spec.columns["smoker"].model_copy(update={"role": "identifier"})
        other = spec.model_copy(update={"columns": {**spec.columns, "smoker": smoker}})
        assert "too many: smoker" in "".join(broken(lineage_findings(models, other)))


def test_a_built_project_is_proved(consumer: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(consumer.folder))
    project = find_project(consumer.folder)
    spec = load_spec(consumer.folder / "anonymizations" / "customers.yml")
    findings = check_lineage(project, spec)
    assert broken(findings) == []
    released = [row.subject for row in findings if row.subject.startswith("customers_anonymized.")]
    assert len(released) == 10
    # What a model does only while it is built, compiled SQL does not show.
    consumer.edit(
        "models/customers/customers_microdata.sql",
        lambda text: text.replace("identifiers=", "identifiers=[] if flags.WHICH == 'run' else "),
    )
    assert "must be what the spec gives" in "".join(broken(check_lineage(project, spec)))


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
    "one row per record, by a column": "select * exclude (n) from"
    f" (select *, {LAST} as n from {{r}}) as q where n = 1",
    "one row per record, beside a lookup": "select r.* from {r} as r left join {z} as z"
    " on z.value = r.zip"
    " qualify row_number() over (partition by r.visit_id order by z.level_1) = 1",
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
    "a count per person, by a window": "select * replace"
    " (cast(count(*) over (partition by ssn) as text) as smoker) from {r}",
    "staged": STAGED,
    "an ephemeral model": f"with __dbt__cte__staged as ({STAGED}) select * from __dbt__cte__staged",
    "renamed columns": "select * replace (upper(diagnosis) as diagnosis) rename (smokes as smoker)"
    " from (select * rename (smoker as smokes) from {r}) as q",
    "a lookup": "select r.* from {r} as r left join {z} as z on r.zip = z.value"
    " where z.level_1 <> 'unknown'",
    "places that exist": "select r.* from {r} as r semi join {z} as z on r.zip = z.value",
    "places that do not": "select r.* from {r} as r anti join (values ('99')) as z (v)"
    " on r.zip = z.v",
    "people who have an entry elsewhere": "select r.* from {r} as r"
    " semi join (select distinct ssn from {r}) as p using (ssn)",
    "people without an entry elsewhere": "select r.* from {r} as r"
    " left join (select ssn from {r} where diagnosis = 'other') as p on p.ssn = r.ssn"
    " where p.ssn is null",
    "a natural join": "select r.* from {r} as r natural join (select visit_id, zip from {r}) as p",
    "a spine": "with recursive spine as (select 0 as n union all select n + 1 from spine"
    " where n < 20) select r.* from {r} as r join spine on spine.n = r.age",
    "identifiers that are there": "select * from {r} where ssn is not null and trim(name) <> ''",
    "facts about a person from elsewhere": "select r.* replace (k.segment as smoker) from {r} as r"
    " join {k} as k on r.visit_id = k.id where k.consent = 'yes'",
    "people who are known elsewhere": "select r.* replace (case when k.id is null then 'no' else"
    " 'yes' end as smoker) from {r} as r left join {k} as k on r.visit_id = k.id",
    "people who are not known elsewhere": "select r.* from {r} as r left join"
    " (select * from {k} where consent = 'no') as k on r.visit_id = k.id where k.id is null",
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
    "one row per record of halves": "with u as (select * from {r} where age < 5 union all"
    " select * from {r}) select * from u"
    " qualify row_number() over (partition by visit_id order by age) = 1",
    "a join by a surrogate key": f"with a as (select *, {SURROGATE} as k from {{r}}), b as"
    f" (select *, {SURROGATE} as k from {{r}}) select a.* exclude (k) from a join b using (k)",
    "groups of a record and what stands for its identifier": "select visit_id,"
    " coalesce(ssn, 'unknown') as ssn, max(name) as name, max(age) as age, max(zip) as zip,"
    " max(smoker) as smoker, max(diagnosis) as diagnosis from {r}"
    " group by visit_id, coalesce(ssn, 'unknown')",
    "different rows with a part of an identifier": "select distinct * replace"
    " (regexp_replace(name, ' .*', '') as name) from {r}",
    "groups by an output that is called like a column": "with m as (select ssn, max(age) as age"
    " from {r} group by ssn having age > 3) select r.* from {r} as r semi join m using (ssn)",
    "a cohort": "select * from {r} where age between 2 and 12 and diagnosis <> 'none'",
    "groups of some size": "select * from {r} where diagnosis in"
    " (select diagnosis from {r} group by diagnosis having count(*) > 1)",
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


def reading(sql: str) -> str:
    registry, zips = ('"clinic"."main"."registry"', '"clinic"."main"."zips"')
    return sql.replace("{r}", registry).replace("{z}", zips).replace("{k}", CRM)


def upstream(clinic: Clinic, sql: str, **fields: Any) -> list[str]:
    """Return what is found where the source is made by a model, whatever its spec is besides."""
    people = replace(clinic.models.nodes["people"], sql=sql)
    models = replace(clinic.models, nodes={**clinic.models.nodes, "people": people})
    return broken(lineage_findings(models, clinic.spec.model_copy(update=fields)))


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_source_passes(clinic: Clinic, name: str) -> None:
    """It is proved, and the release does not depend on whom the records are of."""
    sql = reading(HONEST[name])
    assert upstream(clinic, sql) == []
    honest = clinic.release("", {"people": sql})
    assert honest.lower().count("flu") + honest.lower().count("cold") > 5, honest
    assert clinic.release("identifier", {"people": sql}) == honest


@pytest.mark.parametrize("sql", VISIT_NUMBERS)
def test_a_visit_may_be_numbered_within_the_subject(clinic: Clinic, sql: str) -> None:
    made = reading(sql)
    assert upstream(clinic, made, subject="ssn") == []
    assert clinic.release("identifier", {"people": made}) == clinic.release("", {"people": made})
    assert "what makes the record key" in "".join(upstream(clinic, made)), "whose visits?"
    among_neighbours = made.replace("by r.ssn", "by r.zip").replace("by ssn", "by zip")
    assert "record key" in "".join(upstream(clinic, among_neighbours, subject="ssn"))
    by_value = made.replace("order by visit_id", "order by age")
    by_value = by_value.replace("order by r.visit_id", "order by r.age")
    assert "quasi-identifier age" in "".join(upstream(clinic, by_value, subject="ssn"))


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
    ("smoker", "where", "reason"),
    [
        ("v.smoker", "", ""),
        ("region", "and region is not null", ""),
        ("v.smoker", "and p.age >= 18", ""),
        ("cast(extract(year from v.visited_at) as text)", "", ""),
        ("cast(row_number() over (partition by p.ssn order by v.visited_at) as text)", "", ""),
        ("cast(count(*) over (partition by p.ssn) as text)", "", ""),
        ("cast(rank() over (partition by p.zip order by v.visit_id) as text)", "", "record key"),
        (
            "cast(row_number() over (partition by region order by v.visited_at) as text)",
            "",
            "stored",
        ),
        (
            "v.smoker",
            "and p.name like 'A%'",
            "where must not choose records by the identifier name",
        ),
        ("v.smoker", "and v.visit_id in (1, 2)", "where must not choose records by the record key"),
        ("v.smoker", "qualify rank() over (order by p.ssn) < 9", "qualify must not choose records"),
    ],
)
def test_a_project_of_staged_relations_is_judged(
    clinic: Clinic, smoker: str, where: str, reason: str
) -> None:
    """Visits and patients are staged, deduplicated, joined and looked up, as projects do."""
    relations = {"visits": VISITS, "patients": PATIENTS}
    relations |= {"sites": ("id", "region"), "opted_out": ("patient_id",)}
    nodes = {
        f"raw.{name}": Node(f"raw.{name}", "source", ("raw", "raw", name), columns=columns)
        for name, columns in relations.items()
    }
    models = replace(clinic.models, nodes={**clinic.models.nodes, **nodes})
    sql = PROJECT.replace("{smoker}", smoker).replace("{where}", where)
    found = upstream(replace(clinic, models=models), sql, subject="ssn")
    assert bool(found) == bool(reason), found
    assert reason in "".join(found)


def test_a_relation_that_the_release_does_not_reach_is_named(clinic: Clinic) -> None:
    """As where a dbt source is declared over the relation of a model."""
    people = replace(clinic.models.nodes["people"], sql=None, is_unreached=True)
    mine = replace(people, name="mine.people", kind="source", is_unreached=False)
    nodes = {**clinic.models.nodes, "people": people, "mine.people": mine}
    source = clinic.spec.source.model_copy(update={"ref": None, "source": ("mine", "people")})
    spec = clinic.spec.model_copy(update={"source": source})
    (found,) = broken(lineage_findings(replace(clinic.models, nodes=nodes), spec))
    assert found.startswith("people: is a model or snapshot that the release does not depend on")
    assert "Read it with ref()" in found
    assert "Python" not in found
    assert "generated models" not in found
