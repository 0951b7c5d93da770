{#
  A recoding whose labels were committed. The seed lists classes, each with a label per quasi-identifier; a record gets
  the labels of the first class that holds all its values. So labels depend on nothing but the seed and the values of
  the record: whoever joins or leaves gives nobody else another label.
    A category is held by its label of the level, NULL by `*` of any level; a number or date by the intervals around its
    leaf, by itself where it was released as it is (level 0), and, like NULL, by `*` without bounds.
#}
{% macro frozen_recoding(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "microdata", "quasi_identifiers", "record_key", "labels",
], {
    "exact": [],
}) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(given.quasi_identifiers),
    post_hook=["{{ dbt_anonymize._check_recoding() }}"] + dbt_anonymize._analyzed(),
) }}
{%- if not dbt_anonymize._is_building() -%}
{{ dbt_anonymize._at_root(given.microdata, given.quasi_identifiers, given.record_key) }}
{%- else -%}
{{ dbt_anonymize._frozen_rows(given) }}
{%- endif -%}
{%- endmacro %}


{# Its query. #}
{% macro _frozen_rows(given) -%}
with

classes as (

    {{ dbt_anonymize._committed_classes(given.labels, given.quasi_identifiers) | indent(4) }}

),

{{ dbt_anonymize._held_values(given.microdata, given.quasi_identifiers, [given.record_key], given.exact) }}
{%- for quasi_identifier in given.quasi_identifiers %}

{{ dbt_anonymize._shares_of_frozen_labels(quasi_identifier, loop.index) }}
{%- endfor %}

placed as (

    select
        {{ dbt_anonymize._keys_of_values("tuples", given.quasi_identifiers) | join(",\n        ") }},
        min(classes.class_number) as class_number
    from tuples
    {{ dbt_anonymize._holding_classes(given.quasi_identifiers) | indent(4) }}
    group by
        {{ dbt_anonymize._keys_of_values("tuples", given.quasi_identifiers) | join(",\n        ") }}

)

select
    {{ dbt_anonymize._quote(given.record_key, "keyed") }}
    {%- for quasi_identifier in given.quasi_identifiers %},
    {{ dbt_anonymize._frozen_columns(quasi_identifier, loop.index, quasi_identifier.name in given.exact) | indent(4) }}
    {%- endfor %}
from keyed
inner join placed
    on
        {%- for key in dbt_anonymize._keys_of_values("keyed", given.quasi_identifiers) %}
        {{ "and " if not loop.first }}{{ key }} = placed.key_{{ loop.index }}
        {%- endfor %}
inner join classes on placed.class_number = classes.class_number
{%- for quasi_identifier in given.quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}
cross join range_{{ loop.index }}
inner join labels_{{ loop.index }}
    on
        classes.label_{{ loop.index }} = labels_{{ loop.index }}.label
        and coalesce(classes.lower_{{ loop.index }}, '') = labels_{{ loop.index }}.lower_text
{%- else %}
left join shares_{{ loop.index }}
    on
        classes.label_{{ loop.index }} = shares_{{ loop.index }}.label
        and classes.level_{{ loop.index }} = shares_{{ loop.index }}.level
{%- endif %}
{%- endfor %}
{%- endmacro %}


{# Query of the classes of the seed: `class_number`, and of the i-th quasi-identifier `label_<i>`, `level_<i>` and, of
   an interval, its bounds as text. A seed holds an empty text as NULL. #}
{% macro _committed_classes(labels, quasi_identifiers) -%}
select
    class_number
    {%- for quasi_identifier in quasi_identifiers %},
    {%- set is_own = "case when attribute = " ~ dbt_anonymize._literal(quasi_identifier.name) ~ " then " %}
    max({{ is_own }}coalesce(label, '') end) as label_{{ loop.index }},
    max({{ is_own }}cast(level as {{ dbt.type_int() }}) end) as level_{{ loop.index }}
    {%- if quasi_identifier.kind == "interval" %},
    max({{ is_own }}leaf end) as lower_{{ loop.index }},
    max({{ is_own }}upper_bound end) as upper_{{ loop.index }}
    {%- endif %}
    {%- endfor %}
from {{ labels }}
where class_number is not null
group by class_number
{%- endmacro %}


{#
  CTEs after `classes`:
    keyed      every record: `columns`, and of each quasi-identifier `key_<i>`, a text of the leaf or, of one in
               `exact`, of the value; empty for NULL
    tuples     the keys that occur together
    labels_<i> of an interval: each `label` with its bounds (`*` may have some, or none); `exact_label` of a value that
               is released as it is
    holds_<i>  which label (of a class) holds which key
#}
{% macro _held_values(microdata, quasi_identifiers, columns, exact) -%}
keyed as (

    select
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set name = quasi_identifier.name %}
        {%- set leaf = dbt_anonymize._quote(name ~ "_leaf") %}
        {%- set value = dbt_anonymize._quote(name) if name in exact else leaf %}
        {{ leaf }} as leaf_{{ loop.index }},
        {%- if name in exact %}
        {{ value }} as value_{{ loop.index }},
        {%- endif %}
        coalesce({{ dbt.concat(["'v'", dbt_anonymize._as_text(value)]) }}, '') as key_{{ loop.index }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from {{ microdata }}

),

tuples as (

    select distinct
        {{ dbt_anonymize._keys_of_values("keyed", quasi_identifiers) | join(",\n        ") }}
    from keyed

)
{%- for quasi_identifier in quasi_identifiers %},
{%- set number = loop.index %}
{%- if quasi_identifier.kind == "interval" %}

labels_{{ number }} as (

    select
        classes.label_{{ number }} as label,
        coalesce(classes.lower_{{ number }}, '') as lower_text,
        min(case when classes.level_{{ number }} = 0 then classes.label_{{ number }} end) as exact_label,
        min(first_leaves.lower_bound) as lower_bound,
        max(last_leaves.upper_bound) as upper_bound
    from classes
    {#- What is no bound of the hierarchy holds nothing. #}
    left join {{ quasi_identifier.hierarchy }} as first_leaves
        on classes.lower_{{ number }} = {{ dbt_anonymize._as_text("first_leaves.lower_bound") }}
    left join {{ quasi_identifier.hierarchy }} as last_leaves
        on classes.upper_{{ number }} = {{ dbt_anonymize._as_text("last_leaves.upper_bound") }}
    group by
        classes.label_{{ number }},
        coalesce(classes.lower_{{ number }}, '')

),
{%- else %}

labels_{{ number }} as (

    select distinct
        label_{{ number }} as label,
        level_{{ number }} as level
    from classes

),
{%- endif %}

found_{{ number }} as (

    select distinct
        key_{{ number }},
        leaf_{{ number }}
    from keyed

),

holds_{{ number }} as (

    select
        found.key_{{ number }},
        labels.label,
        labels.{{ "lower_text" if quasi_identifier.kind == "interval" else "level" }}
    from found_{{ number }} as found
    {%- if quasi_identifier.kind == "interval" %}
    inner join labels_{{ number }} as labels
        on
            (labels.label = '*' and labels.lower_bound is null)
            or found.key_{{ number }} = {{ dbt.concat(["'v'", "labels.exact_label"]) }}
            or (found.leaf_{{ number }} >= labels.lower_bound and found.leaf_{{ number }} < labels.upper_bound)
    {%- else %}
    left join {{ quasi_identifier.hierarchy }} as leaves
        on found.leaf_{{ number }} = {{ dbt_anonymize._as_text("leaves.value") }}
    inner join labels_{{ number }} as labels
        on
            (found.leaf_{{ number }} is null and labels.label = '*')
            or labels.label = case labels.level
                when 0 then found.leaf_{{ number }}
                {%- for level in range(1, quasi_identifier.levels + 1) %}
                when {{ level }} then {{ dbt_anonymize._as_text("leaves.level_" ~ level) }}
                {%- endfor %}
            end
    {%- endif %}

)
{%- endfor %},
{%- endmacro %}


{% macro _keys_of_values(alias, quasi_identifiers) -%}
    {%- set keys = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}{%- do keys.append(alias ~ ".key_" ~ loop.index) -%}{%- endfor -%}
    {{ return(keys) }}
{%- endmacro %}


{# Joins of `tuples` with the `classes` whose labels all hold their values. #}
{% macro _holding_classes(quasi_identifiers) -%}
{%- for quasi_identifier in quasi_identifiers -%}
{%- set number = loop.index -%}
{{ "\n" if not loop.first -}}
inner join holds_{{ number }} on tuples.key_{{ number }} = holds_{{ number }}.key_{{ number }}
{%- endfor %}
inner join classes
    on
        {%- for quasi_identifier in quasi_identifiers %}
        {{ "and " if not loop.first }}holds_{{ loop.index }}.label = classes.label_{{ loop.index }}
        {%- if quasi_identifier.kind == "interval" %}
        and holds_{{ loop.index }}.lower_text = coalesce(classes.lower_{{ loop.index }}, '')
        {%- else %}
        and holds_{{ loop.index }}.level = classes.level_{{ loop.index }}
        {%- endif %}
        {%- endfor %}
{%- endmacro %}


{% macro _shares_of_frozen_labels(quasi_identifier, number) -%}
{%- if quasi_identifier.kind == "interval" -%}
range_{{ number }} as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from {{ quasi_identifier.hierarchy }}

),
{%- else -%}
shares_{{ number }} as (

    {{ dbt_anonymize._shares_of_labels(quasi_identifier, false) }}

),
{%- endif %}
{%- endmacro %}


{# Label, bounds, level and share of one quasi-identifier, from its class. #}
{% macro _frozen_columns(quasi_identifier, number, is_exact) -%}
{%- set name, hierarchy = quasi_identifier.name, quasi_identifier.hierarchy -%}
{%- set label, level = "classes.label_" ~ number, "classes.level_" ~ number -%}
{{ label }} as {{ dbt_anonymize._quote(name) }},
{%- if quasi_identifier.kind == "interval" %}
{%- for end in ["lower", "upper"] %}
case
    when {{ label }} = '*' and labels_{{ number }}.lower_bound is null then range_{{ number }}.range_{{ end }}
    {%- if is_exact %}
    when {{ level }} = 0 then keyed.value_{{ number }}
    {%- endif %}
    else labels_{{ number }}.{{ end }}_bound
end as {{ dbt_anonymize._quote(name ~ "_" ~ end) }},
{%- endfor %}
{%- endif %}
{{ level }} as {{ dbt_anonymize._quote(name ~ "_level") }},
case
    when {{ label }} = '*' then cast(1 as {{ dbt_anonymize._type_double() }})
    {%- if quasi_identifier.kind == "interval" %}
    when {{ level }} = 0 then 0
    else
        {{ dbt_anonymize._width(
            "labels_" ~ number ~ ".lower_bound", "labels_" ~ number ~ ".upper_bound", hierarchy
        ) }}
        / {{ dbt_anonymize._width(
            "range_" ~ number ~ ".range_lower", "range_" ~ number ~ ".range_upper", hierarchy
        ) }}
    {%- else %}
    else shares_{{ number }}.share
    {%- endif %}
end as {{ dbt_anonymize._quote(name ~ "_share") }}
{%- endmacro %}


{# Query of the classes that an effort releases, in the columns of `_committed_classes`, numbered by their text; and
   `leaf_<i>`, the lowest leaf of each interval. #}
{% macro _released_classes(effort, microdata, record_key, quasi_identifiers) -%}
select
    released.class_number
    {%- for quasi_identifier in quasi_identifiers %},
    {%- set number = loop.index %}
    released.label_{{ number }},
    released.level_{{ number }}
    {%- if quasi_identifier.kind == "interval" %}
    {%- for end, leaf in [("lower", "first"), ("upper", "last")] %},
    case
        when
            coalesce(released.level_{{ number }}, 1) > 0
            and not (
                released.label_{{ number }} = '*'
                and released.lower_{{ number }} = (select min(lower_bound) from {{ quasi_identifier.hierarchy }})
                and released.upper_{{ number }} = (select max(upper_bound) from {{ quasi_identifier.hierarchy }})
            )
            then {{ dbt_anonymize._as_text(leaf ~ "_" ~ number ~ "." ~ end ~ "_bound") }}
    end as {{ end }}_{{ number }}
    {%- endfor %},
    {{ dbt_anonymize._as_text("released.leaf_" ~ number) }} as leaf_{{ number }}
    {%- endif %}
    {%- endfor %}
from (
    select
        effort.equivalence_class as class_number
        {%- for quasi_identifier in quasi_identifiers %},
        {%- set name = quasi_identifier.name %}
        min({{ dbt_anonymize._quote(name, "effort") }}) as label_{{ loop.index }},
        max({{ dbt_anonymize._quote(name ~ "_level", "effort") }}) as level_{{ loop.index }}
        {%- if quasi_identifier.kind == "interval" %},
        min({{ dbt_anonymize._quote(name ~ "_lower", "effort") }}) as lower_{{ loop.index }},
        max({{ dbt_anonymize._quote(name ~ "_upper", "effort") }}) as upper_{{ loop.index }},
        min({{ dbt_anonymize._quote(name ~ "_leaf", "microdata") }}) as leaf_{{ loop.index }}
        {%- endif %}
        {%- endfor %}
    from {{ effort }} as effort
    inner join {{ microdata }} as microdata
        on {{ dbt_anonymize._quote(record_key, "effort") }} = {{ dbt_anonymize._quote(record_key, "microdata") }}
    where not effort.is_suppressed
    group by effort.equivalence_class
) as released
{%- for quasi_identifier in quasi_identifiers if quasi_identifier.kind == "interval" %}
{%- set number = quasi_identifiers.index(quasi_identifier) + 1 %}
left join {{ quasi_identifier.hierarchy }} as first_{{ number }}
    on released.lower_{{ number }} = first_{{ number }}.lower_bound
left join {{ quasi_identifier.hierarchy }} as last_{{ number }}
    on released.upper_{{ number }} = last_{{ number }}.upper_bound
{%- endfor %}
{%- endmacro %}


{# Query of the pairs of released classes of which the `other` one holds a record of the `own` one too. #}
{% macro _overlapping_classes(effort, microdata, record_key, quasi_identifiers, exact) -%}
with

classes as (

    {{ dbt_anonymize._released_classes(effort, microdata, record_key, quasi_identifiers) | indent(4) }}

),

{{ dbt_anonymize._held_values(microdata, quasi_identifiers, [record_key], exact) }}

of_classes as (

    select distinct
        effort.equivalence_class as own,
        {{ dbt_anonymize._keys_of_values("keyed", quasi_identifiers) | join(",\n        ") }}
    from keyed
    inner join {{ effort }} as effort
        on {{ dbt_anonymize._quote(record_key, "keyed") }} = {{ dbt_anonymize._quote(record_key, "effort") }}
    where not effort.is_suppressed

)

select distinct
    tuples.own,
    classes.class_number as other
from of_classes as tuples
{{ dbt_anonymize._holding_classes(quasi_identifiers) }}
where tuples.own <> classes.class_number
{%- endmacro %}


{# Query of the leaves of a hierarchy in order: `leaf`, `upper_bound` (of an interval), `level_<l>` of each level. #}
{% macro _ordered_leaves(quasi_identifier) -%}
{%- set is_interval = quasi_identifier.kind == "interval" -%}
{%- set leaf = "lower_bound" if is_interval else "value" -%}
select
    coalesce({{ dbt_anonymize._as_text(leaf) }}, '') as leaf,
    {{ dbt_anonymize._as_text("upper_bound" if is_interval else "null") }} as upper_bound
    {%- for level in range(1, quasi_identifier.levels + 1) %},
    {{ dbt_anonymize._as_text("level_" ~ level) }} as level_{{ level }}
    {%- endfor %}
from {{ quasi_identifier.hierarchy }}
order by {{ leaf }}
{%- endmacro %}


{# The columns of a recoding with everything generalized to the root: what is shown of a recoding that is not built. #}
{% macro _at_root(microdata, quasi_identifiers, record_key) -%}
with

{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}

range_{{ loop.index }} as (

    select
        min(lower_bound) as range_lower,
        max(upper_bound) as range_upper
    from {{ quasi_identifier.hierarchy }}

),
{%- endif %}
{%- endfor %}

microdata as (

    select * from {{ microdata }}

)

select
    {{ dbt_anonymize._quote(record_key, "microdata") }}
    {%- for quasi_identifier in quasi_identifiers %},
    {%- set name = quasi_identifier.name %}
    {{ dbt_anonymize._as_text("'*'") }} as {{ dbt_anonymize._quote(name) }},
    {%- if quasi_identifier.kind == "interval" %}
    range_{{ loop.index }}.range_lower as {{ dbt_anonymize._quote(name ~ "_lower") }},
    range_{{ loop.index }}.range_upper as {{ dbt_anonymize._quote(name ~ "_upper") }},
    {%- endif %}
    cast({{ quasi_identifier.levels }} as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(name ~ "_level") }},
    cast(1 as {{ dbt_anonymize._type_double() }}) as {{ dbt_anonymize._quote(name ~ "_share") }}
    {%- endfor %}
from microdata
{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.kind == "interval" %}
cross join range_{{ loop.index }}
{%- endif %}
{%- endfor %}
{%- endmacro %}
