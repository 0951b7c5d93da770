{#
  Select with one row per class size found: of all equivalence classes those are counted whose labels have one of
  `one_in` remainders of a hash. A class is counted whole or not at all, so each size is exact.
#}
{% macro _sampled_class_sizes(microdata, quasi_identifiers, one_in=1) -%}
{%- set labels = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do labels.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
{%- endfor -%}
with

people as (

    select * from {{ microdata }}

),
{{- dbt_anonymize.generalize("people", quasi_identifiers, []) }}

classes as (

    select count(*) as class_size
    from generalized
    {%- if one_in > 1 %}
    where {{ dbt_anonymize._is_one_in(one_in, quasi_identifiers) }}
    {%- endif %}
    group by {{ labels | join(", ") }}

)

select
    cast(class_size as {{ dbt.type_bigint() }}) as class_size,
    cast(count(*) as {{ dbt.type_bigint() }}) as classes
from classes
group by class_size
order by class_size
{%- endmacro %}


{# Condition that the labels of one class in `one_in` fulfil, as if drawn: the same for all records of a class. #}
{% macro _is_one_in(one_in, quasi_identifiers) -%}
    {{ return(adapter.dispatch("_is_one_in", "dbt_anonymize")(one_in, quasi_identifiers)) }}
{%- endmacro %}

{% macro default___is_one_in(one_in, quasi_identifiers) -%}
    {#- Hexadecimal digits are ordered as the numbers that they write: nothing has to be converted. -#}
    {%- set bound = "%013x" | format(16 ** 13 // one_in) -%}
    {{ return(dbt.hash(dbt_anonymize.equivalence_class(quasi_identifiers)) ~ " < " ~ dbt_anonymize._literal(bound)) }}
{%- endmacro %}

{% macro duckdb___is_one_in(one_in, quasi_identifiers) -%}
    {%- set labels = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- do labels.append(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- endfor -%}
    {{ return("hash(" ~ labels | join(", ") ~ ") % " ~ one_in ~ " = 0") }}
{%- endmacro %}
