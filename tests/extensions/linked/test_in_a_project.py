"""The dbt test in a stranger's project: what it says when it fails, and of wrong arguments."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.extensions.linked.compiled import PEOPLE, RESULTS, STAYS, K
from tests.extensions.linked.projects import write
from tests.projects import Project
from tests.properties.compilation import Ref

GIVEN: dict[str, Any] = {
    "key": "person",
    "quasi_identifiers": ["age"],
    "k": K,
    "tables": {
        "stays": {
            "relation": f"ref('{STAYS}')",
            "key": "stay",
            "to_subject": "person",
            "quasi_identifiers": ["ward"],
        },
        "results": {
            "relation": f"ref('{RESULTS}')",
            "to_subject": {"stays": "stay"},
            "quasi_identifiers": ["test"],
        },
    },
}


def declare(project: Project, **change: Any) -> None:
    test = {"dbt_anonymize.k_km_anonymity": {"arguments": {**GIVEN, **change}}}
    text = yaml.safe_dump({"seeds": [{"name": PEOPLE, "data_tests": [test]}]})
    (project.folder / "seeds" / "linked.yml").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = write(tmp_path_factory.mktemp("linked") / "project")
    assert project.dbt("seed", "-s", PEOPLE, STAYS, RESULTS).succeeded
    return project


def test_it_fails_where_somebody_is_found(project: Project) -> None:
    """Relations of linked tables are written as those of dbt's own tests."""
    declare(project)
    outcome = project.dbt("test", "-s", PEOPLE)
    assert not outcome.succeeded
    assert "subjects whom their own values and some linked records tell" in outcome.messages
    declare(project, quasi_identifiers=[], k=2, known_records=1)
    assert project.dbt("test", "-s", PEOPLE).succeeded


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 1}, "`k` must be an integer >= 2; got: 1"),
        ({"known_records": 0}, "`known_records` must be all or an integer >= 1; got: 0"),
        ({"quasi_identifiers": "age"}, "`quasi_identifiers` must be a list of columns"),
        ({"tables": {}}, "`tables` must have at least one linked table by its name"),
        ({"l": 2}, "`l` and `sensitive` columns must be given together or neither"),
        ({"sensitive": ["illness"]}, "`l` and `sensitive` columns must be given together"),
        ({"sensitive": ["illness"], "l": 1}, "`l` must be an integer >= 2; got: 1"),
        (
            {"tables": {"results": GIVEN["tables"]["results"]}},
            "`to_subject` must lead to the subject, over other tables that have a `key`; it does"
            " not from results",
        ),
        (
            {"tables": {"stays": {**GIVEN["tables"]["stays"], "to_subject": {"stays": "stay"}}}},
            "it does not from stays",
        ),
        (
            {"tables": {"stays": {**GIVEN["tables"]["stays"], "to_subject": None}}},
            "`to_subject` of stays must be its column with the key of the subject",
        ),
        (
            {"tables": {"stays": {**GIVEN["tables"]["stays"], "quasi_identifiers": []}}},
            "`quasi_identifiers` of stays must be a list of at least one column",
        ),
        (
            {"tables": {"stays": {**GIVEN["tables"]["stays"], "columns": ["ward"]}}},
            "table stays must have relation, key, to_subject, quasi_identifiers, sensitive alone;"
            " got: columns",
        ),
        (
            {"tables": {"stays": {**GIVEN["tables"]["stays"], "relation": None}}},
            "table stays must have a `relation`",
        ),
    ],
)
def test_wrong_arguments_are_told(project: Project, change: Any, message: str) -> None:
    declare(project, **change)
    outcome = project.dbt("test", "-s", PEOPLE)
    assert not outcome.succeeded
    assert message in " ".join(outcome.messages.split())


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ({"quasi_identifers": ["age"]}, "the subject must have relation, key, quasi_identifiers"),
        ({}, "`quasi_identifiers` must be a list of columns, which may be empty"),
        ({"quasi_identifiers": ["age"], "sensitive": "age"}, "`sensitive` of the subject must be"),
        ({"quasi_identifiers": ["age"], "key": ""}, "`key` of the subject must be given"),
    ],
)
def test_a_wrong_subject_is_told(project: Project, subject: dict[str, Any], message: str) -> None:
    """A misspelt key is not taken for none: nothing would be known of anybody."""
    given = repr({"relation": Ref(PEOPLE), "key": "person", **subject})
    stays = repr({**GIVEN["tables"]["stays"], "relation": Ref(STAYS)})
    text = "{{ dbt_anonymize.joined_risk(" + f"{given}, {{'stays': {stays}}}, k=2)" + " }}"
    model = project.folder / "models" / "wrong_subject.sql"
    model.write_text(text, encoding="utf-8")
    outcome = project.dbt("compile", "-s", "wrong_subject")
    model.unlink()
    assert not outcome.succeeded
    assert message in " ".join(outcome.messages.split())
