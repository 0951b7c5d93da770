"""The text of a draft, and of the properties of its seeds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import yaml

from dbt_anonymize import literals
from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.extensions.drafting.linked_tables import (
    KNOWN_RECORDS,
    LINKED_LIMIT,
    MOST_LOST,
    LinkedTables,
)
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal, is_amount
from dbt_anonymize.extensions.drafting.subjects import may_share
from dbt_anonymize.extensions.drafting.table import SUPPRESSION_LIMIT, Draft, K
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.about import requirement
from dbt_anonymize.project.layout import Project
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import FOLDER, SUFFIX, load_spec, validate
from dbt_anonymize.spec.models import LONGEST_NAME, RESERVED_SPEC_NAMES
from dbt_anonymize.spec.sources import Source


def check_name(
    project: Project,
    name: str,
    *,
    replaces: bool = False,
    is_written: bool = True,
    k: int | None = None,
) -> Path:
    """Return the path of the spec of a new anonymization, relative to the project.

    An unusable name is a `SpecError`. If the spec is written, replacing one that promises more than
    a draft with ``k`` is a `SpecError`, and an existing one without ``replaces`` a `ProjectError`.
    """
    usable = re.fullmatch("[a-z][a-z0-9_]*", name) and len(name) <= LONGEST_NAME
    if not usable or name in RESERVED_SPEC_NAMES:
        raise SpecError(
            f"the name of an anonymization must start with a-z, hold only a-z, 0-9 and _, have at "
            f"most {LONGEST_NAME} characters and not be 'anonymization'; got {name!r}. "
            "Choose another name."
        )
    path = Path(FOLDER) / f"{name}{SUFFIX}"
    is_there = is_written and (project.root / path).exists()
    if is_there and not replaces:
        raise ProjectError(
            f"{path.as_posix()}: must not exist yet. Choose another name, edit it, or write it "
            "anew with --replace."
        )
    if is_there:
        _check_replaced(project, path, k or K)
    return path


def _check_replaced(project: Project, path: Path, k: int) -> None:
    """Raise a `SpecError` if the spec to be replaced promises more than a draft.

    A spec that cannot be read promises nothing, since it cannot be built.
    """
    try:
        guarantees = load_spec(project.root / path).guarantees
    except (SpecError, OSError):
        return
    if len(guarantees.declared) > 1 or guarantees.k_anonymity.k > k:
        declared = ", ".join(map(requirement, guarantees.resolved))
        raise SpecError(
            f"{path.as_posix()}: must promise no more than a draft does, k_anonymity (k {k}), to "
            f"be written anew; it promises {declared}. `dbt-anonymize search {path.stem}` finds "
            "efforts that keep that. To draft anew after all, remove guarantees from it first, "
            "and write them again."
        )


def spec_text(
    name: str,
    source: Source,
    drafted: Draft,
    *,
    takes_all: bool,
    purpose: str = "model",
    linked: LinkedTables | None = None,
) -> str:
    """Return the YAML of a draft; undecided roles are TODO unless ``takes_all``.

    For statistics without a target it has no keys of models. With ``linked`` tables it has efforts
    also where something is undecided.
    """
    decided = [proposal for proposal in drafted.proposals if proposal.is_decided or takes_all]
    target = drafted.target
    released_roles = {"quasi_identifier", "insensitive", "sensitive"}
    known_before = [
        proposal for proposal in decided if not (proposal.is_target or proposal.is_time)
    ]
    features = [
        proposal.name
        for proposal in known_before
        if proposal.role in released_roles and not proposal.is_leak
    ]
    usable = [proposal for proposal in features if proposal not in drafted.failed]
    of_linked = [one for table in (linked.tables if linked else ()) for one in table.proposals]
    return (
        _environment()
        .get_template("draft.yml.j2")
        .render(
            **_context_of_columns(name, source, drafted, takes_all=takes_all),
            described=_description(source, target.name if target is not None else None),
            counted_by="k counts",
            purpose=purpose,
            is_tested=target is not None or purpose != "statistics",
            has_fidelity="fidelity" in Spec.model_fields,
            sensitive=[
                proposal.name
                for proposal in decided
                if proposal.role == "sensitive" and not proposal.is_time
            ],
            amounts=[proposal.name for proposal in decided if is_amount(proposal.facts)],
            target=target.name if target is not None and target in decided else None,
            features=usable,
            # Efforts have a level for each quasi-identifier, so all must be decided.
            efforts=drafted.efforts if takes_all or len(decided) == len(drafted.proposals) else [],
            k=drafted.k,
            suppression_limit=SUPPRESSION_LIMIT,
            linked=linked,
            linked_limit=LINKED_LIMIT,
            most_lost=MOST_LOST,
            known_records=KNOWN_RECORDS,
            is_undecided=not takes_all
            and not all(one.is_decided for one in [*drafted.proposals, *of_linked]),
        )
    )


def columns_text(
    name: str, source: Source, drafted: Draft, *, takes_all: bool, described: str
) -> str:
    """Return the YAML of a draft up to its columns, for a spec that releases no records."""
    context = _context_of_columns(name, source, drafted, takes_all=takes_all)
    template = _environment().get_template("_columns.yml.j2")
    return template.render(**context, described=described, counted_by="Cells count")


def _context_of_columns(
    name: str, source: Source, drafted: Draft, *, takes_all: bool
) -> dict[str, Any]:
    return {
        "name": name,
        "source": source,
        "drafted": drafted,
        "records": drafted.proposals[0].facts.records if drafted.proposals else 0,
        "key": next((one.name for one in drafted.proposals if one.role == KEY), None),
        "columns": [
            (one, one.is_decided or takes_all) for one in drafted.proposals if one.role != KEY
        ],
        "takes_all": takes_all,
    }


def _description(source: Source, target: str | None) -> str:
    """Return a description of the release, to be replaced by a person."""
    table = source.ref or ".".join(source.source or ())
    return f"{table}, {f'to predict {target}' if target else 'for statistics'} (draft)."


def spec_of(text: str, drafted: Draft, linked: LinkedTables | None = None) -> Spec:
    """Return the spec of a draft whose seeds are not written; an undecided one is a `SpecError`."""
    raw = yaml.safe_load(text)
    parts: list[tuple[Any, Mapping[str, Plan]]] = [(raw["columns"], drafted.plans)]
    parts += [
        (raw["linked"]["tables"][one.name]["columns"], one.plans)
        for one in (linked.tables if linked else ())
    ]
    for columns, plans in parts:
        for name, plan in plans.items():
            columns[name]["hierarchy"]["levels"] = plan.hierarchy.levels
    spec, problems = validate(raw)
    if spec is None:
        raise SpecError("\n".join(map(str, problems)))
    return spec


def seeds_text(name: str, drafted: Draft) -> str:
    """Return the properties of the seeds: labels are texts, and each hierarchy is tested."""
    return _environment().get_template("seeds.yml.j2").render(name=name, drafted=drafted)


def shown_type(proposal: Proposal) -> str:
    """Return a type on one line."""
    return literals.printable(proposal.facts.type)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dbt_anonymize.extensions.drafting"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (YAML, not HTML)
    )
    # dbt never reads a spec, so braces stay as they are.
    environment.filters["yaml"] = literals.plain_yaml_text
    environment.filters["dbt_prose"] = lambda text: literals.yaml_text(literals.markdown(text))
    environment.filters["comment"] = lambda text: literals.printable(" ".join(str(text).split()))
    environment.filters["records"] = lambda number: pluralized(number, "record")
    environment.globals["shown_type"] = shown_type
    environment.globals["may_share"] = may_share
    return environment
