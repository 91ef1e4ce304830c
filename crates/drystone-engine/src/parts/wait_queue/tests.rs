use super::*;
use proptest::prelude::*;

#[test]
fn coarse_spans_rise_and_are_close() {
    let spans = (0..70_000).chain((17..30).flat_map(|e| (-3..4).map(move |d| (1 << e) + d))).chain([1 << 30]);
    let mut before = (0, 0);
    for span in spans {
        let (code, least) = (coarsen_span(span), shortest_span_of(coarsen_span(span)));
        assert!(code < NONE && code >= before.1 && span >= before.0, "{span}: {code} after {before:?}");
        assert!(least <= span && coarsen_span(least) == code, "{span}: {least} is not the shortest of {code}");
        assert!(least == 0 || coarsen_span(least - 1) < code, "{span}: {least} is not the shortest of {code}");
        assert!(span - least <= span / 128, "{span} counts as {least}");
        before = (span, code);
    }
    assert!((0..256).all(|span| shortest_span_of(coarsen_span(span)) == span));
}

#[test]
fn classes_partition_the_sizes() {
    for procs in (1..5000).chain([1 << 31, Procs::MAX - 1, Procs::MAX]) {
        let c = size_class(procs);
        assert!((0..CLASSES).filter(|&class| class != 1).all(|class| is_in(class, procs) == (class == c)), "{procs}");
        assert!(smallest_in_class(c) <= procs, "{procs} is below its class");
        assert!(c + 1 == CLASSES || procs < smallest_in_class(c + 1) || c == 0, "{procs} belongs to a later class");
        for limit in [0, 1, procs - 1, procs, 1_000] {
            let holds = classes_up_to(limit)[c] != 0;
            assert_eq!(holds, smallest_in_class(c) <= limit, "the class of {procs} when {limit} fit");
        }
    }
}

/// Jobs that happen to be in the order of their predictions, until one is not: what is known of the
/// others stays.
#[test]
fn a_change_that_ends_an_order_hides_nobody() {
    let mut queue = WaitQueue::default();
    let job = |id, run| WaitingJob { key: 0, prediction: Span(run), procs: 4, id: JobId(id), ..WaitingJob::default() };
    (0..2 * 64).for_each(|id| queue.insert(job(id, 0)));
    assert_eq!(queue.replace_job(job(0, 0).queue_place(), job(0, 3000)), Some(job(0, 0)));
    assert_eq!(queue.next_fit(None, BackfillFit { free: 4, window: Span(10), extra: 0 }), Some(job(1, 0)));
}

/// A job that is left is found when the shortest have gone, be it as large and as long as can be.
#[test]
fn the_largest_and_the_longest_are_found() {
    let job =
        |id, run| WaitingJob { key: i64::from(id), prediction: run, procs: Procs::MAX, id: JobId(id), submit: Time(0) };
    let runs: Vec<Span> = (0..300).map(|i| if i % 3 == 0 { Span::MAX } else { Span(i) }).collect();
    let mut queue = WaitQueue::default();
    (0..).zip(&runs).for_each(|(id, &run)| queue.insert(job(id, run)));
    for window in [Span(300), Span::MAX] {
        let fit = BackfillFit { free: Procs::MAX, window, extra: 0 };
        for (id, &run) in (0..).zip(&runs).filter(|(_, run)| (**run == Span::MAX) == (window == Span::MAX)) {
            assert_eq!(queue.take_fit(None, fit), Some(job(id, run)));
        }
        assert_eq!(queue.take_fit(None, fit), None);
    }
}

proptest! {
    /// Stairs admit a job that has processors during all of its run, in the plan as now.
    #[test]
    fn stairs_admit_whom_the_plan_has_room_for(
        plan in prop::collection::vec((0i64..60, 1i64..40, 1u32..6), 0..30),
        (free, now) in (0u32..16, 0i64..30),
        jobs in prop::collection::vec((1u32..16, 1i64..60), 1..20),
    ) {
        let mut profile = Profile::new(Time(0), 15);
        for (from, span, procs) in plan {
            if profile.fits_during(Time(from), Span(span), procs) {
                profile.reserve_procs(Time(from), Time(from + span), procs);
            }
        }
        let mut stairs = FitStairs::default();
        stairs.fill_beside(&profile, Time(now), free);
        for (procs, span) in jobs {
            let room = procs <= free && profile.least_free(Time(now), Span(span)) >= procs;
            prop_assert_eq!(stairs.can_start(procs, Span(span)), room, "{} for {}", procs, span);
        }
    }
}

