"""The draft of a spec, made from the columns of a relation.

It decides nothing about privacy: every role is TODO, and validation refuses the draft until a
person has decided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import jinja2

from dbt_anonymize import literals
from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.spec.loading import FOLDER, SUFFIX
from dbt_anonymize.spec.models import LONGEST_NAME, RESERVED_SPEC_NAMES, Source


def check_name(project: Project, name: str) -> Path:
    """Return where the spec of a new anonymization goes, relative to the project.

    An unusable name is a `SpecError`, an existing anonymization a `ProjectError`.
    """
    usable = re.fullmatch("[a-z][a-z0-9_]*", name) and len(name) <= LONGEST_NAME
    if not usable or name in RESERVED_SPEC_NAMES:
        raise SpecError(
            f"the name of an anonymization must start with a-z, hold only a-z, 0-9 and _, have at "
            f"most {LONGEST_NAME} characters and not be 'anonymization'; got {name!r}. "
            "Choose another name."
        )
    path = Path(FOLDER) / f"{name}{SUFFIX}"
    if (project.root / path).exists():
        raise ProjectError(
            f"{path.as_posix()}: must not exist yet. Choose another name, or edit it."
        )
    return path


def draft_spec(name: str, source: Source, columns: Sequence[tuple[str, str]]) -> str:
    """Return the YAML of a draft, from name and data type of each column of the source."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dbt_anonymize.project"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (YAML, not HTML)
    )
    # dbt never reads a spec, so braces stay as they are.
    environment.filters["yaml"] = literals.plain_yaml_text
    template = environment.get_template("draft.yml.j2")
    # A type may hold names: the labels of an enum, the fields of a struct.
    types = [
        (column, literals.printable(" ".join(kind.lower().split()))) for column, kind in columns
    ]
    return template.render(name=name, source=source, columns=types)
