//! Changes of jobs: their limits, their arrivals, their partitions, which there are.

use super::change::SiteChange;
use super::change_values::{ArrivalChange, Border, Bordered, LeftOut, LimitRule, format_length};
use super::conf_text::ConfText;
use super::places::can_go;
use super::premises::ApplyError;
use super::state::{Applied, JobDraft, LeftOutJobs, node_hours};
use super::supply;
use super::words::count_things;
use drystone::draw::RandomDraw;
use drystone::log::transform::{LoadFactor, scale_outages};
use drystone::model::{Job, Outage, Span, Time};
use drystone_slurm::conf::SlurmConf;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Fewer jobs of a user that have ended tell nothing of the next.
const LEAST_PAST: usize = 5;

fn partition_filter(
    state: &Applied,
    change: &SiteChange,
    of: Option<&str>,
) -> Result<impl Fn(&Job) -> bool + use<>, ApplyError> {
    let number = match of {
        None => None,
        Some(name) => {
            let partition_number = state.premises.pools.iter().find_map(|pool| pool.partition_number(name));
            Some(partition_number.ok_or_else(|| state.premises.unknown_place(change, "partition", name))?)
        }
    };
    Ok(move |job: &Job| number.is_none_or(|number| job.partition == number))
}

/// Leaves out jobs that ask for more than the longest limit.
pub(super) fn refuse_longer(
    state: &mut Applied,
    change: &SiteChange,
    of: Option<&str>,
    most: Span,
) -> Result<(), ApplyError> {
    let mine = partition_filter(state, change, of)?;
    let longer = |current: &Applied, draft: &JobDraft| {
        draft.job.estimate > most && mine(&draft.job) && !draft.place.is_some_and(|place| current.is_running(place))
    };
    let most = format_length(most);
    let [one, many] =
        [("asks", "is"), ("ask", "are")].map(|(ask, are)| format!("{ask} for more than {most} and {are} refused"));
    leave_out(state, change, longer, [&one, &many])
}

/// Leaves out the jobs of a user, an account or a QOS.
pub(super) fn remove(state: &mut Applied, change: &SiteChange, people: &LeftOut) -> Result<(), ApplyError> {
    let (numbers_by_name, name, kind) = match people {
        LeftOut::User(name) => (&state.premises.users, name, "user"),
        LeftOut::Account(name) => (&state.premises.accounts, name, "account"),
        LeftOut::Qos(name) => (&state.premises.qos, name, "QOS"),
    };
    let by_number = name.parse::<i32>().ok().filter(|number| numbers_by_name.is_empty() && *number >= 0);
    let Some(number) = numbers_by_name.get(name).copied().or(by_number) else {
        let known_names: Vec<&str> = numbers_by_name.keys().map(String::as_str).collect();
        return Err(ApplyError::unknown_name(change, kind, name, &known_names));
    };
    let is_of_people = |_: &Applied, draft: &JobDraft| {
        number
            == match people {
                LeftOut::User(_) => draft.job.user,
                LeftOut::Account(_) => draft.job.group,
                LeftOut::Qos(_) => draft.job.queue,
            }
    };
    let [singular, many] = ["is", "are"].map(|verb| format!("of the {kind} {name} {verb} left out"));
    leave_out(state, change, is_of_people, [&singular, &many])
}

fn leave_out(
    state: &mut Applied,
    change: &SiteChange,
    goes: impl Fn(&Applied, &JobDraft) -> bool,
    [one, many]: [&str; 2],
) -> Result<(), ApplyError> {
    let mut drafts = state.job_drafts();
    let mut left_out = LeftOutJobs::default();
    drafts.retain(|draft| {
        let goes = goes(state, draft);
        if goes {
            left_out.jobs += 1;
            left_out.node_hours += node_hours(&state.premises, &draft.job, draft.truth.run);
        }
        !goes
    });
    let phrase = if left_out.jobs == 1 { one } else { many };
    state.add_note(format!(
        "{} of {:.0} node-hours {phrase}",
        count_things(left_out.jobs, "job", "jobs"),
        left_out.node_hours
    ));
    if left_out.jobs == 0 {
        return Ok(());
    }
    state.left.jobs += left_out.jobs;
    state.left.node_hours += left_out.node_hours;
    state.rebuild_jobs(change, drafts)
}

