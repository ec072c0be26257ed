//! Leader election: one service per process owns contenders, session ids, ordering and errors; a thin driver
//! per backend says who leads and writes the leader information.

mod leader_contender;
mod leader_election_driver;
mod leader_election_service;
mod leader_information;

pub use leader_contender::LeaderContender;
pub use leader_election_driver::{
    LeaderElectionDriver, LeaderElectionDriverFactory, LeaderElectionEvent, LeaderElectionEvents, LeaderGrant,
};
pub use leader_election_service::LeaderElectionService;
pub use leader_information::LeaderInformation;
