{% macro fingerprint(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["spec", "relations"]) -%}
{{ config(materialized="view") }}
with

{% for relation in given.relations -%}
digest_{{ loop.index }} as (

    select
        count(*) as records,
        {{ dbt_anonymize._sum_of_hashes("digested") }} as digest
    {#- The linter does not know that an alias stands for the whole row. #}
    from {{ relation }} as digested  -- noqa: AL05

){{ ",\n" if not loop.last }}
{% endfor %}
select
    md5(
        {{ dbt_anonymize._literal(given.spec) }}
        {%- for relation in given.relations %}
        || ' ' || digest_{{ loop.index }}.records || ' ' || digest_{{ loop.index }}.digest
        {%- endfor %}
    ) as fingerprint
from digest_1
{%- for relation in given.relations[1:] %}
cross join digest_{{ loop.index + 1 }}
{%- endfor %}
{%- endmacro %}


{# A number that changes with the rows of a relation, whatever their order. #}
{% macro _sum_of_hashes(relation_alias) -%}
    {{ return(adapter.dispatch("_sum_of_hashes", "dbt_anonymize")(relation_alias)) }}
{%- endmacro %}

{% macro default___sum_of_hashes(relation_alias) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: " ~ (
            dbt_anonymize._missing_engine()
            or "a fingerprint of a relation needs a hash of a row, which the adapter " ~ target.type
            ~ " has not in this package yet. See docs/engines.md."
        )
    ) }}
{%- endmacro %}

{# Twice: DuckDB combines the hashes of columns by `xor`, so that rows that exchange a value may keep their sum. #}
{% macro duckdb___sum_of_hashes(relation_alias) -%}
    {{ return("coalesce(sum(hash(hash(" ~ relation_alias ~ "))), 0)") }}
{%- endmacro %}
