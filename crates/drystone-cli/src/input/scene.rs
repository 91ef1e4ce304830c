//! A site as what is simulated: its jobs cleaned like those of a log, and what the site says beyond
//! them.

use super::{WorkloadInput, recorded};
use crate::args::{CutArgs, LogArgs, NodeSource, RealArgs, SiteWorld};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::message;
use crate::site::{SiteInput, largest_pool, open_site, site_places, split_site_path};
use drystone::experiment::PoolDivision;
use drystone::log::clean::{Cleaner, CleaningOptions};
use drystone::log::resources::ResourceSpec;
use drystone::log::swf::SwfRecord;
use drystone::log::transform;
use drystone::metrics::JobSelection;
use drystone::model::{Outages, Setting, Workload};
use drystone_report::meta::WORLD;
use drystone_site::{ExportPurpose, NO_WAITS, Site, SiteScene};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Parts of a site to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SceneTake {
    /// All pools, side by side; else the one that is named, or the largest.
    pub(super) all: bool,
    /// Its jobs alone, as those of a log of counted processors: they are to arrive at other times
    /// than they did.
    pub(super) plain: bool,
    /// Counts of processors unless nodes are asked for: a change of the machine changes counts and
    /// Slurm's own nodes, not the table that other policies place jobs by.
    pub(super) counted: bool,
}

/// A site as what is simulated; `None` for a path that is none, or a site that was made of a log in
/// Standard Workload Format, which is that log.
pub(super) fn read_site(
    path: &Path,
    (log, cut, real): (&LogArgs, &CutArgs, &RealArgs),
    take: SceneTake,
) -> Result<Option<WorkloadInput>, CommandFailure> {
    if split_site_path(path).is_none() {
        return Ok(None);
    }
    let (mut site, pool) = open_site(path)?;
    if site.manifest.swf.is_some() {
        return Ok(None);
    }
    if !site.manifest.waits_known() {
        return Err(CommandFailure::usage_error(format_args!("{}: {NO_WAITS}", path.display())));
    }
    site.take_nodes();
    if log.world == Some(SiteWorld::Counts) {
        site.drop_limits();
    }
    let plain = take.plain || log.moves_arrivals();
    refuse_options(path, real)?;
    let pools: Vec<u16> = match pool {
        Some(pool) => vec![pool],
        None if take.all => (0..site.manifest.pools.len()).filter_map(|at| u16::try_from(at).ok()).collect(),
        None => vec![largest_pool(&site, path)],
    };
    place_jobs(&mut site, path, (log, take), &pools)?;
    let (folder, _) = split_site_path(path).unwrap_or_default();
    let scene = SiteScene::new(&site, &pools);
    let pools: Vec<u16> = scene.pools().collect();
    if pools.len() > 1 && log.procs.is_some() {
        return Err(CommandFailure::usage_error(
            "--procs is the size of one machine, and the site has several pools; SITE#POOL names one",
        ));
    }
    if pools.len() > 1 && real.outages.is_some() {
        return Err(CommandFailure::usage_error(
            "--outages is about one machine, and the site has several pools; SITE#POOL names one",
        ));
    }
    let staged_site = stage_scene(&scene, path, log, plain)?;
    drop(scene);
    let mut input = staged_site.into_input(site, folder, pools, plain);
    if log.resources != [ResourceSpec::Site] {
        input = input.with_resources(&log.resources)?;
    }
    if log.on_nodes.as_ref().is_some_and(|source| *source != NodeSource::Site) {
        input = input.on_nodes(log)?;
    }
    if let Some(file) = &real.circumstances {
        message::print_note(&format!("{} replaces the site's own", file.display()));
    }
    input = recorded::attach_circumstances(input, Some(path), real)?.cut_jobs(cut, real)?;
    if let Some(load) = log.load.filter(|_| plain) {
        input.workload = transform::scale_load(input.workload, load).map_err(CommandFailure::usage_error)?;
    }
    input = input.scale_to_target(log)?;
    if let (Some(site), Some(records)) = (&mut input.site, &input.records) {
        site.places = site_places(records);
    }
    Ok(Some(input))
}

/// Places jobs on the nodes of the site, unless another description of the machine is asked for.
fn place_jobs(
    site: &mut Site,
    path: &Path,
    (log, take): (&LogArgs, SceneTake),
    pools: &[u16],
) -> Result<(), CommandFailure> {
    let file = match &log.on_nodes {
        None if log.resources.is_empty() && !take.counted && !take.plain => {
            site.place_jobs(log.placement.unwrap_or_default());
            return Ok(());
        }
        None | Some(NodeSource::None) => return Ok(()),
        Some(NodeSource::Site) => None,
        Some(NodeSource::File(file)) => Some(file.display()),
    };
    let name = path.display();
    if let Some(file) = file {
        return match site.is_on_nodes() {
            true => Err(CommandFailure::usage_error(format_args!(
                "--on-nodes {file}: {name} has a slurm.conf that says its nodes; --on-nodes site places jobs on them"
            ))),
            false if pools.len() > 1 => Err(CommandFailure::usage_error(format_args!(
                "--on-nodes {file} is the table of one machine, and {name} has several pools; SITE#POOL names one"
            ))),
            false => Ok(()),
        };
    }
    if !log.resources.is_empty() {
        return Err(CommandFailure::usage_error(
            "--resources does not go with --on-nodes site: jobs ask for what the site says",
        ));
    }
    match site.place_jobs(log.placement.unwrap_or_default()) {
        true => Ok(()),
        false => Err(CommandFailure::usage_error(format_args!(
            "--on-nodes site: {name} has no slurm.conf that says its nodes; import it with one, or name a table: --on-nodes FILE.csv"
        ))),
    }
}

