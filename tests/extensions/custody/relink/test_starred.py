"""A class has the labels of all quasi-identifiers; a release may lack those that are all `*`."""

from __future__ import annotations

import contextlib

from dbt_anonymize.extensions.custody.relink.links import Links
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_specs
from tests.projects import Project


def test_the_classes_of_tokens_are_those_of_the_effort(built_members: Project) -> None:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    (spec,) = load_specs(built_members.folder, ["members"])
    assert "gender" in spec.quasi_identifiers
    assert "gender" not in spec.released_columns
    with contextlib.ExitStack() as stack:
        stack.callback(DuckDBConnectionManager.close_all_connections)
        warehouse = stack.enter_context(open_warehouse(find_project(built_members.folder)))
        vault = warehouse.relation_of_ref("members_identifiers")
        assert Links(warehouse, spec, vault).count_differences(1) == 0
