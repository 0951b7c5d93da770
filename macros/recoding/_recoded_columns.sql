{# The columns that a quasi-identifier has in a recoding. #}
{% macro _recoded_columns(quasi_identifier) -%}
    {%- set name = quasi_identifier.name -%}
    {%- set bounds = [name ~ "_lower", name ~ "_upper"] if quasi_identifier.kind == "interval" else [] -%}
    {{ return([name] + bounds + [name ~ "_level", name ~ "_share"]) }}
{%- endmacro %}


{# The same columns with everything generalized to the root: what is shown of a recoding that is not built. #}
{% macro _at_root(microdata, plan) -%}
with

{%- for quasi_identifier in plan.quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}

range_{{ loop.index }} as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from {{ quasi_identifier.hierarchy }}

),
{%- endif %}
{%- endfor %}

microdata as (

    select * from {{ microdata }}

)

select
    {{ dbt_anonymize._quote(plan.record_key, "microdata") }}
    {%- for quasi_identifier in plan.quasi_identifiers %},
    {%- set name = quasi_identifier.name %}
    {{ dbt_anonymize._as_text("'*'") }} as {{ dbt_anonymize._quote(name) }},
    {%- if quasi_identifier.kind == "interval" %}
    range_{{ loop.index }}.range_lower as {{ dbt_anonymize._quote(name ~ "_lower") }},
    range_{{ loop.index }}.range_upper as {{ dbt_anonymize._quote(name ~ "_upper") }},
    {%- endif %}
    cast({{ quasi_identifier.levels }} as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(name ~ "_level") }},
    cast(1 as {{ dbt_anonymize._type_double() }}) as {{ dbt_anonymize._quote(name ~ "_share") }}
    {%- endfor %}
from microdata
{%- for quasi_identifier in plan.quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}
cross join range_{{ loop.index }}
{%- endif %}
{%- endfor %}
{%- endmacro %}
