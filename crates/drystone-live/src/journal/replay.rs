//! Going over a journal again: the same must come out, bit for bit.

use super::read::read_journal;
use super::{Begin, JournalError, JournalRecord};
use crate::core::{Core, CoreError, CoreInput, CoreOutput};
use drystone::policy::PolicySpec;
use std::path::Path;

/// The first thing that came out otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Mismatch {
    pub segment: u32,
    /// After which record of it.
    pub record: usize,
    pub recorded: CoreOutput,
    pub replayed: CoreOutput,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct JournalReplay {
    /// Segments gone over.
    pub segments: usize,
    pub inputs: usize,
    /// Decisions and orders among what came out.
    pub decided: usize,
    pub orders: usize,
    /// First difference, if any.
    pub mismatch: Option<Mismatch>,
}

/// Goes over a whole journal.
///
/// # Errors
/// It cannot be read, or its policy is not known here.
pub fn replay_journal(folder: &Path) -> Result<JournalReplay, JournalError> {
    let mut outcome = JournalReplay::default();
    for (segment, records) in read_journal(folder)? {
        let Some((JournalRecord::Begin(begin), rest)) = records.split_first() else { continue };
        outcome.segments += 1;
        let mut core = core_of(begin)?;
        for (at, record) in rest.iter().enumerate() {
            let JournalRecord::In(input) = record else { continue };
            outcome.inputs += 1;
            let replay_output = retake_input(&mut core, input)?;
            outcome.decided += replay_output.decided.len();
            outcome.orders += replay_output.orders.len();
            let recorded_output = match rest.get(at + 1) {
                Some(JournalRecord::Out(output)) => output.clone(),
                // The daemon was killed before it wrote what came out.
                None => break,
                Some(_) => CoreOutput::default(),
            };
            if postcard::to_stdvec(&recorded_output)? != postcard::to_stdvec(&replay_output)? {
                outcome.mismatch = Some(Mismatch {
                    segment: segment.number,
                    record: at + 1,
                    recorded: recorded_output,
                    replayed: replay_output,
                });
                return Ok(outcome);
            }
        }
    }
    Ok(outcome)
}

/// Takes something in again. Where the daemon had to give everything back then, so it has now.
fn retake_input(core: &mut Core, input: &CoreInput) -> Result<CoreOutput, JournalError> {
    match core.take_input(input) {
        Ok(output) => Ok(output),
        Err(CoreError::Violation(violation)) => {
            Ok(CoreOutput { doubt: Some(CoreError::Violation(violation).to_string()), ..CoreOutput::default() })
        }
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn core_of(begin: &Begin) -> Result<Core, JournalError> {
    let policy: PolicySpec = begin
        .policy
        .parse()
        .map_err(|e: drystone::policy::SpecError| JournalError::Policy(begin.policy.clone(), e.to_string()))?;
    let mut core = Core::new(begin.settings.clone(), begin.layout.clone(), &policy);
    if let Some(state) = &begin.state {
        core.load(state)?;
    }
    Ok(core)
}