/// Splits jobs that ask for more than the longest limit. Each piece runs up to the limit; it is
/// submitted when the one before it has ended. The last piece ends when the work is done, which no
/// policy knows before.
pub(super) fn split_jobs(
    state: &mut Applied,
    change: &SiteChange,
    of: Option<&str>,
    most: Span,
    overhead: Span,
) -> Result<(), ApplyError> {
    let mine = partition_filter(state, change, of)?;
    let (mut new_drafts, mut longer_count, mut split, mut pieces) = (Vec::new(), 0_u64, 0_u64, 0_u64);
    for draft in state.job_drafts() {
        let stays = draft.place.is_some_and(|place| state.is_running(place));
        if draft.job.estimate <= most || !mine(&draft.job) || stays {
            new_drafts.push(draft);
            continue;
        }
        longer_count += 1;
        // How long one would have run that never started is a guess: it is shortened, not split.
        if draft.place.is_some_and(|place| state.is_withdrawn(place)) {
            let mut short = draft;
            short.job.estimate = most;
            short.truth.run = short.truth.run.min(most);
            new_drafts.push(short);
            continue;
        }
        let new_pieces = pieces_of(&draft, most, overhead);
        if new_pieces.len() > 1 {
            split += 1;
            pieces += new_pieces.len() as u64;
        }
        new_drafts.extend(new_pieces);
    }
    state.split += split;
    let loss_note = if overhead > Span::ZERO {
        format!("; each piece after the first loses {}", format_length(overhead))
    } else {
        String::new()
    };
    state.add_note(format!(
        "{} for more than {} and {} that limit; {split} of them {} (checkpoint) into {pieces} pieces, each submitted when the one before it \
         has ended{loss_note}",
        count_things(longer_count, "job asks", "jobs ask"),
        format_length(most),
        if longer_count == 1 { "gets" } else { "get" },
        if split == 1 { "runs longer and is split" } else { "run longer and are split" }
    ));
    if longer_count == 0 {
        return Ok(());
    }
    state.feeds_back |= split > 0;
    state.rebuild_jobs(change, new_drafts)
}

fn pieces_of(draft: &JobDraft, most: Span, overhead: Span) -> Vec<JobDraft> {
    let (run, limit) = (draft.truth.run.0, draft.job.estimate.0);
    let (mut pieces, mut work_done) = (Vec::new(), 0);
    loop {
        let first = pieces.is_empty();
        let loss = if first { 0 } else { overhead.0 };
        let work = (run - work_done).min(most.0 - loss);
        let mut piece = draft.clone();
        // Of a job that outlives its own limit the last pieces ask for all they may.
        let requested_limit = if limit > work_done { limit - work_done + loss } else { most.0 };
        piece.job.estimate = Span(requested_limit.min(most.0));
        piece.truth.run = Span(work + loss);
        piece.place = draft.place.filter(|_| first);
        piece.follows = if first { draft.follows } else { true };
        pieces.push(piece);
        work_done += work;
        if work_done >= run {
            return pieces;
        }
    }
}

