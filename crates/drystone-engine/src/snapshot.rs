//! Saved states: what saves and restores, and what stands at the head of a saved session or
//! simulation.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// State that can be saved and restored; every type with serde's traits has it.
pub trait Snapshot {
    /// The whole state in a compact binary form.
    ///
    /// # Errors
    /// Serialisation fails.
    fn save(&self) -> Result<Vec<u8>, SnapshotError>;

    /// Replaces the state by a saved one of the same type.
    ///
    /// # Errors
    /// Bytes that are no such state. The state is then unchanged.
    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError>;
}

impl<T: Serialize + DeserializeOwned> Snapshot for T {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        Ok(postcard::to_stdvec(self)?)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        *self = postcard::from_bytes(bytes)?;
        Ok(())
    }
}

/// A state could not be saved or restored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// It cannot be written, or is damaged.
    #[error("saved state: {0}")]
    Unreadable(#[from] postcard::Error),
    /// A policy or predictor of another crate says why it cannot be saved or restored.
    #[error("saved state: {0}")]
    Refused(String),
    /// The bytes are no saved state at all.
    #[error("saved state: it does not begin as one; expected the output of `save` of a {expected}")]
    NoState {
        /// Expected kind of state.
        expected: &'static str,
    },
    /// It is the state of something else.
    #[error("saved state: it is that of a {found}, not of a {expected}")]
    OtherContents {
        /// Kind of the given state.
        found: &'static str,
        /// Expected text.
        expected: &'static str,
    },
    /// Another version wrote it, in another layout.
    #[error(
        "saved state: Drystone {version} wrote it in layout {found}; this is {here}, which reads layout {LAYOUT} only; continue \
         with the version that wrote it, or start from the beginning",
        here = env!("CARGO_PKG_VERSION")
    )]
    OtherLayout {
        /// Its layout.
        found: u16,
        /// The version that wrote it.
        version: String,
    },
    /// It was saved under another policy or predictor.
    #[error("saved state: it is of another scheduler; it was saved under {saved}, and this is {here}")]
    OtherScheduler {
        /// Policy and predictor that it was saved under.
        saved: String,
        /// Policy and predictor that were to load it.
        here: String,
    },
    /// It was saved by a scheduler of other choices, which would go on here as if they were this
    /// one's.
    #[error(
        "saved state: it is of another scheduler; policy, parameters, priorities, predictions, corrections and passes must be the same"
    )]
    Foreign,
}

/// The layout of what sessions and simulations save. Raise it with every change of what they, the
/// table of jobs, or a policy or predictor of this crate keep.
pub const LAYOUT: u16 = 22;

const MAGIC: [u8; 8] = *b"DRYSTONE";

/// Contents of a saved state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Contents {
    Session,
    Simulation,
}

impl Contents {
    const ALL: [Contents; 2] = [Contents::Session, Contents::Simulation];

    fn name(self) -> &'static str {
        match self {
            Contents::Session => "session",
            Contents::Simulation => "simulation",
        }
    }

    fn code(self) -> u8 {
        match self {
            Contents::Session => b's',
            Contents::Simulation => b'S',
        }
    }
}

/// Header behind the magic bytes, in every layout the same.
#[derive(Serialize, Deserialize)]
struct SnapshotHeader {
    contents: u8,
    layout: u16,
    /// The version that wrote it, for people.
    version: String,
}

/// A state behind its header.
pub(crate) fn write_state<T: Serialize>(contents: Contents, state: &T) -> Result<Vec<u8>, SnapshotError> {
    let version = env!("CARGO_PKG_VERSION").to_string();
    let header = SnapshotHeader { contents: contents.code(), layout: LAYOUT, version };
    let bytes = postcard::to_extend(&header, MAGIC.to_vec())?;
    Ok(postcard::to_extend(state, bytes)?)
}

/// The state behind a header, if it is of this kind and layout.
pub(crate) fn read_state<T: DeserializeOwned>(contents: Contents, bytes: &[u8]) -> Result<T, SnapshotError> {
    let expected_name = contents.name();
    let rest = bytes.strip_prefix(&MAGIC).ok_or(SnapshotError::NoState { expected: expected_name })?;
    let (header, rest) = postcard::take_from_bytes::<SnapshotHeader>(rest)?;
    if header.layout != LAYOUT {
        return Err(SnapshotError::OtherLayout { found: header.layout, version: header.version });
    }
    if header.contents != contents.code() {
        let stored_contents = Contents::ALL.into_iter().find(|c| c.code() == header.contents);
        return Err(SnapshotError::OtherContents {
            found: stored_contents.map_or("something unknown", Contents::name),
            expected: expected_name,
        });
    }
    Ok(postcard::from_bytes(rest)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_state_of_this_kind_and_layout_is_refused() {
        let good = write_state(Contents::Session, &7u32).expect("saves");
        assert_eq!(read_state::<u32>(Contents::Session, &good), Ok(7));
        let other = read_state::<u32>(Contents::Simulation, &good).expect_err("another kind");
        assert_eq!(other.to_string(), "saved state: it is that of a session, not of a simulation");
        for bad in [&b""[..], b"DRYSTON", b"\0\0\0\0\0\0\0\0\0\0", &good[1..]] {
            let error = read_state::<u32>(Contents::Session, bad).expect_err("no state");
            assert_eq!(error, SnapshotError::NoState { expected: "session" });
        }
        for end in MAGIC.len()..good.len() {
            assert!(
                matches!(read_state::<u32>(Contents::Session, &good[..end]), Err(SnapshotError::Unreadable(_))),
                "{end}"
            );
        }
    }

    #[test]
    fn a_state_of_another_version_names_it() {
        let header = SnapshotHeader { contents: b's', layout: LAYOUT + 1, version: "0.9.1".into() };
        let bytes = postcard::to_extend(&header, MAGIC.to_vec()).expect("saves");
        let error = read_state::<u32>(Contents::Session, &bytes).expect_err("another layout").to_string();
        assert!(error.contains(&format!("Drystone 0.9.1 wrote it in layout {}", LAYOUT + 1)), "{error}");
    }
}
