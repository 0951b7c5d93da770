{#
  `<n>_aggregated` in the vault: of whom every release showed which mean, median or mode. From several of them and the
  counts of their classes anybody computes what few people told. So a class shows an aggregate only if it is that of the
  same records as before, or if enough of its people never were in a class that showed one, in any release: however
  aggregates are added and subtracted, those who are new in the last of them stay together. Rows are never removed, as
  published files cannot be recalled; erasing a person replaces her key.
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


{# CTEs that end in `repeated`: the classes of `told` that showed the same before, of the same records: nothing new. #}
{% macro _repeated_classes(earlier) -%}
earlier as (

    select
        release,
        record_key,
        person,
        cqi,
        aggregates,
        count(*) over (
            partition by
                release,
                cqi
        ) as records
    from {{ earlier }}

),

sizes as (

    select
        equivalence_class,
        count(*) as records
    from members
    group by equivalence_class

),

repeated as (

    select distinct told.equivalence_class
    from told
    inner join sizes on told.equivalence_class = sizes.equivalence_class
    inner join members on told.equivalence_class = members.equivalence_class
    inner join earlier
        on
            members.record_key = earlier.record_key
            and told.aggregates = earlier.aggregates
            and sizes.records = earlier.records
    group by
        told.equivalence_class,
        earlier.release,
        earlier.cqi
    having count(*) = min(sizes.records)

)
{%- endmacro %}


{#
  CTEs that end in `open_classes`: of `told`, where those who never were in a class that showed an aggregate are k or
  more, 3 at least, and have an aggregate of their own that might be told: see `_aggregates_of`. `people` is the source
  with the column that says who it is, as record keys may be drawn anew.
#}
{% macro _open_classes(k, shown, people, record_key, is_masked) -%}
{%- if people %}
people as (

    select
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(record_key)) }} as record_key,
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(people.column)) }} as person
    from {{ people.source }}

),
{%- endif %}

newcomers as (

    select members.*
    from members
    {%- if people %}
    left join people on members.record_key = people.record_key
    {%- endif %}
    where
        members.record_key not in (select earlier.record_key from earlier)
        {%- if people %}
        and coalesce(people.person, '') not in (select earlier.person from earlier where earlier.person is not null)
        {%- endif %}

),
{%- for column in shown %}

{{ dbt_anonymize._aggregates_of("new_" ~ loop.index, loop.index, column, "newcomers", is_masked) }},
{%- endfor %}

open_classes as (

    select told.equivalence_class
    from told
    inner join (
        select
            equivalence_class,
            count(distinct holder) as holders
        from newcomers
        group by equivalence_class
    ) as counted on told.equivalence_class = counted.equivalence_class
    where
        counted.holders >= {{ [k, 3] | max }}
        {%- for column in shown %}
        and (
            told.aggregate_{{ loop.index }} = ''
            or told.equivalence_class in (select shown.equivalence_class from aggregates_new_{{ loop.index }} as shown)
        )
        {%- endfor %}

)
{%- endmacro %}


{# Before publishing, in a transaction of its own: a release that is remembered and was never published only makes later
   ones stricter. What another build released since the aggregates were made, they were not compared with. #}
{% macro _record_aggregates(declaration) -%}
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
        {%- set unknown = run_query(
            "with " ~ members ~ ", told as (select * from " ~ told ~ "), " ~ dbt_anonymize._repeated_classes(aggregated)
            ~ " select count(*) from told where compared_releases < (select max(release) from " ~ aggregated ~ ")"
            ~ " and equivalence_class not in (select equivalence_class from repeated)"
        ).rows[0][0] -%}
        {%- if unknown > 0 -%}
            {%- do dbt_anonymize._raise_errors(name, [
                "what a class shows must have been compared with all that earlier releases showed of its people; of "
                ~ unknown ~ (" classes" if unknown > 1 else " class") ~ " it was not. Another build released meanwhile,"
                ~ " or this step was run alone; run `dbt build -s +" ~ model.name ~ "`."
            ]) -%}
        {%- endif -%}
        {% call statement("record_aggregates") -%}
            insert into {{ aggregated }} (release, record_key, person, cqi, aggregates)
            with {{ members }}
            select
                (select coalesce(max(release), 0) + 1 from {{ aggregated }}),
                members.record_key,
                members.person,
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
{%- set key, people = dbt_anonymize._quote(declaration.record_key), declaration.people -%}
members as (

    select
        effort.equivalence_class,
        {{ dbt_anonymize._as_text("effort." ~ key) }} as record_key,
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(people.column, "people")) if people else "null" }} as person
    from {{ ref(declaration.anonymization ~ "_effort_" ~ chosen) }} as effort
    {%- if people %}
    inner join {{ ref(people.named[0]) if people.named | length == 1 else source(people.named[0], people.named[1]) }}
        as people on effort.{{ key }} = people.{{ key }}
    {%- endif %}
    where
        not effort.is_suppressed
        and effort.equivalence_class in (select equivalence_class from {{ told }})

)
{%- endmacro %}
