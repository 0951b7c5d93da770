{# CTEs that end in `parted`: the rows of the parts that are cut, in the parts that their sides become. #}
{% macro _mondrian_parted(plan, cuts) -%}
{%- set carried = plan.carried + ["records"] -%}
{%- set rows = dbt_anonymize._columns_of("unfinished", carried) -%}
{%- set code = dbt_anonymize._of_attribute("cuts.attribute", plan, "unfinished.code_") -%}
sided as (

    select
        cuts.child,
        cuts.attempts,
        {%- if not plan.is_strict %}
        case
            when
                {{ code | indent(16) }} = cuts.to_code
                then cuts.shared
        end as shared,
        {%- endif %}
        {{ rows | join(",\n        ") }}
    from {{ dbt_anonymize._scratch("rows") }} as unfinished
    inner join {{ cuts }} as cuts
        on
            unfinished.part = cuts.part
            and {{ code | indent(12) }}
            between cuts.from_code and cuts.to_code

),
{%- if not plan.is_strict %}

middle as (

    select
        *,
        row_number() over (
            partition by child order by {{ (plan.codes + ["record_key"]) | join(", ") }}
        ) as place
    from sided
    where shared is not null

),
{%- endif %}

parted as (

    select
        child as part,
        attempts,
        {{ carried | join(",\n        ") }}
    from sided
    {%- if not plan.is_strict %}
    where shared is null
    union all
    select
        child + case when place > shared then 1 else 0 end as part,
        attempts,
        {{ carried | join(",\n        ") }}
    from middle
    {%- endif %}

)
{%- endmacro %}
