{#
  `<n>_aggregated` in the vault: of whom every release showed which mean, median or mode. From two of them and the
  counts of their classes anybody computes what the people told who are in one of the classes and not in the other. So a
  class shows its label while it differs too little from one that had an aggregate in any release before, however long
  ago, or shares k people with one of other labels, which further classes could complete. Rows are never removed,
  as published files cannot be recalled; erasing a person replaces her key.
#}
{% macro _aggregated_relation(anonymization) -%}
    {%- set beside = dbt_anonymize._releases_relation(anonymization) -%}
    {{ return(api.Relation.create(
        database=beside.database, schema=beside.schema, identifier=anonymization ~ "_aggregated", type="table"
    )) }}
{%- endmacro %}


{# Whether this target has released, as its register or its vault knows. #}
{% macro _has_released(anonymization) -%}
    {%- for relation in [
        dbt_anonymize._own_register(anonymization), dbt_anonymize._releases_relation(anonymization)
    ] -%}
        {%- if load_relation(relation) and run_query("select 1 from " ~ relation ~ " limit 1").rows | length > 0 -%}
            {{ return(true) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro %}


{# Whether the vault remembers releases on this engine. #}
{% macro _remembers_releases() -%}
    {{ return(adapter.dispatch("_remembers_releases", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___remembers_releases() -%}{{ return(true) }}{%- endmacro %}


{# People by whom two classes with aggregates must differ: of two who join together, each would compute the value of
   the other. #}
{% macro _fewest_differing(k) -%}{{ return([k, 3] | max) }}{%- endmacro %}


{#
  CTEs that end in `pairs`: of each class in `told` and each earlier one of which people are in both, how many `joined`
  and are `gone`, and whether it has the same people and the same aggregates (`is_repeated`), which tells nothing new.
#}
{% macro _paired_members(earlier) -%}
{%- set joined, gone = "sizes.holders - shared.holders", "earlier_sizes.holders - shared.earlier_holders" -%}
earlier as (

    select
        release,
        cqi,
        record_key,
        coalesce(person, record_key) as holder,
        aggregates
    from {{ earlier }} as remembered

),

sizes as (

    select
        equivalence_class,
        count(distinct holder) as holders
    from members
    group by equivalence_class

),

earlier_sizes as (

    select
        release,
        cqi,
        max(aggregates) as aggregates,
        count(distinct holder) as holders
    from earlier
    group by
        release,
        cqi

),

shared as (

    select
        members.equivalence_class,
        earlier.release,
        earlier.cqi,
        count(distinct members.holder) as holders,
        count(distinct earlier.holder) as earlier_holders
    from members
    inner join earlier on members.record_key = earlier.record_key
    group by
        members.equivalence_class,
        earlier.release,
        earlier.cqi

),

pairs as (

    select
        told.equivalence_class,
        shared.release,
        shared.cqi,
        shared.holders,
        {{ joined }} as joined,
        {{ gone }} as gone,
        case
            when {{ joined }} = 0 and {{ gone }} = 0 and told.aggregates = earlier_sizes.aggregates then 1
            else 0
        end as is_repeated
    from told
    inner join sizes on told.equivalence_class = sizes.equivalence_class
    inner join shared on told.equivalence_class = shared.equivalence_class
    inner join earlier_sizes
        on
            shared.release = earlier_sizes.release
            and shared.cqi = earlier_sizes.cqi

)
{%- endmacro %}


{#
  CTEs that end in `compared`: of each class in `told`, whether it is too close to one that had an aggregate
  (`is_close`): by the number of those who joined and left, or since two means and counts would tell what those who
  joined have, by the p %-rule. Of those who left nobody knows the values any more, so they hide nobody. What was shown
  before may be shown again. A subject with
  several records may be among those who joined and those who left: then the larger number counts.
#}
{% macro _compared_members(earlier, k, has_subject, shown) -%}
{%- set differing = "greatest(pairs.joined, pairs.gone)" if has_subject else "pairs.joined + pairs.gone" -%}
{{ dbt_anonymize._paired_members(earlier) }},

joined as (

    select
        pairs.equivalence_class,
        pairs.release,
        pairs.cqi
        {%- for column in shown if column.show != "mode" %}
        {%- set i = shown.index(column) + 1 %},
        sum(members.value_{{ i }} - members.lowest_{{ i }}) as above_{{ i }},
        sum(members.highest_{{ i }} - members.value_{{ i }}) as below_{{ i }},
        max(members.upper_{{ i }} - members.lower_{{ i }}) as width_{{ i }}
        {%- endfor %}
    from pairs
    inner join members on pairs.equivalence_class = members.equivalence_class
    left join earlier
        on
            pairs.release = earlier.release
            and pairs.cqi = earlier.cqi
            and members.record_key = earlier.record_key
    where earlier.record_key is null
    group by
        pairs.equivalence_class,
        pairs.release,
        pairs.cqi,
        members.holder

),

left_open as (

    select
        equivalence_class,
        release,
        cqi
        {%- for column in shown if column.show != "mode" %}
        {%- set i = shown.index(column) + 1 %}
        {%- set least = dbt_anonymize._number(column.p_percent) ~ " * max(width_" ~ i ~ ")" %},
        100 * (sum(above_{{ i }}) - max(above_{{ i }})) >= {{ least }}
        and 100 * (sum(below_{{ i }}) - max(below_{{ i }})) >= {{ least }} as is_open_{{ i }}
        {%- endfor %}
    from joined
    group by
        equivalence_class,
        release,
        cqi

),

compared as (

    select
        pairs.equivalence_class,
        max(pairs.is_repeated) as is_repeated,
        max(case
            when {{ differing }} < {{ dbt_anonymize._fewest_differing(k) }} then 1
            when pairs.equivalence_class <> pairs.cqi and pairs.holders >= {{ k }} then 1
            {%- for column in shown if column.show != "mode" %}
            {%- set i = shown.index(column) + 1 %}
            when told.aggregate_{{ i }} <> '' and not coalesce(left_open.is_open_{{ i }}, false) then 1
            {%- endfor %}
            else 0
        end) * (1 - max(pairs.is_repeated)) as is_close
    from pairs
    inner join told on pairs.equivalence_class = told.equivalence_class
    left join left_open
        on
            pairs.equivalence_class = left_open.equivalence_class
            and pairs.release = left_open.release
            and pairs.cqi = left_open.cqi
    group by pairs.equivalence_class

)
{%- endmacro %}


{# Before publishing, in a transaction of its own: a release that is remembered and was never published only makes later
   ones stricter. What another build released since the aggregates were made, they were not compared with. #}
{% macro default___record_aggregates(declaration) -%}
    {%- set name = declaration.anonymization -%}
    {%- if not dbt_anonymize._is_published(name) -%}{{ return("") }}{%- endif -%}
    {%- set aggregated = dbt_anonymize._aggregated_relation(name) -%}
    {%- do dbt_anonymize._create_schema_of(aggregated) -%}
    {% call statement("aggregated_exist") -%}
        create table if not exists {{ aggregated }} (
            release {{ dbt.type_bigint() }},
            record_key {{ dbt.type_string() }},
            person {{ dbt.type_string() }},
            cqi {{ dbt.type_string() }},
            aggregates {{ dbt.type_string() }}
        );
        {{ dbt_anonymize._closed_to_others(aggregated, "select") }}
        {{ dbt_anonymize._lock_table(aggregated) }}
    {%- endcall %}
    {%- set chosen = dbt_anonymize._released_effort(declaration) -%}
    {%- set k = dict(declaration.aggregates).get(chosen) -%}
    {%- if k -%}
        {%- set told = ref(name ~ "_aggregates_" ~ chosen) -%}
        {%- set members = dbt_anonymize._members_of_release(declaration, chosen, told) -%}
        {%- set later = "(select * from " ~ aggregated ~ " where release > (select max(compared_releases) from "
            ~ told ~ "))" -%}
        {%- set unknown = run_query(
            "with " ~ members ~ ", told as (select * from " ~ told ~ "), " ~ dbt_anonymize._paired_members(later)
            ~ " select count(distinct equivalence_class) from pairs where is_repeated = 0"
        ).rows[0][0] -%}
        {%- if unknown > 0 -%}
            {%- do dbt_anonymize._raise_errors(name, [
                "what a class shows must have been compared with all that earlier releases showed of its people; of "
                ~ unknown ~ " it was not. Another build released meanwhile, or this step was run alone; run"
                ~ " `dbt build -s +" ~ model.name ~ "`."
            ]) -%}
        {%- endif -%}
        {% call statement("record_aggregates") -%}
            insert into {{ aggregated }} (release, record_key, person, cqi, aggregates)
            with {{ members }}
            select
                (select coalesce(max(release), 0) + 1 from {{ aggregated }}),
                members.record_key,
                {{ dbt_anonymize._as_text("members.holder") if declaration.has_subject else "null" }},
                told.equivalence_class,
                told.aggregates
            from members
            inner join {{ told }} as told on members.equivalence_class = told.equivalence_class
            where told.is_new
        {%- endcall %}
    {%- endif -%}
    {%- do dbt_anonymize._commit_step() -%}
{%- endmacro %}


{# CTE `members`, as the release has them. #}
{% macro _members_of_release(declaration, chosen, told) -%}
{%- set key, name = dbt_anonymize._quote(declaration.record_key), declaration.anonymization -%}
members as (

    select
        effort.equivalence_class,
        {{ dbt_anonymize._as_text("effort." ~ key) }} as record_key,
        {{ "microdata.subject" if declaration.has_subject else dbt_anonymize._as_text("effort." ~ key) }} as holder
    from {{ ref(name ~ "_effort_" ~ chosen) }} as effort
    {%- if declaration.has_subject %}
    inner join {{ ref(name ~ "_microdata") }} as microdata on effort.{{ key }} = microdata.{{ key }}
    {%- endif %}
    where
        not effort.is_suppressed
        and effort.equivalence_class in (select equivalence_class from {{ told }})

)
{%- endmacro %}
