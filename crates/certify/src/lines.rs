//! The lines of a recording.

use super::recorded::{GoldenJob, GoldenShare, Happening, LineJob};
use drystone_slurm::conf::{PreemptMode, expand_hostlist};
use std::collections::BTreeMap;

pub(super) struct LineColumns {
    columns: BTreeMap<String, usize>,
}

/// Fields of a line of comma-separated values, some in quotes.
fn split_fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

impl LineColumns {
    pub(super) fn new(header: &str) -> LineColumns {
        LineColumns { columns: split_fields(header).into_iter().zip(0..).collect() }
    }

    /// A job, and the place of its submission.
    pub(super) fn parse_job(&self, line: &str) -> Result<(i64, GoldenJob), String> {
        let fields = split_fields(line);
        let text = |name: &str| {
            let field = self.columns.get(name).and_then(|&at| fields.get(at));
            field.map(|text| text.trim().to_string()).filter(|text| !text.is_empty())
        };
        let number = |name: &str| {
            let text = text(name).ok_or_else(|| format!("no value in the column {name}"))?;
            text.parse::<i64>().map_err(|_| format!("{name}: `{text}` is no number"))
        };
        let some = |name: &str| text(name).map(|_| number(name)).transpose();
        let flag = |name: &str| some(name).map(|value| value.map(|value| value != 0));
        let array = some("array_job")?;
        let task = match (array, some("array_task")?) {
            (Some(array), Some(task)) => Some((array as u32, task as u32)),
            _ => None,
        };
        let list = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            text.split(',').map(|own| own.trim().to_string()).filter(|own| !own.is_empty()).collect()
        };
        // Once a job has started in one of its partitions, Slurm shows that one first.
        let partitions_now = list(text("partition"));
        let submitted_partitions = ["partitions", "asked_partitions", "part"].iter().find_map(|name| text(name));
        let nodes_of = |names: [&str; 4]| -> Result<Vec<String>, String> {
            names.iter().find_map(|name| text(name)).map_or(Ok(Vec::new()), |list| expand_hostlist(&list))
        };
        let mut job = GoldenJob {
            partitions: if submitted_partitions.is_some() {
                list(submitted_partitions)
            } else {
                partitions_now.clone()
            },
            named: (
                nodes_of(["nodelist", "req_nodes", "reqnodelist", "w"])?,
                nodes_of(["exclude", "exc_nodes", "excnodelist", "x"])?,
            ),
            slurm_id: number("slurm_id")? as u32,
            submit: number("submit")?,
            start: some("start")?.unwrap_or(-1),
            n: number("n")? as u32,
            limit: number("limit_min")?,
            run: number("run_s")?,
            partition: partitions_now.into_iter().next().unwrap_or_default(),
            user: text("user").unwrap_or_default(),
            account: text("account").filter(|a| a != "(null)").unwrap_or_default(),
            qos: text("qos").filter(|q| q != "(null)" && q != "N/A").unwrap_or_default(),
            task,
            throttle: some("throttle")?.unwrap_or(0) as u32,
            one: flag("one")?,
            nodes: some("min_nodes")?.map(|n| n as u32),
            exclusive: flag("exclusive")?.unwrap_or(false),
            nice: some("nice")?.unwrap_or(0),
            place: number("job")?,
            eligible: some("eligible")?.filter(|&at| at >= 0),
            completed: text("state").is_none_or(|state| state == "COMPLETED"),
            restarts: some("restarts")?.unwrap_or(0),
            max_nodes: some("max_nodes")?.map(|n| n as u32),
            tasks: self
                .columns
                .contains_key("cpus_per_task")
                .then(|| -> Result<_, String> {
                    Ok((some("tasks")?.unwrap_or(0) as u32, some("cpus_per_task")?.unwrap_or(1) as u32))
                })
                .transpose()?,
            memory: (some("mem_per_node")?.map(|mb| mb as u64), some("mem_per_cpu")?.map(|mb| mb as u64)),
            gres: ["gres_per_node", "gpus", "gpus_per_node", "gpus_per_task"]
                .map(|name| text(name).unwrap_or_default()),
            each_gpu: (some("cpus_per_gpu")?.unwrap_or(0) as u32, some("mem_per_gpu")?.map(|mb| mb as u64)),
            constraint: text("constraint").unwrap_or_default(),
            licences: text("licenses").unwrap_or_default(),
            reservation: text("reservation").unwrap_or_default(),
            dependency: text("dependency").unwrap_or_default(),
        };
        // A job has no fewer processors than it asked for: the command said less than the line.
        let tres = text("tres").unwrap_or_default();
        let cpus = tres.split(',').find_map(|part| part.strip_prefix("cpu=")?.parse::<u32>().ok());
        if let (Some(cpus), Some((tasks, each))) = (cpus.filter(|&cpus| cpus > 0), &mut job.tasks)
            && cpus < tasks.saturating_mul((*each).max(1))
        {
            *tasks = (cpus / (*each).max(1)).max(1);
            job.n = cpus;
        }
        Ok((job.place, job))
    }
}

