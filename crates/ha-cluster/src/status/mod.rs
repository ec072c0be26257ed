//! How a process and its cluster stand, for people (`GET /`) and for Prometheus (`GET /metrics`).
//!
//! Each is answered by the process that is asked, whoever leads, from what it has in memory: nothing is asked of
//! ZooKeeper or of the storage, so that an answer comes while both are away. [`ProcessStatus`] is that knowledge at one
//! instant; [`render_page`] and [`render_metrics`] are pure functions of it.
//!
//! Times are spans between instants of this process's monotonic clock. Where a time of day is shown, it is now less
//! such a span, so a clock that was set makes no leader older.

mod checkpoint_metrics;
mod checkpoint_note;
mod jobs_section;
mod jobs_status;
mod leader_history;
mod metrics_text;
mod process_status;
mod status_page;
mod units;

pub use checkpoint_metrics::CheckpointMetrics;
pub use checkpoint_note::CheckpointNote;
pub use jobs_status::{JobLine, JobsStatus};
pub use leader_history::{LeaderHistory, LeaderView};
pub use metrics_text::{METRICS_CONTENT_TYPE, render_metrics};
pub use process_status::{ComponentStatus, ProcessStatus};
pub use status_page::{Refreshing, content_security_policy, render_page};
