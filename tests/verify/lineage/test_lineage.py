"""Every planted leak leaks, and is caught for that reason; the honest clinic passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage import Models, Node, lineage_findings
from tests.sampling import sample
from tests.verify.lineage.clinic import SECRETS, Clinic, node_name
from tests.verify.lineage.leaks import LEAKS, Leak

# Of each reason, for what depends on each secret.
SAMPLED = sample("leaks", LEAKS, 0.25, lambda leak: (leak.secret, leak.reason))
SECRET = [drawn for drawn in SAMPLED if drawn.values[0].secret]
OPEN = [drawn for drawn in SAMPLED if not drawn.values[0].secret]


def edited(clinic: Clinic, leak: Leak) -> dict[str, str]:
    """Return the SQL of the models that a leak edits."""
    registry = str(clinic.seeds / "registry.csv")
    return {
        model: edit(clinic.sql(model)).replace("{registry}", registry)
        for model, edit in leak.edits.items()
    }


def with_nodes(models: Models, nodes: Mapping[str, Node]) -> Models:
    return replace(models, nodes={**models.nodes, **nodes})


def broken(findings: list[Finding]) -> list[str]:
    return [f"{f.subject}: {f.message}" for f in findings if f.holds is False]


def test_the_honest_clinic_passes(clinic: Clinic) -> None:
    findings = lineage_findings(clinic.models, clinic.spec)
    assert broken(findings) == []
    proved = {f.subject for f in findings}
    columns = ("age", "age_lower", "age_upper", "zip", "smoker", "diagnosis", "cqi")
    assert {f"visits_anonymized.{column}" for column in columns} <= proved


@pytest.mark.parametrize("secret", SECRETS)
def test_the_honest_release_does_not_depend_on_a_secret(clinic: Clinic, secret: str) -> None:
    honest = clinic.release("", {"people": clinic.sql("people")})
    assert clinic.release(secret, {"people": clinic.sql("people")}) == honest
    assert honest.count("flu") > 5


def test_the_catalogue_is_large() -> None:
    assert len({leak.name for leak in LEAKS}) == len(LEAKS) >= 120


@pytest.mark.parametrize("leak", SAMPLED)
def test_a_planted_leak_is_caught(clinic: Clinic, leak: Leak) -> None:
    nodes = {
        node_name(model): replace(clinic.models.nodes[node_name(model)], sql=sql)
        for model, sql in edited(clinic, leak).items()
    }
    found = broken(lineage_findings(with_nodes(clinic.models, nodes), clinic.spec))
    assert any(leak.reason in message for message in found), "\n".join(found) or "nothing is found"


def changed(clinic: Clinic, name: str, **fields: Any) -> Models:
    """Return the models with one node that is otherwise."""
    return with_nodes(clinic.models, {name: replace(clinic.models.nodes[name], **fields)})


def test_a_program_upstream_is_rejected(clinic: Clinic) -> None:
    """A Python model as the source, and one that the source reads."""
    for name in ("people", "registry"):
        models = changed(clinic, name, sql=None, kind="model")
        found = broken(lineage_findings(models, clinic.spec))
        assert [x for x in found if "people.smoker" in x and "cannot be followed" in x], found


def test_a_program_on_the_way_to_the_release_is_rejected(clinic: Clinic) -> None:
    models = changed(clinic, "visits_effort_2", sql=None)
    assert "a Python model" in "".join(broken(lineage_findings(models, clinic.spec)))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"columns": ("visit_id", "ssn")}, "holds other columns than its SQL gives"),
        ({"is_view": False}, "holds a table, which is not what the model makes"),
    ],
)
def test_the_database_must_hold_what_the_sql_makes(
    clinic: Clinic, fields: dict[str, Any], reason: str
) -> None:
    models = changed(clinic, "visits_effort_1", **fields)
    assert reason in "".join(broken(lineage_findings(models, clinic.spec)))


def test_a_function_that_hides_one_of_the_database_is_rejected(clinic: Clinic) -> None:
    assert clinic.models.functions == ()
    for name, count in (("peek", 0), ("md5", 1)):
        found = broken(lineage_findings(replace(clinic.models, functions=(name,)), clinic.spec))
        assert len(found) == count, found


def token_models(clinic: Clinic, stored: str = "tokens.token") -> Models:
    """Return the clinic with `mapping: token`, written by hand from the rules of that mode."""
    tokens = Node(
        "visits_tokens", "model", ("vault", "main", "visits_tokens"), columns=("person", "token")
    )
    identifiers = replace(
        clinic.models.nodes["visits_identifiers"],
        columns=("visit_id", "name", "ssn", "token"),
        sql="select people.visit_id, people.name, people.ssn, " + stored + " as token"
        ' from "clinic"."main"."people" as people'
        ' left join "vault"."main"."visits_tokens" as tokens on people.visit_id = tokens.person',
    )
    release = replace(
        clinic.models.nodes["visits_anonymized"],
        sql="select effort.age, age_lower, age_upper, effort.zip, smoker, diagnosis, vault.token"
        ' from "clinic"."main"."visits_effort_2" as effort'
        ' inner join "vault"."main"."visits_identifiers" as vault'
        " on effort.visit_id = vault.visit_id"
        " where not is_suppressed order by 1, 2, 3, 4, 5, 6, 7",
    )
    return with_nodes(clinic.models, {n.name: n for n in (tokens, identifiers, release)})


def test_a_stored_token_may_be_released_and_nothing_else_of_the_vault(clinic: Clinic) -> None:
    spec = clinic.spec.model_copy(update={"mapping": "token"})
    models = token_models(clinic)
    assert broken(lineage_findings(models, spec)) == []
    derived = token_models(clinic, "md5(people.ssn)")
    assert "must come from visits_tokens" in "".join(broken(lineage_findings(derived, spec)))
    release = models.nodes["visits_anonymized"]
    leaking = replace(
        release, sql=(release.sql or "").replace("vault.token", "vault.name as token")
    )
    found = broken(lineage_findings(with_nodes(models, {release.name: leaking}), spec))
    assert "must be the stored token" in "".join(found)
    unmapped = broken(lineage_findings(models, clinic.spec))
    assert "it reads visits_identifiers" in "".join(unmapped)


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


def test_a_snapshot_may_be_the_source(clinic: Clinic) -> None:
    """The columns that dbt adds are there, and its key is a hash of the record key."""
    columns = (*(clinic.models.nodes["people"].columns or ()), "dbt_scd_id", "dbt_valid_from")
    smoker = clinic.spec.columns["smoker"]
    added = {
        "dbt_scd_id": clinic.spec.columns["name"],
        "dbt_valid_from": clinic.spec.columns["name"],
    }
    spec = clinic.spec.model_copy(update={"columns": {**clinic.spec.columns, **added}})
    models = changed(clinic, "people", kind="snapshot", columns=columns)
    assert broken(lineage_findings(models, spec)) == []
    kept = spec.model_copy(update={"columns": {**spec.columns, "dbt_scd_id": smoker}})
    found = "".join(broken(lineage_findings(models, kept)))
    assert "people.dbt_scd_id: a kept column must have an origin that can be followed" in found


def test_two_sources_may_be_one_table(clinic: Clinic) -> None:
    """What a model makes is followed, whatever else its relation is called."""
    registry = clinic.models.nodes["registry"]
    twin = replace(registry, name="raw.registry", kind="source")
    models = with_nodes(clinic.models, {twin.name: twin})
    assert broken(lineage_findings(models, clinic.spec)) == []
    people = clinic.models.nodes["people"]
    other = replace(people, name="raw.people", kind="source", sql=None)
    reading = with_nodes(clinic.models, {other.name: other})
    assert reading.at(*people.relation) is people
    with pytest.raises(VerificationError, match="must have a relation of its own"):
        with_nodes(clinic.models, {"second": replace(registry, name="second")})
