"""Read the files that a search wrote."""

from __future__ import annotations

from dbt_anonymize.spec import Effort, load_specs
from tests.projects import Project


def efforts_of(project: Project) -> tuple[Effort, ...]:
    (spec,) = load_specs(project.folder, ["customers"])
    return spec.efforts
