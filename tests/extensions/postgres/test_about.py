"""Description of a release that is a table, read by a role that has the release alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import on_postgres
from tests.extensions.postgres.published import RELEASE, Published
from tests.extensions.postgres.server import Server
from tests.projects import Project
from tests.release.test_midpoints import MIDDLES

# A build of all; `make postgres` runs it.
pytestmark = [pytest.mark.slow, pytest.mark.dbt]

SPEC = "anonymizations/customers.yml"
DECLARED = "release: {midpoints: true, about: {licence: It's ours}}"
ABOUT = "shop_release.customers_about"
FACTS = f"select fact, value, number from {ABOUT} order by place"
FOUND = ("recomputation", "customers_about")


@pytest.fixture(scope="module")
def published(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> Published:
    folder = tmp_path_factory.mktemp("about") / "project"
    project = on_postgres(built_consumer, folder, server, ["customers"])
    project.edit("dbt_project.yml", lambda text: granted(text, [server.analyst]))
    project.edit(SPEC, lambda text: text + f"\n{DECLARED}\n")
    assert generate(project.folder)
    project.build("--exclude", "resource_type:test")
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    return Published(project, server)


def granted(settings: str, roles: list[str]) -> str:
    """Return the settings of a project whose release these roles read."""
    content = yaml.safe_load(settings)
    models = content["models"]["shop"]["customers"]
    models["customers_anonymized"] = {"+grants": {"select": roles}}
    return yaml.safe_dump(content)


def facts(published: Published) -> dict[str, tuple[str, float | None]]:
    """Return the facts as the reader of the release finds them."""
    found = published.server.query(FACTS, published.server.analyst)
    return {fact: (value, number) for fact, value, number in found}


def verified(project: Project) -> tuple[int, str]:
    result = command(project, "verify", "customers", "--check", "recomputation")
    return result.exit_code, " ".join(result.output.split())


def test_the_reader_of_a_release_finds_what_it_is(published: Published) -> None:
    server = published.server
    told = facts(published)
    ((records, least),) = server.query(
        f"select sum(records), min(records) from (select count(*) as records from {RELEASE} "
        "group by cqi) as classes",
        server.analyst,
    )
    assert told["records"] == (str(records), records)
    assert told["k"] == (str(least), least)
    assert told["licence"] == ("It's ours", None)
    assert told["contact"] == ("Customer care care@shop.example", None)
    ((mean,),) = server.query("select qf_mean from shop.customers_results where is_chosen")
    assert told["QF"][1] == pytest.approx(mean, abs=0.0005)
    comments: dict[str, Any] = dict(
        server.query(
            "select attname, col_description(attrelid, attnum) from pg_attribute where attnum > 0 "
            f"and attrelid = cast('{RELEASE}' as regclass)",
            server.analyst,
        )
    )
    assert "Target that the models predict" in comments["churned"]
    assert None not in comments.values()
    middles = server.query(
        "select distinct birth_date, cast(birth_date_midpoint as text) "
        f"from {RELEASE} order by birth_date",
        server.analyst,
    )
    assert middles == MIDDLES
    assert server.refuses("select 1 from shop.customers_results", server.analyst)


def test_who_reads_it_in_an_open_transaction_blocks_no_build(published: Published) -> None:
    server = published.server
    with server.connection(server.analyst) as connection, connection.cursor() as cursor:
        cursor.execute(f"begin; {FACTS}")
        before = cursor.fetchall()
        assert published.publish("--vars", "{dbt_anonymize_lock_timeout: 0.5}").succeeded
        cursor.execute(FACTS)
        assert cursor.fetchall() == before


def test_a_build_that_fails_says_what_the_earlier_release_is(published: Published) -> None:
    before = facts(published)
    project = published.project
    project.edit(SPEC, lambda text: text.replace("It's ours", "Nobody's"))
    settings = (project.folder / "dbt_project.yml").read_text("utf-8")
    assert generate(project.folder)
    project.edit("dbt_project.yml", lambda text: text.replace("select:", "selekt:"))
    assert not published.publish().succeeded
    assert facts(published) == before
    project.edit("dbt_project.yml", lambda _: settings)
    assert published.publish().succeeded
    assert facts(published)["licence"] == ("Nobody's", None)


def test_verify_compares_each_fact(published: Published) -> None:
    code, said = verified(published.project)
    assert code == 0, said
    published.server.query(f"update {ABOUT} set value = 'Ada' where fact = 'licence'")
    code, said = verified(published.project)
    assert published.publish().succeeded
    assert code == 1
    assert "customers_about: it must say what" in said
    assert "these differ: licence" in said
    assert "Ada" not in said
    assert verified(published.project)[0] == 0


def test_whoever_may_no_longer_read_the_release_may_not_read_it(
    published: Published, tmp_path: Path
) -> None:
    project, server = published.project.copy(tmp_path / "project"), published.server
    project.edit("dbt_project.yml", lambda text: granted(text, [server.custodian]))
    assert project.dbt("run", "-s", "customers_anonymized").succeeded
    assert server.refuses(FACTS, server.analyst)
    assert published.publish().succeeded
    assert facts(published)


def test_it_goes_where_the_spec_no_longer_asks_for_it(published: Published, tmp_path: Path) -> None:
    """A table of somebody else with its name stays, and no build writes into it."""
    project, server = published.project.copy(tmp_path / "project"), published.server
    project.edit(SPEC, lambda text: text[: text.index("\nrelease: {")])
    assert generate(project.folder)
    known = f"select to_regclass('{ABOUT}') is not null"
    assert server.query(known) == [(True,)]
    assert project.dbt("run", "-s", "customers_anonymized").succeeded
    assert server.query(known) == [(False,)]
    server.query(f"create table {ABOUT} (mine integer)")
    assert project.dbt("run", "-s", "customers_anonymized").succeeded
    assert not published.publish().succeeded
    assert server.query(f"select * from {ABOUT}") == []
    assert verified(project)[1].count("got 1 other tables or views") == 1
    server.query(f"drop table {ABOUT}")
    assert published.publish().succeeded
