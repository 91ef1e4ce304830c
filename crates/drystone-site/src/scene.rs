//! Pools of a site as one workload that is cleaned like a log, and what is known of its jobs beyond
//! that.

use crate::error::PoolError;
use crate::export::{ExportPurpose, Numbering};
use crate::fleet::Fleet;
use crate::machine::PoolUnit;
use crate::site::Site;
use crate::workload::job_number;
use drystone::experiment::{PoolDivision, PoolShare};
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::metrics::JobSelection;
use drystone::model::{Circumstances, Outages, Time, Workload};

/// Some pools of a site, to be simulated as one workload: each with a scheduler of its own where
/// they are several.
#[derive(Debug)]
pub struct SiteScene<'a> {
    pub(crate) site: &'a Site,
    numbering: Numbering,
    pools: Vec<ScenePool>,
}

#[derive(Clone, Debug)]
struct ScenePool {
    pool: u16,
    /// Processors of the whole for each unit of the pool.
    scale: u32,
    /// Offset of its partitions' numbers, so that each belongs to one pool.
    partitions: i64,
}

/// A scene that is ready to be simulated.
#[derive(Clone, Debug)]
pub struct SceneStage {
    /// Its jobs, in their circumstances.
    pub workload: Workload,
    /// Capacity that the machine lacks over time; none where pools are simulated side by side, each
    /// with its own.
    pub outages: Outages,
    /// Division among pools, if it has several.
    pub division: Option<PoolDivision>,
    /// For each job its place among the jobs of the site.
    pub places: Vec<u32>,
    /// Default selection of the jobs that count: those that arrive within the part of the window
    /// that is measured.
    pub selection: JobSelection,
}

impl<'a> SiteScene<'a> {
    /// Of these pools. Those without jobs are left out if any has some.
    pub fn new(site: &'a Site, pools: &[u16]) -> SiteScene<'a> {
        let numbering = Numbering::from_site(site);
        let summaries = &site.manifest.pools;
        let mut of: Vec<u16> = pools.iter().copied().filter(|&pool| usize::from(pool) < summaries.len()).collect();
        if of.iter().any(|&pool| summaries[usize::from(pool)].jobs > 0) {
            of.retain(|&pool| summaries[usize::from(pool)].jobs > 0);
        }
        let alone = of.len() == 1;
        let mut partitions = 0;
        let pools = of.into_iter().map(|pool| {
            let summary = &summaries[usize::from(pool)];
            let scale =
                if alone || summary.unit == PoolUnit::Cpu { 1.0 } else { summary.cpus_per_unit.round().max(1.0) };
            let part = ScenePool { pool, scale: scale as u32, partitions };
            // One more for jobs of no partition.
            partitions += numbering.partition_count(pool) as i64 + 1;
            part
        });
        let pools = pools.collect();
        SiteScene { site, numbering, pools }
    }

    /// Of every pool.
    pub fn whole_site(site: &'a Site) -> SiteScene<'a> {
        let all_pools: Vec<u16> = (0..site.manifest.pools.len()).filter_map(|pool| u16::try_from(pool).ok()).collect();
        SiteScene::new(site, &all_pools)
    }

    pub fn pools(&self) -> impl ExactSizeIterator<Item = u16> + '_ {
        self.pools.iter().map(|part| part.pool)
    }

    /// Its processors: units of the pool or, where it has several, processors of all.
    pub fn procs(&self) -> u32 {
        let of = |part: &ScenePool| self.site.manifest.pools[usize::from(part.pool)].units.saturating_mul(part.scale);
        self.pools.iter().map(of).fold(0, u32::saturating_add)
    }

    pub fn title(&self) -> String {
        let cluster = if self.site.manifest.cluster.is_empty() { "site" } else { &self.site.manifest.cluster };
        match self.pools[..] {
            [ScenePool { pool, .. }] => self.site.pool_title(pool),
            _ => format!("{cluster}, {} pools", self.pools.len()),
        }
    }

    pub fn header(&self) -> SwfHeader {
        if let [ScenePool { pool, .. }] = self.pools[..] {
            return self.site.swf_header(pool, &self.numbering);
        }
        let mut header = SwfHeader::new();
        header.push("Version", "2.2");
        header.push("Computer", &self.title());
        header.push("UnixStartTime", &self.site.time_origin().to_string());
        header.push("TimeZoneString", &self.site.manifest.time_zone);
        header.push("MaxProcs", &self.procs().to_string());
        header
    }

    /// Its jobs as records, in the order of arrival. The line of each is its number in the site.
    /// Jobs that are not simulated, those of reservations, are there only for export.
    pub fn export_records(&self, purpose: ExportPurpose) -> impl Iterator<Item = SwfRecord> + '_ {
        let mut parts: Vec<Option<&ScenePool>> = vec![None; self.site.manifest.pools.len()];
        self.pools.iter().for_each(|part| parts[usize::from(part.pool)] = Some(part));
        let alone = self.pools.len() == 1;
        self.site.jobs().filter_map(move |job| {
            let part = parts.get(usize::from(job.pool)).copied().flatten()?;
            if purpose == ExportPurpose::Simulation && !Site::is_simulated(&job) {
                return None;
            }
            let mut record = self.site.swf_record(&job, &self.numbering, job_number(&job), purpose);
            record.line = job.number;
            if !alone {
                let scale = i64::from(part.scale);
                record.allocated = record.allocated.saturating_mul(scale);
                record.requested = record.requested.saturating_mul(scale);
                record.partition = part.partitions + record.partition.max(0);
            }
            Some(record)
        })
    }

