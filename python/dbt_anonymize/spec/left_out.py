"""Columns that `release.leave_out` names: in every effort as if they were dropped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeGuard

from dbt_anonymize.spec.efforts import levels_alone

_RELEASED = frozenset({"quasi_identifier", "sensitive", "insensitive", "masked"})


def left_out(raw: Mapping[str, Any]) -> list[str]:
    """Return the columns that a spec, which may be wrong elsewhere, leaves out of its release."""
    release = raw.get("release")
    names = release.get("leave_out") if isinstance(release, Mapping) else None
    return [name for name in names if isinstance(name, str)] if _is_list(names) else []


def without_left_out(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec in which these columns are dropped, and no effort has levels of them.

    Whatever else names one of them breaks the rule that names a dropped column.

    Examples
    --------
    >>> columns = {name: {"role": "quasi_identifier"} for name in ("age", "region")}
    >>> spec = {"columns": columns, "release": {"leave_out": ["region"]}}
    >>> changed = without_left_out(spec | {"efforts": [{"age": 1, "region": 5}]})
    >>> changed["columns"]["region"], changed["efforts"]
    ({'role': 'dropped'}, [{'age': 1}])
    """
    names = frozenset(left_out(raw))
    changed = dict(raw)
    columns = raw.get("columns")
    if not names or not isinstance(columns, Mapping):
        return changed
    changed["columns"] = {
        name: {"role": "dropped"} if name in names and _is_released(column) else column
        for name, column in columns.items()
    }
    if _is_list(raw.get("efforts")):
        changed["efforts"] = [_effort(effort, names) for effort in raw["efforts"]]
    return changed


def _effort(effort: object, names: Collection[str]) -> object:
    if not isinstance(effort, Mapping):
        return effort
    if levels_alone(effort):
        return _without(effort, names)
    inner = _within(effort, ("levels", "importance"), names)
    if _is_list(effort.get("rounds")):
        inner["rounds"] = [_without(one, names) for one in effort["rounds"]]
    return inner


def _within(
    content: Mapping[str, Any], keys: Collection[str], names: Collection[str]
) -> dict[str, Any]:
    return {key: _without(one, names) if key in keys else one for key, one in content.items()}


def _without(content: object, names: Collection[str]) -> object:
    if not isinstance(content, Mapping):
        return content
    return {key: one for key, one in content.items() if key not in names}


def _is_released(column: object) -> bool:
    return isinstance(column, Mapping) and column.get("role") in _RELEASED


def _is_list(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, (list, tuple))
