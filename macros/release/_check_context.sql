{#
  What the released rows alone cannot show, looked at again on the rows of the chosen effort, because tables between may
  be of an earlier build: guarantees that count in the population or along a hierarchy, and whether the labels of a
  recoded effort are those of the records.
    given   the mapping of `anonymized`
    chosen  number of the effort
#}
{% macro _check_context(given, chosen) -%}
    {%- set effort, quasi_identifiers = given.efforts[chosen], given.quasi_identifiers -%}
    {%- set guarantees = dbt_anonymize._guarantees_of_effort(given.guarantees, chosen) -%}
    {#- None where they differ per record. -#}
    {%- set levels = given.levels.get(chosen) -%}
    {%- set remedy = " The results are of other data; run `dbt build -s +" ~ model.name ~ "`." -%}
    {%- set errors = [] -%}
    {%- set checked = [] -%}
    {%- for guarantee in guarantees if not dbt_anonymize._privacy_model(guarantee).in_release -%}
        {%- do checked.append(guarantee) -%}
    {%- endfor -%}
    {%- set losses = dbt_anonymize._loss_of_classes(checked, quasi_identifiers) -%}
    {%- set rows -%}
        {%- if losses -%}
        {{ dbt_anonymize._rows_with_shares(given, chosen, checked) }}
        {%- else -%}
        {{ dbt_anonymize._rows_of_effort(
            effort, checked, given.microdata if given.has_subject else none, given.record_key
        ) }}
        {%- endif -%}
    {%- endset -%}
    {%- set population = dbt_anonymize._population_in_classes(given.population, quasi_identifiers, levels)
        if given.population and levels else "" -%}
    {%- set counts = run_query(dbt_anonymize._release_counts({
        "rows": rows,
        "grouped_by": ["key_of_text"],
        "guarantees": checked,
        "microdata": given.microdata,
        "has_subject": given.has_subject,
        "population": population,
        "population_size": given.population_size,
        "sensitive_hierarchies": given.sensitive_hierarchies,
        "share": given.sample_shares.get(chosen),
        "further": losses,
    })).rows[0] if checked else [] -%}
    {%- do errors.extend(dbt_anonymize._broken_guarantees(checked, counts, remedy)) -%}
    {%- if not levels -%}
        {%- set query = dbt_anonymize._foreign_labels(
            effort, quasi_identifiers, given.microdata, given.record_key, chosen in given.with_modes
        ) -%}
        {%- set foreign = run_query(query).rows[0][0] -%}
        {%- if foreign > 0 -%}
            {%- do errors.append(
                "every record must be under labels that cover its values; " ~ foreign ~ " records of the recoded"
                ~ " effort are not." ~ remedy
            ) -%}
        {%- endif -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, errors) -%}
{%- endmacro %}


{#
  Query of the rows of an effort that are released, as _rows_of_effort, with the share of the domain that each label
  covers, looked up in the hierarchies as they are now.
#}
{% macro _rows_with_shares(given, chosen, guarantees) -%}
{%- set quasi_identifiers, levels = given.quasi_identifiers, given.levels.get(chosen) -%}
{%- set columns = dbt_anonymize._guaranteed_attributes(guarantees) + (["subject"] if given.has_subject else []) -%}
{%- set key = dbt_anonymize._as_bytes(dbt_anonymize.equivalence_class(quasi_identifiers, "labelled_generalized")) -%}
{%- set recoding -%}
(
        select
            *
            {%- for quasi_identifier in quasi_identifiers if levels %},
            {{ levels[quasi_identifier.name] }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }}
            {%- endfor %}
        from {{ given.efforts[chosen] }}
        where not is_suppressed
    )
{%- endset %}
with
{{- dbt_anonymize._recoded_shares(
    {"microdata": given.microdata, "recoding": recoding, "has_modes": chosen in given.with_modes}, quasi_identifiers,
    columns, given.record_key, "labelled_"
) }}

labelled as (

    select
        {{ key }} as key_of_text,
        {%- for name in columns + quasi_identifiers | map(attribute="name") | list %}
        {%- set column = name if name in columns else name ~ "_share" %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        records
    from labelled_generalized

)

select * from labelled
{%- endmacro %}


{#
  Query of one number: the records of a recoded effort that have a label which does not cover their value.
    has_modes  whether categories may be the mode of their group, a leaf; the level of the record covers the group
#}
{% macro _foreign_labels(effort, quasi_identifiers, microdata, record_key, has_modes) -%}
    {%- set conditions = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set name = quasi_identifier.name -%}
        {%- set label = dbt_anonymize._quote(name, "effort") -%}
        {%- set raw = dbt_anonymize._quote(name, "microdata") -%}
        {%- if quasi_identifier.kind == "interval" -%}
            {%- set lower = dbt_anonymize._quote(name ~ "_lower", "effort") -%}
            {%- set upper = dbt_anonymize._quote(name ~ "_upper", "effort") -%}
            {%- set is_below = "(" ~ raw ~ " < " ~ upper ~ " or " ~ raw ~ " = " ~ lower ~ ")" -%}
            {%- set covers = raw ~ " >= " ~ lower ~ " and " ~ is_below -%}
        {%- else -%}
            {%- set level = dbt_anonymize._quote(name ~ "_level", "effort") -%}
            {%- set above = dbt_anonymize._label_at("tree", level, quasi_identifier.levels) -%}
            {%- set covers -%}
exists (
        select 1
        from {{ quasi_identifier.hierarchy }} as tree
        {%- if has_modes %}
        left join {{ quasi_identifier.hierarchy }} as mode
            on {{ dbt_anonymize._as_text("mode.value") }} = {{ label }}
        {%- endif %}
        where
            {{ dbt_anonymize._as_text("tree.value") }} = {{ dbt_anonymize._as_text(raw) }}
            and (
                {{ above }} = {{ label }}
                {%- if has_modes %}
                or {{ above }} = {{ dbt_anonymize._label_at("mode", level, quasi_identifier.levels) }}
                {%- endif %}
            )
    )
            {%- endset -%}
        {%- endif -%}
        {%- do conditions.append("(" ~ label ~ " <> '*' and not coalesce(" ~ covers ~ ", false))") -%}
    {%- endfor %}
select count(*)
from {{ effort }} as effort
inner join {{ microdata }} as microdata
    on {{ dbt_anonymize._quote(record_key, "effort") }} = {{ dbt_anonymize._quote(record_key, "microdata") }}
where
    not effort.is_suppressed
    and (
        {{ conditions | join("
        or ") }}
    )
{%- endmacro %}


{# The label of a row of a hierarchy at a level that differs per record. #}
{% macro _label_at(row, level, levels) -%}
    {%- set branches = ["when 0 then " ~ dbt_anonymize._as_text(row ~ ".value")] -%}
    {%- for number in range(1, levels + 1) -%}
        {%- do branches.append("when " ~ number ~ " then " ~ dbt_anonymize._as_text(row ~ ".level_" ~ number)) -%}
    {%- endfor -%}
    {{ return("case " ~ level ~ " " ~ branches | join(" ") ~ " end") }}
{%- endmacro %}


{# CTEs that end in `population_classes`: the population in the classes of an effort, by their text. #}
{% macro _population_in_classes(population, quasi_identifiers, levels) -%}
{%- set generalized = [] -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do generalized.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) -%}
{%- endfor -%}
{%- set key = dbt_anonymize._as_bytes(dbt_anonymize.equivalence_class(quasi_identifiers, "population_generalized")) %}

population as (

    select * from {{ population }}

),
{{- dbt_anonymize.generalize("population", generalized, ["records"], "population_") }}

population_classes as (

    select
        {{ key }} as key_of_text,
        cast(sum(records) as {{ dbt.type_bigint() }}) as population_size
    from population_generalized
    group by {{ key }}

),
{%- endmacro %}
