//! The REST endpoint of a process, and the client of a cluster's.
//!
//! | resource | is answered by |
//! |---|---|
//! | `GET /`, the status page, and `GET /metrics` | the process that is asked, with what it has in memory |
//! | `GET /v1/overview`, `GET /healthz` | the process that is asked |
//! | `/v1/jobs`, `/v1/jobs/ID` | the leader; others answer 307, or 503 where none is known |
//!
//! An operator gets an answer from any process, whoever leads and whatever is away. The page of a process that does not
//! lead says what that process sees, and links to the leader's page; metrics are of one process each, as Prometheus
//! scrapes them.

mod cluster_client;
mod error_document;
mod handlers;
mod leader_watch;
mod overview;
mod rest_client;
mod rest_leadership;
mod rest_server;
mod rest_state;
mod status_handlers;
mod submission;

pub use cluster_client::{ClusterClient, LeaderSource};
pub use error_document::ErrorDocument;
pub use leader_watch::LeaderWatch;
pub use overview::{LeaderOverview, LeadersOverview, Overview, ProcessOverview};
pub use rest_client::RestClient;
pub use rest_leadership::RestLeadership;
pub use rest_server::{RestListener, RestServer};
pub use rest_state::RestState;
pub use submission::{RecordedEnd, Submission};
