"""A release is counted again from itself: what is honest holds, what was changed is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.guarantees import check_guarantees
from tests.projects import Project
from tests.verify.clinic import Clinic, broken, open_clinic, opened, with_guarantees

# Quasi-identifiers of one person each: the smallest class that a change can make.
L_DIVERSITY = "l_diversity (attribute diagnosis, l 2, variant distinct)"
ORDER = "visits_anonymized, order of rows"
SORT = "create or replace table visits_anonymized as from visits_anonymized order by all"
ONE = "rowid = (select min(rowid) from visits_anonymized where age <> '*')"


def verify(clinic: Clinic) -> list[Finding]:
    with clinic.open() as warehouse:
        return check_guarantees(warehouse, clinic.project, clinic.spec, release=clinic.release)


@pytest.mark.parametrize("effort", [1, 2, 3])
@pytest.mark.parametrize("mapping", ["class", "token", "none"])
def test_an_honest_release_holds_whatever_its_effort_and_mapping(
    tmp_path: Path, effort: int, mapping: str
) -> None:
    findings = verify(open_clinic(tmp_path / "clinic", effort=effort, mapping=mapping))
    assert broken(findings) == {}
    messages = {finding.subject: finding.message for finding in findings}
    assert "119 of 120" in messages["suppression_limit"]
    assert messages["effort"] == f"the labels have the levels of a declared effort: {effort}."
    traced = {finding.subject: finding.holds for finding in findings}["origin"]
    assert traced is (None if mapping == "none" else True)
    assert all(text.endswith(".") and not text[0].isupper() for text in messages.values())


@pytest.mark.parametrize(
    ("change", "subjects"),
    [
        pytest.param(
            f"delete from visits_anonymized where {ONE}", {"origin"}, id="one row removed"
        ),
        pytest.param(
            "delete from visits_anonymized where rowid < 12",
            {"origin", "suppression_limit"},
            id="more rows removed than may be suppressed",
        ),
        pytest.param(
            "insert into visits_anonymized from visits_anonymized limit 2",
            {"origin", "suppression_limit"},
            id="rows added",
        ),
        pytest.param(
            f"update visits_anonymized set age = '[20, 30)' where {ONE}",
            {
                "visits_anonymized.age",
                "visits_anonymized.cqi",
                "effort",
                "k_anonymity (k 3)",
                L_DIVERSITY,
            },
            id="a label with the bounds of another level",
        ),
        pytest.param(
            f"update visits_anonymized set age_lower = 21 where {ONE}",
            {
                "visits_anonymized.age",
                "visits_anonymized.cqi",
                "effort",
                "k_anonymity (k 3)",
                L_DIVERSITY,
            },
            id="a bound that tells the age",
        ),
        pytest.param(
            f"update visits_anonymized set zip = '01067' where {ONE}",
            {"visits_anonymized.cqi", "effort", "k_anonymity (k 3)", L_DIVERSITY},
            id="a label of a lower level",
        ),
        pytest.param(
            f"update visits_anonymized set zip = 'Moreau' where {ONE}",
            {
                "visits_anonymized.zip",
                "visits_anonymized.cqi",
                "effort",
                "k_anonymity (k 3)",
                L_DIVERSITY,
            },
            id="a label that is in no hierarchy",
        ),
        pytest.param(
            f"update visits_anonymized set zip = null where {ONE}",
            {
                "labels",
                "effort",
                "visits_anonymized.zip",
                "visits_anonymized.cqi",
                "k_anonymity (k 3)",
                L_DIVERSITY,
            },
            id="a label that is NULL",
        ),
        pytest.param(
            f"update visits_anonymized set cqi = cqi || ' ' where {ONE}",
            {"origin", "visits_anonymized.cqi"},
            id="a second text of a class",
        ),
        pytest.param(
            f"update visits_anonymized set diagnosis = 'cancer' where {ONE}",
            {"origin"},
            id="a sensitive value changed",
        ),
        pytest.param(
            "update visits_anonymized set diagnosis = 'flu'",
            {"origin", L_DIVERSITY},
            id="one sensitive value for everybody",
        ),
        pytest.param(
            "update visits_anonymized set cost = case cost when 100 then 101 when 101 then 100 "
            "else cost end",
            {"origin"},
            id="values of a kept column exchanged",
        ),
        pytest.param(
            "alter table visits_anonymized add column visit integer",
            {"visits_anonymized"},
            id="a column that is not declared",
        ),
        pytest.param(
            "create table more as select 1 as one", {"release/visits.duckdb"}, id="another table"
        ),
        pytest.param("create view more as select 1 as one", {"release/visits.duckdb"}, id="a view"),
        pytest.param("create schema more", {"release/visits.duckdb"}, id="a schema"),
        pytest.param("create type more as enum ('Moreau')", {"release/visits.duckdb"}, id="a type"),
        pytest.param("create macro more() as 'Moreau'", {"release/visits.duckdb"}, id="a macro"),
        pytest.param(
            "comment on column visits_anonymized.note is 'Moreau'",
            {"release/visits.duckdb"},
            id="a comment on a column",
        ),
        pytest.param(
            "alter table visits_anonymized alter note set default 'Moreau'",
            {"release/visits.duckdb"},
            id="a default",
        ),
        pytest.param(
            "alter table visits_anonymized alter note set not null",
            {"release/visits.duckdb"},
            id="a constraint",
        ),
        pytest.param(
            "create or replace table visits_anonymized as "
            "from visits_anonymized order by hash(note, cost, diagnosis, rowid)",
            {ORDER},
            id="rows in another order",
        ),
        pytest.param(
            "create or replace table visits_anonymized as from visits_anonymized order by zip, "
            "age, age_lower, age_upper, diagnosis, cost, note desc, cqi",
            {ORDER},
            id="rows in another order within equal columns",
        ),
        pytest.param(
            "comment on table visits_anonymized is 'Moreau'",
            {"release/visits.duckdb"},
            id="a comment",
        ),
    ],
)
def test_whatever_is_changed_in_a_release_is_seen(
    tmp_path: Path, change: str, subjects: set[str]
) -> None:
    declared = with_guarantees(l_diversity={"attribute": "diagnosis", "l": 2})
    clinic = open_clinic(tmp_path / "clinic", **declared)
    # Whoever changes rows and knows the rules puts them in order again.
    is_of_rows = change.startswith(("insert", "update", "delete"))
    clinic.change_release(change, *([SORT] if is_of_rows else []))
    findings = broken(verify(clinic))
    assert set(findings) == subjects
    assert not any("Moreau" in message or "cancer" in message for message in findings.values())


def test_a_class_that_is_too_small_breaks_k_anonymity_and_is_counted(tmp_path: Path) -> None:
    """The person without an age has a class of its own."""
    clinic = open_clinic(tmp_path / "clinic", suppressed="false")
    message = broken(verify(clinic))["k_anonymity (k 3)"]
    assert message.startswith("1 of 3 classes break it; smallest of 3 classes: 1 records")


def test_a_release_that_others_may_write_and_a_vault_that_others_may_read_are_seen(
    tmp_path: Path,
) -> None:
    clinic = open_clinic(tmp_path / "clinic")
    clinic.release.chmod(0o666)
    with clinic.open() as warehouse:
        clinic.vault_file.chmod(0o640)
        clinic.vault_file.parent.chmod(0o755)
        findings = check_guarantees(warehouse, clinic.project, clinic.spec, release=clinic.release)
    assert broken(findings) == {
        "release/visits.duckdb": "the mode of the file is 666; it must be 644. Build again.",
        "vault": "the mode of the vault is 755; others must not have access. "
        "Run `chmod 700 vault`.",
        "vault/vault.duckdb": "the mode of the vault is 640; others must not have access. "
        "Run `chmod 600 vault/vault.duckdb`.",
    }


def test_a_hierarchy_that_was_edited_since_is_seen(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("update ages set level_2 = replace(level_2, '[40, 60)', '40 to 60')")
    assert set(broken(verify(clinic))) == {"visits_anonymized.age", "effort"}


def test_an_effort_that_was_not_chosen_is_seen(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic", effort=1, release={"effort": 2})
    assert broken(verify(clinic)) == {
        "effort": "the labels must have the levels of effort 2; they fit 1. Build again: "
        "the spec or the release was changed since."
    }


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("age = 59 where visit = 1000", id="an age in another interval"),
        pytest.param("age = null where visit = 1000", id="an age that is not known"),
        pytest.param("zip = '02001' where visit = 1000", id="a code below another label"),
        pytest.param("zip = null where visit = 1000", id="a code that is not known"),
    ],
)
@pytest.mark.parametrize("mapping", ["class", "token"])
def test_a_source_that_changed_since_is_seen(tmp_path: Path, mapping: str, change: str) -> None:
    clinic = open_clinic(tmp_path / "clinic", mapping=mapping)
    with clinic.open() as warehouse:
        warehouse.rows("insert into zips values ('02001', '020**', '*')")
    assert broken(verify(clinic)) == {}
    with clinic.open() as warehouse:
        warehouse.rows(f"update vault.visits_source set {change}")
    findings = broken(verify(clinic))
    assert set(findings) == {"origin"}
    assert "1 have labels that do not cover the values" in findings["origin"]


@pytest.mark.parametrize("mapping", ["class", "token"])
def test_values_of_a_category_that_were_swapped_in_the_source_are_seen(
    tmp_path: Path, mapping: str
) -> None:
    clinic = open_clinic(tmp_path / "clinic", effort=1, mapping=mapping, suppressed="visit = 1007")
    assert broken(verify(clinic)) == {}
    with clinic.open() as warehouse:
        warehouse.rows(
            "update vault.visits_source set "
            "zip = case zip when '01067' then '01097' else '01067' end"
        )
    assert "origin" in broken(verify(clinic))


def test_what_lies_beside_a_release_is_seen_but_other_releases(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic")
    (clinic.release.parent / "Moreau.csv").write_text("name\nMoreau\n", encoding="utf-8")
    (clinic.release.parent / ".visits.duckdb.x.stage").mkdir()
    findings = broken(verify(clinic))
    assert set(findings) == {"release"}
    assert "got 2 other files or folders" in findings["release"]
    assert "Moreau" not in findings["release"]


def test_a_token_of_two_records_is_seen(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic", mapping="token")
    clinic.change_release(
        "update visits_anonymized set token = (select min(token) from visits_anonymized) "
        "where rowid in (3, 4)",
        SORT,
    )
    findings = broken(verify(clinic))
    assert {"visits_anonymized.token", "origin"} >= set(findings) >= {"visits_anonymized.token"}
    clinic.change_release("update visits_anonymized set token = 'nobody' where rowid = 3")
    assert "1 are not in both" in broken(verify(clinic))["origin"]


GUARANTEES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"k_map": {"k": 38}}, {"k_map": {"k": 121}}),
    (
        {"k_map": {"k": 20, "estimator": "poisson", "significance": 0.05}},
        {"k_map": {"k": 1000, "estimator": "poisson", "significance": 0.05}},
    ),
    (
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.35, "k": 3}},
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.33, "k": 3}},
    ),
    (
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.4, "k": 3, "values": ["flu"]}},
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.3, "k": 3, "values": ["flu"]}},
    ),
    (
        {"l_diversity": {"attribute": "diagnosis", "l": 2.9, "variant": "entropy"}},
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "entropy"}},
    ),
    (
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "recursive", "c": 1.1}},
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "recursive", "c": 1}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02, "distance": "ordered"}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001, "distance": "ordered"}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02, "distance": "hierarchical"}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001, "distance": "hierarchical"}},
    ),
    (
        {"beta_likeness": {"attribute": "diagnosis", "beta": 0.1}},
        {"beta_likeness": {"attribute": "diagnosis", "beta": 0.001}},
    ),
    (
        {"delta_disclosure": {"attribute": "diagnosis", "delta": 0.1}},
        {"delta_disclosure": {"attribute": "diagnosis", "delta": 0.001}},
    ),
    (
        {"delta_presence": {"minimum": 0.4, "maximum": 0.5}},
        {"delta_presence": {"minimum": 0.4, "maximum": 0.49}},
    ),
    (
        {"reidentification_risk": {"average": 0.03, "highest": 0.06}},
        {"reidentification_risk": {"average": 0.01}},
    ),
    ({"reidentification_risk": {"highest": 0.06}}, {"reidentification_risk": {"highest": 0.01}}),
    ({"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 60}}),
]


@pytest.mark.parametrize(("kept", "broken_one"), GUARANTEES)
def test_each_model_of_guarantees_is_judged(
    tmp_path: Path, kept: dict[str, Any], broken_one: dict[str, Any]
) -> None:
    population = {"population": {"ref": "town", "size": 1000}}
    honest = open_clinic(tmp_path / "kept", **with_guarantees(**kept), **population)
    assert broken(verify(honest)) == {}
    other = open_clinic(tmp_path / "broken", **with_guarantees(**broken_one), **population)
    (subject,) = broken(verify(other))
    assert subject.startswith(next(iter(broken_one)))


# Two visits each, of two diagnoses or one; and everybody of one class the same person.
TWICE = "i // 2"
ONE_PERSON = "case when 20 + (i * 7) % 40 < 40 and i <> 7 then 0 else i end"


@pytest.mark.parametrize("mapping", ["class", "none"])
def test_people_are_counted_where_the_mapping_leads_to_them(tmp_path: Path, mapping: str) -> None:
    clinic = open_clinic(tmp_path / "clinic", whose=ONE_PERSON, mapping=mapping)
    message = broken(verify(clinic))["k_anonymity (k 3)"]
    if mapping == "class":
        assert message.startswith("1 of 2 classes break it; smallest of 2 classes: 1 people")
    else:
        assert "what cannot be proved does not hold" in message


def test_people_with_several_records_are_counted_once(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic", effort=3, whose=TWICE, suppressed="false")
    findings = verify(clinic)
    assert broken(findings) == {}
    assert any("smallest of 1 classes: 60 people" in f.message for f in findings)


def test_people_are_not_counted_through_a_vault_that_leads_elsewhere(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic", whose=TWICE)
    assert broken(verify(clinic)) == {}
    with clinic.open() as warehouse:
        warehouse.rows("update vault.visits_identifiers set cqi = null where visit = 1000")
    findings = broken(verify(clinic))
    assert set(findings) == {"origin", "k_anonymity (k 3)"}
    assert "nothing proves" in findings["k_anonymity (k 3)"]


@pytest.mark.parametrize("mapping", ["token", "none"])
def test_a_record_of_each_person_is_a_person(tmp_path: Path, mapping: str) -> None:
    clinic = open_clinic(tmp_path / "clinic", whose="i", mapping=mapping)
    assert broken(verify(clinic)) == {}


def test_a_missing_file_and_a_file_of_something_else_are_errors(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic")
    clinic.change_release("alter table visits_anonymized rename to visits")
    with pytest.raises(VerificationError, match="must hold the table visits_anonymized"):
        verify(clinic)
    clinic.release.write_bytes(b"Moreau" * 1000)
    with pytest.raises(VerificationError, match="must be a DuckDB file") as error:
        verify(clinic)
    assert "Moreau" not in str(error.value)
    clinic.release.unlink()
    with pytest.raises(VerificationError, match="there is none"):
        verify(clinic)


# Releases that dbt built ----------------------------------------------------------------------


def verify_build(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    (spec,) = load_specs(project.folder, ["customers"])
    (project.folder / "vault" / "vault.duckdb").chmod(0o600)
    with opened(project) as warehouse:
        path = project.folder / release_file(warehouse, "customers")
        return check_guarantees(warehouse, find_project(project.folder), spec, release=path)


@pytest.fixture(scope="module")
def recoded(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project with a multidimensional effort, which is released."""
    project = built_consumer.copy(tmp_path_factory.mktemp("recoded") / "project")

    def change(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["efforts"].append({"recoding": "multidimensional", "k": 6})
        spec["guarantees"]["l_diversity"] = {
            "attribute": "churned",
            "l": 1.1,
            "variant": "entropy",
        }
        spec["guarantees"]["t_closeness"] = {"attribute": "churned", "t": 0.5}
        spec["release"] = {"effort": 4}
        return yaml.safe_dump(spec, allow_unicode=True, sort_keys=False)

    project.edit("anonymizations/customers.yml", change)
    generate(project.folder)
    outcome = project.dbt("run")
    assert outcome.succeeded, outcome.messages
    return project


@pytest.mark.parametrize("effort", [3, 4])
def test_what_dbt_built_holds_with_the_numbers_of_the_build(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, effort: int
) -> None:
    project = request.getfixturevalue("built_consumer" if effort == 3 else "recoded")
    findings = verify_build(project, monkeypatch)
    assert broken(findings) == {}
    ((k, classes),) = project.query(
        "select k, equivalence_classes from customers_privacy p where exists "
        "(select 1 from customers_results r where r.effort = p.effort and r.is_chosen)"
    )
    (message,) = [f.message for f in findings if f.subject == "k_anonymity (k 4)"]
    assert message == f"holds; smallest of {classes} classes: {k} records."
    (labels,) = [f.message for f in findings if "levels of a declared effort" in f.message]
    assert str(effort) in labels


def test_a_recoded_release_in_which_one_record_moved_is_seen(
    recoded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = recoded.copy(tmp_path / "project")
    columns = ("birth_date", "birth_date_lower", "birth_date_upper", "zip", "gender", "cqi")
    changed = ", ".join(f"{name} = other.{name}" for name in columns)
    with duckdb.connect(str(project.release_file("customers"))) as connection:
        connection.execute(
            f"update customers_anonymized as one set {changed} from "
            "(select * from customers_anonymized order by rowid desc limit 1) as other "
            "where one.rowid = 0"
        )
    assert "origin" in broken(verify_build(project, monkeypatch))
