with

importances as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        kind as measure,
        other as feature,
        cast(null as TEXT) as class,
        repetition,
        fold,
        case
            when abs(cast(value as double)) < cast('Infinity' as double)
                then cast(value as double)
        end as value
    from "w"."main"."people_evaluation"
    where kind = 'importance'

),

scores as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        repetition,
        coalesce(fold, 0) as fold,
        value
    from importances
    where class is null and measure is not null

),

splits as (

    select distinct
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        repetition,
        fold
    from scores
    where value is not null

),

possible_splits as (

    select
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        count(*) as all_splits
    from splits
    group by
        target,
        model,
        fit,
        test_on,
        measure,
        feature

),

paired as (

    select
        scores.effort,
        scores.target,
        scores.model,
        scores.fit,
        scores.test_on,
        scores.measure,
        scores.feature,
        scores.value,
        scores.value - baseline.value as difference,
        case when scores.value is not null then zero.value end as zero_rule,
        scores.value - zero.value as zero_rule_difference
    from scores
    left join scores as baseline
        on
            scores.target = baseline.target
            and scores.model = baseline.model
            and scores.fit = baseline.fit
            and scores.test_on = baseline.test_on
            and scores.measure = baseline.measure
            and scores.feature = baseline.feature
            and scores.repetition = baseline.repetition
            and scores.fold = baseline.fold
            and baseline.effort = 0
    left join scores as zero
        on
            scores.target = zero.target
            and scores.fit = zero.fit
            and scores.test_on = zero.test_on
            and scores.measure = zero.measure
            and scores.feature = zero.feature
            and scores.repetition = zero.repetition
            and scores.fold = zero.fold
            and zero.effort = 0
            and zero.model = 'zero_rule'

),

summed as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        count(value) as splits,
        avg(value) as value,
        stddev_samp(value) as value_sd,
        count(difference) as paired_splits,
        avg(difference) as difference,
        stddev_samp(difference) as difference_sd,
        count(zero_rule_difference) as zero_rule_splits,
        avg(zero_rule_difference) as zero_rule_difference,
        stddev_samp(zero_rule_difference) as zero_rule_difference_sd,
        avg(zero_rule) as zero_rule
    from paired
    group by
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        feature

),

rounded as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        splits,
        floor((value) * power(10, 12 - ceil(log10(greatest(abs(value), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(value), 1)))) as value,
        floor((value_sd) * power(10, 12 - ceil(log10(greatest(abs(value_sd), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(value_sd), 1)))) as value_sd,
        paired_splits,
        floor((difference) * power(10, 12 - ceil(log10(greatest(abs(difference), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(difference), 1)))) as difference,
        floor((difference_sd) * power(10, 12 - ceil(log10(greatest(abs(difference_sd), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(difference_sd), 1)))) as difference_sd,
        zero_rule_splits,
        floor((zero_rule_difference) * power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference), 1)))) as zero_rule_difference,
        floor((zero_rule_difference_sd) * power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference_sd), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule_difference_sd), 1)))) as zero_rule_difference_sd,
        floor((zero_rule) * power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(zero_rule), 1)))) as zero_rule
    from summed

),

