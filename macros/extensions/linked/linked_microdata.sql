{#
  Body of the working copy of a linked table: `microdata` of its source, of the records that lead to a row of the
  microdata, or of another linked table. Records that lead nowhere stop the build.
#}
{% macro linked_microdata(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "table", "source", "key", "parent", "over", "quasi_identifiers", "kept_columns",
], {"dropped": [], "free_text": [], "unique": []}) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, dbt_anonymize._orphan_errors(given)) -%}
{%- endif -%}
{{- dbt_anonymize.microdata({
    "anonymization": given.anonymization,
    "source": given.source,
    "record_key": given.key,
    "identifiers": [],
    "quasi_identifiers": given.quasi_identifiers,
    "kept_columns": [given.parent] + given.kept_columns,
    "target": none,
    "guarantees": [],
    "dropped": given.dropped,
    "free_text": [given.parent] + given.free_text,
    "unique": [given.parent] + given.unique,
}, {
    "is_of_people": false,
    "condition": dbt_anonymize._key_text(given.parent) ~ " in (select "
        ~ dbt_anonymize._key_text(given.over.key, "listed") ~ " from " ~ given.over.rows ~ " as listed)",
}) }}
{%- endmacro %}


{# Why keys cannot be followed: where a record leads must be in the source of that, if it takes no part in it either. #}
{% macro _orphan_errors(given) -%}
    {%- if not dbt_anonymize._publishes_beside() -%}
        {{ return([
            "linked tables are released by DuckDB with Python models and by Postgres; got " ~ target.type
            ~ (" and vars: {dbt_anonymize_python: false}" if not dbt_anonymize._has_python() else "")
            ~ ". Release them from such a target."
        ]) }}
    {%- endif -%}
    {%- set parent = dbt_anonymize._key_text(given.parent) -%}
    {%- set types = {} -%}
    {%- for name, relation, column in [
        ["own", given.source, given.parent], ["over", given.over.source, given.over.key]
    ] -%}
        {%- for one in adapter.get_columns_in_relation(relation) if one.name == column -%}
            {%- do types.update({name: one.dtype}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if "own" not in types -%}
        {{ return([
            "linked table " ~ given.table ~ " must have the column " ~ given.parent ~ "; " ~ given.source
            ~ " has none. Correct to_subject."
        ]) }}
    {%- endif -%}
    {%- if types.own != types.over -%}
        {{ return([
            given.parent ~ " of " ~ given.table ~ " must be of the type of the key that it leads to, " ~ types.over
            ~ "; got " ~ types.own ~ ". Cast it in a model before."
        ]) }}
    {%- endif -%}
    {%- set orphans = run_query(
        "select count(*) from " ~ given.source ~ " where " ~ dbt_anonymize._quote(given.parent) ~ " is null or "
        ~ dbt_anonymize._quote(given.parent) ~ " not in (select " ~ dbt_anonymize._quote(given.over.key) ~ " from "
        ~ given.over.source ~ " where " ~ dbt_anonymize._quote(given.over.key) ~ " is not null)"
    ).rows[0][0] -%}
    {{ return([
        "each record of the linked table " ~ given.table ~ " must lead to a row by " ~ given.parent ~ "; " ~ orphans
        ~ " have none, or lead nowhere. Leave them out in a model before, or add whom they are of."
    ] if orphans > 0 else []) }}
{%- endmacro %}