    /// Returns the simulated part of a workload made of the records: `records` are those of its
    /// jobs, in their order.
    ///
    /// # Errors
    /// Circumstances that cannot be, or pools that lack more than they have.
    pub fn stage_workload(&self, workload: Workload, records: &[SwfRecord]) -> Result<SceneStage, PoolError> {
        let places: Vec<u32> =
            records.iter().map(|r| u32::try_from(r.line.saturating_sub(1)).unwrap_or(u32::MAX)).collect();
        let pools: Vec<u16> = self.pools().collect();
        let (workload, circumstances) = self.site.furnish_workload(&pools, workload, &places)?;
        let workload = workload.with_circumstances(circumstances)?;
        let selection = self.measured_selection(&workload);
        let (outages, division) = match self.pools[..] {
            [ScenePool { pool, .. }] => (self.site.find_outages(pool)?, None),
            _ => (Outages::default(), Some(self.divide_pools(true)?)),
        };
        Ok(SceneStage { workload, outages, division, places, selection })
    }

    /// Adds the demands to a workload that is taken as a log alone: its jobs ask for what the site
    /// records, and share its limits.
    ///
    /// # Errors
    /// Demands beyond what can be counted.
    pub fn furnish_workload(&self, workload: Workload, records: &[SwfRecord]) -> Result<Workload, PoolError> {
        let places: Vec<u32> =
            records.iter().map(|r| u32::try_from(r.line.saturating_sub(1)).unwrap_or(u32::MAX)).collect();
        let pools: Vec<u16> = self.pools().collect();
        let (workload, circumstances) = self.site.furnish_workload(&pools, workload, &places)?;
        Ok(workload.with_circumstances(Circumstances { limits: circumstances.limits, ..Circumstances::default() })?)
    }

    /// Returns the division of a workload that is taken as a log alone: nothing is out, and nothing
    /// is there at the beginning. `None` where there is one pool.
    ///
    /// # Errors
    /// None that is known.
    pub fn plain_division(&self) -> Result<Option<PoolDivision>, PoolError> {
        (self.pools.len() != 1).then(|| self.divide_pools(false)).transpose()
    }

    fn divide_pools(&self, lacking: bool) -> Result<PoolDivision, PoolError> {
        let mut behind = 0;
        let share = |part: &ScenePool| -> Result<PoolShare, PoolError> {
            let classes = self.site.fill.and_then(|_| Fleet::for_pool(self.site, part.pool)).map(|fleet| {
                let first = behind;
                behind += fleet.node_classes(&self.site.partition_unions(&fleet, part.pool)).len();
                first..behind
            });
            let summary = &self.site.manifest.pools[usize::from(part.pool)];
            let partitions = (0..=self.numbering.partition_count(part.pool) as i64).map(|own| {
                let small = |n: i64| i32::try_from(n).unwrap_or(i32::MAX);
                (small(part.partitions + own), if own == 0 { -1 } else { small(own) })
            });
            Ok(PoolShare {
                name: summary.name.clone(),
                procs: summary.units,
                scale: part.scale,
                partitions: partitions.collect(),
                outages: if lacking { self.site.find_outages(part.pool)?.list().to_vec() } else { Vec::new() },
                classes,
                texts: Vec::new(),
            })
        };
        Ok(PoolDivision::new(self.pools.iter().map(share).collect::<Result<_, _>>()?))
    }

    fn measured_selection(&self, workload: &Workload) -> JobSelection {
        let window = &self.site.manifest.window;
        let (from, until) = (self.site.time_of(window.measure_from), self.site.time_of(window.measure_until));
        match workload.submit_range() {
            Some((first, last)) if first < from || last > until => {
                JobSelection::Submitted { from, until: Time(until.0.saturating_add(1)) }
            }
            _ => JobSelection::All,
        }
    }
}
