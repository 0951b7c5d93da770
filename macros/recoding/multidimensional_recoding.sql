{#
  Mondrian (LeFevre, DeWitt and Ramakrishnan 2006): records are split along one quasi-identifier after the other, and
  every part is a class with labels of its own. How many rounds that takes depends on the data, so the rounds run while
  the model is prepared, over scratch tables (see _mondrian.sql); the model itself selects their result.
#}
{% macro multidimensional_recoding(
    microdata, quasi_identifiers, record_key, guarantees, sensitive=[], strict=true, k=none, has_subject=false,
    population=none, population_size=none, sensitive_hierarchies={}
) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(quasi_identifiers),
    post_hook=[
        "{{ dbt_anonymize._check_recoding() }}",
        "{{ dbt_anonymize._forget_recoding(" ~ quasi_identifiers | length ~ ") }}",
    ] + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._check_nested(quasi_identifiers) -%}
{%- set plan = dbt_anonymize._mondrian_plan(
    quasi_identifiers, record_key, guarantees, strict, k, has_subject, population_size, sensitive_hierarchies
) -%}
{%- if not dbt_anonymize._is_building() -%}
{{ dbt_anonymize._at_root(microdata, plan) }}
{%- else -%}
{%- do dbt_anonymize._run_mondrian(microdata, plan) -%}
{{ dbt_anonymize._mondrian_result(plan) }}
{%- endif -%}
{%- endmacro %}


{# Rounds until every part is finished. #}
{% macro _run_mondrian(microdata, plan) -%}
    {%- do dbt_anonymize._run_statements(dbt_anonymize._mondrian_setup(microdata, plan)) -%}
    {%- set unfinished = "select 1 from " ~ dbt_anonymize._scratch("rows") ~ " limit 1" -%}
    {%- set round = dbt_anonymize._mondrian_round(plan) + [unfinished] -%}
    {#- Every round cuts a part, finishes it or gives up one of its attributes, so they come to an end. -#}
    {%- for number in range(100000) -%}
        {%- if dbt_anonymize._run_statements(round).rows | length == 0 -%}{%- break -%}{%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{# Levels that differ per record need labels with one parent. #}
{% macro _check_nested(quasi_identifiers) -%}
    {%- for quasi_identifier in quasi_identifiers if quasi_identifier.get("nested", true) is false -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": this recoding needs nested hierarchies; the one of " ~ quasi_identifier.name
            ~ " is declared with nested: false. Correct the hierarchy, or use an effort with levels."
        ) }}
    {%- endfor -%}
{%- endmacro %}


{# After the build: the scratch tables hold people. #}
{% macro _forget_recoding(quasi_identifiers) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set names = dbt_anonymize._mondrian_scratch(quasi_identifiers) -%}
    {%- do dbt_anonymize._run_statements(dbt_anonymize._drop_scratch(names)) -%}
{%- endmacro %}
