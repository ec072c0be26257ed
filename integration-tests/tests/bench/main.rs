//! What the services cost a server, in requests, transactions and memory, whatever the number of jobs. `ha-bench` as a
//! user runs it: the shape of its result lines, and what each operation costs. B60: jobs by the hundreds and thousands
//! are recovered with a bounded number of requests, in a time and memory that grow with their number and no faster.
//!
//! The servers count, and count everything, so they are each test's own. What a session asks for by itself meanwhile
//! (its heartbeats) is bounded from the time that passed; it can only add to the counts.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect, and says what it measured"
)]

mod elections;
mod many_jobs;
mod operations;
mod rig;
