{% macro microdata(given=none, more={}) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "source", "record_key", "identifiers", "quasi_identifiers", "kept_columns", "target", "guarantees",
], {
    "subject": none, "masks": {}, "dropped": [], "sample": none, "sample_shares": [], "person": none, "mechanism": none,
    "mask_keys": none, "free_text": [], "unique": [], "repeats": [], "outer": none, "is_frozen": false,
    "formats": [], "shown": [], "spec": none, "consent": none,
}) -%}
{%- set more = dbt_anonymize._more(more) -%}
{#- What the check after the build needs to know. Names only: configuration is read before relations are known. -#}
{%- set checked = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do checked.append({
        "name": quasi_identifier.name, "kind": quasi_identifier.kind, "unknown": quasi_identifier.get("unknown"),
    }) -%}
{%- endfor -%}
{%- set telling = {} -%}
{%- for column in given.kept_columns | reject("in", given.unique) -%}
    {%- set is_beside = column in given.masks and column not in given.identifiers -%}
    {%- do telling.update({column ~ ("_masked" if is_beside else ""): column}) -%}
{%- endfor -%}
{{ config(
    materialized=more.materialized,
    meta={"dbt_anonymize": dbt_anonymize._filled_in(more.meta, {
        "anonymization": given.anonymization,
        "spec": given.spec,
        "record_key": given.record_key,
        "quasi_identifiers": checked,
        "target": given.target,
        "guarantees": given.guarantees,
        "subject": given.subject,
        "has_sample": given.sample is not none,
        "telling": telling,
        "plain": given.kept_columns | reject("in", given.masks.keys() | list + given.free_text) | list,
        "definition": local_md5(dbt_anonymize._microdata_rows(given, {}, more)) if more.meta else none,
    })},
    post_hook=dbt_anonymize._after_steps() + more.checks
    + ["{{ dbt_anonymize._check_microdata() }}"] + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._check_stored(
    given.anonymization, [given.source] + given.quasi_identifiers | map(attribute="hierarchy") | list
) -%}
{%- set source_columns = {} -%}
{%- for column in (adapter.get_columns_in_relation(given.source) if execute else []) -%}
    {%- do source_columns.update({column.name: column}) -%}
{%- endfor -%}
{%- if dbt_anonymize._is_building() -%}
    {%- if given.identifiers -%}
        {%- do dbt_anonymize._warn_of_open_source(given.anonymization, given.source) -%}
    {%- endif -%}
    {%- do dbt_anonymize._check_declaration(given, source_columns) -%}
    {%- if given.identifiers and not given.subject -%}
        {%- set rows = dbt_anonymize._taking_part(
            given.source, given.anonymization, given.record_key, consent=given.consent
        ) -%}
        {%- set people = "(" ~ rows ~ ") as people" -%}
        {%- set names = [] -%}
        {%- for name in given.identifiers if name not in given.repeats -%}
            {#- Values of other types cannot be compared on every engine. -#}
            {%- set problems = dbt_anonymize._column_type_errors(source_columns.get(name), "compared") -%}
            {%- if not problems -%}{%- do names.append(name) -%}{%- endif -%}
        {%- endfor -%}
        {%- do dbt_anonymize._warn_of_repeats(given.anonymization, people, names) -%}
    {%- endif -%}
{%- endif -%}
{%- if given.formats and dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, dbt_anonymize._format_errors(
        given.formats, source_columns.values() | selectattr("name", "in", given.shown) | list, given.quasi_identifiers
    )) -%}
{%- endif -%}
{#- Kept, they are known to be small, and are brought to the records; else all records are sorted to join them. #}
{%- set steps = [] -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- if quasi_identifier.kind == "interval" -%}{%- do steps.append("leaves_" ~ loop.index) -%}{%- endif -%}
{%- endfor -%}
{% call dbt_anonymize._in_steps(steps) -%}
{{ dbt_anonymize._microdata_rows(given, source_columns, more) }}
{%- endcall %}
{%- endmacro %}


{# The rows. `source_columns`: columns of the source by name. #}
{% macro _microdata_rows(given, source_columns, more) -%}
{#- What stands behind the columns of the source. -#}
{%- set added = ["subjects.subject"] if given.subject else [] -%}
{%- if given.sample -%}
    {%- do added.append(dbt_anonymize._sample_share("drawn.draw", given.sample_shares) ~ " as sample_share") -%}
{%- endif -%}
{%- if given.outer -%}
    {%- set drawn = dbt_anonymize._quote(given.subject or given.record_key, "source") -%}
    {%- do added.append(dbt_anonymize.is_outer(drawn, given.outer.share, given.outer.random_state) ~ " as is_outer") -%}
{%- endif -%}
{%- do added.extend(more.columns) -%}
with

source as (

    {% if more.is_of_people -%}
    {{ dbt_anonymize._taking_part(
        given.source, given.anonymization, given.record_key, more.condition, given.consent
    ) }}
    {%- else -%}
    select * from {{ given.source }}
    where {{ more.condition }}
    {%- endif %}

),
{%- if more.ctes %}

{{ more.ctes }}
{%- endif %}
{{- dbt_anonymize._mask_keys_as_ctes(given.mask_keys, given.masks) }}
{%- if given.subject %}

{#- Whose record it is, without saying who: a number. #}

subjects as (

    select
        found,
        row_number() over (order by found) as subject
    from (
        select distinct {{ dbt_anonymize._quote(given.subject) }} as found
        from source
        where {{ dbt_anonymize._quote(given.subject) }} is not null
    ) as people

),
{%- endif %}
{%- for quasi_identifier in given.quasi_identifiers %}

{{ dbt_anonymize._leaves("source", quasi_identifier, loop.index) }}{{ "," if not loop.last }}
{%- endfor %}

select
    {{ dbt_anonymize._quote(given.record_key, "source") }},
    {%- for quasi_identifier in given.quasi_identifiers %}
    {%- set value = dbt_anonymize._normalized(source_columns.get(quasi_identifier.name), quasi_identifier.name) %}
    {{ dbt_anonymize._known_value(value, quasi_identifier, loop.index) }},
    {#- The leaf stays with the record: every effort joins its level by equality. #}
    leaves_{{ loop.index }}.leaf as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }},
    {%- endfor %}
    {%- for column in given.kept_columns %}
    {%- set has_more = not loop.last or added %}
    {#- Of an identifier only the mask is here; of other columns both, since effort 0 has the value. #}
    {%- if column not in given.identifiers %}
    {{ dbt_anonymize._normalized(source_columns.get(column), column) }}{{ "," if column in given.masks or has_more }}
    {%- endif %}
    {%- if column in given.masks %}
    {{ dbt_anonymize._mask(
        source_columns.get(column), dbt_anonymize._quote(column, "source"), given.masks[column],
        dbt_anonymize._mask_key(given.masks, "shift" if "shift_days" in given.masks[column] else "hash " ~ column),
        dbt_anonymize._quote(given.person or given.record_key, "source")
    ) }}
        as {{ dbt_anonymize._quote(column ~ ("" if column in given.identifiers else "_masked")) }}
        {{- "," if has_more }}
    {%- endif %}
    {%- endfor %}
    {%- if added %}
    {{ added | join(",\n    ") }}
    {%- endif %}
from source
{%- if more.joins %}
{{ more.joins }}
{%- endif %}
{%- if given.sample %}
{{ dbt_anonymize._join_draws(given.sample, dbt_anonymize._quote(given.person, "source"), given.mechanism) }}
{%- endif %}
{%- if given.subject %}
left join subjects on {{ dbt_anonymize._quote(given.subject, "source") }} = subjects.found
{%- endif %}
{%- for quasi_identifier in given.quasi_identifiers %}
{{ dbt_anonymize._join_leaves("source", quasi_identifier, loop.index) }}
{%- endfor %}
{%- endmacro %}


{# The smallest declared share whose sample holds the record, 1 outside all samples; NULL of whom nobody has drawn. #}
{% macro _sample_share(draw, shares) -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {%- set branches = ["when " ~ draw ~ " is null then null"] -%}
    {%- for share in shares -%}
        {%- set number = "cast(" ~ dbt_anonymize._number(share) ~ " as " ~ double ~ ")" -%}
        {%- do branches.append("when " ~ draw ~ " < " ~ number ~ " then " ~ number) -%}
    {%- endfor -%}
    {{ return("case " ~ branches | join(" ") ~ " else cast(1 as " ~ double ~ ") end") }}
{%- endmacro %}


{# A column of the source with one zero and one NaN: what compares as equal must not look different in the release. #}
{% macro _normalized(column, name) -%}
    {%- set quoted = dbt_anonymize._quote(name, "source") -%}
    {%- if not column or not column.is_float() -%}{{ return(quoted) }}{%- endif -%}
    {%- set nan = "cast('NaN' as " ~ column.dtype ~ ")" -%}
    {{ return(
        "case when " ~ quoted ~ " = " ~ nan ~ " then " ~ nan ~ " else cast(" ~ quoted ~ " + 0 as " ~ column.dtype
        ~ ") end as " ~ dbt_anonymize._quote(name)
    ) }}
{%- endmacro %}


{# A value, or NULL for one that its hierarchy does not hold, where that is declared: nothing downstream sees it. #}
{% macro _known_value(value, quasi_identifier, number) -%}
    {%- if not quasi_identifier.get("unknown") -%}{{ return(value) }}{%- endif -%}
    {%- set alias = " as " ~ dbt_anonymize._quote(quasi_identifier.name) -%}
    {{ return("case when leaves_" ~ number ~ ".leaf is not null then " ~ value.split(alias) | first ~ " end" ~ alias) }}
{%- endmacro %}


{# How many records have no value, or one that nobody foresaw. #}
{% macro _tell_unknown(anonymization, quasi_identifier, records) -%}
    {%- set name = quasi_identifier.name -%}
    {%- set missing = run_query(
        "select count(*) from " ~ this ~ " where " ~ dbt_anonymize._quote(name) ~ " is null"
    ).rows[0][0] -%}
    {%- if missing > 0 -%}
        {%- do log(
            anonymization ~ ": " ~ missing ~ " of " ~ records ~ " records have no " ~ name
            ~ ", or one that its hierarchy does not hold; they are `*`", info=True
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# Before the build: every source column has a role, and every hierarchy is well formed. All errors at once. #}
{% macro _check_declaration(given, source_columns) -%}
    {%- do dbt_anonymize._analyze_hierarchies(given.quasi_identifiers) -%}
    {%- set errors = dbt_anonymize._setting_errors() -%}
    {%- set need_seeds = dbt_anonymize._is_any(given.guarantees, "needs_seeds") -%}
    {%- for quasi_identifier in given.quasi_identifiers -%}
        {%- do errors.extend(dbt_anonymize._hierarchy_errors(quasi_identifier, given.is_frozen)) -%}
        {%- if need_seeds and not dbt_anonymize._seed_of(quasi_identifier.hierarchy) -%}
            {%- do errors.append(
                "the hierarchy of " ~ quasi_identifier.name ~ " must be a seed under differential privacy; "
                ~ quasi_identifier.hierarchy ~ " is computed, and may depend on the data. Commit it as a seed that was"
                ~ " written without looking at them."
            ) -%}
        {%- endif -%}
        {%- set column = source_columns.get(quasi_identifier.name) -%}
        {%- do errors.extend(dbt_anonymize._column_type_errors(column, quasi_identifier.kind)) -%}
        {%- do errors.extend(dbt_anonymize._zone_errors(column)) -%}
        {%- do errors.extend(dbt_anonymize._bound_type_errors(quasi_identifier, column)) -%}
    {%- endfor -%}
    {%- for name in given.kept_columns -%}
        {%- do errors.extend(dbt_anonymize._column_type_errors(source_columns.get(name), "released as it is")) -%}
    {%- endfor -%}
    {%- for name, mask in given.masks.items() -%}
        {%- do errors.extend(dbt_anonymize._mask_errors(source_columns.get(name), mask)) -%}
    {%- endfor -%}
    {%- set compared = given.kept_columns + [given.record_key, given.subject] -%}
    {%- set not_compared = (given.identifiers + given.dropped) | reject("in", compared) | list -%}
    {%- do errors.extend(dbt_anonymize._collation_errors(
        given.source, source_columns.values() | rejectattr("name", "in", not_compared) | list
    )) -%}
    {%- do errors.extend(dbt_anonymize._role_errors(given, source_columns)) -%}
    {%- do errors.extend(dbt_anonymize._consent_errors(given, source_columns.get(given.consent.column)
        if given.consent else none)) -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, errors) -%}
{%- endmacro %}


{# Why the columns of the source are not those that have a role, as messages. #}
{% macro _role_errors(given, source_columns) -%}
    {%- set errors = [] -%}
    {%- set spec = "anonymizations/" ~ given.anonymization ~ ".yml" -%}
    {%- if source_columns | length == 0 -%}
        {{ return(["the source " ~ given.source ~ " does not exist or has no columns. Build or load it first."]) }}
    {%- endif -%}
    {%- set declared = [given.record_key] + given.identifiers + ([given.subject] if given.subject else [])
        + given.dropped + given.kept_columns + given.quasi_identifiers | map(attribute="name") | list -%}
    {%- set undeclared = source_columns.keys() | reject("in", declared) | list -%}
    {%- set missing = declared | reject("in", source_columns.keys()) | list -%}
    {%- if undeclared -%}
        {%- do errors.append(
            "every column of the source needs a declared role; without one: " ~ undeclared | join(", ")
            ~ ". Give each a role in " ~ spec ~ " and run `dbt-anonymize generate " ~ given.anonymization ~ "`."
        ) -%}
    {%- endif -%}
    {%- if missing -%}
        {%- do errors.append(
            "declared columns are not in the source " ~ given.source ~ ": " ~ missing | join(", ")
            ~ ". Correct " ~ spec ~ "."
        ) -%}
    {%- endif -%}
    {%- if run_query("select 1 from " ~ given.source ~ " limit 1").rows | length == 0 -%}
        {%- do errors.append(
            "the source " ~ given.source ~ " has no rows, so there is nothing to anonymize. Load it first."
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{# Why models cannot learn a target, as messages; they leave out records in which it is not known. #}
{% macro _target_errors(name, spec) -%}
    {#- A value, and another one, are found without counting all. -#}
    {%- set column = dbt_anonymize._quote(name) -%}
    {%- set known = "select " ~ column ~ " as value from " ~ this ~ " where " ~ column ~ " is not null limit 1" -%}
    {%- set has_two = run_query(
        "select 1 as other from " ~ this ~ " as found inner join (" ~ known ~ ") as known on found." ~ column
        ~ " <> known.value limit 1"
    ).rows | length > 0 -%}
    {%- if has_two -%}{{ return([]) }}{%- endif -%}
    {%- set has_one = run_query("select count(*) from (" ~ known ~ ") as known").rows[0][0] > 0 -%}
    {{ return([
        "the target " ~ name ~ " has " ~ ("one value only" if has_one else "no value") ~ ", so there is nothing to "
        ~ "learn. Choose another target in " ~ spec ~ "."
    ]) }}
{%- endmacro %}


{# After the build, in its transaction: what the data themselves must hold. Counts only, never values. #}
{% macro _check_microdata() -%}
    {%- if not dbt_anonymize._is_building() -%}{{ return("") }}{%- endif -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set spec = "anonymizations/" ~ declaration.anonymization ~ ".yml" -%}
    {%- set key = dbt_anonymize._quote(declaration.record_key) -%}
    {%- set counted = ["count(*)", "count(" ~ key ~ ")"] -%}
    {%- for quasi_identifier in declaration.quasi_identifiers -%}
        {%- do counted.append(
            "count(case when " ~ dbt_anonymize._quote(quasi_identifier.name) ~ " is not null and "
            ~ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") ~ " is null then 1 end)"
        ) -%}
    {%- endfor -%}
    {%- set counts = run_query("select " ~ counted | join(", ") ~ " from " ~ this).rows[0] -%}
    {%- set records, keys = counts[0], counts[1] -%}
    {%- set distinct_keys = dbt_anonymize._count_distinct(this, declaration.record_key) -%}
    {%- set errors = [] -%}
    {%- if records == 0 -%}
        {%- do errors.append("the source lost its rows during the build. Load it and build again.") -%}
    {%- else -%}
        {%- if distinct_keys < records -%}
            {%- do errors.append(
                "the record key " ~ declaration.record_key ~ " must be unique and not NULL; "
                ~ (records - keys) ~ " of " ~ records ~ " records have none and "
                ~ (keys - distinct_keys) ~ " repeat another's. Choose another key in " ~ spec ~ " or remove the"
                ~ " duplicates."
            ) -%}
        {%- endif -%}
        {%- if declaration.target -%}
            {%- do errors.extend(dbt_anonymize._target_errors(declaration.target, spec)) -%}
        {%- endif -%}
        {%- if declaration.subject -%}
            {%- set without = run_query("select count(*) from " ~ this ~ " where subject is null").rows[0][0] -%}
            {%- if without > 0 -%}
                {%- do errors.append(
                    "the subject " ~ declaration.subject ~ " must not be NULL; " ~ without ~ " of " ~ records
                    ~ " records have none. Say whose they are, or filter them in a model before."
                ) -%}
            {%- endif -%}
        {%- endif -%}
        {%- if declaration.has_sample -%}
            {%- set undrawn = run_query("select count(*) from " ~ this ~ " where sample_share is null").rows[0][0] -%}
            {%- if undrawn > 0 -%}
                {%- do errors.append(
                    "every record must be of somebody who was drawn for the sample or not; " ~ undrawn ~ " of "
                    ~ records ~ " are not. The source changed during the build, or the sample was not built; run"
                    ~ " `dbt build -s +" ~ model.name ~ "`."
                ) -%}
            {%- endif -%}
        {%- endif -%}
        {%- for attribute in dbt_anonymize._guaranteed_attributes(declaration.guarantees) -%}
            {%- do errors.extend(dbt_anonymize._attribute_errors(attribute, declaration.guarantees, records)) -%}
        {%- endfor -%}
        {%- do errors.extend(dbt_anonymize._free_text_errors(declaration.plain, spec)) -%}
        {%- for quasi_identifier in declaration.quasi_identifiers -%}
            {%- if quasi_identifier.unknown -%}
                {%- do dbt_anonymize._tell_unknown(declaration.anonymization, quasi_identifier, records) -%}
            {%- endif -%}
            {%- set uncovered = counts[1 + loop.index] -%}
            {%- if uncovered > 0 -%}
                {%- do errors.append(
                    "the hierarchy of " ~ quasi_identifier.name ~ " does not cover the column"
                    ~ ": " ~ uncovered ~ " of " ~ records ~ " records have a value outside it"
                    ~ (" (NaN and infinity always are)" if quasi_identifier.kind == "interval" else " (compared as"
                    ~ " text: keep leading zeros with column_types)")
                    ~ dbt_anonymize._remedy_of_uncovered(quasi_identifier)
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
    {%- do dbt_anonymize._warn_of_own_values(
        declaration.anonymization, declaration.telling, declaration.subject is not none, records
    ) -%}
{%- endmacro %}


{# What to do about values outside a hierarchy: an empty text can be in no seed, which reads it as NULL. #}
{% macro _remedy_of_uncovered(quasi_identifier) -%}
    {%- set column = dbt_anonymize._quote(quasi_identifier.name) -%}
    {%- set empty = 0 if quasi_identifier.kind == "interval" else run_query(
        "select count(*) from " ~ this ~ " where " ~ dbt_anonymize._as_text(column) ~ " = ''"
        ~ " and " ~ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") ~ " is null"
    ).rows[0][0] -%}
    {%- if empty > 0 -%}
        {{ return(
            "; " ~ empty ~ " of these are an empty text, which no seed can hold. For those write"
            ~ " `unknown: \"*\"` for the"
            ~ " hierarchy, or nullif(" ~ quasi_identifier.name ~ ", '') in the source; for others extend it"
            ~ " (`" ~ dbt_anonymize._extending_command(quasi_identifier) ~ "`) or correct the source."
        ) }}
    {%- endif -%}
    {{ return(". Extend it (`" ~ dbt_anonymize._extending_command(quasi_identifier) ~ "`) or correct the source.") }}
{%- endmacro %}


{# The command that adds to the seed of a hierarchy what the column has. #}
{% macro _extending_command(quasi_identifier) -%}
    {%- set command = ["dbt-anonymize hierarchy extend", "<its seed>.csv"] -%}
    {%- set of_source = (model.config.meta.dbt_anonymize.spec or {}).get("source") -%}
    {%- if of_source -%}
        {%- do command.append(("--source " if "." in of_source else "--ref ") ~ of_source) -%}
    {%- endif -%}
    {%- do command.append("--column " ~ quasi_identifier.name) -%}
    {{ return(command | join(" ")) }}
{%- endmacro %}


{# Why guarantees of a sensitive attribute cannot be judged or kept on these data, as messages. #}
{% macro _attribute_errors(attribute, guarantees, records) -%}
    {%- set column = dbt_anonymize._quote(attribute) -%}
    {%- set counts = run_query("select count(" ~ column ~ "), count(distinct " ~ column ~ ") from " ~ this).rows[0] -%}
    {%- set known, values = counts[0], counts[1] -%}
    {%- set errors = [] -%}
    {%- if known < records -%}
        {%- do errors.append(
            "the sensitive attribute " ~ attribute ~ " must not be NULL, since a guarantee is about it; "
            ~ (records - known) ~ " of " ~ records
            ~ " records have no value. Replace NULL by a value of its own, or filter the records, in a model"
            ~ " before."
        ) -%}
    {%- endif -%}
    {%- for guarantee in guarantees if guarantee.attribute == attribute -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- if privacy_model.least_values > values -%}
            {%- do errors.append(privacy_model.too_few_values | replace("<values>", values)) -%}
        {%- endif -%}
        {%- if guarantee.get("values") -%}
            {%- set limited = dbt_anonymize._limited_values(guarantee.get("values")) -%}
            {%- set listed = limited | unique(case_sensitive=true) | list -%}
            {%- set occurring = run_query(
                "select count(distinct " ~ dbt_anonymize._as_text(column) ~ ") from " ~ this ~ " where "
                ~ dbt_anonymize._as_text(column) ~ " in (" ~ listed | join(", ") ~ ")"
            ).rows[0][0] -%}
            {%- if occurring < listed | length -%}
                {%- do errors.append(
                    guarantee.model ~ " limits " ~ listed | length ~ " values of " ~ attribute ~ ", of which "
                    ~ (listed | length - occurring)
                    ~ " do not occur, so that nothing would limit them. Write them as the column shows them as text"
                    ~ " (1.0, not 1; upper and lower case count), or remove them."
                ) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}
