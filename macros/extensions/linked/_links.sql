{#
  CTEs `subjects` (subject, own_class) and, per linked table, `linked_<i>` (subject, record_text, record_key): its
  records with the number of their subject. Keys are compared as text; records without subject are left out, see
  `_key_problems`.
#}
{% macro _subjects_and_links(subject, linked) -%}
subject_rows as (

    select
        {{ dbt_anonymize._key_text(subject.key) }} as subject_key,
        {%- if subject.quasi_identifiers %}
        dense_rank() over (
            order by {{ dbt_anonymize._as_bytes(dbt_anonymize._class_text(subject.quasi_identifiers)) }}
        ) as own_class
        {%- else %}
        1 as own_class
        {%- endif %}
        {%- for column in subject.sensitive or [] %},
        {{ dbt_anonymize._as_bytes(dbt_anonymize._class_text([column])) }} as sensitive_{{ loop.index }}
        {%- endfor %}
    from {{ subject.relation }}

),

subjects as (

    select
        row_number() over (order by subject_key) as subject,
        subject_key,
        min(own_class) as own_class,
        count(*) as times
    from subject_rows
    where subject_key is not null
    group by subject_key

),
{%- for table in linked %}

linked_{{ loop.index }} as (

    select
        parents.subject,
        {%- if table.key %}
        {{ dbt_anonymize._key_text(table.key, "children") }} as record_key,
        {%- endif %}
        {%- for column in table.sensitive or [] %}
        {{ dbt_anonymize._as_bytes(dbt_anonymize._class_text([column], "children")) }} as sensitive_{{ loop.index }},
        {%- endfor %}
        {{ dbt_anonymize._record_text(table) }} as record_text
    from {{ table.relation }} as children
    inner join {{ dbt_anonymize._parent_of(table) }} as parents
        on {{ dbt_anonymize._key_text(table.column, "children") }} = parents.{{ dbt_anonymize._parent_key(table) }}

),
{%- endfor %}
{%- endmacro %}


{# CTE of the sensitive values that each subject holds, each once. #}
{% macro _sensitive_values(subject, linked) -%}
{%- set parts = [] -%}
{%- for column in subject.sensitive or [] -%}
    {%- do parts.append({
        "subject": "subjects.subject", "value": "subject_rows.sensitive_" ~ loop.index,
        "rows": "subject_rows inner join subjects on subject_rows.subject_key = subjects.subject_key",
    }) -%}
{%- endfor -%}
{%- for table in linked -%}
    {%- for column in table.sensitive or [] -%}
        {%- do parts.append({
            "subject": "subject", "value": "sensitive_" ~ loop.index, "rows": "linked_" ~ table.place
        }) -%}
    {%- endfor -%}
{%- endfor -%}
sensitive_values as (
    {%- for part in parts %}

    select
        {{ part.subject }},
        {{ loop.index }} as attribute,
        {{ part.value }} as held_value
    from {{ part.rows }}
    {%- if not loop.last %}
    union
    {%- endif %}
    {%- endfor %}

),
{%- endmacro %}


{# A record is known with those that it leads over: which stay a result is of. #}
{% macro _record_text(table) -%}
    {%- set own = dbt_anonymize._class_text(table.quasi_identifiers, "children") -%}
    {{ return(dbt.concat([own, "parents.record_text"]) if table.parent else own) }}
{%- endmacro %}


{% macro _key_text(column, alias=none) -%}
    {{ return(dbt_anonymize._as_bytes(dbt_anonymize._as_text(dbt_anonymize._quote(column, alias)))) }}
{%- endmacro %}


{% macro _parent_of(table) -%}{{ return("linked_" ~ table.parent if table.parent else "subjects") }}{%- endmacro %}


{% macro _parent_key(table) -%}{{ return("record_key" if table.parent else "subject_key") }}{%- endmacro %}


{# Result rows for broken keys. #}
{% macro _key_problems(linked) -%}
{{ dbt_anonymize._problem_row("a key of the subjects is NULL") }}
from subject_rows
where subject_key is null
having count(*) > 0
{{ dbt_anonymize._problem_row("a key of the subjects stands there more than once") }}
from subjects
where times > 1
having count(*) > 0
{%- for table in linked %}
{{ dbt_anonymize._problem_row("a record of " ~ table.name ~ " has no subject: to_subject is NULL or leads nowhere") }}
from {{ table.relation }} as children
left join {{ dbt_anonymize._parent_of(table) }} as parents
    on {{ dbt_anonymize._key_text(table.column, "children") }} = parents.{{ dbt_anonymize._parent_key(table) }}
where parents.subject is null
having count(*) > 0
{%- if table.key %}
{{ dbt_anonymize._problem_row("a key of " ~ table.name ~ " is NULL or stands there more than once") }}
from (
    select record_key
    from linked_{{ table.place }}
    group by record_key
    having record_key is null or count(*) > 1
) as repeated
having count(*) > 0
{%- endif %}
{%- endfor %}
{%- endmacro %}


{% macro _problem_row(text) -%}
union all
select
    cast(null as {{ dbt.type_int() }}) as known_records,
    null as subjects_at_risk,
    null as subjects_not_diverse,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(text)) }} as problem
{%- endmacro %}
