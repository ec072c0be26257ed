//! The contract of [`JobGraphStore`]: durable job graphs, the right to change them, and who is told of changes.

mod listening;
mod storing;

use std::sync::Arc;

use ha_core::jobs::JobGraphStore;

use super::Fixture;
use super::macros::cases;
use crate::fakes::RecordingJobGraphListener;

pub use listening::*;
pub use storing::*;

type Subject = Arc<dyn JobGraphStore>;

async fn start(store: Subject) -> (Subject, RecordingJobGraphListener) {
    let listener = RecordingJobGraphListener::new();
    store.start(Arc::new(listener.clone())).await.unwrap();
    (store, listener)
}

async fn started<F: Fixture<Subject = Subject>>(fixture: &F) -> (Subject, RecordingJobGraphListener) {
    start(fixture.open().await).await
}

cases! { ($) job_graph_store:
    graphs_round_trip,
    all_are_recovered_in_order,
    use_before_start_is_invalid,
    use_after_stop_is_closed,
    start_twice_is_invalid,
    own_graph_is_replaced,
    recovered_graph_is_replaced,
    foreign_graph_is_not_replaced,
    graph_that_changed_since_is_conflict,
    concurrent_puts_have_one_winner,
    remove_is_idempotent,
    foreign_graph_is_not_removed,
    release_gives_up_the_right,
    graphs_survive_a_crash,
    stop_deletes_nothing,
    payload_sizes_do_not_matter,
    broken_entry_hides_no_other,
    broken_entry_alone_is_corrupt,
    foreign_addition_reaches_the_listener,
    foreign_replacement_is_an_addition,
    foreign_removal_reaches_the_listener,
    own_changes_are_not_reported,
    nothing_is_reported_after_stop,
}
