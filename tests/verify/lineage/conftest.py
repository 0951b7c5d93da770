"""The clinic that all proofs of lineage are about, compiled and built once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.verify.lineage.clinic import CRM, Clinic, compiled, open_clinics, write_clinic


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Give the compiled clinic, and one database for each secret."""
    folder = tmp_path_factory.mktemp("clinic")
    project = write_clinic(folder / "project")
    project.build("--select", "+people", "ages", "zips")
    with compiled(project) as (found, spec):
        pass
    vault = replace(found.nodes["visits_identifiers"], columns=("visit_id", "name", "ssn"))
    models = replace(found, nodes={**found.nodes, vault.name: vault, CRM.name: CRM})
    databases = open_clinics(project, models, folder)
    try:
        yield Clinic(models, spec, databases, project.folder / "seeds")
    finally:
        for connection in databases.values():
            connection.close()
