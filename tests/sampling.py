"""Seeded sample of cases for `make test`; DBT_ANONYMIZE_FULL=1 runs everything.

DBT_ANONYMIZE_SEED draws another sample, and repeats one that failed: the last line says the seed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import tiers

FULL = os.environ.get("DBT_ANONYMIZE_FULL", "") not in {"", "0"}
IS_SEEDED = "DBT_ANONYMIZE_SEED" in os.environ
SEED = int(os.environ.get("DBT_ANONYMIZE_SEED", "20"))
_TESTS = Path(__file__).parent
# Of the modules of a folder whose tests start dbt, besides those of the demonstrations and leaks.
_SHARE_OF_MODULES = 0.1
# Of each of these; where they are always drawn, all.
_TESTS_OF_A_MODULE = 2
_TESTS_OF_DBT = "tests of modules that start dbt"
# Of the modules of a folder that are marked, whose tests calculate for long.
_SHARE_OF_COSTLY = 0.2
_ALWAYS = {
    "end_to_end/test_demo.py",
    "end_to_end/test_verify.py",
    "extensions/provenance/leaks/test_leaks.py",  # whose leaks are drawn by their kind
}
# Of costly tests that several modules have, how many run of each group.
GROUPS = {
    "builds": 1,
    "bytes": 1,
    "commands": 1,
    "fail closed": 1,
    "faults": 1,
    "figures": 1,
    "installation": 1,
    "recipes": 1,
    "relink": 1,
    "workers": 1,
}
# How long an example takes is no promise: the machine may have other work.
settings.register_profile("tests", deadline=None, max_examples=100 if FULL else 20)
settings.load_profile("tests")
# What is counted: how many of how many run.
drawn: dict[str, tuple[int, int]] = {}


def number_of(what: str, full: int, sampled: int) -> int:
    """Return how many to run, and keep it for the closing line."""
    drawn[what] = (full if FULL else min(sampled, full), full)
    return drawn[what][0]


def examples(of: settings, full: int, sampled: int | None = None) -> settings:
    """Return settings with as many examples as are to run: a twentieth of many, unless in full."""
    number = full if FULL else (sampled or max(2, full // 20))
    return settings(of, max_examples=number)


def mark_undrawn(items: Iterable[pytest.Item]) -> None:
    """Make slow what the seed does not draw, and what needs the demonstrations as they ship.

    Of the cases of a test with the mark ``sampled(n)`` n run, and of what is left of a module with
    the mark ``sampled_tests(n)``, n again; of all with ``sampled_tests(group="...")`` as many as
    ``GROUPS`` says. Of the modules with the mark ``costly`` some of each folder run, but for their
    tests that start dbt. Of what is left and starts dbt, some modules of each folder run, and of
    each some tests, with all of their cases.
    """
    items = list(items)
    if not FULL:
        _make_slow(item for item in items if "shipped" in getattr(item, "fixturenames", ()))
    _draw_of_each(
        items, "sampled", "cases", lambda item: f"{item.path} {getattr(item, 'originalname', '')}"
    )
    left = [item for item in items if not item.get_closest_marker("slow")]
    _draw_of_each(left, "sampled_tests", "costly tests", _group_or_module)
    left = [item for item in left if not item.get_closest_marker("slow")]
    costly = (item for item in left if item.get_closest_marker("costly"))
    _draw_modules(
        "costly modules", (item for item in costly if tiers.tier(item) == "fast"), _SHARE_OF_COSTLY
    )
    _draw_modules_of_dbt(left)


def _group_or_module(item: pytest.Item) -> str:
    return str(next(item.iter_markers("sampled_tests")).kwargs.get("group", item.path))


def _draw_modules_of_dbt(items: Iterable[pytest.Item]) -> None:
    """Draw of what starts dbt and has no mark that says how much of it runs."""

    def is_marked(item: pytest.Item) -> bool:
        of_group = any(mark.kwargs for mark in item.iter_markers("sampled_tests"))
        return of_group or item.get_closest_marker("sampled") is not None

    starting = (item for item in items if tiers.tier(item) == "dbt" and not is_marked(item))
    modules = _draw_modules("modules that start dbt", starting, _SHARE_OF_MODULES)
    for path, of_module in modules.items():
        label = str(path.relative_to(_TESTS))
        if label not in _ALWAYS:
            _draw_tests(label, of_module)


def _draw_modules(
    what: str, items: Iterable[pytest.Item], share: float
) -> dict[Path, list[pytest.Item]]:
    """Draw a share of the modules of each folder, at least one; return those."""
    folders: dict[Path, dict[Path, list[pytest.Item]]] = {}
    for item in items:
        folders.setdefault(item.path.parent, {}).setdefault(item.path, []).append(item)
    found: dict[Path, list[pytest.Item]] = {}
    for folder, modules in folders.items():
        number = len(modules) if FULL else max(1, round(share * len(modules)))
        label = str(folder.relative_to(_TESTS))
        chosen = {*random.Random(f"{SEED} {label}").sample(sorted(modules), number)}
        chosen |= {path for path in modules if str(path.relative_to(_TESTS)) in _ALWAYS}
        for path, of_module in modules.items():
            if path in chosen:
                found[path] = of_module
            else:
                _make_slow(of_module)
    drawn[what] = (len(found), sum(map(len, folders.values())))
    return found


def _make_slow(items: Iterable[pytest.Item]) -> None:
    for item in items:
        item.add_marker("slow")


def _draw_tests(label: str, items: Iterable[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(getattr(item, "originalname", None) or item.name, []).append(item)
    number = len(tests) if FULL else min(_TESTS_OF_A_MODULE, len(tests))
    chosen = random.Random(f"{SEED} {label}").sample(sorted(tests), number)
    for name in tests.keys() - chosen:
        _make_slow(tests[name])
    ran, of = drawn.get(_TESTS_OF_DBT, (0, 0))
    drawn[_TESTS_OF_DBT] = (ran + number, of + len(tests))


def _draw_of_each(
    items: Iterable[pytest.Item], mark: str, what: str, name_of: Callable[[pytest.Item], str]
) -> None:
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker(mark):
            groups.setdefault(name_of(item), []).append(item)
    ran, of = drawn.get(what, (0, 0))
    for name, group in groups.items():
        marked = next(group[0].iter_markers(mark))
        wanted = GROUPS[marked.kwargs["group"]] if marked.kwargs else marked.args[0]
        number = len(group) if FULL else min(wanted, len(group))
        # Wherever the repository lies, the same are drawn.
        label = name.removeprefix(f"{_TESTS}{os.sep}")
        chosen = random.Random(f"{SEED} {label}").sample(group, number)
        _make_slow(item for item in group if item not in chosen)
        ran, of = ran + number, of + len(group)
    drawn[what] = (ran, of)


def sample(
    what: str, cases: Sequence[Any], share: float, kind: Callable[[Any], Hashable]
) -> list[Any]:
    """Return all cases, which have names, as parameters; those that are not drawn are `slow`.

    Of each kind the share is drawn, at least one, so that no class of failure is left out.
    """
    kinds: dict[Hashable, list[int]] = {}
    for number, case in enumerate(cases):
        kinds.setdefault(kind(case), []).append(number)
    chance = random.Random(SEED)
    wanted = {
        number
        for numbers in kinds.values()
        for number in chance.sample(numbers, max(1, round(share * len(numbers))))
    }
    drawn[what] = (len(cases) if FULL else len(wanted), len(cases))
    return [
        pytest.param(case, id=case.name, marks=() if FULL or number in wanted else pytest.mark.slow)
        for number, case in enumerate(cases)
    ]
