"""Output of ``dbt-anonymize search``: optimum, efforts, limiting attributes, and the front."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from dbt_anonymize.cli.common import SafeConsole, figures_table
from dbt_anonymize.pluralize import pluralized

# Lines about what would help.
_MOST_BURDENS = 2

if TYPE_CHECKING:
    from rich.table import Table as ShownTable

    from dbt_anonymize.extensions.search.by_quality import Races
    from dbt_anonymize.extensions.search.efforts import Found, Task
    from dbt_anonymize.extensions.search.results import CheckedNode
    from dbt_anonymize.project.descriptions import Words
    from dbt_anonymize.spec import Spec


def lost(measure: str, loss: float) -> str:
    """Return a loss as its measure is published: precision is higher where less is lost."""
    from dbt_anonymize.information_loss.registry import published  # noqa: PLC0415 (takes a while)

    return f"{published(measure, loss):.6g}"


def show(
    console: SafeConsole, task: Task, found: Found, seconds: float, words: Words, *, verbose: bool
) -> None:
    """Show a search that took so many seconds; the Pareto front only where it is asked for.

    ``words`` say what levels mean.
    """
    best, measure = found.result.optimum, task.options.loss
    if best is None:
        return
    is_raced = found.races is not None
    if verbose or not is_raced:
        _show_optimum(console, task, found, best, seconds)
    chained: dict[CheckedNode, int] = {}
    if found.local:
        _show_rounds(console, task, found)
    else:
        useful = (node for _, node in found.chain.points if any(node.node))
        chained = {node: number for number, node in enumerate(useful, start=1)}
        if found.races is None:
            console.print("Efforts from weak to strong: the least loss with the required k")
            console.print(_nodes_table(task, found.chain.points, chained))
        else:
            _show_races(console, task, found.races, chained)
            _show_reasons(console, task.spec, found, words)
    if left_out := _left_out(task, found):
        console.print(left_out)
    if not verbose:
        points = pluralized(len(found.front.points), "node")
        more = f"{points} on the Pareto front of k and {measure}"
        more += f"; searched in {seconds:.0f} s" if is_raced else ""
        console.print(f"{more}: --verbose lists them.")
        return
    unproven = "" if found.front.is_complete else " (as far as found in the time it had)"
    console.print(f"Pareto front: no other levels reach this k with less loss{unproven}")
    console.print(_nodes_table(task, found.front.points, chained, is_front=True))


def _show_optimum(
    console: SafeConsole, task: Task, found: Found, best: CheckedNode, seconds: float
) -> None:
    """Show the node that loses the least, what limits it, and what it took."""
    from dbt_anonymize.extensions.search.binding_attributes import is_flat  # noqa: PLC0415 (keeps --help fast)

    measure = task.options.loss
    levels = ", ".join(_levels(task.spec, best))
    console.print(
        f"{task.spec.name}: {levels} loses the least ({measure} {lost(measure, best.loss)}), "
        f"with k = {best.k} and {best.suppressed} of {pluralized(task.table.total, 'record')} "
        f"suppressed."
    )
    if is_flat(task, found):
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
    console.print(_limits(task, found))
    console.print(_work(found, measure, seconds))


def _required(found: Found) -> list[int]:
    """Return the required class size of each effort of a race."""
    return [k for k, node in found.chain.points if any(node.node)]


def reasons_in_words(spec: Spec, found: Found, words: Words) -> list[str]:
    """Say what each effort of a race keeps and gives up, and what that would add."""
    from dbt_anonymize.extensions.search.reasons import given_up  # noqa: PLC0415 (as above)
    from dbt_anonymize.project.descriptions import in_words  # noqa: PLC0415 (keeps --help fast)

    if found.races is None:
        return []
    points = zip(found.races.points, found.reasons.given, strict=True)
    given = [of_winner for (_, checked), of_winner in points if any(checked.node)]
    return [
        in_words(
            *(effort, spec.quasi_identifiers, words),
            given_up=partial(given_up, given=of_winner, measure=spec.measure),
        )
        for effort, of_winner in zip(found.efforts, given, strict=True)
    ]


def rows_of(spec: Spec, measure: str, found: Found) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return what programs read of a search: the efforts, and the front."""
    from dbt_anonymize.information_loss.registry import published  # noqa: PLC0415 (takes a while)

    points: list[tuple[Any, ...]] = [
        ("effort", effort.required, None, effort.suppressed, effort.loss) for effort in found.local
    ] or [
        ("effort", required, node.k, node.suppressed, node.loss)
        for required, node in found.chain.points
        if any(node.node)
    ]
    front = [node for _, node in found.front.points]
    points += [("front", None, node.k, node.suppressed, node.loss) for node in front]
    levels = [effort.shown_levels for effort in found.efforts]
    levels += [" ".join(map(str, node.node)) for node in front]
    rows = list[tuple[Any, ...]]()
    for number, (point, shown) in enumerate(zip(points, levels, strict=True), start=1):
        kind, required, k, suppressed, loss = point
        effort = number if kind == "effort" else None
        lost = None if loss is None else published(measure, loss)
        rows.append((spec.name, kind, effort, required, k, suppressed, measure, lost, shown))
    columns = ["anonymization", "kind", "effort", "required_k", "k", "suppressed_records"]
    return [*columns, "measure", "value", "levels"], rows


