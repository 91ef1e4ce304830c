//! Plans: every configuration of a study, and the simulations they need.

use crate::case::{SweepCase, list_cases};
use crate::chunk::SweepChunk;
use crate::design::DesignLevel;
use crate::error::SweepError;
use crate::hash::short_hash;
use crate::localise_policy;
use crate::metric::{JobMeasurer, OwnMeasures, OwnMetric, SweepMetric};
use crate::study::{PolicyEntry, RESERVED, SweepStudy};
use drystone::engine::Unfit;
use drystone::metrics::Metric;
use drystone::policy::{PolicySpec, SpecError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Every configuration of a study and every simulation, in an order that depends on nothing but the
/// study.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    /// The study file, as an absolute path where that can be found, and its text.
    pub file: String,
    /// The text of the study file.
    pub text: String,
    /// Name of the study.
    pub name: String,
    /// Metrics to measure: those of the study, then the calling program's own.
    pub metrics: Vec<SweepMetric>,
    /// Every parameter of every policy.
    pub parameters: Vec<String>,
    /// The workloads.
    pub cases: Vec<SweepCase>,
    /// Every point of every policy with every workload, point by point.
    pub configurations: Vec<Configuration>,
    pub simulations: Vec<PlannedSimulation>,
    /// Fingerprint of all of this but names of files and metrics of the calling program: studies
    /// with equal plans have equal results.
    pub hash: String,
    /// Measurer of the calling program's own metrics.
    pub(crate) own: Option<OwnMeasures>,
    /// Identities of the programs that policies call, by name.
    pub(crate) programs: BTreeMap<String, String>,
}

/// A point of a study: a policy with its parameters on a workload.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Its place in the plan's cases.
    pub case: usize,
    /// The name of the policy's entry in the study.
    pub name: String,
    /// The policy as the study has it, with the values of its parameters.
    pub policy: PolicySpec,
    /// The values of the plan's parameters; `None` for those of other policies.
    pub point: Vec<Option<DesignLevel>>,
    /// The place of its simulation in the plan.
    pub simulation: usize,
}

/// A simulation that one configuration or several equal ones need.
#[derive(Clone, Debug)]
pub struct PlannedSimulation {
    /// Its number: that of the first configuration that needs it, from 1.
    pub id: i64,
    /// The place of its workload in the plan's cases.
    pub case: usize,
    pub policy: PolicySpec,
    pub canonical: String,
    /// The places of the configurations that need it.
    pub configurations: Vec<usize>,
}

impl SweepPlan {
    /// Reads the workloads of a study and lists its configurations. Logs are looked for in `logs`,
    /// else beside the study file; each is read once.
    ///
    /// # Errors
    /// A log is missing or broken, a month is not in it, or a policy cannot be simulated on a
    /// workload.
    ///
    /// Cost: memory for the workloads, about 150 bytes a job, and about 300 bytes a configuration.
    pub fn from_study(study: &SweepStudy, logs: Option<&Path>) -> Result<SweepPlan, SweepError> {
        let cases = list_cases(study, logs)?;
        let parameters: Vec<String> = study.parameters().into_iter().map(String::from).collect();
        let mut configurations = Vec::new();
        let mut simulations: Vec<PlannedSimulation> = Vec::new();
        // The entry of the study that first asked for each simulation.
        let mut entries: Vec<&PolicyEntry> = Vec::new();
        let mut numbers: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for entry in &study.policies {
            for (levels, policy) in &entry.points {
                let level =
                    |name: &String| entry.parameters.iter().position(|p| p == name).map(|at| levels[at].clone());
                let point: Vec<Option<DesignLevel>> = parameters.iter().map(level).collect();
                // Most workloads share their study and log, and with them the meaning of the
                // policy.
                let mut meanings: Vec<PolicyMeaning<'_>> = Vec::new();
                for (at, case) in cases.iter().enumerate() {
                    let PolicyMeaning { policy, own, canonical, .. } =
                        PolicyMeaning::find_or_add(&mut meanings, study, entry, policy, case)?;
                    let key = (case.hash.clone() + &case.given.settings, case.trim.to_string(), canonical.clone());
                    let place = configurations.len();
                    let simulation = *numbers.entry(key).or_insert_with(|| {
                        entries.push(entry);
                        simulations.push(PlannedSimulation {
                            id: place as i64 + 1,
                            case: at,
                            policy: own,
                            canonical,
                            configurations: Vec::new(),
                        });
                        simulations.len() - 1
                    });
                    simulations[simulation].configurations.push(place);
                    let (name, point) = (entry.name.clone(), point.clone());
                    configurations.push(Configuration { case: at, name, policy, point, simulation });
                }
            }
        }
        for (PlannedSimulation { case, policy, .. }, entry) in simulations.iter().zip(entries) {
            let case = &cases[*case];
            policy
                .build_scheduler()
                .check_fit(&case.workload)
                .map_err(|e| unfit_error(study, entry, policy, &case.label(), &e))?;
        }
        unused_priorities(study, &cases, &simulations)?;
        let file = std::path::absolute(&study.file).unwrap_or_else(|_| study.file.clone());
        let mut plan = SweepPlan {
            file: file.display().to_string(),
            text: study.text.clone(),
            name: study.name.clone(),
            metrics: study.metrics.iter().copied().map(SweepMetric::from).collect(),
            parameters,
            cases,
            configurations,
            simulations,
            hash: String::new(),
            own: None,
            programs: BTreeMap::new(),
        };
        plan.hash = plan.compute_fingerprint();
        Ok(plan)
    }

