//! Tests of the forecaster against policies and by hand.

mod answers;
mod rehearsal;
mod shortcut;