fn refuse_options(path: &Path, real: &RealArgs) -> Result<(), CommandFailure> {
    if real.warm_start.is_some() {
        return Err(CommandFailure::usage_error(format_args!(
            "--warm-start does not go with a site: {} begins with the jobs that ran and waited; `drystone import --from TIME` moves the beginning",
            path.display()
        )));
    }
    Ok(())
}

/// A scene after cleaning.
struct Staged {
    input: WorkloadInput,
    outages: Outages,
    division: Option<PoolDivision>,
    selection: JobSelection,
}

impl Staged {
    fn into_input(self, site: Site, folder: PathBuf, pools: Vec<u16>, plain: bool) -> WorkloadInput {
        let Staged { input, outages, division, selection } = self;
        let has_limits = input.workload.circumstances().is_some_and(|circumstances| !circumstances.limits.is_empty());
        let (site, places) = (Arc::new(site), Vec::new());
        let site = SiteInput { site, folder, pools, outages, division, selection, places, limited: has_limits, plain };
        WorkloadInput { site: Some(site), ..input }
    }
}

fn world_name(workload: &Workload, log: &LogArgs) -> &'static str {
    let limits = workload.circumstances().is_some_and(|circumstances| !circumstances.limits.is_empty());
    match (log.world.unwrap_or_default(), limits) {
        (SiteWorld::Counts, _) => "counts, no limits",
        (SiteWorld::Site, true) => "site, with limits of QOS, accounts and users",
        (SiteWorld::Site, false) => "site, no limits known",
    }
}

/// Cleans the jobs of a scene like those of a log.
fn stage_scene(scene: &SiteScene<'_>, path: &Path, log: &LogArgs, plain: bool) -> Result<Staged, CommandFailure> {
    let options =
        CleaningOptions { records: true, ..LogArgs { load: None, shift: false, ..log.clone() }.cleaning_options() };
    let header = scene.header();
    let purpose = if plain { ExportPurpose::Export } else { ExportPurpose::Simulation };
    let mut cleaner = Cleaner::new(&header, options, path.display().to_string(), &scene.title())?;
    // A job that never ran has no processors.
    let never_ran = |record: &SwfRecord| plain && record.allocated < 0 && record.run.round() == 0;
    for record in scene.export_records(purpose).filter(|record| !never_ran(record)) {
        cleaner.push(&record)?;
    }
    let (workload, audit, records) = cleaner.finish()?;
    let kept_records = records.unwrap_or_default();
    let wrong = |error| CommandFailure::usage_error(format_args!("{}: {error}", path.display()));
    let (mut workload, outages, division, selection) = if plain {
        message::print_warning(
            "arrival times differ from the recorded ones: jobs running or waiting at the beginning, withdrawals and \
             lost capacity are left out",
        );
        let workload = scene.furnish_workload(workload, &kept_records).map_err(wrong)?;
        (workload, Outages::default(), scene.plain_division().map_err(wrong)?, JobSelection::All)
    } else {
        let stage = scene.stage_workload(workload, &kept_records).map_err(wrong)?;
        (stage.workload, stage.outages, stage.division, stage.selection)
    };
    if log.resources == [ResourceSpec::Site] {
        let counted_workload = scene.with_resources(workload, &site_places(&kept_records));
        let counted_workload = counted_workload
            .map_err(|error| CommandFailure::usage_error(format_args!("{}: {error}", path.display())))?;
        counted_workload.notes.iter().for_each(|text| message::print_note(text));
        workload = counted_workload.workload;
    }
    workload
        .provenance
        .settings
        .push(Setting { name: WORLD.to_string(), value: world_name(&workload, log).to_string() });
    if let Some(division) = &division {
        let names: Vec<&str> = division.shares().iter().map(|share| share.name.as_str()).collect();
        workload.provenance.settings.push(Setting { name: "pools".to_string(), value: names.join(" ") });
    }
    if let Some(file) = &log.audit {
        let mut out = OutputFile::create(file)?;
        audit.write_csv(&mut out).map_err(|e| CommandFailure::write_error(out.name(), &e))?;
        out.finish()?;
    }
    let input = WorkloadInput {
        workload,
        audit,
        header,
        records: Some(kept_records),
        site: None,
        counted: None,
        windows: Vec::new(),
        series: None,
    };
    Ok(Staged { input, outages, division, selection })
}
