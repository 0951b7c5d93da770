"""The registry of relations is true: of what models read, and of the columns that builds make."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.project.properties import describe, describe_all, description_context
from dbt_anonymize.relations import ALL, KEPT, MODELS, SHARED
from dbt_anonymize.spec import Spec, load_spec
from scripts import make_reference
from tests.extensions import in_parts
from tests.projects import Project
from tests.spec.declarations import SPEC, rich, spec

UNTESTED = {name: value for name, value in SPEC.items() if name not in {"target", "features"}}
SPECS = [
    *make_reference.EXAMPLES,
    rich(),
    {**{k: v for k, v in UNTESTED.items() if k not in {"quality", "alpha"}}, "qnf": "k"},
    spec(mapping="token", sample={"share": 0.5}, **in_parts("ill")),
]
TYPES = {
    "whole": r"(BIG|SMALL|HUGE|)INT(EGER)?",
    "number": r"DOUBLE|BIGINT|DECIMAL.*|BOOLEAN",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "time": "TIMESTAMP.*",
    "source": ".*",
    "bound": ".*",
}


def read_by(one: Spec, *, has_python: bool) -> dict[str, set[str]]:
    """Return the relations that the models of a spec read, by the part of their names."""
    found = defaultdict(set)
    for file, text in render(one, has_python=has_python).items():
        if not file.endswith(".yml"):
            # What must be built before a release is no part of it.
            data = re.sub(r"'measured': \[.*?\]", "", text, flags=re.DOTALL)
            names = re.findall(rf"ref\(['\"]{one.name}_(\w+?)(?:_\d+)?['\"]\)", data)
            part = re.sub(r"(_\d+)?\.\w+$", "", file.removeprefix(f"{one.name}_"))
            own, read = _of_each(part), {*map(_of_each, names)} & {*ALL}
            # A linked table may lead over another one.
            found[own] |= read - {own} if own in ALL and ALL[own].each else read
    return found


def _of_each(part: str) -> str:
    """Return the relation of a model; some have one for each of several names."""
    several = (name for name, one in ALL.items() if one.each and part.startswith(f"{name}_"))
    return part if part in ALL else next(several, part)


@pytest.mark.needs("recoding", "second_month")
def test_a_relation_is_made_from_what_its_model_reads() -> None:
    found = defaultdict(set)
    for content in SPECS:
        one = Spec.model_validate(content)
        for has_python in (True, False):
            for name, read in read_by(one, has_python=has_python).items():
                found[name] |= read
    told = {name: {*one.built_from} - {"source", "hierarchies"} for name, one in MODELS.items()}
    assert found == told


@pytest.mark.needs("recoding", "second_month")
def test_every_source_of_a_relation_is_known() -> None:
    for one in (ALL | SHARED).values():
        assert {*one.built_from} <= {*ALL, "source", "hierarchies"}, one.name


@pytest.mark.dbt
@pytest.mark.parametrize("name", ["built_consumer", "built_members", "built_samples"])
def test_columns_are_those_that_a_build_makes(name: str, request: pytest.FixtureRequest) -> None:
    project: Project = request.getfixturevalue(name)
    rows: list[tuple[Any, ...]] = project.query(
        "select table_name, column_name, data_type from duckdb_columns() where not internal"
    )
    made = defaultdict[str, dict[str, str]](dict)
    for table, column, kind in rows:
        made[table][column] = kind
    for path in sorted((project.folder / "anonymizations").glob("*.yml")):
        one = load_spec(path)
        context = description_context(one)
        kept = (describe(found, f"{one.name}_{name}", context) for name, found in KEPT.items())
        there = [found for found in kept if found.columns and found.name in made]
        assert len(there) > 1
        for relation in (*describe_all(one), *there):
            told = {column.name: column.type for column in relation.columns}
            assert set(made[relation.name]) == set(told), relation.name
            wrong = {
                column: kind
                for column, kind in made[relation.name].items()
                if not re.fullmatch(TYPES[told[column]], kind)
            }
            assert not wrong, relation.name
