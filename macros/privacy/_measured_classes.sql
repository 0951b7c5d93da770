{#
  CTEs that end in `<prefix>classes`: the equivalence classes of `<prefix>generalized`, one row each, with what the
  privacy models measure in them.
  Columns of `<prefix>classes`
    the keys, under their names; `class_size` (subjects: distinct subjects, or records without a subject); `records`;
    `population_size` (where `population` is given); the columns of `further`; for each attribute A its measures
    (`A_distinct_l`, ...; see _attribute_measures); `is_violating` (breaks a class-based guarantee; never NULL).
  `given`, as _measuring declares it
    grouped_by             columns of `<prefix>generalized` that make a class; never NULL in it
    guarantees             flat list, [{'model': 'k_anonymity', 'k': 5}, ...]; sample-based ones are skipped
    attributes             to measure; default: those that a guarantee names
    prefix                 of the CTE that is read and of all that are written
    count                  aggregate that counts records: "sum(records)" on frequencies, "count(*)" on records
    has_subject            true: `<prefix>generalized` has a column `subject` that says whose record it is
    whole                  prefix under which _global_distributions wrote the CTEs of the whole table, of the same
                           attributes, guarantees and hierarchies; none: they are written here, from the same rows
    population             name of a CTE with the keys and `population_size`, one row per class of the population
    population_size        people in the population, for estimates (read only where `whole` is none)
    sensitive_hierarchies  {attribute: {'hierarchy': relation, 'levels': int}} for hierarchical t-closeness
    has_all_measures       true: the six standard measures of every attribute; false: only what a guarantee needs
    further                [{'name': column, 'sql': aggregate}, ...], more columns for each class
    stricter               more conditions under which a class is violating
    counted_by             columns whose values `<prefix>generalized` has once in each class, if it has
    sized                  name of a CTE with the keys (`rows`), of whose rows the sizes and `further` are, and `count`,
                           where it is not `<prefix>generalized`
    majority               names of two columns, for the records of the most frequent value of the only attribute, which
                           is counted, and for whether no other has as many; its measures then come with the sizes,
                           unjoined
  Cost: one group by for the sizes, one by class and value for each attribute, and joins of classes, not of records.
#}
{% macro _measured_classes(given) -%}
{%- set given = dbt_anonymize._measuring(given) -%}
{%- if given.whole is none -%}
{{- dbt_anonymize._global_distributions(
    given.prefix ~ "generalized", given.attributes, given.guarantees, given.prefix,
    dbt_anonymize._counted_subjects(given.has_subject, given.count), given.population_size, given.sensitive_hierarchies
) -}}
{%- endif %}
{{- dbt_anonymize._class_measures(given) }}
{{- dbt_anonymize._violating(
    given.prefix ~ "measures", given.guarantees, given.stricter, given.prefix, dbt_anonymize._prefix_of_whole(given)
) }}
{%- endmacro %}


{# What is measured of classes, with defaults. #}
{% macro _measuring(given) -%}
    {%- set given = dbt_anonymize._checked_keys(given, ["grouped_by", "guarantees"], {
        "attributes": none, "prefix": "", "count": "sum(records)", "has_subject": false, "whole": none,
        "population": none, "population_size": none, "sensitive_hierarchies": {}, "has_all_measures": false,
        "further": [], "stricter": [], "counted_by": none, "sized": none, "majority": none,
    }) -%}
    {%- if given.attributes is none -%}
        {%- do given.update({"attributes": dbt_anonymize._guaranteed_attributes(given.guarantees)}) -%}
    {%- endif -%}
    {{ return(given) }}
{%- endmacro %}


{# The prefix of the CTEs of the whole table. #}
{% macro _prefix_of_whole(given) -%}
    {{ return(given.prefix if given.whole is none else given.whole) }}
{%- endmacro %}


{# CTEs that end in `<prefix>measures`: `<prefix>classes` without `is_violating`. #}
{% macro _class_measures(given) -%}
{%- set given = dbt_anonymize._measuring(given) -%}
{%- set prefix, keys, majority = given.prefix, given.grouped_by, given.majority -%}
{%- set whole = dbt_anonymize._prefix_of_whole(given) -%}
{%- set subjects = dbt_anonymize._counted_subjects(given.has_subject, given.count) -%}
{%- set bigint = dbt.type_bigint() %}
{%- set rows = prefix ~ ("measured_1" if majority else "sizes") %}

{{ prefix }}sizes as (

    select
        {%- for key in keys %}
        {{ dbt_anonymize._quote(key) }} as key_{{ loop.index }},
        {%- endfor %}
        {%- for column in given.further %}
        {{ column.sql }} as further_{{ loop.index }},
        {%- endfor %}
        {%- if majority %}
        max(records) as most_records,
        {%- endif %}
        cast({{ given.sized.count if given.sized else subjects }} as {{ bigint }}) as class_size,
        cast({{ given.sized.count if given.sized else given.count }} as {{ bigint }}) as records
    from {{ given.sized.rows if given.sized else prefix ~ "generalized" }}
    group by
        {%- for key in keys %}
        {{ dbt_anonymize._quote(key) }}{{ "," if not loop.last }}
        {%- endfor %}

),
{%- set measured = [] %}
{%- for attribute in given.attributes %}
{%- set measures = dbt_anonymize._attribute_measures(attribute, given.guarantees, given.has_all_measures) %}
{%- if measures %}
{{- dbt_anonymize._measured_attribute(given, loop.index, measures) }}
{%- do measured.append({"number": loop.index, "measures": measures}) %}
{%- endif %}
{%- endfor %}

{{ prefix }}measures as (

    select
        {%- for key in keys %}
        sizes.key_{{ loop.index }} as {{ dbt_anonymize._quote(key) }},
        {%- endfor %}
        {%- for column in given.further %}
        sizes.further_{{ loop.index }} as {{ dbt_anonymize._quote(column.name) }},
        {%- endfor %}
        {%- if majority %}
        sizes.majority_records as {{ dbt_anonymize._quote(majority[0]) }},
        sizes.has_majority as {{ dbt_anonymize._quote(majority[1]) }},
        {%- endif %}
        sizes.class_size,
        sizes.records
        {%- if given.population %},
        population.population_size
        {%- endif %}
        {%- for attribute in measured %}
        {%- for measure in attribute.measures %},
        {{ measure.class_sql
            | replace("<value>", dbt_anonymize._measured_in(measure, attribute.number, majority) ~ "."
                ~ (measure.of or measure.alias))
            | replace("<subjects>", "(select everybody.subjects from " ~ whole ~ "everybody as everybody)")
        }} as {{ dbt_anonymize._quote(measure.column) }}
        {%- endfor %}
        {%- endfor %}
    from {{ rows }} as sizes
    {%- for attribute in measured %}
    {%- for source in attribute.measures | map(attribute="source") | unique(case_sensitive=true)
        if not majority or source != "measured" %}
    inner join {{ prefix }}{{ source }}_{{ attribute.number }} as {{ source }}_{{ attribute.number }}
        on {{ dbt_anonymize._same_keys(keys, "sizes", source ~ "_" ~ attribute.number) }}
    {%- endfor %}
    {%- endfor %}
    {%- if given.population %}
    left join {{ given.population }} as population
        on
        {%- for key in keys %}
            {{ "and " if not loop.first }}sizes.key_{{ loop.index }} = {{ dbt_anonymize._quote(key, "population") }}
        {%- endfor %}
    {%- endif %}

),
{%- endmacro %}


{# The alias under which <prefix>measures reads the CTE of a measure. #}
{% macro _measured_in(measure, number, majority) -%}
    {{ return("sizes" if majority and measure.source == "measured" else measure.source ~ "_" ~ number) }}
{%- endmacro %}


{# CTE `<prefix>classes`: measured classes with `is_violating`. #}
{% macro _violating(rows, guarantees, stricter=[], prefix="", whole="") -%}
{%- set conditions = dbt_anonymize._violated_conditions(guarantees, whole) + stricter %}

{{ prefix }}classes as (

    select
        *,
        {%- if conditions %}
        coalesce(
            {{ conditions | join("\n            or ") }},
            false
        ) as is_violating
        {%- else %}
        false as is_violating
        {%- endif %}
    from {{ rows }}

),
{%- endmacro %}


{# CTEs of the attribute of a number, with keys named key_<i>: its values in each class beside the whole table, and the
   measures, with sizes and majority where that is asked for. #}
{% macro _measured_attribute(given, number, measures) -%}
{%- set attribute, keys, prefix = given.attributes[number - 1], given.grouped_by, given.prefix -%}
{%- set whole = dbt_anonymize._prefix_of_whole(given) -%}
{%- set tree, is_voted = given.sensitive_hierarchies.get(attribute), given.majority is not none -%}
{%- set double = dbt_anonymize._type_double() -%}
{%- set bigint = dbt.type_bigint() -%}
{%- set numbered = [] -%}
{%- for key in keys -%}{%- do numbered.append("key_" ~ loop.index) -%}{%- endfor -%}
{%- set sources = measures | map(attribute="source") | unique(case_sensitive=true) | list -%}
{%- set needed = [] %}
{%- for measure in measures %}{%- do needed.extend(measure.needs) %}{%- endfor %}

{{ dbt_anonymize._values_of_attribute(given, number) }}
{%- set totals = prefix ~ "sizes" %}
{%- if given.has_subject %}
{#- Each pair of a person and a value counts once, so there are more pairs than subjects where one has two values. #}
{%- set totals = prefix ~ "pairs_" ~ number %}

{{ totals }} as (

    select
        {%- for key in numbered %}
        sizes.{{ key }},
        {%- endfor %}
        sizes.class_size,
        cast(sum(found.subjects) as {{ bigint }}) as pairs
    from {{ prefix }}sizes as sizes
    inner join {{ prefix }}values_{{ number }} as found
        on {{ dbt_anonymize._same_keys(keys, "sizes", "found") }}
    group by
        {%- for key in numbered %}
        sizes.{{ key }},
        {%- endfor %}
        sizes.class_size

),
{%- endif %}

{#- Counts as doubles: a difference of shares is then one division of exact numbers, so that limits are met exactly. #}

{{ prefix }}compared_{{ number }} as (

    select
        {%- for key in numbered %}
        found.{{ key }},
        {%- endfor %}
        found.value,
        cast(found.subjects as {{ double }}) as subjects,
        cast(totals.{{ "pairs" if given.has_subject else "class_size" }} as {{ double }}) as class_subjects,
        {%- if is_voted %}
        cast(totals.most_records as {{ double }}) as most_subjects,
        {%- endif %}
        {%- if "class_size" in needed %}
        cast(totals.class_size as {{ double }}) as class_size,
        {%- endif %}
        {%- if "position_by_frequency" in needed %}
        {#- Most frequent first. #}
        row_number() over (
            partition by
                {%- for key in numbered %}
                found.{{ key }}{{ "," if not loop.last }}
                {%- endfor %}
            order by found.subjects desc
        ) as position_by_frequency,
        {%- endif %}
        {%- if "ordered" in sources %}
        case when found.value is null then whole.number_of_values else distribution.position end as position,
        {%- endif %}
        cast(
            case when found.value is null then whole.missing else coalesce(distribution.subjects, 0) end as {{ double }}
        ) as table_value_subjects,
        cast(whole.subjects as {{ double }}) as table_subjects,
        whole.number_of_values
    from {{ prefix }}values_{{ number }} as found
    inner join {{ totals }} as totals
        on {{ dbt_anonymize._same_keys(keys, "found", "totals") }}
    left join {{ whole }}distribution_{{ number }} as distribution
        on found.value = distribution.value
    cross join {{ whole }}total_{{ number }} as whole

),

{{ prefix }}measured_{{ number }} as (

    select
        {{ numbered | join(",\n        ") }}
        {%- if is_voted %},
        {%- for column in ["class_size", "records"] %}
        cast(max(class_subjects) as {{ bigint }}) as {{ column }},
        {%- endfor %}
        cast(max(subjects) as {{ bigint }}) as majority_records,
        sum(case when subjects = most_subjects then 1 else 0 end) = 1 as has_majority
        {%- endif %}
        {%- for measure in measures if measure.source == "measured" and not measure.of %},
        {{ measure.sql }} as {{ measure.alias }}
        {%- endfor %}
    from {{ prefix }}compared_{{ number }}
    group by
        {{ numbered | join(",\n        ") }}

),
{%- for source in sources if source != "measured" %}
{{- dbt_anonymize._distance(source, numbered, prefix, whole, number, tree) }}
{%- endfor %}
{%- endmacro %}


{# CTE `<prefix>values_<number>`: how many subjects have each value in each class. #}
{% macro _values_of_attribute(given, number) -%}
{%- set attribute, keys, prefix = given.attributes[number - 1], given.grouped_by, given.prefix -%}
{%- set is_counted = given.counted_by == [attribute] -%}
{%- set subjects = dbt_anonymize._counted_subjects(given.has_subject, given.count) -%}
{{ prefix }}values_{{ number }} as (

    select
        {%- for key in keys %}
        {{ dbt_anonymize._quote(key) }} as key_{{ loop.index }},
        {%- endfor %}
        {{ dbt_anonymize._quote(attribute) }} as value,
        {{ "records" if is_counted else "cast(" ~ subjects ~ " as " ~ dbt.type_bigint() ~ ")" }} as subjects
    from {{ prefix }}generalized
    {%- if not is_counted %}
    group by
        {%- for key in keys %}
        {{ dbt_anonymize._quote(key) }},
        {%- endfor %}
        {{ dbt_anonymize._quote(attribute) }}
    {%- endif %}

),
{%- endmacro %}


{# The join condition of two relations with keys named key_<i>. #}
{% macro _same_keys(keys, one, other) -%}
    {%- set equal = [] -%}
    {%- for key in keys -%}
        {%- do equal.append(one ~ ".key_" ~ loop.index ~ " = " ~ other ~ ".key_" ~ loop.index) -%}
    {%- endfor -%}
    {{ return(equal | join(" and ")) }}
{%- endmacro %}
