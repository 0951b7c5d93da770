"""Hierarchies of a stranger's project, built from its warehouse instead of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.extensions.hierarchy_builders.commands.values import read_column
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.hierarchies import IntervalHierarchy
from tests.cli.conftest import run
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(2)]

PLACE = ("--ref", "customers")


def build(project: Project, kind: str, *words: str, column: str) -> Path:
    """Build a hierarchy of a column of the seed, and return its file."""
    file = project.folder / "built.csv"
    place = [*PLACE, "--column", column, "--project-dir", str(project.folder), "-o", str(file)]
    done = run("hierarchy", kind, *words, *place)
    assert done.exit_code == 0, done.output
    assert run("hierarchy", "check", file).exit_code == 0
    return file


def values(project: Project, column: str) -> list[str]:
    return read_column(project.folder / "seeds" / "customers.csv", column)


@pytest.mark.parametrize(
    ("kind", "words", "column"),
    [
        ("intervals", ("--widths", "50,100"), "spending"),
        ("quantiles", ("--leaves", "4", "--decimals", "0"), "spending"),
        ("dates", (), "birth_date"),
    ],
)
def test_the_range_is_round_and_around_the_data(
    consumer: Project, kind: str, words: tuple[str, ...], column: str
) -> None:
    built = read_hierarchy(build(consumer, kind, *words, column=column))
    assert isinstance(built, IntervalHierarchy)
    known = {str(value) for value in values(consumer, column)}
    ends = (str(built.lower_bounds[0]), str(built.upper_bounds[-1]))
    assert not known & set(ends)
    number = run(
        "hierarchy", "preview", consumer.folder / "built.csv", *PLACE, "--column", column,
        "--project-dir", consumer.folder,
    )  # fmt: skip
    assert number.exit_code == 0
    assert "have a value that it does not hold" not in number.stdout


def test_a_relation_gives_what_its_file_gives(consumer: Project) -> None:
    for kind, words, column in (
        ("redaction", (), "zip"),
        ("priority", (), "gender"),
        ("groups", ("--sizes", "2"), "gender"),
    ):
        built = read_hierarchy(build(consumer, kind, *words, "--force", column=column))
        file = consumer.folder / "from_file.csv"
        source = consumer.folder / "seeds" / "customers.csv"
        where = ["--from", str(source), "--column", column, "-o", str(file), "--force"]
        assert run("hierarchy", kind, *words, *where).exit_code == 0
        of_file = read_hierarchy(file)
        if kind == "groups":  # in the order of the file, or of the values
            assert sorted(built.values) == sorted(of_file.values)  # type: ignore[union-attr]
        else:
            assert built == of_file


def test_new_values_of_a_relation_are_added(consumer: Project) -> None:
    file = consumer.folder / "seeds" / "customers_hierarchy_zip.csv"
    full = file.read_text().splitlines(keepends=True)
    file.write_text("".join(full[:3]))
    place = [*PLACE, "--column", "zip", "--project-dir", str(consumer.folder)]
    assert "have a value that it does not hold" in run("hierarchy", "preview", file, *place).stdout
    done = run("hierarchy", "extend", file, *place)
    assert done.exit_code == 0, done.output
    assert "added." in done.stdout
    assert file.read_text().startswith("".join(full[:3]))
    assert {row[0] for row in (line.split(",") for line in file.read_text().splitlines()[1:])} >= (
        set(values(consumer, "zip"))
    )
    assert "nothing to add." in run("hierarchy", "extend", file, *place).stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("priority", "--ref", "customers"), "values must come from one place"),
        (("priority", "--ref", "custommers", "--column", "zip"), "Did you mean customers?"),
        (("priority", "--source", "crm", "--column", "zip"), "must be source_name.table_name"),
        (("priority", "--source", "a.b", "--column", "zip"), "a.b: must be a source"),
        (("priority", *PLACE, "--column", "zipp"), "must have the column zipp. Did you mean zip?"),
        (("dates", *PLACE, "--column", "zip"), "zip: must be a column of dates"),
        (("dates", "--column", "zip"), "dates needs either"),
        (("intervals", *PLACE, "--column", "zip", "--widths", "5"), "a column of finite numbers"),
        (("intervals", *PLACE, "--column", "order", "--widths", "0"), "must be numbers > 0"),
        (("quantiles", "--leaves", "2", "--decimals", "0"), "needs --lower and --upper"),
        (
            ("groups", *PLACE, "--from", "x.csv", "--column", "zip", "--sizes", "2"),
            "groups needs either",
        ),
    ],
)
def test_wrong_input_is_explained(consumer: Project, words: tuple[str, ...], says: str) -> None:
    file = consumer.folder / "built.csv"
    done = run("hierarchy", *words, "--project-dir", consumer.folder, "-o", file)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not file.exists()


def test_files_that_are_no_hierarchy_are_explained(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    for command in ("preview", "extend"):
        for file in (wrong, tmp_path / "missing.csv"):
            done = run("hierarchy", command, file, "--from", wrong, "--column", "a")
            assert done.exit_code == 2
            assert str(file) in done.stderr
