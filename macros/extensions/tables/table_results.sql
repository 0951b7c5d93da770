{% macro table_results(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "table_efforts", "alpha", "protections", "content",
]) -%}
{{ config(materialized="table") }}
{%- set released = dbt_anonymize._released_protections(given.anonymization) -%}
with

efforts as (

    select
        effort,
        case effort
            {%- for number, protection in given.protections.items() %}
            when {{ number }} then {{ dbt_anonymize._literal(protection) }}
            {%- endfor %}
        end as protection,
        max(case when kind = 'effort' then qf end) as qf,
        max(case when kind = 'effort' then zero_rule end) as zero_rule,
        max(case when kind = 'effort' then qnf end) as qnf,
        max(case when kind = 'effort' then refusal end) as refusal,
        count(case when kind = 'cell' then 1 end) as cells,
        count(case when status = 'hidden' then 1 end) as hidden_cells
    from {{ given.table_efforts }}
    group by effort

),

judged as (

    select
        efforts.*,
        efforts.qf + {{ dbt_anonymize._number(given.alpha) }} * efforts.qnf as q,
        case
            when efforts.refusal is not null then 'not chosen: ' || efforts.refusal
            {%- if released %}
            when
                efforts.effort not in (
                    {%- for number, protection in given.protections.items()
                        if dbt_anonymize._released_as(protection, given.content) in released %}
                    {{- number }}, {% endfor %}-1
                )
                then 'not chosen: the table was released otherwise, and both would tell more together; try it on '
                    || 'a target that does not publish, or, where nobody has the released one, under another name'
            {%- endif %}
            when efforts.qnf < 0.5 then 'not chosen: a small cell is told too closely (QNF below 0.5)'
            when efforts.qf <= efforts.zero_rule and efforts.qf < 1
                then 'not chosen: it answers no better than who knows nothing'
        end as obstacle
    from efforts

),

ranked as (

    select
        judged.*,
        row_number() over (
            partition by case when judged.obstacle is null then 1 else 0 end
            order by
                judged.q desc,
                judged.effort asc
        ) as place
    from judged

)

select
    effort,
    protection,
    cells,
    hidden_cells,
    qf,
    zero_rule,
    qnf,
    q,
    obstacle is null as qualifies,
    obstacle is null and place = 1 as is_chosen,
    case
        when obstacle is not null then obstacle
        when place = 1 then 'chosen: the best Q of those that protect enough'
        else 'not chosen: another has a better Q'
    end as reason
from ranked
{%- endmacro %}


{# `<n>_table_releases` in the vault, beside the draws: what was released of which people. #}
{% macro _table_releases(anonymization) -%}
    {%- set vault = [] -%}
    {%- for node in graph.nodes.values()
        if node.resource_type == "model" and node.name == anonymization ~ "_table_draws" -%}
        {%- do vault.append(node) -%}
    {%- endfor -%}
    {{ return(api.Relation.create(
        database=vault[0].database, schema=vault[0].schema, identifier=anonymization ~ "_table_releases", type="table"
    )) }}
{%- endmacro %}


{# A way of protection as the vault remembers it: tables of other dimensions tell more together. #}
{% macro _released_as(protection, content) -%}{{ return(protection ~ " of " ~ content) }}{%- endmacro %}


{# The ways in which the table was released; none before the first release. #}
{% macro _released_protections(anonymization) -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return([]) }}{%- endif -%}
    {%- set releases = load_relation(dbt_anonymize._table_releases(anonymization)) -%}
    {%- if releases is none -%}{{ return([]) }}{%- endif -%}
    {{ return(run_query("select distinct protection from " ~ releases).columns[0].values() | list) }}
{%- endmacro %}
