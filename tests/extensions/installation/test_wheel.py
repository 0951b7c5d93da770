"""The wheel alone, in an environment of its own, takes an empty folder to a release."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import duckdb
import pytest

from tests.projects import REPOSITORY

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give what `make dist` builds, from a copy of the clone."""
    clone = tmp_path_factory.mktemp("dist") / "clone"
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    for name in filter(None, files):
        if (REPOSITORY / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes((REPOSITORY / name).read_bytes())
    (clone / ".venv").symlink_to(sys.prefix)
    up_to_date = ["--assume-old=pyproject.toml", "--assume-old=constraints.txt"]
    subprocess.run(["make", "dist", *up_to_date], cwd=clone, check=True, capture_output=True)
    return clone / "dist"


def test_wheel_and_source_carry_the_dbt_package(dist: Path) -> None:
    (wheel,), (source,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    macros = {p.relative_to(REPOSITORY).as_posix() for p in REPOSITORY.glob("macros/**/*.*")}
    with zipfile.ZipFile(wheel) as archive:
        carried = set(archive.namelist())
    assert {f"dbt_anonymize/dbt_package/{name}" for name in macros} <= carried
    assert "dbt_anonymize/dbt_package/dbt_project.yml" in carried
    assert not any("/models/" in name or name.startswith("tests/") for name in carried)
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert macros <= names
    assert {"setup.py", "dbt_project.yml", "pyproject.toml"} <= names


def test_three_commands_lead_from_an_empty_folder_to_a_release(dist: Path, tmp_path: Path) -> None:
    environment, folder = tmp_path / "environment", tmp_path / "first"
    folder.mkdir()
    venv.create(environment, with_pip=True)
    (wheel,) = dist.glob("*.whl")
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("DBT_", "PYTHON"))}
    kept["PATH"] = f"{environment / 'bin'}{os.pathsep}{kept['PATH']}"
    commands = [
        ["pip", "install", "--quiet", "-c", str(REPOSITORY / "constraints.txt"), str(wheel)],
        ["dbt-anonymize", "new", "--yes"],
        ["dbt", "build"],
    ]
    for command in commands:
        done = subprocess.run(
            command, cwd=folder, env=kept, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert str(environment) in (folder / "packages.yml").read_text()
    released = folder / "release" / "dev" / "patients.duckdb"
    with duckdb.connect(str(released), read_only=True) as connection:
        ((records,),) = connection.execute("select count(*) from patients_anonymized").fetchall()
    assert records >= 550
