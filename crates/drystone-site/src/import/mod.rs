//! The whole way: files to rows, rows to jobs, jobs on a machine, all of it counted.

mod build;
mod files;
mod lost;
mod machine;
mod packing;
mod runaways;
mod side_data;
mod strangers;
mod summary;
mod swf;
mod warnings;
mod window;
mod zones;

pub use files::FileOpener;

use self::files::{AccountsFile, Sorted};
use self::side_data::BesideData;
use crate::capacity;
use crate::clock::Zone;
use crate::detect::FileKind;
use crate::error::SiteError;
use crate::machine::{self as machines, Combined};
use crate::options::ImportOptions;
use crate::readers::{Carrier, FileReading, ReaderMemory, TextLayout};
use crate::rows::{ReadSettings, RowIntake};
use crate::rules::{ImportRule, RuleEffect};
use crate::site::Site;
use crate::text::TimeForm;
use crate::watch::ImportObserver;
use crate::words::count_noun;
use drystone_slurm::accounts::{self, Accounts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Imports the accounting in these files, and in the folders among them.
///
/// A folder may hold everything that the commands of [`ask_commands`](crate::ask_commands) give:
/// jobs, nodes, partitions, settings, events, reservations. What each file is, its beginning tells.
///
/// # Errors
/// See [`SiteError`]: files that are no accounting, columns that are padded or missing, times
/// without a zone, a machine that is another one, no usable row. One bad row is none: it is
/// counted.
///
/// Cost: one pass over the files, about 90 bytes of memory for each row and 60 for each job, and
/// what their names take.
pub fn import_files(
    inputs: &[PathBuf],
    options: &ImportOptions,
    open: FileOpener<'_>,
    watch: ImportObserver<'_>,
) -> Result<Site, SiteError> {
    let layout = TextLayout { columns: options.columns.clone(), delimiter: options.delimiter.clone() };
    let zone =
        options.time_zone.as_deref().map(Zone::from_name).transpose().map_err(|e| SiteError::Option(e.to_string()))?;
    let form = TimeForm(options.time_format.clone());
    let mut found_files = files::look_at_files(inputs, &layout, open)?;
    let beside_jobs =
        [(&options.machine, "--machine"), (&options.events, "--events"), (&options.accounts, "--accounts")];
    for (paths, option) in beside_jobs {
        for mut file in files::look_at_files(paths, &TextLayout::default(), open)? {
            let fits = matches!(
                (&file.kind, option),
                (FileKind::Machine(_) | FileKind::Beside, "--machine")
                    | (FileKind::Events | FileKind::Reservations | FileKind::ScontrolReservations, "--events")
            );
            if option == "--accounts" && !matches!(file.kind, FileKind::Jobs(_)) {
                // Its reader says what is wrong with it.
                file.kind = FileKind::Limits;
            } else if !fits && !file.in_folder {
                return Err(not_expected(&file.name, &file.kind, option));
            }
            found_files.push(file);
        }
    }
    let sorted_files = Sorted::sort_files(found_files)?;
    if sorted_files.jobs.iter().any(|(_, carrier)| *carrier == Carrier::Swf) {
        return swf::import_log(sorted_files, options, open);
    }
    let mut intake = RowIntake::new(ReadSettings {
        zone,
        form,
        cluster: options.cluster.clone(),
        ranges: options.node_ranges.clone(),
    });
    let mut memory = ReaderMemory::default();
    let mut files_read = Vec::new();
    let Sorted { jobs, machine, gres, accounts, events, mut unread } = sorted_files;
    let several = jobs.len() > 1;
    let mut refusal = None;
    for (file, carrier) in jobs {
        let number = intake.table.files.add_file(&file.name);
        let input = match file.opened {
            Some(stream) => stream,
            None => files::open_unpacked(&file.path, open)?,
        };
        let before = intake.read;
        let name = file.name.as_str();
        let mut reading = FileReading {
            intake: &mut intake,
            memory: &mut memory,
            watch: &watch,
            effort: options.effort,
            partial: options.partial,
            carrier,
            name,
            file: number,
        };
        match reading.read_input(input, &layout) {
            // A table of another kind beside the jobs does not keep these from being read.
            Err(error) if file.in_folder && several && error.is_about_form() && intake.read == before => {
                let text = error.to_string();
                unread.push(text.lines().next().unwrap_or_default().to_string());
                refusal.get_or_insert(error);
                continue;
            }
            other => other?,
        }
        intake.end_file()?;
        files_read.push((file.name.clone(), carrier, intake.read - before));
    }
    memory.pbs.flush_open(&mut intake)?;
    intake.finish();
    if let Some(error) = refusal.filter(|_| intake.read == 0) {
        return Err(error);
    }
    one_cluster(&intake, options, &memory.carriers)?;
    let mut beside = read_beside((machine, &gres), &events, &intake, options, open)?;
    beside.accounts = accounts_of(&accounts, open, &mut beside.warnings)?;
    beside.reservations.extend(capacity::of_pbs(&memory.pbs));
    beside.warnings.extend(unread.into_iter().map(|text| format!("not read: {text}")));
    build::build_site(intake, memory, beside, files_read, options, &watch)
}

/// The tables of accounts one after the other, as Slurm's own policy reads them.
fn accounts_of(
    sources: &[AccountsFile],
    open: FileOpener<'_>,
    warnings: &mut Vec<String>,
) -> Result<Option<String>, SiteError> {
    let mut texts: Vec<(&Path, bool, String)> = Vec::new();
    for AccountsFile { path, in_folder } in sources {
        texts.push((path, *in_folder, String::from_utf8_lossy(&files::read_whole(path, open)?).into_owned()));
    }
    // One file has accounts and another QOS: the one table counts with the other.
    while !texts.is_empty() {
        let parts: Vec<(&Path, &str)> = texts.iter().map(|(path, _, text)| (*path, text.as_str())).collect();
        match Accounts::parse_all(&parts) {
            Ok(read) => {
                warnings.extend(read.left_out);
                return Ok(Some(accounts::join_texts(parts.iter().map(|(_, text)| *text))));
            }
            Err((path, error)) => {
                let at = texts.iter().position(|(text_path, in_folder, _)| *text_path == path && *in_folder);
                let Some(at) = at else { return Err(error.into()) };
                warnings.push(format!("not read: {error}"));
                texts.remove(at);
            }
        }
    }
    Ok(None)
}

fn not_expected(name: &str, kind: &FileKind, option: &str) -> SiteError {
    let (wants, advice) = match option {
        "--machine" => (
            "slurm.conf, or the output of scontrol -o show nodes, show partitions, sinfo --json or pbsnodes -av",
            "at the site: scontrol -o show nodes > nodes.txt; scontrol -o show partitions > partitions.txt",
        ),
        "--accounts" => (
            "the output of sacctmgr -P show assoc or show qos, a sacctmgr dump, or commands of sacctmgr",
            "at the site: sacctmgr -P show assoc tree > assoc.txt; sacctmgr -P show qos > qos.txt",
        ),
        _ => (
            "the output of sacctmgr -P show event and show reservation",
            "at the site: sacctmgr -P show event Start=… End=… format=Cluster,ClusterNodes,NodeName,Start,End,State,Reason,TRES > events.psv",
        ),
    };
    let looks = format!("this is {}, and {option} takes {wants}", kind.kind_name());
    SiteError::Unknown { file: name.to_string(), looks, advice: advice.to_string() }
}

/// One import is one cluster.
fn one_cluster(
    intake: &RowIntake,
    options: &ImportOptions,
    carriers: &std::collections::BTreeSet<Carrier>,
) -> Result<(), SiteError> {
    let table = &intake.table;
    let mut clusters: BTreeMap<String, u64> = BTreeMap::new();
    let mut of_where = vec![0_u64; table.at.items().len()];
    table.rows.iter().for_each(|row| of_where[row.at as usize] += 1);
    for (at, rows) in table.at.items().iter().zip(of_where).filter(|(_, rows)| *rows > 0) {
        let name = table.names.text_of(at.cluster);
        if !name.is_empty() {
            *clusters.entry(name.into_owned()).or_default() += rows;
        }
    }
    if clusters.len() > 1 {
        let contents: Vec<String> = clusters.iter().map(|(name, rows)| format!("{name} {rows}")).collect();
        return Err(SiteError::SeveralClusters { clusters: contents.join(", ") });
    }
    if table.rows.len() == 0 {
        let rules: Vec<String> = intake.tally.iter().map(|(rule, count)| describe_count(rule, count.rows)).collect();
        let other_cluster = intake.tally.iter().find(|(rule, _)| rule.name() == "other-cluster");
        let advice = match (&options.cluster, other_cluster) {
            (Some(cluster), Some(_)) => {
                format!("no row is of the cluster {cluster}; leave --cluster out to see which there are")
            }
            _ => give_advice(carriers),
        };
        if intake.read == 0 && other_cluster.is_none() {
            let contents = match rules.is_empty() {
                true => ", only a line that names columns".to_string(),
                false => format!(" ({})", rules.join("; ")),
            };
            return Err(SiteError::NoRows { said: contents, advice });
        }
        return Err(SiteError::NothingLeft { rows: intake.read, rules: rules.join("; "), advice });
    }
    Ok(())
}

/// Reads what goes with the jobs.
fn read_beside(
    (machine, gres): (Vec<(PathBuf, crate::detect::MachineSource)>, &[PathBuf]),
    events: &[(PathBuf, FileKind)],
    intake: &RowIntake,
    options: &ImportOptions,
    open: FileOpener<'_>,
) -> Result<BesideData, SiteError> {
    let mut beside = BesideData::default();
    let mut combined_data = Combined::default();
    let gres = if gres.is_empty() { neighbour_files(&machine, open) } else { gres.to_vec() };
    let confs = machine.iter().filter(|(_, source)| *source == crate::detect::MachineSource::SlurmConf);
    let included_files: BTreeSet<PathBuf> =
        confs.flat_map(|(path, _)| drystone_slurm::conf::included_files(path)).collect();
    let mut config = String::new();
    for (path, description) in machine {
        // A part of another file, which lies beside it.
        if included_files.contains(&path) {
            continue;
        }
        let text = files::read_whole(&path, open)?;
        let machine = machines::read_machine(description, &path, &text)?;
        if description == crate::detect::MachineSource::SlurmConf {
            let lacking = match (machine.nodes.is_empty(), machine.partitions.is_empty()) {
                (true, _) => Some("NodeName"),
                (_, true) => Some("PartitionName"),
                _ => None,
            };
            if let Some(key) = lacking {
                beside.warnings.push(format!(
                    "{}: no {key} line, so it describes no machine and is left out; `scontrol -o show nodes` and \
                     `scontrol -o show partitions` have nodes that register by themselves",
                    path.display()
                ));
                continue;
            }
            beside.slurm_conf = Some(drystone_slurm::conf::flatten_file(&path)?);
        }
        if description == crate::detect::MachineSource::Config {
            config = String::from_utf8_lossy(&text).into_owned();
        }
        combined_data.add_machine(machine);
        beside.described_by.push(path);
    }
    if let Some(conf) = &mut beside.slurm_conf {
        let lines = machines::lines_by_release(conf, &config);
        if !lines.is_empty() && !conf.ends_with('\n') {
            conf.push('\n');
        }
        conf.push_str(&lines);
    }
    (beside.machine, beside.described) = combined_data.finish_machine();
    for path in &gres {
        let file = path.display().to_string();
        let (lines, wrong) = machines::read_gres_conf(&String::from_utf8_lossy(&files::read_whole(path, open)?), &file);
        beside.warnings.extend(wrong);
        beside.warnings.extend(machines::reconcile_devices(&mut beside.machine, &lines, &file));
    }
    let times = capacity::SheetTimes { form: &TimeForm(options.time_format.clone()), zone: intake.zone() };
    for (path, kind) in events {
        let text = files::read_whole(path, open)?;
        let text = String::from_utf8_lossy(&text);
        let name = path.display().to_string();
        let unused_count = match kind {
            FileKind::Events => {
                let (rows, unused_count) = capacity::read_events(&text, &name, &times)?;
                beside.events.extend(rows);
                unused_count
            }
            FileKind::ScontrolReservations => {
                let (rows, unused_count) = capacity::read_scontrol(&text, &name, &times)?;
                beside.reservations.extend(rows);
                unused_count
            }
            _ => {
                let (rows, unused_count) = capacity::read_reservations(&text, &name, &times)?;
                beside.reservations.extend(rows);
                unused_count
            }
        };
        if unused_count > 0 {
            beside.warnings.push(format!(
                "{name}: {} left out, which name no node that was out, or lack a time",
                count_noun(unused_count, "row")
            ));
        }
        beside.unused += unused_count;
    }
    Ok(beside)
}

/// Returns the files `gres.conf` that are in the folder of a `slurm.conf`, where Slurm reads them.
fn neighbour_files(machine: &[(PathBuf, crate::detect::MachineSource)], open: FileOpener<'_>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for (path, description) in machine {
        let beside = path.with_file_name("gres.conf");
        let own = path.file_name().is_some_and(|name| name == "slurm.conf");
        if *description == crate::detect::MachineSource::SlurmConf && own && open(&beside).is_ok() {
            files.push(beside);
        }
    }
    files
}

