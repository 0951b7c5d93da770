"""Section of a report on decision regions of models: original against anonymized."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.sections import Section, charted_class, number, table_name


def regions(evidence: Evidence) -> list[Section]:
    """Show what models predict over two features, where that is declared."""
    spec: Any = evidence.spec
    if spec.task != "classification":
        return []
    rows, features = evidence.rows("decision_grid"), spec.tests.decision_grid
    if not rows or features is None:
        return []
    positive = charted_class(spec, rows)
    # Positions instead of values, which occur in the source.
    x, y = (_ranks([row[axis] for row in rows]) for axis in ("x", "y"))
    data: list[dict[str, Any]] = [
        {
            "table": table_name(row["effort"]),
            "x": x[row["x"]],
            "y": y[row["y"]],
            "prediction": round(number(row["prediction"]) or 0.0, 3),
        }
        for row in rows
        if str(row["class"]) == positive
    ]
    means = {
        table: [row["prediction"] for row in data if row["table"] == table]
        for table in dict.fromkeys(row["table"] for row in data)
    }
    return [
        Section(
            "regions",
            f"Decision regions of {features[0]} and {features[1]}",
            f"Predictions of the models of the first split for class {positive}. Features are "
            "shown by rank, since their values occur in the source.",
            ("learned from", "points", "mean prediction", "share above one half"),
            [
                (
                    table,
                    len(predictions),
                    sum(predictions) / len(predictions),
                    sum(p > 0.5 for p in predictions) / len(predictions),
                )
                for table, predictions in means.items()
            ],
            data,
            "regions",
            {"x": f"{features[0]}, rank", "y": f"{features[1]}, rank"},
        )
    ]


def _ranks(values: Iterable[float]) -> dict[float, int]:
    """Return the rank of each value, from 1, equal ones once.

    Examples
    --------
    >>> _ranks([2.5, 1.0, 2.5])
    {1.0: 1, 2.5: 2}
    """
    return {value: rank for rank, value in enumerate(sorted({*values}), start=1)}
