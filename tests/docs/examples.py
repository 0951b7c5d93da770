"""The examples of the documentation, built by dbt: their tables, specs and tests in one project."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from dbt_anonymize.extension import shipped
from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from tests.docs.pages import DOCS, MODELS, Page, Snippet
from tests.projects import REPOSITORY, Project
from tests.worlds.specs import IDENTIFIER, SENSITIVE, spec_of

QUASI_IDENTIFIERS = ("age", "zip")
RECORD_KEY = "record"
SUBJECT = "patient"
# What the pages speak of, and what it needs: neither a vault nor Python.
BASIS = ("microdata", "frequencies", "population", "classes")


@dataclass(frozen=True)
class Relation:
    """A table that the project finds: columns and rows."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write it into a database."""
        types = [_sql_type(column, values) for column, values in self._values()]
        listed = ", ".join(f'"{c}" {t}' for c, t in zip(self.columns, types, strict=True))
        connection.execute(f'create table "{self.name}" ({listed})')
        marks = ", ".join("?" for _ in self.columns)
        connection.executemany(f'insert into "{self.name}" values ({marks})', self.rows)

    def _values(self) -> Iterable[tuple[str, list[str]]]:
        for position, column in enumerate(self.columns):
            yield column, [row[position] for row in self.rows]


def _sql_type(column: str, values: Sequence[str]) -> str:
    if all(re.fullmatch(r"\d{4}-\d\d-\d\d", v) for v in values):
        return "date"
    is_text = column in {"zip", "value"} or not all(v.isdigit() for v in values)
    return "varchar" if is_text else "bigint"


@dataclass(frozen=True)
class Example:
    """A page with the table that its snippets are about; relations begin with its name."""

    page: Page
    name: str
    source: Relation
    population: Relation | None = None

    @classmethod
    def of_page(cls, page: Page) -> Example:
        """Take the first table with quasi-identifiers, and the counted population."""
        table = next(t for t in page.tables if {*QUASI_IDENTIFIERS} <= {*t.header})
        keyed = [(str(number), *row[1:]) for number, row in enumerate(table.rows, start=1)]
        columns = (RECORD_KEY, *table.header[1:])
        counted = [t for t in page.tables if t.header[0] == "population"]
        return cls(
            page,
            page.name,
            Relation(f"{page.name}_patients", columns, tuple(keyed)),
            expanded(f"{page.name}_registry", counted[0].records) if counted else None,
        )

    @property
    def hierarchies(self) -> list[Relation]:
        """Hierarchies of the page; for other quasi-identifiers one whose only level is the root."""
        found = [_from_csv(name, text) for name, text in self.page.files.items()]
        tables = [self.source, *([self.population] if self.population else [])]
        for column in QUASI_IDENTIFIERS:
            name = f"{self.name}_hierarchy_{column}"
            if name not in self.page.files:
                values = {row[t.columns.index(column)] for t in tables for row in t.rows}
                rows = tuple((value, "*") for value in sorted(values))
                found.append(Relation(name, ("value", "level_1"), rows))
        return found

    @property
    def relations(self) -> list[Relation]:
        """Everything that must be there before dbt runs."""
        return [self.source, *self.hierarchies, *([self.population] if self.population else [])]

    @property
    def classes(self) -> dict[tuple[str, ...], str]:
        """The name of each class by its quasi-identifiers."""
        tables = [t for t in self.page.tables if {*QUASI_IDENTIFIERS} <= {*t.header}]
        named = {
            (tuple(r[q] for q in QUASI_IDENTIFIERS), r[t.header[0]])
            for t in tables
            for r in t.records
        }
        assert len(dict(named)) == len(named) == len({name for _, name in named}), self.name
        return dict(named)

    def spec(self, name: str, part: dict[str, Any]) -> Spec:
        """Complete a part of a spec."""
        return Spec.model_validate(_merged(self._whole(name), part))

    def _whole(self, name: str) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for column in self.source.columns:
            if column in QUASI_IDENTIFIERS:
                columns[column] = {"role": "quasi_identifier", "hierarchy": self._hierarchy(column)}
            elif column == SUBJECT:
                columns[column] = IDENTIFIER
            elif column != RECORD_KEY:
                columns[column] = SENSITIVE
        return spec_of(
            name,
            columns,
            source={"ref": self.source.name},
            record_key=RECORD_KEY,
            target="diagnosis",
            features=list(QUASI_IDENTIFIERS),
            efforts=[{"age": 1, "zip": 1}],
            guarantees={"k_anonymity": {"k": 2}},
            suppression_limit=0.25,
            quality={"test_share": 0.5},
        )

    def _hierarchy(self, column: str) -> dict[str, Any]:
        name = f"{self.name}_hierarchy_{column}"
        (tree,) = [relation for relation in self.hierarchies if relation.name == name]
        kind = "interval" if tree.columns[0] == "lower_bound" else "categorical"
        levels = sum(column.startswith("level_") for column in tree.columns)
        return {"ref": name, "kind": kind, "levels": levels}