/// Gives jobs other limits. No limit falls below the run time: a user whose job would be killed
/// keeps the old one.
pub(super) fn change_limits(state: &mut Applied, change: &SiteChange, rule: LimitRule) -> Result<(), ApplyError> {
    let mut drafts = state.job_drafts();
    let shares = match rule {
        LimitRule::Percentile(percent) => past_shares(&drafts, percent),
        _ => Vec::new(),
    };
    let (mut changed_count, mut kept_count) = (0_u64, 0_u64);
    for (at, draft) in drafts.iter_mut().enumerate() {
        if draft.place.is_some_and(|place| state.is_running(place)) {
            continue;
        }
        let (old, run) = (draft.job.estimate.0, draft.truth.run.0);
        let new = match rule {
            LimitRule::Exact => Some(run.max(1)),
            LimitRule::Times(factor) => Some((old as f64 * factor.as_f64()).ceil() as i64),
            LimitRule::Percentile(_) => {
                shares[at].map(|share| whole_minutes((old as f64 * share).ceil() as i64).min(old))
            }
        };
        let Some(new) = new.filter(|&new| new != old) else { continue };
        if new < run {
            kept_count += 1;
        } else {
            draft.job.estimate = Span(new);
            changed_count += 1;
        }
    }
    let kept_note = match kept_count {
        0 => String::new(),
        1 => "; 1 job would be killed by it and keeps its limit".to_string(),
        count => format!("; {count} jobs would be killed by it and keep their limits"),
    };
    let (limits, verb) = if changed_count == 1 { ("limit", "changes") } else { ("limits", "change") };
    let jobs_text = count_things(drafts.len() as u64, "job", "jobs");
    state.add_note(format!("the {limits} of {changed_count} of {jobs_text} {verb}{kept_note}"));
    if changed_count == 0 {
        return Ok(());
    }
    state.rebuild_jobs(change, drafts)
}

fn whole_minutes(seconds: i64) -> i64 {
    (seconds.max(1) + 59) / 60 * 60
}

/// For each job this percentile (nearest rank) of the run times by limits of its user's jobs that
/// had ended when it was submitted, if none had waited; `None` of too few.
fn past_shares(drafts: &[JobDraft], percent: u8) -> Vec<Option<f64>> {
    let mut past: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
    let mut running_jobs: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::new();
    let mut shares = vec![None; drafts.len()];
    for (at, draft) in drafts.iter().enumerate() {
        while let Some(&Reverse((end, index))) = running_jobs.peek()
            && end <= draft.job.submit
        {
            running_jobs.pop();
            let ended_job = &drafts[index];
            let share = ended_job.truth.run.as_f64() / ended_job.job.estimate.as_f64().max(1.0);
            let own = past.entry(ended_job.job.user).or_default();
            let place = own.partition_point(|&value| value < share);
            own.insert(place, share);
        }
        if let Some(own) = past.get(&draft.job.user).filter(|own| own.len() >= LEAST_PAST) {
            let rank = (usize::from(percent) * own.len()).div_ceil(100).max(1);
            shares[at] = own.get(rank - 1).copied();
        }
        running_jobs.push(Reverse((draft.job.submit + draft.truth.run, at)));
    }
    shares
}

/// Makes jobs arrive at another load.
pub(super) fn change_load(
    state: &mut Applied,
    change: &SiteChange,
    factor: LoadFactor,
    arrivals: ArrivalChange,
    seed: u64,
) -> Result<(), ApplyError> {
    match arrivals {
        ArrivalChange::Compressed if factor.divide_time(Time(1_000_000_007)) == Time(1_000_000_007) => Ok(()),
        ArrivalChange::Compressed => {
            let workload = drystone::log::transform::scale_load(state.premises.workload.clone(), factor);
            state.premises.workload = workload.map_err(|error| ApplyError::new(change, error.to_string()))?;
            let outages =
                state.premises.pools.iter_mut().map(|pool| compress_outages(&mut pool.outages, factor)).sum::<usize>();
            let supply = state.table.as_ref().and_then(|table| supply::divide_times(table, factor));
            let changes = supply.as_ref().map_or(0, |(_, changes)| *changes);
            if let Some((table, _)) = supply {
                state.set_supply(table);
            }
            let out = match outages + changes {
                0 => "",
                _ if outages == 0 => ", and changes of supply with them",
                _ => ", and outages with them, which are as much shorter: the machine lacks the same share of the time",
            };
            state.add_note(format!("submit times are divided by {factor}: jobs, days and weeks come faster{out}"));
            Ok(())
        }
        ArrivalChange::Resampled => resample_days(state, change, factor, seed),
    }
}

