{# In the transaction of a recoding: a label stands for one interval. Classes are told apart by labels, and a label that
   a hierarchy uses at two levels with different bounds would join people whom the bounds in the release part again. #}
{% macro _check_recoding() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set errors = [] -%}
    {%- for name in model.config.meta.dbt_anonymize.intervals -%}
        {%- set lower, upper = dbt_anonymize._quote(name ~ "_lower"), dbt_anonymize._quote(name ~ "_upper") -%}
        {%- set ambiguous = run_query(
            "select count(*) from (select 1 as label from " ~ this ~ " group by "
            ~ dbt_anonymize._as_bytes(dbt_anonymize._quote(name))
            ~ " having min(" ~ lower ~ ") <> max(" ~ lower ~ ") or min(" ~ upper ~ ") <> max(" ~ upper ~ ")) as labels"
        ).rows[0][0] -%}
        {%- if ambiguous > 0 -%}
            {%- do errors.append(
                "a label of " ~ name ~ " must stand for one interval where the level differs per record; " ~ ambiguous
                ~ " labels stand for several. Write both bounds into the labels of its hierarchy, so that no label has"
                ~ " another meaning at another level."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(model.name, errors) -%}
{%- endmacro %}


{# What the check needs to know. Names only: configuration is read before relations are known. #}
{% macro _recoding_meta(quasi_identifiers) -%}
    {{ return({"dbt_anonymize": {
        "intervals": quasi_identifiers | selectattr("kind", "equalto", "interval") | map(attribute="name") | list,
    }}) }}
{%- endmacro %}
