{# The distinct rows of the frequencies (and of the population) as few whole numbers. Each key adds up the codes of its
   parts, each code times the stride of its part; so a billion combinations need one column.

   keys: [[{'name', 'role': quasi_identifier|kept, 'kind', 'hierarchy', 'by': raw|leaf, 'size', 'stride'}, ...], ...];
   a NULL quasi-identifier has the code `size`, which is one more than the codes of its values.
   share: of the sample that is searched; none: everybody. #}
{% macro _search_rows(frequencies, population, keys, has_subject, share=none) -%}
{%- set relations = [frequencies, population] if population else [frequencies] -%}
{%- set parts, key_names = [], [] -%}
{%- for key in keys -%}
    {%- set name = "key_" ~ loop.index -%}
    {%- do key_names.append(name) -%}
    {%- for part in key -%}
        {%- do parts.append(dict(part, cte="values_" ~ (parts | length + 1), key=name)) -%}
    {%- endfor -%}
{%- endfor -%}
{%- set grouped = key_names + (["subject"] if has_subject else []) -%}
with

{% for part in parts -%}
{% if part.role == "kept" -%}
{{ dbt_anonymize._search_kept_values(part.cte, frequencies, part.name) }},
{%- elif part.by == "raw" -%}
{{ dbt_anonymize._search_raw_values(part.cte, relations, part) }},
{%- else -%}
{{ dbt_anonymize._search_leaves(part.cte, part) }},
{%- endif %}

{% endfor -%}
coded as (
{%- for relation in relations %}
    {%- set is_population = not loop.first %}
    {{- "\n" if loop.first else "\n    union all" }}
    select
        {%- for name in key_names %}
        {{ dbt_anonymize._search_key(parts, name, is_population) }} as {{ name }},
        {%- endfor %}
        {%- if has_subject %}
        {{ "0 as subject" if is_population else "rows_found.subject" }},
        {%- endif %}
        {{ "0 as records" if is_population else "rows_found.records" }},
        {{ "rows_found.records" if is_population else "0" }} as population
    from {{ relation }} as rows_found
    {%- for part in parts if part.role == "quasi_identifier" or not is_population %}
    {%- set column = part.name ~ ("_leaf" if part.by == "leaf" else "") %}
    left join {{ part.cte }}
        on {{ dbt_anonymize._quote(column, "rows_found") }} = {{ part.cte }}.found
    {%- endfor %}
    {%- if share and not is_population %}
    where {{ dbt_anonymize._is_sampled(share, "rows_found") }}
    {%- endif %}
{%- endfor %}

)

select
    {{ grouped | join(",\n    ") }},
    cast(sum(records) as {{ dbt.type_bigint() }}) as records,
    cast(sum(population) as {{ dbt.type_bigint() }}) as population
from coded
group by
    {{ grouped | join(",\n    ") }}
order by
    {{ grouped | join(",\n    ") }}
{%- endmacro %}


{# The sum of codes times strides. Rows of the population have no kept columns, so they count in no distribution. #}
{% macro _search_key(parts, key, is_population) -%}
    {%- set terms = [] -%}
    {%- for part in parts if part.key == key and (part.role == "quasi_identifier" or not is_population) -%}
        {%- set code = part.cte ~ ".code" -%}
        {#- NULL has a code of its own. -#}
        {%- if part.role == "quasi_identifier" -%}
            {%- set code = "coalesce(" ~ code ~ ", " ~ part.size ~ ")" -%}
        {%- endif -%}
        {%- do terms.append(code ~ " * cast(" ~ part.stride ~ " as " ~ dbt.type_bigint() ~ ")") -%}
    {%- endfor -%}
    {{ return(terms | join("\n        + ") or "0") }}
{%- endmacro %}
