{% macro tokens(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["anonymization", "source", "person", "microdata"], {
    "consent": none, "is_renewed": false,
}) -%}
{{ config(
    materialized="dbt_anonymize_tokens",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    grants=dbt_anonymize._custodian_grants(),
    meta={"dbt_anonymize": {
        "anonymization": given.anonymization, "person": given.person, "drawn": "token", "is_renewed": given.is_renewed,
    }},
) }}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
    {%- do dbt_anonymize._check_stored_tokens(given.anonymization, given.source, given.person) -%}
{%- endif -%}
{#- Nobody gets a token from a source that {{ microdata }} refuses: it is built first. -#}
select distinct {{ dbt_anonymize._quote(given.person, "source") }} as person
from {{ given.source }} as source
where {{ dbt_anonymize._quote(given.person, "source") }} is not null
{%- if given.consent %}
and {{ dbt_anonymize._has_consent(given.source, given.consent, "source") }}
{%- endif %}
{%- endmacro %}


{# The stored tokens are of people who are written as they are now: 7 and '07' would be two people. So are the draws of
   a sample, which must not become those of somebody else. #}
{% macro _check_stored_tokens(anonymization, source, person, drawn="token", mechanism=none) -%}
    {%- set stored = load_relation(this) -%}
    {%- if stored is none -%}{{ return("") }}{%- endif -%}
    {%- set types = {} -%}
    {%- for column in adapter.get_columns_in_relation(stored) -%}
        {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
    {%- set wanted = [] -%}
    {%- for column in adapter.get_columns_in_relation(source) if column.name == person -%}
        {%- do wanted.append(column.dtype) -%}
    {%- endfor -%}
    {%- set columns = ["person", drawn, "identified_by"] -%}
    {#- Draws of no mechanism are left as they are, and serve no private release. -#}
    {%- set known = [columns] + ([columns + ["mechanism"]] if mechanism else []) -%}
    {%- if types.keys() | list not in known -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "the stored " ~ drawn ~ "s " ~ stored ~ " must have the columns person, " ~ drawn ~ ", identified_by; got "
            ~ types.keys() | join(", ")
            ~ ". Restore them from a backup, or move the table away: everybody then gets a new " ~ drawn ~ "."
        ]) -%}
    {%- elif wanted and types.person != wanted[0] -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            drawn ~ "s are stored for people whose " ~ person ~ " is of type "
            ~ dbt_anonymize._shown_type(types.person) ~ "; in the source it is "
            ~ dbt_anonymize._shown_type(wanted[0]) ~ " now, so that"
            ~ " nobody would be recognized. Cast it back in a model before, or let a custodian convert the column"
            ~ " person of " ~ stored ~ "."
        ]) -%}
    {%- else -%}
        {#- A number that was a visit may be a person next time: her token must not become somebody else's. -#}
        {%- set others = run_query(
            "select count(*) from " ~ stored ~ " where identified_by is null or identified_by <> "
            ~ dbt_anonymize._literal(person)
        ).rows[0][0] -%}
        {%- if others > 0 -%}
            {%- do dbt_anonymize._raise_errors(anonymization, [
                drawn ~ "s must be of people who are identified by " ~ person ~ "; " ~ others ~ " stored ones are"
                ~ " identified by another column, so that somebody would get the " ~ drawn
                ~ " of somebody else. Declare the"
                ~ " former subject again, or let a custodian move "
                ~ stored ~ " away: everybody then gets a new " ~ drawn ~ "."
            ]) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
