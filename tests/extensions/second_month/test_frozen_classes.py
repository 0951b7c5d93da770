"""Committed classes of a recoding: coarser ones are added, unless a label would mean two things."""

from __future__ import annotations

from dbt_anonymize.extensions.second_month.frozen_classes import (
    Label,
    Labels,
    Leaf,
    Tree,
    add_coarser_classes,
)

ROOT = Label("*", 3)


def ages(*labels: tuple[str, str]) -> Tree:
    """Return intervals of 10, with the labels of two levels below the root."""
    leaves = [
        Leaf(str(10 * place), str(10 * place + 10), (*own, "*")) for place, own in enumerate(labels)
    ]
    return Tree(is_interval=True, leaves=leaves)


CITIES = Tree(
    is_interval=False,
    leaves=[Leaf(city, None, ("DE", "EU", "*")) for city in ("Bonn", "Köln")]
    + [Leaf("Rome", None, ("IT", "EU", "*")), Leaf("Oslo", None, ("NO", "NO", "*"))],
)


def texts(classes: list[Labels]) -> list[tuple[str, ...]]:
    return [tuple(label.text for label in labels) for labels in classes]


def test_parents_are_added_up_to_the_root() -> None:
    tree = ages(("young", "working"), ("grown", "working"), ("old", "retired"))
    first = (Label("young", 1, "0", "10"), Label("DE", 1))
    added = add_coarser_classes([first], [tree, CITIES])
    assert texts(added) == [("young", "DE"), ("working", "EU"), ("*", "*")]


def test_a_label_that_means_something_else_at_another_level_is_not_added() -> None:
    # `low` is [0, 10) at level 1 and [0, 20) at level 2.
    tree = ages(("low", "low"), ("middle", "low"), ("high", "high"))
    released = (Label("low", 2, "0", "20"), Label("EU", 2))
    alone = (Label("0", 0, leaf="0"), Label("NO", 1))
    added = add_coarser_classes([released, alone], [tree, CITIES])
    assert texts(added) == [("low", "EU"), ("0", "NO"), ("*", "*")]
    # Where nothing else is called so it is added.
    clear = ages(("lowest", "low"), ("middle", "low"), ("high", "high"))
    assert ("lowest", "*") in texts(add_coarser_classes([released, alone], [clear, CITIES]))


def test_a_released_root_holds_everything() -> None:
    tree = ages(("young", "all"), ("old", "all"))
    classes = [(Label("young", 1, "0", "10"), Label("DE", 1)), (ROOT, ROOT)]
    assert add_coarser_classes(classes, [tree, CITIES]) == classes