/// Divides the times of outages as submit times are. Returns how many there are.
fn compress_outages(outages: &mut Vec<Outage>, factor: LoadFactor) -> usize {
    scale_outages(outages, factor);
    outages.len()
}

/// Repeats or leaves out days of users: all jobs that a user submitted on a day stay together. A
/// repeated day comes at the same weekday and time of another week.
fn resample_days(state: &mut Applied, change: &SiteChange, factor: LoadFactor, seed: u64) -> Result<(), ApplyError> {
    let drafts = state.job_drafts();
    let (first, last) = state.premises.workload.submit_range().unwrap_or_default();
    let begin = state.premises.workload.circumstances().and_then(|circumstances| circumstances.begin).unwrap_or(first);
    let weeks = ((last - begin).0.max(0) / Span::WEEK.0 + 1) as usize;
    let day = |job: &Job| (job.submit - begin).0.div_euclid(Span::DAY.0);
    let mut blocks: BTreeMap<(i64, i32), Vec<usize>> = BTreeMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        blocks.entry((day(&draft.job), draft.job.user)).or_default().push(at);
    }
    let mut draw = RandomDraw::new(seed, 0x10ad);
    let (whole, part) = (factor.as_f64().floor(), factor.as_f64().fract());
    let (mut new_drafts, mut added_count, mut left_out) =
        (Vec::with_capacity(drafts.len()), 0_u64, LeftOutJobs::default());
    for ((day, _), places) in &blocks {
        // Jobs that are here at the beginning belong to no day.
        let is_fixed = *day < 0;
        let copies = if is_fixed { 1 } else { whole as usize + usize::from(draw.draw_unit() < part) };
        if copies == 0 {
            for &at in places {
                left_out.jobs += 1;
                left_out.node_hours += node_hours(&state.premises, &drafts[at].job, drafts[at].truth.run);
            }
        }
        for copy in 0..copies {
            let week = draw.draw_below(weeks) as i64;
            let shift = Span((week - day.div_euclid(7)) * Span::WEEK.0);
            for &at in places {
                let mut draft = drafts[at].clone();
                if copy > 0 {
                    draft.job.submit += shift;
                    (draft.origin, draft.place) = (None, None);
                    added_count += 1;
                }
                new_drafts.push(draft);
            }
        }
    }
    // Pieces stay behind each other only within their blocks, which are in order.
    state.add_note(format!(
        "load by resampled arrivals: days of users are drawn and {} (seed {seed}): {} more, {} fewer",
        if factor.as_f64() >= 1.0 { "repeated in other weeks" } else { "left out" },
        count_things(added_count, "job", "jobs"),
        left_out.jobs
    ));
    state.added += added_count;
    state.left.jobs += left_out.jobs;
    state.left.node_hours += left_out.node_hours;
    if added_count == 0 && left_out.jobs == 0 {
        return Ok(());
    }
    state.rebuild_jobs(change, new_drafts)
}

