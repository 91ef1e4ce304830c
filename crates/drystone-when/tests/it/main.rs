//! Tests of the forecaster against policies and by hand.

mod again;
mod answers;
mod gates;
mod rehearsal;
mod shortcut;
