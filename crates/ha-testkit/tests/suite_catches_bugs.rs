//! Each suite catches what it is there for: deliberately broken implementations, each of which a named case must
//! fail, while the same implementation without the fault passes that case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod reference;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ha_testkit::condition::with_limit;
use ha_testkit::contract;

/// How long a broken implementation is waited for. The sound one has the full limit.
const LIMIT: Duration = Duration::from_secs(2);

/// Defines one test a fault: the case must fail with the fault, and pass without.
macro_rules! caught {
    ($suite:ident, $fixture:ident: $($fault:ident => $case:ident),* $(,)?) => {
        mod $suite {
            use super::*;

            $(
                #[test]
                #[allow(non_snake_case, reason = "the name of the fault")]
                fn $fault() {
                    contract::run(contract::$suite::$case(reference::$fixture(reference::Fault::None)));
                    let broken = reference::$fixture(reference::Fault::$fault);
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        contract::run(with_limit(LIMIT, contract::$suite::$case(broken)));
                    }));
                    assert!(
                        outcome.is_err(),
                        "the case {} does not catch the fault {}",
                        stringify!($case),
                        stringify!($fault)
                    );
                }
            )*
        }
    };
}

caught! { job_graph_store, job_graph_stores:
    BrokenGraphHidesOthers => broken_entry_hides_no_other,
    BrokenGraphIsNone => broken_entry_alone_is_corrupt,
    BrokenGraphIsDeleted => broken_entry_hides_no_other,
    OwnChangesReported => own_changes_are_not_reported,
    ForeignGraphReplaced => foreign_graph_is_not_replaced,
    ForeignGraphRemoved => foreign_graph_is_not_removed,
    StoppedListenerTold => nothing_is_reported_after_stop,
    ReplacementUnreported => foreign_replacement_is_an_addition,
    GraphLostAtCrash => graphs_survive_a_crash,
}

caught! { completed_checkpoint_store, checkpoints:
    PublishedBeforeStored => acknowledged_survives_a_crash,
    RetentionForgotten => newest_are_retained,
    OlderUsedSilently => unreadable_newest_is_corrupt,
    OldCheckpointAccepted => ids_must_increase,
    SuspendedJobDeleted => other_shutdown_keeps,
    OrderOfDigits => order_is_kept_over_a_reopening,
    NewestSubsumed => newest_are_retained,
    VanishedIsNone => reader_beside_a_writer_never_goes_back,
}

caught! { checkpoint_id_counter, checkpoints:
    CounterInMemory => ids_go_on_after_a_crash,
    CounterSetBack => set_never_goes_back,
    BrokenCounterIsOne => unreadable_counter_is_corrupt,
    CounterIgnoresCheckpoints => counter_stands_above_the_newest_checkpoint,
    CounterReadsThenWrites => two_processes_never_share_an_id,
}

caught! { job_result_store, job_result_stores:
    DirtyAfterClean => dirty_after_clean_is_already_exists,
    CleanOfUnknown => clean_unknown_is_not_found,
    SecondEndOverwrites => duplicate_dirty_is_already_exists,
    TornResultHidesOthers => torn_entry_blocks_only_its_own_job,
    TornResultForgotten => torn_entry_blocks_only_its_own_job,
    CleanForgotten => flags_follow_the_state,
}

caught! { running_jobs_registry, registries:
    DoneOverwritten => done_is_final,
    DoneListedAsRunning => only_running_jobs_are_listed,
    BrokenStatusIsPending => unreadable_record_is_corrupt,
}

caught! { blob_store, blob_stores:
    HalfWrittenVisible => partial_upload_is_never_visible,
    WrongContentAccepted => wrong_content_is_invalid,
    ChangedContentServed => changed_content_is_corrupt,
    MissingIsAnError => missing_is_false,
    DeleteAllOfEveryJob => delete_all_is_scoped_to_the_job,
}

caught! { leader_election, services:
    NotRevoked => single_contender_is_granted_once,
    RevokedLate => revoke_comes_before_the_next_grant,
    GrantedTwice => single_contender_is_granted_once,
    StoppedContenderWoken => stopped_standby_is_never_woken,
    StaleConfirmAccepted => stale_confirm_is_ignored,
    LeadsWhileRevoked => leadership_ends_before_revoke,
    PublishedWithoutConfirmation => nothing_is_published_before_confirmation,
    TermRepeats => leader_may_stand_again,
    StopWaitsForItsCallback => stop_inside_grant_does_not_deadlock,
}

caught! { leader_retrieval, services:
    NotificationRepeated => the_same_is_not_told_twice,
    LeaderKeptAfterLoss => loss_of_the_leader_is_none,
    ToldAfterStop => nothing_is_told_after_stop,
    FirstLeaderNotTold => late_listener_is_told_the_leader,
    ToldOneLate => changed_address_is_told,
}

caught! { high_availability_services, services:
    NeighbourCleaned => cleanup_of_all_keeps_the_neighbour,
    CloseDeletes => close_keeps_data,
    EndedJobRecovered => ended_job_is_not_recovered,
    CleanupWithoutEnd => cleanup_of_a_job_without_an_end_is_invalid,
    CleanupForgetsBlobs => cleanup_of_a_job_leaves_its_result_and_the_other_jobs,
    CleanupKeepsData => cleanup_of_all_removes_all,
    CleanupBesideTheLeader => cleanup_of_all_is_refused_beside_a_contender,
    ClosedServicesServe => closed_services_refuse,
    CloseKeepsLeading => close_gives_up_leadership,
    StandbyWrites => standby_cannot_write,
    BlobsUnfenced => former_leader_cannot_write,
}
