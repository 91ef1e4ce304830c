//! The tracker and the daemon on clusters that are made up.

mod chaos;
mod daemon;
mod forgets;
mod room;
mod sets;
mod words;
mod world;
