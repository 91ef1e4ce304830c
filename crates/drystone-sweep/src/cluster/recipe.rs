//! Scripts for other systems than Slurm, to be read, changed and run by their users.

use super::batch::{Array, BatchSystem, run_command};
use super::shell::quote_word;
use crate::error::SweepError;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

drystone::word_enum! {
    /// A system for which there is a recipe.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum BatchRecipe {
        /// HyperQueue: many tasks in few allocations.
        Hyperqueue = "hyperqueue",
        /// Snakemake: a rule per task.
        Snakemake = "snakemake",
        /// GNU parallel: one machine, or several by ssh.
        Parallel = "parallel",
        /// PBS Pro and OpenPBS: a job array.
        Pbs = "pbs",
        /// submitit: from Python to Slurm.
        Submitit = "submitit",
    }
}

impl BatchRecipe {
    /// Returns the name of its script in a submission's folder.
    pub fn file_name(self) -> &'static str {
        match self {
            BatchRecipe::Hyperqueue => "hyperqueue.sh",
            BatchRecipe::Snakemake => "Snakefile",
            BatchRecipe::Parallel => "parallel.sh",
            BatchRecipe::Pbs => "pbs.sh",
            BatchRecipe::Submitit => "submitit.py",
        }
    }

    pub fn run_command(self) -> &'static [&'static str] {
        match self {
            BatchRecipe::Hyperqueue | BatchRecipe::Parallel => &["sh"],
            BatchRecipe::Snakemake => &["snakemake", "--cores", "all", "--snakefile"],
            BatchRecipe::Pbs => &["qsub"],
            BatchRecipe::Submitit => &["python3"],
        }
    }
}

impl fmt::Display for BatchRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A system for which there is no recipe.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no recipe for `{system}`; expected one of {}", BatchRecipe::ALL.map(BatchRecipe::name).join(", "))]
pub struct RecipeError {
    pub system: String,
}

impl FromStr for BatchRecipe {
    type Err = RecipeError;

    fn from_str(text: &str) -> Result<BatchRecipe, RecipeError> {
        let recipe = BatchRecipe::ALL.into_iter().find(|recipe| recipe.name() == text);
        recipe.ok_or_else(|| RecipeError { system: text.to_string() })
    }
}

impl BatchSystem for BatchRecipe {
    fn render_script(&self, array: &Array<'_>) -> String {
        let head = array.header_comment("#", &format!("`{} FILE` runs them.", self.run_command().join(" ")));
        match self {
            BatchRecipe::Hyperqueue => hyperqueue_script(array, &head),
            BatchRecipe::Snakemake => snakemake_script(array, &head),
            BatchRecipe::Parallel => parallel_script(array, &head),
            BatchRecipe::Pbs => pbs_script(array, &head),
            BatchRecipe::Submitit => submitit_script(array, &head),
        }
    }

    fn submit(&self, script: &Path) -> Result<String, SweepError> {
        let mut command = Command::new(self.run_command()[0]);
        command.args(&self.run_command()[1..]).arg(script);
        run_command(command)
    }
}

/// A command of a task that writes to a log; both are for a shell.
fn logged_command(array: &Array<'_>, task: &str, log: &str) -> String {
    format!("{} >>{} 2>&1", array.task_command(task), array.task_log(log))
}

fn hyperqueue_script(array: &Array<'_>, head: &str) -> String {
    let command =
        quote_word(&format!("exec {}", logged_command(array, "\"$HQ_TASK_ID\"", "hq-\"$HQ_JOB_ID\"_\"$HQ_TASK_ID\"")));
    let limit = array.terms.limit.map_or(String::new(), |limit| format!(" --time-limit={limit}s"));
    format!(
        "#!/bin/sh\n{head}# A server and workers must exist: `hq server start`, `hq alloc add slurm`. Only failed \
         tasks again:\n\
         # `hq job submit-file`, or this script once more, in which finished tasks end at once.\n\
         exec hq submit --name={} --array=1-{} --cpus={}{limit} --stdout=none --stderr=none -- sh -c {command}\n",
        quote_word(array.name),
        array.tasks,
        array.terms.cpus
    )
}

