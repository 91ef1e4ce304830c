//! The ways in which published studies cleaned their logs.

use super::choices::{Keep, MissingEstimate, NegativeRun, Overrun, SizeField, TooWide};
use super::options::CleaningOptions;
use super::study::CleaningStudy;

impl CleaningStudy {
    /// Returns the conversion of the study.
    ///
    /// Not set, because no study used it throughout: Kettimuthu et al. simulated the first 5,000
    /// jobs in most tables (`take`) and also user estimates (`overrun` `raise`); Talby and
    /// Feitelson, and Chiang and Vasupongayya, simulated months apart. RLScheduler draws its
    /// windows from the first 10,000 jobs of a log.
    #[must_use]
    pub fn options(self) -> CleaningOptions {
        let base = CleaningOptions { study: Some(self), ..CleaningOptions::default() };
        match self {
            CleaningStudy::Tsafrir2007 => CleaningOptions { size: SizeField::AllocatedOnly, ..base },
            CleaningStudy::Gaussier2015 => CleaningOptions {
                zero_run: Keep::Drop,
                missing_estimate: MissingEstimate::Drop,
                negative_submit: Keep::Drop,
                too_wide: TooWide::DropEither,
                overrun: Overrun::Kill,
                ..base
            },
            CleaningStudy::Kettimuthu2005 | CleaningStudy::Lawson2002 => {
                CleaningOptions { zero_run: Keep::Drop, overrun: Overrun::Exact, ..base }
            }
            CleaningStudy::Talby1999 => CleaningOptions {
                size: SizeField::Allocated,
                negative_run: NegativeRun::Zero,
                missing_estimate: MissingEstimate::RunMin1,
                overrun: Overrun::Kill,
                ..base
            },
            CleaningStudy::RlScheduler2020 => CleaningOptions {
                size: SizeField::Larger,
                zero_run: Keep::Drop,
                negative_run: NegativeRun::Ten,
                ..base
            },
            CleaningStudy::Chiang2008 => CleaningOptions { overrun: Overrun::Exact, ..base },
        }
    }
}
