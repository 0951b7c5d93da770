{# The guarantees that a recoding keeps, with the k that the effort demands. #}
{% macro _recoding_guarantees(guarantees, k, has_loss=false) -%}
    {%- set required = [] -%}
    {%- for guarantee in guarantees if has_loss or not dbt_anonymize._privacy_model(guarantee).needs_loss -%}
        {%- if dbt_anonymize._privacy_model(guarantee).needs_population -%}
            {{ exceptions.raise_compiler_error(
                model.name ~ ": " ~ guarantee.model ~ " cannot be kept by a recoding that differs per record, since"
                ~ " nobody outside the source has a record in it. Use an effort with levels, or another guarantee."
            ) }}
        {%- endif -%}
        {%- set is_k = guarantee.model == "k_anonymity" and k is not none and k > guarantee.k -%}
        {%- do required.append(dict(guarantee, k=k) if is_k else guarantee) -%}
    {%- endfor -%}
    {{ return(required) }}
{%- endmacro %}
