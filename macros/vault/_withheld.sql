{#
  `<n>_withheld` in the vault: keys of records that went out of the release together with an erased person, and stay
  out, as whoever has an earlier release would find her in the difference if they came back. `dbt-anonymize erase`
  writes it; where there is none, everybody takes part.
#}
{% macro _withheld_relation(anonymization) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return(none) }}{%- endif -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == "model" and node.name == anonymization ~ "_identifiers" -%}
        {{ return(load_relation(api.Relation.create(
            database=node.database, schema=node.schema, identifier=anonymization ~ "_withheld", type="table"
        ))) }}
    {%- endfor -%}
{%- endmacro %}


{#
  Query of the records of the source that take part, of those which meet a condition. `consent`: where the spec declares
  it, the column that says so and the subject, if there is one.
#}
{% macro _taking_part(source, anonymization, record_key, condition=none, consent=none) -%}
    {%- do dbt_anonymize._check_key_type(source, anonymization, record_key) -%}
    {%- set withheld = dbt_anonymize._withheld_relation(anonymization) -%}
    {%- set conditions = [] -%}
    {%- if withheld -%}
        {%- set key = dbt_anonymize._as_text(dbt_anonymize._quote(record_key, "everybody")) -%}
        {%- do conditions.append(
            "not exists (select 1 from " ~ withheld ~ " as withheld where withheld.record_key = " ~ key ~ ")"
        ) -%}
    {%- endif -%}
    {%- if consent -%}
        {%- do conditions.append(dbt_anonymize._has_consent(source, consent, "everybody")) -%}
    {%- endif -%}
    {%- if condition -%}
        {%- do conditions.append("(" ~ condition ~ ")" if conditions else condition) -%}
    {%- endif -%}
    {{ return(
        "select * from " ~ source ~ (" as everybody" if withheld or consent else "")
        ~ ("\n    where " ~ conditions | join("\n    and ") if conditions else "")
    ) }}
{%- endmacro %}
