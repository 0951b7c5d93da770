{# The smallest class size that the declared guarantees allow. #}
{% macro _required_k(guarantees) -%}
    {%- set known = ["k_anonymity"] -%}
    {%- for name in guarantees if name not in known -%}
        {{ exceptions.raise_compiler_error(model.name ~ ": unknown guarantee " ~ name ~ "; known: " ~ known | join(", ") ~ ".") }}
    {%- endfor -%}
    {%- set k = guarantees.get("k_anonymity", {}).get("k") -%}
    {%- if k is not integer or k is boolean or k < 2 -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": `k` of the guarantee k_anonymity must be an integer >= 2; got: " ~ k
            ~ ". Set guarantees.k_anonymity.k in the spec and generate again."
        ) }}
    {%- endif -%}
    {{ return(k) }}
{%- endmacro %}
