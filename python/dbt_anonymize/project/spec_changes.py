"""Check, before dbt builds, that generated models match the current specs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.literals import quote_text
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import FOLDER, SUFFIX, load_specs, read_shape, spec_paths

# Database in memory that holds a message for dbt, which would print a Python error as a traceback.
MESSAGE = "dbt_anonymize_message"


def leave_changes(
    session: Any, *, project: str, generated: Mapping[str, Mapping[str, Any]]
) -> None:
    """Leave a message for dbt if models were not generated from the current spec.

    It replaces the message of an earlier build in this process.
    """
    session.execute(f"detach database if exists {MESSAGE}")
    if message := describe_changes(Path(project), generated):
        session.execute(f"attach if not exists ':memory:' as {MESSAGE}")
        text = f"select {quote_text(message)} as text"
        session.execute(f"create or replace table {MESSAGE}.main.message as {text}")


def describe_changes(root: Path, generated: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a message on invalid, missing or changed specs; empty if models match them.

    ``generated`` holds, by anonymization, the ``digest`` of the spec in its models and the digests
    of its ``keys``, which models of earlier versions lack.
    """
    paths = spec_paths(root)
    shapes = {name: read_shape(paths[name]) if name in paths else None for name in generated}
    changed = {
        name: shape
        for name, shape in sorted(shapes.items())
        if shape is None or shape.digest != generated[name]["digest"]
    }
    if not changed:
        return ""
    try:
        load_specs(root, changed)
    except SpecError as error:  # an invalid spec has its own message
        return f"{error}\nNothing was built."
    return "\n".join(
        f"{FOLDER}/{name}{SUFFIX}: must be what its models were generated from; "
        f"{_differences(generated[name].get('keys'), shape)}. Nothing was built. Run "
        f"`dbt-anonymize generate {name}`."
        for name, shape in changed.items()
        if shape is not None
    )


def _differences(before: Mapping[str, str] | None, spec: Spec) -> str:
    """Return the changed, added and removed keys as text.

    Examples
    --------
    >>> class Spec:
    ...     key_digests = {"efforts": "1", "alpha": "2"}
    >>> _differences({"efforts": "0", "freeze": "3"}, Spec)
    'efforts changed since, alpha was added, freeze was removed'
    """
    now = spec.key_digests
    if before is None or before == now:
        return "it changed since"
    changed = [key for key in now if key in before and now[key] != before[key]]
    groups = {
        "changed since": changed,
        "added": [key for key in now if key not in before],
        "removed": [key for key in before if key not in now],
    }
    clauses = []
    for change, keys in groups.items():
        verb = "" if change == "changed since" else "were " if keys[1:] else "was "
        clauses += [f"{', '.join(keys)} {verb}{change}"] if keys else []
    return ", ".join(clauses)
