//! The tracker and the daemon on clusters that are made up.

mod chaos;
mod daemon;
mod daemon_site;
mod depends;
mod forgets;
mod hand_back;
mod licences;
mod room;
mod sets;
mod shrink;
mod unsuitable;
mod words;
mod world;
