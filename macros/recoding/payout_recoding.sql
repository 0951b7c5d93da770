{#
  Local recoding as a game (Wan et al. 2015): records are generalized further only where the payout rises. All begin at
  the levels of the first round. In each further round every class that could be formed at its levels takes those of its
  records that are worth the least now, as many as bring the most together; a record that breaks a guarantee is worth
  nothing. All of them may move, or none, so the release brings at least what any of its rounds brings alone.
  Each round is coarser than the one before, so that a class moves as a whole. Where labels of one round occur in
  another, as `*` of a NULL, the class is larger than counted, and `<n>_classes` judges it.
#}
{% macro payout_recoding(
    microdata, quasi_identifiers, record_key, rounds, guarantees, sensitive=[], k=none, has_subject=false,
    population=none, population_size=none, sensitive_hierarchies={}
) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(quasi_identifiers),
    post_hook=["{{ dbt_anonymize._check_recoding() }}"] + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._check_rounds(rounds) -%}
{%- set required = dbt_anonymize._recoding_guarantees(guarantees, k, has_loss=true) -%}
{%- do dbt_anonymize._check_game(required, has_subject) -%}
{%- set game = required | selectattr("model", "equalto", "profitable") | list | last -%}
{%- set columns, names = [], quasi_identifiers | map(attribute="name") | list -%}
{%- for quasi_identifier in quasi_identifiers -%}
    {%- do columns.extend(dbt_anonymize._recoded_columns(quasi_identifier)) -%}
{%- endfor -%}
with

people as (

    select * from {{ microdata }}

),
{%- for levels in rounds %}
{%- set prefix = "round_" ~ loop.index ~ "_" %}
{%- set leveled = [] %}
{%- for quasi_identifier in quasi_identifiers %}
{%- do leveled.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) %}
{%- endfor %}
{{- dbt_anonymize.generalize("people", leveled, [record_key], prefix, has_shares=true) }}

{{ prefix }}labels as (

    select
        *
        {%- for quasi_identifier in leveled %},
        cast({{ quasi_identifier.level }} as {{ dbt.type_int() }}) as {{
            dbt_anonymize._quote(quasi_identifier.name ~ "_level")
        }}
        {%- endfor %}
    from {{ prefix }}generalized

),
{%- if loop.first %}

chosen_1 as (

    select * from {{ prefix }}labels

),
{%- else %}
{{- dbt_anonymize._payout_round(
    "chosen_" ~ (loop.index - 1), "chosen_" ~ loop.index, prefix, record_key, columns, required, game, quasi_identifiers
) }}
{%- endif %}
{%- endfor %}

recoding as (

    select
        {{ dbt_anonymize._quote(record_key) }}
        {%- for column in columns %},
        {{ dbt_anonymize._quote(column) }}
        {%- endfor %}
    from chosen_{{ rounds | length }}

)

select * from recoding
{%- endmacro %}


