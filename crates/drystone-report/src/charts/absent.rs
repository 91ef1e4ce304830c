//! A build that draws nothing.

use super::{DrawError, Drawing};

/// Refuses to draw.
pub(crate) fn run(_: &'static str, _: String, _: u32) -> Result<Vec<Drawing>, DrawError> {
    Err(DrawError::Absent)
}

impl Drawing {
    /// Refuses to make an image.
    ///
    /// # Errors
    /// Always.
    pub fn png(&self, _: f32) -> Result<Vec<u8>, DrawError> {
        Err(DrawError::Absent)
    }

    /// Refuses to make a page.
    ///
    /// # Errors
    /// Always.
    pub fn pdf(&self) -> Result<Vec<u8>, DrawError> {
        Err(DrawError::Absent)
    }
}
