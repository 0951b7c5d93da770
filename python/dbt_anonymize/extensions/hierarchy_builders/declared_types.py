"""Column types that a dbt project declares for the seed in a file."""

from __future__ import annotations

import contextlib
from pathlib import Path

from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.manifest import parse_project
from dbt_anonymize.project.seed_types import SeedTypes


def declared_types(file: Path) -> SeedTypes | None:
    """Return the types of the seed in a file; None if no readable project has it.

    dbt parses the project for this, which takes seconds.
    """
    with contextlib.suppress(AnonymizeError):
        project = find_project(file.parent)
        with contextlib.chdir(project.root):
            manifest = parse_project(project, ())
        for node in manifest.nodes.values():
            path = project.root / node.original_file_path
            if node.resource_type == "seed" and path.resolve() == file.resolve():
                return SeedTypes.of_node(manifest, node)
    return None
