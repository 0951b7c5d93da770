"""Declared tables on Postgres, protected by a command: counted, released, verified, and kept."""

from __future__ import annotations

import importlib.util
import itertools
from collections import defaultdict
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.run import verify
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import Project, copy_consumer

# Not there where the extension was pulled out.
projects = pytest.importorskip("tests.extensions.tables.projects")
on_duckdb = pytest.importorskip("tests.extensions.tables.test_built")
NAME, declare = projects.NAME, projects.declare
HIDE = on_duckdb.HIDE
LEAST = on_duckdb.LEAST
LEVELS = on_duckdb.LEVELS
SEED = on_duckdb.SEED
SHOWS = on_duckdb.SHOWS
counted = on_duckdb.counted
is_shown = on_duckdb.is_shown
rows_of = on_duckdb.rows_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.dbt,
    pytest.mark.needs("tables"),
]

NOISE = {"method": "noise", "variance": 30.0, "largest": 20, "levels": LEVELS}
CELLS = f"from shop.{NAME}_table_cells where effort ="
REMEMBERED = f"shop_vault.{NAME}_table_releases"
VAULT = f"select * from {REMEMBERED} order by cell"
RELEASE = f"select * from shop_release.{NAME}_table"
SPENDING: dict[str, Any] = {
    "dimensions": ["zip", "churned"],
    "counts": "records",
    "sums": ["spending"],
    "subtotals": {"zip": [2]},
    "intervals": True,
    "dominance": {"n": 1, "share": 0.5},
    "questions": [{"share": "churned", "of": "spending"}],
    "efforts": [{"method": "hide", "levels": {"zip": 1}}],
}


