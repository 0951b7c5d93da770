{# CTEs that end in `parted`: the rows of the parts that are cut, in the parts that their sides become. #}
{% macro _mondrian_parted(plan, cuts) -%}
{%- set rows = dbt_anonymize._scratch("rows") -%}
{%- set carried = dbt_anonymize._columns_of("unfinished", plan.carried) -%}
{%- set code = dbt_anonymize._of_attribute("halves.attribute", plan, "unfinished.code_") -%}
halves as (

    select
        part,
        attribute,
        min(to_code) as boundary,
        min(child) as lower_child,
        max(child) as upper_child,
        max(shared) as shared
    from {{ cuts }}
    where is_halved = 1
    group by
        part,
        attribute

),
{%- if not plan.is_strict %}

middle as (

    select
        halves.lower_child,
        halves.upper_child,
        halves.shared,
        {{ carried | join(",\n        ") }},
        unfinished.records,
        row_number() over (
            partition by unfinished.part
            order by
                {{ dbt_anonymize._columns_of("unfinished", plan.codes + ["record_key"]) | join(",\n                ") }}
        ) as place
    from {{ rows }} as unfinished
    inner join halves on unfinished.part = halves.part
    where
        {{ code | indent(8) }} = halves.boundary

),
{%- endif %}

parted as (

    select
        case
            when
                {{ code | indent(16) }} <= halves.boundary
                then halves.lower_child
            else halves.upper_child
        end as part,
        0 as attempts,
        {{ carried | join(",\n        ") }},
        unfinished.records
    from {{ rows }} as unfinished
    inner join halves on unfinished.part = halves.part
    {%- if not plan.is_strict %}
    where
        {{ code | indent(8) }} <> halves.boundary
    union all
    select
        case when place <= shared then lower_child else upper_child end as part,
        0 as attempts,
        {{ plan.carried | join(",\n        ") }},
        records
    from middle
    {%- endif %}
    union all
    select
        cuts.child as part,
        case when cuts.is_cut = 1 then 0 else cuts.attempts end as attempts,
        {{ carried | join(",\n        ") }},
        unfinished.records
    from {{ rows }} as unfinished
    inner join {{ cuts }} as cuts
        on unfinished.part = cuts.part
    where
        cuts.is_halved = 0
        and {{ dbt_anonymize._of_attribute("cuts.attribute", plan, "unfinished.code_") | indent(8) }}
        between cuts.from_code and cuts.to_code

)
{%- endmacro %}
