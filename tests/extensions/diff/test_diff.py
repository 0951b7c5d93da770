"""Privacy and quality before and after: what `dbt-anonymize diff` prints, and how it exits."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import Result

from tests.cli.imported import imported
from tests.projects import Project
from tests.second_month.customers import SPEC, run

# Some seconds each: dbt reads the project for every command.
pytestmark = pytest.mark.sampled_tests(1)


@pytest.fixture
def changed(consumer: Project) -> Project:
    """Give a project with an earlier release, of half an hour ago: weaker, and without one record.

    So one record joined since, and the class that it joined had one fewer.
    """
    columns = "release, released_at, spec, source, k, qf, joined_records"
    earlier = (
        "1, released_at - interval 30 minute, spec, 'earlier', k + 2, qf - 0.1, joined_records"
    )
    consumer.execute(
        "update customers_register set release = 2;"
        f"insert into customers_register select * replace ({_replaced(columns, earlier)}) "
        "from customers_register;"
        "update vault.customers_releases set released_at = released_at - interval 30 minute;"
        "insert into vault.customers_releases select 2, max(released_at) + interval 30 minute, "
        "max(record_key), null from vault.customers_releases"
    )
    return consumer


def _replaced(columns: str, values: str) -> str:
    pairs = zip(columns.split(", "), values.split(", "), strict=True)
    return ", ".join(f"{value} as {column}" for column, value in pairs)


def words(result: Result) -> str:
    """Return the words of an output, which must be no traceback."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return " ".join(result.output.split())


@pytest.mark.needs("quick_reading")
def test_diff_imports_neither_dbt_nor_numpy(changed: Project) -> None:
    """Its SQL is that of a macro, and dbt ran last where the project lies."""
    assert changed.dbt("compile", "--select", "customers_results").succeeded
    assert imported(changed.folder, "diff customers") == "[]"


def test_a_release_is_compared_with_the_one_before(changed: Project, tmp_path: Path) -> None:
    ((k, qf),) = changed.query("select k, qf from customers_register where release = 2")
    said = run(changed, "diff", "customers")
    assert said.exit_code == 0, said.output
    text = words(said)
    assert f"k {k + 2} {k}" in text
    assert "the spec did not change the hierarchies did not change the data changed" in text
    assert "0 records joined, 1 left and 0 moved to another class" in text
    assert "1 class of both releases together has fewer than 4 records, 1 in all" in text
    assert max(map(len, said.output.splitlines())) <= 80
    assert "earlier" not in text

    # A tolerance needs no new build, and judges what it names.
    changed.edit(SPEC, lambda text: text + "tolerance: {k: 1, qf: 0}\n")
    broken = run(changed, "diff", "customers", "--format", "md")
    assert broken.exit_code == 1
    assert f"| k | {k + 2} | {k} | 1, broken |" in broken.stdout
    assert "| qf |" in broken.stdout
    assert "| 0, holds |" in broken.stdout
    assert f"k went from {k + 2} to {k}, which is worse by more than 1" in broken.stderr
    assert not [word for (word,) in _keys(changed) if word in text.split()]

    printed = run(changed, "diff", "customers", "--format", "json")
    rows = {row["figure"]: row for row in map(json.loads, printed.stdout.splitlines())}
    assert rows["k"] == {
        "anonymization": "customers",
        "against": 1,
        "figure": "k",
        "before": k + 2,
        "after": k,
        "tolerance": 1.0,
        "is_broken": True,
    }
    assert (rows["qf"]["after"], rows["qf"]["is_broken"]) == (qf, False)
    assert rows["left_records"]["after"] == rows["records_below_k"]["after"] == 1


def _keys(project: Project) -> list[tuple[str]]:
    return [(key,) for (key,) in project.query("select record_key from vault.customers_releases")]


def test_ci_compares_with_what_the_main_branch_wrote(changed: Project, tmp_path: Path) -> None:
    main = tmp_path / "main.json"
    main.write_text(run(changed, "results", "--history", "--format", "json").stdout)
    assert len(main.read_text().splitlines()) == 2
    # Elsewhere: no register, no memory of its vault.
    changed.execute(
        "delete from customers_register where release = 1;"
        "update customers_register set release = 1; drop table vault.customers_releases"
    )
    alone = run(changed, "diff", "customers")
    assert alone.exit_code == 2
    assert "an earlier release must be in the register" in words(alone)
    same = run(changed, "diff", "customers", "--against", str(main), "--format", "csv")
    assert same.exit_code == 0, same.output
    rows = list(csv.DictReader(io.StringIO(same.stdout)))
    measured = [row for row in rows if row["figure"] in {"k", "qf", "suppressed_share", "levels"}]
    assert len(measured) == 4
    assert all(row["before"] == row["after"] != "" for row in measured)
    # What was built is of another spec: nothing could be said of the change.
    changed.edit(SPEC, lambda text: text.replace("k: 4", "k: 5"))
    stale = run(changed, "diff", "customers", "--against", str(main))
    assert stale.exit_code == 2
    assert "the results must be of the spec as it is" in words(stale)


def test_misuse_exits_with_2(changed: Project, tmp_path: Path) -> None:
    for arguments, message in {
        ("customers", "--against", "7"): "release 7 must be in the register",
        ("customers", "--against", str(tmp_path)): "or a file that can be read",
        ("strangers",): "strangers",
    }.items():
        result = run(changed, "diff", *arguments)
        assert result.exit_code == 2, result.output
        assert message in words(result)
    # Nothing is chosen, so nothing would be released: what is tolerated does not hold.
    changed.edit(SPEC, lambda text: text + "tolerance: {k: 9}\n")
    changed.execute("update customers_results set is_chosen = false")
    nothing = run(changed, "diff", "customers")
    assert nothing.exit_code == 1
    assert "against release 2" in words(nothing)
    assert "nothing may be released: no effort is chosen" in words(nothing)
    assert "k is not known after" in words(nothing)
