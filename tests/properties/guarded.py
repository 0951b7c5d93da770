"""Models of classes under every guarantee, on a table whose hierarchies are small and fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dbt_anonymize.privacy.registry import MODELS
from tests.properties.compilation import Ref, body

if TYPE_CHECKING:
    from tests.properties.warehouse import Warehouse

LIMIT = 0.3
POPULATION_SIZE = 60
LEVELS_OF_EFFORTS: dict[int, dict[str, int]] = {
    0: {"city": 0, "age": 0},
    1: {"city": 1, "age": 0},
    2: {"city": 2, "age": 1},
}
TREES: dict[str, dict[str, tuple[str, ...]]] = {
    "city": {
        "Ulm": ("Ulm", "south", "*"),
        "Aalen": ("Aalen", "south", "*"),
        "Bonn": ("Bonn", "west", "*"),
    },
    "age": {"30": ("30", "adult", "*"), "40": ("40", "adult", "*"), "5": ("5", "child", "*")},
    "disease": {
        "flu": ("flu", "airways", "*"),
        "cold": ("cold", "airways", "*"),
        "gout": ("gout", "joints", "*"),
        "none": ("none", "none", "*"),
    },
}
K_ANONYMITY = {"model": "k_anonymity", "k": 2}


def guarantees(strength: int) -> list[dict[str, Any]]:
    """Return one guarantee of every kind; more strength demands more."""
    of_disease = {"attribute": "disease"}
    of_visits = {"attribute": "visits"}
    t = 0.6 - 0.2 * strength
    t = round(t, 1)
    game = {"adversary_gain": 2.1 + strength, "adversary_cost": 0.7}
    # Two records without loss are a tie; some labels pay, and some classes are too small.
    stakes = {"publisher_benefit": 2, "publisher_loss": 4}
    declared: list[dict[str, Any]] = [
        K_ANONYMITY,
        {"model": "k_map", "k": 3 + strength},
        {"model": "k_map", "k": 4, "estimator": "poisson", "significance": 0.1},
        {"model": "k_map", "k": 6, "estimator": "zero_truncated_poisson", "significance": 0.2},
        {"model": "alpha_k_anonymity", **of_disease, "alpha": 0.75, "k": 2},
        {
            "model": "alpha_k_anonymity",
            **of_disease,
            "alpha": 0.5,
            "k": 2,
            "values": ["flu", "none"],
        },
        {"model": "l_diversity", **of_disease, "l": 2, "variant": "distinct"},
        {"model": "l_diversity", **of_visits, "l": 2, "variant": "entropy"},
        {"model": "l_diversity", **of_disease, "l": 1.5, "variant": "grassberger"},
        {"model": "l_diversity", **of_disease, "l": 2, "variant": "recursive", "c": 3},
        {"model": "l_diversity", **of_disease, "l": 3, "variant": "recursive", "c": 4.5},
        {"model": "t_closeness", **of_disease, "t": t, "distance": "equal"},
        {"model": "t_closeness", **of_visits, "t": t, "distance": "ordered"},
        {"model": "t_closeness", **of_disease, "t": 0.5, "distance": "hierarchical"},
        {"model": "n_t_closeness", **of_disease, "n": 6, "t": 0.3, "distance": "equal"},
        {"model": "n_t_closeness", **of_visits, "n": 9, "t": 0.2, "distance": "ordered"},
        {"model": "n_t_closeness", **of_disease, "n": 4, "t": 0.2, "distance": "hierarchical"},
        {"model": "beta_likeness", **of_disease, "beta": 1 + strength, "variant": "enhanced"},
        {"model": "beta_likeness", **of_visits, "beta": 2, "variant": "basic"},
        {"model": "delta_disclosure", **of_visits, "delta": 1.5},
        {"model": "delta_presence", "minimum": 0.1, "maximum": 0.9},
        {"model": "reidentification_risk", "highest": 0.4},
        {"model": "no_attack", **game, "attacker": "prosecutor"},
        {"model": "no_attack", **game, "attacker": "journalist"},
        {"model": "profitable", **stakes, **game, "attacker": "prosecutor"},
        {"model": "profitable", **stakes, **game, "attacker": "journalist"},
    ]
    return [one for one in declared if one["model"] in MODELS]


@dataclass(frozen=True)
class Guard:
    """Guarantees, counted by record or by subject."""

    name: str
    by_subject: bool
    guarantees: tuple[dict[str, Any], ...]
    beta: Fraction

    @property
    def classes(self) -> str:
        """Return the name of the relation of classes, which breaks of any guarantee suppress."""
        return f"guarded_{self.name}"

    @property
    def measured(self) -> str:
        """Return the name of a model that tells for each guarantee whether a class breaks it."""
        return f"guarded_{self.name}_one_by_one"


GUARDS = (
    Guard("records", False, tuple(guarantees(0)), Fraction(1)),
    Guard("people", True, tuple(guarantees(1)), Fraction(2)),
)
QUASI_IDENTIFIERS = [
    {"name": name, "kind": "categorical", "hierarchy": Ref(f"guarded_{name}"), "levels": 2}
    for name in ("city", "age")
]


def guard_model(guard: Guard) -> str:
    """Return the text of the model of the classes."""
    return body(
        "classes",
        frequencies=Ref("guarded_frequencies"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["disease", "visits"],
        target="outcome",
        efforts={number: {"levels": levels} for number, levels in LEVELS_OF_EFFORTS.items()},
        guarantees=list(guard.guarantees),
        suppression_limit=LIMIT,
        has_subject=guard.by_subject,
        population=Ref("guarded_population"),
        population_size=POPULATION_SIZE,
        sensitive_hierarchies={"disease": {"hierarchy": Ref("guarded_disease"), "levels": 2}},
    )


def measured_model(guard: Guard) -> str:
    """Return the text of a model of the classes of the raw rows, with a column per guarantee."""
    listed = list(guard.guarantees)
    trees = {"disease": {"hierarchy": Ref("guarded_disease"), "levels": 2}}
    measured = body(
        "_measured_classes",
        grouped_by=["city", "age"],
        guarantees=listed,
        attributes=["disease", "visits"],
        has_subject=guard.by_subject,
        population="population",
        population_size=POPULATION_SIZE,
        sensitive_hierarchies=trees,
        has_all_measures=True,
        further=[{"name": "class_loss", "sql": _loss_of_raw_labels()}],
    )
    broken = ", ".join(
        f"case when {_condition(guarantee, listed)} then true else false end as breaks_{number}"
        for number, guarantee in enumerate(listed)
    )
    seen = "coalesce(city, '*') as city, coalesce(age, '*') as age"
    return f"""
        with generalized as (
            select {seen}, disease, visits, subject, records
            from {{{{ ref('guarded_frequencies') }}}}
        ),
        population as (
            select {seen}, sum(records) as population_size
            from {{{{ ref('guarded_population') }}}}
            group by 1, 2
        ),
        {measured}
        judged as (select *, {broken} from classes)
        select * from judged
    """


def _loss_of_raw_labels() -> str:
    """Return what `*` loses and other raw labels do not: of two columns with three leaves each."""
    return (
        "("
        + " + ".join(f"max(case when {name} = '*' then 0.5 else 0 end)" for name in ("city", "age"))
        + ")"
    )


def _condition(guarantee: dict[str, Any], declared: list[dict[str, Any]]) -> str:
    macro = f"dbt_anonymize._violated_conditions([{guarantee!r}], '', {declared!r})"
    return "{{ " + macro + " | join(' or ') }}"


GUARDED_MODELS = {guard.classes: guard_model(guard) for guard in GUARDS} | {
    guard.measured: measured_model(guard) for guard in GUARDS
}
GUARDED_SEEDS = [
    "guarded_frequencies",
    "guarded_population",
    *(f"guarded_{name}" for name in TREES),
]


def load_trees(warehouse: Warehouse) -> None:
    """Load the hierarchies."""
    for name, tree in TREES.items():
        columns = {"value": "varchar", "level_1": "varchar", "level_2": "varchar"}
        warehouse.load(f"guarded_{name}", columns, list(tree.values()))


def load_frequencies(
    warehouse: Warehouse, rows: Mapping[tuple[Any, ...], int], population: Counter[Any]
) -> None:
    """Load the frequencies and the population."""
    leaves = {"city": "varchar", "city_leaf": "varchar", "age": "varchar", "age_leaf": "varchar"}
    warehouse.load(
        "guarded_frequencies",
        leaves
        | {"disease": "varchar", "visits": "int", "outcome": "varchar"}
        | {"subject": "bigint", "records": "bigint"},
        [
            (city, city, age, age, disease, visits, target, subject, records)
            for (city, age, disease, visits, target, subject), records in rows.items()
        ],
    )
    warehouse.load(
        "guarded_population",
        leaves | {"records": "bigint"},
        [(city, city, age, age, records) for (city, age), records in population.items()],
    )
