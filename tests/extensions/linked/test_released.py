"""Tables released together in a stranger's project: they join, and nobody is found by the join."""

from __future__ import annotations

import pytest
import yaml

from tests.extensions.linked.compiled import PEOPLE, RESULTS, STAYS
from tests.extensions.linked.projects import write
from tests.projects import Project

K = 2
DECISIONS = f"""
from dbt_anonymize import suppress_linked


def model(dbt, session):
    dbt.config(materialized="table")
    people = {{
        "rows": dbt.ref("{PEOPLE}").df(),
        "key": "person",
        "quasi_identifiers": ["age"],
    }}
    stays = {{
        "rows": dbt.ref("{STAYS}").df(),
        "key": "stay",
        "to_subject": "person",
        "quasi_identifiers": ["ward", "month"],
    }}
    results = {{
        "rows": dbt.ref("numbered_results").df(),
        "key": "result",
        "to_subject": {{"stays": "stay"}},
        "quasi_identifiers": ["test"],
    }}
    return suppress_linked(people, {{"stays": stays, "results": results}}, k={K}, most_lost=0.5)
"""
RELEASED = {
    "subjects": (PEOPLE, "key='person', quasi_identifiers=['age']"),
    "stays": (
        STAYS,
        "key='stay', quasi_identifiers=['ward', 'month'], to_subject='person',"
        " others=['diagnosis']",
    ),
    "results": (
        "numbered_results",
        "key='result', quasi_identifiers=['test'], to_subject={'stays': 'stay'}",
    ),
}
NUMBERED = f"select row_number() over () as result, * from {{{{ ref('{RESULTS}') }}}}"
TEST = {
    "key": "person",
    "quasi_identifiers": ["age"],
    "k": K,
    "tables": {
        "stays": {
            "relation": "ref('released_stays')",
            "key": "stay",
            "to_subject": "person",
            "quasi_identifiers": ["ward", "month"],
        },
        "results": {
            "relation": "ref('released_results')",
            "to_subject": {"stays": "stay"},
            "quasi_identifiers": ["test"],
        },
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = write(tmp_path_factory.mktemp("linked") / "project")
    models = project.folder / "models"
    texts = {"numbered_results.sql": NUMBERED, "linked_decisions.py": DECISIONS}
    for name, (relation, arguments) in RELEASED.items():
        texts[f"released_{name}.sql"] = (
            "{{ dbt_anonymize.linked_table(ref('linked_decisions'), '"
            f"{name}', ref('{relation}'), {arguments}) }}}}"
        )
    declared = {
        "models": [
            {"name": "linked_decisions", "config": {"schema": "custodians"}},
            {
                "name": "released_subjects",
                "data_tests": [{"dbt_anonymize.k_km_anonymity": {"arguments": TEST}}],
            },
        ]
    }
    texts["linked.yml"] = yaml.safe_dump(declared)
    for file, text in texts.items():
        (models / file).write_text(text, encoding="utf-8")
    project.build(
        *("-s", "+released_subjects", "+released_stays", "+released_results", "joined_risk_of_two")
    )
    return project


def test_the_release_joins_and_is_the_source_but_for_what_was_decided(project: Project) -> None:
    """By the keys of the source, which the decisions lead back to."""
    joined = project.query(
        f"""
        select
            s.person, s.stay, p.released_key = r.person, k.released_key = r.stay,
            k.status, s.ward, r.ward, s.month, r.month, s.diagnosis, r.diagnosis
        from {STAYS} as s
        join main_custodians.linked_decisions as k on k.linked_table = 'stays' and k.record = s.stay
        join main_custodians.linked_decisions as p
            on p.linked_table = 'subjects' and p.record = s.person
        left join released_stays as r on k.released_key = r.stay
        """
    )
    statuses = {row[4] for row in joined}
    assert {"released", "hidden"} <= statuses
    for _, _, same_person, same_stay, status, ward, shown, month, other, *diagnoses in joined:
        if status == "left out":
            assert (same_stay, shown) == (None, None)
            continue
        assert same_person
        assert same_stay
        assert (shown, other) == (("*", "*") if status == "hidden" else (ward, str(month)))
        assert diagnoses[0] == diagnoses[1]


def test_no_row_is_an_orphan(project: Project) -> None:
    for child, key, parent in (
        ("released_stays", "person", "released_subjects"),
        ("released_results", "stay", "released_stays"),
    ):
        orphans = f"select * from {child} anti join {parent} using ({key})"
        assert project.query(orphans) == []
        assert project.query(f"select * from {child}")


def test_the_source_itself_tells_somebody(project: Project) -> None:
    (found,) = project.query(
        "select subjects_at_risk from joined_risk_of_two where known_records = 2"
    )
    assert found[0] > 0


def test_columns_are_those_that_were_named(project: Project) -> None:
    columns = project.query("select column_name from (describe released_stays)")
    assert [name for (name,) in columns] == ["stay", "person", "ward", "month", "diagnosis"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("others=['Ward']", "each column must be named once; got twice: Ward"),
        ("others=['person']", "each column must be named once; got twice: person"),
        ("others='diagnosis'", "must be lists of columns; got: diagnosis"),
        ("to_subject={'a': 'b', 'c': 'd'}", "`to_subject` must be one column; got: b, d"),
    ],
)
def test_a_column_has_one_part(project: Project, change: str, message: str) -> None:
    """As another it would show a key or a hidden value."""
    given = "ref('linked_decisions'), 'stays', ref('linked_stays'), key='stay'"
    given += f", quasi_identifiers=['ward', 'month'], {change}"
    given += "" if "to_subject" in change else ", to_subject='person'"
    model = project.folder / "models" / "wrong_stays.sql"
    model.write_text("{{ dbt_anonymize.linked_table(" + given + ") }}", encoding="utf-8")
    outcome = project.dbt("compile", "-s", "wrong_stays")
    model.unlink()
    assert not outcome.succeeded
    assert message in " ".join(outcome.messages.split())


def test_keys_are_compared_byte_by_byte(project: Project) -> None:
    """A left out record does not come back by the key of another, whatever the collation."""
    (path,) = (project.folder / "target" / "compiled").rglob("released_stays.sql")
    sql = path.read_text(encoding="utf-8")
    with project.connection() as connection:
        before = connection.execute(f"select count(*) from ({sql})").fetchone()
        connection.execute("set default_collation = 'nocase'")
        assert connection.execute(f"select count(*) from ({sql})").fetchone() == before
    assert sql.count("encode(") == 4
