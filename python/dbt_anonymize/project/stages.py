"""Stages of a build: the selection of each dbt call, and the Python step before it."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dbt_anonymize.errors import ProjectError, WarehouseError
from dbt_anonymize.project.engines import works_in_one_process
from dbt_anonymize.project.generate import with_results
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import read_profile
from dbt_anonymize.project.rows import has_current_rows, update_rows
from dbt_anonymize.project.steps import OUTER_QUALITY, Step, steps_of
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.relations import HISTORY
from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class Stage:
    """One call of dbt, after the step that it waits for.

    ``has_results``: it builds the results, which the history records.
    """

    step: Step | None
    selected: tuple[str, ...]
    excluded: tuple[str, ...]
    has_results: bool = False


@dataclass(frozen=True)
class Dbt:
    """An executable of dbt, or dbt in this process, with the options of this command."""

    project: Project
    executable: str | None
    options: tuple[str, ...]
    target: str | None

    @classmethod
    def locate(
        cls,
        project: Project,
        executable: Path | None,
        *,
        target: str | None,
        profiles_dir: Path | None,
        is_quiet: bool,
    ) -> Dbt:
        """Return the named executable, else the one beside the running Python, else that of PATH.

        Where only one process may work, dbt runs in this one unless an executable is named.
        """
        options = ["--quiet"] if is_quiet else []
        options += ["--target", target] if target else []
        options += ["--profiles-dir", str(profiles_dir.absolute())] if profiles_dir else []
        if executable is None and works_in_one_process(
            str(read_profile(project.root, target).credentials.type)
        ):
            return cls(project, None, tuple(options), target)
        beside = Path(sys.executable).with_name("dbt")
        wanted = executable or (beside if beside.exists() else Path("dbt"))
        path = shutil.which(wanted)
        if path is None:
            raise ProjectError(f"{wanted}: must be an executable of dbt. Name it with --dbt.")
        return cls(project, str(Path(path).absolute()), tuple(options), target)

    def build(self, stage: Stage) -> int:
        """Run `dbt build` in the project; return its exit code."""
        words = ["build", *self.options, "--select", *stage.selected]
        if stage.excluded:
            words += ["--exclude", *stage.excluded]
        # A test of two relations waits for the later one.
        words += ["--indirect-selection", "buildable"]
        if self.executable is None:
            return _run_here(self.project.root, words)
        words = [self.executable, *words]
        return subprocess.run(words, cwd=self.project.root, check=False).returncode  # noqa: S603


def _run_here(root: Path, words: list[str]) -> int:
    """Run dbt in this process and its session; dbt prints its own errors."""
    from dbt.cli.main import dbtRunner  # noqa: PLC0415 (slow to import)

    with contextlib.chdir(root):
        return 0 if dbtRunner().invoke(words).success else 1


def stages_of(project: Project, spec: Spec) -> list[Stage]:
    """Return the stages of an anonymization; only one where models may be Python."""
    own = f"path:{(project.models / spec.name).relative_to(project.root).as_posix()}"
    if project.has_python or not steps_of(spec):
        return [Stage(None, (f"+{own}",), (), has_results=bool(spec.efforts))]
    return list(_stages(own, spec))


def _stages(own: str, spec: Spec) -> Iterator[Stage]:
    """Cut the graph before each step."""
    steps = steps_of(spec)
    # Only the score on outer records comes after the results.
    before_results = [None, *(step for step in steps if step.name != OUTER_QUALITY)]
    for place, step in enumerate([None, *steps]):
        later = tuple(f"{other.model}+" for other in steps[place:])
        # A comma is an intersection: models that read a release are not built here.
        selected = f"{step.model}+,+{own}" if step else f"+{own}"
        has_results = bool(spec.efforts) and step == before_results[-1]
        yield Stage(step, (selected,), later, has_results=has_results)


def run_stage(dbt: Dbt, spec: Spec, stage: Stage) -> tuple[int, int | None]:
    """Run a step, unless its rows are current, and then dbt; return its exit code and new rows."""
    rows = None
    if stage.step or stage.has_results:
        with open_warehouse(dbt.project, dbt.target) as warehouse:
            if stage.step and not has_current_rows(warehouse, spec, stage.step):
                rows = update_rows(warehouse, spec, stage.step)
            if stage.has_results and _can_be_recorded(warehouse, dbt.project, spec):
                stage = replace(stage, selected=(*stage.selected, HISTORY))
    return dbt.build(stage), rows


def _can_be_recorded(warehouse: Warehouse, project: Project, spec: Spec) -> bool:
    """Tell whether the history can read the results of all anonymizations."""
    for other in with_results(project):
        if other != spec.name:
            try:
                warehouse.relation_of_ref(f"{other}_results")
            except WarehouseError:
                return False
    return True
