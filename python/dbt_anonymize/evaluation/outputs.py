"""The long table of all results: measures, counts of predictions, failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]

from dbt_anonymize.evaluation import limits
from dbt_anonymize.evaluation.columns import FACTS
from dbt_anonymize.evaluation.facts import Fact
from dbt_anonymize.evaluation.problem import Problem
from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.tallies import Cell, Tallies
from dbt_anonymize.evaluation.views import GENERALIZED, ORIGINAL
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    import pandas as pd


def evaluation_frame(
    problem: Problem | None, outcomes: Sequence[Outcome], tallies: Tallies
) -> pd.DataFrame:
    """Return one row per fact, with the columns of `FACTS`; none if ``problem`` is None.

    By ``kind``:

    ``measure``
        ``name``: measure; ``other``: its class, or NULL; ``value``; one row per split
        (``repetition``, ``fold``; 1 for hold-out).
    ``confusion``
        ``name``: true class; ``other``: predicted class; ``value``: test records of all splits.
    ``probability``
        ``name``: class; ``other``: "1" for records of it, else "0"; ``bin``: its predicted
        probability in thousandths; ``value``: test records of all splits.
    ``failure``
        ``name``: reason why a model was not trained in this split; ``value``: NULL.
    ``reading``
        ``name``: a category with too many labels; ``other``: its level in this effort;
        ``value``: the level at which models read it.
    ``seconds``
        ``name``: step; ``value``: elapsed seconds of all splits. Preparing features counts for the
        first model that sees them.
    ``quantile``
        ``name``: two_sided or one_sided; ``other``: confidence; ``bin``: splits; ``value``:
        standard errors between the mean of the splits and a limit (Student's t).

    Each `Inspection` has kinds of its own.
    """
    import pandas as pd  # noqa: PLC0415

    facts = [] if problem is None else list(_facts(problem, outcomes, tallies))
    columns = dict(zip(Fact._fields, zip(*facts, strict=True), strict=True)) if facts else {}
    return pd.DataFrame(
        {n: pd.Series(list(columns.get(n, ())), dtype=kind) for n, kind in FACTS.items()}
    )


def _facts(problem: Problem, outcomes: Sequence[Outcome], tallies: Tallies) -> Iterator[Fact]:
    for outcome in outcomes:
        yield from _outcome_facts(problem, outcome)
    for cell in sorted(tallies.confusion):
        yield from _confusion_facts(problem, cell, tallies)
    for cell in sorted(tallies.probabilities):
        yield from _probability_facts(problem, cell, tallies)
    for effort in problem.efforts:
        for feature, levels in effort.coarser.items():
            for level, at in levels.items():
                yield Fact(effort.effort, "reading", feature, float(at), str(level))
    for inspection in problem.inspections:
        yield from inspection.facts()
    yield from _quantile_facts(problem.confidence, problem.splitting.splits)
    yield from _timing_facts(problem, outcomes)


def _quantile_facts(confidence: float, splits: int) -> Iterator[Fact]:
    for name, share in (("two_sided", (1 + confidence) / 2), ("one_sided", confidence)):
        for number in range(2, splits + 1):
            quantile = float(stdtrit(number - 1, share))
            yield Fact(0, "quantile", name, quantile, str(confidence), number)


def reading_lines(problem: Problem) -> list[str]:
    """Return a log line per target that some records lack, and per level with too many labels."""
    efforts: dict[tuple[str, int, int], list[str]] = {}
    for effort in problem.efforts:
        for feature, levels in effort.coarser.items():
            for level, read_at in levels.items():
                efforts.setdefault((feature, level, read_at), []).append(str(effort.effort))
    unknown_targets = [
        f"target {target.name} is NULL in {unknown} of {pluralized(target.records, 'record')}: "
        "these are counted and released, but models neither learn from them nor are scored on them"
        for target in problem.targets
        if (unknown := target.records - len(target.known))
    ]
    return unknown_targets + [
        f"feature {feature} has more than {limits.MOST_CATEGORIES:,} labels at level {level}; "
        f"models read it at level {read_at} in effort {', '.join(numbers)}"
        for (feature, level, read_at), numbers in efforts.items()
    ]


def failure_lines(problem: Problem, outcomes: Sequence[Outcome]) -> list[str]:
    """Return a log line per effort, target, model and reason for missing scores."""
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


def _key_columns(problem: Problem, at: Cell | Outcome) -> dict[str, Any]:
    return {
        "effort": problem.efforts[at.effort].effort,
        "target": problem.targets[at.target].name,
        "model": problem.models[at.model].name,
        "fit": at.fit,
    }


def _outcome_facts(problem: Problem, outcome: Outcome) -> Iterator[Fact]:
    classes = problem.targets[outcome.target].classes
    names = _key_columns(problem, outcome)
    names |= {"repetition": outcome.repetition, "fold": outcome.fold}
    for test_on in (ORIGINAL, GENERALIZED):
        if outcome.reason is not None:
            yield Fact(kind="failure", name=outcome.reason, test_on=test_on, **names)
            continue
        for (measure, code), value in outcome.measures.get(test_on, {}).items():
            other = None if code is None else classes[code]
            yield Fact(
                kind="measure", name=measure, value=value, other=other, test_on=test_on, **names
            )
    for detail in outcome.details:
        yield Fact(**detail._asdict(), **names)


def _confusion_facts(problem: Problem, cell: Cell, tallies: Tallies) -> Iterator[Fact]:
    classes, names = problem.targets[cell.target].classes, _key_columns(problem, cell)
    counts = tallies.confusion[cell]
    for true, predicted in np.argwhere(counts).tolist():
        yield Fact(
            kind="confusion",
            name=classes[true],
            value=float(counts[true, predicted]),
            other=classes[predicted],
            test_on=cell.test_on,
            **names,
        )


def _probability_facts(problem: Problem, cell: Cell, tallies: Tallies) -> Iterator[Fact]:
    classes, names = problem.targets[cell.target].classes, _key_columns(problem, cell)
    counts = tallies.probabilities[cell]
    for code, is_member, thousandths in np.argwhere(counts).tolist():
        yield Fact(
            kind="probability",
            name=classes[code],
            value=float(counts[code, is_member, thousandths]),
            other=str(is_member),
            bin=thousandths,
            test_on=cell.test_on,
            **names,
        )


def _timing_facts(problem: Problem, outcomes: Sequence[Outcome]) -> Iterator[Fact]:
    """Yield the seconds to read each effort, then those of each step by model."""
    for data, seconds in zip(problem.efforts, problem.read_seconds, strict=False):
        yield Fact(data.effort, "seconds", "read", seconds)
    spent: dict[tuple[Cell, str], float] = defaultdict(float)
    for outcome in outcomes:
        cell = Cell(outcome.effort, outcome.target, outcome.model, outcome.fit, "")
        for step, seconds in outcome.seconds.items():
            spent[cell, step] += seconds
    for (cell, step), seconds in sorted(spent.items()):
        yield Fact(kind="seconds", name=step, value=seconds, **_key_columns(problem, cell))