errors as (

    select
        *,
        case
            when splits >= 5
                then
                    value_sd * sqrt(
                        cast(1.0 as double) / splits + cast(0.3 as double) / (1 - 0.3)
                    ) * (
                        select max(cast(quantiles.value as double))
                        from "w"."main"."people_evaluation" as quantiles
                        where
                            quantiles.kind = 'quantile'
                            and quantiles.name = 'two_sided'
                            and quantiles.other = '0.95'
                            and quantiles.bin = rounded.splits
                    )
        end as value_half,
        case
            when paired_splits >= 5
                then
                    difference_sd * sqrt(
                        cast(1.0 as double) / paired_splits + cast(0.3 as double) / (1 - 0.3)
                    ) * (
                        select max(cast(quantiles.value as double))
                        from "w"."main"."people_evaluation" as quantiles
                        where
                            quantiles.kind = 'quantile'
                            and quantiles.name = 'two_sided'
                            and quantiles.other = '0.95'
                            and quantiles.bin = rounded.paired_splits
                    )
        end as difference_half,
        case
            when zero_rule_splits >= 5
                then
                    zero_rule_difference_sd * sqrt(
                        cast(1.0 as double) / zero_rule_splits + cast(0.3 as double) / (1 - 0.3)
                    ) * (
                        select max(cast(quantiles.value as double))
                        from "w"."main"."people_evaluation" as quantiles
                        where
                            quantiles.kind = 'quantile'
                            and quantiles.name = 'two_sided'
                            and quantiles.other = '0.95'
                            and quantiles.bin = rounded.zero_rule_splits
                    )
        end as zero_rule_difference_half,
        case
            when paired_splits >= 5
                then
                    difference_sd * sqrt(
                        cast(1.0 as double) / paired_splits + cast(0.3 as double) / (1 - 0.3)
                    ) * (
                        select max(cast(quantiles.value as double))
                        from "w"."main"."people_evaluation" as quantiles
                        where
                            quantiles.kind = 'quantile'
                            and quantiles.name = 'one_sided'
                            and quantiles.other = '0.95'
                            and quantiles.bin = rounded.paired_splits
                    )
        end as one_sided,
        case
            when measure in ('brier_score', 'log_loss', 'mae', 'rmse') then -1
            else 1
        end as direction,
        case
            when measure in ('accuracy', 'balanced_accuracy', 'precision', 'recall', 'sensitivity', 'specificity', 'f1', 'roc_auc', 'concordance_index', 'top_overlap') then 0
            when measure in ('matthews_correlation', 'silhouette', 'rank_correlation') then -1
            when measure in ('adjusted_rand_index') then -0.5
            when measure in ('brier_score') then 0
            when measure in ('log_loss', 'mae', 'rmse') then 0
        end as lowest,
        case
            when measure in ('accuracy', 'balanced_accuracy', 'precision', 'recall', 'sensitivity', 'specificity', 'f1', 'roc_auc', 'concordance_index', 'top_overlap') then 1
            when measure in ('matthews_correlation', 'silhouette', 'rank_correlation') then 1
            when measure in ('adjusted_rand_index') then 1
            when measure in ('brier_score') then 2
            when measure in ('r2') then 1
        end as highest,
        case
            when measure in ('accuracy', 'balanced_accuracy', 'precision', 'recall', 'sensitivity', 'specificity', 'f1', 'roc_auc', 'concordance_index', 'top_overlap') then 1
            when measure in ('matthews_correlation', 'silhouette', 'rank_correlation') then 2
            when measure in ('adjusted_rand_index') then 1.5
            when measure in ('brier_score') then 2
        end as width
    from rounded

),

intervals as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        feature,
        splits,
        paired_splits,
        zero_rule_splits,
        value as mean,
        value_sd as sd,
        case
            when value - value_half < lowest then lowest
            when value - value_half > highest then highest
            else value - value_half
        end as low,
        case
            when value + value_half < lowest then lowest
            when value + value_half > highest then highest
            else value + value_half
        end as high,
        difference,
        case
            when difference - difference_half < -width then -width
            when difference - difference_half > width then width
            else difference - difference_half
        end as difference_low,
        case
            when difference + difference_half < -width then -width
            when difference + difference_half > width then width
            else difference + difference_half
        end as difference_high,
        zero_rule_difference,
        case
            when zero_rule_difference - zero_rule_difference_half < -width then -width
            when zero_rule_difference - zero_rule_difference_half > width then width
            else zero_rule_difference - zero_rule_difference_half
        end as zero_rule_difference_low,
        case
            when zero_rule_difference + zero_rule_difference_half < -width then -width
            when zero_rule_difference + zero_rule_difference_half > width then width
            else zero_rule_difference + zero_rule_difference_half
        end as zero_rule_difference_high,
        case
            when difference - direction * one_sided < -width then -width
            when difference - direction * one_sided > width then width
            else difference - direction * one_sided
        end as difference_limit,
        zero_rule,
        floor((direction * zero_rule_difference - coalesce(zero_rule_difference_half, 0)) * power(10, 12 - ceil(log10(greatest(abs(direction * zero_rule_difference - coalesce(zero_rule_difference_half, 0)), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(direction * zero_rule_difference - coalesce(zero_rule_difference_half, 0)), 1))))
        > 0 as beats_zero_rule,
        direction
    from errors

)

select
    intervals.effort,
    intervals.target,
    intervals.model,
    intervals.fit,
    intervals.test_on,
    'roc_auc' as measure,
    intervals.feature,
    intervals.splits,
    intervals.paired_splits,
    coalesce(possible_splits.all_splits, 0) as all_splits,
    intervals.mean as importance,
    intervals.sd,
    intervals.low,
    intervals.high,
    intervals.difference,
    intervals.difference_low,
    intervals.difference_high
from intervals
left join possible_splits
    on
        intervals.target = possible_splits.target
        and intervals.model = possible_splits.model
        and intervals.fit = possible_splits.fit
        and intervals.test_on = possible_splits.test_on
        and intervals.measure = possible_splits.measure
        and intervals.feature = possible_splits.feature
order by
    intervals.target,
    intervals.model,
    intervals.fit,
    intervals.test_on,
    intervals.measure,
    intervals.feature,
    intervals.effort
