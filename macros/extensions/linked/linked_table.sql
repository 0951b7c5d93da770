{#
  A table of a linked release: the rows that `suppress_linked` releases, with new keys that join as before, and `*` for
  the quasi-identifiers of hidden records.
#}
{% macro linked_table(decisions, name, relation, key, quasi_identifiers, to_subject=none, others=[]) -%}
{%- set over = to_subject if to_subject is mapping else {"subjects": to_subject} if to_subject else {} -%}
{%- set parent, column = over.keys() | first, over.values() | first -%}
{%- do dbt_anonymize._check_linked_columns([key] + over.values() | list, quasi_identifiers, others) -%}
{%- set columns = ["decided.released_key as " ~ dbt_anonymize._quote(key)] -%}
{%- if over -%}
    {%- do columns.append("parents.released_key as " ~ dbt_anonymize._quote(column)) -%}
{%- endif -%}
{%- for shown in quasi_identifiers -%}
    {%- do columns.append(
        "case when decided.status = 'hidden' then '*' else "
        ~ dbt_anonymize._as_text(dbt_anonymize._quote(shown, "listed")) ~ " end as " ~ dbt_anonymize._quote(shown)
    ) -%}
{%- endfor -%}
{%- for other in others -%}{%- do columns.append(dbt_anonymize._quote(other, "listed")) -%}{%- endfor -%}
select
    {{ columns | join(",\n    ") }}
from {{ relation }} as listed
inner join {{ decisions }} as decided
    on
        decided.linked_table = {{ dbt_anonymize._literal(name) }}
        and {{ dbt_anonymize._key_text(key, "listed") }} = {{ dbt_anonymize._as_bytes("decided.record") }}
{%- if over %}
inner join {{ decisions }} as parents
    on
        parents.linked_table = {{ dbt_anonymize._literal(parent) }}
        and {{ dbt_anonymize._key_text(column, "listed") }} = {{ dbt_anonymize._as_bytes("parents.record") }}
{%- endif %}
where decided.status <> 'left out'
order by decided.released_key
{%- endmacro %}


{# Stops where a column has two parts: as another it would show a key or a hidden value. #}
{% macro _check_linked_columns(keys, quasi_identifiers, others) -%}
    {%- set errors, named = [], [] -%}
    {%- if keys | length > 2 -%}
        {%- do errors.append("`to_subject` must be one column; got: " ~ keys[1:] | join(", ")) -%}
    {%- endif -%}
    {%- for columns in [quasi_identifiers, others] if columns is string -%}
        {%- do errors.append("`quasi_identifiers` and `others` must be lists of columns; got: " ~ columns) -%}
    {%- else -%}
        {%- for column in keys + quasi_identifiers + others -%}
            {%- if column | lower in named -%}
                {%- do errors.append("each column must be named once; got twice: " ~ column) -%}
            {%- endif -%}
            {%- do named.append(column | lower) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": " ~ errors | join("; ") ~ ". Correct the arguments of linked_table."
        ) }}
    {%- endif -%}
{%- endmacro %}