/// Slurm's names of the jobs.
pub(super) struct JobNames {
    by_id: BTreeMap<u32, u32>,
    by_task: BTreeMap<(u32, u32), u32>,
    arrays: BTreeMap<u32, u32>,
}

impl JobNames {
    pub(super) fn new(jobs: &[GoldenJob]) -> JobNames {
        let ids = || jobs.iter().zip(0_u32..);
        JobNames {
            by_id: ids().map(|(job, at)| (job.slurm_id, at)).collect(),
            by_task: ids().filter_map(|(job, at)| job.task.map(|task| (task, at))).collect(),
            arrays: ids().filter_map(|(job, at)| job.task.map(|(array, _)| (array, at))).collect(),
        }
    }

    /// `7`, a task `7_3` with its own number behind it, what is left of an array `7_*` or
    /// `7_[4-9]`, a part `7+1` of a heterogeneous job. `None` for a job that the recording does not
    /// have.
    fn parse_name(&self, text: &str) -> Result<Option<LineJob>, String> {
        let text = text.split('(').next().unwrap_or(text).trim_end_matches('.');
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number of a job"));
        if let Some((leader, part)) = text.split_once('+') {
            // The parts have consecutive numbers; several at once are `7+[0-2]`.
            let id = number(leader)?.checked_add(part.parse().unwrap_or(0));
            return Ok(id.and_then(|id| self.by_id.get(&id)).map(|&at| LineJob::Job(at)));
        }
        match text.split_once('_') {
            Some((array, task)) => {
                let array = number(array)?;
                match task.parse::<u32>() {
                    Ok(task) => Ok(self.by_task.get(&(array, task)).map(|&at| LineJob::Job(at))),
                    Err(_) => Ok(self.arrays.contains_key(&array).then_some(LineJob::Tasks(array))),
                }
            }
            None => {
                let id = number(text)?;
                if self.arrays.contains_key(&id) {
                    return Ok(Some(LineJob::Tasks(id)));
                }
                Ok(self.by_id.get(&id).map(|&at| LineJob::Job(at)))
            }
        }
    }

    /// As [`JobNames::parse_name`], where Slurm writes a task by its own number alone.
    fn parse_own_name(&self, text: &str) -> Result<Option<LineJob>, String> {
        if text.contains('+') {
            return self.parse_name(text);
        }
        let id = text.parse::<u32>().map_err(|_| format!("`{text}` is no number of a job"))?;
        Ok(self.by_id.get(&id).map(|&at| LineJob::Job(at)))
    }
}

/// `n1:cpus=0-3,6:mem=1000:gres=gpu:a:2(IDX:0-1)` for each node, or for several that are alike.
fn parse_shares(words: &[&str]) -> Result<Vec<GoldenShare>, String> {
    let mut shares = Vec::new();
    for word in words {
        let wrong = || format!("`{word}` does not say what a job has of a node");
        let (nodes, rest) = word.split_once(":cpus=").ok_or_else(wrong)?;
        let (cpus, rest) = rest.split_once(":mem=").ok_or_else(wrong)?;
        let (memory, gres) = rest.split_once(":gres=").ok_or_else(wrong)?;
        let (mut count, mut cores) = (0, 0_u64);
        for range in cpus.split(',').filter(|range| !range.is_empty()) {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            count += last.saturating_sub(first) + 1;
            (first..=last.min(63)).for_each(|core| cores |= 1 << core);
        }
        let memory = memory.parse().map_err(|_| wrong())?;
        for node in expand_hostlist(nodes)? {
            shares.push(GoldenShare { node, cpus: count, cores, memory, gres: gres.to_string() });
        }
    }
    Ok(shares)
}

