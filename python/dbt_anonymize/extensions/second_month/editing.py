"""Write a frozen effort into the text of a spec; everything else stays byte for byte."""

from __future__ import annotations

from pathlib import Path

import yaml

from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.spec.editing import flow_text, replace_text
from dbt_anonymize.spec.loading import load_spec
from dbt_anonymize.spec.yaml_text import set_value


def with_freeze(text: str, effort: int) -> str:
    r"""Return the text of a spec with ``freeze: true`` and the number of the released effort.

    Keys that cannot be changed as text are a `SpecError` with the lines to write.

    Examples
    --------
    >>> print(with_freeze("alpha: 1\nrelease: {access: public}  # all\n", 2), end="")
    alpha: 1
    release: {access: public, effort: 2}  # all
    freeze: true
    """
    try:
        return set_value(set_value(text, ["release", "effort"], effort), ["freeze"], True)
    except ProjectError:
        release = {**(yaml.safe_load(text).get("release") or {}), "effort": effort}
        raise SpecError(
            "release and freeze: must be plain keys to be changed; anchors, aliases or tags are in "
            f"the way. Write by hand:\nrelease: {flow_text(release)}\nfreeze: true"
        ) from None


def write_freeze(path: Path, effort: int) -> bool:
    """Freeze an effort in the file of a spec, as `write_efforts` does."""
    load_spec(path)
    text = path.read_bytes().decode("utf-8")
    return replace_text(path, text, with_freeze(text, effort))
