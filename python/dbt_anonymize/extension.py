"""The contract of an extension, and the list of those that come with the package.

An extension is what an anonymization can do without. It lies in ``extensions/<name>`` of Python,
macros and tests, and its package holds an ``EXTENSION``, which says all that others need to know of
it. Core calls what is registered and knows no extension by name: without its folders and its line
in ``_SHIPPED``, and those of the extensions that need it, everything else works.

Other packages add extensions by entry points, see `dbt_anonymize.entry_points`: keys, rules,
commands, checks, functions, steps, sections of reports, figures of dossiers, and relations whose
models call macros of a dbt package of their own. They add nothing within the SQL of relations of
the core, but for what a macro that writes such a relation in place of the core's adds to it. So
they add no privacy models: an extension that brings some is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Any

from dbt_anonymize.documents import DossierFigures, ReportSections
from dbt_anonymize.entry_points import foreign_extensions

# Folders of `extensions`, one line each, in the order in which their commands are listed.
_SHIPPED: tuple[str, ...] = (
    "payouts",
    "external_efforts",
    "recoding",
    "partitions",
    "second_month",
    "details",
    "inspection",
    "fidelity",
    "class_sizes",
    "differential_privacy",
    "custody",
    "diff",
    "installation",
    "hierarchy_builders",
    "left_out",
    "drafting",
    "trial",
    "search",
    "provenance",
    "identifier_search",
    "attacks",
    "tables",
    "linked",
    "report",
    "dossier",
    "notebook",
    "quick_reading",
    "quick_trees",
    "postgres",
    "spark",
)
_PACKAGE = "dbt_anonymize.extensions"


class Stage(StrEnum):
    """Stage of work in which somebody needs a command; they are listed by stage."""

    begin = "Begin"
    build = "Build and publish"
    read = "Read and check"
    people = "Go back to people"
    tools = "Tools"


@dataclass(frozen=True)
class Command:
    """A command and its place in the package.

    Attributes
    ----------
    name : str
        Its name, or those of a group and of a command that joins it: ``hierarchy by-target``.
    module : str
        Module that has a function of its last name, or an ``app``, a group of commands. Relative to
        the extension.
    stage : Stage
        Stage that lists it; a command that joins a group is listed with the group.
    """

    name: str
    module: str
    stage: Stage


class Reads(StrEnum):
    """Object of a check."""

    sources = "sources"
    release = "release"
    vault = "vault"


@dataclass(frozen=True)
class Check:
    """A check of `verify`.

    Attributes
    ----------
    name : str
        Its name in findings.
    function : str
        Module and function, relative to the extension, which returns findings. One that reads
        ``sources`` follows columns before the warehouse is read, and is given project and spec,
        ``target`` and ``manifest``; one that reads a ``release`` is given `verify.checked.Checked`;
        one of the ``vault`` is given warehouse and spec, also where no release can be read.
    reads : Reads
    """

    name: str
    function: str
    reads: Reads


class Part(StrEnum):
    """A part of a spec that extensions add keys to; where its keys stand in a file."""

    spec = ""
    effort = "efforts.*."
    column = "columns.*."
    quality = "quality."
    release = "release."


@dataclass(frozen=True)
class Extension:
    """All that the core and other extensions know of an extension.

    Attributes
    ----------
    name : str
        Name of its folders.
    package : str
        Its package of Python; by default its folder of `extensions`.
    commands : tuple of Command
        What it adds to ``dbt-anonymize``.
    checks : tuple of Check
        What it adds to ``dbt-anonymize verify``.
    functions : mapping of str to str
        What it adds to ``dbt_anonymize`` for Python: names, and where they lie in its package.
    keys : mapping of Part to str
        Pydantic models, relative to the package, whose fields are its keys of a part of the spec;
        each has a default. They are bases of the part before that of the core: what the core asks
        of it they may answer otherwise. What moves neither results nor release is `Annotated` with
        `BESIDE_RESULTS`, what moves no generated model with `BESIDE_MODELS`.
    privacy_models : mapping of str to str
        Classes of privacy models, relative to the package, a `privacy.model.PrivacyModel` each, by
        their names in ``guarantees``. Only of this package: dbt follows calls that are written out,
        so ``macros/privacy/_privacy_model.sql`` has a line for each.
    rules : str
        Tuple of functions, relative to the package: each is given a `spec.draft.RawSpec`, which may
        be wrong elsewhere, and yields the problems between its keys.
    report : tuple of ReportSections
        What it adds to a report.
    dossier : tuple of DossierFigures
        What it adds to a dossier.
    obstacles : str
        Function, relative to the package, which `generate` gives the folder of a project and its
        specs, and which yields what would stop a build of them.
    notes : str
        Function, relative to the package, which adds sentences to `results`: it is given warehouse,
        spec and the chosen `project.results.EffortResult`.
    diagnoses : str
        Function, relative to the package, which adds to `doctor`: it is given the folder of a
        project, its specs, none where one is wrong, and the file of its vault where DuckDB can read
        it, else None, and yields `project.engines.Diagnosis`.
    has_relations : bool
        It adds relations: ``relations.yml`` of its package, as that of the core, where ``after``
        names the relation that each follows; a template for each in ``templates``. What it has
        under ``replaced`` it writes in place of models of others, and what it has under
        ``added`` are columns of relations of the core that its privacy models need.
    steps : str
        Function, relative to the package, which is given a spec and yields the `project.steps.Step`
        of it that need Python and run before the evaluation: models of dbt, or else commands.
    engines : mapping of str to str
        Types of adapters, and the module for each, relative to the package, that commands read and
        write it by, a `project.engines.Server`. It imports no driver before it connects. Its macros
        need no registry: `adapter.dispatch` finds them by their names, ``<type>__...``.
    other_release : mapping of str to str
        Its key of the spec that makes it release something else than records, and the module for
        that, relative to the package: ``results(warehouse, spec)`` returns `project.results.
        OtherResults`, ``history(warehouse, spec)`` one with a row per release, ``report(warehouse,
        spec)`` a `project.sections.Report`, and ``findings(warehouse, read, project, spec)`` yields
        those of `verify`.
    without_dbt : str
        Module, relative to the package, that reads a project without importing dbt, where that
        gives the same: ``read_profile(folder, target)`` returns the profile or None,
        ``open_to_read(project, target)`` yields a `project.warehouse.Warehouse` or None.
    inspections : str
        Module, relative to the package, of what is asked of models beside their measures:
        ``inspections(given, problem, reader, first)`` yields an `evaluation.inspections.Inspection`
        for each that the model of the evaluation declares under the name of the extension. Its
        template ``_<extension>.py.j2`` writes these declarations: the macro ``keys(spec)``, and
        before it ``statements(spec)``, for lists that hold a ``dbt.ref``, whose names begin with
        that of the extension.
    trainer : str
        Function, relative to the package, that is given an unfitted classifier of scikit-learn,
        distinct rows, row and class of each training record, and rows to predict. It returns the
        classes and their probabilities for each of these, as scikit-learn would, only faster; None
        where scikit-learn must train.
    drafts : mapping of str to str
        Its keys of the spec that can be drafted, and where the function of each lies, relative to
        the package. Who drafts a key says what its function is given and returns: see
        ``drafting_function`` of `drafting.counted` for ``table``, of `drafting.linked_efforts` for
        ``linked``.
    searched : str
        Function, relative to the package, which is given warehouse and spec and returns what a
        search finds levels of beside those of the quasi-identifiers, or None: see `search.beside`.
    needs : tuple of str
        Extensions that it imports from, or whose relations it reads.
    """

    name: str
    package: str = ""
    commands: tuple[Command, ...] = ()
    checks: tuple[Check, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[Part, str] = field(default_factory=dict)
    privacy_models: Mapping[str, str] = field(default_factory=dict)
    rules: str = ""
    steps: str = ""
    report: tuple[ReportSections, ...] = ()
    dossier: tuple[DossierFigures, ...] = ()
    obstacles: str = ""
    notes: str = ""
    diagnoses: str = ""
    has_relations: bool = False
    engines: Mapping[str, str] = field(default_factory=dict)
    other_release: Mapping[str, str] = field(default_factory=dict)
    without_dbt: str = ""
    inspections: str = ""
    trainer: str = ""
    drafts: Mapping[str, str] = field(default_factory=dict)
    searched: str = ""
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "package", self.package or f"{_PACKAGE}.{self.name}")

    def load(self, path: str) -> Any:
        """Import a function by its module, relative to the package, and its name."""
        module, _, name = path.rpartition(".")
        return getattr(import_module(f"{self.package}.{module}"), name)


@cache
def extensions() -> tuple[Extension, ...]:
    """Return all loaded extensions: those of this package, then those of other packages."""
    return (*shipped(), *foreign_extensions())


@cache
def shipped() -> tuple[Extension, ...]:
    """Return the extensions of this package, in the order of `_SHIPPED`."""
    return tuple(import_module(f"{_PACKAGE}.{name}").EXTENSION for name in _SHIPPED)


def commands() -> Iterator[tuple[Extension, Command]]:
    """Yield the commands of all extensions."""
    return ((extension, command) for extension in extensions() for command in extension.commands)


def keys(part: Part) -> tuple[Any, ...]:
    """Return the pydantic models of all keys that extensions add to a part of a spec."""
    return tuple(
        extension.load(extension.keys[part]) for extension in extensions() if part in extension.keys
    )


def privacy_models() -> dict[str, Any]:
    """Return the classes of privacy models of the extensions of this package, by their names."""
    return {name: one.load(path) for one in shipped() for name, path in one.privacy_models.items()}


def rules() -> Iterator[Any]:
    """Yield the rules of extensions."""
    for extension in extensions():
        yield from extension.load(extension.rules) if extension.rules else ()


def steps() -> Iterator[Any]:
    """Yield the functions by which extensions add steps that need Python."""
    return (extension.load(extension.steps) for extension in extensions() if extension.steps)


def report_sections() -> Iterator[tuple[Extension, ReportSections]]:
    """Yield the report sections of all extensions."""
    return ((extension, section) for extension in extensions() for section in extension.report)


def dossier_figures() -> Iterator[tuple[Extension, DossierFigures]]:
    """Yield the dossier figures of all extensions."""
    return ((extension, figures) for extension in extensions() for figures in extension.dossier)


def obstacles() -> Iterator[Any]:
    """Yield the functions by which extensions find what would stop a build."""
    return (one.load(one.obstacles) for one in extensions() if one.obstacles)


def notes() -> Iterator[Any]:
    """Yield the functions by which extensions add to `results`."""
    return (one.load(one.notes) for one in extensions() if one.notes)


def diagnoses() -> Iterator[Any]:
    """Yield the functions by which extensions add to `doctor`."""
    return (one.load(one.diagnoses) for one in extensions() if one.diagnoses)


def engines() -> dict[str, str]:
    """Return the module of each engine that extensions add, by the type of its adapter."""
    return {
        adapter: f"{extension.package}.{module}"
        for extension in extensions()
        for adapter, module in extension.engines.items()
    }


def other_release(spec: Any) -> Any:
    """Return the module by which a spec releases something else than records, or None."""
    for extension in extensions():
        for key, module in extension.other_release.items():
            if getattr(spec, key) is not None:
                return import_module(f"{extension.package}.{module}")
    return None


def without_dbt() -> Any:
    """Return the module that reads a project without dbt, or None."""
    modules = (f"{one.package}.{one.without_dbt}" for one in extensions() if one.without_dbt)
    return next(map(import_module, modules), None)


def inspections() -> Iterator[tuple[str, Any]]:
    """Yield the extensions that ask more of models than their measures, with their functions."""
    asking = (one for one in extensions() if one.inspections)
    return ((one.name, one.load(f"{one.inspections}.inspections")) for one in asking)


@cache
def trainers() -> tuple[Any, ...]:
    """Return the functions by which extensions train classifiers faster."""
    return tuple(one.load(one.trainer) for one in extensions() if one.trainer)


def draft_of(key: str) -> Any:
    """Return the function that drafts a key of the spec, or None."""
    return next((one.load(one.drafts[key]) for one in extensions() if key in one.drafts), None)


def searched() -> Iterator[Any]:
    """Yield the functions by which extensions say what a search finds further levels of."""
    return (one.load(one.searched) for one in extensions() if one.searched)


def function(name: str) -> Any:
    """Return the function of this name that an extension adds to the package, or None."""
    found = (one for one in extensions() if name in one.functions)
    return next((one.load(one.functions[name]) for one in found), None)