proptest! {
    #[test]
    fn searches_agree_with_scans(
        // Sizes up to each number of classes that searches look at.
        jobs in prop::collection::vec(
            (0i64..50, prop_oneof![1u32..20, 1u32..200, 200u32..700], 0i64..5000, 0i64..3000),
            0..700,
        ),
        fits in prop::collection::vec(
            (prop_oneof![0u32..18, 0u32..220, 200u32..800], -10i64..5200, 0u32..200, any::<bool>()),
            1..12,
        ),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..400),
        changed in prop::collection::vec((any::<prop::sample::Index>(), 0i64..5000), 0..100),
        kind in 0..3,
    ) {
        // By something else, by prediction, and by something that is the prediction of most, but
        // not of all.
        let sort_key = |key, run, long| match kind {
            0 => (key, run),
            1 => (run, run),
            _ => (0, if run < long { 0 } else { run }),
        };
        let mut queue = WaitQueue::default();
        let mut list: Vec<WaitingJob> = jobs.iter().enumerate().map(|(i, &(key, procs, run, submit))| {
            let (key, run) = sort_key(key, run, 4990);
            WaitingJob { key, procs, prediction: Span(run), submit: Time(submit), id: JobId(i as u32) }
        }).collect();
        list.iter().for_each(|&j| queue.insert(j));
        for g in gone {
            if !list.is_empty() {
                let job = list.swap_remove(g.index(list.len()));
                prop_assert_eq!(queue.remove(job.queue_place()), Some(job));
            }
        }
        for (at, run) in changed {
            if !list.is_empty() {
                let job = at.get(&list).to_owned();
                let (key, run) = sort_key(job.key, run, 2500);
                let new = WaitingJob { key, prediction: Span(run), ..job };
                list.retain(|j| j.id != job.id);
                list.push(new);
                prop_assert_eq!(queue.replace_job(job.queue_place(), new), Some(job));
            }
        }
        list.sort_by_key(WaitingJob::queue_place);
        prop_assert!(queue.iter().eq(list.iter()));
        for pair in fits.windows(2) {
            let steps = pair.iter().map(|&(free, window, ..)| (Span(window.max(0)), free)).collect();
            let stairs = FitStairs { free: pair[0].2, steps };
            let mut after = None;
            for job in list.iter().filter(|j| stairs.can_start(j.procs, j.prediction)) {
                prop_assert_eq!(queue.next_admitted(after, &stairs), Some(*job));
                after = Some(job.queue_place());
            }
            prop_assert_eq!(queue.next_admitted(after, &stairs), None);
        }
        for (free, window, extra, huge) in fits {
            let fit = BackfillFit { free, window: if huge { Span::MAX } else { Span(window) }, extra };
            let mut after = None;
            for job in list.iter().filter(|j| fit.can_start(j.procs, j.prediction)) {
                prop_assert_eq!(queue.next_fit(after, fit), Some(*job));
                after = Some(job.queue_place());
            }
            prop_assert_eq!(queue.next_fit(after, fit), None);
            let (mut rest, mut remainder) = (queue.clone(), list.clone());
            after = None;
            while let Some(job) = rest.take_fit(after, fit) {
                let next = remainder.iter().position(|j| after.is_none_or(|a| a < j.queue_place()) && fit.can_start(j.procs, j.prediction));
                prop_assert_eq!(next.map(|at| remainder.remove(at)), Some(job));
                // Sometimes from the front again.
                after = (job.id.0 % 5 > 0).then(|| job.queue_place());
                prop_assert!(rest.iter().eq(remainder.iter()));
            }
            prop_assert!(!remainder.iter().any(|j| after.is_none_or(|a| a < j.queue_place()) && fit.can_start(j.procs, j.prediction)));
            prop_assert_eq!(rest.take_first(), remainder.first().copied());
            // In one go: as one after the other, each of which leaves less; and no job is left that
            // as much room would admit.
            let (mut rest, mut picks, mut shade) = (queue.clone(), Vec::new(), fit);
            let room = rest.take_all(&mut shade, |job| picks.push(*job));
            let (mut by_hand, mut remainder, mut expected) = (fit, list.clone(), Vec::new());
            remainder.retain(|job| {
                let starts = by_hand.can_start(job.procs, job.prediction);
                if starts {
                    by_hand.account_start(job.procs, job.prediction);
                    expected.push(*job);
                }
                !starts
            });
            prop_assert_eq!((picks, shade), (expected, by_hand));
            prop_assert!(rest.iter().eq(remainder.iter()));
            prop_assert!(room >= shade.free);
            let with_room = BackfillFit { free: room, ..shade };
            prop_assert!(!remainder.iter().any(|job| with_room.can_start(job.procs, job.prediction)));
            for (now, fit) in [(Time(3000), Some(fit)), (Time(3001), None)] {
                let best = list.iter().filter(|j| fit.is_none_or(|f| f.can_start(j.procs, j.prediction)))
                    .copied().reduce(|a, b| if more_expanded(&b, &a, now) { b } else { a });
                prop_assert_eq!(queue.most_expanded(now, fit), best);
            }
        }
    }
}