/// Returns the error for an import without jobs, from its account.
pub(crate) fn nothing_left(
    rows: u64,
    tally: &crate::rules::RuleTally,
    carriers: &std::collections::BTreeSet<Carrier>,
) -> SiteError {
    let rules: Vec<String> = tally
        .iter()
        .filter(|(rule, _)| matches!(rule.effect(), RuleEffect::Bad | RuleEffect::Dropped | RuleEffect::Ignored))
        .map(|(rule, count)| describe_count(rule, count.rows.max(count.jobs)))
        .collect();
    let sizes = match tally.get(ImportRule::NoSize).rows + tally.get(ImportRule::Unsized).jobs {
        0 => String::new(),
        _ if carriers.contains(&Carrier::Sacct) => {
            "No column says how many processors: ask for AllocCPUS as well. ".to_string()
        }
        _ => "No record says how many processors. ".to_string(),
    };
    // What is wrong with the first of them.
    let fault_rules = [
        ImportRule::Field,
        ImportRule::Time,
        ImportRule::TimeOrder,
        ImportRule::NoTimes,
        ImportRule::NoStart,
        ImportRule::NoEnd,
        ImportRule::JobId,
    ];
    let first = fault_rules.iter().find_map(|rule| Some((rule, tally.get(*rule).examples.first()?)));
    let first = first.map_or(String::new(), |(rule, example)| match rule {
        ImportRule::Field => format!("; {}: a value that cannot be read, {}", example.place, example.text),
        _ => format!("; {}: {}: {}", example.place, rule.meaning(), example.text),
    });
    let states: Vec<&str> = tally.get(ImportRule::State).examples.iter().map(|example| example.text.as_str()).collect();
    let states =
        if states.is_empty() { String::new() } else { format!("; states that are not known: {}", states.join("; ")) };
    if rows == 0 {
        return SiteError::Option(format!("there is no record of a job. {}", give_advice(carriers)));
    }
    SiteError::NothingLeft { rows, rules: rules.join("; ") + &states + &first, advice: sizes + &give_advice(carriers) }
}

fn describe_count(rule: ImportRule, rows: u64) -> String {
    format!("{rows} {}: {} ({rule})", if rows == 1 { "row" } else { "rows" }, rule.meaning())
}

/// Returns the advice for the kind of accounting that was read.
fn give_advice(carriers: &std::collections::BTreeSet<Carrier>) -> String {
    let other_carrier = carriers.iter().find(|carrier| !matches!(carrier, Carrier::Sacct | Carrier::Json));
    match other_carrier {
        Some(Carrier::Swf) => "A record needs a submission, processors and a run time".to_string(),
        Some(carrier) => format!("Give all of {}", carrier.renewal_command("", "jobs")),
        None => "`drystone import --ask` prints the sacct command that gives what is needed".to_string(),
    }
}
