//! A row as a reader finds it, before anything is settled.

use super::places::FilePlace;
use super::usage::RowUsage;
use crate::text::{Amount, Flags, JobLabel, RecordLimit, RecordState, When};

/// A reader's facts about one row. Texts are those of the record.
#[derive(Clone, Debug)]
pub(crate) struct RowDraft<'a> {
    pub(crate) place: FilePlace,
    /// The record, for examples.
    pub(crate) record: &'a [u8],
    pub(crate) id: Option<JobLabel>,
    /// Its raw number.
    pub(crate) raw: Option<u64>,
    pub(crate) cluster: &'a [u8],
    pub(crate) user: &'a [u8],
    pub(crate) uid: Option<u32>,
    pub(crate) account: &'a [u8],
    pub(crate) group: &'a [u8],
    pub(crate) partition: &'a [u8],
    pub(crate) qos: &'a [u8],
    pub(crate) reservation: &'a [u8],
    pub(crate) constraints: &'a [u8],
    /// Demands beside processors, as [`asks`](crate::text::asks) writes it.
    pub(crate) asks: Vec<u8>,
    pub(crate) submit: When,
    pub(crate) eligible: When,
    pub(crate) start: When,
    pub(crate) end: When,
    /// Seconds.
    pub(crate) elapsed: Option<u32>,
    /// Seconds.
    pub(crate) suspended: Option<u32>,
    /// Seconds from the submission to the start, where the table has one of the two.
    pub(crate) waited: Option<u32>,
    pub(crate) limit: RecordLimit,
    pub(crate) state: RecordState,
    /// The state as written, where it is none that is known.
    pub(crate) word: &'a [u8],
    pub(crate) canceller: &'a [u8],
    pub(crate) asked: Amount,
    pub(crate) held: Amount,
    pub(crate) exclusive: bool,
    pub(crate) nodes: &'a [u8],
    pub(crate) reason: &'a [u8],
    pub(crate) flags: Flags,
    pub(crate) exit: Option<(i16, i16)>,
    pub(crate) priority: Option<u32>,
    /// The command with which it was submitted, of which nothing is kept.
    pub(crate) command: &'a [u8],
    /// The job's name, of which only a number is kept.
    pub(crate) name: &'a [u8],
    pub(crate) usage: RowUsage,
}

impl<'a> RowDraft<'a> {
    /// A row of which nothing is known.
    pub(crate) fn new(place: FilePlace, record: &'a [u8]) -> RowDraft<'a> {
        RowDraft {
            place,
            record,
            id: None,
            raw: None,
            cluster: b"",
            user: b"",
            uid: None,
            account: b"",
            group: b"",
            partition: b"",
            qos: b"",
            reservation: b"",
            constraints: b"",
            asks: Vec::new(),
            submit: When::Unknown,
            eligible: When::Unknown,
            start: When::Unknown,
            end: When::Unknown,
            elapsed: None,
            suspended: None,
            waited: None,
            limit: RecordLimit::Unknown,
            state: RecordState::Other,
            word: b"",
            canceller: b"",
            asked: Amount::UNKNOWN,
            held: Amount::UNKNOWN,
            exclusive: false,
            nodes: b"",
            reason: b"",
            flags: Flags::default(),
            exit: None,
            priority: None,
            command: b"",
            name: b"",
            usage: RowUsage::UNKNOWN,
        }
    }

    /// Processors times seconds, as far as they are known.
    pub(crate) fn core_seconds(&self) -> u64 {
        let cpus = self.held.or_else(self.asked).cpus;
        let cpus = if cpus == crate::text::UNKNOWN { 0 } else { cpus };
        let ran = match (self.start, self.end) {
            (When::Epoch(start), When::Epoch(end)) | (When::Civil(start), When::Civil(end)) => end - start,
            _ => 0,
        };
        let seconds = self.elapsed.or_else(|| u32::try_from(ran).ok()).unwrap_or(0);
        u64::from(cpus) * u64::from(seconds)
    }
}
