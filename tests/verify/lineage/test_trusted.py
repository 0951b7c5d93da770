"""What runs only while dbt builds is found: hooks, macros in place of others, and other data."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage.compiled import compile_sql
from dbt_anonymize.verify.lineage.trusted import _by_rows, build_findings
from tests.projects import Project
from tests.verify.lineage.clinic import write_clinic

LEAKY = "select * {% if flags.WHICH in ['build', 'run'] %}replace (md5(ssn) as smoker){% endif %}"
NEW_ONES = (
    "{% if is_incremental() %} where visit_id > (select max(visit_id) from {{ this }}){% endif %}"
)
ONLY_PEOPLE = ("--select", "people", "--exclude", "resource_type:test")
ORDINARY = """
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ return(default__generate_schema_name(custom_schema_name, node)) }}
{%- endmacro %}
{% macro generate_alias_name(custom_alias_name=none, node=none) -%}
    {{ return(default__generate_alias_name(custom_alias_name, node)) }}
{%- endmacro %}
{% macro cents_to_dollars(column) -%}({{ column }} / 100){%- endmacro %}
{% macro snowflake__type_string() -%}varchar{%- endmacro %}
{% macro default__get_where_subquery(relation) -%}{{ relation }}{%- endmacro %}
{% macro effort(name) -%}{{ name }}{%- endmacro %}
{% test positive(model, column_name) %}
select 1 from {{ model }} where {{ column_name }} < 0
{% endtest %}
{% materialization own, default -%}{{ return({"relations": []}) }}{%- endmaterialization %}
"""
OVERRIDING = {
    "create_table_as": "(temporary, relation, compiled_code, language='sql', partitioned_by=none,"
    " sorted_by=none)",
    "duckdb__create_view_as": "(relation, sql)",
    "duckdb__type_string": "()",
    "default___as_bytes": "(expression)",
    "duckdb___publication": "(release, columns)",
    "run_query": "(sql)",
    "load_csv_rows": "(model, agate_table)",
}


def with_settings(project: Project, change: Callable[[Any], None]) -> None:
    """Change dbt_project.yml, which the clinic writes as JSON."""

    def edited(text: str) -> str:
        settings = json.loads(text)
        change(settings)
        return json.dumps(settings)

    project.edit("dbt_project.yml", edited)


def in_vault(settings: Any) -> None:
    settings["seeds"] = {"clinic": {"registry": {"+database": "vault"}}}
    settings["models"]["clinic"]["people"]["+database"] = "vault"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the clinic, built, with macros as projects have them."""
    project = write_clinic(tmp_path_factory.mktemp("trusted") / "project")
    with_settings(project, in_vault)
    (project.folder / "macros").mkdir()
    (project.folder / "macros" / "ordinary.sql").write_text(ORDINARY, encoding="utf-8")
    project.build("--select", "+visits_microdata", "--exclude", "resource_type:test")
    return project


@pytest.fixture
def clinic(built: Project, tmp_path: Path) -> Project:
    return built.copy(tmp_path / "project")


