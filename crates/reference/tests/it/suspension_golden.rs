//! Suspension (Kettimuthu et al.) against golden schedules, job by job and suspension by
//! suspension. "No suspension" and the single queue of Lawson et al. are the default EASY with
//! exact run times; averages that an independent implementation found for changed options hold too.

use crate::common::{assert_golden, exact_jobs, golden, swf};
use drystone_reference::checker::{check_local_resumption, check_schedule};
use drystone_reference::easy::{self, Easy, NaiveEasyOrder, NaiveExtra};
use drystone_reference::suspension::{
    self, NaiveLimit, NaivePlace, NaivePolicy, NaiveSelective, NaiveVictims, Suspended, bounded_slowdown, job_category,
};
use drystone_reference::{JobIn, JobOut};

fn schedule(policy: Easy, jobs: &[JobIn], machine: i64) -> Vec<JobOut> {
    easy::run(&policy, jobs, machine).schedule()
}

#[test]
fn the_default_is_ns_and_the_single_queue() {
    let Some((numbers, jobs)) = exact_jobs("KTH-SP2-1996-2.1-cln", 100) else {
        return;
    };
    let out = schedule(Easy::default(), &jobs, 100);
    assert_golden("preempt/kth-ns", &numbers, &out);
    assert_golden("multiqueue/kth-single", &numbers, &out);
    let first = &jobs[..5_000];
    let out = schedule(Easy::default(), first, 100);
    assert_golden("preempt/kth5000-ns", &numbers[..5_000], &out);
    let user = with_user_estimates(first, &numbers);
    let out = schedule(Easy::default(), &user, 100);
    assert_golden("preempt/kth5000-ns-userest", &numbers[..5_000], &out);
}

/// Kettimuthu's bounded slowdown, over the first 5,000 jobs.
fn slowdown(policy: Easy, jobs: &[JobIn], machine: i64) -> f64 {
    let jobs = &jobs[..5_000];
    let out = schedule(policy, jobs, machine);
    let each = jobs.iter().zip(out).map(|(job, out)| {
        let floor = job.run.max(10);
        (out.end - job.submit - job.run + floor) as f64 / floor as f64
    });
    each.sum::<f64>() / jobs.len() as f64
}

/// The sensitivity table of the specification: one choice changed at a time.
#[test]
fn changed_options_have_the_effect_that_others_measured() {
    let (ctc, sdsc) = (exact_jobs("CTC-SP2-1996-3.1-cln", 430), exact_jobs("SDSC-SP2-1998-4.2-cln", 128));
    let (Some((_, ctc)), Some((_, sdsc))) = (ctc, sdsc) else {
        return;
    };
    let base = Easy::default();
    let backfill = |order| Easy { backfill: order, ..base };
    let full_order = |order| Easy { backfill: order, queue: order, ..base };
    let cases = [
        ("settled", base, 5.010, 13.747),
        ("by expansion factor", backfill(NaiveEasyOrder::LargestExpansion), 3.549, 11.643),
        ("shortest first", backfill(NaiveEasyOrder::Shortest), 3.391, 11.576),
        ("narrowest first", backfill(NaiveEasyOrder::Narrowest), 4.724, 13.085),
        ("first sufficient", Easy { extra: NaiveExtra::FirstSufficient, ..base }, 4.803, 13.747),
        ("whole queue by expansion factor", full_order(NaiveEasyOrder::LargestExpansion), 2.166, 7.240),
    ];
    for (name, policy, on_ctc, on_sdsc) in cases {
        let means = (slowdown(policy, &ctc, 430), slowdown(policy, &sdsc, 128));
        eprintln!("{name}: {means:?}");
        assert!((means.0 - on_ctc).abs() < 0.000_51, "{name} on CTC: {means:?}");
        assert!((means.1 - on_sdsc).abs() < 0.000_51, "{name} on SDSC: {means:?}");
    }
}

/// Estimates as users gave them, but never below the run time.
fn with_user_estimates(jobs: &[JobIn], numbers: &[i64]) -> Vec<JobIn> {
    let lines = swf("KTH-SP2-1996-2.1-cln").expect("just read");
    let estimate = |number: i64| lines.iter().find(|f| f[0] == number).map_or(0, |f| f[8]);
    let pairs = jobs.iter().zip(numbers);
    pairs.map(|(j, &n)| JobIn { estimate: j.run.max(estimate(n)), ..*j }).collect()
}

