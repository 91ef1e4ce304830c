//! Continuation where the last daemon stopped, or a new start with what its journal teaches.

use crate::core::{Core, CoreError, CoreInput};
use crate::error::LiveError;
use crate::journal::{self, Begin, JournalError, JournalRecord};
use crate::state::Home;
use crate::tracker::{ExportedJob, NodeLayout, Stamp, TrackerSettings, WakePosition};
use drystone::policy::PolicySpec;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Jobs that predictors are taught at most: their history is no longer than that.
const TAUGHT: usize = 20_000;
/// Begins a snapshot.
const MAGIC: &[u8; 8] = b"DRYSNAP\n";

/// A saved state, and where in the journal it is.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedSnapshot {
    pub(super) segment: String,
    pub(super) offset: u64,
    pub(super) heard: WakePosition,
    pub(super) state: Vec<u8>,
}

impl SavedSnapshot {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, JournalError> {
        let body = postcard::to_stdvec(self)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(journal::LAYOUT.to_le_bytes());
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// A snapshot that is whole; anything else counts as none, for the journal has all of it.
    fn read_snapshot(path: &Path) -> Option<SavedSnapshot> {
        let bytes = std::fs::read(path).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let (layout, rest) = rest.split_first_chunk::<2>()?;
        let (sum, body) = rest.split_first_chunk::<4>()?;
        let whole = u16::from_le_bytes(*layout) == journal::LAYOUT && u32::from_le_bytes(*sum) == crc32fast::hash(body);
        whole.then(|| postcard::from_bytes(body).ok()).flatten()
    }
}

pub struct ResumeHistory {
    pub core: Core,
    /// Inputs to take in first.
    pub inputs: Vec<CoreInput>,
    /// State at the beginning of its first segment.
    pub state: Option<Vec<u8>>,
    /// Position up to which the wake file was read.
    pub heard: WakePosition,
    /// The session's time.
    pub now: i64,
    pub notes: Vec<String>,
}

/// Finds out with what to begin: the state of the last daemon, if it worked as this one is to; else
/// nothing but what its journal teaches predictors.
///
/// `older`: the journals of the last daemon, for a set of nodes that has none yet.
///
/// # Errors
/// A journal that cannot be read, or that another version wrote in another layout.
pub fn resume_daemon(
    home: &Home,
    older: &[(Option<String>, PathBuf)],
    settings: TrackerSettings,
    layout: NodeLayout,
    policy: &PolicySpec,
    wall: i64,
) -> Result<ResumeHistory, LiveError> {
    let Some(last) = journal::list_segments(&home.journal_folder())?.pop() else {
        return Ok(learn_from_journals(
            older,
            None,
            Core::new(settings, layout, policy),
            WakePosition::default(),
            wall,
        )?);
    };
    let (records, _) = journal::read_entries(&last.path)?;
    let reason = match records.first() {
        Some(JournalRecord::Begin(begin)) => match find_difference(begin, &settings, &layout, policy) {
            Some(reason) => reason,
            None => match load_core(home, &last.path, begin, records.get(1..).unwrap_or_default()) {
                Ok((core, position)) => return Ok(goes_on(core, position, wall)?),
                Err(JournalError::Core(error)) => format!("the saved state cannot be read ({error})"),
                Err(error) => return Err(error.into()),
            },
        },
        _ => "the last segment of the journal is torn at its beginning".to_string(),
    };
    let heard_position = find_heard(&records).unwrap_or_default();
    let own = [(None, home.journal_folder())];
    Ok(learn_from_journals(&own, Some(reason), Core::new(settings, layout, policy), heard_position, wall)?)
}

/// Starts without a state, with what these journals teach; `why`: reason why there is none.
fn learn_from_journals(
    journals: &[(Option<String>, PathBuf)],
    reason: Option<String>,
    core: Core,
    position: WakePosition,
    wall: i64,
) -> Result<ResumeHistory, JournalError> {
    let (jobs, taught_count) = gather_past_jobs(journals)?;
    if jobs.is_empty() && reason.is_none() {
        return Ok(ResumeHistory {
            core,
            inputs: Vec::new(),
            state: None,
            heard: position,
            now: wall,
            notes: Vec::new(),
        });
    }
    let reason_text = reason.unwrap_or_else(|| "this set of nodes has no journal yet".into());
    let notes = vec![format!(
        "{reason_text}: jobs are adopted as they are, and jobs of the journal that teach predictors: {taught_count}"
    )];
    let inputs = if jobs.is_empty() { Vec::new() } else { vec![CoreInput::Taught { offset: 0, jobs }] };
    let latest =
        inputs.iter().filter_map(|input| if let CoreInput::Taught { jobs, .. } = input { jobs.last() } else { None });
    let now = latest.map(|job| job.end).max().unwrap_or(wall).max(wall);
    Ok(ResumeHistory { core, inputs, state: None, heard: position, now, notes })
}

/// Returns the reason why a daemon cannot continue from a segment.
fn find_difference(
    begin: &Begin,
    settings: &TrackerSettings,
    layout: &NodeLayout,
    policy: &PolicySpec,
) -> Option<String> {
    if begin.policy != policy.canonical_text() {
        return Some(format!("the policy was {}", begin.policy));
    }
    if begin.settings.mode != settings.mode {
        return Some("the last daemon worked in another mode".into());
    }
    if !begin.layout.is_like(layout) {
        return Some("the machine had other nodes, processors or licences".into());
    }
    (begin.settings != *settings).then(|| "the last daemon had other settings".into())
}

/// The core at the end of a segment, and how far the wake file was read.
fn load_core(
    home: &Home,
    path: &Path,
    begin: &Begin,
    records: &[JournalRecord],
) -> Result<(Core, WakePosition), JournalError> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut core = journal::core_of(&Begin { state: None, ..begin.clone() })?;
    let saved_snapshot =
        SavedSnapshot::read_snapshot(&home.snapshot_path()).filter(|snapshot| snapshot.segment == name);
    if let Some(snapshot) = saved_snapshot
        && core.load(&snapshot.state).is_ok()
    {
        let (rest, _) = journal::entries_from(path, snapshot.offset)?;
        feed_records(&mut core, &rest)?;
        return Ok((core, find_heard(&rest).unwrap_or(snapshot.heard)));
    }
    let mut core = journal::core_of(begin)?;
    feed_records(&mut core, records)?;
    Ok((core, find_heard(records).unwrap_or(begin.heard)))
}