fn snakemake_script(array: &Array<'_>, head: &str) -> String {
    let folder = array.folder.to_string_lossy();
    let marker = python_literal(&format!("{}/done/{{task}}", folder.replace('{', "{{").replace('}', "}}")));
    // Braces are snakemake's.
    let command = logged_command(array, "TASK", "snakemake_TASK").replace('{', "{{").replace('}', "}}");
    let command = python_literal(&format!("exec {}", command.replace("TASK", "{wildcards.task}")));
    let runtime =
        array.terms.limit.map_or(String::new(), |limit| format!("    resources: runtime={}\n", limit.div_ceil(60)));
    format!(
        "{head}# On a cluster: `snakemake --executor slurm --jobs 100 --snakefile FILE`.\n\
         rule all:\n    input: expand({marker}, task=range(1, {}))\n\n\
         rule simulate:\n    output: touch({marker})\n    threads: {}\n{runtime}    retries: 2\n    shell: {command}\n",
        array.tasks + 1,
        array.terms.cpus
    )
}

fn parallel_script(array: &Array<'_>, head: &str) -> String {
    let (tasks, cpus) = (array.tasks, array.terms.cpus);
    let jobs = match array.terms.max_running {
        Some(most) => most.to_string(),
        // As many as the machine has room for, and one at least.
        None if cpus > 1 => format!("$(( $(nproc) > {cpus} ? $(nproc) / {cpus} : 1 ))"),
        None => "100%".to_string(),
    };
    let joblog = quote_word(&format!("{}/parallel.joblog", array.folder.to_string_lossy()));
    let command = quote_word(&logged_command(array, "{}", "parallel_{}"));
    let limit = array.terms.limit.map_or(String::new(), |limit| format!(" --timeout {limit}"));
    format!(
        "#!/bin/sh\n{head}# Repeated, it runs failed and missing tasks. On several machines that share this folder: \
         --sshlogin.\n\
         seq 1 {tasks} | parallel --jobs {jobs} --joblog {joblog} --resume-failed{limit} --termseq TERM,30000,KILL {command}\n"
    )
}

fn pbs_script(array: &Array<'_>, head: &str) -> String {
    let terms = array.terms;
    let mut options = vec![format!("-N {}", name_for_pbs(array.name))];
    // PBS has no arrays of one.
    let (task, log) = if array.tasks == 1 {
        ("1", "pbs-\"${PBS_JOBID%%.*}\"_1")
    } else {
        let running_limit = terms.max_running.map_or(String::new(), |most| format!("%{most}"));
        options.push(format!("-J 1-{}{running_limit}", array.tasks));
        ("\"$PBS_ARRAY_INDEX\"", "pbs-\"${PBS_JOBID%%\\[*}\"_\"$PBS_ARRAY_INDEX\"")
    };
    options.push(format!("-l select=1:ncpus={}", terms.cpus));
    if let Some(limit) = terms.limit {
        options.push(format!("-l walltime={:02}:{:02}:{:02}", limit / 3600, limit / 60 % 60, limit % 60));
    }
    options.push("-r y".to_string());
    options.push("-j oe".to_string());
    let options: String = options.iter().map(|option| format!("#PBS {option}\n")).collect();
    format!("#!/bin/sh\n{head}{options}\nexec {}\n", logged_command(array, task, log))
}

/// Turns a name into one that PBS accepts: at most 15 characters in old versions, a letter first,
/// no blanks.
fn name_for_pbs(name: &str) -> String {
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    let begin = if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "s" };
    format!("{begin}{plain}").chars().take(15).collect()
}

