"""Output of ``dbt-anonymize search``: optimum, efforts, limiting attributes, and the front."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt_anonymize.cli.common import SafeConsole, figures_table
from dbt_anonymize.pluralize import pluralized

# Most lines of advice.
_MOST_ADVICE = 2

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from dbt_anonymize.extensions.search.by_quality import Races
    from dbt_anonymize.extensions.search.efforts import SearchOutcome, Task
    from dbt_anonymize.extensions.search.results import CheckedNode
    from dbt_anonymize.project.descriptions import Words
    from dbt_anonymize.spec import Spec


def published_text(measure: str, loss: float) -> str:
    """Return the published value of a measure as text, from the loss of a search."""
    from dbt_anonymize.extensions.search.losses.registry import published  # noqa: PLC0415 (takes a while)

    return f"{published(measure, loss):.6g}"


def print_search(
    console: SafeConsole,
    task: Task,
    outcome: SearchOutcome,
    seconds: float,
    words: Words,
    *,
    verbose: bool,
) -> None:
    """Print the outcome of a search of ``seconds`` seconds, with the Pareto front if ``verbose``.

    ``words`` describe levels.
    """
    best, measure = outcome.result.optimum, task.options.loss
    if best is None:
        return
    is_raced = outcome.races is not None
    if verbose or not is_raced:
        _print_optimum(console, task, outcome, best, seconds)
    effort_numbers: dict[CheckedNode, int] = {}
    if outcome.local:
        _print_rounds(console, task, outcome)
    else:
        efforts = (node for _, node in outcome.chain.points if any(node.node))
        effort_numbers = {node: number for number, node in enumerate(efforts, start=1)}
        if outcome.races is None:
            console.print("Efforts from weak to strong: the least loss with the required k")
            console.print(_nodes_table(task, outcome.chain.points, effort_numbers))
        else:
            _print_races(console, task, outcome.races, effort_numbers)
            _print_reasons(console, task.spec, outcome, words)
    if skipped := _skipped_sizes_text(task, outcome):
        console.print(skipped)
    if not verbose:
        points = pluralized(len(outcome.front.points), "node")
        front = f"{points} on the Pareto front of k and {measure}"
        front += f"; searched in {seconds:.0f} s" if is_raced else ""
        console.print(f"{front}: --verbose lists them.")
        return
    unproven = "" if outcome.front.is_complete else " (as far as found in the time it had)"
    console.print(f"Pareto front: no other levels reach this k with less loss{unproven}")
    console.print(_nodes_table(task, outcome.front.points, effort_numbers, is_front=True))


def _print_optimum(
    console: SafeConsole, task: Task, outcome: SearchOutcome, best: CheckedNode, seconds: float
) -> None:
    """Print the optimum, its binding attributes, and the cost of the search."""
    from dbt_anonymize.extensions.search.binding_attributes import is_flat  # noqa: PLC0415 (keeps --help fast)

    measure = task.options.loss
    levels = ", ".join(_levels(task.spec, best))
    console.print(
        f"{task.spec.name}: {levels} loses the least ({measure} "
        f"{published_text(measure, best.loss)}), "
        f"with k = {best.k} and {best.suppressed} of {pluralized(task.table.total, 'record')} "
        f"suppressed."
    )
    if is_flat(task, best):
        console.print(
            f"The measure is flat here: finer levels keep the guarantees too, but by {measure} "
            "none loses less than everything at the root, which tells nothing. Search by a measure "
            "that tells them apart, such as `--measure loss`."
        )
    elif list(best.node) == [tree.levels for tree in task.spec.quasi_identifiers.values()]:
        console.print(
            "Everything is at the root: found so far, only a release that tells nothing about the "
            "quasi-identifiers keeps the guarantees."
        )
    console.print(_limits_text(task, best))
    console.print(_search_text(outcome, measure, seconds))


def describe_reasons(spec: Spec, outcome: SearchOutcome, words: Words) -> list[str]:
    """Describe the columns that each effort of a race keeps and gives up, and their gains."""
    from dbt_anonymize.extensions.search.reasons import given_up  # noqa: PLC0415 (as above)
    from dbt_anonymize.project.descriptions import in_words  # noqa: PLC0415 (keeps --help fast)

    if outcome.races is None:
        return []
    points = zip(outcome.races.points, outcome.reasons.given, strict=True)
    columns_by_effort = [columns for (_, checked), columns in points if any(checked.node)]
    return [
        in_words(
            *(effort, spec.quasi_identifiers, words),
            given_up=partial(given_up, columns=columns, measure=spec.measure),
        )
        for effort, columns in zip(outcome.efforts, columns_by_effort, strict=True)
    ]


def result_rows(
    spec: Spec, measure: str, outcome: SearchOutcome
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return columns and rows of machine-readable output: the efforts, and the front."""
    from dbt_anonymize.extensions.search.losses.registry import published  # noqa: PLC0415 (takes a while)

    points: list[tuple[Any, ...]] = [
        ("effort", effort.required, None, effort.suppressed, effort.loss)
        for effort in outcome.local
    ] or [
        ("effort", required, node.k, node.suppressed, node.loss)
        for required, node in outcome.chain.points
        if any(node.node)
    ]
    front = [node for _, node in outcome.front.points]
    points += [("front", None, node.k, node.suppressed, node.loss) for node in front]
    level_texts = [effort.shown_levels for effort in outcome.efforts]
    level_texts += [" ".join(map(str, node.node)) for node in front]
    rows = list[tuple[Any, ...]]()
    for number, (point, levels_text) in enumerate(zip(points, level_texts, strict=True), start=1):
        kind, required, k, suppressed, loss = point
        effort = number if kind == "effort" else None
        value = None if loss is None else published(measure, loss)
        rows.append((spec.name, kind, effort, required, k, suppressed, measure, value, levels_text))
    columns = ["anonymization", "kind", "effort", "required_k", "k", "suppressed_records"]
    return [*columns, "measure", "value", "levels"], rows


