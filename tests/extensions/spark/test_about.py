"""Description of a release on Spark: a view of facts beside the view of its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.spark.conftest import OnSpark
from tests.extensions.spark.session import query
from tests.projects import Project
from tests.release.test_midpoints import MIDDLES

pytestmark = pytest.mark.slow

SPEC = "anonymizations/customers.yml"
ABOUT = "shop_release.customers_about"
NAMES = "show views in shop_release like 'customers_about'"


def verified(project: Project) -> tuple[int, str]:
    result = command(project, "verify", "customers", "--check", "recomputation")
    return result.exit_code, " ".join(result.output.split())


def test_a_release_says_what_it_is_and_verify_compares_it(built: OnSpark, tmp_path: Path) -> None:
    project = built.project.copy(tmp_path / "project")
    about = "\nrelease: {midpoints: true, about: {licence: It's C:\\ours}}\n"
    project.edit(SPEC, lambda text: text + about)
    assert generate(project.folder)
    try:
        outcome = project.dbt("run", "-s", "customers_anonymized")
        assert outcome.succeeded, outcome.messages
        told = {row[0]: row[1:] for row in query(f"select fact, value, number from {ABOUT}")}
        ((records, least),) = query(
            "select sum(records), min(records) from (select count(*) as records from "
            "shop_release.customers_anonymized group by cqi) as classes"
        )
        assert told["records"] == (str(records), records)
        assert told["k"] == (str(least), least)
        assert told["licence"] == ("It's C:\\ours", None)
        comments = {row[0]: row[2] for row in query("describe shop_release.customers_anonymized")}
        assert "Target that the models predict" in comments["churned"]
        middles = query(
            "select distinct birth_date, cast(birth_date_midpoint as string) "
            "from shop_release.customers_anonymized order by birth_date"
        )
        assert [tuple(row) for row in middles] == MIDDLES
        code, said = verified(project)
        assert code == 0, said
        query(
            f"create or replace view {ABOUT} as select place, fact, 'Ada' as value, number from "
            f"values (1, 'licence', double(1)) as facts (place, fact, number)"
        )
        code, said = verified(project)
        assert code == 1
        assert "customers_about: it must say what" in said
        assert "Ada" not in said
    finally:
        assert built.project.dbt("run", "-s", "customers_anonymized").succeeded
    assert query(NAMES) == []
