{#
  What classes of an effort show for labels: the mean or median of a number, the mode of a category, where it tells
  nobody's value: of classes that are released, by the p %-rule and the rule of modes, and not where the vault remembers
  an aggregate of nearly the same people.
#}
{% macro aggregates(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "effort", "microdata", "classes", "record_key", "quasi_identifiers", "shown", "k",
], {"recoding": none, "share": none, "has_subject": false}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- set earlier, is_known = none, true -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_aggregates(given) -%}
    {%- set earlier = load_relation(dbt_anonymize._aggregated_relation(given.anonymization)) -%}
    {%- set is_known = earlier is not none or not dbt_anonymize._has_released(given.anonymization) -%}
    {%- if not is_known -%}
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
{%- set numbers = given.shown | rejectattr("show", "equalto", "mode") | list %}
{%- if numbers %}

{{ dbt_anonymize._steps_of(given.shown) }},
{%- endif %}

{{ dbt_anonymize._members_of_classes(given, has_numbers=numbers | length > 0) }},
{%- for column in given.shown %}

{{ dbt_anonymize._aggregates_of(loop.index, column, is_masked=given.recoding is not none) }},
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
        equivalence_class,
        {%- for column in given.shown %}
        aggregate_{{ loop.index }},
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
    where {% for column in given.shown %}aggregate_{{ loop.index }} <> ''{{ " or " if not loop.last }}{% endfor %}

)
{%- if earlier %},

{{ dbt_anonymize._compared_members(earlier, given.k, given.has_subject, given.shown) }}
{%- endif %}

select
    told.equivalence_class,
    {%- for column in given.shown %}
    nullif(told.aggregate_{{ loop.index }}, '') as {{ dbt_anonymize._quote(column.name) }},
    {%- endfor %}
    told.aggregates,
    {{ "coalesce(compared.is_repeated, 0) = 0" if earlier else "true" }} as is_new,
    cast({{ "(select coalesce(max(release), 0) from " ~ earlier ~ ")" if earlier else 0 }} as {{ dbt.type_bigint() }})
        as compared_releases
from told
{%- if earlier %}
left join compared on told.equivalence_class = compared.equivalence_class
where coalesce(compared.is_close, 0) = 0
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


