"""Extensions of other packages: entry points that a dbt project names.

Code of another package is loaded only where ``dbt_project.yml`` says so, under ``vars``:
``dbt_anonymize_extensions: [name]``. That must be known before a spec can be read, so the project
is found as dbt finds it: by ``--project-dir``, ``DBT_PROJECT_DIR``, or from the working directory.
The module of an entry point imports the contract alone; keys and rules, which import more, stand in
other modules of its package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project_file import PROJECT_FILE, project_folder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP, VARIABLE = "dbt_anonymize.extensions", "dbt_anonymize_extensions"


def foreign_extensions() -> tuple[Any, ...]:
    """Return the extensions of other packages that the dbt project names.

    One that brings privacy models is a `ProjectError`: nothing of this package calls its macros.
    """
    found = tuple(entry.load() for entry in named_entry_points())
    if errors := [
        f"the extension {one.name} of another package must bring no privacy model, whose macros "
        f"only a line of this package can call; got {', '.join(one.privacy_models)}. Remove its "
        "name from the project."
        for one in found
        if one.privacy_models
    ]:
        raise ProjectError("\n".join(errors))
    return found


def named_entry_points() -> list[EntryPoint]:
    """Return the entry points of the group `GROUP` that the dbt project names, in its order.

    A name that no installed package has is a `ProjectError`.
    """
    file = _project_file(sys.argv)
    names = _extension_names(file) if file else []
    if not names:
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow to import)

    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    if missing := [name for name in names if name not in installed]:
        raise ProjectError(
            f"{file}: vars.{VARIABLE} must name extensions that are installed; {missing[0]} is "
            f"not. Install the package that has it, or remove the name."
        )
    return [installed[name] for name in names]


def _project_file(arguments: Sequence[str]) -> Path | None:
    start = os.environ.get("DBT_PROJECT_DIR")
    for option, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if option == "--project-dir":
            start = value
        elif option.startswith("--project-dir="):
            start = option.partition("=")[2]
    folder = project_folder(Path(start or "."))
    return folder and folder / PROJECT_FILE


def _extension_names(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace")
    if VARIABLE not in text:
        return []
    import yaml  # noqa: PLC0415 (as above)

    try:
        content: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return []  # whoever reads the project says what is wrong
    variables = content.get("vars") if isinstance(content, dict) else None
    names = variables.get(VARIABLE, []) if isinstance(variables, dict) else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ProjectError(f"{file}: vars.{VARIABLE} must be a list of names. Correct it.")
    return names
