//! Points in time and lengths of time, in whole seconds.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A point in time, in whole seconds since the origin of the workload (usually the first submit of
/// the log).
///
/// ```
/// use drystone_engine::model::{Span, Time};
///
/// assert_eq!(Time(90) - Time(30), Span::MINUTE);
/// assert_eq!(Time::ZERO + Span::HOUR, Time(3_600));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

/// A length of time in whole seconds.
///
/// ```
/// use drystone_engine::model::Span;
///
/// assert_eq!(Span::HOUR + Span(1_800), Span(5_400));
/// assert_eq!(Span::DAY.as_f64(), 86_400.0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Time {
    /// The origin of the workload.
    pub const ZERO: Time = Time(0);
    /// Later than every event; the end of a step function.
    pub const MAX: Time = Time(i64::MAX);
    /// Earlier than every event.
    pub const MIN: Time = Time(i64::MIN);

    /// The later of the two.
    #[inline]
    #[must_use]
    pub fn max(self, time: Time) -> Time {
        Time(self.0.max(time.0))
    }

    /// The earlier of the two.
    #[inline]
    #[must_use]
    pub fn min(self, time: Time) -> Time {
        Time(self.0.min(time.0))
    }

    /// `self + span`, stopping at [`Time::MAX`] instead of overflowing.
    #[inline]
    #[must_use]
    pub fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than every job.
    pub const MAX: Span = Span(i64::MAX);
    /// One minute.
    pub const MINUTE: Span = Span(60);
    /// One hour.
    pub const HOUR: Span = Span(3_600);
    /// One day of 24 hours.
    pub const DAY: Span = Span(86_400);
    /// One week of seven days.
    pub const WEEK: Span = Span(7 * 86_400);

    /// The length in seconds as a float, for averages.
    #[inline]
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The longer of the two.
    #[inline]
    #[must_use]
    pub fn max(self, span: Span) -> Span {
        Span(self.0.max(span.0))
    }

    /// The shorter of the two.
    #[inline]
    #[must_use]
    pub fn min(self, span: Span) -> Span {
        Span(self.0.min(span.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Times and spans beyond this many seconds (about 34,000 years) are refused, so that no sum in the
/// simulator can overflow.
pub const TIME_LIMIT: i64 = 1 << 40;

/// Bound on the distance from 0 of any time in a session, and of any prediction at any multiple of
/// a run time: they can be added.
pub const FURTHEST: i64 = 1 << 61;
