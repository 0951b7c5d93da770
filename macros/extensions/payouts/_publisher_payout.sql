{# The payout of one record of a class, over its columns `class_loss`, `class_size` and `population_size`. #}
{% macro _publisher_payout(guarantee) -%}
    {%- set candidates = dbt_anonymize._candidates(guarantee) -%}
    {%- set benefit = dbt_anonymize._number(guarantee.publisher_benefit) ~ " * (1 - class_loss)" -%}
    {%- set loss = "cast(" ~ dbt_anonymize._number(guarantee.publisher_loss) ~ " as " ~ dbt_anonymize._type_double()
        ~ ") / nullif(" ~ candidates ~ ", 0)" -%}
    {{ return(
        "(" ~ benefit ~ " - case when " ~ dbt_anonymize._is_attacked(guarantee) ~ " then " ~ loss ~ " else 0 end)"
    ) }}
{%- endmacro %}


{# Whether an attack pays; without division, as decimals are exact. #}
{% macro _is_attacked(guarantee) -%}
    {{ return(
        dbt_anonymize._candidates(guarantee) ~ " * " ~ dbt_anonymize._number(guarantee.adversary_cost) ~ " < "
        ~ dbt_anonymize._number(guarantee.adversary_gain)
    ) }}
{%- endmacro %}


{# Among how many an attacker looks. A population that lacks the class has at least its subjects. #}
{% macro _candidates(guarantee) -%}
    {%- if guarantee.attacker == "journalist" -%}
        {{ return("coalesce(nullif(population_size, 0), class_size)") }}
    {%- endif -%}
    {{ return("class_size") }}
{%- endmacro %}


{#
  What the game is worth, as aggregates over the released classes of an effort, by the amounts of its own guarantee
  `profitable`, else by those of all efforts; NULL without either, and nothing where no effort has one. See
  _figures_of_guarantees.
#}
{% macro _payouts_of_effort(guarantees) -%}
    {%- set games = [] -%}
    {%- for guarantee in guarantees if guarantee.model == "profitable" -%}
        {%- do games.append(guarantee) -%}
    {%- endfor -%}
    {%- if not games -%}{{ return({"aggregates": {}, "columns": {}}) }}{%- endif -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set payout, benefit, chance, candidates, cost = [], [], [], [], [] -%}
    {%- for game in games -%}
        {%- set among = dbt_anonymize._candidates(game) -%}
        {%- do payout.append([game, dbt_anonymize._publisher_payout(game)]) -%}
        {%- do benefit.append([game, dbt_anonymize._number(game.publisher_benefit) ~ " * (1 - class_loss)"]) -%}
        {%- do chance.append([
            game,
            "case when " ~ dbt_anonymize._is_attacked(game) ~ " then cast(1 as " ~ double ~ ") / nullif(" ~ among
            ~ ", 0) else 0 end",
        ]) -%}
        {%- do candidates.append([game, among]) -%}
        {%- do cost.append([
            game, "cast(" ~ dbt_anonymize._number(game.adversary_cost) ~ " as " ~ double ~ ")"
        ]) -%}
    {%- endfor -%}
    {%- set aggregates = {
        "publisher_payout_total": "sum(records * " ~ dbt_anonymize._of_game(payout) ~ ")",
        "break_even_gain": "min(" ~ dbt_anonymize._of_game(candidates) ~ " * " ~ dbt_anonymize._of_game(cost) ~ ")",
        "break_even_loss": "sum(records * " ~ dbt_anonymize._of_game(benefit) ~ ")\n            / nullif(sum(records * "
            ~ dbt_anonymize._of_game(chance) ~ "), 0)",
    } -%}
    {{ return({
        "aggregates": aggregates,
        "columns": {"publisher_payout": "measured.publisher_payout_total / nullif(counts.records, 0)"},
    }) }}
{%- endmacro %}


{# An expression of the game that an effort is judged by, from those of all games: its own, else that of all efforts. #}
{% macro _of_game(expressions) -%}
    {%- set branches, others = [], [] -%}
    {%- for game, expression in expressions -%}
        {%- if game.effort -%}
            {%- do branches.append("when effort = " ~ game.effort ~ " then " ~ expression) -%}
        {%- else -%}
            {%- do others.append(expression) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not branches -%}{{ return("(" ~ others[0] ~ ")") }}{%- endif -%}
    {%- if others -%}{%- do branches.append("else " ~ others[0]) -%}{%- endif -%}
    {%- set separator = "\n                " -%}
    {{ return("case" ~ separator ~ branches | join(separator) ~ "\n            end") }}
{%- endmacro %}
