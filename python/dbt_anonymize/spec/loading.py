"""Load specs from files; the errors of all files are raised together."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extension import other_release
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec.draft import UNDECIDED
from dbt_anonymize.spec.efforts import is_shorthand
from dbt_anonymize.spec.hierarchy_levels import ProjectFiles, with_levels
from dbt_anonymize.spec.models import SHAPE_ONLY, Spec
from dbt_anonymize.spec.of_extensions import remedy_of
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, short_repr
from dbt_anonymize.spec.renamed_columns import with_renamed_column
from dbt_anonymize.spec.rules import BROKEN_RULES, violations
from dbt_anonymize.spec.yaml_file import read_yaml

FOLDER = "anonymizations"
SUFFIX = ".yml"

# A change of the content of a spec before it is checked.
Prepare = Callable[[dict[str, Any]], dict[str, Any]]

# Rule and remedy of each type of pydantic error.
_MESSAGES = {
    "missing": ("must be given", "Add it."),
    "string_type": ("must be text", "Put it in quotes."),
    "int_type": ("must be a whole number", "Write digits only, without quotes."),
    "float_type": (
        "must be a number",
        "Write it like 0.05, without % or a comma; YAML reads 1e-3 as text.",
    ),
    "bool_type": ("must be true or false", "Write true or false."),
    "finite_number": ("must be a finite number", "Write a number."),
    "dict_type": ("must be a mapping of keys to values", "Write one key: value per line."),
    "model_type": ("must be a mapping of keys to values", "Write one key: value per line."),
    "tuple_type": ("must be a list", "Write it like [first, second]."),
    "string_pattern_mismatch": (
        "must start with a-z and hold only a-z, 0-9 and _",
        "Rename it: it becomes part of the names of relations.",
    ),
    "string_too_short": ("must not be empty", "Write a name."),
    "string_too_long": ("must have at most {max_length} characters", "Shorten it."),
    "too_short": ("must have at least {min_length} entries", "Add one."),
    "too_long": ("must have at most {max_length} entries", "Remove the others."),
    "greater_than_equal": ("must be >= {ge}", "Raise it."),
    "greater_than": ("must be > {gt}", "Raise it."),
    "less_than_equal": ("must be <= {le}", "Lower it."),
    "less_than": ("must be < {lt}", "Lower it."),
    "literal_error": ("must be {expected}", "Write one of these."),
    "union_tag_invalid": ("must have as {discriminator} one of {expected_tags}", "Correct it."),
    "union_tag_not_found": ("must say which {discriminator} it has", "Add it."),
}


def require_records(spec: Spec) -> Spec:
    """Return a spec that releases records; a `SpecError` if it releases something else."""
    if other_release(spec):
        raise SpecError(
            f"{spec.name}: must release records for this; it releases something else. "
            f"`dbt-anonymize results {spec.name}` shows it, with --history every release of it, "
            f"and `dbt-anonymize verify {spec.name}` checks it."
        )
    return spec


def load_spec(path: Path, prepare: Prepare = dict) -> Spec:
    """Read and validate ``anonymizations/<name>.yml``; a `SpecError` has one line per error.

    ``prepare`` changes its content before.
    """
    return _load([path], path.parent.parent, prepare)[0]


def load_specs(project_dir: Path, names: Collection[str] | None = None) -> list[Spec]:
    """Read and validate the specs of a project (by default all), ordered by name.

    A `SpecError` has one line per error of all files, and per name without a file.
    """
    paths = spec_paths(project_dir)
    wanted = sorted(paths) if not names else sorted(set(names))
    unknown = [name for name in wanted if name not in paths]
    if unknown:
        raise SpecError(
            "\n".join(
                f"{FOLDER}/{name}{SUFFIX}: must exist. "
                + did_you_mean(name, paths, "Write it, or start with `dbt-anonymize init`.")
                for name in unknown
            )
        )
    return _load([paths[name] for name in wanted], root=project_dir)


def read_shape(path: Path) -> Spec | None:
    """Return the spec of a file without checking the rules between keys; None if it is invalid."""
    content, problems = read_yaml(path)
    if problems or not isinstance(content, dict):
        return None
    raw, problems = with_levels(_with_text_keys(content), path)
    if problems:
        return None
    try:
        return Spec.model_validate(raw, context=SHAPE_ONLY)
    except ValidationError:
        return None


def spec_paths(project_dir: Path) -> dict[str, Path]:
    """Return the file of each anonymization of a project by name, ordered by name."""
    return {path.stem: path for path in sorted((project_dir / FOLDER).glob(f"*{SUFFIX}"))}


def _load(paths: Iterable[Path], root: Path, prepare: Prepare = dict) -> list[Spec]:
    specs: list[Spec] = []
    lines: list[str] = []
    around = cache(ProjectFiles.around)
    for path in paths:
        spec, problems = _read(path, prepare, around)
        file = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        lines.extend(f"{file}: {problem}" for problem in problems)
        if spec is not None:
            specs.append(spec)
    if lines:
        raise SpecError("\n".join(lines))
    return specs


def _read(
    path: Path, prepare: Prepare, around: Callable[[Path], ProjectFiles | None]
) -> tuple[Spec | None, list[Problem]]:
    content, problems = read_yaml(path)
    if not isinstance(content, dict):
        if not problems:
            got = "an empty file" if content is None else short_repr(content)
            problems.append(
                Problem(
                    (),
                    "must be a mapping of keys to values",
                    "Start with `dbt-anonymize init`.",
                    got,
                )
            )
        return None, problems
    # A key that is not text is already reported.
    raw, of_levels = with_levels(prepare(_with_text_keys(content)), path, around)
    problems.extend(of_levels)
    reported = {problem.path for problem in problems}
    spec, invalid = validate(raw)
    problems.extend(problem for problem in invalid if problem.path not in reported)
    name = raw.get("name")
    if isinstance(name, str) and name != path.stem:
        problems.append(
            Problem(
                ("name",),
                f"must be the name of the file, {path.stem}",
                "Correct it, or rename the file.",
                short_repr(name),
            )
        )
    return spec, problems


def validate(raw: dict[str, Any]) -> tuple[Spec | None, list[Problem]]:
    """Return the spec of raw YAML, or None and its problems: first those of single keys."""
    try:
        return Spec.model_validate(raw), []
    except ValidationError as error:
        errors = error.errors()
    details = [item for item in errors if not _is_repetition(item)]
    # A union reports each of its branches at the same place.
    translated = (_problem_of(_at_written_path(item, raw)) for item in details)
    single = {problem.path: problem for problem in translated}
    between = [problem for problem in violations(raw) if problem.path not in single]
    # An error mistaken for a repetition must never let a spec pass.
    hidden = [
        Problem((), f"must keep the rules between its keys: {item['msg']}", "Correct it.")
        for item in errors
    ]
    return None, with_renamed_column([*single.values(), *between], raw) or hidden


def _is_repetition(detail: ErrorDetails) -> bool:
    """Tell whether an error only repeats another one."""
    if detail["type"] == "too_short":  # entries that are wrong themselves do not count
        return len(detail["input"]) >= int(detail["ctx"]["min_length"])
    return detail["type"] == BROKEN_RULES


def _at_written_path(detail: ErrorDetails, raw: object) -> ErrorDetails:
    """Return an error at the path that the user wrote: validation expands shorthand."""
    location: list[int | str] = []
    for key in detail["loc"]:
        is_list = isinstance(raw, (list, tuple))
        if isinstance(key, int) and not is_list:
            continue
        # The branch of a union by a key of its own is a value in the file.
        if isinstance(raw, Mapping) and key not in raw and key in {*map(str, raw.values())}:
            continue
        # What is shown of classes is written among their levels.
        is_level = key == "levels" or (key == "shown" and detail["loc"][-1] != key)
        if is_level and location[:1] == ["efforts"]:
            if is_shorthand(raw):
                continue
            key = "levels"  # noqa: PLW2901
        location.append(key)
        if isinstance(raw, Mapping):
            raw = raw.get(key)
        elif isinstance(raw, (list, tuple)) and isinstance(key, int) and key < len(raw):
            raw = raw[key]
        else:
            raw = None
    return {**detail, "loc": tuple(location)}


def _problem_of(detail: ErrorDetails) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    location = tuple(key for key in detail["loc"] if key != "[key]")
    path: KeyPath = tuple(key + 1 if isinstance(key, int) else key for key in location)
    if path[:1] == ("quality",) and "positive" in path[1:4]:
        path = path[: path.index("positive") + 1]  # without the branch of the union
        return Problem(
            path,
            "must be a value of the target: text, a whole number, or true or false",
            "Write the value; put text in quotes.",
            short_repr(detail["input"]),
        )
    if kind == "rule":
        return Problem(path, context["rule"], context["remedy"], _input_text(detail["input"]))
    if kind == "extra_forbidden":
        return Problem(path, "must be a key that we know", _unknown_key_remedy(path))
    rule, remedy = _MESSAGES.get(kind, (f"must be valid ({detail['msg']})", "Correct it."))
    if kind == "missing":
        return Problem(path, rule, remedy)
    if path[:1] == ("guarantees",) and kind in {"tuple_type", "model_type"} and path[1:]:
        fields = MODELS[str(path[1])].model_fields.items()
        needed = ", ".join(f"{name}: ..." for name, of in fields if of.is_required())
        rule, remedy = "must be a mapping of its parameters", f"Write it like {{{needed}}}."
    if kind == "less_than_equal" and context["le"] == 1:
        remedy = f"Write {detail['input'] / 100:g} for {detail['input']:g} %."
    if kind == "literal_error" and detail["input"] == UNDECIDED:
        return Problem(path, "must be decided", f"Write one of {context['expected']}.", UNDECIDED)
    if kind == "literal_error":
        remedy = did_you_mean(detail["input"], re.findall("'([^']*)'", context["expected"]), remedy)
    limits = {key: _whole(value) for key, value in context.items()}
    return Problem(path, rule.format(**limits), remedy, _input_text(detail["input"]))


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _input_text(value: object) -> str:
    """Return the input for a message: a scalar as it is, a collection by its kind."""
    if isinstance(value, dict):
        return f"a mapping of {names(str(key) for key in value)}"
    if isinstance(value, (list, tuple)):
        return "an empty list" if not value else f"a list of {len(value)}"
    return short_repr(value)


def _unknown_key_remedy(path: KeyPath) -> str:
    types: list[Any] = [Spec]
    for key in path[:-1]:
        types = [inner for kind in types for inner in _types_below(kind, key)]
    known = [name for kind in types for name in _fields(kind)]
    remedy = did_you_mean(path[-1], known, f"Remove it; known keys are {names(known)}.")
    return remedy_of(path, remedy)


def _types_below(annotation: Any, key: str | int) -> list[Any]:
    """Return the types of the values under a key, for a value of this type."""
    if _is_model(annotation):
        field = annotation.model_fields.get(key)
        return [] if field is None else [field.annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return [inner[1]]
    if origin in {list, tuple} and isinstance(key, int):
        return [inner[0]]
    return [below for kind in inner for below in _types_below(kind, key)]


def _fields(annotation: Any) -> list[str]:
    """Return the keys of the models that a value may be, alone or as the item of a list."""
    if _is_model(annotation):
        return list(annotation.model_fields)
    is_mapping = get_origin(annotation) is dict
    return [] if is_mapping else [name for kind in get_args(annotation) for name in _fields(kind)]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _with_text_keys(value: Any) -> Any:
    """Return the content with every key as text, so that an odd key hides no other error."""
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(key): _with_text_keys(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_text_keys(item) for item in value]
    return value