/// Moves jobs from one partition to another, by their size or their limit.
pub(super) fn move_border(state: &mut Applied, change: &SiteChange, border: &Border) -> Result<(), ApplyError> {
    let premises = &state.premises;
    let find = |name: &str| premises.pools.iter().find_map(|pool| pool.partition_number(name));
    let mine = find(&border.partition).ok_or_else(|| premises.unknown_place(change, "partition", &border.partition))?;
    let other_partition = match &border.others {
        Some(name) => find(name).ok_or_else(|| premises.unknown_place(change, "partition", name))?,
        None => largest_other(state, mine).ok_or_else(|| {
            ApplyError::new(
                change,
                "there is no other partition with jobs; name one: border small: nodes<=4 else large",
            )
        })?,
    };
    let name = |number: i32| {
        let partitions = premises.pools.iter().flat_map(|pool| &pool.partitions);
        partitions
            .clone()
            .find(|partition| partition.number == number)
            .map_or("", |partition| partition.name.as_str())
            .to_string()
    };
    let (mine_name, others_name) = (name(mine), name(other_partition));
    let pool = |number: i32| premises.pools.iter().position(|pool| pool.has_partition(number));
    if pool(mine) == pool(other_partition) && !premises.is_slurm {
        let problem = "both partitions are of one pool, and this policy knows no partitions; Slurm's own scheduler does (--policy slurm)";
        return Err(ApplyError::new(change, problem));
    }
    let mut drafts = state.job_drafts();
    let confs: Vec<Option<SlurmConf>> =
        premises.pools.iter().map(|pool| ConfText::from_text(pool.conf.as_deref()?).parse_conf().ok()).collect();
    // Without a configuration nothing but processors is known of a partition.
    let goes = |job: &Job, target: i32, name: &str| match pool(target).and_then(|at| confs[at].as_ref()) {
        Some(conf) => {
            can_go(state.table.as_ref().and_then(|table| table.node_shape(job.demand)), job.procs, conf, name)
        }
        None => true,
    };
    let (mut to, mut from, mut wide) = (0_u64, 0_u64, 0_u64);
    for draft in &mut drafts {
        let job = &mut draft.job;
        let value = match border.what {
            Bordered::Nodes => premises.nodes_of(job).ceil() as i64,
            Bordered::Procs => {
                let scale = premises.pools[premises.pool_of(job)].scale.max(1);
                i64::from(job.procs.div_ceil(scale))
            }
            Bordered::Limit => job.estimate.0,
        };
        let belongs = (value <= border.value) == border.at_most;
        let target = match (job.partition == mine, job.partition == other_partition) {
            (true, _) if !belongs => other_partition,
            (_, true) if belongs => mine,
            _ => continue,
        };
        let is_running = draft.place.is_some_and(|place| state.is_running(place));
        let room =
            pool(target).map_or(0, |at| premises.pools[at].procs.saturating_mul(premises.pools[at].scale.max(1)));
        let target_name = if target == mine { &mine_name } else { &others_name };
        if is_running || job.procs > room || !goes(job, target, target_name) {
            wide += u64::from(!is_running);
            continue;
        }
        job.partition = target;
        *(if target == mine { &mut to } else { &mut from }) += 1;
    }
    let wide = if wide > 0 { format!("; {wide} ask for what is not there and stay") } else { String::new() };
    state.add_note(format!(
        "{} from {others_name} to {mine_name}, {from} from {mine_name} to {others_name}{wide}; a job that moves keeps its size",
        count_things(to, "job moves", "jobs move")
    ));
    if to + from == 0 {
        return Ok(());
    }
    let was: Vec<i32> = state.premises.workload.jobs().iter().map(|job| job.partition).collect();
    let has_moved = |draft: &JobDraft| draft.place.is_none_or(|place| was[place as usize] != draft.job.partition);
    state.drop_demand_totals(change, &mut drafts, has_moved)?;
    state.rebuild_jobs(change, drafts)
}

/// The partition with the most jobs beside one: of its pool where that has another with jobs.
fn largest_other(state: &Applied, mine: i32) -> Option<i32> {
    let premises = &state.premises;
    let mut jobs: BTreeMap<i32, u64> = BTreeMap::new();
    for job in premises.workload.jobs() {
        *jobs.entry(job.partition).or_default() += 1;
    }
    let pool = premises.pools.iter().find(|pool| pool.has_partition(mine))?;
    let best = |partitions: &mut dyn Iterator<Item = i32>| {
        let other_numbers = partitions.filter(|&number| number != mine && jobs.contains_key(&number));
        other_numbers.max_by_key(|number| (jobs[number], Reverse(*number)))
    };
    let own = best(&mut pool.partitions.iter().map(|partition| partition.number));
    own.or_else(|| best(&mut premises.pools.iter().flat_map(|pool| &pool.partitions).map(|partition| partition.number)))
}
