"""Records whose target is not known are counted and released, and no model learns from them."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import run
from tests.projects import Project

pytestmark = pytest.mark.dbt


def forget(text: str) -> str:
    """Leave out the target of every ninth customer."""
    head, *lines = text.splitlines(keepends=True)
    forgotten = (f"{line.rstrip().rpartition(',')[0]},\n" for line in lines)
    return head + "".join(
        lost if number % 9 == 8 else line
        for number, (line, lost) in enumerate(zip(lines, forgotten, strict=True))
    )


@pytest.mark.sampled_tests(group="builds")
def test_a_build_releases_records_whose_target_is_not_known(consumer: Project) -> None:
    consumer.edit("seeds/customers.csv", forget)
    consumer.build()
    ((records, unknown),) = consumer.query(
        "select count(*), count(*) filter (where churned is null) from customers_microdata"
    )
    assert 0 < unknown < records
    ((counted, kept),) = consumer.query(
        "select records, records - suppressed_records from customers_privacy "
        "where effort = (select effort from customers_results where is_chosen)"
    )
    released = consumer.release("customers")
    assert (counted, len(released)) == (records, kept)
    assert any(None in row for row in released)
    verified = " ".join(run("verify", "customers", "--project-dir", consumer.folder).output.split())
    assert re.search("recomputation [0-9]+ hold", verified), verified
