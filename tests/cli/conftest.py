"""A project as its commands find it, without a build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.spec import load_spec
from tests.spec.declarations import SPEC, write_project

ANONYMIZED = """{{ config(meta={"dbt_anonymize": {"folder": "release"}}) }}
select 1 as nothing"""


RESULTS = """
select * from (values
    (0, 1, 0, 0.91, 0.90, 0.92, 0.703, true, 0.0, 0.0094, 0.91, false, false, null, null, null,
        null, null, 'no'),
    (1, 1072, 1234567, 0.85, 0.83, 0.87, 0.703, true, 1072.0, 0.0094, 10.925, true, true, 0.31, 3,
        0.003, -0.0245, 0.0305, 'chosen: highest Q'),
    (2, null, 99, null, null, null, null, null, null, 0.0094, null, false, false, null, null, null,
        null, null, 'no'),
    (3, 9, 99, 0.98, 0.93, 1.0, 0.703, true, 9.0, 0.0094, 10.922, true, false, 0.69, null, null,
        null, null, 'no'),
    (4, 9, 99, 0.02, 0.0, 0.07, 0.703, true, 9.0, 0.0094, 10.9, true, false, 0.0, null, null, null,
        null, 'no')
) as t (effort, k, suppressed_records, qf_mean, qf_low, qf_high, zero_rule,
    beats_zero_rule, qnf, alpha, q, qualifies, is_chosen, choice_share, runner_up,
    q_difference_to_runner_up, q_difference_to_runner_up_low, q_difference_to_runner_up_high,
    reason)
"""


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """Give a project whose warehouse holds a source and the results of `visits`."""
    folder = write_project(tmp_path / "project", SPEC)
    models = folder / "models"
    models.mkdir()
    (models / "visits_results.sql").write_text(RESULTS)
    (models / "visits_anonymized.sql").write_text(ANONYMIZED)
    (models / "visits_source.sql").write_text("select 1 as visit_id, 'x' as \"full {{ name }}\"")
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        fingerprint = load_spec(folder / "anonymizations" / "visits.yml").fingerprint
        results = f"select *, '{fingerprint}' as fingerprint from ({RESULTS})"
        connection.execute(f"create table visits_results as {results}")
        connection.execute(
            """create table visits_source as select 1 as visit_id, 'x' as "no: 'x'" """
        )
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    yield folder
    DuckDBConnectionManager.close_all_connections()
