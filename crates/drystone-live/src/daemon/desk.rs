//! Parts of a daemon that each set of nodes has for itself: session, journal, saved state,
//! forecasts, alarms. The connection, the heartbeat, the wake file and the ledger are there once.

use super::config::DaemonConfig;
use super::resume::{ResumeHistory, resume_daemon};
use crate::cluster::{ClusterSnapshot, DrivenSet, JobKey, seen_by};
use crate::core::{Core, CoreInput};
use crate::error::LiveError;
use crate::foretell::Foretell;
use crate::journal::{Begin, SegmentWriter};
use crate::state::Home;
use crate::tracker::{NodeLayout, TrackerSettings, WakePosition};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One set of nodes at work.
pub struct LiveDesk {
    pub(super) set: DrivenSet,
    /// Partitions of other sets.
    others: Vec<String>,
    /// Paths of its journal and its saved state.
    pub(super) home: Home,
    pub(super) core: Core,
    pub(super) journal: SegmentWriter,
    pub(super) foretell: Foretell,
    pub(super) remarks: Remarks,
    /// The session's time when the daemon began, and its own then.
    pub(super) base: (i64, Duration),
    /// Time in which the cluster answered before that, in milliseconds.
    pub(super) steady: u64,
    /// Time of the last save, and the number of records by then.
    pub(super) saved: (Duration, u64),
    /// Position up to which it has taken in the wake file.
    pub(super) heard: WakePosition,
    /// Jobs whose start a shadow has proposed.
    pub(super) proposed: BTreeSet<JobKey>,
    /// Jobs that could give nodes by a note of a shadow, each with the job that would start.
    pub(super) givers: BTreeSet<(JobKey, JobKey)>,
    /// Jobs of which a note says that they cannot start.
    pub(super) hopeless: BTreeSet<JobKey>,
    /// True if released jobs do not start although there is room.
    pub(super) stalled: bool,
    /// Number of differences between the books and the last look.
    pub(super) differences: u64,
}

/// Beginnings of a desk: itself, what it takes in first, and notes.
pub(super) struct DeskBeginning {
    pub(super) desk: LiveDesk,
    pub(super) inputs: Vec<CoreInput>,
    pub(super) notes: Vec<String>,
}

impl LiveDesk {
    /// Continues one set from its journal or starts without one.
    pub(super) fn begin_desk(
        config: &DaemonConfig,
        at: usize,
        snapshot: &ClusterSnapshot,
        wall: i64,
        steady: Duration,
    ) -> Result<DeskBeginning, LiveError> {
        let set = config.sets[at].clone();
        let home = config.home.of_set(&config.sets, at);
        home.make_folders().map_err(LiveError::io_error(home.state_folder().display()))?;
        let settings = TrackerSettings::for_mode(config.mode, set.partitions.clone(), config.adopt_old, &config.policy)
            .by_count(config.by_count);
        let layout = NodeLayout::new(&seen_by(&config.sets, at, snapshot).nodes).with_licences(&snapshot.licences);
        if layout.is_empty() {
            let text = format!("no node of partition {} is listed", set.name());
            return Err(crate::cluster::ClusterError::Garbled(text).into());
        }
        let older = config.home.list_journals();
        let ResumeHistory { core, inputs, state, heard, now, notes } =
            resume_daemon(&home, &older, settings.clone(), layout.clone(), &config.policy, wall)?;
        let begin = Begin {
            version: env!("CARGO_PKG_VERSION").into(),
            policy: config.policy.canonical_text(),
            settings,
            layout,
            cluster: config.cluster.clone(),
            instance: config.instance.clone(),
            time: wall,
            offset: now - wall,
            heard,
            state,
        };
        let sets = config.sets.iter().enumerate().filter(|&(index, _)| index != at);
        let desk = LiveDesk {
            journal: SegmentWriter::begin_segment(&home.journal_folder(), begin)?,
            foretell: Foretell::new(&config.policy, now - wall).among_sets(config.sets.len()),
            remarks: Remarks::default(),
            base: (now, steady),
            steady: core.tracker().answered_time(),
            saved: (steady, 0),
            heard,
            proposed: BTreeSet::new(),
            givers: BTreeSet::new(),
            hopeless: BTreeSet::new(),
            stalled: false,
            differences: 0,
            others: sets.flat_map(|(_, set)| set.partitions.clone()).collect(),
            set,
            home,
            core,
        };
        Ok(DeskBeginning { desk, inputs, notes })
    }

    pub fn core(&self) -> &Core {
        &self.core
    }

    pub fn driven_set(&self) -> &DrivenSet {
        &self.set
    }

    pub fn forecasts(&self) -> &Foretell {
        &self.foretell
    }

    /// Pending jobs that are the cluster's to start, by why. Jobs of other sets are not among them:
    /// they are seen where one of this set waits for them.
    pub fn left_out(&self) -> BTreeMap<String, usize> {
        let mut counts = self.core.tracker().left_out();
        for partition in &self.others {
            counts.remove(&format!("jobs of partition {partition}"));
        }
        counts
    }

    /// Returns whether released jobs do not start although there is room.
    pub fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Returns the number of differences between the books and the last look.
    pub fn difference_count(&self) -> u64 {
        self.differences
    }
}

/// Comments that were written.
#[derive(Default)]
pub(super) struct Remarks {
    pub(super) next: Duration,
    /// The start that a comment tells, and the time of writing.
    pub(super) told: BTreeMap<JobKey, (i64, Duration)>,
}
