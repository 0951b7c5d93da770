{# Stops where a model that is read is ephemeral: nothing holds its rows, so nobody could compare them later. #}
{% macro _check_stored(anonymization, relations) -%}
    {%- set errors = [] -%}
    {%- for relation in relations if execute and relation.is_cte and dbt_anonymize._is_building() -%}
        {%- do errors.append(
            "the model " ~ (relation.identifier | replace("__dbt__cte__", "")) ~ " must be a table or a view; it is"
            ~ " ephemeral, so that the warehouse does not hold it. Materialize it, in the vault if it has identifiers."
        ) -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(anonymization, errors) -%}
{%- endmacro %}
