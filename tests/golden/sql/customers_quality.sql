with

scores as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        repetition,
        coalesce(fold, 0) as fold,
        value
    from "shop"."main"."customers_scores"
    where class is null and measure is not null

),

possible_splits as (

    select
        target,
        model,
        fit,
        test_on,
        measure,
        count(*) as all_splits
    from (
        select distinct
            target,
            model,
            fit,
            test_on,
            measure,
            repetition,
            fold
        from scores
        where value is not null
    ) as splits
    group by
        target,
        model,
        fit,
        test_on,
        measure

),


paired as (

    select
        scores.effort,
        scores.target,
        scores.model,
        scores.fit,
        scores.test_on,
        scores.measure,
        scores.value,
        scores.value - baseline.value as difference
    from scores
    left join scores as baseline
        on
            scores.target = baseline.target
            and scores.model = baseline.model
            and scores.fit = baseline.fit
            and scores.test_on = baseline.test_on
            and scores.measure = baseline.measure
            and scores.repetition = baseline.repetition
            and scores.fold = baseline.fold
            and baseline.effort = 0

),

summed as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        count(value) as splits,
        count(difference) as paired_splits,
        avg(value) as mean,
        stddev_samp(value) as sd,
        avg(difference) as difference,
        stddev_samp(difference) as difference_sd
    from paired
    group by
        effort,
        target,
        model,
        fit,
        test_on,
        measure

),