{# CTEs of one round, from the labels that were `chosen` before to those of `next`. #}
{% macro _payout_round(chosen, next, prefix, record_key, columns, required, game, quasi_identifiers) -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
{%- set key = dbt_anonymize._quote(record_key, "chosen") -%}
{%- set same_person = key ~ " = " ~ dbt_anonymize._quote(record_key, "labels") -%}
{%- set worth = dbt_anonymize._worth_of_class(required, game) -%}
{%- set listed = [] -%}
{%- for name in names -%}{%- do listed.append(dbt_anonymize._quote(name)) -%}{%- endfor %}

{{ prefix }}classes as (

    select
        {{ listed | join(",\n        ") }},
        count(*) as class_size,
        {{ dbt_anonymize._class_loss(quasi_identifiers) }} as class_loss
    from {{ chosen }}
    group by
        {{ listed | join(",\n        ") }}

),

{{ prefix }}worth as (

    select
        {{ listed | join(",\n        ") }},
        {{ worth }} as worth
    from {{ prefix }}classes

),

{#- Who could be in which class of this round, and what each is worth now. #}

{{ prefix }}members as (

    select
        {{ key }},
        {%- for name in names %}
        {{ dbt_anonymize._quote(name, "labels") }},
        {%- endfor %}
        classes.worth
    from {{ chosen }} as chosen
    inner join {{ prefix }}worth as classes
        on
            {{ dbt_anonymize._equal_quoted("chosen", "classes", names) | join("\n            and ") }}
    inner join {{ prefix }}labels as labels
        on {{ same_person }}

),
{{- dbt_anonymize._rising_payouts(prefix, names, quasi_identifiers, worth, game) }}

{{ next }} as (

    select
        {{ key }}
        {%- for column in columns %},
        case
            when members.worth <= rising.up_to then {{ dbt_anonymize._quote(column, "labels") }}
            else {{ dbt_anonymize._quote(column, "chosen") }}
        end as {{ dbt_anonymize._quote(column) }}
        {%- endfor %}
    from {{ chosen }} as chosen
    inner join {{ prefix }}labels as labels
        on {{ same_person }}
    inner join {{ prefix }}members as members
        on {{ key }} = {{ dbt_anonymize._quote(record_key, "members") }}
    left join {{ prefix }}rising as rising
        on
            {{ dbt_anonymize._equal_quoted("labels", "rising", names) | join("\n            and ") }}

),
{%- endmacro %}


{#
  CTEs that end in `<prefix>rising`: for each class that some of its members should form, the largest worth of them.
  Others are worth more as they are. Of equal gains that of fewer records counts, up to rounding.
#}
{% macro _rising_payouts(prefix, names, quasi_identifiers, worth, game) -%}
{%- set least = dbt_anonymize._number(game.publisher_benefit) ~ " * 1e-12 * class_size" -%}
{%- set listed = [] -%}
{%- for name in names -%}{%- do listed.append(dbt_anonymize._quote(name)) -%}{%- endfor %}
{%- set class = listed | join(",\n        ") -%}
{%- set class_of = "partition by " ~ listed | join(", ") %}

{{ prefix }}losses as (

    select
        {{ class }},
        {{ dbt_anonymize._class_loss(quasi_identifiers) }} as class_loss
    from {{ prefix }}labels
    group by
        {{ class }}

),

{{ prefix }}counted as (

    select
        {{ class }},
        worth,
        count(*) as records
    from {{ prefix }}members
    group by
        {{ class }},
        worth

),

{#- All that are worth so much or less. #}

{{ prefix }}poorest as (

    select
        {{ class }},
        worth as up_to,
        sum(records) over ({{ class_of }} order by worth) as class_size,
        sum(records * worth) over ({{ class_of }} order by worth) as payout
    from {{ prefix }}counted

),

{{ prefix }}formed as (

    select
        {%- for name in names %}
        {{ dbt_anonymize._quote(name, "poorest") }},
        {%- endfor %}
        poorest.up_to,
        poorest.class_size,
        poorest.payout,
        losses.class_loss
    from {{ prefix }}poorest as poorest
    inner join {{ prefix }}losses as losses
        on
            {{ dbt_anonymize._equal_quoted("poorest", "losses", names) | join("\n            and ") }}

),

{{ prefix }}gains as (

    select
        {{ class }},
        up_to,
        {{ least }} as rounding,
        class_size * {{ worth }} - payout as gain
    from {{ prefix }}formed

),

{{ prefix }}ranked as (

    select
        {{ class }},
        up_to,
        rounding,
        gain,
        max(gain) over ({{ class_of }}) as most
    from {{ prefix }}gains

),

{{ prefix }}rising as (

    select
        {{ class }},
        min(up_to) as up_to
    from {{ prefix }}ranked
    where gain > rounding and gain >= most - rounding
    group by
        {{ class }}

),
{%- endmacro %}


{# What a record of a class brings, over `class_size` and `class_loss`: nothing, where the class is not released. #}
{% macro _worth_of_class(required, game) -%}
    {{ return(
        "case when coalesce(" ~ dbt_anonymize._violated_conditions(required) | join(" or ") ~ ", true) then 0 else "
        ~ dbt_anonymize._publisher_payout(game) ~ " end"
    ) }}
{%- endmacro %}


{# Classes that might be formed are counted by their records: nothing else may decide what they are worth. #}
{% macro _check_game(required, has_subject) -%}
    {%- set errors = [] -%}
    {%- if has_subject -%}
        {%- do errors.append("payouts per record count records; a subject is declared. Use rounds without payouts.") -%}
    {%- endif -%}
    {%- if not required | selectattr("model", "equalto", "profitable") | list -%}
        {%- do errors.append("payouts per record need the guarantee profitable; got none. Declare it.") -%}
    {%- endif -%}
    {%- for guarantee in required -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- if privacy_model.measures or privacy_model.is_estimated -%}
            {%- do errors.append(
                guarantee.model ~ " cannot be kept by payouts per record, which know the size of a class and what its"
                ~ " labels lose. Use rounds without payouts, or another guarantee."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do dbt_anonymize._raise_errors(model.name, errors) -%}
{%- endmacro %}
