//! A cluster process on `ha-services`: what the program `ha-cluster` is made of.
//!
//! Every process of a cluster contends for the leadership of three components; one process leads, and while it does
//! its dispatcher runs the cluster's jobs, each under a job manager of its own that takes checkpoints. When the
//! process goes, the next one takes the jobs up from their last acknowledged checkpoints.
//!
//! ```text
//!  REST endpoint ──► dispatcher ──► job manager (one a job) ──► word count
//!       │                │    │            │
//!       │                │    └─ slots ─ resource manager
//!       ▼                ▼                 ▼
//!  leader retrieval   job graphs,     leadership of the job,
//!                     job results     checkpoints, counter
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`job`] | the job file, its checked form, its id and digest, what is told of a job |
//! | [`wordcount`] | the job itself: counting, snapshots, the sink; no leadership |
//! | [`component`] | what contending components have in common |
//! | [`jobmanager`] | one job: recovery, checkpoints, its end |
//! | [`resourcemanager`] | slots |
//! | [`dispatcher`] | all jobs: submission, recovery, clean-up |
//! | [`status`] | what a process knows of itself and its cluster, as a page and as metrics |
//! | [`rest`] | the endpoint, and the client of a cluster |
//! | [`process`] | the components put together |
//! | [`cli`] | the command line |
//!
//! # What ends a job
//!
//! The end of its text, a source or sink that is certainly gone, or a user. The end is recorded, by a write that is
//! fenced and durable, before anything is cleaned up (I7). Lost leadership, errors of ZooKeeper or of the storage,
//! a defect of this program and the end of the process end no job and delete nothing (I8): the job waits, or goes on
//! elsewhere. What a job waits for is its `reason` over REST, and in the log.
//!
//! # The log
//!
//! The lines that other programs may read stand in [`events`].

pub mod blocking;
pub mod cli;
pub mod component;
pub mod dispatcher;
pub mod events;
pub mod file_fault;
pub mod job;
pub mod jobmanager;
pub mod process;
pub mod resourcemanager;
pub mod rest;
pub mod retry;
pub mod status;
pub mod wordcount;
