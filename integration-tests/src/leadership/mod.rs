//! Who led when: processes that contend, a recorder of what they say of their own leadership, and the judge over all
//! of them.
//!
//! Each process asks `has_leadership` about every millisecond, on a thread of its own, and appends the edges to a file
//! with the time of CLOCK_BOOTTIME, which all processes of a machine share. [`Intervals`] reads the files of all
//! processes and tells whether two of them ever led at once.

mod block_workers;
mod commands;
mod contender;
mod contender_process;
mod edge;
mod intervals;
mod load;
mod log_edges;
mod outcomes;
mod recorder;
mod settings;
mod write_order;

pub use block_workers::block_workers;
pub use commands::{Answer, Commands};
pub use contender::{Contender, ContenderOptions};
pub use contender_process::ContenderProcess;
pub use edge::Between;
pub use intervals::{HandOver, Interval, Intervals};
pub use load::Load;
pub use outcomes::Outcomes;
pub use recorder::LeadershipRecorder;
pub use settings::ClusterSettings;
pub use write_order::{FencedTerm, TermWrites, terms_of_writes};
