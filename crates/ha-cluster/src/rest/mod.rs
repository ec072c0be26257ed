//! The REST endpoint of a process, and the client of a cluster's.

mod cluster_client;
mod error_document;
mod handlers;
mod leader_watch;
mod overview;
mod rest_client;
mod rest_leadership;
mod rest_server;
mod rest_state;
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