    fn compute_fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut hash_text = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        hash_text(&self.name);
        for metric in &self.metrics {
            hash_text(&metric.to_string());
        }
        for parameter in &self.parameters {
            hash_text(parameter);
        }
        for case in &self.cases {
            hash_text(&case.label());
            hash_text(&case.hash);
            hash_text(&case.trim.to_string());
            if !case.given.settings.is_empty() {
                hash_text(&case.given.settings);
            }
        }
        for configuration in &self.configurations {
            hash_text(&configuration.name);
            hash_text(configuration.policy.text());
            for level in &configuration.point {
                hash_text(&level.as_ref().map_or("-".to_string(), DesignLevel::to_string));
            }
        }
        short_hash(hasher.finalize())
    }

    /// The plan with the programs that its policies call: by the value of a parameter that names
    /// the program a text that changes with what it does. A store that has results of another one
    /// refuses the plan.
    #[must_use]
    pub fn with_programs(self, programs: BTreeMap<String, String>) -> SweepPlan {
        SweepPlan { programs, ..self }
    }

    /// Returns the number of simulations saved because others are equal.
    pub fn saved_simulations(&self) -> usize {
        self.configurations.len() - self.simulations.len()
    }

    /// The places of the simulations of a chunk, or of all.
    pub fn simulation_places(&self, chunk: Option<SweepChunk>) -> impl Iterator<Item = usize> + '_ {
        (0..self.simulations.len()).filter(move |&place| chunk.is_none_or(|chunk| chunk.contains_place(place)))
    }

    /// The jobs that simulations at these places simulate together.
    pub fn count_jobs(&self, places: &[usize]) -> u64 {
        places.iter().map(|&place| self.case_of(place).workload.len() as u64).sum()
    }

    pub fn case_of(&self, place: usize) -> &SweepCase {
        &self.cases[self.simulations[place].case]
    }
}

/// A policy makes no sense in the variant of the published study that a workload is of.
/// Meaning of a policy on the workloads of one study that come from one log.
#[derive(Clone)]
struct PolicyMeaning<'a> {
    published: Option<&'a str>,
    source: Option<&'a Path>,
    /// In the variant of the study.
    policy: PolicySpec,
    /// As it is simulated: on a site, Slurm's own policy is that of the site.
    own: PolicySpec,
    canonical: String,
}

impl<'a> PolicyMeaning<'a> {
    /// The meaning on a workload, known or not yet.
    fn find_or_add(
        meanings: &mut Vec<PolicyMeaning<'a>>,
        study: &SweepStudy,
        entry: &PolicyEntry,
        policy: &PolicySpec,
        case: &'a SweepCase,
    ) -> Result<PolicyMeaning<'a>, SweepError> {
        let (published_name, source) = (case.published.map(|p| p.name()), case.source.as_deref());
        if let Some(same) =
            meanings.iter().find(|meaning| (meaning.published, meaning.source) == (published_name, source))
        {
            return Ok(same.clone());
        }
        let policy = match published_name {
            Some(schedule_name) => policy
                .in_study(schedule_name)
                .map_err(|e| no_variant(study, entry, policy, &case.label(), schedule_name, &e))?,
            None => policy.clone(),
        };
        let own = match source {
            Some(source) => localise_policy(source, &policy).map_err(|problem| {
                let problem = format!("`{policy}` cannot be simulated on {}: {problem}", case.label());
                study.error_at(entry.at.clone(), problem)
            })?,
            None => policy.clone(),
        };
        let canonical = own.canonical_text();
        meanings.push(PolicyMeaning { published: published_name, source, policy, own, canonical });
        Ok(meanings[meanings.len() - 1].clone())
    }
}