/// A line of the log; `None` for those that say nothing here.
pub(super) fn parse_event(line: &str, names: &JobNames) -> Result<Option<(i64, Happening)>, String> {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let [time, keyword, rest @ ..] = words.as_slice() else {
        return Ok(None);
    };
    let seconds = time.parse::<f64>().map_err(|_| format!("`{time}` is no time in seconds"))?;
    let word = |index: usize| rest.get(index).copied().ok_or(format!("{keyword}: word {} is missing", index + 1));
    let number = |index: usize| {
        let word = word(index)?;
        word.parse::<i64>().map_err(|_| format!("{keyword}: `{word}` is no number"))
    };
    let nodes = |index: usize| expand_hostlist(word(index)?);
    let simple = match *keyword {
        "sched_pass" => Some(Happening::MainPass(rest.contains(&"full"))),
        "bf_pass" => Some(Happening::BackfillPass),
        "bf_later" | "bf_overlap" | "bf_window" | "bf_noresv" | "bf_limit" => Some(Happening::Tried),
        "bf_yield" => Some(Happening::Yield),
        "bf_abort" => Some(Happening::Abort),
        "bf_done" => Some(Happening::Done),
        "epilog" => {
            let of = names.parse_own_name(word(0)?).ok().flatten();
            let id = of.and_then(|name| if let LineJob::Job(id) = name { Some(id) } else { None });
            Some(Happening::Epilog(id, word(1)?.to_string()))
        }
        "resp" => Some(Happening::Answer(word(0)?.to_string())),
        "action" => Some(Happening::Action(rest.join(" "))),
        "calc" | "decay" => Some(Happening::Calculation),
        _ => None,
    };
    let at = (seconds * 1000.0).round() as i64;
    if let Some(happening) = simple {
        return Ok(Some((at, happening)));
    }
    const ABOUT_JOBS: [&str; 18] = [
        "behind",
        "submit",
        "sched_start",
        "bf_test",
        "bf_start",
        "bf_resv",
        "complete",
        "prio",
        "prio_parts",
        "timeout",
        "requeued",
        "preempt_requeue",
        "preempt_cancel",
        "preempt_suspend",
        "preempt_grace",
        "alloc",
        "gang_suspend",
        "gang_resume",
    ];
    if !ABOUT_JOBS.contains(keyword) {
        return Ok(None);
    }
    let name = if ["prio", "prio_parts", "alloc", "gang_suspend", "gang_resume"].contains(keyword)
        && !word(0)?.contains('_')
    {
        names.parse_own_name(word(0)?)?
    } else {
        names.parse_name(word(0)?)?
    };
    let Some(name) = name else { return Ok(None) };
    let by = |mode: PreemptMode| -> Result<_, String> {
        let by = match word(1)? {
            "0" | "Invalid" => None,
            by => names.parse_name(by)?,
        };
        Ok(Some(Happening::Preempted(name, by, mode)))
    };
    let happening = match *keyword {
        "submit" => Some(Happening::Submit(name, number(1)?)),
        "sched_start" => Some(Happening::MainStart(name, nodes(1)?)),
        "bf_test" => Some(Happening::Test(name, number(1)?, rest.get(2).map(ToString::to_string))),
        "behind" => rest.get(1).map(|part| Happening::Behind(name, part.to_string())),
        "bf_start" => Some(Happening::BackfillStart(name, nodes(2)?)),
        "bf_resv" => Some(Happening::Plan(name, number(1)?, number(2)?, nodes(3)?)),
        "complete" => Some(Happening::Complete(name)),
        "prio" => Some(Happening::Priority(name, number(1)?)),
        "prio_parts" => {
            let sum = rest.iter().rposition(|word| *word == "=").and_then(|at| rest.get(at + 1)?.parse::<f64>().ok());
            // Site, age, association, fair share, size, partition, …
            let parts: Vec<f64> = rest[1..].iter().filter_map(|word| word.parse().ok()).collect();
            let of_part = parts.get(5).map(|part| part.round() as i64);
            sum.map(|sum| Happening::Factors(name, (sum as i64).max(1), of_part))
        }
        "timeout" => Some(Happening::Timeout(name)),
        "requeued" => Some(Happening::Requeued(name)),
        "preempt_requeue" => by(PreemptMode::Requeue)?,
        "preempt_cancel" => by(PreemptMode::Cancel)?,
        "preempt_suspend" => by(PreemptMode::Suspend)?,
        "alloc" => Some(Happening::Has(name, parse_shares(&rest[1..])?)),
        "gang_suspend" => Some(Happening::Gang(name, true)),
        "gang_resume" => Some(Happening::Gang(name, false)),
        _ => Some(Happening::Grace(name, number(1)?)),
    };
    Ok(happening.map(|happening| (at, happening)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_heterogeneous_jobs_are_jobs_of_their_own() {
        let job = |slurm_id| GoldenJob { slurm_id, ..GoldenJob::default() };
        let names = JobNames::new(&[job(24), job(25), job(26)]);
        assert_eq!(names.parse_name("25+0(25)"), Ok(Some(LineJob::Job(1))));
        assert_eq!(names.parse_name("25+1(26)"), Ok(Some(LineJob::Job(2))));
        assert_eq!(names.parse_name("25+2"), Ok(None), "the recording lacks it");
        assert_eq!(names.parse_own_name("25+1"), Ok(Some(LineJob::Job(2))));
        assert!(names.parse_name("x+1").is_err());
    }

    #[test]
    fn a_job_whose_grace_is_over_goes_for_no_other() {
        let job = |slurm_id| GoldenJob { slurm_id, ..GoldenJob::default() };
        let names = JobNames::new(&[job(1), job(2)]);
        for by in ["0", "Invalid"] {
            let event = parse_event(&format!("26.660 preempt_cancel 1 {by}"), &names);
            let expected = Happening::Preempted(LineJob::Job(0), None, PreemptMode::Cancel);
            assert_eq!(event, Ok(Some((26_660, expected))));
        }
    }
}
