//! The contracts on the standalone services, where they apply: addresses are fixed, and whoever asks leads.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::environment::Environment;
use ha_core::services::HighAvailabilityServices;
use ha_embedded::{StandaloneAddresses, StandaloneHaServices};
use ha_testkit::contract::Fixture;

type Services = Arc<dyn HighAvailabilityServices>;

/// Services of one process, with addresses that no contender of a case has.
struct Standalone(Mutex<Option<Services>>);

impl Standalone {
    fn new() -> Self {
        Self(Mutex::default())
    }
}

#[async_trait]
impl Fixture for Standalone {
    type Subject = Services;

    async fn open(&self) -> Services {
        let open = || {
            let addresses = StandaloneAddresses {
                resource_manager: "rm:1".to_owned(),
                dispatcher: "dispatcher:1".to_owned(),
                rest_server: "rest:1".to_owned(),
                custom: BTreeMap::new(),
            };
            StandaloneHaServices::new(addresses, Environment::system()).unwrap() as Services
        };
        Arc::clone(self.0.lock().unwrap().get_or_insert_with(open))
    }
}

mod standalone {
    use ha_testkit::contract_tests;

    use super::*;

    contract_tests!(
        leader_election,
        Standalone::new(),
        unsupported: {
            one_of_two_leads: "whoever asks leads",
            each_leads_in_its_turn: "whoever asks leads, in the one term that there is",
            stopped_standby_is_never_woken: "whoever asks leads: there are no standbys",
            leader_may_stand_again: "there is one term, the all-zero one",
            another_process_takes_over_after_a_crash: "there is one process",
            second_contender_of_a_process_is_already_exists: "whoever asks leads",
            revoke_comes_before_the_next_grant: "whoever asks leads",
            nothing_is_called_after_stop: "whoever asks leads: there are no standbys",
            confirm_inside_grant_is_published: "addresses are fixed",
            confirm_after_grant_is_published: "addresses are fixed",
            nothing_is_published_before_confirmation: "addresses are fixed",
            stale_confirm_is_ignored: "addresses are fixed",
            foreign_information_is_corrected: "addresses are fixed",
            standby_cannot_confirm: "whoever asks leads: there are no standbys",
            confirm_after_stop_is_closed: "addresses are fixed",
            second_confirm_replaces_the_address: "addresses are fixed",
            too_long_address_is_invalid: "addresses are fixed",
            nobody_leads_after_the_last_stop: "addresses are fixed",
        }
    );
    contract_tests!(
        leader_retrieval,
        Standalone::new(),
        unsupported: {
            late_listener_is_told_the_leader: "addresses are fixed",
            early_listener_is_told_the_first_leader: "addresses are fixed",
            the_same_is_not_told_twice: "addresses are fixed",
            loss_of_the_leader_is_none: "addresses are fixed",
            next_leader_is_told: "addresses are fixed",
            changed_address_is_told: "addresses are fixed",
            slow_listener_is_told_the_latest: "addresses are fixed",
            all_listeners_agree: "addresses are fixed",
            components_are_apart: "addresses are fixed",
            component_of_the_users_own_is_followed: "addresses are fixed",
            leader_can_be_followed_by_a_watch: "addresses are fixed",
            nothing_is_told_after_stop: "addresses are fixed",
            stop_inside_callback_does_not_deadlock: "addresses are fixed",
            panicking_listener_touches_no_other: "addresses are fixed",
            unreadable_leader_is_an_error: "addresses are fixed",
        }
    );
    contract_tests!(
        high_availability_services,
        Standalone::new(),
        unsupported: {
            every_getter_works: "addresses are fixed, and no blobs are kept",
            getters_give_fresh_services: "addresses are fixed",
            older_names_are_the_same_component: "addresses are fixed",
            job_managers_of_two_jobs_are_apart: "addresses are fixed",
            close_keeps_data: "data in memory is gone with its process",
            crash_keeps_data: "data in memory is gone with its process",
            ended_job_is_not_recovered: "no blobs are kept",
            cleanup_of_a_job_without_an_end_is_invalid: "no blobs are kept",
            cleanup_of_a_job_leaves_its_result_and_the_other_jobs: "no blobs are kept",
            cleanup_goes_on_after_a_crash: "data in memory is gone with its process",
            cleanup_of_all_removes_all: "data in memory is gone with its process",
            cleanup_of_all_keeps_the_neighbour: "each cluster has memory of its own",
            former_leader_cannot_write: "there is no other process to fence off",
            standby_cannot_write: "there is no other process to fence off",
            leader_can_write: "no blobs are kept",
            tool_cannot_write_beside_a_contender: "there is no other process to fence off",
            cleanup_of_all_is_refused_beside_a_contender: "there is no other process to fence off",
        }
    );
}