/// Returns the position up to which the wake file was read by the last of these records that says
/// so.
fn find_heard(records: &[JournalRecord]) -> Option<WakePosition> {
    records.iter().rev().find_map(|record| match record {
        JournalRecord::In(CoreInput::Facts { heard, .. }) => Some(*heard),
        JournalRecord::Begin(begin) => Some(begin.heard),
        _ => None,
    })
}

fn feed_records(core: &mut Core, records: &[JournalRecord]) -> Result<(), JournalError> {
    for record in records {
        if let JournalRecord::In(input) = record {
            match core.take_input(input) {
                Ok(_) => {}
                // It gave everything back then.
                Err(CoreError::Violation(violation)) => return Err(CoreError::Violation(violation).into()),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn goes_on(core: Core, position: WakePosition, wall: i64) -> Result<ResumeHistory, CoreError> {
    let now = core.session().view().current_time().0.max(wall);
    let steady = core.tracker().answered_time();
    let state = Some(core.save()?);
    let inputs = vec![CoreInput::Restarted(Stamp { now, steady })];
    Ok(ResumeHistory { core, inputs, state, heard: position, now, notes: Vec::new() })
}

/// The last jobs of journals, in the order of their ends, and how many there are.
fn gather_past_jobs(journals: &[(Option<String>, PathBuf)]) -> Result<(Vec<ExportedJob>, usize), JournalError> {
    let mut jobs = Vec::new();
    for (_, folder) in journals {
        if !journal::list_segments(folder)?.is_empty() {
            jobs.extend(journal::read_past_jobs(folder)?);
        }
    }
    jobs.retain(|job| job.start.is_some());
    jobs.sort_by_key(|job| (job.end, job.key));
    let from = jobs.len().saturating_sub(TAUGHT);
    let jobs = jobs.split_off(from);
    let count = jobs.len();
    Ok((jobs, count))
}
