"""The files of an anonymization under another name."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.extensions.custody.removal import remove_files
from dbt_anonymize.project.generate import generate, generated_files
from dbt_anonymize.project.layout import Project
from dbt_anonymize.spec import Spec, load_specs
from dbt_anonymize.spec.editing import replace_text
from dbt_anonymize.spec.loading import spec_paths
from dbt_anonymize.spec.models import LONGEST_NAME, SpecName
from dbt_anonymize.spec.yaml_text import set_value


def specs_of(project: Project, name: str, new: str) -> tuple[Spec, Spec, bool]:
    """Return a spec under its old and new name, and whether its files still have the old one.

    Both names at once, or none, are a `SpecError`.
    """
    paths = spec_paths(project.root)
    if name in paths and new in paths:
        raise SpecError(
            f"anonymizations/{new}.yml: must not exist yet: {name} would become another "
            "anonymization. Take a name that is free."
        )
    has_files = name in paths or new not in paths
    (spec,) = load_specs(project.root, [name if has_files else new])
    other = new if has_files else name
    _require_name(other)
    if has_files:
        _renamed_text(paths[name], new)
    renamed = spec.model_copy(update={"name": other})
    return (spec, renamed, True) if has_files else (renamed, spec, False)


def _require_name(name: str) -> None:
    """Stop if a spec cannot have the name."""
    try:
        TypeAdapter(SpecName).validate_python(name)
    except ValidationError:
        raise SpecError(
            f"{name}: must be a name of lower-case letters, digits and _ that begins with a letter "
            f"and has at most {LONGEST_NAME} characters, as it becomes part of the names of "
            "relations; `anonymization` is taken. Take another one."
        ) from None


def _renamed_text(path: Path, name: str) -> str:
    """Return the text of a spec under another name; a key that is not plain is a `SpecError`."""
    try:
        return set_value(path.read_bytes().decode("utf-8"), ["name"], name)
    except ProjectError:
        raise SpecError(
            f"{path.name}: name must be a plain key to be changed. Write the spec so, and repeat "
            "the command."
        ) from None


def rename_files(project: Project, name: str, new: str) -> list[Path]:
    """Rename spec, labels and generated models; return the files that changed."""
    path = spec_paths(project.root)[name]
    target = path.with_name(f"{new}{path.suffix}")
    replace_text(target, "", _renamed_text(path, new), mode_of=path)
    labels = sorted(project.seeds.rglob(f"{name}_frozen_labels.csv"))
    moved = [file.with_name(f"{new}_frozen_labels.csv") for file in labels]
    for file, place in zip(labels, moved, strict=True):
        file.replace(place)
    remove_files(project, [path, *generated_files(project, name)])
    return [target, *moved, *(project.root / file for file in generate(project.root, [new]))]
