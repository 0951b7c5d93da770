"""Projects that tests build in this process: dbt is imported once, each has its own folder."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse

REPOSITORY = Path(__file__).resolve().parent.parent
# Tables of others, which are never part of the project.
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", str(REPOSITORY.parent / "shared" / "data")))
CONSUMER_PROJECT = REPOSITORY / "tests" / "consumer_project"
# What a clone holds of the demonstration; the rest of the repository is not needed to build it.
DEMO_PARTS = (
    "Makefile",
    "pyproject.toml",
    "constraints.txt",
    "dbt_project.yml",
    "profiles.yml",
    "anonymizations",
    "macros",
    "models",
    "seeds",
)


@dataclass(frozen=True)
class Outcome:
    """Result of one dbt command."""

    succeeded: bool
    messages: str
    statuses: dict[str, str]

    def status(self, name: str) -> str:
        """Return the status of the node whose name is given, for example `success` or `skipped`."""
        (status,) = [
            s for unique_id, s in self.statuses.items() if unique_id.split(".")[-1] == name
        ]
        return status


@dataclass(frozen=True)
class Project:
    """A dbt project in a folder of its own, built in this process."""

    folder: Path
    warehouse: str

    def dbt(self, *arguments: str) -> Outcome:
        """Run a dbt command inside the project and let go of all database files."""
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager
        from dbt.adapters.factory import reset_adapters
        from dbt.cli.main import dbtRunner

        messages: list[str] = []
        runner = dbtRunner(
            callbacks=[lambda e: messages.append(e.info.msg) if e.info.level != "debug" else None]
        )
        with contextlib.chdir(self.folder):
            result = runner.invoke([*arguments, "--profiles-dir", str(self.folder)])
        DuckDBConnectionManager.close_all_connections()
        reset_adapters()
        if result.exception is not None:
            messages.append(str(result.exception))
        results: list[Any] = list(getattr(result.result, "results", None) or [])
        return Outcome(
            succeeded=bool(result.success),
            messages="\n".join(messages),
            statuses={r.node.unique_id: str(r.status) for r in results if hasattr(r, "node")},
        )

    def build(self, *arguments: str) -> Outcome:
        """Run `dbt build`, which must succeed."""
        outcome = self.dbt("build", *arguments)
        assert outcome.succeeded, outcome.messages
        return outcome

    @contextlib.contextmanager
    def connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the warehouse with vault and releases attached, as nobody but a test may."""
        connection = duckdb.connect(str(self.folder / self.warehouse))
        try:
            connection.execute(f"attach '{self.folder}/vault/vault.duckdb' as vault")
            for release in sorted((self.folder / "release").rglob("*.duckdb")):
                connection.execute(f"attach '{release}' as release_{release.stem} (read_only)")
            yield connection
        finally:
            connection.close()

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self.connection() as connection:
            return connection.execute(sql).fetchall()

    def execute(self, sql: str) -> None:
        """Change the warehouse behind dbt's back."""
        with self.connection() as connection:
            connection.execute(sql)

    def release(self, name: str) -> list[tuple[Any, ...]]:
        """Return all rows of a published release, in the order of the file."""
        with duckdb.connect(str(self.release_file(name)), read_only=True) as c:
            return c.execute(f'select * from "{name}_anonymized"').fetchall()

    def release_file(self, name: str) -> Path:
        """Return the file of a release, of whichever target."""
        (path,) = (self.folder / "release").rglob(f"{name}.duckdb")
        return path

    def copy(self, folder: Path) -> Project:
        """Return an independent copy of the project as it is built now."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder, self.warehouse)

    def edit(self, file: str, change: Callable[[str], str]) -> None:
        """Rewrite one text file of the project; the change must change something."""
        path = self.folder / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"the edit of {file} changed nothing"
        path.write_text(after, encoding="utf-8")


def copy_demo(folder: Path) -> Project:
    """Copy the demonstration, unbuilt."""
    folder.mkdir(parents=True)
    for part in DEMO_PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            shutil.copytree(source, folder / part)
        else:
            shutil.copy(source, folder / part)
    for place in ("vault", "warehouse", "release"):
        (folder / place).mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    return Project(folder, "warehouse/dbt_anonymize.duckdb")


def make_demo_small(project: Project) -> None:
    """Let a copy train as few models as intervals of QF need, and hide the cells of one table."""
    for file in (project.folder / "anonymizations").glob("*.yml"):
        spec = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "quality" in spec:
            spec["quality"]["repetitions"] = 5
        if "table" in spec:
            spec["table"]["efforts"] = spec["table"]["efforts"][1:2]
        file.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    generate(project.folder)


def run_command(command: str, folder: Path) -> str:
    """Run a command of the documentation as a user would, and return what it prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DBT_")}
    environment["PATH"] = f"{Path(sys.prefix, 'bin')}{os.pathsep}{environment['PATH']}"
    finished = subprocess.run(  # noqa: S602 (the commands are those of our own documentation)
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}"
    return finished.stdout


def copy_consumer(folder: Path) -> Project:
    """Copy the stranger's project, unbuilt, with the package installed from this repository."""
    shutil.copytree(_read_consumer(), folder, symlinks=True)
    return Project(folder, "warehouse/shop.duckdb")


@functools.cache
def _read_consumer() -> Path:
    """Install the package for the stranger's project and have dbt read both, once.

    That takes longer than building the project; in a copy dbt reads what has changed only.
    """
    kept = tempfile.TemporaryDirectory(prefix="consumer_project_")
    atexit.register(kept.cleanup)
    folder = Path(kept.name) / "project"
    ignored = shutil.ignore_patterns(
        "target", "logs", "dbt_packages", "package-lock.yml", "*.duckdb"
    )
    shutil.copytree(CONSUMER_PROJECT, folder, ignore=ignored)
    packages = {"packages": [{"local": str(REPOSITORY)}]}
    (folder / "packages.yml").write_text(yaml.safe_dump(packages), encoding="utf-8")
    project = Project(folder, "warehouse/shop.duckdb")
    for command in ("deps", "parse"):
        outcome = project.dbt(command)
        assert outcome.succeeded, outcome.messages
    shutil.rmtree(folder / "logs")
    return folder


@contextlib.contextmanager
def warehouse_of(project: Project) -> Iterator[Warehouse]:
    """Open the warehouse of a project."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    try:
        with open_warehouse(find_project(project.folder)) as warehouse:
            yield warehouse
    finally:
        DuckDBConnectionManager.close_all_connections()
