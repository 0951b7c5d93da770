{#
  What classes of an effort show for labels: the mean or median of a number, the mode of a category, where it tells
  nobody's value: of classes that are released, by the p %-rule and the rule of modes, and not where the vault remembers
  aggregates of too many of the same people.
#}
{% macro aggregates(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "effort", "microdata", "classes", "record_key", "quasi_identifiers", "shown", "k",
], {"recoding": none, "share": none, "people": none}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set earlier, is_known = none, true -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_aggregates(given) -%}
    {%- set earlier = load_relation(dbt_anonymize._aggregated_relation(given.anonymization)) -%}
    {%- set is_known = earlier is not none or not dbt_anonymize._has_released(given.anonymization) -%}
    {%- if earlier and not given.people and dbt_anonymize._has_other_keys(given, earlier) -%}
        {%- set earlier, is_known = none, false -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ given.anonymization ~ ": most records of which the last release showed means,"
            ~ " medians or modes are not in the source any more, by " ~ given.record_key ~ ". If their keys were drawn"
            ~ " anew, nobody can tell who joined since. So effort " ~ given.effort ~ " shows labels. Declare the column"
            ~ " that says who it is as `subject`, or keep the keys."
        ) -%}
    {%- elif not is_known -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ given.anonymization ~ ": there is an earlier release, and the vault does not"
            ~ " know of whom it showed means, medians and modes. So effort " ~ given.effort ~ " shows labels this time."
            ~ " If " ~ given.anonymization ~ "_aggregated was lost, restore it from a backup of the vault."
        ) -%}
    {%- endif -%}
{%- endif -%}
{%- set labels = [] -%}
{%- for column in given.shown -%}
    {%- do labels.append({"name": "aggregate_" ~ loop.index, "kind": "categorical"}) -%}
{%- endfor -%}
{{ dbt_anonymize._records_of_effort(given, [], []) }},

{{ dbt_anonymize._members_of_classes(given) }},
{%- for column in given.shown %}

{{ dbt_anonymize._aggregates_of(loop.index, loop.index, column, "members", given.recoding is not none) }},
{%- endfor %}

labelled as (

    select
        members.equivalence_class,
        {%- for column in given.shown %}
        max(aggregates_{{ loop.index }}.label) as aggregate_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    from members
    {%- for column in given.shown %}
    left join aggregates_{{ loop.index }} on members.equivalence_class = aggregates_{{ loop.index }}.equivalence_class
    {%- endfor %}
    group by members.equivalence_class

),

told as (

    select
        known.equivalence_class,
        {%- for column in given.shown %}
        known.aggregate_{{ loop.index }},
        {%- endfor %}
        {{ dbt_anonymize.equivalence_class(labels, "known") }} as aggregates
    from (
        select
            equivalence_class,
            {%- for column in given.shown %}
            coalesce(aggregate_{{ loop.index }}, '') as aggregate_{{ loop.index }}{{ "," if not loop.last }}
            {%- endfor %}
        from labelled
    ) as known
    where {% for column in given.shown %}known.aggregate_{{ loop.index }} <> ''{{ " or " if not loop.last }}{% endfor %}

)
{%- if earlier %},

{{ dbt_anonymize._repeated_classes(earlier) }},
{{- dbt_anonymize._open_classes(given.k, given.shown, given.people, given.record_key, given.recoding is not none) }}
{%- endif %}

select
    told.equivalence_class,
    {%- for column in given.shown %}
    nullif(told.aggregate_{{ loop.index }}, '') as {{ dbt_anonymize._quote(column.name) }},
    {%- endfor %}
    told.aggregates,
    {{ "repeated.equivalence_class is null" if earlier else "true" }} as is_new,
    cast({{ "(select coalesce(max(release), 0) from earlier)" if earlier else 0 }} as {{ dbt.type_bigint() }})
        as compared_releases
from told
{%- if earlier %}
left join repeated on told.equivalence_class = repeated.equivalence_class
where
    repeated.equivalence_class is not null
    or told.equivalence_class in (select open_classes.equivalence_class from open_classes)
{%- elif not is_known %}
where 1 = 0
{%- endif %}
{%- endmacro %}


