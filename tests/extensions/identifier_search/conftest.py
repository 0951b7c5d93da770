"""A clinic whose release holds nothing that it should not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

# Somebody who is in the vault, and the number.
from tests.extensions.identifier_search.searching import RELEASE
from tests.verify.clinic import Clinic, open_clinic


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Clinic]:
    """Give copies of a clinic that nobody has spoiled."""
    clinic = open_clinic(tmp_path_factory.mktemp("honest") / "clinic")

    def copied(folder: Path) -> Clinic:
        (folder / "release").mkdir(parents=True)
        (folder / "vault").mkdir(mode=0o700)
        for name in ("work.duckdb", "vault/vault.duckdb", RELEASE):
            (folder / name).write_bytes((clinic.folder / name).read_bytes())
        return Clinic(folder, clinic.spec)

    return copied