def _limits_text(task: Task, best: CheckedNode) -> str:
    """Describe the quasi-identifiers that cannot be finer."""
    from dbt_anonymize.extensions.search.binding_attributes import binding_attributes_of  # noqa: PLC0415 (keeps --help fast)

    limits, most = binding_attributes_of(task, best)
    if not any(best.node):
        return "Nothing limits it: these are the values themselves."
    if not limits:
        return "Nothing limits it: one level finer, every guarantee would hold, at a higher loss."
    texts = [
        f"{attribute.quasi_identifier} {attribute.level} ({attribute.at_least:,} or more)"
        for attribute in limits[:3]
    ]
    others = f" and {len(limits) - 3} others" if len(limits) > 3 else ""
    return (
        f"What limits it: one level finer, too many records would break a guarantee, at "
        f"{', '.join(texts)}{others}; {most:,} may."
    )


def _skipped_sizes_text(task: Task, outcome: SearchOutcome) -> str:
    """Describe the requested class sizes without an effort of their own."""
    required = {k for k, _ in outcome.chain.points}
    missing = sorted(set(task.options.ks) - required)
    reached = [k for k in missing if any(node.k >= k for _, node in outcome.chain.points)]
    texts = []
    if reached:
        as_good = ", does as well and keeps as much detail" if outcome.races else ""
        texts.append(
            f"k = {', '.join(map(str, reached))}: an effort with a larger k reaches it{as_good}."
        )
    if others := [k for k in missing if k not in reached]:
        texts.append(
            f"k = {', '.join(map(str, others))}: reached by no coarser levels that still tell "
            "something."
        )
    return " ".join(texts)


def _search_text(outcome: SearchOutcome, measure: str, seconds: float) -> str:
    from dbt_anonymize.extensions.search.optimum import MOST_ENUMERATED  # noqa: PLC0415

    result = outcome.result
    way = "best-first through " if result.lattice_size > MOST_ENUMERATED else ""
    is_raced = outcome.races is not None
    # The reason for the end of races is printed below their efforts.
    is_complete = result.is_complete if is_raced else outcome.is_complete
    cause = "It ended before all were ruled out" if is_raced else "The time limit ended it"
    proof = "" if is_complete else f" {cause}: best so far, not proven."
    if not result.is_complete:
        proof += (
            f" By what was searched, no levels can reach a better {measure} than "
            f"{published_text(measure, result.bound)}."
        )
    others = result.lattice_size - result.checked
    kind = "ruled out" if result.is_complete else "ruled out or open"
    rest = f", {others:,} {kind}" if others > 0 else ""
    return (
        f"Searched {way}{pluralized(result.lattice_size, 'node')} in {seconds:.1f} s with loading: "
        f"{result.checked:,} checked{rest}.{proof}\n"
    )


