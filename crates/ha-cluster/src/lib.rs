//! The cluster process.
pub mod blocking;
pub mod cli;
pub mod component;
pub mod dispatcher;
pub mod events;
pub mod job;
pub mod jobmanager;
pub mod process;
pub mod resourcemanager;
pub mod rest;
pub mod retry;
pub mod wordcount;
