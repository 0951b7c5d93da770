"""Declared tables in a stranger's project: counted, protected, released, checked, and kept."""

from __future__ import annotations

import csv
import itertools
import json
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.run import verify
from tests.cli.conftest import run
from tests.extensions.tables.projects import (
    HIDE,
    LEVELS,
    NAME,
    SEED,
    SHOWS,
    build,
    declare,
    released,
)
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.dbt

LEAST = 5
# Of a sum that one person may have.
SHARE = 0.5
LOCKED = (
    "the table was released otherwise, and both would tell more together; try it on a target that "
    "does not publish, or, where nobody has the released one, under another name"
)
Cells = dict[tuple[str | None, ...], list[dict[str, str]]]


def counted(project: Project) -> Cells:
    """Count the customers by hand, from the files of the seeds."""
    customers = rows_of(project, SEED)
    dates = rows_of(project, "seeds/customers_hierarchy_birth_date.csv")
    zips = {
        row["value"]: row["level_1"]
        for row in rows_of(project, "seeds/customers_hierarchy_zip.csv")
    }

    def decade(date: str) -> str:
        return next(
            (d["level_2"] for d in dates if date and d["lower_bound"] <= date < d["upper_bound"]),
            "*",
        )

    cells: Cells = defaultdict(list)
    for one in customers:
        own = (decade(one["birth_date"]), zips.get(one["zip"], "*"), one["churned"] or "*")
        for kept in itertools.product((True, False), repeat=3):
            cells[tuple(s if k else None for s, k in zip(own, kept, strict=True))].append(one)
    return cells


