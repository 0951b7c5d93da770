"""Working folder of a command, and the options that all commands share."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, TypeVar

import typer

from dbt_anonymize.cli.common import ProfilesDir, Quiet, errors_without_traceback, spinner
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extension import without_dbt

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.stages import Dbt
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

First = TypeVar("First")

ProjectDir = Annotated[
    Path, typer.Option("--project-dir", help="A dbt project, or a folder in it.")
]
Target = Annotated[str | None, typer.Option(help="Target of the profile; that of dbt by default.")]


@dataclass(frozen=True)
class Place:
    """A folder of a dbt project, and a target of its profile, by default that of dbt."""

    folder: Path
    target: str | None = None
    profiles_dir: Path | None = None

    @cached_property
    def project(self) -> Project:
        """The project that holds the folder."""
        from dbt_anonymize.project.layout import find_project  # noqa: PLC0415 (keeps --help fast)

        return find_project(self.folder)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Warehouse]:
        """Open the warehouse of the target to read models and seeds, without dbt if possible."""
        with contextlib.ExitStack() as stack:
            warehouse = None
            if reader := without_dbt():
                with spinner("Reading the project"):
                    opened = reader.open_to_read(self.project, self.target)
                    warehouse = stack.enter_context(opened)
            yield warehouse or stack.enter_context(self.warehouse())

    @contextlib.contextmanager
    def warehouse(self, *, writes_vault: bool = False) -> Iterator[Warehouse]:
        """Open the warehouse of the target."""
        with contextlib.ExitStack() as stack:
            with spinner("Reading the project"):
                from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

                warehouse = stack.enter_context(
                    open_warehouse(self.project, self.target, writes_vault=writes_vault)
                )
            yield warehouse

    def dbt(self, executable: Path | None, *, is_quiet: bool) -> Dbt:
        """Return an executable of dbt, by default the one beside this command."""
        from dbt_anonymize.project.stages import Dbt  # noqa: PLC0415

        return Dbt.locate(
            self.project,
            executable,
            target=self.target,
            profiles_dir=self.profiles_dir,
            is_quiet=is_quiet,
        )

    def spec(self, name: str, *, of_records: bool = True) -> Spec:
        """Return the spec of an anonymization, by default one that releases records."""
        from dbt_anonymize.spec.loading import require_records  # noqa: PLC0415 (as above)

        (spec,) = self.specs([name])
        return require_records(spec) if of_records else spec

    def only_spec(self, name: str | None, *, of_records: bool = True) -> Spec:
        """Return the spec of an anonymization; without a name, there must be one."""
        from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415 (keeps --help fast)

        if name is not None:
            return self.spec(name, of_records=of_records)
        if others := list(spec_paths(self.project.root))[1:]:
            raise SpecError(
                f"NAME: must say which of {len(others) + 1} anonymizations; got none. They are "
                f"{', '.join(spec_paths(self.project.root))}."
            )
        (spec,) = self.specs()
        return self.spec(spec.name, of_records=of_records)

    def specs(self, names: list[str] | None = None) -> list[Spec]:
        """Return the named specs, all by default; there must be at least one."""
        from dbt_anonymize.spec import load_specs  # noqa: PLC0415

        specs = load_specs(self.project.root, names)
        if not specs:
            raise SpecError(
                "anonymizations/: must hold at least one anonymization; there is none. "
                "Start with `dbt-anonymize init`."
            )
        return specs

    def other_names(self, name: str) -> list[str]:
        """Return the names of further anonymizations, even if their specs are invalid."""
        from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

        return [other for other in spec_paths(self.project.root) if other != name]

    def relative_name(self, path: Path) -> str:
        """Return a path as it is printed, from the root of the project."""
        return path.relative_to(self.project.root).as_posix()


def with_options_of(
    make: Callable[..., First], *, without: Collection[str] = ()
) -> Callable[[Callable[Concatenate[First, ...], None]], Callable[..., None]]:
    """Give a command the options of ``make``, and its result as the first argument.

    Options in ``without`` keep their defaults. Our own errors are printed as messages and exit with
    the code of bad input.
    """
    parameters = inspect.signature(make, eval_str=True).parameters
    options = {name: option for name, option in parameters.items() if name not in without}

    def decorate(command: Callable[Concatenate[First, ...], None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> None:
            with errors_without_traceback():
                command(make(**{name: kwargs.pop(name) for name in options}), *args, **kwargs)

        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        shared = [
            option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options.values()
        ]
        run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
        return run

    return decorate


def _place(
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> Place:
    return Place(project_dir, target, profiles_dir)


on_target = with_options_of(_place)
in_project = with_options_of(_place, without={"target"})
