{#
  Subjects whom somebody finds who knows their own quasi-identifiers and some of their linked records: one row per
  number of known records, from 0, with all who are found by so many or fewer; and one per problem of keys.
  Terrovitis, Mamoulis and Kalnis 2008 (k^m-anonymity); Poulis, Loukides, Gkoulalas-Divanis and Skiadopoulos 2013.
#}
{% macro joined_risk(subject, tables, k, known_records=2, known_count=false, l=none) -%}
{%- set linked = dbt_anonymize._checked_links(subject, tables, {"k": k, "known_records": known_records, "l": l}) -%}
{%- set numbers = range(1) if known_records == "all" else range(known_records + 1) -%}
{%- set given = {"k": k, "l": l} -%}
with

{{ dbt_anonymize._subjects_and_links(subject, linked) }}

{{ dbt_anonymize._items_of_subjects(linked, known_records, known_count) }}
{%- if l %}

{{ dbt_anonymize._sensitive_values(subject, linked) }}
{%- endif %}
{%- for number in numbers %}

{{ dbt_anonymize._matches(number, given) }}
{%- endfor %}

violations as (
    {%- for number in numbers %}
    {%- for relation, is_rare in [["rare_subjects_", 1], ["uniform_subjects_", 0]] if is_rare or l %}

    select
        subject,
        {{ number }} as known_records,
        {{ is_rare }} as is_rare
    from {{ relation }}{{ number }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}

),

smallest_known as (

    select
        subject,
        is_rare,
        min(known_records) as known_records
    from violations
    group by subject, is_rare

)

{% for number in numbers -%}
{% if not loop.first -%}
union all
{% endif -%}
select
    {{ "cast(null as " ~ dbt.type_int() ~ ")" if known_records == "all" else number }} as known_records,
    count(case when is_rare = 1 then 1 end) as subjects_at_risk,
    count(case when is_rare = 0 then 1 end) as subjects_not_diverse,
    {{ dbt_anonymize._as_text("null") }} as problem
from smallest_known
where known_records <= {{ number }}
{% endfor -%}
{{ dbt_anonymize._key_problems(linked) }}
{%- endmacro %}


{# The linked tables in order, each with its place and that of what it is linked to, 0 for the subjects. #}
{% macro _checked_links(subject, tables, given) -%}
{%- set errors = dbt_anonymize._errors_of_subject(subject) -%}
{%- if given.known_records != "all" and not dbt_anonymize._is_whole(given.known_records, 1) -%}
    {%- do errors.append("`known_records` must be all or an integer >= 1; got: " ~ given.known_records) -%}
{%- endif -%}
{%- if not dbt_anonymize._is_whole(given.k, 2) -%}
    {%- do errors.append("`k` must be an integer >= 2; got: " ~ given.k) -%}
{%- endif -%}
{%- if given.l is not none and not dbt_anonymize._is_whole(given.l, 2) -%}
    {%- do errors.append("`l` must be an integer >= 2; got: " ~ given.l) -%}
{%- endif -%}
{%- if tables is not mapping or not tables -%}
    {%- do errors.append("`tables` must have at least one linked table by its name; got: " ~ tables) -%}
{%- endif -%}
{%- set tables = tables if tables is mapping else {} -%}
{%- for name, table in tables.items() -%}
    {%- do errors.extend(dbt_anonymize._errors_of_link(name, table)) -%}
{%- endfor -%}
{%- set linked = [] if errors else dbt_anonymize._ordered_links(tables) -%}
{%- if not errors and linked | length < tables | length -%}
    {%- set ordered = linked | map(attribute="name") | list -%}
    {%- do errors.append(
        "`to_subject` must lead to the subject, over other tables that have a `key`; it does not from "
        ~ tables.keys() | reject("in", ordered) | join(", ")
    ) -%}
{%- endif -%}
{%- set sensitive = subject.sensitive or tables.values() | map(attribute="sensitive", default=none) | select | list -%}
{%- if (given.l is none) != (not sensitive) -%}
    {%- do errors.append("`l` and `sensitive` columns must be given together or neither") -%}
{%- endif -%}
{%- if errors -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": " ~ errors | join("; ") ~ ". Correct the arguments."
    ) }}
{%- endif -%}
{{ return(linked) }}
{%- endmacro %}


{% macro _errors_of_subject(subject) -%}
    {%- set known = ["relation", "key", "quasi_identifiers", "sensitive"] -%}
    {%- set errors = dbt_anonymize._errors_of_keys("the subject", subject, known) -%}
    {%- for part in ["relation", "key"] if not subject[part] -%}
        {%- do errors.append("`" ~ part ~ "` of the subject must be given; got: " ~ subject[part]) -%}
    {%- endfor -%}
    {%- set named = subject.get("quasi_identifiers") -%}
    {%- if named is string or named is not iterable -%}
        {%- do errors.append("`quasi_identifiers` must be a list of columns, which may be empty; got: " ~ named) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{% macro _errors_of_keys(name, given, known) -%}
    {%- set errors = [] -%}
    {%- for unknown in given if unknown not in known -%}
        {%- do errors.append(name ~ " must have " ~ known | join(", ") ~ " alone; got: " ~ unknown) -%}
    {%- endfor -%}
    {%- if given.sensitive is string -%}
        {%- do errors.append("`sensitive` of " ~ name ~ " must be a list of columns; got: " ~ given.sensitive) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{% macro _errors_of_link(name, table) -%}
    {%- set known = ["relation", "key", "to_subject", "quasi_identifiers", "sensitive"] -%}
    {%- set errors = dbt_anonymize._errors_of_keys("table " ~ name, table, known) -%}
    {%- if not table.relation -%}
        {%- do errors.append("table " ~ name ~ " must have a `relation`; got: " ~ table.relation) -%}
    {%- endif -%}
    {%- if not table.to_subject or table.to_subject is mapping and table.to_subject | length != 1 -%}
        {%- do errors.append(
            "`to_subject` of " ~ name ~ " must be its column with the key of the subject, or one column by the name of"
            ~ " another table; got: " ~ table.to_subject
        ) -%}
    {%- endif -%}
    {%- if not table.quasi_identifiers or table.quasi_identifiers is string -%}
        {%- do errors.append(
            "`quasi_identifiers` of " ~ name ~ " must be a list of at least one column; got: " ~ table.quasi_identifiers
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{# Linked tables in topological order. #}
{% macro _ordered_links(tables) -%}
    {%- set linked, places = [], {} -%}
    {%- for _ in tables -%}
        {%- for name, table in tables.items() if name not in places -%}
            {%- set over = {} if table.to_subject is string else table.to_subject -%}
            {%- set parent = over.keys() | first | default("") -%}
            {%- if not over or parent in places and tables[parent].key -%}
                {%- do linked.append(dict(
                    table, name=name, place=linked | length + 1, parent=places.get(parent, 0),
                    column=over[parent] if over else table.to_subject,
                )) -%}
                {%- do places.update({name: linked | length}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(linked) }}
{%- endmacro %}


{% macro _is_whole(value, least) -%}
    {{ return(value is integer and value is not boolean and value >= least) }}
{%- endmacro %}
