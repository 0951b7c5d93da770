"""Descriptions of a release, and the people they must not reveal."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.about import facts_of
from dbt_anonymize.project.results import EffortResult
from dbt_anonymize.release.audit import holds_release
from dbt_anonymize.release.publish import publish
from dbt_anonymize.spec import Spec
from tests.effort_results import LINES, result_of
from tests.spec.declarations import spec
from tests.worlds import private

OWNER = {"owner": {"name": "Data", "email": "data@example.org"}}
ABOUT = {"release": {"about": {"licence": "CC BY 4.0"}}, "description": "Visits."}


def told(changes: dict[str, Any], **result: Any) -> dict[str, tuple[str, float | None]]:
    """Return the facts of a release by what they are about."""
    declared = Spec.model_validate(spec(**(ABOUT | OWNER | changes)))
    results = [
        EffortResult(**{name: result_of(n)[name] for name in EffortResult.__dataclass_fields__})
        for n in list(LINES)[:2]
    ]
    results[1] = EffortResult(**(asdict(results[1]) | result))
    found = facts_of(declared, results, "2026-01-31", 90, ["city"])
    assert len({one.fact for one in found}) == len(found)
    return {one.fact: (one.value, one.number) for one in found}


def test_a_release_says_what_it_promises_and_costs() -> None:
    facts = told({}, k=7, suppressed_records=10, qf_mean=0.81237)
    assert facts["what"] == ("Visits.", None)
    assert facts["guarantees"] == ("k_anonymity (k 3)", None)
    assert facts["predicts"] == ("ill (accuracy)", None)
    assert facts["levels"] == ("keeps age at level 1 of 3; leaves city as it is", None)
    assert told({}, levels_in_words="keeps age by 10")["levels"] == ("keeps age by 10", None)
    assert facts["k"] == ("7", 7)
    assert facts["records"] == ("90", 90)
    assert facts["records left out"] == ("10", 10)
    assert facts["only *"] == ("city", None)
    assert facts["QF"] == ("0.812", 0.812)
    assert facts["licence"] == ("CC BY 4.0", None)
    assert facts["contact"] == ("Data data@example.org", None)
    assert "group" in facts["limits"][0]


@pytest.mark.parametrize("gone", [1, 2])
def test_fewer_people_than_k_are_not_counted(gone: int) -> None:
    assert told({}, suppressed_records=gone)["records left out"] == ("fewer than 3", None)
    assert told({}, suppressed_records=0)["records left out"] == ("0", 0)
    # Records may be of fewer people.
    assert "records left out" not in told({"subject": "phone"}, suppressed_records=gone + 2)


@pytest.mark.needs("differential_privacy")
def test_a_private_release_tells_what_no_record_decides() -> None:
    facts = told(private.changed(release={"effort": 1, "about": {}}, description="Private."))
    assert set(facts) == {"what", "epsilon", "delta", "limits", "contact", "date", "levels"}
    assert facts["epsilon"] == ("1", None)
    assert all(number is None for _, number in facts.values())


def publish_as(folder: Path, session: Any, about: str | None, *formats: str) -> Path:
    file = folder / "people.duckdb"
    publish(
        session,
        relation="people",
        table="people_anonymized",
        folder=str(folder),
        path=file.name,
        formats=("duckdb", *formats),
        beside={"about": {"relation": about}} if about else None,
    )
    return file


def tables_of(file: Path) -> list[str]:
    with duckdb.connect(str(file), read_only=True) as connection:
        return [name for (name,) in connection.execute("show tables").fetchall()]


@pytest.mark.needs("custody")
def test_it_is_published_and_copied_with_the_release(tmp_path: Path) -> None:
    from dbt_anonymize.extensions.custody.moves import copy_release, remove_release

    with duckdb.connect() as session:
        session.execute("create table people as select 'x' as a from range(9)")
        session.execute("create table about as select 1 as place, 'k' as fact")
        file = publish_as(tmp_path, session, "about", "csv")
        names = {"people.duckdb", "people.csv", "people.about.csv"}
        assert {path.name for path in tmp_path.iterdir()} - {".people.duckdb.lock"} == names
        assert tables_of(file) == ["people_about", "people_anonymized"]
        assert (tmp_path / "people.about.csv").read_text(encoding="utf-8") == "place,fact\n1,k\n"
        held = {"relation": "people", "table": "people_anonymized", "file": file}
        assert holds_release(session, **held)
        renamed = copy_release(file, "people", "guests")
        assert renamed is not None
        assert tables_of(renamed) == ["guests_about", "guests_anonymized"]
        assert (tmp_path / "guests.about.csv").is_file()
        remove_release(renamed)
        # A release that says nothing of itself stays valid, and what was said before goes.
        publish_as(tmp_path, session, None, "csv")
        assert not list(tmp_path.glob("*.about.csv"))
        assert tables_of(file) == ["people_anonymized"]
        assert holds_release(session, **held)
        remove_release(copy_release(file, "people", "guests") or file)
        with duckdb.connect(str(file)) as connection:
            connection.execute("create table other as select 1 as number")
        assert not holds_release(session, **held)
