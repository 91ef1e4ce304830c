//! One daemon per state folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

/// Held as long as this lives, and as long as the process does.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The lock cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    #[error("another daemon works here: {0}")]
    Held(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Lock {
    /// Takes the lock, and writes into it which process has it.
    ///
    /// # Errors
    /// Another process, which is named, has it; or it cannot be opened.
    pub fn take_lock(path: &Path, owner: &str) -> Result<Lock, LockError> {
        let mut file = File::options().create(true).read(true).write(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                return Err(LockError::Held(text.trim().to_string()));
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(owner.as_bytes())?;
        file.flush()?;
        Ok(Lock { _file: file })
    }

    /// The process that has the lock; `None` where none has it.
    pub fn find_holder(path: &Path) -> Option<String> {
        let mut file = File::options().read(true).open(path).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(_) => {
                let mut text = String::new();
                file.read_to_string(&mut text).ok()?;
                Some(text.trim().to_string())
            }
        }
    }
}
