//! The contract of [`LeaderElectionService`]: who leads, in which term, and in what order contenders are told.
//!
//! The subject is the services of a process. Where several processes are needed, each election is made by services
//! of its own; an implementation that lives in one process may open the same services each time.

mod callbacks;
mod publishing;
mod terms;

use std::sync::Arc;

use ha_core::election::LeaderElectionService;
use ha_core::ids::ComponentId;
use ha_core::services::HighAvailabilityServices;

use super::Fixture;
use super::macros::cases;
use crate::fakes::{RecordingContender, RecordingListener};

pub use callbacks::*;
pub use publishing::*;
pub use terms::*;

type Subject = Arc<dyn HighAvailabilityServices>;

fn component() -> ComponentId {
    ComponentId::dispatcher()
}

/// A contender, and the service that it was started in.
struct Candidate {
    election: Arc<dyn LeaderElectionService>,
    contender: Arc<RecordingContender>,
}

/// Lets a contender stand for a component in a process.
async fn stand_for(
    process: &Subject,
    component: ComponentId,
    contender: Arc<RecordingContender>,
) -> Candidate {
    let election = process.leader_election(component);
    contender.contend(&election).await;
    Candidate { election, contender }
}

/// Lets a contender stand in a process of its own.
async fn stand<F: Fixture<Subject = Subject>>(
    fixture: &F,
    contender: Arc<RecordingContender>,
) -> (Subject, Candidate) {
    let process = fixture.open().await;
    let candidate = stand_for(&process, component(), contender).await;
    (process, candidate)
}

/// Follows a component from a process of its own.
async fn follow<F: Fixture<Subject = Subject>>(
    fixture: &F,
    component: ComponentId,
) -> (
    Subject,
    Arc<dyn ha_core::retrieval::LeaderRetrievalService>,
    Arc<RecordingListener>,
) {
    let process = fixture.open().await;
    let retrieval = process.leader_retriever(component);
    let listener = RecordingListener::new();
    listener.listen(&retrieval).await;
    (process, retrieval, listener)
}

cases! { ($) leader_election:
    single_contender_is_granted_once,
    one_of_two_leads,
    each_leads_in_its_turn,
    stopped_standby_is_never_woken,
    leader_may_stand_again,
    components_of_one_process_are_apart,
    another_process_takes_over_after_a_crash,
    second_contender_of_a_process_is_already_exists,
    start_twice_is_invalid,
    start_after_stop_is_invalid,
    stop_is_idempotent,
    revoke_comes_before_the_next_grant,
    leadership_ends_before_revoke,
    nothing_is_called_after_stop,
    order_is_kept_although_a_grant_blocks,
    stop_inside_grant_does_not_deadlock,
    stop_inside_revoke_does_not_deadlock,
    panicking_contender_touches_no_other,
    own_leadership_can_be_followed,
    confirm_inside_grant_is_published,
    confirm_after_grant_is_published,
    nothing_is_published_before_confirmation,
    stale_confirm_is_ignored,
    foreign_information_is_corrected,
    standby_cannot_confirm,
    confirm_after_stop_is_closed,
    second_confirm_replaces_the_address,
    too_long_address_is_invalid,
    nobody_leads_after_the_last_stop,
}