@pytest.fixture(scope="module")
def project(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Declare two tables: small cells are hidden, or shown with noise; records and sums."""
    project = copy_consumer(tmp_path_factory.mktemp("tables") / "project")
    connect(project, server)
    grants = {"+grants": {"select": [server.analyst]}}
    meanwhile = {"+pre-hook": "select public.meanwhile()"}
    do_meanwhile(server, "select 1")
    settings = {
        "vars": {"dbt_anonymize_python": False},
        "seeds": {"shop": {"customers": {"+schema": "vault"}}},
        "models": {"shop": {NAME: {f"{NAME}_table": grants | meanwhile}}},
    }
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    declare(project, efforts=[HIDE, NOISE], shows=SHOWS)
    declare(
        project, more={"name": "sums", "subject": "e-mail", "details": ["table_audit"]}, **SPENDING
    )
    (project.folder / "anonymizations" / "customers.yml").unlink()
    (project.folder / "models" / "unit_tests.yml").unlink()
    generate(project.folder)
    return project


@pytest.fixture(scope="module")
def built(project: Project, server: Server) -> Project:
    """Build the table of counts."""
    result = command(project, "build", NAME)
    assert result.exit_code == 0, result.output
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    return project


def do_meanwhile(server: Server, statement: str) -> None:
    """Have done, once the query of the table is written, what another build could do then."""
    server.query(
        "create or replace function public.meanwhile() returns void language sql "
        f"as $${statement}$$"
    )


def build(project: Project, capfd: pytest.CaptureFixture[str], name: str = NAME) -> str:
    """Build the table, and return what dbt says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DBT_QUIET", raising=False)
        built = command(project, "build", name)
    said = capfd.readouterr().out
    assert built.exit_code == 0, built.output + said
    return said


def test_a_table_is_counted_released_and_verified(built: Project, server: Server) -> None:
    people = counted(built)
    keys = {
        str(person): int(draw * 2**32)
        for person, draw in server.query(f"select person, draw from shop_vault.{NAME}_table_draws")
    }
    expected = {
        cell: (len(those), sum(keys[one["customer_id"]] for one in those))
        for cell, those in people.items()
    }
    for effort in (1, 2):
        rows = server.query(f"select birth_date, zip, churned, people, keys {CELLS} {effort}")
        assert {row[:3]: row[3:] for row in rows} == expected
    released = {row[:3]: row[3:] for row in server.query(RELEASE, server.analyst)}
    truth = {cell: len(those) for cell, those in people.items() if is_shown(cell)}
    assert released.keys() == truth.keys()
    assert any(count < LEAST for count in truth.values()), "else the test shows nothing"
    for cell, (count, status) in released.items():
        assert (count, status) in {(None, "hidden"), (truth[cell], "published")}
        assert status == "hidden" or truth[cell] >= LEAST
    assert server.refuses(VAULT, server.analyst)
    verified = command(built, "verify", NAME)
    assert verified.exit_code == 0, verified.output
    shown = command(built, "results", NAME)
    said = " ".join(shown.output.split())
    assert f'"shop_release"."{NAME}_table", first on 20' in said, shown.output
    registered = server.query(
        f"select release, cells, hidden_cells from shop.{NAME}_table_register"
    )
    hidden = sum(status == "hidden" for _, status in released.values())
    assert registered == [(1, len(released), hidden)]
    if importlib.util.find_spec("dbt_anonymize.extensions.report"):
        drawn = command(built, "report", NAME, "--format", "json")
        assert drawn.exit_code == 0, drawn.output
        assert f"{len(released)} cells, {hidden} of them hidden" in drawn.output


def test_the_same_records_give_the_same_table_and_others_leave_it(
    built: Project, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    before = server.query(RELEASE)
    remembered = server.query(VAULT)
    assert len(remembered) == len(before)
    server.query(f"revoke usage on schema shop_release from {server.analyst}")
    said = build(built, capfd)
    assert "cannot. Have its owner run once: grant usage on schema" in said
    assert "stays as it is" not in said
    assert "does not match" not in said  # the history is of specs with efforts
    assert server.query(RELEASE) == before
    chooses = f"update shop.{NAME}_table_results set is_chosen = not is_chosen"
    releases = f"insert into {REMEMBERED} (released_at, protection) values (now(), 'round')"
    for change, reason in (
        (chooses, "must be of the effort that is chosen"),
        (releases, "must be compared with all that was released before"),
    ):
        do_meanwhile(server, change)
        stopped = built.dbt("run", "-s", f"{NAME}_table")
        assert not stopped.succeeded
        assert reason in stopped.messages
    do_meanwhile(server, "select 1")
    at_release = '{"dbt_anonymize_vault_schema": "release"}'
    misplaced = built.dbt("run", "-s", f"{NAME}_table_draws", "--vars", at_release)
    assert "which is also that of the target or of a release" in misplaced.messages
    granted = (built.folder / "dbt_project.yml").read_text(encoding="utf-8")
    built.edit("dbt_project.yml", lambda text: text.replace(server.analyst, "nobody_there"))
    assert "nobody_there is none" in built.dbt("run", "-s", f"{NAME}_table").messages
    (built.folder / "dbt_project.yml").write_text(granted, encoding="utf-8")
    assert server.query(VAULT) == remembered
    released = "select tablename from pg_tables where schemaname = 'shop_release'"
    assert server.query(released) == [(f"{NAME}_table",)]
    built.edit(SEED, lambda text: text + text.splitlines()[1].replace("8411", "99999", 1) + "\n")
    assert "the table that was released before stays as it is" in build(built, capfd)
    assert server.query(RELEASE) == before
    assert server.query(VAULT) == remembered
    spec = load_spec(built.folder / "anonymizations" / f"{NAME}.yml")
    found = {
        one.check: one for one in verify(find_project(built.folder), spec, checks=["recomputation"])
    }
    assert found["recomputation"].holds
    assert "which stays" in found["recomputation"].message


def test_records_and_sums_of_subjects_are_counted(
    project: Project, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    project.edit(SEED, _with_second_records)
    build(project, capfd, "sums")
    zips = {row["value"]: row for row in rows_of(project, "seeds/customers_hierarchy_zip.csv")}
    spent = defaultdict[Any, dict[str, list[float]]](lambda: defaultdict(list))
    for one in rows_of(project, SEED):
        own = zips.get(one["zip"], {})
        labels = [*((own.get(f"level_{level}", "*"), level) for level in (1, 2)), (None, None)]
        for (label, level), churned in itertools.product(labels, (one["churned"] or "*", None)):
            spent[(label, churned, level)][one["e-mail"]].append(float(one["spending"] or 0))
    figures = [f"{n}{end}" for n in ("records", "spending") for end in ("", "_first", "_second")]
    columns = ", ".join(["zip, churned, zip_level, people", *figures])
    counted_there = server.query(f"select {columns} from shop.sums_table_cells where effort = 1")
    assert len(counted_there) == len(spent)
    for row in counted_there:
        cell, people = row[:3], row[3]
        own = spent[cell].values()
        assert people == len(own)
        for place, added in ((4, map(len, own)), (7, map(sum, own))):
            largest = sorted(added, reverse=True)
            assert row[place : place + 3] == pytest.approx((sum(largest), *[*largest, 0][:2]))
    released = server.query("select * from shop_release.sums_table")
    assert len(released) == len(spent)
    for *cell, records, low, high, total, status in released:
        amounts = [*map(sum, spent[tuple(cell)].values())]
        there = sum(map(len, spent[tuple(cell)].values()))
        assert low <= there <= (there if high is None else high)
        assert records is None or low == records == high == there
        assert (records is None) == (total is None) == (status == "hidden")
        if total is not None:
            assert len(amounts) >= LEAST
            assert total == pytest.approx(sum(amounts))
            assert max(amounts) <= 0.5 * sum(amounts)
    audited = "select zip, churned, zip_level, measure, value, lowest from shop.sums_table_audit"
    small = {(*row[:3], row[3]): row[4:] for row in server.query(audited)}
    few = {cell for cell, own in spent.items() if len(own) < LEAST}
    assert {key[:3] for key in small if key[3] == "records"} >= few
    assert all(low <= value for value, low in small.values())
    verified = command(project, "verify", "sums")
    assert verified.exit_code == 0, verified.output


def _with_second_records(text: str) -> str:
    """Give every second customer another record, of the same labels."""
    heading, *lines = text.splitlines()
    more = [",".join([str(500_000 + n), line.split(",", 1)[1]]) for n, line in enumerate(lines)]
    return "\n".join([heading, *lines, *more[::2]]) + "\n"
