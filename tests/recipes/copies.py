"""Copies of the Python package, to which recipes of CONTRIBUTING add something."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.projects import REPOSITORY, Project, copy_demo


def copy_package(folder: Path) -> Path:
    """Copy the package below a folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    copied = shutil.copytree(REPOSITORY / "python", folder / "python", ignore=ignored)
    return copied / "dbt_anonymize"


def copy_smallest_demo(folder: Path) -> Project:
    """Copy the demonstration `wdbc`, unbuilt, with macros and package."""
    project = copy_demo(folder)
    copy_package(folder)
    for spec in folder.glob("anonymizations/*.yml"):
        if spec.stem != "wdbc":
            spec.unlink()
            shutil.rmtree(folder / "models" / spec.stem)
    return project


def add_before(path: Path, line: str, added: str) -> None:
    """Write something before a line."""
    text = path.read_text(encoding="utf-8")
    assert line in text, (path, line)
    path.write_text(text.replace(line, added + line, 1), encoding="utf-8")


def run(project: Project, *arguments: str) -> tuple[int, str]:
    """Run Python in a project, by the package of the copy; return exit code and output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project.folder,
        env=os.environ | {"PYTHONPATH": str(project.folder / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def run_command(project: Project, *arguments: str) -> tuple[int, str]:
    """Run a command of `dbt-anonymize` by the package of the copy."""
    return run(project, "-m", "dbt_anonymize", *arguments)
