//! Tests of the core that need neither logs nor the reference definitions.

mod admission;
mod circumstances;
mod news;
mod outages;
mod resources;
mod supply;
mod texts;
mod world;