def rows_of(project: Project, file: str) -> list[dict[str, str]]:
    with (project.folder / file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def is_shown(cell: tuple[str | None, ...]) -> bool:
    named = [n for n, label in zip(("birth_date", "zip", "churned"), cell, strict=True) if label]
    return named in SHOWS


def findings(project: Project) -> dict[str, Any]:
    """Return what is found of the table; the customers are released as records, too."""
    spec = load_spec(project.folder / "anonymizations" / f"{NAME}.yml")
    *found, beside = verify(find_project(project.folder), spec)
    assert (beside.status, beside.subject) == ("warning", "other releases")
    assert "(customers)" in beside.message
    return {finding.check: finding for finding in found}


def test_every_cell_is_counted_at_the_levels_of_each_effort(built: Project) -> None:
    columns = "birth_date, zip, churned, people, keys"
    rows = built.query(f"select {columns} from {NAME}_table_cells where effort = 1")
    drawn = built.query(f"select person, draw from vault.{NAME}_table_draws")
    keys = {str(person): int(draw * 2**32) for person, draw in drawn}
    expected = {
        cell: (len(people), sum(keys[one["customer_id"]] for one in people))
        for cell, people in counted(built).items()
    }
    assert {row[:3]: row[3:] for row in rows} == expected


def test_the_release_shows_declared_margins_and_no_small_cell(built: Project) -> None:
    rows = released(built)
    truth = {cell: len(people) for cell, people in counted(built).items() if is_shown(cell)}
    assert rows.keys() == truth.keys()
    assert any(count < LEAST for count in truth.values()), "else the test shows nothing"
    for cell, (count, status) in rows.items():
        assert (count, status) in {(None, "hidden"), (truth[cell], "published")}
        assert status == "hidden" or truth[cell] >= LEAST
    assert built.query(f"select count(*) from {NAME}_table_results where is_chosen") == [(1,)]


def test_verify_counts_again_and_sees_what_was_changed(built: Project, tmp_path: Path) -> None:
    found = findings(built)
    assert {check: one.holds for check, one in found.items()} == {
        "recomputation": True,
        "guarantees": True,
    }
    project = built.copy(tmp_path / "changed")
    with duckdb.connect(str(project.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set people = people + 1 where birth_date is null and zip is null"
        )
    assert not findings(project)["recomputation"].holds
    small = min((len(p), c) for c, p in counted(built).items() if is_shown(c))[1]
    with duckdb.connect(str(project.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set people = ?, status = 'published' where birth_date is not "
            "distinct from ? and zip is not distinct from ? and churned is not distinct from ?",
            [len(counted(built)[small]), *small],
        )
    assert not findings(project)["guarantees"].holds


def test_results_say_why_an_effort_is_chosen(built: Project) -> None:
    shown = run("results", NAME, "--project-dir", built.folder)
    assert shown.exit_code == 0, shown.output
    assert "effort 1, hide (birth_date 2, zip 1), is chosen" in " ".join(shown.output.split())
    rows = run("results", NAME, "--format", "json", "--project-dir", built.folder).stdout
    told = [json.loads(line) for line in rows.splitlines()] if rows[0] == "{" else json.loads(rows)
    assert [one["is_chosen"] for one in told] == [True]


def test_the_same_records_give_the_same_table_and_others_leave_it(
    built: Project, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "later")
    before = released(project)
    assert "stays as it is" not in build(project)
    assert released(project) == before
    project.edit(SEED, lambda text: text + text.splitlines()[1].replace("8411", "99999", 1) + "\n")
    assert "the table that was released before stays as it is" in build(project)
    assert released(project) == before
    assert (
        "cells of an earlier release must be of the same people, with the same sums"
        in project.query(f"select reason from {NAME}_table_results")[0][0]
    )
    found = findings(project)
    assert all(one.holds for one in found.values()), found
    assert "which stays" in found["recomputation"].message
    # What was hidden may not be shown, though it is what was counted.
    truth = counted(built)
    large = max((c for c, row in before.items() if row[0] is None), key=lambda c: len(truth[c]))
    assert len(truth[large]) >= LEAST
    with duckdb.connect(str(project.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set people = ?, status = 'published' where birth_date is not "
            "distinct from ? and zip is not distinct from ? and churned is not distinct from ?",
            [len(truth[large]), *large],
        )
    assert not findings(project)["recomputation"].holds


def test_draws_that_are_lost_are_told(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "lost")
    project.execute(f"drop table vault.{NAME}_table_draws")
    messages = build(project)
    assert "New draws make new noise about the same people" in messages
    assert "stays as it is" in messages
    assert released(project) == released(built)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"efforts": [{"method": "round", "base": 9, "levels": LEVELS}], "shows": SHOWS}, LOCKED),
        ({"efforts": [HIDE | {"levels": {"birth_date": 3, "zip": 1}}], "shows": SHOWS}, LOCKED),
        ({"dimensions": ["zip", "churned"], "efforts": [HIDE | {"levels": {"zip": 1}}]}, LOCKED),
        (
            {
                "dimensions": ["birth_date", "zip", "gender", "churned"],
                "efforts": [HIDE | {"levels": {"birth_date": 1}}],
            },
            "suppression of more than 250 cells must have at most 3 dimensions",
        ),
    ],
    ids=["rounded", "coarser", "of other dimensions", "of too many cells"],
)
def test_a_released_table_is_released_by_no_other(
    built: Project, tmp_path: Path, other: dict[str, Any], reason: str
) -> None:
    project = built.copy(tmp_path / "other")
    declare(project, **other)
    before = project.release_file(NAME).read_bytes()
    generate(project.folder, [NAME])
    outcome = project.dbt("build", "--select", f"+path:models/{NAME}")
    assert reason in outcome.messages
    assert (reason == LOCKED) == ("released otherwise" in outcome.messages)
    if "dimensions" not in other:
        assert outcome.succeeded
        assert "stays as it is" in outcome.messages
    with duckdb.connect(str(project.release_file(NAME)), read_only=True) as reader:
        rows = reader.execute(f"select * from {NAME}_table").fetchall()
    assert {row[:3]: row[3:] for row in rows} == released(built)
    assert before


