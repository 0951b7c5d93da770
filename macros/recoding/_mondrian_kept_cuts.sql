{# The proposed cuts whose sides all keep every guarantee about classes. A part with another one becomes one
   part again, under a new number, and is asked about its next attribute. P, the distribution in the
   whole table, is that of all records. #}
{% macro _mondrian_kept_cuts(plan) -%}
with

proposed as (

    select * from {{ dbt_anonymize._scratch("proposed") }}

),

all_rows as (

    select
        {{- dbt_anonymize._mondrian_values(plan) }}
        1 as records
    from {{ dbt_anonymize._scratch("encoded") }}

),
{{- dbt_anonymize._global_distributions(
    "all_rows", plan.attributes, plan.guarantees, "whole_", "count(*)", plan.has_subject, plan.population_size,
    plan.sensitive_hierarchies
) }}

{{ dbt_anonymize._mondrian_parted(plan, "proposed") }},

generalized as (

    select
        whole as dbt_anonymize_whole,
        part as dbt_anonymize_part,
        {{- dbt_anonymize._mondrian_values(plan) }}
        records
    from parted

),
{{- dbt_anonymize._measured_classes(
    ["dbt_anonymize_whole", "dbt_anonymize_part"],
    plan.guarantees,
    sensitive=plan.attributes,
    has_subject=plan.has_subject,
    distributions="whole_",
    population_size=plan.population_size,
    sensitive_hierarchies=plan.sensitive_hierarchies,
) }}

refused as (

    select distinct dbt_anonymize_whole as part
    from classes
    where is_violating

)

select
    part,
    attribute,
    from_code,
    to_code,
    boundary,
    {%- if not plan.is_strict %}
    shared,
    {%- endif %}
    0 as attempts,
    child
from proposed
where part not in (select refused.part from refused)

union all

select
    part,
    min(attribute) as attribute,
    0 as from_code,
    {{ dbt_anonymize._highest_code() }} as to_code,
    cast(null as {{ dbt.type_int() }}) as boundary,
    {%- if not plan.is_strict %}
    cast(null as {{ dbt.type_bigint() }}) as shared,
    {%- endif %}
    max(attempts) as attempts,
    min(child) as child
from proposed
where part in (select refused.part from refused)
group by part
{%- endmacro %}


{# Columns that guarantees are about, under their own names, each followed by a comma. #}
{% macro _mondrian_values(plan) -%}
    {%- for attribute in plan.attributes %}
        value_{{ loop.index }} as {{ dbt_anonymize._quote(attribute) }},
    {%- endfor %}
    {%- if plan.has_subject %}
        subject,
    {%- endif %}
{%- endmacro %}
