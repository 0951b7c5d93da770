{# The distinct rows of the frequencies (and of the population) as few whole numbers. Each key adds up the codes of its
   parts, each code times the stride of its part; so a billion combinations need one column.

   keys: [[{'name', 'role': quasi_identifier|kept, 'kind', 'hierarchy', 'by': raw|leaf, 'size', 'stride'}, ...], ...];
   a NULL quasi-identifier has the code `size`, which is one more than the codes of its values. #}
{% macro _search_rows(frequencies, population, keys, has_subject) -%}
{%- set relations = [frequencies, population] if population else [frequencies] -%}
{%- set parts = [] -%}
{%- for key in keys -%}
    {%- for part in key -%}
        {%- do parts.append(dict(part, cte="values_" ~ (parts | length + 1), key=loop.index)) -%}
    {%- endfor -%}
{%- endfor -%}
with
{%- for part in parts %}

{% if part.role == "kept" -%}
{{ dbt_anonymize._search_kept_values(part.cte, frequencies, part.name) }},
{%- elif part.by == "raw" -%}
{{ dbt_anonymize._search_raw_values(part.cte, relations, part) }},
{%- else -%}
{{ dbt_anonymize._search_leaves(part.cte, part) }},
{%- endif %}
{%- endfor %}

coded as (
{%- for relation in relations %}

    select
        {{ dbt_anonymize._search_keys(keys, is_population=not loop.first) }},
        {%- if has_subject %}
        {{ "rows_found.subject" if loop.first else "0" }} as subject,
        {%- endif %}
        {{ "rows_found.records" if loop.first else "0" }} as records,
        {{ "0" if loop.first else "rows_found.records" }} as population
    from {{ relation }} as rows_found
    {%- set is_first = loop.first %}
    {%- for part in parts if is_first or part.role == "quasi_identifier" %}
    left join {{ part.cte }}
        on rows_found.{{ dbt_anonymize._quote(part.name ~ ("_leaf" if part.by == "leaf" else "")) }} = {{ part.cte }}.found
    {%- endfor %}
    {{ "union all" if not loop.last }}
{%- endfor %}

)
{%- set grouped = [] -%}
{%- for key in keys -%}
    {%- do grouped.append("key_" ~ loop.index) -%}
{%- endfor -%}
{%- if has_subject -%}
    {%- do grouped.append("subject") -%}
{%- endif %}

select
    {%- for column in grouped %}
    {{ column }},
    {%- endfor %}
    cast(sum(records) as {{ dbt.type_bigint() }}) as records,
    cast(sum(population) as {{ dbt.type_bigint() }}) as population
from coded
group by {{ grouped | join(", ") }}
order by {{ grouped | join(", ") }}
{%- endmacro %}


{# The sums of codes times strides. Rows of the population have no values of kept columns: they count in no distribution. #}
{% macro _search_keys(keys, is_population) -%}
{%- set number = namespace(value=0) -%}
{%- for key in keys -%}
    {%- set terms = [] -%}
    {%- for part in key -%}
        {%- set number.value = number.value + 1 -%}
        {%- if part.role == "quasi_identifier" -%}
            {%- do terms.append("coalesce(values_" ~ number.value ~ ".code, " ~ part.size ~ ") * cast(" ~ part.stride ~ " as " ~ dbt.type_bigint() ~ ")") -%}
        {%- elif not is_population -%}
            {%- do terms.append("values_" ~ number.value ~ ".code * cast(" ~ part.stride ~ " as " ~ dbt.type_bigint() ~ ")") -%}
        {%- endif -%}
    {%- endfor %}
        {{ terms | join("\n        + ") or "0" }} as key_{{ loop.index }}{{ "," if not loop.last }}
{%- endfor -%}
{%- endmacro %}
