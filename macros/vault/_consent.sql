{#
  Condition on a record of the source: its person agreed to a release that leads back to people. NULL is no consent, and
  a subject who refuses in one record refuses.
#}
{% macro _has_consent(source, consent, alias) -%}
    {%- set agreed = "coalesce(" ~ dbt_anonymize._quote(consent.column, alias) ~ ", false)" -%}
    {%- if not consent.subject -%}{{ return(agreed) }}{%- endif -%}
    {#- Of a record without a subject its own answer counts. -#}
    {{ return(
        agreed ~ " and not exists (select 1 from " ~ source ~ " as refusing where "
        ~ dbt_anonymize._quote(consent.subject, "refusing") ~ " = " ~ dbt_anonymize._quote(consent.subject, alias)
        ~ " and not coalesce(" ~ dbt_anonymize._quote(consent.column, "refusing") ~ ", false))"
    ) }}
{%- endmacro %}


{# Why consent cannot be read from the source, as messages; else says how many records take no part. #}
{% macro _consent_errors(given, column) -%}
    {%- if not given.consent or not column -%}{{ return([]) }}{%- endif -%}
    {%- if column.dtype | lower not in ["boolean", "bool"] -%}
        {{ return([
            "the column of consent " ~ column.name ~ " must be boolean; it is "
            ~ dbt_anonymize._shown_type(column.dtype) ~ ". Say in a model before which values mean yes."
        ]) }}
    {%- endif -%}
    {%- set count = "select count(*) from " ~ given.source ~ " as everybody" -%}
    {%- set records = run_query(count).rows[0][0] -%}
    {%- set agreed = run_query(
        count ~ " where " ~ dbt_anonymize._has_consent(given.source, given.consent, "everybody")
    ).rows[0][0] -%}
    {%- if records > 0 and agreed == 0 -%}
        {{ return([
            "nobody agreed: " ~ column.name ~ " is true for no "
            ~ ("subject" if given.consent.subject else "record")
            ~ ". Release with `mapping: none`, which leads back to nobody and needs no consent."
        ]) }}
    {%- endif -%}
    {%- if agreed < records -%}
        {%- do log(
            given.anonymization ~ ": " ~ (records - agreed) ~ " of " ~ records ~ " records are of people without"
            ~ " consent (" ~ column.name ~ "), and take no part", info=True
        ) -%}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro %}
