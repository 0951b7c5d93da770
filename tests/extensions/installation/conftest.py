"""Projects of strangers before they know us."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.projects import CONSUMER_PROJECT


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """Give the consumer project as it was before it installed anything of ours."""
    folder = tmp_path / "shop"
    ignored = shutil.ignore_patterns(
        "target", "logs", "dbt_packages", "package*.yml", "*.duckdb", "vault", "models"
    )
    shutil.copytree(CONSUMER_PROJECT, folder, ignore=ignored)
    (folder / "profiles.yml").write_text(
        "# ours\nshop:\n  target: dev\n  outputs:\n    dev:  # development\n      type: duckdb\n"
        "      path: warehouse/shop.duckdb\n"
    )
    return folder