def _limits(task: Task, found: Found) -> str:
    """Say which quasi-identifiers cannot be finer, and why."""
    from dbt_anonymize.extensions.search.binding_attributes import limits_of_optimum  # noqa: PLC0415 (keeps --help fast)

    limits, most = limits_of_optimum(task, found)
    if found.result.optimum is None or not any(found.result.optimum.node):
        return "Nothing limits it: these are the values themselves."
    if not limits:
        return "Nothing limits it: one level finer, every guarantee would hold, at a higher loss."
    texts = [f"{one.quasi_identifier} {one.level} ({one.at_least:,} or more)" for one in limits[:3]]
    others = f" and {len(limits) - 3} others" if len(limits) > 3 else ""
    return (
        f"What limits it: one level finer, too many records would break a guarantee, at "
        f"{', '.join(texts)}{others}; {most:,} may."
    )


def _left_out(task: Task, found: Found) -> str:
    """Say which of the class sizes that were asked for are no efforts of their own."""
    required = {k for k, _ in found.chain.points}
    missing = sorted(set(task.options.ks) - required)
    reached = [k for k in missing if any(node.k >= k for _, node in found.chain.points)]
    texts = []
    if reached:
        texts.append(f"k = {', '.join(map(str, reached))}: an effort before reaches it.")
    if others := [k for k in missing if k not in reached]:
        texts.append(
            f"k = {', '.join(map(str, others))}: reached by no coarser levels that still tell "
            "something."
        )
    return " ".join(texts)


def _work(found: Found, measure: str, seconds: float) -> str:
    result = found.result
    way = "best-first through " if _is_best_first(found) else ""
    is_raced = found.races is not None
    # What ended races is said below their efforts.
    is_complete = result.is_complete if is_raced else found.is_complete
    cause = "It ended before all were ruled out" if is_raced else "The time limit ended it"
    proof = "" if is_complete else f" {cause}: best so far, not proven."
    if not result.is_complete:
        proof += (
            f" By what was searched, no levels can reach a better {measure} than "
            f"{lost(measure, result.bound)}."
        )
    others = result.lattice_size - result.checked
    kind = "ruled out" if result.is_complete else "ruled out or open"
    rest = f", {others:,} {kind}" if others > 0 else ""
    return (
        f"Searched {way}{pluralized(result.lattice_size, 'node')} in {seconds:.1f} s with loading: "
        f"{result.checked:,} checked{rest}.{proof}\n"
    )


