{% macro quasi_identifier_risk(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["frequencies", "quasi_identifiers"]) -%}
{#- As many classes of all subsets together as fit in a gigabyte, and of one no more than it needs to be exact. -#}
{%- set subsets = dbt_anonymize._subsets(given.quasi_identifiers | length) -%}
{{ dbt_anonymize._quasi_identifier_risk(
    given.frequencies, given.quasi_identifiers, [1000000, 20000000 // (subsets | length)] | min
) }}
{%- endmacro %}


{# In a table of more than `counted_whole` rows, subsets that may have more classes are estimated. #}
{% macro _quasi_identifier_risk(frequencies, quasi_identifiers, counted_whole) -%}
{{ config(
    materialized="table",
    post_hook=["{{ dbt_anonymize._forget_subsets() }}"] + dbt_anonymize._after_steps() + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._expect_many_rows() -%}
{%- set plan = none -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._tell_left_out(quasi_identifiers | length) -%}
    {%- set plan = dbt_anonymize._plan_of_subsets(frequencies, quasi_identifiers, counted_whole) -%}
{%- endif -%}
{{ dbt_anonymize._risk_of_subsets(frequencies, quasi_identifiers, plan) }}
{%- endmacro %}


{#
  How the subsets are counted; none, where the table is small: whole, each by itself, in one query.
  A table of tuples, since DuckDB feeds all readers of a CTE at the same time, and no cache holds so many hash tables.
    tuples             scratch table of the combinations of values, as codes
    numbers_of_values  how many each quasi-identifier can have
    one_in             how many classes one stands for, where not all are counted
    counted_whole      possible classes up to which all are counted
#}
{% macro _plan_of_subsets(frequencies, quasi_identifiers, counted_whole) -%}
    {%- if not dbt_anonymize._are_subsets_planned(frequencies, counted_whole) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set coded -%}
with
{{ dbt_anonymize._coded_tuples(frequencies, quasi_identifiers) }}
select * from coded
    {%- endset -%}
    {%- do dbt_anonymize._run_statements(
        dbt_anonymize._drop_scratch(["tuples"]) + dbt_anonymize._keep_scratch("tuples", coded)
    ) -%}
    {%- set tuples, counts = dbt_anonymize._scratch("tuples"), ["count(*)"] -%}
    {%- for name in quasi_identifiers -%}
        {%- do counts.append("max(code_" ~ loop.index ~ ") + 1") -%}
    {%- endfor -%}
    {%- set row = run_query("select " ~ counts | join(", ") ~ " from " ~ tuples).rows[0] -%}
    {%- set sizes = row.values() | map("int") | list -%}
    {{ return({
        "tuples": tuples,
        "numbers_of_values": sizes[1:],
        "one_in": (sizes[0] + counted_whole - 1) // counted_whole,
        "counted_whole": counted_whole,
    }) }}
{%- endmacro %}


{# A small table is grouped for each subset in less time than a plan takes. #}
{% macro _are_subsets_planned(frequencies, counted_whole) -%}
    {{ return(adapter.dispatch("_are_subsets_planned", "dbt_anonymize")(frequencies, counted_whole)) }}
{%- endmacro %}

{% macro default___are_subsets_planned(frequencies, counted_whole) -%}
    {{ return(run_query("select count(*) from " ~ frequencies).rows[0][0] > counted_whole) }}
{%- endmacro %}


{% macro _forget_subsets() -%}
    {%- if dbt_anonymize._is_building() -%}
        {%- do dbt_anonymize._run_statements(dbt_anonymize._drop_scratch(["tuples"])) -%}
    {%- endif -%}
{%- endmacro %}


{# Query of the risk of every subset, by a plan of _plan_of_subsets. #}
{% macro _risk_of_subsets(frequencies, quasi_identifiers, plan=none) -%}
{%- set double, bigint = dbt_anonymize._type_double(), dbt.type_bigint() %}
{%- set subsets = dbt_anonymize._subsets(quasi_identifiers | length) %}
{%- set tuples = plan.tuples if plan else "coded" -%}
{%- set bases = dbt_anonymize._bases_of_subsets(subsets, plan) if plan else none -%}
{%- set ones_in = [] -%}
{%- for subset in subsets -%}
    {%- do ones_in.append(plan.one_in if plan and bases.of_subset[loop.index0] is none else 1) -%}
{%- endfor -%}
{% call dbt_anonymize._in_steps(dbt_anonymize._kept_bases(bases.columns if plan else [])) -%}
with
{%- if not plan %}
{{ dbt_anonymize._coded_tuples(frequencies, quasi_identifiers) }},
{%- endif %}

{{- dbt_anonymize._listed_subsets(subsets, quasi_identifiers, ones_in, bases) }}

totals as (

    select cast(sum(records) as {{ double }}) as records
    from {{ tuples }}

),

{{- dbt_anonymize._classes_of_subsets(subsets, tuples, ones_in, bases) }}

measured as (

    select
        subset_number,
        cast(count(*) as {{ double }}) as classes,
        sum(cast(class_size as {{ double }}) * (class_size - 1)) as equal_pairs,
        sum(case when class_size = 1 then cast(1 as {{ double }}) else 0 end) as alone
    from classes
    group by subset_number

)

select
    subsets.quasi_identifiers,
    subsets.size,
    measured.classes * subsets.one_in / totals.records as distinction,
    1 - measured.equal_pairs * subsets.one_in
    / nullif(totals.records * (totals.records - 1), 0) as separation,
    measured.alone * subsets.one_in / totals.records as uniqueness,
    subsets.one_in
from subsets
cross join totals
left join measured on subsets.subset_number = measured.subset_number
order by subsets.subset_number
{%- endcall %}
{%- endmacro %}


{# The CTEs of bases that the engine should know the rows of. #}
{% macro _kept_bases(bases) -%}{{ return(adapter.dispatch("_kept_bases", "dbt_anonymize")(bases)) }}{%- endmacro %}

{% macro default___kept_bases(bases) -%}{{ return([]) }}{%- endmacro %}


{# CTE `subsets`: number, names, size, and how many classes one stands for. #}
{% macro _listed_subsets(subsets, quasi_identifiers, ones_in, bases) -%}
    {{ return(adapter.dispatch("_listed_subsets", "dbt_anonymize")(subsets, quasi_identifiers, ones_in, bases)) }}
{%- endmacro %}

{% macro default___listed_subsets(subsets, quasi_identifiers, ones_in, bases) %}

subsets as (
    {%- for subset in subsets %}
    {%- set names = [] %}
    {%- for position in subset %}{% do names.append(quasi_identifiers[position]) %}{% endfor %}

    select
        {{ loop.index }} as subset_number,
        {{ dbt_anonymize._literal(names | join(", ")) }} as quasi_identifiers,
        {{ subset | length }} as size,
        cast({{ ones_in[loop.index0] }} as {{ dbt.type_bigint() }}) as one_in
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{# CTEs that end in `coded`. Every subset groups it: numbers take half the time and memory of texts. 0 is NULL. #}
{% macro _coded_tuples(frequencies, quasi_identifiers) %}
{%- for name in quasi_identifiers %}
codes_{{ loop.index }} as (

    select
        {{ dbt_anonymize._quote(name) }} as found,
        cast(row_number() over (order by {{ dbt_anonymize._quote(name) }}) as integer) as code
    from (
        select distinct {{ dbt_anonymize._quote(name) }}
        from {{ frequencies }}
        where {{ dbt_anonymize._quote(name) }} is not null
    ) as found

),
{% endfor %}
coded as (

    select
        {%- for name in quasi_identifiers %}
        coalesce(codes_{{ loop.index }}.code, 0) as code_{{ loop.index }},
        {%- endfor %}
        cast(sum(tuples.records) as {{ dbt.type_bigint() }}) as records
    from {{ frequencies }} as tuples
    {%- for name in quasi_identifiers %}
    left join codes_{{ loop.index }} on {{ dbt_anonymize._quote(name, "tuples") }} = codes_{{ loop.index }}.found
    {%- endfor %}
    group by
        {%- for name in quasi_identifiers %}
        coalesce(codes_{{ loop.index }}.code, 0){{ "," if not loop.last }}
        {%- endfor %}

)
{%- endmacro %}


{#
  CTE `classes` of every subset. What is counted whole is grouped from its base, which has few rows; of the others those
  classes count of which the hash of their values has the remainder 0.
#}
{% macro _classes_of_subsets(subsets, tuples, ones_in, bases) -%}
    {{ return(adapter.dispatch("_classes_of_subsets", "dbt_anonymize")(subsets, tuples, ones_in, bases)) }}
{%- endmacro %}

{% macro default___classes_of_subsets(subsets, tuples, ones_in, bases=none) %}
{%- for base in bases.columns if bases %}

base_{{ loop.index }} as (

    select
        {%- for position in base %}
        code_{{ position + 1 }},
        {%- endfor %}
        cast(sum(records) as {{ dbt.type_bigint() }}) as records
    from {{ tuples }}
    group by {% for position in base %}code_{{ position + 1 }}{{ ", " if not loop.last }}{% endfor %}

),
{%- endfor %}

classes as (
    {%- for subset in subsets %}
    {%- set base = bases.of_subset[loop.index0] if bases else none %}
    {%- set codes, hashed = [], [] %}
    {%- for position in subset %}
    {%- do codes.append("code_" ~ (position + 1)) %}
    {%- do hashed.append(codes[-1] ~ " * " ~ dbt_anonymize._hash_factor(position)) %}
    {%- endfor %}

    select
        {{ loop.index }} as subset_number,
        sum(records) as class_size
    from {{ tuples if base is none else "base_" ~ (base + 1) }}
    {%- if bases and base is none %}
    where mod(mod({{ hashed | join(" + ") }}, 2147483647), {{ ones_in[loop.index0] }}) = 0
    {%- endif %}
    group by {{ codes | join(", ") }}
    {{- "\n\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- endmacro %}


{#
  The bases of the subsets that cannot have more than `counted_whole` classes: columns that cannot either and hold it.
    columns    positions of each base
    of_subset  for each subset, the number of the base with the fewest possible classes; none where it may have too many
#}
{% macro _bases_of_subsets(subsets, plan) -%}
    {%- set numbers_of_values, most = plan.numbers_of_values, plan.counted_whole -%}
    {%- set bases, possible, of_subset = [], [], [] -%}
    {%- for subset in subsets | reverse -%}
        {%- set classes = dbt_anonymize._possible_classes(subset, numbers_of_values) -%}
        {%- if classes <= most and dbt_anonymize._base_of_subset(subset, bases, possible) is none -%}
            {#- As many further columns as it can hold, so that it serves other subsets too. -#}
            {%- set base = subset | list -%}
            {%- for position in range(numbers_of_values | length) if position not in subset -%}
                {%- if dbt_anonymize._possible_classes(base + [position], numbers_of_values) <= most -%}
                    {%- do base.append(position) -%}
                {%- endif -%}
            {%- endfor -%}
            {%- do bases.append(base | sort) -%}
            {%- do possible.append(dbt_anonymize._possible_classes(base, numbers_of_values)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for subset in subsets -%}
        {%- do of_subset.append(dbt_anonymize._base_of_subset(subset, bases, possible)) -%}
    {%- endfor -%}
    {{ return({"columns": bases, "of_subset": of_subset}) }}
{%- endmacro %}


{# How many classes columns can have. #}
{% macro _possible_classes(positions, numbers_of_values) -%}
    {%- set product = [1] -%}
    {%- for position in positions -%}
        {%- do product.append(product.pop() * numbers_of_values[position]) -%}
    {%- endfor -%}
    {{ return(product[0]) }}
{%- endmacro %}


{# Number of the base of a subset, none where no base holds it. #}
{% macro _base_of_subset(subset, bases, possible) -%}
    {%- set smallest = [none] -%}
    {%- for base in bases if subset | reject("in", base) | list | length == 0 -%}
        {%- set number = bases.index(base) -%}
        {%- if smallest[0] is none or possible[number] < possible[smallest[0]] -%}
            {%- do smallest.pop() -%}
            {%- do smallest.append(number) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(smallest[0]) }}
{%- endmacro %}


{# The positions of the subsets that are measured: the small ones, and all columns together at last. #}
{% macro _subsets(number) -%}
    {%- set subsets = [] -%}
    {%- set smaller = [[]] -%}
    {%- for size in range(1, dbt_anonymize._largest_subset(number) + 1) -%}
        {%- set extended = [] -%}
        {%- for subset in smaller -%}
            {%- for position in range(subset[-1] + 1 if subset else 0, number) -%}
                {%- do extended.append(subset + [position]) -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- do subsets.extend(extended) -%}
        {%- do smaller.clear() -%}
        {%- do smaller.extend(extended) -%}
    {%- endfor -%}
    {%- if subsets[-1] | length < number -%}{%- do subsets.append(range(number) | list) -%}{%- endif -%}
    {{ return(subsets) }}
{%- endmacro %}


{# Columns of the largest subsets before all together: as many as make at most a hundred subsets; up to three, 500. #}
{% macro _largest_subset(number) -%}
    {%- set totals = namespace(size=1, subsets=number, of_size=number) -%}
    {%- for size in range(2, number + 1) -%}
        {%- set totals.of_size = totals.of_size * (number - size + 1) // size -%}
        {%- set totals.subsets = totals.subsets + totals.of_size -%}
        {%- if totals.subsets <= (500 if size <= 3 else 100) and totals.size == size - 1 -%}
            {%- set totals.size = size -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(totals.size) }}
{%- endmacro %}


{% macro _tell_left_out(number) -%}
    {%- set largest = dbt_anonymize._largest_subset(number) -%}
    {%- if largest < number - 1 -%}
        {%- do log(
            model.name ~ ": measures all subsets of at most " ~ largest ~ " of " ~ number ~ " quasi-identifiers,"
            ~ " and all"
            ~ " together; those of " ~ (largest + 1) ~ " to " ~ (number - 1) ~ " are left out", info=True
        ) -%}
    {%- endif -%}
{%- endmacro %}
