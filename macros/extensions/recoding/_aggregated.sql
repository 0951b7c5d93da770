{#
  `<n>_aggregated` in the vault: of whom every release showed which mean, median or mode. From two of them and the
  counts of their classes anybody computes what the people told who are in one of the classes and not in the other. So a
  class shows its label while it differs by fewer than k from one that had an aggregate in any release before, however
  long ago, or shares k people with one of other labels, which further classes could complete. Rows are never removed,
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
  CTEs that end in `compared`: of each class in `told`, whether it is too close to one that had an aggregate
  (`is_close`), and whether it has the same people and the same aggregates (`is_repeated`), which tells nothing new. A
  subject with several records may be among those who joined and those who left: then the larger number counts.
#}
{% macro _compared_members(earlier, k, has_subject) -%}
{%- set joined, gone = "sizes.holders - shared.holders", "earlier_sizes.holders - shared.earlier_holders" -%}
{%- set fewest = dbt_anonymize._fewest_differing(k) -%}
{%- set differing = "greatest(" ~ joined ~ ", " ~ gone ~ ")" if has_subject else joined ~ " + " ~ gone -%}
earlier as (

    select
        release,
        cqi,
        record_key,
        coalesce(person, record_key) as holder,
        aggregates
    from {{ earlier }}

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
        case
            when {{ differing }} < {{ fewest }} then 1
            when told.equivalence_class <> shared.cqi and shared.holders >= {{ k }} then 1
            else 0
        end as is_close,
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

),

compared as (

    select
        equivalence_class,
        max(is_repeated) as is_repeated,
        max(case when is_repeated = 0 then is_close else 0 end) as is_close
    from pairs
    group by equivalence_class

)
{%- endmacro %}


{# Before publishing, in a transaction of its own: a release that is remembered and was never published only makes later
   ones stricter. Another build may have released since the aggregates were made, so they are compared again. #}
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
        {%- set close = run_query(
            "with " ~ members ~ ", told as (select * from " ~ told ~ "), "
            ~ dbt_anonymize._compared_members(aggregated, k, declaration.has_subject)
            ~ " select count(*) from compared where is_close = 1"
        ).rows[0][0] -%}
        {%- if close > 0 -%}
            {%- do dbt_anonymize._raise_errors(name, [
                "a class must show its label while it differs by fewer than "
                ~ dbt_anonymize._fewest_differing(k)
                ~ " from one that had a mean, median or mode in an earlier release; " ~ close ~ " do not."
                ~ " Another build released meanwhile, or this step was run alone; run"
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
