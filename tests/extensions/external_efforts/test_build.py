"""A build with tables of other tools: chosen and released, or refused, and bad ones stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import outer_quality
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.run import verify
from tests.end_to_end.guaranteed import declare
from tests.extensions import has
from tests.oracle.outer import is_outer
from tests.projects import Project, run_command, warehouse_of

pytestmark = pytest.mark.sampled_tests(group="builds")

COLUMNS = 'birth_date, zip, gender, "order", "größe", spending, churned'
INNER = (
    "select * from {{ ref('customers') }} "
    "where not {{ dbt_anonymize.is_outer('customer_id', 0.4, 7) }}"
)
# Each column from somebody else with the same answer, dates as labels of decades.
SYNTHETIC = f"""
with inner_records as ({INNER}),
drawn as (
    select
        *,
        row_number() over (partition by churned order by md5('a' || customer_id)) as a,
        row_number() over (partition by churned order by md5('b' || customer_id)) as b,
        row_number() over (partition by churned order by md5('c' || customer_id)) as c
    from inner_records
)
select
    h.level_2 as birth_date,
    y.zip,
    y.gender,
    z."order",
    z."größe",
    round(x.spending, -1) as spending,
    x.churned
from drawn as x
inner join drawn as y on x.churned = y.churned and x.a = y.b
inner join drawn as z on x.churned = z.churned and x.a = z.c
inner join {{{{ ref('customers_hierarchy_birth_date') }}}} as h
    on x.birth_date >= h.lower_bound and x.birth_date < h.upper_bound
