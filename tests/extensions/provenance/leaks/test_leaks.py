"""Every planted leak leaks, and the check that the catalogue names finds it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import duckdb
import pytest

from dbt_anonymize.extensions.provenance.check import provenance_findings
from dbt_anonymize.extensions.provenance.compiled import Relations
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.tables import Tables
from tests.extensions.provenance.leaks.catalogue import LEAKS
from tests.extensions.provenance.leaks.clinic import CRM, SECRETS, Clinic, node_name
from tests.extensions.provenance.leaks.edits import (
    CHOSEN,
    DECIDED,
    PROVENANCE,
    RECOMPUTATION,
    STOPS,
    STORED_ORDER,
    UNCHANGED,
    Leak,
)
from tests.projects import REPOSITORY
from tests.sampling import sample

# Of each check and reason, for what depends on each secret.
SAMPLED = sample("leaks", LEAKS, 0.25, lambda leak: (leak.secret, leak.found_by))
SECRET = [drawn for drawn in SAMPLED if drawn.values[0].secret]
OPEN = [drawn for drawn in SAMPLED if not drawn.values[0].secret]


def edited(clinic: Clinic, leak: Leak) -> dict[str, str]:
    """Return the SQL of the models that a leak edits."""
    registry = str(clinic.seeds / "registry.csv")
    return {
        model: edit(clinic.sql(model)).replace("{registry}", registry)
        for model, edit in leak.edits.items()
    }


def broken(findings: list[Finding]) -> list[str]:
    return [f"{f.subject}: {f.message}" for f in findings if f.holds is False]


def by_provenance(clinic: Clinic, sql: dict[str, str]) -> list[str]:
    nodes = {
        node_name(model): replace(clinic.relations.by_name[node_name(model)], sql=text)
        for model, text in sql.items()
    }
    relations = Relations(
        {**clinic.relations.by_name, CRM.name: CRM, **nodes}, functions=frozenset({"peek"})
    )
    return broken(provenance_findings(relations, clinic.spec))


def by_recomputation(clinic: Clinic, leak: Leak, sql: dict[str, str]) -> list[str]:
    """Recompute the effort that is edited, as if it were the one that is released."""
    number = 1 if set(sql) == {"effort_1"} else 2
    with clinic.built("", sql, leak.healed) as connection:
        tables = Tables(
            connection,
            source="people",
            hierarchies={"age": "ages", "zip": "zips"},
            microdata="visits_microdata",
            effort=f"visits_effort_{number}",
            anonymized="visits_anonymized" if number == 2 else None,
        )
        return broken(recompute(tables, clinic.spec, effort=number))


def test_the_honest_clinic_passes(clinic: Clinic) -> None:
    honest = {"people": clinic.sql("people")}
    assert by_provenance(clinic, honest) == []
    assert by_recomputation(clinic, LEAKS[0], honest) == []


@pytest.mark.parametrize("secret", SECRETS)
def test_the_honest_release_does_not_depend_on_a_secret(clinic: Clinic, secret: str) -> None:
    honest = clinic.release("", {"people": clinic.sql("people")})
    assert clinic.release(secret, {"people": clinic.sql("people")}) == honest
    assert honest.count("flu") > 5


def test_nothing_that_changes_the_release_against_its_source_is_out_of_scope() -> None:
    assert len({leak.name for leak in LEAKS}) == len(LEAKS) >= 236
    for leak in LEAKS:
        if set(leak.edits) - {"people"}:
            assert leak.found_by in {RECOMPUTATION, UNCHANGED, STOPS}, leak.name
            assert not leak.secret or leak.found_by != UNCHANGED, leak.name
        else:
            assert leak.found_by in {PROVENANCE, CHOSEN, DECIDED, STORED_ORDER}, leak.name


@pytest.mark.parametrize("leak", SAMPLED)
def test_a_planted_leak_is_found_by_the_check_that_the_catalogue_names(
    clinic: Clinic, leak: Leak
) -> None:
    sql = edited(clinic, leak)
    if leak.found_by == STOPS:
        with pytest.raises(duckdb.InvalidInputException):
            by_recomputation(clinic, leak, sql)
        return
    by = {PROVENANCE: by_provenance(clinic, sql)}
    if set(sql) != {"people"}:
        by[RECOMPUTATION] = by_recomputation(clinic, leak, sql)
    assert {check for check, found in by.items() if found} == {leak.found_by} & set(by), by


@pytest.mark.parametrize("leak", SECRET)
def test_a_planted_leak_leaks(clinic: Clinic, leak: Leak) -> None:
    """The release of two clinics that differ in the secret alone differs."""
    sql = edited(clinic, leak)
    assert clinic.release("", sql) != clinic.release(leak.secret, sql)


@pytest.mark.parametrize("leak", OPEN)
def test_what_is_wrong_without_a_secret_runs(clinic: Clinic, leak: Leak) -> None:
    if leak.name == "two queries":
        pytest.skip("one statement is made of several here")
    assert clinic.release("", edited(clinic, leak))


def test_a_release_that_leaked_while_it_was_built_is_found_without_a_mapping(
    clinic: Clinic,
) -> None:
    """Neither the vault nor a working table tells of it any more."""
    spec = clinic.spec.model_copy(update={"mapping": "none"})
    for expression, found in (("microdata.smoker", False), ("left(person.name, 1)", True)):
        leak = (
            "select e.age, age_lower, age_upper, e.zip, {smoker} as smoker, e.diagnosis"
            " from visits_effort_2 as e join people as person using (visit_id)"
            " join visits_microdata as microdata using (visit_id)"
            " where not is_suppressed order by 1, 2, 3, 4, 5, 6"
        )
        sql = {"anonymized": leak.replace("{smoker}", expression)}
        with clinic.built("", sql) as connection:
            tables = Tables(
                connection,
                source="people",
                hierarchies={"age": "ages", "zip": "zips"},
                anonymized="visits_anonymized",
            )
            assert bool(broken(recompute(tables, spec, effort=2))) == found


def test_the_page_counts_the_planted_leaks() -> None:
    page = (REPOSITORY / "docs" / "extensions" / "provenance.md").read_text(encoding="utf-8")
    shown = {name: int(number) for name, number in re.findall(r"^\| (.+) \| (\d+) \|$", page, re.M)}
    counted = Counter(leak.found_by for leak in LEAKS)
    assert shown == counted
