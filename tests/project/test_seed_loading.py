"""The package loads a seed as dbt-duckdb does, or refuses it without showing any of it."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.versions import command_version
from tests.projects import REPOSITORY, Outcome, Project

pytestmark = pytest.mark.sampled_tests(group="builds")

MACROS = ("duckdb__load_csv_rows", "_literal", "_seed_loading")
DISPATCH = [{"macro_namespace": "dbt", "search_order": ["seeding", "dbt_anonymize", "dbt"]}]
# Text that a file may hold, of which some cannot be loaded.
FILES = {
    "plain": "id,name\n1,Ada\n2,Bo\n",
    "quotes": 'id,name\n1,"A ""x"" b"\n2,"c,d"\n',
    "newline_in_cell": 'id,name\n1,"A\nB"\n2,"x\n\ny"\n',
    "crlf_in_cell": 'id,name\r\n1,"A\r\nB"\r\n2,"x"\r\n',
    "bom": "\ufeffid,name\n1,Ada\n",
    "crlf": "id,name\r\n1,Ada\r\n2,Bo\r\n",
    "line_ends_of_two_kinds": "id,name\r\n1,Ada\n2,Bo\r\n",
    "trailing": "id,name\n1,Ada\n2,Bo\n\n\n",
    "trailing_crlf": "id,name\r\n1,Ada\r\n2,Bo\r\n\r\n",
    "many_blank_lines": "id,name\n1,Ada\n" + "\n" * 30 + "2,Bo\n",
    "blank_in_one_column": "name\nAda\n\nBo\n",
    "no_last_line_end": "id,name\n1,Ada",
    "no_rows": "id,name\n",
    "nulls": 'id,name,x\n1,,\n2,"",3\n,NULL,4\n',
    "null_word_for_a_number": "id,x\n1,null\n2,3\n",
    "all_null": "id,name\n1,\n2,\n",
    "semicolon": 'id;name\n1;A,b\n2;"C;d"\n',
    "tab": "id\tname\n1\tA b\n",
    "days": "id,day\n1,2020-01-31\n2,1999-12-01\n",
    "days_of_other_order": "id,day\n1,31/01/2020\n2,01/12/1999\n",
    "days_of_american_order": "id,day\n1,01/31/2020\n2,12/01/1999\n",
    "moments": "id,day\n1,2020-01-31 10:00:00\n2,1999-12-01 00:00:00\n",
    "moments_of_a_zone": "id,day\n1,2020-01-31T10:00:00Z\n2,1999-12-01T00:00:00Z\n",
    "truths": "id,b\n1,true\n2,False\n3,\n",
    "fractions": "id,f\n1,1.5\n2,1e3\n3,-0\n",
    "thousands": 'id,f\n1,"1,000"\n2,"2,500"\n',
    "typed": "id,zip\n1,01067\n2,00001\n",
    "spaces": "id,name\n1,  Ada  \n2 ,Bo\n",
    "short_line": "id,name,x\n1,Ada\n2,Bo,3\n",
    "long_line": "id,name\n1,Ada,x\n",
    "stray_quote": 'id,name\n1,A"da\n2,Bo\n',
    "comment": "id,name\n#1,Ada\n2,Bo\n",
    "backslash": 'id,name\n1,A\\"da\n2,"B\\\\o"\n',
    "other_alphabets": "id,name\n1,Zo\u00eb\n2,\u674e\n",
    "only_commas": "id,name\n,\n1,Ada\n",
}
# More than 2 MB, in cells that Python reads.
LONGEST_LINE = "\n".join(
    ",".join(cells) for cells in ([f"c{number}" for number in range(20)], ["Planted" * 17_000] * 20)
)
# What dbt-duckdb guesses, and the package does not: which number is the month, and what a file
# without a header says.
REFUSED = {
    "days_declared": ("id,day\n1,31/01/2020\n2,01/12/1999\n", "written year-month-day"),
    "blank_first_line": ("\nid,name\n1,Planted\n", "its first line is blank"),
    "blank_first_line_crlf": ("\r\nid,name\r\n1,Planted\r\n", "its first line is blank"),
    "not_fast": ("id,name\n1,Planted\n", "`fast` must be true"),
    "text_for_a_number": ("id,n\n1,Planted\n\n\n2,3\n", "line 2 column n (cast)"),
    "longest_line": (LONGEST_LINE, "line 2 (line size over maximum)"),
}
CONFIGS: dict[str, dict[str, Any]] = {
    "semicolon": {"delimiter": ";"},
    "tab": {"delimiter": "\t"},
    "typed": {"column_types": {"zip": "varchar"}},
    "days_declared": {"column_types": {"day": "date"}},
    "not_fast": {"fast": False},
    "text_for_a_number": {"column_types": {"n": "integer"}},
}
CELLS = [
    "",
    '""',
    "7",
    "-1.5",
    "x y",
    '"a,b"',
    '"q""q"',
    '"a\nb"',
    "\u00e9",
    " 1",
    "2020-02-29",
    "true",
]


def random_files(seed: int, number: int) -> dict[str, str]:
    """Make small files of cells that have been trouble somewhere."""
    chance = random.Random(seed)
    files = {}
    for name in range(number):
        columns = chance.randint(2, 4)
        rows = [
            ",".join(chance.choice(CELLS) for _ in range(columns))
            for _ in range(chance.randint(1, 5))
        ]
        end = chance.choice(["\n", "\r\n"])
        lines = [",".join(f"c{column}" for column in range(columns)), *rows]
        files[f"random_{name}"] = end.join(lines) + end * chance.randint(0, 3)
    return files


@dataclass(frozen=True)
class Loaded:
    """Tables that one loader made of all seeds."""

    outcome: Outcome
    tables: dict[str, Any]


ALL = FILES | {name: text for name, (text, _) in REFUSED.items()} | random_files(1, 20)


def load(folder: Path, *, dispatch: bool) -> Loaded:
    """Seed a project that has the macros of the package, and asks for them or not."""
    package = folder / "dbt_packages" / "dbt_anonymize"
    for part in (folder / "seeds", folder / "models", package / "macros"):
        part.mkdir(parents=True)
    for macro in MACROS:
        (source,) = (REPOSITORY / "macros").rglob(f"{macro}.sql")
        text = source.read_text(encoding="utf-8")
        (package / "macros" / f"{macro}.sql").write_text(text, encoding="utf-8")
    model = "{{ config(meta={'dbt_anonymize': {'anonymization': 'x'}}) }} select 1 as one"
    (folder / "models" / "x.sql").write_text(model, encoding="utf-8")
    project = {"version": "1.0", "config-version": 2, "profile": "seeding"}
    files: dict[Path, dict[str, Any]] = {
        package / "dbt_project.yml": {
            **project,
            "name": "dbt_anonymize",
            "version": command_version(),
        },
        folder / "dbt_project.yml": {
            "name": "seeding",
            **project,
            "on-run-start": "{{ dbt_anonymize._check_seed_loading() if execute }}",
            **({"dispatch": DISPATCH} if dispatch else {}),
        },
        folder / "profiles.yml": {
            "seeding": {
                "target": "dev",
                "outputs": {"dev": {"type": "duckdb", "path": "w.duckdb"}},
            }
        },
        folder / "seeds" / "seeds.yml": {
            "seeds": [{"name": name, "config": config} for name, config in CONFIGS.items()]
        },
    }
    for path, content in files.items():
        path.write_text(yaml.safe_dump(content), encoding="utf-8")
    for name, text in ALL.items():
        (folder / "seeds" / f"{name}.csv").write_bytes(text.encode())
    with warnings.catch_warnings():
        # What reads seeds for dbt warns of a file without a header, and goes on.
        warnings.filterwarnings("ignore", message="Column names not specified")
        outcome = Project(folder, "w.duckdb").dbt("seed")
    statuses = {name.split(".")[-1]: status for name, status in outcome.statuses.items()}
    with duckdb.connect(str(folder / "w.duckdb")) as connection:
        tables = {
            name: (
                connection.execute(f'describe "{name}"').fetchall(),
                repr(rows(connection, name)),
            )
            for name, status in statuses.items()
            if status == "success" and name in ALL
        }
    return Loaded(outcome, tables)


def rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[Any]:
    return connection.execute(f'from "{name}"').fetchall()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load(tmp_path_factory.mktemp("ours") / "project", dispatch=True)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return load(tmp_path_factory.mktemp("theirs") / "project", dispatch=False)


def test_a_seed_becomes_the_table_that_dbt_duckdb_makes_of_it(ours: Loaded, theirs: Loaded) -> None:
    assert len(theirs.tables) > len(ALL) * 3 / 4
    assert set(ours.tables) == set(theirs.tables) - set(REFUSED)
    assert ours.tables == {name: theirs.tables[name] for name in ours.tables}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_package_does_not_load_is_said_without_a_value(ours: Loaded, name: str) -> None:
    assert ours.outcome.status(name) == "error"
    said = [text for text in ours.outcome.messages.split("\n") if f"seed {name}:" in text]
    assert REFUSED[name][1] in said[0]
    assert "Planted" not in ours.outcome.messages


def test_a_project_that_does_not_ask_for_the_macro_is_warned(ours: Loaded, theirs: Loaded) -> None:
    assert "macro_namespace" not in ours.outcome.messages
    said = theirs.outcome.messages
    assert said.count("seeds must be loaded by the macro of this package") == 1
    asked = yaml.safe_load("dispatch:" + said.split("\ndispatch:")[1].split("]")[0] + "]")
    assert asked["dispatch"] == DISPATCH
    assert "Planted" in said, "what the warning is about"
