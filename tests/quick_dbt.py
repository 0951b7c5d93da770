"""dbt as fast as many short commands in one process need it; what it does stays the same."""

from __future__ import annotations

import functools
import json
import os
import re
from pathlib import Path
from typing import Any


@functools.cache
def make_dbt_quick() -> None:
    """Have dbt keep what it read of macros, and leave out what nobody sees."""
    _remember_macros()
    _remember_templates()
    _look_for_secrets_once()
    _offer_macros_at_once()
    _read_plain_attributes()
    _drop_debug_events()
    _fill_debug_events_late()
    _write_json_at_once()
    _find_with_at_once()
    _read_locales_once()


def _remember_macros() -> None:
    """Keep what was read of macros, as dbt's own tests do: that is most of reading a project.

    It also looks through the source of all callers for who declared a flag, twice in each command.
    """
    from dbt_common.behavior_flags import BehaviorFlagRendered
    from dbt_common.tests import enable_test_caching

    enable_test_caching()
    BehaviorFlagRendered._default_source = staticmethod(lambda: "tests")  # type: ignore[method-assign]


def _remember_templates() -> None:
    """Keep the code of templates: dbt compiles a model to read it and again to run it."""
    from dbt_common.clients.jinja import MacroFuzzEnvironment

    compile_template = MacroFuzzEnvironment.compile
    codes: dict[Any, Any] = {}

    def remembered(self: Any, source: Any, *place: Any, **more: Any) -> Any:
        if not isinstance(source, str) or any(place) or any(more.values()):
            return compile_template(self, source, *place, **more)
        key = (type(self), source)
        if key not in codes:
            codes[key] = compile_template(self, source)
        return codes[key]

    MacroFuzzEnvironment.compile = remembered  # type: ignore[assignment,method-assign]


def _look_for_secrets_once() -> None:
    """Skip the search for secrets in every error if the environment has none.

    dbt makes an error of each macro that a project does not override.
    """
    from dbt_common.constants import SECRET_ENV_PREFIX
    from dbt_common.exceptions import base

    find = base.env_secrets
    prefix = SECRET_ENV_PREFIX.encode()

    def found() -> list[str]:
        return find() if any(name.startswith(prefix) for name in os.environ._data) else []  # type: ignore[attr-defined]

    base.env_secrets = found


def _offer_macros_at_once() -> None:
    """Make the thousand objects that each context offers, one per macro, without detours."""
    from dbt.clients.jinja import MacroGenerator
    from dbt.context.macros import GLOBAL_PROJECT_NAME, MacroNamespace, MacroNamespaceBuilder

    def make(
        self: Any, macro: Any, context: Any = None, node: Any = None, stack: Any = None
    ) -> None:
        self.macro, self.context, self.node, self.stack = macro, context, node, stack

    MacroGenerator.__init__ = make  # type: ignore[method-assign]
    if not hasattr(MacroNamespace, "_search_order"):  # dbt 1.12 merges them itself
        return

    class Merged(dict[str, Any]):
        """All that a context offers, which it takes at once from a dictionary."""

        get_from_package = MacroNamespace.get_from_package
        packages: dict[str, Any]
        global_project_namespace: dict[str, Any]

    def build(self: Any, macros_by_package: Any, ctx: Any) -> Merged:
        packages = {
            package: {
                name: MacroGenerator(macro, ctx, self.node, self.thread_ctx)
                for name, macro in macros.items()
            }
            for package, macros in macros_by_package.items()
        }
        internal: dict[str, Any] = {}
        for package in reversed(self.internal_package_names_order):
            internal.update(packages.pop(package, {}))
        found = Merged(internal, **{GLOBAL_PROJECT_NAME: internal}, **packages)
        found.packages, found.global_project_namespace = packages, internal
        for package in (self.root_package, self.search_package):
            found.update(packages.get(package, {}))
        return found

    MacroNamespaceBuilder.build_namespace = build  # type: ignore[assignment,method-assign]


def _read_plain_attributes() -> None:
    """Let templates read public attributes of plain values, which are never internal, at once."""
    from jinja2.sandbox import SandboxedEnvironment
    from jinja2.utils import Namespace

    plain = {Namespace, bool, dict, float, int, list, str, tuple}
    is_safe_attribute = SandboxedEnvironment.is_safe_attribute

    def is_safe(self: Any, obj: Any, attr: str, value: Any) -> bool:
        is_plain = type(obj) in plain and not attr.startswith("_")
        return is_plain or is_safe_attribute(self, obj, attr, value)

    SandboxedEnvironment.is_safe_attribute = is_safe  # type: ignore[method-assign]


def _drop_debug_events() -> None:
    """Make no debug message where no log takes it.

    Of them a callback takes one: by that a command is over, the vault's umask is given back.
    """
    from dbt_common.events.base_types import EventLevel
    from dbt_common.events.event_manager import EventManager

    fire = EventManager.fire_event

    def fire_what_is_seen(self: Any, e: Any, level: Any = None, *rest: Any, **named: Any) -> None:
        is_seen = (
            (level or e.level_tag()) != EventLevel.DEBUG
            or type(e).__name__ == "CommandCompleted"
            or any(log.level == EventLevel.DEBUG for log in self.loggers)
        )
        if is_seen:
            fire(self, e, level, *rest, **named)

    EventManager.fire_event = fire_what_is_seen  # type: ignore[method-assign]


def _fill_debug_events_late() -> None:
    """Fill the message of a debug event when somebody reads it: nearly none is."""
    from dbt_common.events.base_types import BaseEvent, DebugLevel

    fill = BaseEvent.__init__

    def keep(self: Any, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "_given", (args, kwargs))

    def read(self: Any, key: str) -> Any:
        if key == "pb_msg":
            args, kwargs = object.__getattribute__(self, "_given")
            fill(self, *args, **kwargs)
            return object.__getattribute__(self, key)
        return getattr(self.pb_msg, key)

    def write(self: Any, key: str, value: Any) -> None:
        if key == "pb_msg":
            object.__setattr__(self, key, value)
        else:
            setattr(self.pb_msg, key, value)

    DebugLevel.__init__ = keep  # type: ignore[method-assign]
    DebugLevel.__getattr__ = read  # type: ignore[method-assign]
    DebugLevel.__setattr__ = write  # type: ignore[assignment,method-assign]


def _write_json_at_once() -> None:
    """Encode the manifest, of which most are macros, in C instead of piece by piece."""
    from dbt.artifacts.schemas import base
    from dbt_common.utils.encoding import JSONEncoder

    def write_json(path: str, data: dict[str, Any]) -> bool:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(data, cls=JSONEncoder), encoding="utf-8")
        return True

    base.write_json = write_json


def _find_with_at_once() -> None:
    """Leave the tokens of a statement ungrouped where `with` is the first.

    Before the rows of a unit test dbt only looks for it, and grouping takes seconds.
    """
    import sqlparse

    parse = sqlparse.parse

    def parse_as_needed(sql: str, *more: Any, **named: Any) -> Any:
        if not re.match(r"\s*with\s", sql, re.IGNORECASE):
            return parse(sql, *more, **named)
        return tuple(sqlparse.engine.FilterStack().run(sql, *more, **named))

    sqlparse.parse = parse_as_needed


def _read_locales_once() -> None:
    """Keep what is known of dates in a locale: dbt asks for it with the rows of each query."""
    import parsedatetime

    parsedatetime.Constants = functools.cache(parsedatetime.Constants)
