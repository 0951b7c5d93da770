{#
  A table of a linked release: the rows that `suppress_linked` releases, with new keys that join as before, and `*` for
  the quasi-identifiers of hidden records.
#}
{% macro linked_table(decisions, name, relation, key, quasi_identifiers, to_subject=none, others=[]) -%}
{%- set over = to_subject if to_subject is mapping else {"subjects": to_subject} if to_subject else {} -%}
{%- set parent, column = over.keys() | first, over.values() | first -%}
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
        and {{ dbt_anonymize._as_text(dbt_anonymize._quote(key, "listed")) }} = decided.record
{%- if over %}
inner join {{ decisions }} as parents
    on
        parents.linked_table = {{ dbt_anonymize._literal(parent) }}
        and {{ dbt_anonymize._as_text(dbt_anonymize._quote(column, "listed")) }} = parents.record
{%- endif %}
where decided.status <> 'left out'
order by decided.released_key
{%- endmacro %}
