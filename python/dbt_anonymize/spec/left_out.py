"""Columns that `release.leave_out` names: in every effort as if they were dropped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dbt_anonymize.spec.draft import items, mapping, texts
from dbt_anonymize.spec.efforts import is_shorthand

_RELEASED = frozenset({"quasi_identifier", "sensitive", "insensitive", "masked"})


def without_left_out(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a raw spec with these columns dropped and without their levels in efforts.

    Other keys that name such a column break the rules about dropped columns.

    Examples
    --------
    >>> columns = {name: {"role": "quasi_identifier"} for name in ("age", "region")}
    >>> spec = {"columns": columns, "release": {"leave_out": ["region"]}}
    >>> changed = without_left_out(spec | {"efforts": [{"age": 1, "region": 5}]})
    >>> changed["columns"]["region"], changed["efforts"]
    ({'role': 'dropped'}, [{'age': 1}])
    """
    names = frozenset(texts(mapping(raw.get("release")).get("leave_out")))
    changed = dict(raw)
    columns = raw.get("columns")
    if not names or not isinstance(columns, Mapping):
        return changed
    changed["columns"] = {
        name: {"role": "dropped"}
        if name in names and mapping(column).get("role") in _RELEASED
        else column
        for name, column in columns.items()
    }
    if efforts := items(raw.get("efforts")):
        changed["efforts"] = [_effort_without(effort, names) for effort in efforts]
    return changed


def _effort_without(effort: object, names: Collection[str]) -> object:
    if not isinstance(effort, Mapping):
        return effort
    if is_shorthand(effort):
        return _without(effort, names)
    changed = dict(effort)
    for key in changed.keys() & {"levels", "importance"}:
        changed[key] = _without(changed[key], names)
    if rounds := items(changed.get("rounds")):
        changed["rounds"] = [_without(levels, names) for levels in rounds]
    return changed


def _without(content: object, names: Collection[str]) -> object:
    if not isinstance(content, Mapping):
        return content
    return {key: value for key, value in content.items() if key not in names}
