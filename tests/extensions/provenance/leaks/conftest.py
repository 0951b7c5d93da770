"""The clinic of the planted leaks, compiled and built once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.extensions.provenance.leaks.clinic import Clinic, compiled, open_clinics, write_clinic


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Give the compiled clinic, and one database for each secret."""
    folder = tmp_path_factory.mktemp("clinic")
    project = write_clinic(folder / "project")
    project.build("--select", "+people", "ages", "zips")
    with compiled(project) as (relations, spec):
        pass
    databases = open_clinics(project, relations, folder)
    try:
        yield Clinic(relations, spec, databases, project.folder / "seeds")
    finally:
        for connection in databases.values():
            connection.close()
