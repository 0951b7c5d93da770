"""Keys of a mapping that no macro declares would be undefined, which Jinja takes for false."""

from __future__ import annotations

import re

import pytest

from dbt_anonymize.project.templating import environment
from tests.macro_keys import bodies, calls, declared_keys, declaring, macros, read_keys

# Relations that are only built before; dbt reads the `ref` in the generated model.
BUILT_BEFORE = {
    "anonymized": {"measured"},
    "identifiers": {"anonymized"},
    "population": {"frequencies"},
    "rows_of_command": {"after"},
    "tokens": {"microdata"},
}
# Macros beside that which declares the keys, and their name of the mapping.
READERS = {
    "aggregates": (("_records_of_effort", "given"),),
    "_measuring": (("_measured_classes", None),),
    "_more": (("microdata", "more"), ("frequencies", "more")),
}
DECLARING = declaring()


def test_generated_models_call_macros_with_one_mapping_and_nothing_else() -> None:
    called: set[str] = set()
    for template in environment().list_templates():
        source = environment().get_template(template).filename
        assert source is not None
        with open(source, encoding="utf-8") as file:
            calls = re.findall(r"{{ dbt_anonymize\.(\w+)\((.*)", file.read())
        assert {after for _, after in calls} <= {"{"}, template
        called |= {name for name, _ in calls}
    assert called == {*bodies()}
    taken = {name: [one.name for one in macros()[name].args] for name in called}
    # Those that an extension can add to take that beside.
    added_to = {name for name, arguments in taken.items() if arguments == ["given", "more"]}
    assert all(taken[name] == ["given"] for name in called - added_to)
    assert added_to == {name for name, _ in READERS["_more"]}


def test_what_declares_keys_is_found() -> None:
    assert [name for name in macros() if declared_keys(name)] == DECLARING
    declared = {
        name
        for name, macro in macros().items()
        if any(called == "_declared" for called, _ in calls(macro))
    }
    assert declared == {*bodies()}


@pytest.mark.parametrize("name", DECLARING)
def test_keys_that_are_read_are_those_that_are_declared(name: str) -> None:
    read = read_keys(name).union(*(read_keys(*one) for one in READERS.get(name, ())))
    assert read | BUILT_BEFORE.get(name, set()) == {*declared_keys(name)}


@pytest.mark.parametrize("name", DECLARING)
def test_no_key_is_a_method_of_mappings(name: str) -> None:
    assert not {*declared_keys(name)} & {*dir({})}


@pytest.mark.parametrize("name", bodies())
def test_arguments_in_place_of_a_mapping_are_taken_to_say_so(name: str) -> None:
    ((declared, arguments),) = (
        call.args[:2] for called, call in calls(macros()[name]) if called == "_declared"
    )
    assert (declared.name, arguments.name) == ("given", "kwargs")
    assert [default.as_const() for default in macros()[name].defaults] in ([None], [None, {}])


def test_macros_are_called_with_the_arguments_that_they_take() -> None:
    """Jinja says nothing of an argument that is missing."""
    broken = []
    for name, macro in macros().items():
        for called, call in calls(macro):
            if called not in macros():
                continue  # of an extension that is not here
            takes = macros()[called]
            names = [one.name for one in takes.args]
            required = {*names[: len(names) - len(takes.defaults)]}
            given = {*names[: len(call.args)], *(one.key for one in call.kwargs)}
            is_spread = call.dyn_args is not None or call.dyn_kwargs is not None
            if len(call.args) > len(names) or not given <= {*names}:
                broken.append(f"{name} gives {called} what it does not take")
            if not is_spread and not required <= given:
                broken.append(f"{name} does not give {called} {required - given}")
    assert not broken
