"""Parts of reports and dossiers, as extensions add them: see `dbt_anonymize.extension`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class After(StrEnum):
    """A part of a report that parts of extensions follow, in order."""

    quality = "quality"
    plane = "plane"
    class_sizes = "class_sizes"
    labels = "labels"
    losses = "losses"
    history = "history"


@dataclass(frozen=True)
class ReportSections:
    """One section of a report or more, which stand together.

    Attributes
    ----------
    after : After
        The part of the report's own that they follow, also where it has nothing to show; those of
        several extensions in the order of these. Open sections come before all others.
    function : str
        Module and function, relative to the package, which is given a `project.evidence.Evidence`
        that holds ``relations``, and returns a list of `project.sections.Section`. Its ``rows`` of
        a relation that is missing are none: it returns a section that says so, or no section.
    relations : tuple of str
        Relations that it reads, by their part of the name. Of those about models only rows of the
        deciding one are read, on the untouched table and the chosen effort. If one is a detail that
        the spec does not declare, the function is not called.
    """

    after: After
    function: str
    relations: tuple[str, ...]


@dataclass(frozen=True)
class DossierFigures:
    """A kind of figures of a dossier.

    Attributes
    ----------
    kind : str
        Its name under ``shown`` in ``templates/criteria.yml`` of the dossier, where it stands.
        Where its extension is missing, the dossier says there that the figure is.
    function : str
        Module and function, relative to the package, which is given a `project.evidence.Evidence`
        that holds ``relations``, and what is written behind the kind, else None; it returns a list
        of `project.figures.Figure`. Of a relation that is missing, `project.figures.missing` says
        so.
    relations : tuple of str
        Relations that it reads, by their part of the name. The dossier lists them as evidence.
    criterion : str
        Heading of the criterion that it ends, for a kind that ``criteria.yml`` does not name.
    """

    kind: str
    function: str
    relations: tuple[str, ...]
    criterion: str = ""
