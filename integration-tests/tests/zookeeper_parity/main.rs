//! The in-memory ZooKeeper of `ha-zookeeper` answers as a real server does: each case runs against both, through the
//! same trait. `memory::watches::…` and `server::watches::…` are one case; where the first differs, it is wrong.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it does not expect"
)]

mod backend;
mod cases;
mod clock;

/// Makes two tests of each case, in modules named like the server and the file of the case.
macro_rules! parity {
    ($($module:ident: [$($case:ident),* $(,)?]),* $(,)?) => {
        mod memory {
            $(mod $module {
                $(#[tokio::test]
                async fn $case() {
                    crate::cases::$module::$case(crate::backend::Place::in_memory().await).await;
                })*
            })*
        }

        mod server {
            $(mod $module {
                $(#[tokio::test]
                async fn $case() {
                    crate::cases::$module::$case(crate::backend::Place::on_a_server().await).await;
                })*
            })*
        }
    };
}

parity! {
    nodes: [
        a_node_is_read_as_it_was_created,
        what_is_there_is_not_created_again,
        nothing_is_created_below_a_missing_parent,
        a_missing_node_is_told_by_each_request,
        setting_counts_versions_and_keeps_the_creation,
        another_version_is_refused_and_changes_nothing,
        version_minus_one_is_any,
        a_node_with_children_is_not_deleted,
        the_stat_of_a_parent_counts_its_children,
        the_same_path_comes_again_at_version_0,
        data_may_be_empty,
        bad_paths_are_refused,
        the_root_is_a_node,
    ],
    ephemerals: [
        an_ephemeral_has_its_owner,
        an_ephemeral_has_no_children,
        sequence_numbers_count_the_creations_below_the_parent,
        sequence_numbers_start_again_with_the_parent,
        a_prefix_may_be_empty,
    ],
    multis: [
        a_multi_is_applied_whole_and_told_in_order,
        a_refused_multi_changes_nothing_and_names_the_operation,
        the_first_refusal_counts,
        operations_see_those_before_them,
        a_multi_is_one_transaction,
        a_check_alone_is_a_transaction_that_changes_nothing,
        a_refused_write_is_a_transaction_and_a_read_is_none,
        a_refused_multi_gives_its_sequence_numbers_back,
        a_multi_may_be_empty,
        a_multi_read_tells_each_node,
    ],
    watches: [
        a_get_on_a_missing_node_arms_nothing,
        a_missing_node_is_watched_by_exists,
        a_data_watch_sees_its_node_and_nothing_below,
        a_child_watch_sees_names_and_no_data,
        a_watch_fires_once,
        all_watches_of_a_node_fire,
        a_dropped_watch_disturbs_no_other,
        a_node_that_comes_and_goes_is_seen_each_time,
        a_multi_fires_for_each_node_and_a_refused_one_for_none,
        an_event_comes_before_the_answer_that_shows_the_change,
        what_changed_while_cut_off_is_told,
        what_came_and_went_while_cut_off_leaves_the_watch_armed,
        what_did_not_change_while_cut_off_stays_watched,
    ],
    sessions: [
        a_close_takes_the_ephemerals_and_is_seen,
        an_expiry_takes_the_ephemerals_and_is_seen,
        a_session_that_is_over_answers_nothing,
        a_cut_keeps_the_session_and_what_was_asked_meanwhile,
        an_expiry_while_cut_off_is_learnt_afterwards,
    ],
    requests: [
        requests_are_handled_in_the_order_of_their_first_polls,
        sync_needs_no_node,
        what_one_session_wrote_another_reads,
        a_request_that_no_server_reads_is_not_sent,
        a_write_whose_reply_is_lost_was_applied,
        a_write_that_is_lost_was_not_applied,
    ],
}