@contextlib.contextmanager
def opened(project: Project) -> Iterator[Warehouse]:
    """Open the warehouse, and let go of the database in the end."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(project.folder))
        try:
            with open_warehouse(find_project(project.folder)) as warehouse:
                yield warehouse
        finally:
            DuckDBConnectionManager.close_all_connections()


def found(project: Project, *, is_compiled: bool = True) -> list[Finding]:
    """Look at a project; data are compared only where it is compiled."""
    spec = load_spec(project.folder / "anonymizations" / "visits.yml")
    compiled: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(project.folder))
        if is_compiled:
            compiled = compile_sql(find_project(project.folder), spec, None)
    with opened(project) as warehouse:
        return list(build_findings(warehouse, spec, compiled))


def broken(project: Project, *, is_compiled: bool = True) -> dict[str, str]:
    findings = found(project, is_compiled=is_compiled)
    return {f.subject: f.message for f in findings if not f.holds}


def test_an_honest_project_with_macros_of_its_own_passes(built: Project) -> None:
    findings = found(built)
    assert [f for f in findings if not f.holds] == []
    assert {"hooks", "macros", "people", "visits_microdata"} == {f.subject for f in findings}


def test_a_hook_of_the_user_is_named_with_its_node(clinic: Project) -> None:
    def hooked(settings: Any) -> None:
        settings["models"]["clinic"]["people"]["+post-hook"] = (
            "update {{ this }} set smoker = md5(ssn)"
        )
        settings["models"]["clinic"]["visits"] = {
            "visits_microdata": {
                "+pre-hook": ["{{ dbt_anonymize._check_microdata() }}; select 1"],
                "+sql_header": "select 1;",
            }
        }
        settings["seeds"]["clinic"]["zips"] = {"+post-hook": "select 1"}
        settings["on-run-end"] = "select 1"

    with_settings(clinic, hooked)
    problems = broken(clinic, is_compiled=False)
    assert set(problems) == {"people", "visits_microdata", "zips", "clinic-on-run-end-0 of clinic"}
    assert "post-hook" in problems["people"]
    assert "pre-hook or sql_header" in problems["visits_microdata"]
    assert "on-run hook" in problems["clinic-on-run-end-0 of clinic"]


def test_what_a_hook_did_is_in_the_data(clinic: Project) -> None:
    def hooked(settings: Any) -> None:
        settings["models"]["clinic"]["people"]["+post-hook"] = (
            "update {{ this }} set smoker = md5(ssn)"
        )

    def clean(settings: Any) -> None:
        del settings["models"]["clinic"]["people"]["+post-hook"]

    with_settings(clinic, hooked)
    clinic.build("--select", "people", "visits_microdata", "--exclude", "resource_type:test")
    with_settings(clinic, clean)
    problems = broken(clinic)
    assert set(problems) == {"people"}
    assert "(columns: smoker)" in problems["people"]


@pytest.mark.parametrize("materialized", ["table", "view", "incremental"])
def test_sql_that_depends_on_the_command_is_compared(clinic: Project, materialized: str) -> None:
    def stored(settings: Any) -> None:
        settings["models"]["clinic"]["people"]["+materialized"] = materialized

    if materialized != "table":
        with_settings(clinic, stored)
    if materialized == "incremental":
        clinic.edit("models/people.sql", lambda text: text + NEW_ONES)
        clinic.build("--full-refresh", *ONLY_PEOPLE)
        clinic.build(*ONLY_PEOPLE)
        assert broken(clinic) == {}
    clinic.edit("models/people.sql", lambda text: text.replace("select *", LEAKY))
    clinic.build("--full-refresh", *ONLY_PEOPLE)
    problems = broken(clinic)
    assert "(columns: smoker)" in problems["people"]
    assert "visits_microdata" in problems
    hashed = clinic.query("select smoker from vault.people")
    assert not [value for (value,) in hashed if value in str(problems)]


def test_microdata_with_other_rows_are_found(clinic: Project) -> None:
    clinic.execute("delete from main.visits_microdata where zip = '11'")
    problems = broken(clinic)
    assert set(problems) == {"visits_microdata"}
    assert "holds 24 rows, and its SQL gives 32" in problems["visits_microdata"]


def test_values_that_changed_places_are_found(clinic: Project) -> None:
    """No column alone has other values, and yet the rows are others."""
    clinic.execute(
        "update main.visits_microdata set smoker = case smoker when 'yes' then 'no' else 'yes' end "
        "where visit_id in (select min(visit_id) from main.visits_microdata group by smoker)"
    )
    assert "(columns: together)" in broken(clinic)["visits_microdata"]


def test_what_cannot_be_compared_does_not_hold(clinic: Project) -> None:
    clinic.execute("drop table main.visits_microdata cascade")
    assert "must be stored" in broken(clinic)["visits_microdata"]


def test_macros_in_place_of_others_are_named(clinic: Project) -> None:
    macros = [
        f"{{% macro {name}{arguments} -%}}{{{{ return('') }}}}{{%- endmacro %}}"
        for name, arguments in OVERRIDING.items()
        if name != "run_query"
    ]
    macros.append("{% macro run_query(sql) -%}{{ return(dbt.run_query(sql)) }}{%- endmacro %}")
    macros.append(
        "{% macro ref(name) -%}{{ return(builtins.ref(name)) }}{%- endmacro %}"
        "{% materialization table, adapter='duckdb' -%}{{ return({}) }}{%- endmaterialization %}"
        "{% materialization dbt_anonymize_release, default -%}{{ return({}) }}"
        "{%- endmaterialization %}"
    )
    (clinic.folder / "macros" / "other.sql").write_text("\n".join(macros), encoding="utf-8")
    expected = {*OVERRIDING, "ref", "materialization_table_duckdb"}
    expected.add("materialization_dbt_anonymize_release_default")
    assert {name for name in broken(clinic, is_compiled=False) if name.startswith("macro ")} == {
        f"macro {name} of clinic" for name in expected
    }


def test_a_package_is_searched_where_the_project_says_so(clinic: Project) -> None:
    foreign = clinic.folder / "foreign"
    (foreign / "macros").mkdir(parents=True)
    project = {"name": "foreign", "version": "1.0"}
    (foreign / "dbt_project.yml").write_text(json.dumps(project), encoding="utf-8")
    macro = "{% macro duckdb__type_string() -%}{{ return('TEXT') }}{%- endmacro %}"
    (foreign / "macros" / "types.sql").write_text(macro, encoding="utf-8")
    clinic.edit(
        "packages.yml",
        lambda text: json.dumps(
            {"packages": [*json.loads(text)["packages"], {"local": "foreign"}]}
        ),
    )
    assert clinic.dbt("deps").succeeded
    assert broken(clinic, is_compiled=False) == {}

    def dispatched(settings: Any) -> None:
        order = ["foreign", "dbt"]
        settings["dispatch"] = [{"macro_namespace": "dbt", "search_order": order}]

    with_settings(clinic, dispatched)
    assert set(broken(clinic, is_compiled=False)) == {"macro duckdb__type_string of foreign"}


def test_rows_are_compared_as_any_engine_can(built: Project) -> None:
    with opened(built) as warehouse:
        rows = "select * from (values (1), (1), (2)) as t(a)"
        assert _by_rows(warehouse, rows, "select * from (values (2), (1), (1)) as t(a)") == ""
        told = _by_rows(warehouse, rows, "select * from (values (1), (3), (4)) as t(a)")
    assert "holds 2 rows that its SQL does not give, and lacks 2" in told
