//! The lists of cases are complete.

/// Each suite's source and its list.
macro_rules! suites {
    ($($suite:ident: $($file:literal),+;)*) => {
        [$((stringify!($suite), [$(include_str!($file)),+].concat(), super::$suite::CASES)),*]
    };
}

#[test]
fn every_case_is_listed_and_follows_a_rule() {
    let suites = suites! {
        blob_store: "blob_store.rs";
        checkpoint_id_counter: "checkpoint_id_counter.rs";
        completed_checkpoint_store: "completed_checkpoint_store.rs";
        high_availability_services: "high_availability_services/mod.rs", "high_availability_services/getters.rs",
            "high_availability_services/data.rs", "high_availability_services/fencing.rs";
        job_graph_store: "job_graph_store/mod.rs", "job_graph_store/storing.rs", "job_graph_store/listening.rs";
        job_result_store: "job_result_store.rs";
        job_result_store_delete_on_commit: "job_result_store_delete_on_commit.rs";
        leader_election: "leader_election/mod.rs", "leader_election/callbacks.rs",
            "leader_election/publishing.rs", "leader_election/terms.rs";
        leader_retrieval: "leader_retrieval.rs";
        running_jobs_registry: "running_jobs_registry.rs";
    };
    for (suite, source, cases) in suites {
        assert!(!cases.is_empty(), "{suite} has no cases");
        let mut rule = false;
        let mut written = Vec::new();
        for line in source.lines() {
            if let Some(rest) = line.strip_prefix("pub async fn ") {
                assert!(rule, "{suite}: no rule stands before {rest}");
                written.extend(rest.split('<').next());
            }
            rule = line.starts_with("/// ");
        }
        let mut listed = cases.to_vec();
        written.sort_unstable();
        listed.sort_unstable();
        assert_eq!(
            listed, written,
            "{suite}: listed on the left, written on the right"
        );
    }
}
