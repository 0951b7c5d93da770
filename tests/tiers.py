"""The tiers of the suite, told by what a test uses: `fast` ones never start dbt, `dbt` ones may.

A test is of the tier `dbt` if it, one of its fixtures or a helper of the tests that they call names
dbt, or a class that runs it. Where that overlooks something, the test fails, and says so.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

_COMMANDS = {"dbt", "make"}
_SHELLS = {"sh", "bash"}
_hidden: dict[str, ModuleType] = {}
_is_guarding = False
_known: dict[Any, bool] = {}


def tier(item: pytest.Item) -> str:
    """Return the tier of a test; a mark decides before what it uses."""
    for name in ("slow", "dbt"):
        if item.get_closest_marker(name):
            return name
    return "dbt" if any(map(starts_dbt, _functions(item))) else "fast"


def _functions(item: pytest.Item) -> Iterator[Any]:
    """Give the test and all of its fixtures."""
    if isinstance(item, pytest.Function):
        test = getattr(item.obj, "hypothesis", None)
        yield test.inner_test if test else item.obj
        for found in item._fixtureinfo.name2fixturedefs.values():
            yield from (fixture.func for fixture in found)


def starts_dbt(function: Any) -> bool:
    """Tell whether a function, or a helper of the tests that it calls, names dbt.

    Examples
    --------
    >>> def test_a_build(project):
    ...     project.dbt("build")
    >>> starts_dbt(test_a_build)
    True
    """
    return _reaches(getattr(function, "__func__", function))


def _reaches(thing: Any) -> bool:
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if not isinstance(thing, type | FunctionType):
        return False
    if thing not in _known:
        _known[thing] = False  # for what calls itself
        if isinstance(thing, type):
            _known[thing] = "dbt" in vars(thing) or any(map(_reaches, vars(thing).values()))
        else:
            _known[thing] = _names_dbt(thing) or any(map(_reaches, _named(thing)))
    return _known[thing]


@functools.cache
def _names(code: CodeType) -> frozenset[str]:
    inner = (_names(const) for const in code.co_consts if isinstance(const, CodeType))
    return frozenset(code.co_names).union(*inner)


def _names_dbt(function: FunctionType) -> bool:
    """Tell whether it imports dbt, names something of it, or something of the same name.

    Commands of the documentation run dbt in a shell.
    """
    names = _names(function.__code__)
    if "run_command" in names:
        return True
    origins = (_origin(function.__globals__[n]) for n in names & function.__globals__.keys())
    return any(map(_is_of_dbt, (*names, *origins)))


def _is_of_dbt(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in {"dbt", "dbt_common"}


def _named(function: FunctionType) -> Iterator[Any]:
    """Give what it names of the tests, among its globals and in modules."""
    names = _names(function.__code__)
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if _origin(value).startswith("tests."):
            yield value
            if isinstance(value, ModuleType):
                yield from (vars(value)[other] for other in names & vars(value).keys())


def _origin(value: Any) -> str:
    """Return the module that a value is, or comes from."""
    found = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    return found if isinstance(found, str) else ""


def guard(*, is_fast: bool) -> None:
    """Take dbt away from a test of the tier `fast`, and give it back to others."""
    global _is_guarding  # noqa: PLW0603 (there is one interpreter)
    if is_fast == _is_guarding:
        return
    _is_guarding = is_fast
    if _is_guarding:
        _hidden.update({n: m for n, m in sys.modules.items() if _is_of_dbt(n)})
        sys.modules.update(dict.fromkeys([*_hidden, "dbt", "dbt_common"]))  # type: ignore[arg-type]
    else:
        for name in ("dbt", "dbt_common"):
            sys.modules.pop(name)
        sys.modules.update(_hidden)
        _hidden.clear()


def is_dbt_missed(error: BaseException | None) -> bool:
    """Tell whether an error, or its cause, is the missing dbt of a guarded test."""
    while error is not None:
        if isinstance(error, ImportError) and _is_of_dbt(error.name or ""):
            return _is_guarding
        error = error.__cause__ or error.__context__
    return False


def _refuse_commands(event: str, arguments: tuple[Any, ...]) -> None:
    if _is_guarding and event == "subprocess.Popen":
        words = [str(arguments[0]), str(arguments[1][0])]
        if Path(words[0]).name in _SHELLS:
            words += str(arguments[1][-1]).split()
        if started := _COMMANDS & {Path(word).name for word in words}:
            raise RuntimeError(f"a test of the tier `fast` must not start {min(started)}")


sys.addaudithook(_refuse_commands)
