{# The effort that the results chose, or a stop. While nothing is built: the last effort, so that SQL can be shown. #}
{% macro _chosen_effort(anonymization, results, efforts, fingerprint) -%}
    {%- if not dbt_anonymize._is_building() -%}
        {{ return(efforts.keys() | list | last) }}
    {%- endif -%}
    {%- set relation = load_relation(results) -%}
    {%- if relation is none -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            results ~ " does not exist, so no effort is chosen. Run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {%- set rows = run_query(
        "select effort, k, is_chosen, reason, fingerprint, beats_zero_rule, choose, qualifies, repetitions from "
        ~ relation ~ " order by effort"
    ).rows -%}
    {%- set chosen, reasons, outdated, useless, frozen, undetermined = [], [], [], [], [], [] -%}
    {%- set remedies, passed_over = [], [] -%}
    {%- for effort, k, is_chosen, reason, computed_from, beats_zero_rule, choose, qualifies, splits in rows -%}
        {%- if effort > 0 and qualifies and "release.effort is" in reason -%}{%- do passed_over.append(effort | int) -%}
        {%- elif effort > 0 -%}
            {%- do remedies.append(dbt_anonymize._remedy_of_effort(anonymization, reason, qualifies)) -%}
        {%- endif -%}
        {%- if choose == "frozen" -%}{%- do frozen.append(effort | int) -%}
        {%- elif splits is not none and not beats_zero_rule -%}{%- do useless.append(effort | int) -%}{%- endif -%}
        {%- if computed_from != fingerprint -%}{%- do outdated.append(effort) -%}{%- endif -%}
        {%- if is_chosen -%}{%- do chosen.append(effort | int) -%}{%- endif -%}
        {%- if is_chosen and "break point" in reason -%}{%- do undetermined.append(reason) -%}{%- endif -%}
        {%- if effort > 0 -%}{%- do reasons.append("effort " ~ effort ~ " (k = " ~ k ~ ") " ~ reason) -%}{%- endif -%}
    {%- endfor -%}
    {%- if outdated -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            results ~ " was computed from another version of the spec, so its choice does not count. Run"
            ~ " `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {%- if 0 in useless -%}
        {%- do exceptions.warn(
            "anonymization " ~ anonymization ~ ": even on effort 0, the untouched table, the model is not surely"
            ~ " better than the zero rule, which ignores the features, so there may be nothing to learn that an effort"
            ~ " could keep. Choose another measure, model or features, or add repetitions."
        ) -%}
    {%- endif -%}
    {%- if frozen and not chosen -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "the frozen effort must keep its guarantees on the data as they are now: " ~ (reasons | join("; "))
            ~ ". Correct the source if they came by mistake, or change suppression_limit or guarantees in"
            ~ " anonymizations/" ~ anonymization ~ ".yml if that may be; else remove `freeze`, let"
            ~ " `dbt-anonymize search " ~ anonymization ~ "` find levels that hold, and freeze again."
        ]) -%}
    {%- endif -%}
    {%- if passed_over -%}
        {%- set qualify = "efforts " ~ (passed_over | join(", ")) ~ " qualify" if passed_over[1:]
            else "effort " ~ passed_over[0] ~ " qualifies" -%}
        {%- do remedies.insert(0, "write `release: {effort: " ~ passed_over[0] ~ "}` or auto, since " ~ qualify) -%}
    {%- endif -%}
    {%- if chosen | length != 1 -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "exactly one effort must be chosen; got " ~ chosen | length ~ " ("
            ~ (reasons | join("; ") or "there are no results") ~ "). "
            ~ ("Run `dbt build -s +" ~ model.name ~ "`." if chosen else "In anonymizations/" ~ anonymization ~ ".yml, "
            ~ (remedies | unique | join("; ") or "declare efforts") ~ ".")
        ]) -%}
    {%- endif -%}
    {%- if undetermined -%}
        {%- do exceptions.warn(
            "anonymization " ~ anonymization ~ ": effort " ~ chosen[0] ~ " is " ~ undetermined[0] ~ ": two efforts do"
            ~ " not say what privacy is worth. Use `choose: strongest_non_inferior` with a margin, or give alpha a"
            ~ " number: below the break point this effort is chosen, above it the other."
        ) -%}
    {%- endif -%}
    {%- if chosen[0] in useless -%}
        {%- do exceptions.warn(
            "anonymization " ~ anonymization ~ ": effort " ~ chosen[0] ~ " is released since release.effort says so,"
            ~ " but a model learns no more from it than one that ignores the features: check that it still serves its"
            ~ " purpose."
        ) -%}
    {%- endif -%}
    {%- if chosen[0] not in efforts -%}
        {%- do dbt_anonymize._raise_errors(anonymization, [
            "effort " ~ chosen[0] ~ " is chosen, which is not an effort that may be released (those are "
            ~ efforts.keys() | join(", ") ~ "; 0 is the untouched table). Run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
    {{ return(chosen[0]) }}
{%- endmacro %}


{# What would make an effort one that is chosen, by why it is not. #}
{% macro _remedy_of_effort(anonymization, reason, qualifies) -%}
    {%- if qualifies -%}
        {{ return(
            "where an effort qualifies and the rule does not choose it, add a weaker effort, whose QF is less below"
            ~ " that of effort 0, more repetitions, or change the margin, the rule of choice or release.effort"
        ) }}
    {%- elif "measured_limits" in reason or "is above its limit" in reason -%}
        {{ return(
            "where the table of another tool does not keep measured_limits, or there are none, declare or change them,"
            ~ " or let the tool protect people better"
        ) }}
    {%- elif "the tool has seen them" in reason -%}
        {{ return("where another tool has seen outer records, give it nothing but the inner ones") }}
    {%- elif "its privacy is not known" in reason -%}
        {{ return("where outer records are too few to measure privacy, raise quality.outer_share") }}
    {%- elif "a guarantee" in reason or "record" in reason -%}
        {{ return(
            "where records break a guarantee or none is released, let `dbt-anonymize search " ~ anonymization
            ~ "` find efforts that keep all of them, or change the guarantees or the suppression limit"
        ) }}
    {%- endif -%}
    {{ return(
        "where QF does not beat the zero rule or lacks a value, add a weaker effort, choose another measure, model or"
        ~ " features, or more repetitions"
    ) }}
{%- endmacro %}
