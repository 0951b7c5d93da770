{# The last gate, on the very rows that are about to be published: it trusts no table that was built before. #}
{% macro _check_release(candidate) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set errors = dbt_anonymize._setting_errors() -%}
    {%- set is_counted = declaration.is_counted -%}
    {%- set checked = dbt_anonymize._counts_of(candidate) if is_counted else candidate -%}
    {%- set columns = adapter.get_columns_in_relation(checked) | map(attribute="name") | list -%}
    {%- if columns != declaration.columns + (["records"] if is_counted else []) -%}
        {%- do errors.append(
            "the release must have exactly the columns " ~ declaration.columns | join(", ") ~ "; got "
            ~ columns | join(", ") ~ ". Run `dbt-anonymize generate " ~ declaration.anonymization ~ "`."
        ) -%}
    {%- else -%}
        {%- set is_external = dbt_anonymize._is_external(declaration) -%}
        {#- Of rows that another tool made nothing is guaranteed; they were compared with what was measured. -#}
        {%- if not is_external -%}
            {%- do errors.extend(dbt_anonymize._class_errors(checked, declaration)) -%}
        {%- endif -%}
        {%- if declaration.mapping == "token" -%}
            {%- do errors.extend(dbt_anonymize._released_token_errors(candidate, declaration)) -%}
        {%- endif -%}
        {%- for name in declaration.beside -%}
            {%- set held = adapter.get_columns_in_relation(ref(name)) | map(attribute="name") | list -%}
            {%- if held != declaration.columns_beside[loop.index0] -%}
                {%- do errors.append(
                    name ~ " must have exactly the columns " ~ declaration.columns_beside[loop.index0] | join(", ")
                    ~ "; got " ~ held | join(", ") ~ ". Build it again."
                ) -%}
            {%- endif -%}
        {%- endfor -%}
        {#- What extensions found on what they publish with it. -#}
        {%- for name in declaration.obstacles -%}
            {%- for row in run_query("select problem from " ~ ref(name) ~ " where problem is not null").rows -%}
                {%- do errors.append(row[0]) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, errors) -%}
{%- endmacro %}


{# Classes as everybody will see them: by the bytes of every generalized value. #}
{% macro _class_errors(checked, declaration) -%}
    {%- set microdata = ref(declaration.anonymization ~ "_microdata") -%}
    {%- set has_subject = declaration.has_subject -%}
    {%- set promised = dbt_anonymize._guarantees_of_effort(
        declaration.guarantees, dbt_anonymize._released_effort(declaration)
    ) -%}
    {%- set guarantees = dbt_anonymize._countable_guarantees(promised, has_subject) -%}
    {%- set rows = dbt_anonymize._rows_of_release(checked, declaration, guarantees) -%}
    {%- set keys = dbt_anonymize._release_keys(declaration) | map(attribute="name") | list -%}
    {%- set share = dbt_anonymize._share_of_release(declaration) -%}
    {%- set counts = run_query(
        dbt_anonymize._release_counts({
            "rows": rows, "grouped_by": keys, "guarantees": guarantees, "microdata": microdata, "share": share,
        })
    ).rows[0] -%}
    {%- set released = counts[1] -%}
    {%- set limits = run_query(
        "select records, " ~ dbt_anonymize._may_be_suppressed(declaration.suppression_limit, "sampled")
        ~ ", (select coalesce(max(records), 0) from " ~ ref(declaration.anonymization ~ "_results") ~ "), sampled"
        ~ " from (select count(*) as records, "
        ~ ("count(case when " ~ dbt_anonymize._is_sampled(share) ~ " then 1 end)" if share else "count(*)")
        ~ " as sampled from " ~ microdata ~ ") as counted"
    ).rows[0] -%}
    {%- set records, may_be_suppressed, scored, sampled = limits[0], limits[1], limits[2], limits[3] -%}
    {%- set errors = [] -%}
    {%- set remedy = " The results are of other data; run `dbt build -s +" ~ model.name ~ "`." -%}
    {%- if records != scored -%}
        {%- do errors.append(
            "the effort was chosen from " ~ scored ~ " records; there are " ~ records ~ " now." ~ remedy
        ) -%}
    {%- endif -%}
    {%- if released == 0 -%}
        {%- do errors.append("the release would be empty. Add a stronger effort or raise the suppression limit.") -%}
    {%- endif -%}
    {%- do errors.extend(dbt_anonymize._broken_guarantees(guarantees, counts, remedy)) -%}
    {%- if has_subject -%}
        {%- do errors.extend(dbt_anonymize._people_errors(declaration, microdata, remedy)) -%}
    {%- endif -%}
    {#- Who waits is not suppressed; the results have judged who is. -#}
    {%- if not declaration.waits and (released > sampled or sampled - released > may_be_suppressed) -%}
        {%- do errors.append(
            "at most " ~ declaration.suppression_limit ~ " of the records may be suppressed; " ~ released ~ " of "
            ~ sampled ~ " would be released. The results are of other data or of another limit; run `dbt build -s +"
            ~ model.name ~ "`."
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{# The released rows do not say whose they are, so subjects are counted in the effort that they were taken from. #}
{% macro _people_errors(declaration, microdata, remedy) -%}
    {%- set chosen = dbt_anonymize._released_effort(declaration) -%}
    {%- set promised = dbt_anonymize._guarantees_of_effort(declaration.guarantees, chosen) -%}
    {%- set guarantees = dbt_anonymize._countable_guarantees(promised, false) -%}
    {%- set rows = dbt_anonymize._rows_of_effort(
        ref(declaration.anonymization ~ "_effort_" ~ chosen),
        guarantees,
        microdata,
        declaration.record_key,
    ) -%}
    {%- set counts = run_query(
        dbt_anonymize._release_counts({
            "rows": rows,
            "grouped_by": ["key_of_text"],
            "guarantees": guarantees,
            "microdata": microdata,
            "has_subject": true,
            "share": dbt_anonymize._share_of_release(declaration),
        })
    ).rows[0] -%}
    {{ return(dbt_anonymize._broken_guarantees(guarantees, counts, remedy, of_subjects=true)) }}
{%- endmacro %}


{# The effort that the candidate was taken from. #}
{% macro _released_effort(declaration) -%}
    {{ return(run_query(
        "select effort from " ~ ref(declaration.anonymization ~ "_results") ~ " where is_chosen"
    ).rows[0][0] | int) }}
{%- endmacro %}


{# Whether another tool made the rows of the candidate. #}
{% macro _is_external(declaration) -%}
    {%- set external = declaration.external or [] -%}
    {{ return(external | length > 0 and dbt_anonymize._released_effort(declaration) in external) }}
{%- endmacro %}


{# The share of the sample that it is released from; none: everybody. #}
{% macro _share_of_release(declaration) -%}
    {%- if declaration.sample_shares -%}
        {{ return(dict(declaration.sample_shares).get(dbt_anonymize._released_effort(declaration))) }}
    {%- endif -%}
{%- endmacro %}


{# The guarantees that classes break, as messages, from the row of _release_counts. #}
{% macro _broken_guarantees(guarantees, counts, remedy, of_subjects=false) -%}
    {%- set errors = [] -%}
    {%- for guarantee in guarantees -%}
        {%- set broken = counts[1 + loop.index] -%}
        {%- if broken > 0 -%}
            {%- set requires = dbt_anonymize._privacy_model(guarantee).requires -%}
            {%- set text = dbt_anonymize._guarantee_text(guarantee, requires) -%}
            {%- do errors.append(
                (text | replace(" records in", " subjects in") if of_subjects else text) ~ "; " ~ broken ~ " of "
                ~ counts[0] ~ " classes break it" ~ (", counting subjects." if of_subjects else ".") ~ remedy
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}


{#
  The guarantees that the released rows suffice to count again; those about a population or a hierarchy of a sensitive
  attribute are for _check_context. Where subjects have several records, the rows only say how many records and values a
  class has at least.
#}
{% macro _countable_guarantees(guarantees, has_subject) -%}
    {%- set countable = [] -%}
    {%- for guarantee in guarantees -%}
        {%- set privacy_model = dbt_anonymize._privacy_model(guarantee) -%}
        {%- set counted = privacy_model.in_release_of_subjects if has_subject else privacy_model.in_release -%}
        {%- if counted -%}{%- do countable.append(counted) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(countable) }}
{%- endmacro %}


{#
  Tokens, as everybody will see them. Two rows with one would say that they are of one person: whoever knows one row
  knows the other, and the groups that k counts are smaller than they look.
#}
{% macro _released_token_errors(candidate, declaration) -%}
    {%- set stored = ref(declaration.anonymization ~ "_tokens") -%}
    {%- set token = dbt_anonymize._as_bytes("token") -%}
    {%- set released = run_query(
        "select count(*), count(token), count(distinct " ~ token ~ ") from " ~ candidate
    ).rows[0] -%}
    {%- set broken = run_query(
        "select count(*) - count(token), count(*) - count(person), count(token) - count(distinct " ~ token ~ ")"
        ~ " from " ~ stored
    ).rows[0] -%}
    {%- set foreign = run_query(
        "select count(*) from " ~ candidate ~ " as released where not exists (select 1 from " ~ stored
        ~ " as stored where stored.token = released.token)"
    ).rows[0][0] -%}
    {%- set errors = [] -%}
    {%- if released[2] < released[1] -%}
        {%- do errors.append(
            "every person may have one released record, since a token joins them; " ~ (released[1] - released[2])
            ~ " of " ~ released[0] ~ " records are of somebody who has another. Make one record per person in a model"
            ~ " before, or write mapping: class in anonymizations/" ~ declaration.anonymization ~ ".yml."
        ) -%}
    {%- endif -%}
    {%- if foreign > 0 -%}
        {%- do errors.append(
            "every released record must have a token of " ~ stored ~ "; " ~ foreign ~ " of " ~ released[0]
            ~ " have none. The vault is of other data; run `dbt build -s +" ~ model.name ~ "`."
        ) -%}
    {%- endif -%}
    {%- if broken[0] + broken[1] + broken[2] > 0 -%}
        {%- do errors.append(
            "every token of " ~ stored ~ " must be of one person; " ~ broken[0] ~ " are NULL, " ~ broken[1]
            ~ " are of nobody and " ~ broken[2] ~ " repeat another's. The table was changed by hand; restore it from a"
            ~ " backup."
        ) -%}
    {%- endif -%}
    {{ return(errors) }}
{%- endmacro %}


{# What makes a class in the release, as keys: its text, where that is released, and every label and bound. #}
{% macro _release_keys(declaration) -%}
    {%- set keys = [] -%}
    {%- if declaration.mapping == "class" -%}
        {%- do keys.append({"name": "key_of_text", "sql": dbt_anonymize._as_bytes("cqi")}) -%}
    {%- endif -%}
    {%- for quasi_identifier in declaration.quasi_identifiers if quasi_identifier.name in declaration.columns -%}
        {%- set number = loop.index -%}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) -%}
            {%- set quoted = dbt_anonymize._quote(column) -%}
            {%- do keys.append({
                "name": "label_" ~ number ~ "_" ~ loop.index,
                "sql": dbt_anonymize._as_bytes(quoted) if loop.first else quoted,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(keys) }}
{%- endmacro %}


{# Query of the rows to be published, or of their counts, with the keys of their classes. #}
{% macro _rows_of_release(checked, declaration, guarantees) %}
    select
        {%- for key in dbt_anonymize._release_keys(declaration) %}
        {{ key.sql }} as {{ key.name }},
        {%- endfor %}
        {%- for attribute in dbt_anonymize._guaranteed_attributes(guarantees) %}
        {{ dbt_anonymize._quote(attribute) }},
        {%- endfor %}
        {{ "records" if declaration.is_counted else "1 as records" }}
    from {{ checked }}
{%- endmacro %}


{# Query of the rows of an effort that are released, with whose they are where there are microdata to say it. #}
{% macro _rows_of_effort(effort, guarantees, microdata=none, record_key=none) %}
    select
        {{ dbt_anonymize._as_bytes("effort.equivalence_class") }} as key_of_text,
        {%- for attribute in dbt_anonymize._guaranteed_attributes(guarantees) %}
        {{ dbt_anonymize._quote(attribute, "effort") }},
        {%- endfor %}
        {%- if microdata %}
        microdata.subject,
        {%- endif %}
        1 as records
    from {{ effort }} as effort
    {%- if microdata %}
    inner join {{ microdata }} as microdata
        on {{ dbt_anonymize._quote(record_key, "effort") }} = {{ dbt_anonymize._quote(record_key, "microdata") }}
    {%- endif %}
    where not effort.is_suppressed
{%- endmacro %}


{#
  Query with one row: the classes, the records, and for each guarantee the classes that break it. `population`: CTEs
  that end in `population_classes`, the keys with their `population_size`. The whole table, with which classes are
  compared, is the microdata themselves: the frequencies may be of an earlier build.
#}
{% macro _release_counts(given) -%}
{%- set given = dbt_anonymize._checked_keys(given, ["rows", "grouped_by", "guarantees", "microdata"], {
    "has_subject": false, "population": "", "population_size": none, "sensitive_hierarchies": {}, "share": none,
    "further": [],
}) -%}
{%- set guarantees = given.guarantees -%}
{%- set attributes = dbt_anonymize._guaranteed_attributes(guarantees) -%}
with

generalized as (
{{ given.rows }}

),

microdata as (

    select * from {{ given.microdata }}

),
{{- given.population }}
{{- dbt_anonymize._global_distributions(
    "microdata",
    attributes,
    guarantees,
    "table_",
    dbt_anonymize._counted_subjects(given.has_subject, "count(*)"),
    given.population_size,
    given.sensitive_hierarchies,
    given.share,
) }}
{{- dbt_anonymize._measured_classes({
    "grouped_by": given.grouped_by,
    "guarantees": guarantees,
    "attributes": attributes,
    "has_subject": given.has_subject,
    "whole": "table_",
    "population": "population_classes" if given.population else none,
    "sensitive_hierarchies": given.sensitive_hierarchies,
    "further": given.further,
}) }}

counts as (

    select
        count(*) as number_of_classes,
        coalesce(sum(records), 0) as released
        {%- for guarantee in guarantees %},
        {{ dbt_anonymize._broken_classes(guarantee, guarantees) }}
        {%- endfor %}
    from classes

)

select * from counts
{%- endmacro %}


{# How many classes break a guarantee, as an aggregate; one about all classes together is broken by all or none. #}
{% macro _broken_classes(guarantee, declared) -%}
    {%- set conditions = dbt_anonymize._violated_conditions([guarantee], "table_", declared) -%}
    {%- set broken = [] -%}
    {%- if conditions -%}
        {%- do broken.append("coalesce(sum(case when " ~ conditions | join(" or ") ~ " then 1 else 0 end), 0)") -%}
    {%- endif -%}
    {%- set average = dbt_anonymize._privacy_model(guarantee).average_risk -%}
    {%- if average -%}
        {%- set limit = dbt_anonymize._number(average) ~ " * sum(class_size)" -%}
        {%- do broken.append("case when count(*) > " ~ limit ~ " then count(*) else 0 end") -%}
    {%- endif -%}
    {{ return(broken | join(" + ")) }}
{%- endmacro %}
