//! High-availability services for the processes of a cluster: leader election, leader retrieval, and durable
//! stores for jobs, checkpoints, results and blobs. On ZooKeeper, or embedded in one process, behind one
//! interface. This crate is all that a user depends on.
//!
//! ```
//! use std::sync::Arc;
//! use ha_services::ids::{ComponentId, LeaderSessionId};
//! use ha_services::*;
//!
//! struct Scheduler {
//!     election: Arc<dyn LeaderElectionService>,
//! }
//!
//! #[async_trait]
//! impl LeaderContender for Scheduler {
//!     async fn grant_leadership(&self, session: LeaderSessionId) {
//!         // From here on others find this leader. A term that is over meanwhile confirms nothing.
//!         let confirmed = self.election.confirm_leadership(session, None).await;
//!         println!("leads in the term {session}, confirmed: {confirmed:?}");
//!     }
//!     async fn revoke_leadership(&self) { println!("leads no more"); }
//!     async fn handle_error(&self, error: Error) { println!("{error}"); }
//!     fn address(&self) -> String { "http://127.0.0.1:8081".to_owned() }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let configuration = Configuration::new(); // .with("high-availability", "zookeeper") and so on
//! let services = create_available_or_embedded_services(&configuration, Environment::system()).await?;
//! let election = services.leader_election(ComponentId::custom("scheduler")?);
//! let mut leadership = election.subscribe(); // for those who would rather wait than be called
//! election.start(Arc::new(Scheduler { election: Arc::clone(&election) })).await?;
//! let _ = leadership.wait_for(Option::is_some).await; // this process leads
//! services.close().await // gives leadership up at once; keeps all data
//! # }
//! ```
//!
//! # Modes
//!
//! | `high-availability` | services | data outlives the process |
//! |---|---|---|
//! | `NONE` (default) | [`EmbeddedHaServices`], or [`StandaloneHaServices`] with fixed addresses | no |
//! | `filesystem` | one process by a lock of the operating system; files in a local directory | yes |
//! | `zookeeper` | any number of processes, one leads; pointers in ZooKeeper, state in the HA storage directory | yes |
//! | another name | the factory that was registered under it, see [`FactoryRegistry`] | the factory's matter |
//!
//! `KUBERNETES` is recognised and refused: it is not built.
//!
//! # What to hold on to
//!
//! - Leadership is a term with an id. [`LeaderElectionService::has_leadership`] answers for this instant, by a lease
//!   that ends by itself; every write of a leader to the stores is fenced by its term, so a leader that was paused
//!   and does not know that it is deposed changes nothing.
//! - An [`Error`] says what kind it is and whether the operation took effect ([`Effect`]). Unknown means: read back.
//! - `close` keeps all data. Only the recorded end of a job, or an explicit clean-up call, deletes HA data.
//! - The library installs no log subscriber and handles no signal. Time, ids and tasks come from the
//!   [`Environment`], which also has the handler of fatal errors.
//!
//! # Features
//!
//! - `zookeeper` (default): the mode of that name.
//! - `s3`, `gcs`, `azure`, `hdfs`: the stores that `high-availability.storageDir` can name beside local directories. With
//!   one of the first three, a program that makes HTTP clients of its own by `reqwest` calls [`choose_tls_provider`]
//!   first.
//!
//! More programs stand under `examples/`: `elect_leader`, `follow_leader`, `store_and_recover_job` and
//! `embedded_for_tests`. The contract itself, with the invariants that hold in every mode, is the crate `ha_core`,
//! whose modules are re-exported here.

mod address;
mod factories;

pub use async_trait::async_trait;
pub use ha_core::{Effect, Error, ErrorKind, Result};
pub use ha_core::{
    backoff, blobs, checkpoints, configuration, election, environment, error, health, ids, jobs, retrieval,
    services,
};

pub use address::{job_manager_address, set_job_manager_address};
pub use factories::{
    FactoryRegistry, ProcessDescription, create_available_or_embedded_services,
    create_available_or_embedded_services_for, create_high_availability_services,
    create_leader_election_service, create_leader_retrieval_service,
};
pub use ha_core::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
pub use ha_core::election::{LeaderContender, LeaderElectionService, LeaderInformation};
pub use ha_core::environment::Environment;
pub use ha_core::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};
pub use ha_core::services::{AddressResolution, HighAvailabilityServices, HighAvailabilityServicesFactory};
pub use ha_embedded::{
    EmbeddedHaServices, FilesystemHaServices, LeadershipControl, StandaloneAddresses, StandaloneHaServices,
};
pub use ha_storage::choose_tls_provider;
