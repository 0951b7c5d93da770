"""In partitions every relation is what it is without, whoever joins, leaves or changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dbt_anonymize.project.generate import generate
from tests.projects import Outcome, Project
from tests.second_month.customers import SPEC, run
from tests.second_month.forgetting import places_of, without
from tests.worlds.monthly import (
    MONTHS,
    PARTED,
    RELATIONS,
    WHOLE,
    Visits,
    contents,
    declare,
    digests,
    write,
)

pytestmark = [pytest.mark.sampled_tests(group="builds"), pytest.mark.dbt]

NAMED = "dbt_anonymize_partitions"


def begun(folder: Path, seed: int = 1) -> Visits:
    """Write the project with some records of each month, and build it."""
    visits = Visits(write(folder), seed)
    for month in MONTHS:
        visits.join(month, 5)
    visits.rows[1] = (*visits.rows[1][:4], "flu", visits.rows[1][5])
    visits.rows[2] = (*visits.rows[2][:4], "none", visits.rows[2][5])
    assert_built(visits.build(), len(MONTHS), len(MONTHS))
    assert_same(visits.project)
    return visits


def assert_built(outcome: Outcome, built: int, of: int) -> None:
    assert f"parted: {built} of {of} partitions {'is' if built == 1 else 'are'} built" in (
        outcome.messages
    )


def assert_same(project: Project) -> None:
    for relation in RELATIONS:
        assert contents(project, PARTED, relation) == contents(project, WHOLE, relation)


@pytest.mark.parametrize("seed", range(5))
def test_random_months(tmp_path: Path, seed: int) -> None:
    visits = begun(tmp_path / "project", seed)
    for _ in range(4):
        before = dict(visits.rows)
        visits.live()
        touched = {row[5] for _, row in before.items() ^ visits.rows.items()}
        there = {row[5] for row in visits.rows.values()}
        outcome = visits.build()
        assert_same(visits.project)
        (line,) = [
            line
            for line in outcome.messages.splitlines()
            if "partitions" in line and " built" in line
        ]
        assert int(line.split("parted: ")[1].split()[0]) <= len(touched & there)


def test_what_is_the_same_for_all_partitions_builds_all(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    project, six = visits.project, len(MONTHS)
    assert_built(visits.build(), 0, six)
    first = digests(project)
    # The hierarchy, the spec, the types of the source, the command.
    project.edit("seeds/ages.csv", lambda text: text.replace("0,10,0s,*", "0,5,0s,*\n5,10,5s,*"))
    assert_built(visits.build(), six, six)
    assert_same(project)
    assert not {*digests(project).values()} & {*first.values()}
    columns = {"weight": {"role": "insensitive", "mask": {"round": 5}}}
    declare(project, columns=columns)
    assert_built(visits.build(), six, six)
    assert_same(project)
    project.edit(
        "models/visits.sql",
        lambda _: "select * replace (cast(age as bigint) as age) from raw_visits\n",
    )
    assert_built(visits.build(), six, six)
    assert_same(project)
    assert_built(visits.build("--full-refresh"), six, six)
    assert_same(project)
    # What is released is that of the whole table.
    built = project.build()
    assert_built(built, 0, six)
    ours, theirs = project.release(PARTED), project.release(WHOLE)
    assert list(map(str, ours)) == list(map(str, theirs))
    assert ours


def test_what_the_vault_drew_stays_and_counts(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    project = visits.project
    columns = {"phone": {"role": "masked", "mask": {"keyed_hash": True}}}
    declare(project, columns=columns, sample={"share": 0.5})
    wanted = ["--select", "+parted_frequencies", "+whole_frequencies"]
    project.build(*wanted)
    assert contents(project, PARTED, "microdata") != contents(project, WHOLE, "microdata")
    # Both draw for themselves: here the one gets what the other has.
    for drawn in ("mask_keys", "sample"):
        project.execute(f"create or replace table vault.parted_{drawn} as from vault.whole_{drawn}")
        assert_built(project.build(*wanted), len(MONTHS), len(MONTHS))
    assert_same(project)
    keys = project.query("from vault.parted_mask_keys")
    visits.join("2026-11", 3)
    visits.write()
    people = [row[0] for row in visits.rows.values() if row[5] == "2026-11"]
    project.execute(
        f"insert into vault.whole_sample select i, 0.3, 'visit' from unnest({people}) as t(i)"
    )
    project.execute(
        f"insert into vault.parted_sample select i, 0.3, 'visit' from unnest({people}) as t(i)"
    )
    assert_built(project.build(*wanted), 1, len(MONTHS) + 1)
    assert_same(project)
    assert project.query("from vault.parted_mask_keys") == keys


@pytest.mark.needs("custody", "second_month")
def test_a_person_is_erased_from_her_partition(built_consumer: Project, tmp_path: Path) -> None:
    project = built_consumer.copy(tmp_path / "project")
    project.edit(
        SPEC, lambda text: text.replace("target: churned", "partition_by: zip\ntarget: churned")
    )
    generate(project.folder)
    project.build()
    frozen = run(project, "freeze", "customers")
    assert frozen.exit_code == 0, frozen.output
    assert "customers: 0 of 10 partitions are built" in project.build().messages
    ((key,),) = project.query("select record_key from vault.customers_releases limit 1")
    without(project, key)
    erased = run(project, "erase", "customers", "--subject", key, "--yes")
    assert erased.exit_code == 0, erased.output
    assert "customers_microdata_parts: 1 row" in erased.output
    assert (
        "No model makes these" not in erased.output
        or "_parts" not in erased.output.split("No model makes these")[1]
    )
    assert not places_of(project, key)
    for command in ("verify", "diff"):
        outcome = run(project, command, "customers")
        assert "recomputation  17 hold" in outcome.output or command == "diff", outcome.output
    assert outcome.exit_code == 0


def test_a_partition_can_be_named_and_must_be_there(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    named = json.dumps({NAMED: ["2026-02", None]})
    assert_built(visits.build("--vars", named), 2, len(MONTHS))
    assert_same(visits.project)
    for wrong, says in (
        (["2027-01"], "it has no 2027-01"),
        ("2026-02", "must be a list of values"),
    ):
        stopped = visits.project.dbt(
            "build", "--select", "+parted_microdata", "--vars", json.dumps({NAMED: wrong})
        )
        assert not stopped.succeeded
        assert says in stopped.messages
    # Nobody has looked at the source.
    stopped = visits.project.dbt("build", "--select", "parted_microdata_parts")
    assert not stopped.succeeded
    assert "must be looked at in the same run" in stopped.messages


def test_rows_that_somebody_took_away_come_back(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    for relation, condition in (
        ("microdata", "visit = 1"),
        (
            "frequencies",
            "partition_digest = (select min(partition_digest) from parted_frequencies_parts)",
        ),
    ):
        visits.project.execute(f"delete from parted_{relation}_parts where {condition}")
        visits.build()
        assert_same(visits.project)


def test_a_column_of_another_type_is_no_partition(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    visits.project.edit(
        "models/visits.sql",
        lambda _: "select * replace (cast(visit as double) as month) from raw_visits\n",
    )
    stopped = visits.project.dbt("build", "--select", "+parted_microdata")
    assert not stopped.succeeded
    assert "partition_by must name a column of texts, whole numbers or dates" in stopped.messages


def test_partitioned_parquet_is_a_source(tmp_path: Path) -> None:
    visits = begun(tmp_path / "project")
    lake = tmp_path / "lake"
    visits.project.edit(
        "models/visits.sql",
        lambda _: (
            "select visit, phone, age, weight, illness, month "
            f"from read_parquet('{lake}/*/*.parquet', hive_partitioning = true)\n"
        ),
    )

    def build(built: int, of: int) -> None:
        visits.write()
        with visits.project.connection() as connection:
            connection.execute(
                f"copy (select * from raw_visits where month like '2026-0%') to '{lake}' "
                "(format parquet, partition_by (month), overwrite)"
            )
        assert_built(
            visits.project.build("--select", "+parted_frequencies", "+whole_frequencies"), built, of
        )
        assert_same(visits.project)

    visits.rows = {k: r for k, r in visits.rows.items() if r[5] in {"2026-01", "2026-02"}}
    build(0, 2)  # the same records as in the table before
    visits.join("2026-03", 4)
    build(1, 3)


@pytest.mark.parametrize("relation", ["microdata", "frequencies"])
def test_a_build_that_fails_between_parts_changes_none_of_them(
    tmp_path: Path, relation: str
) -> None:
    """It fails when old parts are deleted and new ones inserted, and before that is committed."""
    visits = begun(tmp_path / "project")
    parts = f"{relation}_parts"
    before = contents(visits.project, PARTED, parts)
    settings = (visits.project.folder / "dbt_project.yml").read_text(encoding="utf-8")
    hook = {"+post-hook": "select error('stopped here')"}
    failing = {"models": {"shop": {"parted": {f"parted_{parts}": hook}}}}
    visits.project.edit("dbt_project.yml", lambda text: text + json.dumps(failing)[1:-1] + "\n")
    visits.live()
    visits.write()
    stopped = visits.project.dbt("build", "--select", "+parted_frequencies")
    assert "stopped here" in stopped.messages
    assert contents(visits.project, PARTED, parts) == before
    visits.project.edit("dbt_project.yml", lambda _: settings)
    visits.build()
    assert_same(visits.project)
    assert contents(visits.project, PARTED, parts) != before