/// Runs a policy on KTH; every job starts, ends and is suspended as the golden file says, and the
/// schedule is sound.
fn check_golden(name: &str, policy: &NaivePolicy, numbers: &[i64], jobs: &[JobIn], overhead: &[i64]) -> Suspended {
    let out = suspension::run(policy, jobs, 100, overhead);
    let with_overhead = |(j, job): (usize, &JobIn)| {
        let extra = overhead.get(j).copied().unwrap_or(0) * i64::from(out.suspensions[j]);
        JobIn { run: job.run + extra, ..*job }
    };
    let due: Vec<JobIn> = jobs.iter().enumerate().map(with_overhead).collect();
    assert_eq!(check_schedule(100, &due, &out.segments), Ok(()), "{name}");
    assert_eq!(check_local_resumption(&out.segments), Ok(()), "{name}");
    assert_golden(&format!("preempt/{name}"), numbers, &out.schedule);
    if let Some(golden) = golden(&format!("preempt/{name}")) {
        let expected: Vec<i64> = numbers.iter().map(|n| golden[n][2]).collect();
        let counts: Vec<i64> = out.suspensions.iter().map(|&n| i64::from(n)).collect();
        assert_eq!(counts, expected, "suspensions of {name}");
    }
    out
}

fn selective(change: impl Fn(&mut NaiveSelective)) -> NaivePolicy {
    let mut settings = NaiveSelective::settled_rules();
    change(&mut settings);
    NaivePolicy::Selective(settings)
}

/// All of KTH by one policy.
fn whole_of_kth(name: &str, policy: &NaivePolicy) {
    let Some((numbers, jobs)) = exact_jobs("KTH-SP2-1996-2.1-cln", 100) else { return };
    check_golden(name, policy, &numbers, &jobs, &[]);
}

#[test]
fn factor_one_and_a_half_on_the_whole_of_kth() {
    whole_of_kth("kth-ss1.5", &selective(|s| s.factor = (3, 2)));
}

#[test]
fn factor_two_on_the_whole_of_kth() {
    whole_of_kth("kth-ss2", &selective(|_| {}));
}

#[test]
fn factor_five_on_the_whole_of_kth() {
    whole_of_kth("kth-ss5", &selective(|s| s.factor = (5, 1)));
}

#[test]
fn limits_on_the_whole_of_kth() {
    whole_of_kth("kth-tss2", &selective(|s| s.limit = NaiveLimit::Online));
}

#[test]
fn immediate_service_on_the_whole_of_kth() {
    whole_of_kth("kth-is", &NaivePolicy::Immediate { preempting_resumption: true });
}

#[test]
fn suspension_on_the_first_jobs_of_kth_and_its_variants() {
    let Some((numbers, jobs)) = exact_jobs("KTH-SP2-1996-2.1-cln", 100) else { return };
    let (numbers, jobs) = (&numbers[..5_000], &jobs[..5_000]);
    let base = selective(|_| {});
    let ss = check_golden("kth5000-ss2", &base, numbers, jobs, &[]);
    for (name, policy) in [
        ("ss1.5", selective(|s| s.factor = (3, 2))),
        ("ss5", selective(|s| s.factor = (5, 1))),
        ("tss2", selective(|s| s.limit = NaiveLimit::Online)),
        ("is", NaivePolicy::Immediate { preempting_resumption: true }),
        ("is-noresume", NaivePolicy::Immediate { preempting_resumption: false }),
        ("ss2-dispatch-tick", selective(|s| s.starts_at_ticks_only = true)),
        ("ss2-place-priosf", selective(|s| s.place = NaivePlace::PrioritySf)),
        ("ss2-place-avoid", selective(|s| s.place = NaivePlace::Avoid)),
        ("ss2-place-lowest", selective(|s| s.place = NaivePlace::Lowest)),
        ("ss2-rule-skip", selective(|s| s.victims = NaiveVictims::InOrder)),
        ("ss2-rule-exit", selective(|s| s.victims = NaiveVictims::UntilIneligible)),
    ] {
        check_golden(&format!("kth5000-{name}"), &policy, numbers, jobs, &[]);
    }

    // Limits from the means of a run without limits.
    let mut means = [(0.0, 0.0); 16];
    for (job, out) in jobs.iter().zip(&ss.schedule) {
        let (sum, count) = &mut means[job_category(job)];
        *sum += bounded_slowdown(job, out.end);
        *count += 1.0;
    }
    let mean_limits = selective(|s| s.limit = NaiveLimit::Given(means.map(|(sum, count)| sum / count)));
    check_golden("kth5000-tss2-static-ss", &mean_limits, numbers, jobs, &[]);

    let user = with_user_estimates(jobs, numbers);
    check_golden("kth5000-ss2-userest", &base, numbers, &user, &[]);

    let dense_jobs: Vec<JobIn> = jobs.iter().map(|j| JobIn { submit: j.submit * 10 / 12, ..*j }).collect();
    check_golden("kth5000-ss2-load1.2", &base, numbers, &dense_jobs, &[]);

    // Rule S11: writing 100 to 1,000 MB of memory at 2 MB a second.
    let write = |&number: &i64| {
        let mut z = (number as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (100 + (z % 901) as i64 + 1) / 2
    };
    let overhead: Vec<i64> = numbers.iter().map(write).collect();
    check_golden("kth5000-ss2-overhead-write", &base, numbers, jobs, &overhead);
}
