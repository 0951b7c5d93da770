{#
  Mondrian multidimensional partitioning (LeFevre, DeWitt and Ramakrishnan 2006) as statements over scratch tables.

    leaves_<i>, units    the hierarchies, see _recoding_leaves
    encoded              one row per record: its key, `code_<i>` (number of the leaf; 0: NULL), and what guarantees need
    rows                 what is not finished: `part`, `attempts` (cuts of the part that were refused), codes, `records`
    cuts                 the sides into which parts are cut now: codes of one attribute, `child` is the part they become
    done_rows            which codes (if relaxed, of which record) are in which finished part

  A round takes every unfinished part at once: it is cut along the attribute with the widest share of its domain among
  those that can be cut so that every side keeps the guarantees, or else it is finished. All attributes of a part are
  counted in every round, which is cheaper than more rounds; only a cut that other guarantees refuse costs a round.
  The order of rows never counts: ties are decided by the order of the quasi-identifiers and of the codes.

  How an attribute is cut
    NULLs in it    apart from the values; the label of both is * until then, so nothing is wider
    interval       in two between two leaves, where the smaller side is largest; relaxed: in halves, and the records
                   of the leaf in the middle are shared out in the order of the other attributes and the record key
    categorical    the label that covers the part into the labels below it. Those with fewer than k records stay
                   together under the label itself, with the next smaller ones until they are k: one rare value does
                   not stop a cut
#}

{# What the statements need to know, from the arguments of multidimensional_recoding. #}
{% macro _mondrian_plan(
    quasi_identifiers, record_key, guarantees, is_strict, k, has_subject, population_size, sensitive_hierarchies
) -%}
    {%- set required = dbt_anonymize._recoding_guarantees(guarantees, k) -%}
    {%- set attributes = dbt_anonymize._guaranteed_attributes(required) -%}
    {%- set codes, values = [], [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}{%- do codes.append("code_" ~ loop.index) -%}{%- endfor -%}
    {%- for attribute in attributes -%}{%- do values.append("value_" ~ loop.index) -%}{%- endfor -%}
    {%- if has_subject -%}{%- do values.append("subject") -%}{%- endif -%}
    {%- set key = [] if is_strict else ["record_key"] -%}
    {{ return({
        "quasi_identifiers": quasi_identifiers,
        "record_key": record_key,
        "guarantees": required,
        "attributes": attributes,
        "k": required | selectattr("model", "equalto", "k_anonymity") | map(attribute="k") | max,
        "is_strict": is_strict,
        "is_measured": has_subject or required | rejectattr("model", "equalto", "k_anonymity") | list | length > 0,
        "has_subject": has_subject,
        "population_size": population_size,
        "sensitive_hierarchies": sensitive_hierarchies,
        "codes": codes,
        "values": values,
        "identity": key or codes,
        "finished": codes + key,
        "carried": codes + values + key,
    }) }}
{%- endmacro %}


{# The guarantees that a recoding keeps, with the k that the effort demands. #}
{% macro _recoding_guarantees(guarantees, k, has_loss=false) -%}
    {%- set required = [] -%}
    {%- for guarantee in guarantees if has_loss or not dbt_anonymize._privacy_model(guarantee).needs_loss -%}
        {%- if dbt_anonymize._privacy_model(guarantee).needs_population -%}
            {{ exceptions.raise_compiler_error(
                model.name ~ ": " ~ guarantee.model ~ " cannot be kept by a recoding that differs per record, since"
                ~ " nobody outside the source has a record in it. Use an effort with levels, or another guarantee."
            ) }}
        {%- endif -%}
        {%- set is_k = guarantee.model == "k_anonymity" and k is not none and k > guarantee.k -%}
        {%- do required.append(dict(guarantee, k=k) if is_k else guarantee) -%}
    {%- endfor -%}
    {{ return(required) }}
{%- endmacro %}


{# The names of all scratch tables. #}
{% macro _mondrian_scratch(quasi_identifiers) -%}
    {%- set names = ["units", "encoded", "rows", "proposed", "cuts", "next_rows", "done_rows"] -%}
    {%- for number in range(1, quasi_identifiers + 1) -%}{%- do names.append("leaves_" ~ number) -%}{%- endfor -%}
    {{ return(names) }}
{%- endmacro %}


{# Statements before the first round: everybody is in part 1. #}
{% macro _mondrian_setup(microdata, plan) -%}
    {%- set names = dbt_anonymize._mondrian_scratch(plan.quasi_identifiers | length) -%}
    {%- set statements = dbt_anonymize._drop_scratch(names) -%}
    {%- for quasi_identifier in plan.quasi_identifiers -%}
        {%- set leaves = dbt_anonymize._coded_leaves(quasi_identifier) -%}
        {%- do statements.append(dbt_anonymize._create_scratch("leaves_" ~ loop.index, leaves)) -%}
    {%- endfor -%}
    {%- for name, sql in [
        ("units", dbt_anonymize._units_of_cuts(plan.quasi_identifiers)),
        ("encoded", dbt_anonymize._mondrian_encoded(microdata, plan)),
        ("rows", dbt_anonymize._mondrian_first_rows(plan)),
        ("done_rows", dbt_anonymize._mondrian_finished_rows(plan, "1 = 0")),
    ] -%}
        {%- do statements.append(dbt_anonymize._create_scratch(name, sql)) -%}
    {%- endfor -%}
    {{ return(statements) }}
{%- endmacro %}


{# Statements of one round; they are the same in every round. #}
{% macro _mondrian_round(plan) -%}
    {%- set rows, next_rows = dbt_anonymize._scratch("rows"), dbt_anonymize._scratch("next_rows") -%}
    {%- set cuts = dbt_anonymize._scratch("cuts") -%}
    {%- set is_finished = "part not in (select cuts.part from " ~ cuts ~ " as cuts)" -%}
    {%- set finished = dbt_anonymize._mondrian_finished_rows(plan, is_finished) -%}
    {%- set statements = [dbt_anonymize._create_scratch("cuts", dbt_anonymize._mondrian_cuts(plan))] -%}
    {%- if plan.is_measured -%}
        {%- set statements = [
            dbt_anonymize._create_scratch("proposed", dbt_anonymize._mondrian_cuts(plan)),
            dbt_anonymize._create_scratch("cuts", dbt_anonymize._mondrian_kept_cuts(plan)),
        ] + dbt_anonymize._drop_scratch(["proposed"]) -%}
    {%- endif -%}
    {{ return(statements + [
        "insert into " ~ dbt_anonymize._scratch("done_rows") ~ "\n" ~ finished,
        dbt_anonymize._create_scratch("next_rows", dbt_anonymize._mondrian_next_rows(plan)),
    ] + dbt_anonymize._drop_scratch(["rows", "cuts"]) + ["alter table " ~ next_rows ~ " rename to " ~ rows]) }}
{%- endmacro %}


{# Every record with the codes of its leaves. #}
{% macro _mondrian_encoded(microdata, plan) -%}
select
    {{ dbt_anonymize._quote(plan.record_key, "microdata") }} as record_key
    {%- for attribute in plan.attributes %},
    {{ dbt_anonymize._quote(attribute, "microdata") }} as value_{{ loop.index }}
    {%- endfor %}
    {%- if plan.has_subject %},
    microdata.subject
    {%- endif %}
    {%- for quasi_identifier in plan.quasi_identifiers %},
    cast(
        case
            when {{ dbt_anonymize._quote(quasi_identifier.name, "microdata") }} is null then 0
            when leaves_{{ loop.index }}.code is null
                then {{ dbt_anonymize._raise_uncovered(quasi_identifier, "leaves_" ~ loop.index ~ ".code") }}
            else leaves_{{ loop.index }}.code
        end as {{ dbt.type_int() }}
    ) as code_{{ loop.index }}
    {%- endfor %}
from {{ microdata }} as microdata
{%- for quasi_identifier in plan.quasi_identifiers %}
left join {{ dbt_anonymize._scratch("leaves_" ~ loop.index) }} as leaves_{{ loop.index }}
    on {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf", "microdata") }} = leaves_{{ loop.index }}.leaf
{%- endfor %}
{%- endmacro %}


{# Strict cuts keep equal records together, so they are counted once; relaxed ones may part them. #}
{% macro _mondrian_first_rows(plan) -%}
{%- set int = dbt.type_int() -%}
select
    cast(1 as {{ int }}) as part,
    cast(0 as {{ int }}) as attempts,
    {{ plan.carried | join(",\n    ") }},
    {{ "count(*)" if plan.is_strict else "cast(1 as " ~ dbt.type_bigint() ~ ")" }} as records
from {{ dbt_anonymize._scratch("encoded") }}
{%- if plan.is_strict %}
group by
    {{ plan.carried | join(",\n    ") }}
{%- endif %}
{%- endmacro %}


{% macro _mondrian_next_rows(plan) -%}
with

{{ dbt_anonymize._mondrian_parted(plan, dbt_anonymize._scratch("cuts")) }}

select
    part,
    attempts,
    {{ plan.carried | join(",\n    ") }},
    records
from parted
{%- endmacro %}


{% macro _mondrian_finished_rows(plan, condition) -%}
select{{ " distinct" if plan.is_strict and plan["values"] }}
    part,
    {{ plan.finished | join(",\n    ") }}
from {{ dbt_anonymize._scratch("rows") }}
where {{ condition }}
{%- endmacro %}
