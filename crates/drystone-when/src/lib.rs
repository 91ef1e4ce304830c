//! Start times of waiting jobs, as calibrated distributions.
//!
//! [`Forecaster`] learns run times and arrivals from what happens, samples futures of a session,
//! and simulates the very policy on each until the jobs have started. Past answers, held against
//! what came of them, correct the next one ([`AnswerCalibration`]). [`score_answers()`] scores
//! answers on a log, beside plans and statistics; [`Forecaster::rehearse_answers`] does the same on
//! what a site has recorded.
//!
//! | module | to find |
//! |---|---|
//! | `runs`, `days`, `draws` | run times given what has run; days of the past replayed; random numbers by name |
//! | `world`, `easy`, `general` | the present; futures of plain policies without a session, and of any policy |
//! | `sample`, `survival`, `calibration` | a sample as a distribution; Kaplan-Meier; correction by past answers |
//! | `gates` | jobs that wait for more than room: a limit, other jobs, a time |
//! | `pool` | the futures mixed with forecasts from the past alone, by how well each has done |
//! | `forecaster`, `rehearsal`, `follower` | answers; a site's state and its past; learning by looking at a session |
//! | `foresee`, `again`, `method`, `past`, `regression`, `score` | answers on a log, at arrival and while jobs wait; ways to answer; statistics and a regression beside them; scores |

#![warn(missing_docs)]

mod again;
mod batches;
mod calibration;
mod days;
mod draws;
mod easy;
mod follower;
mod forecaster;
mod foresee;
mod gates;
mod general;
mod method;
mod past;
mod pool;
mod regression;
mod rehearsal;
mod runs;
mod sample;
mod score;
mod settings;
mod survival;
mod world;

pub use again::{RepeatedMethod, RepeatedScores};
pub use calibration::{AnswerCalibration, LevelCorrection};
pub use follower::Follower;
pub use forecaster::{Forecaster, RunTimes, StartAnswer};
pub use foresee::{
    AnnouncedPromises, ForeseeError, ForeseeOptions, Foreseen, MethodScore, QuestionState, score_answers,
};
pub use gates::{StartGates, UserClaim};
pub use general::FutureError;
pub use method::AnswerMethod;
pub use rehearsal::{Adoption, Observed, Rehearsal, RehearsalMachine, RehearsalQuestions, adopt_jobs};
pub use sample::StartSample;
pub use score::{ForecastScore, ForecastSkill, LEVELS, PINBALL, ScoreMark, at_level, compute_skill, quantile_level};
pub use settings::ForecasterSettings;