def test_ways_of_protection_can_be_tried_out_on_a_target_that_does_not_publish(
    built: Project, tmp_path: Path
) -> None:
    def publish_on(project: Project, target: str) -> None:
        published = f"\nvars: {{dbt_anonymize_published_targets: [{target}]}}\n"
        project.edit("dbt_project.yml", lambda text: text + published)

    def releases(project: Project) -> list[Any]:
        known = f"table_name in ('{NAME}_table_register', '{NAME}_table_releases')"
        return project.query(f"select table_name from information_schema.tables where {known}")

    fresh = copy_consumer(tmp_path / "fresh")
    publish_on(fresh, "prod")
    for other in (HIDE, {"method": "round", "base": 9, "levels": LEVELS}):
        declare(fresh, efforts=[other], shows=SHOWS)
        build(fresh)
        assert fresh.query(f"select is_chosen from {NAME}_table_results") == [(True,)]
        assert not releases(fresh)
    # Others have what a target released before, whatever it is called.
    before = built.copy(tmp_path / "before")
    publish_on(before, "prod")
    build(before)
    assert before.query(f"select count(*) from {NAME}_table_register") == [(2,)]


def test_sums_are_hidden_together_with_counts(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    # One customer has most of what hers spend.
    project.edit(SEED, lambda text: text.replace(",135.66,", ",9135.66,", 1))
    declare(
        project,
        dimensions=["zip", "churned"],
        sums=["spending"],
        dominance={"n": 1, "share": SHARE},
        questions=[{"rank": "churned", "of": "spending"}],
        efforts=[{"method": "hide", "levels": {"zip": 2}}],
    )
    build(project)
    with duckdb.connect(str(project.release_file(NAME)), read_only=True) as reader:
        rows = reader.execute(f"select zip, churned, people, spending from {NAME}_table").fetchall()
    zips = {r["value"]: r["level_2"] for r in rows_of(project, "seeds/customers_hierarchy_zip.csv")}
    spent = defaultdict[Any, list[float]](list)
    for one in rows_of(project, SEED):
        label = zips.get(one["zip"], "*"), one["churned"] or "*"
        amount = float(one["spending"] or 0)
        for cell in itertools.product((label[0], None), (label[1], None)):
            spent[cell].append(amount)
    assert len(rows) == len(spent)
    for *cell, people, total in rows:
        amounts = spent[tuple(cell)]
        assert (people is None) == (total is None)
        if total is not None:
            assert people == len(amounts) >= LEAST
            assert total == pytest.approx(sum(amounts))
            assert max(amounts) <= SHARE * sum(amounts)
    assert all(one.holds for one in findings(project).values())
    _check_that_a_sum_is_seen(project.copy(tmp_path / "changed"), spent)
    refunded = project.copy(tmp_path / "refunded")
    refunded.edit(SEED, lambda text: text.replace(",36.33,", ",-0.5,", 1))
    refused = refunded.dbt("build", "--select", f"+path:models/{NAME}")
    assert (
        "sums must be of amounts of at least 0; of somebody spending is below" in refused.messages
    )
    # The money of one person, and nothing else.
    project.edit(SEED, lambda text: text.replace(",36.33,", ",37.33,", 1))
    assert "with the same sums" in build(project)
    with duckdb.connect(str(project.release_file(NAME)), read_only=True) as reader:
        later = reader.execute(
            f"select zip, churned, people, spending from {NAME}_table"
        ).fetchall()
    assert sorted(later, key=str) == sorted(rows, key=str)


def _check_that_a_sum_is_seen(project: Project, spent: dict[Any, list[float]]) -> None:
    """Show a sum of which one person has nearly all; the true figures are not enough to hold."""
    rich = max(
        (cell for cell in spent if len(spent[cell]) >= LEAST),
        key=lambda cell: max(spent[cell]) / sum(spent[cell]),
    )
    assert max(spent[rich]) > SHARE * sum(spent[rich])
    with duckdb.connect(str(project.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set people = ?, spending = ?, status = 'published' where zip is "
            "not distinct from ? and churned is not distinct from ?",
            [len(spent[rich]), sum(spent[rich]), *rich],
        )
    assert not findings(project)["guarantees"].holds


def test_memory_that_is_lost_is_told_and_keys_in_another_order_are_the_same(
    built: Project, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "lost_memory")
    turned = dict(reversed(LEVELS.items()))
    declare(project, efforts=[{"levels": turned, "method": "hide"}], shows=SHOWS)
    assert "stays as it is" not in build(project)
    declare(project, efforts=[HIDE], shows=SHOWS, minimum_frequency=100)
    assert "stays as it is" in build(project)
    project.execute(f"drop table vault.{NAME}_table_releases")
    declare(project, efforts=[HIDE], shows=SHOWS)
    assert "is not there, though" in build(project)


def test_a_table_of_subjects_is_shown_with_noise(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    project.edit(SEED, _with_second_records)
    declare(
        project,
        more={"subject": "e-mail"},
        dimensions=["zip", "churned"],
        efforts=[
            HIDE | {"levels": {"zip": 1}},
            {"method": "noise", "variance": 8.0, "largest": 12, "levels": {"zip": 1}},
        ],
    )
    build(project)
    reasons = dict(project.query(f"select effort, reason from {NAME}_table_results"))
    assert "must add up" in reasons[1]
    assert reasons[2].startswith("chosen")
    ((people,),) = project.query(
        f"select people from {NAME}_table_cells where effort = 2 and cell = '-|-'"
    )
    assert people == len({row["e-mail"] for row in rows_of(project, SEED)})
    assert findings(project)["recomputation"].holds


def test_records_of_subjects_are_hidden_by_people(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    project.edit(SEED, partial(_with_second_records, more=3))
    declare(
        project,
        more={"subject": "e-mail", "details": ["table_audit"]},
        counts="records",
        sums=["spending"],
        efforts=[HIDE | {"levels": LEVELS}],
    )
    build(project)
    people = {cell: [one["e-mail"] for one in own] for cell, own in counted(project).items()}
    shown = released(project)
    assert {*shown} == {*people}
    for cell, (records, _, status) in shown.items():
        assert status == ("hidden" if records is None else "published")
        assert records in {None, len(people[cell])}
        assert records is None or len({*people[cell]}) >= LEAST
    # A cell of few people with enough records is hidden, too.
    few = [own for own in people.values() if len({*own}) < LEAST]
    assert any(len(own) >= LEAST for own in few)
    ((small,),) = project.query(
        f"select count(*) from {NAME}_table_audit where measure = 'records'"
    )
    assert small >= len(few)
    assert all(one.holds for one in findings(project).values())
    _check_that_few_people_are_seen(project, people)


def _check_that_few_people_are_seen(project: Project, people: dict[Any, list[str]]) -> None:
    """Show the records of few people; the true figure is not enough to hold."""
    cell, own = max(
        (found for found in people.items() if len({*found[1]}) < LEAST),
        key=lambda found: len(found[1]),
    )
    with duckdb.connect(str(project.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set records = ?, spending = 0, status = 'published' "
            "where birth_date is not distinct from ? and zip is not distinct from ? and churned is "
            "not distinct from ?",
            [len(own), *cell],
        )
    assert not findings(project)["guarantees"].holds


def _with_second_records(text: str, more: int = 1) -> str:
    """Give every second customer other records, each of another answer."""
    heading, *lines = text.splitlines()
    others = []
    for number, line in enumerate(lines):
        if number % 2 == 0:
            cells = line.split(",")
            cells[-1] = {"yes": "no", "no": "yes"}.get(cells[-1], cells[-1])
            others += [",".join([f"{500_000 + number}{n}", *cells[1:]]) for n in range(more)]
    return "\n".join([heading, *lines, *others]) + "\n"