fn no_variant(
    study: &SweepStudy,
    entry: &PolicyEntry,
    policy: &PolicySpec,
    workload: &str,
    schedule_name: &str,
    error: &SpecError,
) -> SweepError {
    let SpecError { text, problem } = error;
    let problem = format!(
        "`{policy}` cannot be simulated on {workload}: `as = \"{schedule_name}\"` makes it `{text}`, and {problem}; change the policy, \
         or leave the workload's `as` out"
    );
    study.error_at(entry.at.clone(), problem)
}

/// Priorities that no policy of the study takes are a mistake.
fn unused_priorities(
    study: &SweepStudy,
    cases: &[SweepCase],
    simulations: &[PlannedSimulation],
) -> Result<(), SweepError> {
    for (at, case) in cases.iter().enumerate().filter(|(_, case)| case.given.priorities.is_some()) {
        let takes = |s: &PlannedSimulation| case.given.priorities_for(&s.policy, &case.workload).is_some();
        if !simulations.iter().filter(|s| s.case == at).any(takes) {
            let entry = study.workloads.iter().find(|entry| entry.name == case.name);
            let at = entry.and_then(|entry| entry.priorities.as_ref()).map_or(0..0, toml::Spanned::span);
            let problem = format!(
                "no policy of this study has any use for `priorities` on {}; `slack` and `multiqueue` have",
                case.label()
            );
            return Err(study.error_at(at, problem));
        }
    }
    Ok(())
}

/// A workload lacks an input that a policy requires. The library's advice also serves command
/// lines; here it is reduced to study files.
fn unfit_error(
    study: &SweepStudy,
    entry: &PolicyEntry,
    policy: &PolicySpec,
    workload: &str,
    unfit: &Unfit,
) -> SweepError {
    let advice = "write `overrun = \"kill\"` below its [workload.clean]";
    let draft = unfit.to_string().replace("`--overrun kill`; in a study file `overrun = \"kill\"`", advice);
    let reason = draft
        .replace("`--resources none`", "`resources = \"none\"`")
        .replace("`--on-nodes none`", "`on-nodes = \"none\"`");
    study.error_at(entry.at.clone(), format!("`{policy}` cannot be simulated on {workload}: {reason}"))
}

impl SweepPlan {
    /// The plan with metrics of the calling program behind those of the study.
    ///
    /// # Errors
    /// A name is taken, or cannot be that of a column.
    pub fn with_own_metrics(
        mut self,
        metrics: Vec<OwnMetric>,
        measurer: Arc<dyn JobMeasurer>,
    ) -> Result<SweepPlan, SweepError> {
        let count = metrics.len();
        for metric in metrics {
            let name = metric.name.to_lowercase();
            // SQLite does not tell capitals from small letters.
            let is = |candidate: &str| candidate.to_lowercase() == name;
            let is_taken = RESERVED.contains(&name.as_str())
                || name == "case"
                || name.parse::<Metric>().is_ok()
                || self.parameters.iter().any(|parameter| is(parameter))
                || self.metrics.iter().any(|rival| is(&rival.id()));
            let plain = |c: char| c.is_alphanumeric() || c == '_';
            let is_plain = !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_numeric());
            let problem = match (is_taken, is_plain) {
                (true, _) => "is a column already; choose another name",
                (_, false) => "is no name of a column; use letters, digits and _",
                _ => "",
            };
            if !problem.is_empty() {
                return Err(SweepError::refusal_error(format!("metrics: `{}` {problem}", metric.name)));
            }
            self.metrics.push(SweepMetric::Own(metric));
        }
        self.own = (count > 0).then_some(OwnMeasures::new(count, measurer));
        Ok(self)
    }
}