def _print_rounds(console: SafeConsole, task: Task, outcome: SearchOutcome) -> None:
    names = ", ".join(task.spec.quasi_identifiers)
    console.print(f"Efforts from weak to strong: rounds of levels of {names}")
    numeric = ("effort", "required k", "suppressed", task.options.loss, "rounds")
    table = figures_table(numeric, ["levels of each round"])
    for number, effort in enumerate(outcome.local, start=1):
        loss = "-" if effort.loss is None else published_text(task.options.loss, effort.loss)
        cells = (number, effort.required, effort.suppressed, loss, len(effort.rounds))
        levels = "; ".join(" ".join(map(str, node)) for node in effort.rounds)
        table.add_row(*map(str, cells), levels)
    console.print(table)
    remarks = []
    if any(effort.loss is None for effort in outcome.local):
        remarks.append(f"The build measures {task.options.loss}.")
    if task.guarantees.release_rules:
        remarks.append("Suppressed are at most so many, since rounds may have classes in common.")
    if remarks:
        console.print(" ".join(remarks) + "\n")


def _print_races(
    console: SafeConsole, task: Task, races: Races, efforts: dict[CheckedNode, int]
) -> None:
    """Print the winners of all class sizes with the untouched table and the zero rule."""
    from dbt_anonymize.extensions.search.detail import SHARE_OF_SIZE  # noqa: PLC0415 (keeps --help fast)

    if not races.raced:
        return
    measure = task.spec.measure
    first = races.raced[0]
    console.print(
        f"{task.spec.name}: efforts from weak to strong, the most detailed on which "
        f"{task.spec.tests.deciding_model} keeps {SHARE_OF_SIZE:.0%} of its gain, "
        f"of {pluralized(races.trained, 'model')} trained"
    )
    has_rounds = any(races.rounds)
    headings = ("effort", "asked k", *(("rounds",) if has_rounds else ()), "k", "left out")
    headings = (*headings, measure, "difference", "detail")
    table = figures_table(headings, [])
    points = zip(races.points, races.rounds, races.raced, races.details, strict=True)
    for (required, checked), rounds, raced, detail in points:
        table.add_row(
            *(str(efforts.get(checked, "-")), str(required)),
            *((str(len(rounds) or "-"),) if has_rounds else ()),
            *(str(checked.k), str(checked.suppressed)),
            _score(raced.score),
            " to ".join(map(_score, raced.interval)) if raced.splits > 1 else "-",
            "-" if math.isnan(detail) else f"{detail:.0%}",
        )
    console.print(table)
    splits = pluralized(first.splits, "split")
    console.print(
        f"{measure} of the untouched table {_score(first.untouched)}, of the zero rule "
        f"{_score(first.zero_rule)}; means of {splits}, with 95 % intervals of the differences "
        "to the untouched table. Detail is what is left of quasi-identifiers, 1 - loss. The build "
        "scores the efforts again, on other splits of the same records."
    )


def _print_reasons(console: SafeConsole, spec: Spec, outcome: SearchOutcome, words: Words) -> None:
    """Print the columns that efforts keep and give up, and advice."""
    if any(outcome.reasons.given):
        console.print("What a column adds is measured one level finer, on the same splits.")
    for number, text in enumerate(describe_reasons(spec, outcome, words), start=1):
        console.print(f"Effort {number} {text}.")
    required = (k for k, node in outcome.chain.points if any(node.node))
    numbers = {k: number for number, k in enumerate(required, start=1)}
    for burden in outcome.reasons.burdens[:_MOST_ADVICE]:
        if burden.required in numbers:
            console.print(burden.advice(numbers[burden.required]))
    if outcome.races is not None and not outcome.races.is_complete:
        console.print("What was to be trained ended it: raise --time-limit or --evaluations.")
    console.print()


def _score(value: float) -> str:
    """Return a score; errors have a minus sign."""
    if math.isnan(value) or math.isinf(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"


def _levels(spec: Spec, checked: CheckedNode) -> list[str]:
    return [f"{name} {n}" for name, n in zip(spec.quasi_identifiers, checked.node, strict=True)]


def _nodes_table(
    task: Task,
    points: tuple[tuple[int, CheckedNode], ...],
    efforts: dict[CheckedNode, int],
    *,
    is_front: bool = False,
) -> RichTable:
    """Return a table of nodes with their required k; on the front it is the reached k."""
    measure = task.options.loss
    headings = ("effort", *(() if is_front else ("required k",)), "reached k", "suppressed")
    table = figures_table((*headings, measure), ["levels"])
    for required, checked in points:
        table.add_row(
            str(efforts.get(checked, "-")),
            *(() if is_front else (str(required),)),
            str(checked.k),
            str(checked.suppressed),
            published_text(measure, checked.loss),
            ", ".join(_levels(task.spec, checked)),
        )
    return table
