"""Check, before dbt builds, that generated models match the current specs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.literals import quote_text
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import FOLDER, SUFFIX, load_specs, read_shape, spec_paths

# Database in memory in which a message waits for dbt. Whatever Python raises within dbt it prints
# as a traceback.
MESSAGE = "dbt_anonymize_message"


def leave_changes(
    session: Any, *, project: str, generated: Mapping[str, Mapping[str, Any]]
) -> None:
    """Leave a message for dbt if a spec is not the one that its models were generated from.

    That of an earlier build of the same process goes.
    """
    session.execute(f"detach database if exists {MESSAGE}")
    if message := describe_changes(Path(project), generated):
        session.execute(f"attach if not exists ':memory:' as {MESSAGE}")
        text = f"select {quote_text(message)} as text"
        session.execute(f"create or replace table {MESSAGE}.main.message as {text}")


def describe_changes(root: Path, generated: Mapping[str, Mapping[str, Any]]) -> str:
    """Say which specs are wrong, missing or changed; nothing where models are of their specs.

    ``generated`` is what the models carry of their specs by anonymization: a ``digest``, and of
    each of their ``keys``, which those of earlier versions lack.
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
    except SpecError as error:  # one that is wrong says so itself
        return f"{error}\nNothing was built."
    return "\n".join(
        f"{FOLDER}/{name}{SUFFIX}: must be what its models were generated from; "
        f"{_differences(generated[name].get('keys'), shape)}. Nothing was built. Run "
        f"`dbt-anonymize generate {name}`."
        for name, shape in changed.items()
        if shape is not None
    )


def _differences(before: Mapping[str, str] | None, spec: Spec) -> str:
    """Say which keys differ.

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
    known = [key for key in now if key in before and now[key] != before[key]]
    groups = {
        "changed since": known,
        "added": [key for key in now if key not in before],
        "removed": [key for key in before if key not in now],
    }
    said = []
    for what, keys in groups.items():
        verb = "" if what == "changed since" else "were " if keys[1:] else "was "
        said += [f"{', '.join(keys)} {verb}{what}"] if keys else []
    return ", ".join(said)
