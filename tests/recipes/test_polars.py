"""The page about Python trains on a release with Polars: `make recipes`."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from tests.projects import Project
from tests.recipes.pages import code_of_page

if importlib.util.find_spec("polars") is None:
    pytest.skip("NOT TESTED: Polars. Run `make recipes`.", allow_module_level=True)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.dbt,
    # Dagster, of the same environment, installs it.
    pytest.mark.filterwarnings("ignore:sqlglotrs is deprecated:DeprecationWarning"),
]


def test_the_page_reads_the_release_and_trains(
    consumer: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = "anonymizations/customers.yml"
    consumer.edit(spec, lambda text: f"{text}\nrelease: {{formats: [duckdb, parquet]}}\n")
    assert generate(consumer.folder)
    consumer.build("--select", "customers_anonymized")
    code = code_of_page(" polars\n").replace("/prod/", "/dev/")
    monkeypatch.chdir(consumer.folder)
    capsys.readouterr()
    exec(code, known := dict[str, Any]())  # noqa: S102 (the page itself)
    assert 0.4 < float(capsys.readouterr().out) <= 1
    assert known["release"].rows() == consumer.release("customers")
    lower, label = known["release"]["birth_date_lower"], known["release"]["birth_date"]
    born = known["features"]["born"]
    assert born.null_count() == (label == "*").sum()
    assert born.drop_nulls().n_unique() == lower.filter(label != "*").n_unique()
