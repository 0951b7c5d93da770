{#
  Keys are remembered as text, and the same number is another text as another type: 1, 1.0, 01. So where the vault
  remembers records, the key must be of the type that it had in `<n>_identifiers`, which the last build wrote: else
  whoever is withheld would come back, everybody would have to wait as somebody new, and compared with the releases
  before everybody would have left and somebody else joined.
#}
{% macro _check_key_type(source, anonymization, record_key) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set remembering, known = [], [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == "model" and node.name == anonymization ~ "_identifiers" -%}
        {%- for kind in ("identifiers", "withheld", "members", "releases") -%}
            {%- set relation = load_relation(api.Relation.create(
                database=node.database, schema=node.schema,
                identifier=node.alias if kind == "identifiers" else anonymization ~ "_" ~ kind
            )) -%}
            {%- if relation -%}
                {%- do (known if kind == "identifiers" else remembering).append(relation) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if not remembering or not known -%}{{ return("") }}{%- endif -%}
    {%- set before = adapter.get_columns_in_relation(known[0])[0] -%}
    {%- for column in adapter.get_columns_in_relation(source) if column.name == record_key -%}
        {%- set is_same = dbt_anonymize._key_kind(before.data_type) == dbt_anonymize._key_kind(column.data_type) -%}
        {%- if before.name != record_key or not is_same -%}
            {%- do dbt_anonymize._raise_errors(anonymization, [
                "the vault remembers records by " ~ before.name ~ " of type "
                ~ dbt_anonymize._shown_type(before.data_type) ~ " ("
                ~ remembering | join(", ") ~ "); now they are told apart by " ~ record_key ~ " of type "
                ~ dbt_anonymize._shown_type(column.data_type) ~ ", so that the key of the same record may be another"
                ~ " text. Cast it back in a model before; or let a custodian write the keys in these tables anew, and"
                ~ " drop " ~ known[0] ~ "."
            ]) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}


{# What types have in common that write the same text: integers of all sizes, texts of all lengths. #}
{% macro _key_kind(data_type) -%}
    {%- set name = data_type | lower -%}
    {%- if "char" in name or "text" in name or "string" in name -%}{{ return("text") }}{%- endif -%}
    {%- if "int" in name and "interval" not in name and "point" not in name -%}{{ return("integer") }}{%- endif -%}
    {{ return(name) }}
{%- endmacro %}