{# CTE `steps`: the largest of 1, 5, 10, 50, ... of which all values of a number are multiples, NULL without one. Whole
   numbers in [20, 40) reach 39, and thousands in [20000, 40000) reach 39000: who has a mean of that is known. #}
{% macro _steps_of(shown) -%}
{%- set steps = [1000000, 500000, 100000, 50000, 10000, 5000, 1000, 500, 100, 50, 10, 5, 1] -%}
steps as (

    select
        {%- for column in shown if column.show != "mode" %}
        {%- set value = "value_" ~ (shown.index(column) + 1) %}
        coalesce(
            {%- for step in steps %}
            case when max(case when {{ value }} / {{ step }} <> floor({{ value }} / {{ step }}) then 1 else 0 end) = 0
                then {{ step }} end{{ "," if not loop.last }}
            {%- endfor %}
        ) as step_{{ shown.index(column) + 1 }}{{ "," if not loop.last }}
        {%- endfor %}
    from (
        select
            {%- for column in shown if column.show != "mode" %}
            cast({{ dbt_anonymize._quote(column.name) }} as {{ dbt_anonymize._type_double() }})
                as value_{{ shown.index(column) + 1 }}{{ "," if not loop.last }}
            {%- endfor %}
        from microdata
    ) as numbers

)
{%- endmacro %}


{# CTE `members`: the records of classes that are released, with what is aggregated of them; `holder` is who knows all
   of her records; from `lowest` to `highest` are the values that the bounds allow. #}
{% macro _members_of_classes(given, has_numbers) -%}
{%- set double, key = dbt_anonymize._type_double(), dbt_anonymize._quote(given.record_key, "effort") -%}
members as (

    select
        effort.equivalence_class,
        {{ dbt_anonymize._as_text(key) }} as record_key,
        {{ "microdata.subject" if given.has_subject else key }} as holder
        {%- for column in given.shown %},
        {%- set value = dbt_anonymize._quote(column.name, "microdata") %}
        {{ dbt_anonymize._quote(column.name, "effort") }} as label_{{ loop.index }},
        {%- if column.show == "mode" %}
        {{ dbt_anonymize._as_text(value) }} as value_{{ loop.index }}
        {%- else %}
        cast({{ value }} as {{ double }}) as value_{{ loop.index }},
        {%- set lower = "cast(" ~ dbt_anonymize._quote(column.name ~ "_lower", "effort") ~ " as " ~ double ~ ")" %}
        {%- set upper = "cast(" ~ dbt_anonymize._quote(column.name ~ "_upper", "effort") ~ " as " ~ double ~ ")" %}
        {%- set step = "steps.step_" ~ loop.index %}
        {{ lower }} as lower_{{ loop.index }},
        {{ upper }} as upper_{{ loop.index }},
        coalesce(ceil({{ lower }} / {{ step }}) * {{ step }}, {{ lower }}) as lowest_{{ loop.index }},
        coalesce((ceil({{ upper }} / {{ step }}) - 1) * {{ step }}, {{ upper }}) as highest_{{ loop.index }}
        {%- endif %}
        {%- endfor %}
    from effort
    inner join microdata on {{ key }} = {{ dbt_anonymize._quote(given.record_key, "microdata") }}
    {%- if has_numbers %}
    cross join steps
    {%- endif %}
    where
        effort.equivalence_class in (
            select equivalence_class
            from {{ given.classes }}
            where
                effort = {{ given.effort }}
                and not is_violating
                and not is_suppressed
        )

)
{%- endmacro %}


{# CTEs that end in `aggregates_<i>`: the aggregate of each class, as text, where it may be told. A suppressed cell
   stays `*`: `is_masked` where there are any. #}
{% macro _aggregates_of(i, column, is_masked) -%}
    {%- set rows = "members where label_" ~ i ~ " <> '*'" if is_masked else "members" -%}
    {{ return(
        dbt_anonymize._modes_of_classes(i, rows) if column.show == "mode"
        else dbt_anonymize._centers_of_classes(i, column, rows)
    ) }}
{%- endmacro %}


{#
  The p %-rule: without the records of any one holder the others are two or more, and their distances from the lowest
  and from the highest value that the bounds allow add up to a share p of the interval. Half of a class lies between a
  bound and its median, so that must be as far away.
#}
{% macro _centers_of_classes(i, column, rows) -%}
{%- set least = dbt_anonymize._number(column.p_percent) ~ " * (upper_end - lower_end)" -%}
holders_{{ i }} as (

    select
        equivalence_class,
        min(lower_{{ i }}) as lower_end,
        max(upper_{{ i }}) as upper_end,
        count(*) as records,
        count(value_{{ i }}) as known,
        sum(value_{{ i }} - lower_{{ i }}) as center,
        sum(value_{{ i }} - lowest_{{ i }}) as above,
        sum(highest_{{ i }} - value_{{ i }}) as below,
        min(lowest_{{ i }}) as lowest,
        max(highest_{{ i }}) as highest
    from {{ rows }}
    group by
        equivalence_class,
        holder

),

centers_{{ i }} as (

    select
        holders_{{ i }}.equivalence_class,
        min(holders_{{ i }}.lower_end) as lower_end,
        max(holders_{{ i }}.upper_end) as upper_end,
        sum(holders_{{ i }}.records) - max(holders_{{ i }}.records) as others,
        sum(holders_{{ i }}.records) - sum(holders_{{ i }}.known) as missing,
        {%- if column.show == "mean" %}
        sum(holders_{{ i }}.center) / sum(holders_{{ i }}.records) as center,
        sum(holders_{{ i }}.above) - max(holders_{{ i }}.above) as above,
        sum(holders_{{ i }}.below) - max(holders_{{ i }}.below) as below
    from holders_{{ i }}
        {%- else %}
        min(medians.median) - min(holders_{{ i }}.lower_end) as center,
        min(medians.median) - min(holders_{{ i }}.lowest) as above,
        max(holders_{{ i }}.highest) - min(medians.median) as below
    from holders_{{ i }}
    inner join (
        select
            equivalence_class,
            percentile_disc(0.5) within group (order by value_{{ i }}) as median
        from {{ rows }}
        group by equivalence_class
    ) as medians
        on holders_{{ i }}.equivalence_class = medians.equivalence_class
        {%- endif %}
    group by holders_{{ i }}.equivalence_class

),

{#- To a thousandth of the range or finer, never beyond the whole number. #}

scale_{{ i }} as (

    select power(10, greatest(0, 3 - floor(log10({{ dbt_anonymize._width(
        "min(lower_bound)", "max(upper_bound)", column.hierarchy
    ) }})))) as scale
    from {{ column.hierarchy }}

),

aggregates_{{ i }} as (

    select
        centers_{{ i }}.equivalence_class,
        {{ dbt_anonymize._as_text(
            "cast(floor((lower_end + center) * scale + 0.5) / scale as " ~ dbt_anonymize._type_double() ~ ")"
        ) }} as label
    from centers_{{ i }}
    cross join scale_{{ i }}
    where
        missing = 0
        and others >= 2
        and 100 * above >= {{ least }}
        and 100 * below >= {{ least }}

)
{%- endmacro %}


{# A mode is told where without the records of any one holder the others still have two values; of equally frequent
   values it is the first by their bytes. #}
{% macro _modes_of_classes(i, rows) -%}
values_{{ i }} as (

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

alone_{{ i }} as (

    select
        equivalence_class,
        max(different) as different
    from (
        select
            equivalence_class,
            count(*) as different
        from values_{{ i }}
        where sole is not null
        group by
            equivalence_class,
            sole
    ) as soles
    group by equivalence_class

),

ranked_{{ i }} as (

    select
        equivalence_class,
        value,
        row_number() over (
            partition by equivalence_class order by records desc, {{ dbt_anonymize._as_bytes("value") }}
        ) as place,
        count(*) over (partition by equivalence_class) as different,
        count(value) over (partition by equivalence_class) as known
    from values_{{ i }}

),

aggregates_{{ i }} as (

    select
        ranked_{{ i }}.equivalence_class,
        ranked_{{ i }}.value as label
    from ranked_{{ i }}
    left join alone_{{ i }} on ranked_{{ i }}.equivalence_class = alone_{{ i }}.equivalence_class
    where
        ranked_{{ i }}.place = 1
        and ranked_{{ i }}.known = ranked_{{ i }}.different
        and ranked_{{ i }}.different - coalesce(alone_{{ i }}.different, 0) >= 2

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
