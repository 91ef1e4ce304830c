//! A build that draws nothing.

use super::{DrawError, Drawing};

/// Refuses to draw.
pub(crate) fn run_drawing(_: &'static str, _: String, _: u32) -> Result<Vec<Drawing>, DrawError> {
    Err(DrawError::Absent)
}

impl Drawing {
    /// Refuses to make an image.
    ///
    /// # Errors
    /// Always.
    pub fn png_image(&self, _: f32) -> Result<Vec<u8>, DrawError> {
        Err(DrawError::Absent)
    }

    /// Refuses to make a page.
    ///
    /// # Errors
    /// Always.
    pub fn pdf_page(&self) -> Result<Vec<u8>, DrawError> {
        Err(DrawError::Absent)
    }
}