rounded as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        splits,
        paired_splits,
        floor((mean) * power(10, 12 - ceil(log10(greatest(abs(mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(mean), 1)))) as mean,
        floor((sd) * power(10, 12 - ceil(log10(greatest(abs(sd), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(sd), 1)))) as sd,
        floor((difference) * power(10, 12 - ceil(log10(greatest(abs(difference), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(difference), 1)))) as difference,
        floor((difference_sd) * power(10, 12 - ceil(log10(greatest(abs(difference_sd), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(difference_sd), 1)))) as difference_sd
    from summed

),


errors as (

    select
        *,
        sd * sqrt(cast(1.0 as double) / nullif(splits, 0) + cast(0.3 as double) / (1 - 0.3)) as error,
        difference_sd * sqrt(cast(1.0 as double) / nullif(paired_splits, 0) + cast(0.3 as double) / (1 - 0.3)) as difference_error,
        case (splits - 1)
            when 0 then null
            when 1 then 12.706204736175
            when 2 then 4.302652729749
            when 3 then 3.182446305284
            when 4 then 2.776445105198
            when 5 then 2.570581835636
            when 6 then 2.446911851145
            when 7 then 2.364624251593
            when 8 then 2.306004135204
            when 9 then 2.262157162798
            when 10 then 2.228138851986
            when 11 then 2.200985160092
            when 12 then 2.178812829667
            when 13 then 2.160368656463
            when 14 then 2.144786687918
            when 15 then 2.13144954556
            when 16 then 2.119905299221
            when 17 then 2.109815577833
            when 18 then 2.100922040241
            when 19 then 2.093024054408
            when 20 then 2.085963447266
            else
                1.95996398454
                + 2.372271230299 / cast((splits - 1) as double)
                + 2.82249861574 / power(cast((splits - 1) as double), 2)
                + 2.555849679508 / power(cast((splits - 1) as double), 3)
                + 1.589534053394 / power(cast((splits - 1) as double), 4)
        end as t_quantile,
        case (paired_splits - 1)
            when 0 then null
            when 1 then 12.706204736175
            when 2 then 4.302652729749
            when 3 then 3.182446305284
            when 4 then 2.776445105198
            when 5 then 2.570581835636
            when 6 then 2.446911851145
            when 7 then 2.364624251593
            when 8 then 2.306004135204
            when 9 then 2.262157162798
            when 10 then 2.228138851986
            when 11 then 2.200985160092
            when 12 then 2.178812829667
            when 13 then 2.160368656463
            when 14 then 2.144786687918
            when 15 then 2.13144954556
            when 16 then 2.119905299221
            when 17 then 2.109815577833
            when 18 then 2.100922040241
            when 19 then 2.093024054408
            when 20 then 2.085963447266
            else
                1.95996398454
                + 2.372271230299 / cast((paired_splits - 1) as double)
                + 2.82249861574 / power(cast((paired_splits - 1) as double), 2)
                + 2.555849679508 / power(cast((paired_splits - 1) as double), 3)
                + 1.589534053394 / power(cast((paired_splits - 1) as double), 4)
        end as difference_t_quantile,
        case (paired_splits - 1)
            when 0 then null
            when 1 then 6.313751514675
            when 2 then 2.919985580354
            when 3 then 2.353363434802
            when 4 then 2.131846786327
            when 5 then 2.015048373333
            when 6 then 1.943180280515
            when 7 then 1.89457860509
            when 8 then 1.859548037531
            when 9 then 1.833112932656
            when 10 then 1.812461122812
            when 11 then 1.795884818704
            when 12 then 1.782287555649
            when 13 then 1.770933395987
            when 14 then 1.761310135775
            when 15 then 1.753050355693
            when 16 then 1.745883676276
            when 17 then 1.739606726075
            when 18 then 1.734063606618
            when 19 then 1.729132811521
            when 20 then 1.724718242921
            else
                1.644853626951
                + 1.523769147574 / cast((paired_splits - 1) as double)
                + 1.420202982636 / power(cast((paired_splits - 1) as double), 2)
                + 0.983001512034 / power(cast((paired_splits - 1) as double), 3)
                + 0.433876454505 / power(cast((paired_splits - 1) as double), 4)
        end as one_sided_t_quantile,
        case when measure in ('brier_score', 'log_loss', 'mae', 'rmse') then -1 else 1 end as direction
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
        splits,
        paired_splits,
        mean,
        sd,
        mean - t_quantile * error as low,
        mean + t_quantile * error as high,
        difference,
        difference - difference_t_quantile * difference_error as difference_low,
        difference + difference_t_quantile * difference_error as difference_high,
        difference - direction * one_sided_t_quantile * difference_error as difference_limit,
        direction
    from errors

),


relative_measures as (

    select
        efforts.effort,
        efforts.target,
        efforts.model,
        efforts.fit,
        efforts.test_on,
        case when efforts.measure = 'roc_auc' then 'relative_auc' else 'brier_skill_score' end as measure,
        efforts.splits,
        efforts.paired_splits,
        case
            when efforts.measure = 'roc_auc'
                then (efforts.mean - zero.mean) / nullif(baseline.mean - zero.mean, 0)
            else 1 - efforts.mean / nullif(baseline.mean, 0)
        end as mean,
        efforts.measure as compared_measure
    from intervals as efforts
    left join intervals as baseline
        on
            efforts.target = baseline.target
            and efforts.model = baseline.model
            and efforts.fit = baseline.fit
            and efforts.test_on = baseline.test_on
            and efforts.measure = baseline.measure
            and baseline.effort = 0
    left join intervals as zero
        on
            efforts.target = zero.target
            and efforts.fit = zero.fit
            and efforts.test_on = zero.test_on
            and efforts.measure = zero.measure
            and zero.effort = 0
            and zero.model = 'zero_rule'
    where efforts.measure in ('roc_auc', 'brier_score')

),

quality as (

    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        measure as compared_measure,
        splits,
        paired_splits,
        mean,
        sd,
        low,
        high,
        difference,
        difference_low,
        difference_high,
        difference_limit,
        floor((direction * difference_limit) * power(10, 12 - ceil(log10(greatest(abs(direction * difference_limit), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(direction * difference_limit), 1)))) >= -cast(0.0 as double) as is_non_inferior
    from intervals
    union all
    select
        effort,
        target,
        model,
        fit,
        test_on,
        measure,
        compared_measure,
        splits,
        paired_splits,
        floor((mean) * power(10, 12 - ceil(log10(greatest(abs(mean), 1)))) + 0.5) / power(10, 12 - ceil(log10(greatest(abs(mean), 1)))) as mean,
        cast(null as double) as sd,
        cast(null as double) as low,
        cast(null as double) as high,
        cast(null as double) as difference,
        cast(null as double) as difference_low,
        cast(null as double) as difference_high,
        cast(null as double) as difference_limit,
        cast(null as boolean) as is_non_inferior
    from relative_measures

)

select
    quality.effort,
    quality.target,
    quality.model,
    quality.fit,
    quality.test_on,
    quality.measure,
    quality.splits,
    quality.paired_splits,
    coalesce(possible_splits.all_splits, 0) as all_splits,
    quality.mean,
    quality.sd,
    quality.low,
    quality.high,
    quality.difference,
    quality.difference_low,
    quality.difference_high,
    quality.difference_limit,
    case when quality.paired_splits = possible_splits.all_splits then quality.is_non_inferior end as is_non_inferior
from quality
left join possible_splits
    on
        quality.target = possible_splits.target
        and quality.model = possible_splits.model
        and quality.fit = possible_splits.fit
        and quality.test_on = possible_splits.test_on
        and quality.compared_measure = possible_splits.measure
order by
    quality.target,
    quality.model,
    quality.fit,
    quality.test_on,
    quality.measure,
    quality.effort
