{#
  Wan et al. 2015: a released record is worth `publisher_benefit` times what its labels keep of the information. Where
  an attack pays (see no_attack), the publisher expects to lose `publisher_loss` with the attacker's probability of
  success. A class is released only where more is left than nothing.
#}
{% macro profitable(
    relation,
    quasi_identifiers,
    information_loss,
    publisher_benefit=1200,
    publisher_loss=300,
    adversary_gain=300,
    adversary_cost=4,
    attacker="prosecutor",
    population=none,
    subject=none
) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "profitable",
    {
        "publisher_benefit": [publisher_benefit, "a number > 0"],
        "publisher_loss": [publisher_loss, "a number >= 0"],
        "adversary_gain": [adversary_gain, "a number >= 0"],
        "adversary_cost": [adversary_cost, "a number > 0"],
        "attacker": [attacker, ["prosecutor", "journalist"]],
    },
    [
        [
            (population is not none) == (attacker == "journalist"),
            "have `population` (a relation to count in) if and only if `attacker` is journalist",
        ],
        [
            information_loss is string and information_loss != "",
            "have `information_loss`, the name of a column",
        ],
    ],
) -%}
{%- set measures = {"class_loss": "class_loss", "publisher_payout": dbt_anonymize._publisher_payout(guarantee)} -%}
{%- do measures.update({"population_size": "coalesce(population_size, 0)"} if population else {}) -%}
{{ dbt_anonymize._violating_classes(
    relation,
    quasi_identifiers,
    guarantee,
    measures,
    subject,
    {"population": population, "information_loss": information_loss},
) }}
{%- endmacro %}


{% test profitable(
    model,
    quasi_identifiers,
    information_loss,
    publisher_benefit=1200,
    publisher_loss=300,
    adversary_gain=300,
    adversary_cost=4,
    attacker="prosecutor",
    population=none,
    subject=none
) %}
{{ dbt_anonymize._explain_failures("profitable", {
    "publisher_benefit": publisher_benefit,
    "publisher_loss": publisher_loss,
    "adversary_gain": adversary_gain,
    "adversary_cost": adversary_cost,
    "attacker": attacker,
}) }}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.profitable(
        model, quasi_identifiers, information_loss, publisher_benefit, publisher_loss, adversary_gain,
        adversary_cost, attacker, population, subject
    ),
    ["class_size", "records", "class_loss", "publisher_payout"] + (["population_size"] if population else []),
    model,
    [subject, information_loss],
) }}
{% endtest %}


{# Rounding, by a few units of the 16th digit, must not release what brings nothing: that is a tie, and no profit. #}
{% macro _profitable_model(guarantee) -%}
    {%- set least = dbt_anonymize._number(guarantee.publisher_benefit) ~ " * 1e-12" -%}
    {{ return({
        "conditions": ["coalesce(" ~ dbt_anonymize._publisher_payout(guarantee) ~ ", 0) <= " ~ least],
        "needs_population": guarantee.attacker == "journalist",
        "needs_loss": true,
    }) }}
{%- endmacro %}


{#
  The loss of the labels of a class, 0 to 1, as an aggregate over `<qi>_share`, or of one row without: the logarithm of
  how many combinations of leaves they cover, relative to that of all. A raw number covers one leaf. NULL where a share
  is NULL.
#}
{% macro _class_loss(quasi_identifiers, aggregate="max") -%}
    {%- set covered, domain = [], [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set leaves = "(select cast(count(*) as " ~ dbt_anonymize._type_double() ~ ") from "
            ~ quasi_identifier.hierarchy ~ ")" -%}
        {%- set number = aggregate ~ "(" ~ dbt_anonymize._quote(quasi_identifier.name ~ "_share") ~ ") * " ~ leaves -%}
        {%- do covered.append("case when " ~ number ~ " <= 1 then 0 else ln(" ~ number ~ ") end") -%}
        {%- do domain.append("ln(" ~ leaves ~ ")") -%}
    {%- endfor -%}
    {%- set separator = "\n                + " -%}
    {%- set whole = domain | join(separator) -%}
    {{ return(
        "case\n            when\n                " ~ whole ~ " = 0\n                then 0\n            else (\n"
        ~ "                " ~ covered | join(separator) ~ "\n            ) / (\n                " ~ whole
        ~ "\n            )\n        end"
    ) }}
{%- endmacro %}
