"""A build under a spec that changed and was not generated stops; see also `dbt-anonymize build`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.spec_changes import MESSAGE, describe_changes, leave_changes
from dbt_anonymize.spec import load_spec
from tests.projects import Project
from tests.spec.declarations import SPEC, spec, write_project

PATH = "anonymizations/customers.yml"


@pytest.mark.parametrize(
    ("changed", "is_seen"),
    [
        ({"alpha": 0.3}, True),
        ({"mapping": "none"}, True),
        ({"release": {"composition": "strict"}}, True),
        ({"description": "Visits of a year."}, False),
        ({"owner": {"name": "Care"}}, False),
        # What is as by default is not a change.
        ({"mapping": "class", "owner": None}, False),
    ],
)
def test_what_changes_the_models_changes_the_digest(
    tmp_path: Path, changed: dict[str, object], is_seen: bool
) -> None:
    project = write_project(tmp_path, spec())
    path = project / "anonymizations" / "visits.yml"
    carried = carried_by(path)
    path.write_text(f"# a word\n\n{path.read_text('utf-8')}", encoding="utf-8")
    assert describe_changes(project, carried) == ""
    write_project(tmp_path, spec(**changed))
    assert (load_spec(path).digest != carried["visits"]["digest"]) is is_seen
    said = describe_changes(project, carried)
    assert ("Nothing was built. Run `dbt-anonymize generate visits`." in said) is is_seen


CITY = {"role": "insensitive"}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"alpha": 0.3}, "alpha changed since"),
        pytest.param(
            {"freeze": True, "release": {"effort": 1, "joiners": "publish"}},
            "freeze, release were added",
            marks=pytest.mark.needs("second_month"),
        ),
        ({"mapping": None, "alpha": 0.2}, "alpha changed since, mapping was removed"),
        ({"efforts": [{"age": 2, "city": 1}]}, "efforts changed since"),
        (
            {
                "columns": {**SPEC["columns"], "city": CITY},
                "efforts": [{"age": 1}, {"age": 2}],
            },
            "columns, efforts changed since",
        ),
    ],
)
def test_the_message_names_what_differs(
    tmp_path: Path, changed: dict[str, object], says: str
) -> None:
    project = write_project(tmp_path, spec(mapping="none"))
    carried = carried_by(project / "anonymizations" / "visits.yml")
    kept = {"mapping": "none", **changed}
    write_project(tmp_path, {k: v for k, v in spec(**kept).items() if v is not None})
    assert f"generated from; {says}. Nothing was built." in describe_changes(project, carried)
    # Models of an earlier version carry no digest of each key.
    del carried["visits"]["keys"]
    assert "generated from; it changed since." in describe_changes(project, carried)


def carried_by(path: Path) -> dict[str, dict[str, Any]]:
    """Return what generated models carry of a spec."""
    found = load_spec(path)
    return {found.name: {"digest": found.digest, "keys": found.key_digests}}


def test_a_spec_that_is_wrong_or_gone_says_so(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(alpha=-1))
    for name, says in {"visits": "visits.yml: alpha: must be", "others": "must exist"}.items():
        said = describe_changes(project, {name: {"digest": "of before"}})
        assert says in said
        assert said.endswith("\nNothing was built.")


def test_a_message_does_not_outlive_what_it_is_about(tmp_path: Path) -> None:
    """A process may build twice, with what was wrong mended between."""
    project = write_project(tmp_path, spec())
    carried = carried_by(project / "anonymizations" / "visits.yml")
    databases = f"select count(*) from duckdb_databases() where database_name = '{MESSAGE}'"
    with duckdb.connect() as session:
        changed = {"visits": {**carried["visits"], "digest": "of before"}}
        for generated, left in ((changed, 1), (carried, 0), (changed, 1), (changed, 1)):
            leave_changes(session, project=str(project), generated=generated)
            assert session.execute(databases).fetchall() == [(left,)]


@pytest.mark.dbt
@pytest.mark.sampled_tests(group="builds")
def test_dbt_builds_nothing_of_a_spec_that_was_not_generated(consumer: Project) -> None:
    before = consumer.release_file("customers").read_bytes()
    consumer.edit(PATH, lambda text: text.replace("{k: 4}", "{k: 40}"))
    for selected in (("build",), ("run", "-s", "customers_anonymized")):
        outcome = consumer.dbt(*selected)
        assert not outcome.succeeded
        said = " ".join(outcome.messages.split())
        assert (
            f"{PATH}: must be what its models were generated from; guarantees changed since."
            in said
        )
        assert "Run `dbt-anonymize generate customers`." in said
        assert "Traceback" not in said
        assert "customers_microdata" not in " ".join(outcome.statuses)
    assert consumer.release_file("customers").read_bytes() == before
    # Whatever is of no spec is built as ever.
    assert consumer.dbt("seed", "-s", "customers_hierarchy_gender").succeeded
