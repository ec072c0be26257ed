//! Leader election: one service per process owns contenders, session ids, ordering and errors; a thin driver
//! per backend says who leads and writes the leader information.

mod announcements;
mod component_election;
mod contender_slot;
mod contender_state;
mod contender_task;
mod default_leader_election_service;
mod driver_calls;
mod driver_state;
mod election_action;
mod election_entry;
mod election_machine;
mod election_message;
mod election_task;
mod leader_contender;
mod leader_election_driver;
mod leader_election_service;
mod leader_information;
mod left_behind;
mod publication;

pub use default_leader_election_service::DefaultLeaderElectionService;
pub use leader_contender::LeaderContender;
pub use leader_election_driver::{
    LeaderElectionDriver, LeaderElectionDriverFactory, LeaderElectionEvent, LeaderElectionEvents, LeaderGrant,
};
pub use leader_election_service::LeaderElectionService;
pub use leader_information::LeaderInformation;