"""
MODELS = {
    "synthetic": SYNTHETIC,
    "copied": f"select {COLUMNS} from ({INNER}) as inner_records",
    "seen": f"select {COLUMNS} from {{{{ ref('customers') }}}}",
    # No row equals a record.
    "noisy": f"select {COLUMNS} from (select * replace (spending + 1 + hash(customer_id) % 20 as "
    "spending) from {{ ref('customers') }})",
}
LIMITS = {"singling_out": 0.9, "linkability": 0.9, "inference": 0.9, "closest_record": 0.9}
CHOSEN = 4
WITHOUT_TESTS = ("build", "--exclude-resource-type", "unit_test")


def with_external(spec: dict[str, Any]) -> None:
    spec["mapping"] = "none"
    spec["efforts"] += [
        {"relation": {"ref": "synthetic"}, "name": "shuffled"},
        {"relation": {"ref": "copied"}},
        {"relation": {"ref": "seen"}},
        {"relation": {"ref": "noisy"}},
    ]
    spec["quality"] |= {"fit": "per_split", "outer_share": 0.4, "measure": "accuracy"}
    del spec["quality"]["positive"]
    spec |= {"qnf": "1 - attack_rate", "alpha": 1, "measured_limits": LIMITS}
    spec["release"] = {"about": {}, "formats": ["duckdb", "parquet"]}


@pytest.fixture(scope="module")
def released(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project in which the table of another tool is released."""
    project = built_consumer.copy(tmp_path_factory.mktemp("external") / "project")
    for name, sql in MODELS.items():
        (project.folder / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
    declare(project, with_external)
    outcome = project.dbt(*WITHOUT_TESTS)
    assert outcome.succeeded, outcome.messages
    assert "joined" not in outcome.messages, "nobody knows whose foreign rows are"
    return project


@pytest.fixture
def changed(released: Project, tmp_path: Any) -> Project:
    """Give a copy of it."""
    return released.copy(tmp_path / "project")


def results(project: Project) -> dict[int, tuple[bool, bool, str]]:
    found = project.query("select effort, qualifies, is_chosen, reason from customers_results")
    return {
        effort: (qualifies, is_chosen, reason) for effort, qualifies, is_chosen, reason in found
    }


def test_the_table_of_another_tool_is_chosen_and_released(released: Project) -> None:
    found = results(released)
    assert found[CHOSEN][:2] == (True, True), found
    assert found[5][2].startswith(
        "does not qualify: attribute_inference 1.0 is above its limit 0.9"
    )
    for effort in (6, 7):
        assert "the tool has seen them (p < 0.0001)" in found[effort][2]
    view = released.query(f"select {COLUMNS} from customers_effort_{CHOSEN} order by all")
    file = [row[:1] + row[3:] for row in released.release("customers")]
    assert sorted(view, key=str) == sorted(file, key=str)
    ((words, k),) = released.query(
        f"select levels_in_words, k from customers_results where effort = {CHOSEN}"
    )
    assert words == "is the table shuffled of another tool, without formal guarantee"
    ((smallest,),) = released.query(
        "select min(n) from (select count(*) as n from "
        f"customers_effort_{CHOSEN} group by birth_date, zip, gender)"
    )
    assert k == smallest


def test_labels_have_their_bounds_and_there_is_no_record_key(released: Project) -> None:
    rows = released.query(
        "select distinct birth_date, year(birth_date_lower), year(birth_date_upper), "
        f"birth_date_level from customers_effort_{CHOSEN} where birth_date = '1950s'"
    )
    assert rows == [("1950s", 1950, 1960, 2)]
    columns = {name for (name, *_) in released.query(f"describe customers_effort_{CHOSEN}")}
    assert "customer_id" not in columns


def test_what_is_published_says_that_it_has_no_guarantee(released: Project) -> None:
    about = dict(released.query("select fact, value from release_customers.customers_about"))
    assert about["guarantees"] == "none: another tool made the rows, and their privacy was measured"
    assert not {"k", "records left out"} & {*about}
    ((register,),) = released.query(
        "select released_records from customers_register order by release desc limit 1"
    )
    assert register == len(released.release("customers"))


def test_all_efforts_are_scored_on_outer_records_alone(released: Project) -> None:
    keys = [key for (key,) in released.query("select customer_id from customers_microdata")]
    outer = sum(is_outer(str(key), 0.4, 7) for key in keys)
    counts = released.query(
        "select effort, sum(records) from customers_confusion where test_on = 'original' "
        "and fit = 'per_split' and model = 'decision_tree' group by effort order by effort"
    )
    tested = {records for _, records in counts}
    assert [effort for effort, _ in counts] == list(range(8))
    assert len(tested) == 1
    assert abs(tested.pop() / 5 - 0.3 * outer) < 2
    assert not released.query("select * from duckdb_tables() where table_name ~ 'outer_quality'")
    with warehouse_of(released) as warehouse:
        (spec,) = load_specs(released.folder)
        assert outer_quality(warehouse, spec) == []


def test_verify_compares_the_rows_and_says_what_it_cannot(released: Project) -> None:
    (spec,) = load_specs(released.folder)
    checks = ("recomputation", "guarantees", "attacks")
    found = list(verify(find_project(released.folder), spec, checks=checks))
    assert {one.check for one in found if one.status == "not run"} == {*checks}
    assert not [one for one in found if one.status == "FAILED"], found
    assert any("rows of the other tool" in one.message for one in found if one.holds)


def test_verify_finds_a_release_of_other_rows(changed: Project) -> None:
    changed.execute(
        "create or replace table main_release.customers_anonymized as "
        "select * from main_release.customers_anonymized limit 5"
    )
    (spec,) = load_specs(changed.folder)
    found = list(verify(find_project(changed.folder), spec, checks=("recomputation",)))
    failed = [one.subject for one in found if one.status == "FAILED"]
    assert failed == ["customers_anonymized"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda spec: spec.pop("measured_limits"), "no measured_limits are declared"),
        (
            lambda spec: spec["measured_limits"].update(singling_out=0.001),
            "singling_out",
        ),
    ],
)
def test_one_that_is_not_allowed_competes_and_is_not_released(
    changed: Project, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    def declared(spec: dict[str, Any]) -> None:
        change(spec)
        spec["release"]["effort"] = CHOSEN

    declare(changed, declared)
    before = changed.release("customers")
    outcome = changed.dbt(
        "build", "-s", "customers_compared_privacy+", "--exclude-resource-type", "test"
    )
    assert outcome.status("customers_anonymized") == "error"
    assert reason in results(changed)[CHOSEN][2]
    assert reason in outcome.messages
    assert "measured_limits, or there are none, declare or change them" in outcome.messages
    assert changed.release("customers") == before


def test_a_relation_that_changes_before_the_release_stops_it(changed: Project) -> None:
    before = changed.release("customers")
    changed.edit("models/synthetic.sql", lambda sql: sql + "where x.a > 1\n")
    assert changed.dbt("run", "-s", "synthetic").succeeded
    outcome = changed.dbt("run", "-s", "customers_anonymized")
    assert not outcome.succeeded
    assert "its relation has changed since" in outcome.messages
    assert changed.release("customers") == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select * exclude (zip) from rows", "columns are missing: zip."),
        ("select *, 1 as customer_id from rows", "these are additional: customer_id."),
        ("select * from rows where false", "there must be rows; got none."),
        (
            "select * replace (cast(spending as text) as spending) from rows",
            "column spending must be double, as in the release; got varchar.",
        ),
        (
            'select * replace ("order" + 0.5 as "order") from rows',
            "rows have others.",
        ),
        (
            "select * replace (if(zip = '01067', 'secret', zip) as zip) from rows",
            "rows have labels that no level has.",
        ),
        (
            "select * replace (if(zip = '01067', '0****', zip) as zip) from rows",
            "must hold labels of one level of its hierarchy customers_hierarchy_zip",
        ),
        (
            "select * replace (date '1912-03-04' as birth_date) from rows",
            "must hold values of its hierarchy customers_hierarchy_birth_date",
        ),
        (
            "select * replace (1950 as birth_date) from rows",
            "column birth_date must be date, as in the release; got integer.",
        ),
    ],
)
def test_a_table_that_cannot_be_read_stops_with_what_to_do(
    released: Project, sql: str, message: str
) -> None:
    """Each is said with numbers, and never with a value."""
    path = released.folder / "models" / "synthetic.sql"
    try:
        path.write_text(f"with rows as (\n{SYNTHETIC}\n)\n{sql}", encoding="utf-8")
        assert released.dbt("run", "-s", "synthetic").succeeded
        outcome = released.dbt("run", "-s", f"customers_effort_{CHOSEN}")
    finally:
        path.write_text(SYNTHETIC, encoding="utf-8")
    assert not outcome.succeeded
    (line,) = {one for one in outcome.messages.splitlines() if "effort 4 (shuffled): " in one}
    assert message in line
    assert line.endswith("Correct it in the model synthetic.") or "got none" in line
    assert "secret" not in outcome.messages


