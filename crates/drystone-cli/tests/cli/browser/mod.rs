//! Pages as people see them: in a real Chromium.
//!
//! Without a Chromium these tests say so and pass; with `DRYSTONE_BROWSER_REQUIRED` set, as in
//! `.ci/run`, they fail. `CHROME` names one that is not found by itself. `DRYSTONE_SCREENSHOTS`
//! names a directory for pictures to look at.
#![allow(clippy::disallowed_methods, reason = "tests wait for a browser")]

mod charts;
mod chromium;
mod legible;
mod pages;
#[cfg(unix)]
mod site_pages;
