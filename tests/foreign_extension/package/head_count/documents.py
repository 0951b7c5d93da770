"""Its section of a report, and its figure of a dossier."""

from dbt_anonymize.project.figures import figure
from dbt_anonymize.project.sections import Section, missing

_TITLE = "People of a class"


def section(evidence):
    """Return its section of a report."""
    rows = evidence.rows("head_count")
    if not rows:
        return [missing("heads", _TITLE, f"{evidence.spec.name}_head_count", "dbt build")]
    heads = rows[0][evidence.spec.head_count]
    return [Section("heads", _TITLE, "They are counted.", ("people on average",), [(heads,)])]


def figures(evidence, _):
    """Return its figure of a dossier."""
    return figure(evidence, "people of a class", "head_count", evidence.spec.head_count)
