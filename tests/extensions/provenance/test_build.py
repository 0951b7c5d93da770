"""Code beside the compiled SQL is named, and stored relations are those that the SQL gives."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.provenance.build import build_warnings
from dbt_anonymize.extensions.provenance.check import check_provenance, provenance_findings
from dbt_anonymize.extensions.provenance.origins import Provenance
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import load_spec
from dbt_anonymize.spec.columns import Column
from dbt_anonymize.verify.finding import Finding
from tests.extensions.provenance.leaks.clinic import compiled, write_clinic
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(1)

ORDINARY = """
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ return(default__generate_schema_name(custom_schema_name, node)) }}
{%- endmacro %}
{% macro generate_alias_name(custom_alias_name=none, node=none) -%}
    {{ return(default__generate_alias_name(custom_alias_name, node)) }}
{%- endmacro %}
{% macro cents_to_dollars(column) -%}({{ column }} / 100){%- endmacro %}
{% macro default__get_where_subquery(relation) -%}{{ relation }}{%- endmacro %}
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


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the clinic, not built, with macros as projects have them."""
    project = write_clinic(tmp_path_factory.mktemp("build") / "project")
    (project.folder / "macros").mkdir()
    (project.folder / "macros" / "ordinary.sql").write_text(ORDINARY, encoding="utf-8")
    return project


@pytest.fixture
def clinic(written: Project, tmp_path: Path) -> Project:
    return written.copy(tmp_path / "project")


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


def warned(project: Project) -> dict[str, str]:
    spec = load_spec(project.folder / "anonymizations" / "visits.yml")
    with opened(project) as warehouse:
        findings = list(build_warnings(warehouse, spec))
    assert {finding.status for finding in findings} <= {"warning"}
    return {finding.subject: finding.message for finding in findings}


def test_an_ordinary_project_is_warned_of_what_it_overrides_alone(written: Project) -> None:
    names = ("default__get_where_subquery", "generate_alias_name", "generate_schema_name")
    assert sorted(warned(written)) == [f"macro {name} of clinic" for name in names]


def test_hooks_are_named_with_their_node(clinic: Project) -> None:
    def hooked(settings: Any) -> None:
        settings["models"]["clinic"]["people"]["+post-hook"] = "update {{ this }} set smoker = ssn"
        settings["models"]["clinic"]["visits"] = {
            "visits_microdata": {
                "+pre-hook": ["{{ dbt_anonymize._check_microdata() }}; select 1"],
                "+sql_header": "select 1;",
            }
        }
        settings["seeds"] = {"clinic": {"zips": {"+post-hook": "select 1"}}}
        settings["on-run-end"] = "select 1"

    with_settings(clinic, hooked)
    found = warned(clinic)
    assert found["people"].startswith("has a post-hook")
    assert found["visits_microdata"].startswith("has a pre-hook and a sql_header")
    assert found["zips"].startswith("has a post-hook")
    assert found["clinic-on-run-end-0"].startswith("is an on-run hook")


@pytest.mark.parametrize(
    ("jinja", "named"),
    [
        ("{% if execute %}{{ run_query('select 1').rows[0][0] }}{% endif %}", "run_query"),
        ("{% call statement('s', fetch_result=true) %}select 1{% endcall %}", "statement"),
        ("{{ env_var('HOME', '') }}", "env_var"),
        ("{{ adapter.quote('a') }}", "adapter"),
        ("{{ flags.WHICH }} {{ invocation_args_dict.which }}", "flags, invocation_args_dict"),
    ],
)
def test_sql_that_jinja_computes_is_named(clinic: Project, jinja: str, named: str) -> None:
    clinic.edit("models/people.sql", lambda text: f"{text} /* {jinja} */")
    assert warned(clinic)["people"].startswith(f"uses {named}: ")


def test_macros_in_place_of_others_are_named(clinic: Project) -> None:
    text = """
    {% macro duckdb__create_view_as(relation, sql) -%}{{ return("") }}{%- endmacro %}
    {% macro default___as_bytes(expression) -%}{{ return("") }}{%- endmacro %}
    {% macro ref(name) -%}{{ return(builtins.ref(name)) }}{%- endmacro %}
    {% macro run_query(sql) -%}{{ return(dbt.run_query(sql)) }}{%- endmacro %}
    {% materialization table, adapter="duckdb" -%}{{ return({}) }}{%- endmaterialization %}
    """
    (clinic.folder / "macros" / "other.sql").write_text(text, encoding="utf-8")
    names = {"duckdb__create_view_as", "default___as_bytes", "ref", "run_query"}
    names |= {"materialization_table_duckdb"}
    assert {f"macro {name} of clinic" for name in names} <= warned(clinic).keys()


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
    before = warned(clinic)

    def dispatched(settings: Any) -> None:
        order = ["foreign", "dbt"]
        settings["dispatch"] = [{"macro_namespace": "dbt", "search_order": order}]

    with_settings(clinic, dispatched)
    assert warned(clinic).keys() - before.keys() == {"macro duckdb__type_string of foreign"}


def test_external_sources_and_snapshots_are_followed_by_what_dbt_makes_of_them(
    clinic: Project,
) -> None:
    (clinic.folder / "data").mkdir()
    shutil.copy(clinic.folder / "seeds" / "registry.csv", clinic.folder / "data")
    tables = [{"name": "registry"}, {"name": "gone"}]
    config = {"meta": {"external_location": "data/{name}.csv"}}
    source = {"name": "files", "config": config, "tables": tables}
    people = {
        "name": "people",
        "relation": "source('files', 'registry')",
        "config": {"unique_key": "visit_id", "strategy": "check", "check_cols": "all"},
    }
    declared = {"sources": [source], "snapshots": [people]}
    (clinic.folder / "models" / "_files.yml").write_text(json.dumps(declared), encoding="utf-8")
    (clinic.folder / "models" / "people.sql").unlink()
    assert clinic.dbt("snapshot", "-s", "people").succeeded
    with compiled(clinic) as (relations, spec):
        added = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to")
        columns = dict(spec.columns) | {name: Column(role="dropped") for name in added}
        followed = spec.model_copy(update={"columns": columns})
        (holds,) = provenance_findings(relations, followed)
    assert holds.holds, holds
    assert relations.by_name["people"].added["dbt_scd_id"] == ("visit_id",)
    assert Provenance(relations).derivation("people", "ssn").origins == {("files.registry", "ssn")}
    with opened(clinic) as warehouse:
        found = warehouse.relation_of_source("files", "registry")
        assert [name for name, _ in warehouse.columns(found)][:2] == ["visit_id", "name"]
        with pytest.raises(WarehouseError, match=r"files\.gone: must be readable"):
            warehouse.relation_of_source("files", "gone")


def test_ephemeral_sources_are_told_so(clinic: Project) -> None:
    clinic.edit("models/people.sql", "{{{{ config(materialized='ephemeral') }}}} {}".format)
    assert clinic.dbt("seed").succeeded
    built = clinic.dbt("run", "-s", "visits_microdata")
    assert "the model people must be a table or a view; it is ephemeral" in built.messages
    with opened(clinic) as warehouse, pytest.raises(WarehouseError, match="is ephemeral"):
        warehouse.relation_of_ref("people")


def broken(findings: list[Finding]) -> dict[str, str]:
    return {f.subject: f.message for f in findings if f.holds is False}


def test_a_built_project_is_checked(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = built_consumer.copy(tmp_path / "project")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(consumer.folder))
    project = find_project(consumer.folder)
    spec = load_spec(consumer.folder / "anonymizations" / "customers.yml")
    findings = check_provenance(project, spec)
    assert broken(findings) == {}
    assert {f.status for f in findings} == {"holds"}
    (stored,) = [f for f in findings if f.subject == "stored columns"]
    assert int(stored.message.split()[0]) > 5
    # What a model does only while it is built, compiled SQL does not show; the text does.
    consumer.edit(
        "models/customers/customers_microdata.sql",
        lambda text: text.replace(
            "'identifiers': ", "'identifiers': [] if flags.WHICH == 'run' else "
        ),
    )
    consumer.execute("alter table main.customers_microdata add column extra integer")
    found = broken(check_provenance(project, spec))
    assert "must be what the spec gives" in found["models of customers"]
    assert "extra differ" in found["customers_microdata"]
