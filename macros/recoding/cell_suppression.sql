{#
  Cell suppression: single cells of records in classes that are too weak become `*`, which is a value of its own and
  never matches anything else. The passes run while the model is prepared, over scratch tables (see
  _cell_suppression.sql); the model itself selects their result.
#}
{% macro cell_suppression(
    microdata, quasi_identifiers, record_key, levels, guarantees, importance={}, sensitive=[], k=none,
    has_subject=false, population=none, population_size=none, sensitive_hierarchies={}
) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(quasi_identifiers),
    post_hook=[
        "{{ dbt_anonymize._check_recoding() }}", "{{ dbt_anonymize._forget_cells() }}"
    ] + dbt_anonymize._analyzed(),
) }}
{%- set plan = dbt_anonymize._cell_plan(
    quasi_identifiers, record_key, levels, guarantees, importance, k, has_subject, population_size,
    sensitive_hierarchies
) -%}
{%- if not dbt_anonymize._is_building() -%}
{{ dbt_anonymize._at_root(microdata, plan) }}
{%- else -%}
{%- do dbt_anonymize._run_statements(dbt_anonymize._cell_setup(microdata, plan)) -%}
{%- for pass in plan.order -%}
    {%- for number in plan.order if dbt_anonymize._has_scratch_rows("weak") -%}
        {%- set step = dbt_anonymize._cell_step(plan, number) -%}
        {%- do dbt_anonymize._run_statements(step[:1]) -%}
        {#- Where nothing is better without the cell, nothing has to be counted again. -#}
        {%- set is_changed = dbt_anonymize._has_scratch_rows("moved") -%}
        {%- do dbt_anonymize._run_statements(step[1:] if is_changed else step[-1:]) -%}
    {%- endfor -%}
    {%- if not dbt_anonymize._has_scratch_rows("weak") -%}{%- break -%}{%- endif -%}
    {%- do dbt_anonymize._run_statements(dbt_anonymize._cell_forced(plan, loop.last)) -%}
{%- endfor -%}
{{ dbt_anonymize._cell_result(microdata, plan) }}
{%- endif -%}
{%- endmacro %}


{% macro _has_scratch_rows(name) -%}
    {{ return(run_query("select 1 from " ~ dbt_anonymize._scratch(name) ~ " limit 1").rows | length > 0) }}
{%- endmacro %}


{# After the build: the scratch tables hold people. #}
{% macro _forget_cells() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- do dbt_anonymize._run_statements(dbt_anonymize._drop_scratch(dbt_anonymize._cell_scratch())) -%}
{%- endmacro %}