{# Refuses, in one line, dates, and engines whose vault remembers no release. #}
{% macro _check_aggregates(given) -%}
    {%- set errors = [] -%}
    {%- if not dbt_anonymize._remembers_releases() -%}
        {%- do errors.append(
            "a mean, median or mode of a class must not be shown on " ~ target.type ~ ", whose vault does not remember"
            ~ " of whom earlier releases showed one. Write the levels of effort " ~ given.effort ~ " alone."
        ) -%}
    {%- endif -%}
    {%- for column in given.shown if column.show != "mode" -%}
        {%- set types = dbt_anonymize._bound_columns(column.hierarchy) | map(attribute="dtype") | map("lower") -%}
        {%- if modules.re.search("date|time", types | join(" ")) -%}
            {%- do errors.append(
                "the " ~ column.show ~ " must be of numbers; " ~ column.name ~ " holds dates. Write its level alone in"
                ~ " effort " ~ given.effort ~ "."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, errors) -%}
{%- endmacro %}


{# Whether less than half of the records of the last release with aggregates are in the microdata. #}
{% macro _has_other_keys(given, earlier) -%}
    {%- set key = dbt_anonymize._as_text(dbt_anonymize._quote(given.record_key)) -%}
    {%- set counted = run_query(
        "select count(*), count(known.record_key) from " ~ earlier ~ " as earlier"
        ~ " left join (select " ~ key ~ " as record_key from " ~ given.microdata ~ ") as known"
        ~ " on earlier.record_key = known.record_key"
        ~ " where release = (select max(release) from " ~ earlier ~ ")"
    ).rows[0] -%}
    {{ return(2 * counted[1] < counted[0]) }}
{%- endmacro %}


{# CTE `members`: the records of classes that are released, with what is aggregated of them; `holder` is who knows all
   of her records. #}
{% macro _members_of_classes(given) -%}
{%- set double, key = dbt_anonymize._type_double(), dbt_anonymize._quote(given.record_key, "effort") -%}
members as (

    select
        effort.equivalence_class,
        {{ dbt_anonymize._as_text(key) }} as record_key,
        {{ "microdata.subject" if given.people else key }} as holder
        {%- for column in given.shown %},
        {%- set value = dbt_anonymize._quote(column.name, "microdata") %}
        {{ dbt_anonymize._quote(column.name, "effort") }} as label_{{ loop.index }},
        {%- if column.show == "mode" %}
        {{ dbt_anonymize._as_text(value) }} as value_{{ loop.index }}
        {%- else %}
        cast({{ value }} as {{ double }}) as value_{{ loop.index }},
        cast({{ dbt_anonymize._quote(column.name ~ "_lower", "effort") }} as {{ double }}) as lower_{{ loop.index }},
        cast({{ dbt_anonymize._quote(column.name ~ "_upper", "effort") }} as {{ double }}) as upper_{{ loop.index }}
        {%- endif %}
        {%- endfor %}
    from effort
    inner join microdata on {{ key }} = {{ dbt_anonymize._quote(given.record_key, "microdata") }}
    where
        effort.equivalence_class in (
            select judged.equivalence_class
            from {{ given.classes }} as judged
            where
                judged.effort = {{ given.effort }}
                and not judged.is_violating
                and not judged.is_suppressed
        )

)
{%- endmacro %}


{# CTEs that end in `aggregates_<name>`: the aggregate of each class in `rows`, as text, where it may be told. A
   suppressed cell stays `*`: `is_masked` where there are any. #}
{% macro _aggregates_of(name, i, column, rows, is_masked) -%}
    {%- set rows = rows ~ " where label_" ~ i ~ " <> '*'" if is_masked else rows -%}
    {{ return(
        dbt_anonymize._modes_of_classes(name, i, rows) if column.show == "mode"
        else dbt_anonymize._centers_of_classes(name, i, column, rows)
    ) }}
{%- endmacro %}


{#
  The p %-rule: without the records of any one holder the others are two or more, and their distances from the lowest
  and from the highest value that the bounds allow add up to a share p of the interval. Half of a class lies between a
  bound and its median, so that must be as far away. Whole numbers in [20, 40) reach 39, and thousands in [20000, 40000)
  reach 39000: of the steps 1, 5, 10, 50, ... the largest counts of which all values of the class are multiples.
#}
{% macro _centers_of_classes(name, i, column, rows) -%}
{%- set least = dbt_anonymize._number(column.p_percent) ~ " * (centers.upper_end - centers.lower_end)" -%}
{%- set steps = [1000000, 500000, 100000, 50000, 10000, 5000, 1000, 500, 100, 50, 10, 5, 1] -%}
{%- set value = "value_" ~ i -%}
ends_{{ name }} as (

    select
        equivalence_class,
        lower_end,
        upper_end,
        median,
        coalesce(ceil(lower_end / step) * step, lower_end) as lowest,
        coalesce((ceil(upper_end / step) - 1) * step, upper_end) as highest
    from (
        select
            equivalence_class,
            min(lower_{{ i }}) as lower_end,
            max(upper_{{ i }}) as upper_end,
            percentile_disc(0.5) within group (order by {{ value }}) as median,
            coalesce(
                {%- for step in steps %}
                {%- set parts = value ~ " / " ~ step %}
                case
                    when max(case when {{ parts }} <> floor({{ parts }}) then 1 else 0 end) = 0
                        then {{ step }}
                end{{ "," if not loop.last }}
                {%- endfor %}
            ) as step
        from {{ rows }}
        group by equivalence_class
    ) as bounds_of_classes

),

holders_{{ name }} as (

    select
        equivalence_class,
        count(*) as records,
        count({{ value }}) as known,
        sum({{ value }}) as total
    from {{ rows }}
    group by
        equivalence_class,
        holder

),

centers_{{ name }} as (

    select
        holders.equivalence_class,
        min(ends.lower_end) as lower_end,
        min(ends.upper_end) as upper_end,
        sum(holders.records) - max(holders.records) as others,
        sum(holders.records) - sum(holders.known) as missing,
        {%- if column.show == "mean" %}
        sum(holders.total - holders.records * ends.lower_end) / sum(holders.records) as center,
        {%- set above = "holders.total - holders.records * ends.lowest" %}
        {%- set below = "holders.records * ends.highest - holders.total" %}
        sum({{ above }}) - max({{ above }}) as above,
        sum({{ below }}) - max({{ below }}) as below
        {%- else %}
        min(ends.median - ends.lower_end) as center,
        min(ends.median - ends.lowest) as above,
        min(ends.highest - ends.median) as below
        {%- endif %}
    from holders_{{ name }} as holders
    inner join ends_{{ name }} as ends on holders.equivalence_class = ends.equivalence_class
    group by holders.equivalence_class

),

{#- To a thousandth of the range or finer, never beyond the whole number. #}

scale_{{ name }} as (

    select power(10, greatest(0, 3 - floor(log10({{ dbt_anonymize._width(
        "min(lower_bound)", "max(upper_bound)", column.hierarchy
    ) }})))) as scale
    from {{ column.hierarchy }}

),

aggregates_{{ name }} as (

    select
        centers.equivalence_class,
        {{ dbt_anonymize._as_text(
            "cast(floor((centers.lower_end + centers.center) * scales.scale + 0.5) / scales.scale as "
            ~ dbt_anonymize._type_double() ~ ")"
        ) }} as label
    from centers_{{ name }} as centers
    cross join scale_{{ name }} as scales
    where
        centers.missing = 0
        and centers.others >= 2
        and 100 * centers.above >= {{ least }}
        and 100 * centers.below >= {{ least }}

)
{%- endmacro %}


{# A mode is told where without the records of any one holder the others still have two values; of equally frequent
   values it is the first by their bytes. #}
{% macro _modes_of_classes(name, i, rows) -%}
values_{{ name }} as (

    select
        equivalence_class,
        value_{{ i }} as value,
        count(*) as records,
        case when min(holder) = max(holder) then min(holder) end as sole
    from {{ rows }}
    group by
        equivalence_class,
        value_{{ i }}

),

alone_{{ name }} as (

    select
        equivalence_class,
        max(different) as different
    from (
        select
            equivalence_class,
            count(*) as different
        from values_{{ name }}
        where sole is not null
        group by
            equivalence_class,
            sole
    ) as soles
    group by equivalence_class

),

ranked_{{ name }} as (

    select
        equivalence_class,
        value,
        row_number() over (
            partition by equivalence_class order by records desc, {{ dbt_anonymize._as_bytes("value") }}
        ) as place,
        count(*) over (partition by equivalence_class) as different,
        count(value) over (partition by equivalence_class) as known
    from values_{{ name }}

),

aggregates_{{ name }} as (

    select
        ranked_{{ name }}.equivalence_class,
        ranked_{{ name }}.value as label
    from ranked_{{ name }}
    left join alone_{{ name }} on ranked_{{ name }}.equivalence_class = alone_{{ name }}.equivalence_class
    where
        ranked_{{ name }}.place = 1
        and ranked_{{ name }}.known = ranked_{{ name }}.different
        and ranked_{{ name }}.different - coalesce(alone_{{ name }}.different, 0) >= 2

)
{%- endmacro %}


{# Select of an effort with the aggregates of its classes for labels. #}
{% macro _with_aggregates(given) -%}
{%- set columns, names = [given.record_key], given.shown.columns -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do columns.extend(dbt_anonymize._label_columns(quasi_identifier)) -%}
    {%- if given.recoding -%}{%- do columns.append(quasi_identifier.name ~ "_level") -%}{%- endif -%}
{%- endfor -%}
select
    {%- for column in columns + given.kept_columns + ["equivalence_class", "class_size", "is_suppressed"] %}
    {%- if column in names %}
    coalesce({{ dbt_anonymize._quote(column, "aggregates") }}, {{ dbt_anonymize._quote(column, "effort") }})
        as {{ dbt_anonymize._quote(column) }}
    {%- else %}
    {{ dbt_anonymize._quote(column, "effort") }}
    {%- endif %}
    {{- "," if not loop.last }}
    {%- endfor %}
from effort
left join {{ given.shown.relation }} as aggregates on effort.equivalence_class = aggregates.equivalence_class
{%- endmacro %}
