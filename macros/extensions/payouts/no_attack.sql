{#
  Wan et al. 2015: an attacker gains `adversary_gain` from finding a person, with probability 1/n in a class of n, and
  pays `adversary_cost` for trying. Nobody attacks where that does not pay; where both are equal, neither does it.
#}
{% macro no_attack(
    relation,
    quasi_identifiers,
    adversary_gain=300,
    adversary_cost=4,
    attacker="prosecutor",
    population=none,
    subject=none
) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "no_attack",
    {
        "adversary_gain": [adversary_gain, "a number >= 0"],
        "adversary_cost": [adversary_cost, "a number > 0"],
        "attacker": [attacker, ["prosecutor", "journalist"]],
    },
    [
        [
            (population is not none) == (attacker == "journalist"),
            "have `population` (a relation to count in) if and only if `attacker` is journalist",
        ],
    ],
) -%}
{%- set measures = {"population_size": "coalesce(population_size, 0)"} if population else {} -%}
{{ dbt_anonymize._violating_classes(
    relation, quasi_identifiers, guarantee, measures, subject, {"population": population}
) }}
{%- endmacro %}


{% test no_attack(
    model,
    quasi_identifiers,
    adversary_gain=300,
    adversary_cost=4,
    attacker="prosecutor",
    population=none,
    subject=none
) %}
{{ dbt_anonymize._explain_failures(
    "no_attack", {"adversary_gain": adversary_gain, "adversary_cost": adversary_cost, "attacker": attacker}
) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.no_attack(
        model, quasi_identifiers, adversary_gain, adversary_cost, attacker, population, subject
    ),
    ["class_size", "records"] + (["population_size"] if population else []),
    model,
    [subject],
) }}
{% endtest %}


{# gain / size <= cost, without division: decimals are exact. #}
{% macro _no_attack_model(guarantee) -%}
    {%- set pays = " * " ~ dbt_anonymize._number(guarantee.adversary_cost) ~ " < "
        ~ dbt_anonymize._number(guarantee.adversary_gain) -%}
    {%- if guarantee.attacker == "journalist" -%}
        {{ return({"conditions": ["coalesce(population_size, 0)" ~ pays], "needs_population": true}) }}
    {%- endif -%}
    {{ return({
        "conditions": ["class_size" ~ pays],
        "in_release": guarantee,
        "in_release_of_subjects": guarantee,
    }) }}
{%- endmacro %}
