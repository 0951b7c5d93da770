from decimal import Decimal

from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.hierarchies.words import level_words


def test_whole_numbers_with_a_label_each_are_as_they_are() -> None:
    sexes = integer_groups({Decimal(0): 40, Decimal(1): 40})
    assert level_words(sexes) == ("as it is", "*")
    children = integer_groups({Decimal(n): count for n, count in enumerate((40, 20, 20, 9, 2))})
    assert level_words(children)[0] == "in 4 intervals"
    months = integer_groups({Decimal(n): 10 for n in range(13)})
    assert level_words(months)[0] == "as it is"