def _show_rounds(console: SafeConsole, task: Task, found: Found) -> None:
    names = ", ".join(task.spec.quasi_identifiers)
    console.print(f"Efforts from weak to strong: rounds of levels of {names}")
    numeric = ("effort", "required k", "suppressed", task.options.loss, "rounds")
    table = figures_table(numeric, ["levels of each round"])
    for number, effort in enumerate(found.local, start=1):
        loss = "-" if effort.loss is None else lost(task.options.loss, effort.loss)
        cells = (number, effort.required, effort.suppressed, loss, len(effort.rounds))
        levels = "; ".join(" ".join(map(str, node)) for node in effort.rounds)
        table.add_row(*map(str, cells), levels)
    console.print(table)
    remarks = []
    if any(effort.loss is None for effort in found.local):
        remarks.append(f"The build measures {task.options.loss}.")
    if task.guarantees.release_rules:
        remarks.append("Suppressed are at most so many, since rounds may have classes in common.")
    if remarks:
        console.print(" ".join(remarks) + "\n")


def _show_races(
    console: SafeConsole, task: Task, races: Races, efforts: dict[CheckedNode, int]
) -> None:
    """Show the winners of all class sizes beside the untouched table and the zero rule."""
    if not races.raced:
        return
    measure = task.spec.measure
    first = races.raced[0]
    console.print(
        f"{task.spec.name}: efforts from weak to strong, those on which "
        f"{task.spec.tests.deciding_model} did best, "
        f"of {pluralized(races.trained, 'model')} trained"
    )
    has_rounds = any(races.rounds)
    headings = ("effort", "asked k", *(("rounds",) if has_rounds else ()), "k", "left out")
    headings = (*headings, measure, "difference")
    table = figures_table(headings, [])
    points = zip(races.points, races.rounds, races.raced, strict=True)
    for (required, checked), rounds, raced in points:
        table.add_row(
            *(str(efforts.get(checked, "-")), str(required)),
            *((str(len(rounds) or "-"),) if has_rounds else ()),
            *(str(checked.k), str(checked.suppressed)),
            _score(raced.score),
            " to ".join(map(_score, raced.interval)) if raced.splits > 1 else "-",
        )
    console.print(table)
    splits = pluralized(first.splits, "split")
    console.print(
        f"{measure} of the untouched table {_score(first.untouched)}, of the zero rule "
        f"{_score(first.zero_rule)}; means of {splits}, with 95 % intervals of the differences "
        "to the untouched table. The build scores the efforts again, on other splits of the same "
        "records."
    )


def _show_reasons(console: SafeConsole, spec: Spec, found: Found, words: Words) -> None:
    """Say what efforts keep, why they give up the rest, and what would help."""
    if any(found.reasons.given):
        console.print("What a column adds is measured one level finer, on the same splits.")
    for number, text in enumerate(reasons_in_words(spec, found, words), start=1):
        console.print(f"Effort {number} {text}.")
    numbers = {k: number for number, k in enumerate(_required(found), start=1)}
    for one in found.reasons.burdens[:_MOST_BURDENS]:
        if one.required in numbers:
            console.print(one.advice(numbers[one.required]))
    if found.races is not None and not found.races.is_complete:
        console.print("What was to be trained ended it: raise --time-limit or --evaluations.")
    console.print()


def _score(value: float) -> str:
    """Return a score; errors have a minus sign."""
    if math.isnan(value) or math.isinf(value):
        return "-"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"


def _is_best_first(found: Found) -> bool:
    from dbt_anonymize.extensions.search.optimum import MOST_ENUMERATED  # noqa: PLC0415

    return found.result.lattice_size > MOST_ENUMERATED


def _levels(spec: Spec, checked: CheckedNode) -> list[str]:
    return [f"{name} {n}" for name, n in zip(spec.quasi_identifiers, checked.node, strict=True)]


def _nodes_table(
    task: Task,
    points: tuple[tuple[int, CheckedNode], ...],
    efforts: dict[CheckedNode, int],
    *,
    is_front: bool = False,
) -> ShownTable:
    """Return required k and node of each point; on the front the required k is the reached one."""
    measure = task.options.loss
    headings = ("effort", *(() if is_front else ("required k",)), "reached k", "suppressed")
    table = figures_table((*headings, measure), ["levels"])
    for required, checked in points:
        table.add_row(
            str(efforts.get(checked, "-")),
            *(() if is_front else (str(required),)),
            str(checked.k),
            str(checked.suppressed),
            lost(measure, checked.loss),
            ", ".join(_levels(task.spec, checked)),
        )
    return table
