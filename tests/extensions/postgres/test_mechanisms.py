"""Recodings, masks and fidelity find on Postgres what they find on DuckDB, or say why not."""

from __future__ import annotations

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.engines.compared import TOLERANCE, assert_same
from tests.engines.matrix import check_ran
from tests.engines.mechanisms import EFFORTS, FIRST, with_mechanisms
from tests.extensions.postgres.server import Server
from tests.extensions.postgres.test_demonstration import OnPostgres, on_postgres
from tests.projects import Project

pytestmark = pytest.mark.slow

RELATIONS = (
    *(f"recoding_{number}" for number in range(FIRST, FIRST + len(EFFORTS))),
    *("microdata", "classes", "privacy", "information_loss", "fidelity"),
)


@pytest.fixture(scope="module")
def built(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> OnPostgres:
    folder = tmp_path_factory.mktemp("mechanisms")
    there = built_consumer.copy(folder / "duckdb")
    with_mechanisms(there)
    there.build("--exclude", "resource_type:test")
    here = on_postgres(there, folder / "postgres", server)
    built = command(here, "build", "customers")
    assert built.exit_code == 0, built.output
    return OnPostgres(here, there, server, built)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(built: OnPostgres, name: str) -> None:
    there = built.on_duckdb.query(f"select * from customers_{name}")
    here = built.server.query(f"select * from shop.customers_{name}")
    # Cramer's V is the root of a sum that is zero but for rounding where nothing correlates.
    assert_same(here, there, name, tolerance=1e-7 if name == "fidelity" else TOLERANCE)


def test_the_same_effort_is_chosen(built: OnPostgres) -> None:
    columns = "effort, is_chosen, qualifies, k, q, qf_mean, qnf, fingerprint"
    there = built.on_duckdb.query(f"select {columns} from customers_results")
    here = built.server.query(f"select {columns} from shop.customers_results")
    assert_same(here, there, "results")


def test_a_mask_that_needs_duckdb_says_so(built: OnPostgres) -> None:
    """It comes last: the spec is another one then."""

    def hashed(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["columns"]["spending"]["mask"] = {"keyed_hash": True}
        spec["features"].remove("spending")
        return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)

    built.project.edit("anonymizations/customers.yml", hashed)
    generate(built.project.folder)
    outcome = built.project.dbt("run", "-s", "customers_mask_keys", "customers_microdata")
    assert not outcome.succeeded
    assert "the masks keyed_hash and shift_days need DuckDB" in outcome.messages


def test_the_matrix_says_what_was_compared(built: OnPostgres) -> None:
    what = "relations of recodings and masks"
    check_ran("Postgres", built.server.version, "dbt-postgres", what, len(RELATIONS) + 1)
