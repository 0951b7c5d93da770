"""Faults that stop a build."""

from __future__ import annotations

from dbt_anonymize.project.generate import generate
from tests.projects import Project

RELEASE = "release/dev/customers.duckdb"


# What `dbt seed` and then `dbt run` do, without the time to start twice.
SEED_AND_RUN = ("build", "--full-refresh", "--exclude-resource-type", "test", "unit_test")


def stops(project: Project, *arguments: str, says: tuple[str, ...]) -> None:
    """Assert that a command fails with a message and leaves the release the same to the byte."""
    before = (project.folder / RELEASE).read_bytes()
    outcome = project.dbt(*arguments)
    assert not outcome.succeeded
    for fragment in says:
        assert fragment in outcome.messages, outcome.messages
    assert (project.folder / RELEASE).read_bytes() == before
    left = {path.name for path in (project.folder / RELEASE).parent.iterdir()}
    assert left == {"customers.duckdb"}


def require(consumer: Project, *, k: int, suppression_limit: float) -> None:
    """Change the guarantee in the spec and write the models anew."""
    consumer.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace("k: 4", f"k: {k}").replace(
            "suppression_limit: 0.1", f"suppression_limit: {suppression_limit}"
        ),
    )
    generate(consumer.folder)