def test_a_reader_sees_which_table_of_another_tool_is_released(released: Project) -> None:
    shown = run_command("dbt-anonymize results customers --project-dir .", released.folder)
    assert f"effort {CHOSEN} is chosen" in shown
    assert "the table copied of another tool" in shown


def test_verify_checks_an_effort_of_our_own_beside_tables_of_other_tools(changed: Project) -> None:
    """Microdata say who is outer, SQL that is compiled reads labels, and one more qualifies."""
    declare(changed, lambda spec: spec["release"].update(effort=1))
    # Another test leaves a synthetic table that cannot be read.
    outcome = changed.dbt("run", "-s", "synthetic", "customers_results+")
    assert outcome.succeeded, outcome.messages
    assert "joined" not in outcome.messages, "the release before is of another tool"
    (spec,) = load_specs(changed.folder)
    checks = ("provenance", "recomputation", "attacks")
    found = list(verify(find_project(changed.folder), spec, checks=checks))
    assert not [one for one in found if one.status == "FAILED"], found
    if has("second_month"):
        from dbt_anonymize.extensions.second_month.freezing import freeze_effort

        with warehouse_of(changed) as warehouse, pytest.raises(SpecError, match="effort 4 is a"):
            freeze_effort(warehouse, spec)


def test_a_search_leaves_tables_of_other_tools_in_the_spec(changed: Project) -> None:
    declare(changed, lambda spec: spec["release"].update(effort=CHOSEN))
    run_command("dbt-anonymize search customers --efforts 1", changed.folder)
    (spec,) = load_specs(changed.folder)
    assert [effort.shown_name for effort in spec.external_efforts.values()] == [
        "shuffled",
        "copied",
        "seen",
        "noisy",
    ]
    assert spec.release.effort == min(spec.external_efforts)
