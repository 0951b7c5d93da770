"""The profile and the warehouse of a project, read without dbt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.extensions.quick_reading.profile import PlainProfile, plain_profile
from dbt_anonymize.project.profile import dbt_arguments

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.warehouse import Warehouse


def read_profile(root: Path, target: str | None = None) -> PlainProfile | None:
    """Return an ordinary profile; None where dbt must read it."""
    with contextlib.chdir(root):
        arguments = dbt_arguments(root, target)
        return plain_profile(
            root, root / arguments.profiles_dir, arguments.profile, arguments.target
        )


@contextlib.contextmanager
def open_to_read(project: Project, target: str | None = None) -> Iterator[Warehouse | None]:
    """Open the warehouse of a project to read its models and seeds; None where dbt must open it."""
    from dbt_anonymize.extensions.quick_reading.warehouse import (  # noqa: PLC0415 (slow to import)
        open_plain,
    )

    with open_plain(project, read_profile(project.root, target)) as warehouse:
        yield warehouse
