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
_SHARE_OF_MODULES = 0.15
# Of each module that is drawn.
_TESTS_OF_A_MODULE = 3
_ALWAYS = {
    "end_to_end/test_demo.py",
    "end_to_end/test_verify.py",
    "extensions/provenance/leaks/test_leaks.py",  # whose leaks are drawn by their kind
}
# Of costly tests that several modules have, how many run of each group.
GROUPS = {
    "builds": 2,
    "bytes": 1,
    "commands": 1,
    "fail closed": 1,
    "faults": 1,
    "figures": 2,
    "installation": 1,
    "postgres": 1,
    "processes": 1,
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
    drawn[what] = (full if FULL else sampled, full)
    return drawn[what][0]


def examples(of: settings, full: int, sampled: int | None = None) -> settings:
    """Return settings with as many examples as are to run: a twentieth of many, unless in full."""
    number = full if FULL else (sampled or max(2, full // 20))
    return settings(of, max_examples=number)


def mark_undrawn(items: Iterable[pytest.Item]) -> None:
    """Make slow what the seed does not draw.

    Of the cases of a test with the mark ``sampled(n)`` n run, and of what is left of a module with
    the mark ``sampled_tests(n)``, n again; of all with ``sampled_tests(group="...")`` as many as
    ``GROUPS`` says. Of what is left and starts dbt, some modules of each folder run, and of each
    some tests, with all of their cases.
    """
    items = list(items)
    _draw_of_each(
        items, "sampled", "cases", lambda item: f"{item.path} {getattr(item, 'originalname', '')}"
    )
    left = [item for item in items if not item.get_closest_marker("slow")]
    _draw_of_each(left, "sampled_tests", "costly tests", _group_or_module)
    _draw_modules(item for item in left if not item.get_closest_marker("slow"))


def _group_or_module(item: pytest.Item) -> str:
    return str(next(item.iter_markers("sampled_tests")).kwargs.get("group", item.path))


def _draw_modules(items: Iterable[pytest.Item]) -> None:
    folders: dict[Path, dict[Path, list[pytest.Item]]] = {}
    for item in items:
        grouped = any(mark.kwargs for mark in item.iter_markers("sampled_tests"))
        is_drawn = grouped or item.get_closest_marker("sampled") is not None
        if not is_drawn and tiers.tier(item) == "dbt":
            folders.setdefault(item.path.parent, {}).setdefault(item.path, []).append(item)
    ran, of = 0, 0
    for folder, modules in folders.items():
        number = len(modules) if FULL else max(1, round(_SHARE_OF_MODULES * len(modules)))
        label = str(folder.relative_to(_TESTS))
        chosen = random.Random(f"{SEED} {label}").sample(sorted(modules), number)
        always = {path for path in modules if str(path.relative_to(_TESTS)) in _ALWAYS}
        for path in modules.keys() - {*chosen, *always}:
            for item in modules[path]:
                item.add_marker("slow")
        for path in {*chosen} - always:
            _draw_tests(f"{label}/{path.name}", modules[path])
        ran, of = ran + len({*chosen, *always}), of + len(modules)
    drawn["modules that start dbt"] = (ran, of)


def _draw_tests(label: str, items: Iterable[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        tests.setdefault(getattr(item, "originalname", None) or item.name, []).append(item)
    number = len(tests) if FULL else min(_TESTS_OF_A_MODULE, len(tests))
    chosen = random.Random(f"{SEED} {label}").sample(sorted(tests), number)
    for name in tests.keys() - chosen:
        for item in tests[name]:
            item.add_marker("slow")
    ran, of = drawn.get("tests of them", (0, 0))
    drawn["tests of them"] = (ran + number, of + len(tests))


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
        for item in group:
            if item not in chosen:
                item.add_marker("slow")
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