@dataclass(frozen=True)
class Built:
    """The database that dbt built, and the compiled query and the failures of each test."""

    connection: duckdb.DuckDBPyConnection
    tests: dict[str, str]
    failures: dict[str, int]

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return all rows of a query."""
        cursor = self.connection.execute(sql)
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def columns(self, relation: str) -> set[str]:
        """Return the columns of a relation."""
        return set(self.connection.execute(f'select * from "{relation}" limit 0').df().columns)


def name_of_test(name: str, number: int) -> str:
    """Return the name of a declared test, counted from 1."""
    return f"{name}_test_{number}"


def name_of_spec(name: str, number: int) -> str:
    """Return the name of the anonymization of a part of a spec, counted from 1."""
    return f"{name}_spec_{number}"


def build(
    folder: Path, examples: Sequence[Example], specs: Sequence[tuple[Spec, Collection[str]]]
) -> Built:
    """Build relations of specs and run the declared tests of examples; nothing may go wrong.

    Parameters
    ----------
    folder : Path
        Empty; for the project.
    examples : sequence of Example
        Whose tables the specs are about.
    specs : sequence of (Spec, collection of str)
        Which relations of each spec are built: the ends of their names, without numbers.
    """
    project = Project(folder, "examples.duckdb")
    relations = [relation for example in examples for relation in example.relations]
    with duckdb.connect(str(folder / project.warehouse)) as connection:
        for relation in relations:
            relation.create(connection)
    texts = {
        "dbt_project.yml": json.dumps(_PROJECT),
        "profiles.yml": json.dumps(_PROFILES),
        "seeds/tests.yml": yaml.safe_dump({"seeds": [_declared_tests(e) for e in examples]}),
        **{f"seeds/{relation.name}.csv": "nothing\n" for relation in relations},
        **{
            f"models/{spec.name}/{file}": text
            for spec, built in specs
            for file, text in render(spec).items()
            if re.sub(rf"^{spec.name}_|(_\d+)?\.\w+$", "", file) in built
        },
    }
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # As a package of its own name: the demonstration would be parsed with the installed one.
    (folder / "macros").symlink_to(REPOSITORY / "macros")
    project.build("--resource-type", "model", "--resource-type", "test")
    results = json.loads((folder / "target" / "run_results.json").read_text())["results"]
    of_tests = {r["unique_id"].split(".")[2]: r for r in results if r["unique_id"][:5] == "test."}
    return Built(
        duckdb.connect(str(folder / project.warehouse), read_only=True),
        {name: r["compiled_code"] for name, r in of_tests.items()},
        {name: r["failures"] for name, r in of_tests.items()},
    )


def expanded(name: str, counted: Sequence[dict[str, str]], count: str = "people") -> Relation:
    """Return one row per person from rows with the number of people."""
    rows = [
        tuple(record[q] for q in QUASI_IDENTIFIERS)
        for record in counted
        for _ in range(int(record[count]))
    ]
    return Relation(name, QUASI_IDENTIFIERS, tuple(rows))


def diagnosed(page: Page, name: str, people: Any, population: Relation | None = None) -> Example:
    """Give people a diagnosis of which the page does not speak."""
    rows = [
        (str(number), *person, ("flu", "asthma")[number % 2])
        for number, person in enumerate(people, start=1)
    ]
    columns = (RECORD_KEY, *QUASI_IDENTIFIERS, "diagnosis")
    return Example(page, name, Relation(f"{name}_patients", columns, tuple(rows)), population)


def model_pages() -> list[Page]:
    """Return the pages of privacy models."""
    of_core = [path for path in sorted(MODELS.glob("*.md")) if path.name != "README.md"]
    of_extensions = [
        DOCS / "extensions" / one.name / f"{name}.md"
        for one in shipped()
        for name in one.privacy_models
        # A relation alone does not show it: its tests have its page.
        if name != "differential_privacy"
    ]
    return [Page(path) for path in (*of_core, *of_extensions)]


def _declared_tests(example: Example) -> dict[str, Any]:
    """Return the tests of a page for its table; a failing one must not stop the build."""
    tests = []
    for number, snippet in enumerate(example.page.tests, start=1):
        ((test, parameters),) = _data_test(snippet).items()
        name = name_of_test(example.name, number)
        tests.append({test: {"name": name, "config": {"severity": "warn"}, **parameters}})
    return {"name": example.source.name, "data_tests": tests}


def _data_test(snippet: Snippet) -> dict[str, Any]:
    (model,) = snippet.content["models"]
    (test,) = model["data_tests"]
    return dict(test)


def _from_csv(name: str, text: str) -> Relation:
    header, *rows = csv.reader(io.StringIO(text))
    return Relation(name, tuple(header), tuple(map(tuple, rows)))


def _merged(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Replace what a part of a spec says; columns one by one."""
    return {**whole, **part, "columns": {**whole["columns"], **part.get("columns", {})}}


_PROJECT = {
    "name": "dbt_anonymize",
    "version": "1.0",
    "profile": "documented",
    "flags": {"send_anonymous_usage_stats": False},
}
_PROFILES = {
    "documented": {
        "target": "dev",
        "outputs": {"dev": {"type": "duckdb", "path": "examples.duckdb", "threads": 1}},
    }
}
