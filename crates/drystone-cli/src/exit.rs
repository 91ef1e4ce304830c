//! End of the program: exit codes, and failures with their messages.

use drystone::engine::SimulationError;
use drystone::experiment::ExperimentError;
use drystone::generate::GenerateError;
use drystone::log::LogError;
use drystone::log::clean::OptionError;
use drystone::metrics::{CompareError, UnknownWord};
use drystone::policy::{PriorityError, SpecError};
#[cfg(feature = "sweep")]
use drystone_sweep::SweepError;
use std::fmt::Display;
use std::io;

/// Everything went well.
pub(crate) const DONE: u8 = 0;
/// The program did its work and found what it was asked to look for, such as a broken promise.
pub(crate) const FINDING: u8 = 1;
/// Wrong usage, or input or output that does not work.
pub(crate) const USAGE: u8 = 2;
/// A policy broke its contract: a bug of the policy.
pub(crate) const VIOLATION: u8 = 3;

pub(crate) const CODES: &str = "Exit codes: 0 done; 1 a finding (a promise was broken and --require-promises \
    given, or a published number is not met);\n2 wrong usage, input or output; 3 a policy broke its contract; \
    130 interrupted, 143 terminated, 129 hung up.";

pub(crate) type CommandOutcome = Result<u8, CommandFailure>;

/// Reason why the program stops early.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandFailure {
    PipeClosed,
    /// Something to tell, and how to exit.
    Message {
        /// The exit code.
        code: u8,
        /// Message.
        text: String,
    },
    /// Failure with its underlying error, for programs that want more than the text.
    Because {
        /// The exit code.
        code: u8,
        /// Message.
        text: String,
        error: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl CommandFailure {
    /// Wrong usage, input or output.
    pub(crate) fn usage_error(text: impl Display) -> CommandFailure {
        CommandFailure::Message { code: USAGE, text: text.to_string() }
    }

    /// Wrong usage, input or output, for this reason.
    pub(crate) fn caused_by(error: impl std::error::Error + Send + Sync + 'static) -> CommandFailure {
        CommandFailure::Because { code: USAGE, text: error.to_string(), error: Box::new(error) }
    }

    pub fn message(&self) -> &str {
        match self {
            CommandFailure::PipeClosed => "the output is closed",
            CommandFailure::Message { text, .. } | CommandFailure::Because { text, .. } => text,
        }
    }

    /// The error behind it, where there is one of this type.
    pub fn find_error<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            CommandFailure::Because { error, .. } => error.downcast_ref(),
            _ => None,
        }
    }

    pub(crate) fn write_error(name: &str, error: &io::Error) -> CommandFailure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return CommandFailure::PipeClosed;
        }
        CommandFailure::usage_error(format_args!("{name}: cannot be written: {error}"))
    }

    pub(crate) fn simulation_error(policy: &str, error: SimulationError) -> CommandFailure {
        let (code, text) = match &error {
            SimulationError::Thrashing { .. }
            | SimulationError::TooFew { .. }
            | SimulationError::TooLittlePower { .. }
            | SimulationError::TooLittleSupply { .. }
            | SimulationError::News(_) => (USAGE, format!("policy {policy}: {error}")),
            SimulationError::Starved { waiting, first, .. } if policy.starts_with("slurm") => (
                USAGE,
                format!(
                    "policy {policy}: {waiting} jobs never start, the first is {first}: nodes of the configuration that are in service \
                     do not suffice for them; look at State= and DownNodes= there, and at how many of its nodes the workload's machine has"
                ),
            ),
            _ => (VIOLATION, format!("policy {policy}: {error}; this is a bug of the policy, please report it")),
        };
        CommandFailure::Because { code, text, error: Box::new(error) }
    }

    pub(crate) fn experiment_error(policy: &str, error: ExperimentError) -> CommandFailure {
        match error {
            ExperimentError::Simulation(error) => CommandFailure::simulation_error(policy, error),
            other => CommandFailure::usage_error(format_args!("policy {policy}: {other}")),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            CommandFailure::PipeClosed => DONE,
            CommandFailure::Message { code, .. } | CommandFailure::Because { code, .. } => *code,
        }
    }

    /// Tells the user, on the standard error.
    pub(crate) fn print_message(&self) {
        if !matches!(self, CommandFailure::PipeClosed) {
            crate::output::message::print_error(self.message());
        }
    }
}

#[cfg(feature = "sweep")]
impl From<SweepError> for CommandFailure {
    fn from(error: SweepError) -> CommandFailure {
        let code = if error.is_violation() { VIOLATION } else { USAGE };
        CommandFailure::Because { code, text: error.to_string(), error: Box::new(error) }
    }
}

macro_rules! wrong_usage {
    ($($error:ty),+) => {
        $(impl From<$error> for CommandFailure {
            fn from(error: $error) -> CommandFailure {
                CommandFailure::caused_by(error)
            }
        })+
    };
}

wrong_usage!(LogError, OptionError, SpecError, PriorityError, GenerateError, UnknownWord, CompareError);

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::engine::PolicyViolation;
    use drystone::model::{JobId, Time};

    #[test]
    fn a_broken_contract_has_its_own_code() {
        let problem = "starts twice".to_string();
        let violation = PolicyViolation { at: Time(5), job: Some(JobId(3)), problem };
        let failure = CommandFailure::simulation_error("easy", violation.into());
        assert_eq!(failure.exit_code(), VIOLATION);
        assert!(failure.find_error::<SimulationError>().is_some(), "programs want to know which job");
        let text = failure.message();
        assert!(text.contains("policy easy") && text.contains("starts twice") && text.contains("#3"), "{text}");
        let starvation = SimulationError::Starved { waiting: 1, suspended: 0, first: JobId(0) };
        assert_eq!(CommandFailure::simulation_error("easy", starvation).exit_code(), VIOLATION);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let failure = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(CommandFailure::write_error("standard output", &failure).exit_code(), DONE);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(CommandFailure::write_error("out.csv", &full).exit_code(), USAGE);
    }
}