fn submitit_script(array: &Array<'_>, head: &str) -> String {
    let terms = array.terms;
    let folder = python_literal(&array.folder.to_string_lossy());
    let scratch =
        terms.scratch.as_ref().map(|place| format!(", \"--scratch\", os.path.expandvars({})", python_literal(place)));
    let mut parameters = format!("name={}, cpus_per_task={}", python_literal(array.name), terms.cpus);
    if let Some(limit) = terms.limit {
        parameters.push_str(&format!(", timeout_min={}", limit.div_ceil(60)));
    }
    if let Some(most) = terms.max_running {
        parameters.push_str(&format!(", slurm_array_parallelism={most}"));
    }
    format!(
        "{head}import os\nimport subprocess\n\nimport submitit\n\nFOLDER = {folder}\n\n\n\
         def simulate(task):\n    command = [{}, \"sweep\", \"task\", str(task), FOLDER{}]\n    \
         with open(f\"{{FOLDER}}/log/submitit_{{task}}.log\", \"a\") as log:\n        \
         subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT)\n\n\n\
         if __name__ == \"__main__\":\n    executor = submitit.AutoExecutor(folder=FOLDER + \"/log/submitit-%j\")\n    \
         executor.update_parameters({parameters})\n    jobs = executor.map_array(simulate, range(1, {}))\n    \
         print(len(jobs), \"tasks submitted\")\n    for job in jobs:\n        job.result()\n",
        python_literal(&array.program.to_string_lossy()),
        scratch.unwrap_or_default(),
        array.tasks + 1
    )
}

/// A text as Python writes it: as JSON does, for text without control characters.
fn python_literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Terms;

    fn script(recipe: BatchRecipe, tasks: usize, name: &str) -> String {
        let terms = Terms {
            tasks: 3,
            cpus: 2,
            limit: Some(5400),
            max_running: Some(8),
            scratch: None,
            publish_every: 60,
            logs: None,
            args: Vec::new(),
            not_reproducible: false,
        };
        let folder = format!("/w/{name}.db.tasks/1");
        let (folder, program) = (Path::new(&folder), Path::new("/opt/drystone"));
        recipe.render_script(&Array { name, folder, program, tasks, simulations: 9, terms: &terms })
    }

    #[test]
    fn each_has_a_name_and_begins_with_how_it_is_run() {
        for recipe in BatchRecipe::ALL {
            assert_eq!(recipe.name().parse(), Ok(recipe));
            let text = script(recipe, 3, "study");
            let first = text.lines().find(|line| !line.starts_with("#!")).expect("a line");
            assert!(first.contains(&recipe.run_command().join(" ")) && first.starts_with("# 9 simulations"), "{text}");
            assert!(text.contains("/w/study.db.tasks/1"), "{text}");
        }
        assert!("torque".parse::<BatchRecipe>().expect_err("none").to_string().contains("hyperqueue, snakemake"));
    }

    #[test]
    fn pbs_has_no_array_of_one() {
        let text = script(BatchRecipe::Pbs, 3, "study");
        assert!(text.contains("#PBS -J 1-3%8\n#PBS -l select=1:ncpus=2\n#PBS -l walltime=01:30:00\n"), "{text}");
        let single = script(BatchRecipe::Pbs, 1, "study");
        assert!(!single.contains("-J") && single.contains("sweep task 1 /w/"), "{single}");
        assert_eq!(name_for_pbs("9 of my longest studies"), "s9ofmylongeststudies"[..15].to_string());
    }

    #[test]
    fn a_blank_or_a_brace_in_a_name_stays_what_it_is() {
        let text = script(BatchRecipe::Snakemake, 3, "a {b}");
        assert!(text.contains("\"/w/a {{b}}.db.tasks/1/done/{task}\""), "{text}");
        assert!(
            text.contains("sweep task {wildcards.task} '/w/a {{b}}.db.tasks/1' >>'/w/a {{b}}.db.tasks/1'/log/"),
            "{text}"
        );
        let text = script(BatchRecipe::Parallel, 3, "a b");
        assert!(text.contains(r"'/opt/drystone sweep task {} '\''/w/a b.db.tasks/1'\'' >>"), "{text}");
    }
}
