"""A Spark of the tests' own: two cores, a small heap, everything in one folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions.spark.standalone import VARIABLE
from tests.projects import Project

# The people lie in the vault; `dispatch` loads seeds by the macro of this package.
SETTINGS: dict[str, Any] = {
    "dispatch": [{"macro_namespace": "dbt", "search_order": ["shop", "dbt_anonymize", "dbt"]}],
    "seeds": {"+file_format": "parquet", "shop": {"customers": {"+schema": "vault"}}},
    "models": {"+file_format": "parquet"},
}


def parameters(folder: Path) -> dict[str, str]:
    """Return what starts Spark; tables are so small that compiling their plans would cost most."""
    return {
        "spark.master": os.environ.get(VARIABLE, "local[2]"),
        "spark.executor.memory": "700m",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    }


def output(folder: Path, schema: str) -> dict[str, Any]:
    """Return a target of a dbt profile."""
    return {
        "type": "spark",
        "method": "session",
        "host": "NA",
        "schema": schema,
        "threads": 1,
        "server_side_parameters": parameters(folder),
    }


def on_spark(
    project: Project, folder: Path, spark: Path, *, schema: str = "shop", **variables: Any
) -> Project:
    """Copy a project for Spark, whose tables lie in a folder of all tests."""
    copy = project.copy(folder)
    for place in ("target", "vault", "warehouse", "release"):
        shutil.rmtree(folder / place, ignore_errors=True)
    profile = {"shop": {"target": "dev", "outputs": {"dev": output(spark, schema)}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    known = {
        "dbt_anonymize_python": False,
        "dbt_anonymize_vault_location": str(spark / "vault"),
        **variables,
    }
    settings = yaml.safe_dump({**SETTINGS, "vars": known})
    copy.edit("dbt_project.yml", lambda text: text + settings)
    # They are written in the SQL of DuckDB.
    (folder / "models" / "unit_tests.yml").unlink(missing_ok=True)
    # Spark knows no type text.
    copy.edit("seeds/_seeds.yml", lambda text: text.replace(": text", ": string"))
    generate(folder)
    return copy


def query(sql: str) -> list[tuple[Any, ...]]:
    """Return all rows of a query, in the session that dbt has started."""
    from pyspark.sql import SparkSession

    return [tuple(row) for row in SparkSession.builder.getOrCreate().sql(sql).collect()]
