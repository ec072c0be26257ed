//! One check a file: a name, and a function of what was read.

mod acl_differs;
mod children_near_limit;
mod claimed_latch_not_first;
mod component_without_leader;
mod counter_behind;
mod data_near_limit;
mod dead_sessions;
mod dirty_result_old;
mod file_without_pointer;
mod flink_file_elsewhere;
mod foreign_file_named;
mod foreign_files;
mod foreign_latch;
mod foreign_znodes;
mod identity_mismatch;
mod leader_information_of_another;
mod misplaced_file;
mod missing_file;
mod no_leader;
mod other_tree;
mod result_beside_job_graph;
mod server_tick;
mod session_timeout_shortened;
mod several_latches;
mod storage_not_writable;
mod storage_unreachable;
mod storage_without_identity;
mod torn_file;
mod tree_lost;
mod tree_without_identity;
mod unfinished_import;
mod unreadable_counter;
mod unreadable_identity;
mod unreadable_latch;
mod unreadable_leader_information;
mod unreadable_pointer;
mod unreadable_registry;
mod unreadable_result;
mod unreadable_state_file;

use super::check::Check;
use crate::layout::Layout;

/// The checks of a layout, in the order in which they are told.
pub(super) const fn of(layout: Layout) -> &'static [Check] {
    match layout {
        Layout::Native => NATIVE,
        Layout::Flink(_) => FLINK,
    }
}

const NATIVE: &[Check] = &[
    no_leader::CHECK,
    component_without_leader::CHECK,
    foreign_latch::CHECK,
    unreadable_latch::CHECK,
    several_latches::CHECK,
    claimed_latch_not_first::CHECK,
    dead_sessions::CHECK,
    unreadable_leader_information::CHECK,
    leader_information_of_another::CHECK,
    unreadable_identity::CHECK,
    identity_mismatch::CHECK,
    storage_without_identity::CHECK,
    tree_without_identity::CHECK,
    other_tree::CHECK,
    tree_lost::CHECK,
    unfinished_import::CHECK,
    unreadable_pointer::CHECK,
    missing_file::CHECK,
    torn_file::CHECK,
    misplaced_file::CHECK,
    foreign_file_named::CHECK,
    unreadable_state_file::CHECK,
    file_without_pointer::CHECK,
    foreign_files::CHECK,
    foreign_znodes::CHECK,
    unreadable_counter::CHECK,
    unreadable_registry::CHECK,
    counter_behind::CHECK,
    unreadable_result::CHECK,
    dirty_result_old::CHECK,
    result_beside_job_graph::CHECK,
    storage_unreachable::CHECK,
    storage_not_writable::CHECK,
    data_near_limit::CHECK,
    children_near_limit::CHECK,
    acl_differs::CHECK,
    session_timeout_shortened::CHECK,
    server_tick::CHECK,
];

/// Flink keeps no identities and no claims, its files have no checksums, and it computes no leases from a tick.
const FLINK: &[Check] = &[
    no_leader::CHECK,
    component_without_leader::CHECK,
    foreign_latch::CHECK,
    several_latches::CHECK,
    dead_sessions::CHECK,
    unreadable_leader_information::CHECK,
    leader_information_of_another::CHECK,
    unreadable_pointer::CHECK,
    missing_file::CHECK,
    torn_file::CHECK,
    misplaced_file::CHECK,
    foreign_file_named::CHECK,
    flink_file_elsewhere::CHECK,
    foreign_znodes::CHECK,
    unreadable_counter::CHECK,
    unreadable_registry::CHECK,
    counter_behind::CHECK,
    unreadable_result::CHECK,
    dirty_result_old::CHECK,
    result_beside_job_graph::CHECK,
    storage_unreachable::CHECK,
    data_near_limit::CHECK,
    children_near_limit::CHECK,
    acl_differs::CHECK,
    session_timeout_shortened::CHECK,
];
