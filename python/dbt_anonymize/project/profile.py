"""The profile that dbt would use, read without opening a warehouse."""

from __future__ import annotations

import contextlib
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import ProjectError, WarehouseError
from dbt_anonymize.extension import without_dbt
from dbt_anonymize.project.engines import find_server
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.problems import did_you_mean, names
from dbt_anonymize.spec.yaml_text import parse_yaml

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.config.profile import Profile
    from dbt.contracts.graph.manifest import Manifest


def run_dbt(words: Sequence[str], manifest: Manifest | None = None) -> dbtRunnerResult:
    """Run dbt in this process; an interrupt, which dbt reports as a failure, is raised again.

    With a ``manifest`` the project is not parsed again.
    """
    from dbt.cli.main import dbtRunner  # noqa: PLC0415 (slow to import)

    outcome = dbtRunner(manifest=manifest).invoke(list(words))
    if isinstance(outcome.exception, KeyboardInterrupt):
        raise KeyboardInterrupt
    return outcome


def dbt_arguments(root: Path, target: str | None = None) -> Namespace:
    """Return dbt's command line arguments, with its own defaults, in the working directory."""
    has_own = Path("profiles.yml").exists()
    default = Path.cwd() if has_own else Path.home() / ".dbt"
    return Namespace(
        project_dir=str(root),
        profiles_dir=os.environ.get("DBT_PROFILES_DIR", str(default)),
        profile=os.environ.get("DBT_PROFILE"),
        target=target or os.environ.get("DBT_TARGET"),
        vars={},
        threads=None,
    )


def read_profile(root: Path, target: str | None = None) -> Any:
    """Return the profile of the dbt project in a folder, without dbt where an extension can.

    A profile that dbt cannot read is a `ProjectError` without its lines, which may hold passwords.
    """
    reader = without_dbt()
    return (reader and reader.read_profile(root, target)) or read_profile_by_dbt(root, target)


def read_profile_by_dbt(root: Path, target: str | None = None) -> Profile:
    """Return the profile of the dbt project in a folder, to which its paths are relative.

    A profile that dbt cannot read is a `ProjectError` without its lines, which may hold passwords.
    """
    # Slow to import.
    from dbt.config.runtime import load_profile  # noqa: PLC0415
    from dbt.flags import set_from_args  # noqa: PLC0415
    from dbt_common.context import set_invocation_context  # noqa: PLC0415
    from dbt_common.exceptions import DbtBaseException  # noqa: PLC0415

    with contextlib.chdir(root):
        arguments = dbt_arguments(root, target)
        try:
            set_from_args(arguments, None)
            set_invocation_context(os.environ)  # in which `env_var` looks
            return load_profile(str(root), {}, arguments.profile, arguments.target)
        # dbt uses the profile before it checks its types.
        except (DbtBaseException, AttributeError, KeyError, TypeError) as error:
            raise ProjectError(_profile_problem(root, arguments, error)) from None


def _profile_problem(root: Path, arguments: Namespace, error: Exception) -> str:
    """Return why dbt cannot read a profile, naming only files, profiles, targets and lines."""
    file = Path(arguments.profiles_dir) / "profiles.yml"
    try:
        profiles = parse_yaml(file.read_text(encoding="utf-8"))
        project = parse_yaml((root / PROJECT_FILE).read_text(encoding="utf-8"))
    except ProjectError as broken:
        return f"{file}: {broken}"
    except (OSError, ValueError) as unreadable:
        return (
            f"{file}: must be a file that can be read ({type(unreadable).__name__}). Write it, or "
            "name its folder with --profiles-dir."
        )
    profile = arguments.profile or mapping(project).get("profile")
    if profile not in mapping(profiles):
        return _unknown_profile(file, profile, mapping(profiles), mapping(project))
    declared = mapping(profiles[profile])
    targets = list(map(str, mapping(declared.get("outputs"))))
    if not targets:
        return f"{file}: the profile {profile} must have targets under outputs. Write one."
    target = arguments.target or declared.get("target", "default")
    if target not in targets and "{{" not in str(target):
        remedy = did_you_mean(target, targets, "Name one of them with --target.")
        return (
            f"{target}: must be a target of the profile {profile}, which has {names(targets)}. "
            f"{remedy}"
        )
    return (
        f"{file}: the target {target} of the profile {profile} must be one that dbt can read; got "
        f"{type(error).__name__}. See `dbt debug`."
    )


def _unknown_profile(
    file: Path, profile: str | None, profiles: Mapping[str, Any], project: Mapping[str, Any]
) -> str:
    if profile is None:
        return f"{PROJECT_FILE}: must name a profile. Add `profile: {project.get('name')}`."
    others = [str(name) for name in profiles if name != "config"]
    return (
        f"{file}: must have the profile {profile}, which dbt_project.yml names; it has "
        f"{names(others)}. {did_you_mean(profile, others, 'Write it, or correct the name.')}"
    )


def require_reachable(root: Path, target: str | None) -> None:
    """Stop if commands cannot read rows of the target."""
    credentials: Any = read_profile(root, target).credentials
    server = find_server(str(credentials.type))
    if server and (reason := server.unreached(credentials)):
        raise WarehouseError(reason)


def rendered_model_path(root: Path) -> str:
    """Return the first of ``model-paths`` where dbt has to render it, as in ``{{ target.name }}``.

    A `ProjectError` if dbt cannot read the profile or the project.
    """
    from dbt.config.runtime import load_project  # noqa: PLC0415 (slow to import)
    from dbt_common.exceptions import DbtBaseException  # noqa: PLC0415

    profile = read_profile_by_dbt(root)
    try:
        return str(load_project(str(root), False, profile, {}).model_paths[0])
    except DbtBaseException as error:
        raise ProjectError(
            f"{root}: must be a project that dbt can read; got {type(error).__name__}. "
            "See `dbt debug`."
        ) from error
