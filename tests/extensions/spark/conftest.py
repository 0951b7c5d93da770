"""The stranger's project, built on DuckDB and on Spark."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result

from tests.commands.conftest import command
from tests.extensions.spark.session import on_spark
from tests.extensions.spark.standalone import STANDALONE, VARIABLE, standalone
from tests.projects import Project

NO_SPARK = "there is no Spark: run `make spark`, which installs it beside .venv, with Java 17"


@dataclass(frozen=True)
class OnSpark:
    """The project there, what the command printed, and the folder of all tables."""

    project: Project
    on_duckdb: Project
    folder: Path
    result: Result


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the folder of Spark, which dbt starts with its first statement in this process.

    With the variable of `standalone` it runs on executors of their own.
    """
    if importlib.util.find_spec("pyspark") is None or not (
        shutil.which("java") or os.environ.get("JAVA_HOME")
    ):
        pytest.skip(NO_SPARK)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    folder = tmp_path_factory.mktemp("spark")
    if os.environ.get(VARIABLE) != STANDALONE:
        yield folder
        return
    place = tmp_path_factory.mktemp("standalone")
    with standalone(place) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, url)
        yield folder


@pytest.fixture(scope="session")
def built(
    spark: Path, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> OnSpark:
    project = on_spark(built_consumer, tmp_path_factory.mktemp("on_spark") / "project", spark)
    result = command(project, "build", "customers")
    assert result.exit_code == 0, result.output
    return OnSpark(project, built_consumer, spark, result)
