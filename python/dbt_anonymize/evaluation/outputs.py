"""The long table of all results: measures, counts of predictions, failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.evaluation.data import features
from dbt_anonymize.evaluation.problem import Problem
from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.tallies import BINS, Cell, Tallies
from dbt_anonymize.evaluation.views import GENERALIZED, ORIGINAL

if TYPE_CHECKING:
    import pandas as pd

COLUMN_TYPES = {
    "effort": "int64",
    "target": "str",
    "model": "str",
    "fit": "str",
    "test_on": "str",
    "repetition": "Int64",
    "fold": "Int64",
    "kind": "str",
    "name": "str",
    "other": "str",
    "bin": "Int64",
    "value": "float64",
}
Row = tuple[Any, ...]


def evaluation_frame(
    problem: Problem | None, outcomes: Sequence[Outcome], tallies: Tallies
) -> pd.DataFrame:
    """Return one row per fact, with the columns of `COLUMN_TYPES`; none if ``problem`` is None.

    By ``kind``:

    ``measure``
        ``name``: measure; ``other``: class that it is about, or NULL; ``value``; one row per
        split (``repetition``, ``fold``; 1 for hold-out).
    ``confusion``
        ``name``: true class; ``other``: predicted class; ``value``: test records of all splits.
    ``probability``
        ``name``: class; ``other``: "1" for records of it, else "0"; ``bin``: its predicted
        probability in thousandths; ``value``: test records of all splits.
    ``failure``
        ``name``: why a model could not be trained in this split; ``value``: NULL.
    ``reading``
        ``name``: a category with too many labels; ``other``: its level in this effort;
        ``value``: the level at which models read it.
    ``group_measure``
        ``name``: measure; ``other``: group; ``bin``: place of its column in ``quality.groups``,
        from 0; ``value``: the measure on its test records in this split, NULL for undefined.
    ``grid``
        ``name``: class, or target; ``bin``: point; ``value``: its probability, or the prediction,
        of models of the first split.
    ``grid_point``
        ``name``: feature; ``bin``: point; ``value``: the number of the feature there.
    ``importance``
        ``name``: measure; ``other``: feature; ``value``: by how much the measure falls on untouched
        test records among whom the values of the feature are exchanged.
    ``seconds``
        ``name``: step, see `_seconds`; ``value``: seconds on the clock, of all splits.
    ``group``
        ``name``: column; ``other`` and ``bin`` as above; ``value``: subjects in the group.
    """
    import pandas as pd  # noqa: PLC0415

    rows: list[Row] = []
    if problem is not None:
        for outcome in outcomes:
            rows.extend(_measures(problem, outcome))
            rows.extend(_details(problem, outcome))
        for cell in sorted(tallies.confusion):
            rows.extend(_confusions(problem, cell, tallies))
        for cell in sorted(tallies.probabilities):
            rows.extend(_probabilities(problem, cell, tallies))
        rows.extend(_readings(problem))
        rows.extend(_groups(problem))
        rows.extend(_points(problem))
        rows.extend(_seconds(problem, outcomes))
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMN_TYPES)
    return pd.DataFrame(
        {
            name: pd.Series(list(values), dtype=kind)
            for (name, kind), values in zip(COLUMN_TYPES.items(), columns, strict=True)
        }
    )


def reading_lines(problem: Problem) -> list[str]:
    """Return a log line per feature and level that has too many labels for a model."""
    efforts: dict[tuple[str, int, int], list[str]] = {}
    for effort in problem.efforts:
        for feature, levels in effort.coarser.items():
            for level, at in levels.items():
                efforts.setdefault((feature, level, at), []).append(str(effort.effort))
    return [
        f"feature {feature} has more than {features.MOST_CATEGORIES:,} labels at level {level}; "
        f"models read it at level {at} in effort {', '.join(numbers)}"
        for (feature, level, at), numbers in efforts.items()
    ]


def failure_lines(problem: Problem, outcomes: Sequence[Outcome]) -> list[str]:
    """Return a log line per effort, target, model and reason why models have no score."""
    counts: Counter[tuple[int, int, int, str, str]] = Counter(
        (o.effort, o.target, o.model, o.fit, o.reason) for o in outcomes if o.reason
    )
    splits = problem.splitting.splits
    lines = []
    for (effort, target, model, fit, reason), count in counts.items():
        how = " with fit per_split" if fit != "once" else ""
        lines.append(
            f"effort {problem.efforts[effort].effort}: {count} of {splits} models "
            f"{problem.models[model].name} of {problem.targets[target].name}{how} have no score: "
            f"{reason}"
        )
    return lines


def _labels(problem: Problem, cell: Cell) -> Row:
    return (
        problem.efforts[cell.effort].effort,
        problem.targets[cell.target].name,
        problem.models[cell.model].name,
        cell.fit,
        cell.test_on,
    )


def _measures(problem: Problem, outcome: Outcome) -> Iterator[Row]:
    classes = problem.targets[outcome.target].classes
    for test_on in (ORIGINAL, GENERALIZED):
        cell = Cell(outcome.effort, outcome.target, outcome.model, outcome.fit, test_on)
        split = (outcome.repetition, outcome.fold)
        if outcome.reason is not None:
            failure = ("failure", outcome.reason, None, None, None)
            yield (*_labels(problem, cell), *split, *failure)
            continue
        for (measure, code), value in outcome.measures.get(test_on, {}).items():
            other = None if code is None else classes[code]
            known = None if np.isnan(value) else value
            yield (*_labels(problem, cell), *split, "measure", measure, other, None, known)


def _details(problem: Problem, outcome: Outcome) -> Iterator[Row]:
    split = (outcome.repetition, outcome.fold)
    for test_on, kind, name, other, place, value in outcome.details:
        cell = Cell(outcome.effort, outcome.target, outcome.model, outcome.fit, test_on)
        known = None if np.isnan(value) else value
        yield (*_labels(problem, cell), *split, kind, name, other, place, known)


def _groups(problem: Problem) -> Iterator[Row]:
    nobody = (None,) * 6
    for place, groups in enumerate(problem.reported_groups):
        for label, size in zip(groups.labels, groups.sizes, strict=True):
            yield (0, *nobody, "group", groups.name, label, place, float(size))


def _points(problem: Problem) -> Iterator[Row]:
    if problem.grid is None:
        return
    nobody = (None,) * 6
    for name, values in zip(problem.grid.features, problem.grid.values, strict=True):
        for point, value in enumerate(values.tolist()):
            yield (0, *nobody, "grid_point", name, None, point, value)


def _seconds(problem: Problem, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    """Yield how long steps took.

    Effort by effort to read it; model by model to prepare features (of the first model that sees
    them), to train it and ask it for predictions, and to score these.
    """
    for data, seconds in zip(problem.efforts, problem.read_seconds, strict=False):
        yield (data.effort, *(None,) * 6, "seconds", "read", None, None, seconds)
    spent: dict[tuple[int, int, int, str, str], float] = defaultdict(float)
    for outcome in outcomes:
        for step, seconds in outcome.seconds.items():
            place = (outcome.effort, outcome.target, outcome.model, outcome.fit, step)
            spent[place] += seconds
    for (effort, target, model, fit, step), seconds in sorted(spent.items()):
        names = problem.targets[target].name, problem.models[model].name, fit
        rest = (None, None, None, "seconds", step, None, None, seconds)
        yield (problem.efforts[effort].effort, *names, *rest)


def _readings(problem: Problem) -> Iterator[Row]:
    """Yield a row per effort, feature and level that is read at a coarser one."""
    for effort in problem.efforts:
        for feature, levels in effort.coarser.items():
            for level, at in levels.items():
                nobody = (None,) * 6
                yield (effort.effort, *nobody, "reading", feature, str(level), None, float(at))


def _confusions(problem: Problem, cell: Cell, tallies: Tallies) -> Iterator[Row]:
    classes = problem.targets[cell.target].classes
    counts = tallies.confusion[cell]
    for true, predicted in np.argwhere(counts).tolist():
        rest = (None, None, "confusion", classes[true], classes[predicted], None)
        yield (*_labels(problem, cell), *rest, float(counts[true, predicted]))


def _probabilities(problem: Problem, cell: Cell, tallies: Tallies) -> Iterator[Row]:
    classes = problem.targets[cell.target].classes
    counts = tallies.probabilities[cell].reshape(-1)
    at = np.flatnonzero(counts)
    for position, records in zip(at.tolist(), counts[at].tolist(), strict=True):
        rest, thousandths = divmod(position, BINS)
        code, is_member = divmod(rest, 2)
        counted = (None, None, "probability", classes[code], str(is_member), thousandths)
        yield (*_labels(problem, cell), *counted, float(records))
