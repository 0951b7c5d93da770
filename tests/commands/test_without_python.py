"""Without Python in dbt commands close the vault and publish, and what comes between is safe."""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.stages import Dbt
from tests.commands.conftest import closed, command, without_python
from tests.projects import Project

pytestmark = [pytest.mark.sampled_tests(group="commands"), pytest.mark.dbt]
RELEASE = ("customers_anonymized", "customers_identifiers")


@contextlib.contextmanager
def python_uses() -> Iterator[list[str]]:
    """List what dbt hands to Python: the node, and what its code imports of ours."""
    from dbt.adapters.duckdb.impl import DuckDBAdapter

    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        submit = DuckDBAdapter.submit_python_job

        def listed(self: Any, model: dict[str, Any], code: str) -> Any:
            ours = [line for line in code.split("\n") if line.startswith("from dbt_anonymize")]
            found.append(f"{model.get('name')}: {' '.join(ours)}")
            return submit(self, model, code)

        patch.setattr(DuckDBAdapter, "submit_python_job", listed)
        yield found


def python_models(project: Project) -> set[str]:
    """Return the models that are Python, from what dbt has read."""
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text("utf-8"))
    return {n["name"] for n in manifest["nodes"].values() if n.get("language") == "python"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def here(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    """Let `dbt-anonymize build` call dbt in this process, where it can be watched."""
    located = Dbt(find_project(project.folder), None, (), None)
    monkeypatch.setattr(Dbt, "locate", classmethod(lambda *_, **__: located))


def test_with_python_the_list_is_not_empty(built_members: Project, tmp_path: Path) -> None:
    """Else the test below could not fail."""
    project = built_members.copy(tmp_path / "project")
    project.execute("delete from vault.main.members_tokens where person < 'm'")
    with python_uses() as found:
        project.build("-s", "members_tokens", "members_identifiers", "members_anonymized")
    functions = {line.split(" import ")[1] for line in found}
    assert functions == {"leave_changes", "close_vault", "append_tokens", "publish"}
    assert python_models(project) == {"members_evaluation"}


@pytest.mark.slow
def test_without_it_a_build_from_nothing_runs_no_python(
    built_members: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = without_python(built_members, tmp_path / "project")
    for file in project.folder.glob("*/*.duckdb"):
        file.unlink()
    project.release_file("members").unlink()
    (project.folder / "vault").chmod(0o755)
    here(monkeypatch, project)
    with python_uses() as found:
        result = command(project, "build", "members")
    assert result.exit_code == 0, result.output
    assert found == []
    assert python_models(project) == set()
    vault = project.folder / "vault"
    assert (mode(vault), mode(vault / "vault.duckdb")) == (0o700, 0o600)
    assert [path.name for path in vault.glob("*.key*")] == []
    rows = "select {} from release_members.members_anonymized order by all"
    columns = 'birth_date, zip, gender, "order", "größe", spending, churned'
    assert project.query(rows.format(columns)) == built_members.query(rows.format(columns))
    pairs = (
        "select count(distinct t.token), min(length(t.token)), count(r.token) "
        "from vault.main.members_tokens as t left join release_members.members_anonymized as r "
        "using (token)"
    )
    ((tokens, digits, released),) = project.query(pairs)
    assert (tokens, digits) == (400, 32)
    assert project.query(rows.format("count(*)")) == [(released,)]
    others = built_members.query("select token from vault.main.members_tokens")
    assert not {*others} & {*project.query("select token from vault.main.members_tokens")}


def test_dbt_alone_stops_before_anything_is_written_into_the_vault(commanded: Project) -> None:
    before = (commanded.folder / "vault" / "vault.duckdb").read_bytes()
    outcome = commanded.dbt("build", "-s", *RELEASE)
    assert not outcome.succeeded
    assert "the vault must be closed to others before anything is written" in outcome.messages
    assert "vault.duckdb.key of 32 bytes. Run `dbt-anonymize build`" in outcome.messages
    assert (commanded.folder / "vault" / "vault.duckdb").read_bytes() == before
    assert commanded.dbt("run", "-s", "customers_frequencies").succeeded


def test_a_key_that_is_too_short_closes_nothing(commanded: Project) -> None:
    (commanded.folder / "vault" / "vault.duckdb.key").write_bytes(b"x" * 31)
    outcome = commanded.dbt("build", "-s", "customers_identifiers")
    assert not outcome.succeeded
    assert "there is no" in outcome.messages
    assert "vault.duckdb.key of 32 bytes" in outcome.messages


@pytest.mark.parametrize("name", ["vault*", "vault?", "vault[ab]", "va\nult*"])
def test_a_key_is_not_looked_for_by_a_pattern(commanded: Project, name: str) -> None:
    """The key of another vault beside it would fit."""
    (commanded.folder / "vault").rename(commanded.folder / name)
    (commanded.folder / "vault 2").mkdir(mode=0o700)
    (commanded.folder / "vault 2" / "vault.duckdb.key").write_bytes(b"x" * 32)
    path = json.dumps(f"{name}/vault.duckdb")
    commanded.edit("profiles.yml", lambda text: text.replace("vault/vault.duckdb", path))
    outcome = commanded.dbt("build", "-s", "customers_identifiers")
    assert not outcome.succeeded
    assert "the path of the vault must not have *, ? or [" in outcome.messages


@pytest.fixture
def checked(commanded: Project) -> Project:
    """Give a project whose release dbt has built and checked, and nobody published yet."""
    commanded.release_file("customers").unlink()
    with closed(commanded):
        outcome = commanded.dbt("run", "-s", *RELEASE)
    assert outcome.succeeded, outcome.messages
    published = "customers: built and checked, not published. Next: `dbt-anonymize publish custo"
    assert published in outcome.messages
    assert [*(commanded.folder / "release").rglob("*.duckdb")] == []
    return commanded


def test_the_command_publishes_what_dbt_has_checked(
    built_consumer: Project, checked: Project
) -> None:
    result = command(checked, "publish", "customers")
    assert result.exit_code == 0, result.output
    assert "customers: published as release/dev/customers.duckdb." in result.output
    assert checked.release("customers") == built_consumer.release("customers")
    assert mode(checked.release_file("customers")) == 0o644


@pytest.mark.parametrize(
    "change",
    [
        "delete from shop.main_release.customers_anonymized where rowid = 0",
        "update shop.main_release.customers_anonymized set spending = spending + 1 where rowid = 3",
        "alter table shop.main_release.customers_anonymized add column name varchar",
        "drop table shop.main_release.customers_publication",
        # As if it were of a release that had this name before.
        "update shop.main_release.customers_publication "
        "set steps = replace(replace(steps, 'main_release', 'main'), '_anonymized', '_effort_1')",
    ],
)
def test_rows_that_no_build_checked_are_not_published(checked: Project, change: str) -> None:
    checked.execute(change)
    result = command(checked, "publish", "customers")
    assert result.exit_code == 1, result.output
    assert "Run `dbt-anonymize build customers`." in result.output
    assert [*(checked.folder / "release").rglob("*.duckdb")] == []


def test_a_trial_leaves_nothing_to_publish(checked: Project) -> None:
    """It makes an empty table where there is none, and checks nothing."""
    checked.execute("drop table shop.main_release.customers_anonymized")
    with closed(checked):
        assert checked.dbt("run", "--empty", "-s", "customers_anonymized").succeeded
    result = command(checked, "publish", "customers")
    assert result.exit_code == 1
    assert "must have the rows that the last build checked" in result.output


def test_a_project_with_python_is_told_that_dbt_publishes(consumer: Project) -> None:
    result = command(consumer, "publish", "customers")
    assert result.exit_code == 1
    assert "customers: dbt must leave publishing to this command" in result.output


def test_strict_composition_keeps_the_earlier_file(
    built_consumer: Project, checked: Project
) -> None:
    """The command compares with the file, as a build with Python does."""
    assert command(checked, "publish").exit_code == 0
    before = checked.release_file("customers").read_bytes()
    place = "shop.main_release.customers_publication"
    ((steps,),) = checked.query(f"select steps from {place}")
    strict = [
        s
        | {
            "arguments": s["arguments"]
            | {"composition": {"quasi_identifiers": ["zip"], "k": 1000, "is_strict": True}}
        }
        for s in json.loads(steps)
    ]
    checked.execute(f"update {place} set steps = '{json.dumps(strict)}'")
    with duckdb.connect(str(checked.release_file("customers"))) as file:
        file.execute("delete from customers_anonymized where rowid < 3")
    changed = checked.release_file("customers").read_bytes()
    result = command(checked, "publish", "customers")
    assert result.exit_code == 1
    assert "The earlier release is unchanged." in result.output
    assert checked.release_file("customers").read_bytes() == changed != before


def test_a_sample_is_drawn_with_the_key_beside_the_vault(
    built_samples: Project, tmp_path: Path
) -> None:
    """Below a share are as many of each stratum as that share of it, give or take one."""
    project = without_python(built_samples, tmp_path / "project")
    runs = [dict(project.query("select person, draw from vault.main.surveyed_sample"))]
    for _ in range(3):
        project.execute("drop table vault.main.surveyed_sample")
        # Of the same key too: each run draws anew.
        (project.folder / "vault" / "vault.duckdb.key").write_bytes(b"k" * 32)
        project.build("-s", "surveyed_sample")
        runs.append(dict(project.query("select person, draw from vault.main.surveyed_sample")))
    assert len({draw for run in runs for draw in run.values()}) == 4 * 400
    genders = dict(project.query("select customer_id, gender from vault.main.customers"))
    for run in runs:
        for share in (0.1, 0.5, 0.77):
            sampled = Counter(genders[person] for person, draw in run.items() if draw < share)
            for gender, size in Counter(genders.values()).items():
                assert math.floor(share * size) <= sampled[gender] <= math.ceil(share * size)
        # Where somebody is within her place does not follow from the place: else shares are biased.
        large = {gender for gender, size in Counter(genders.values()).items() if size > 100}
        for gender in large:
            draws = sorted(draw for person, draw in run.items() if genders[person] == gender)
            offsets = [len(draws) * draw % 1 for draw in draws]
            low, high = offsets[: len(draws) // 2], offsets[len(draws) // 2 :]
            assert abs(sum(low) / len(low) - sum(high) / len(high)) < 0.3
        assert large


def test_the_private_umask_ends_with_the_command(commanded: Project) -> None:
    before = os.umask(0o022)
    try:
        assert command(commanded, "build", "customers", "--dbt", "/bin/false").exit_code == 1
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
