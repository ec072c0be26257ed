//! Which services a configuration gives, and what is refused before anything is contacted.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::sync::Arc;

use ha_services::configuration::Configuration;
use ha_services::election::LeaderInformation;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::*;
use tokio::sync::watch;

struct Member(&'static str);

#[async_trait]
impl LeaderContender for Member {
    async fn grant_leadership(&self, _session: LeaderSessionId) {}

    async fn revoke_leadership(&self) {}

    fn address(&self) -> String {
        self.0.to_owned()
    }

    async fn handle_error(&self, _error: Error) {}
}

#[async_trait]
impl LeaderRetrievalListener for Member {
    async fn notify_leader(&self, _leader: Option<LeaderInformation>) {}

    async fn handle_error(&self, _error: Error) {}
}

async fn some(leader: &mut watch::Receiver<Option<LeaderInformation>>) -> LeaderInformation {
    leader.wait_for(Option::is_some).await.unwrap().clone().unwrap()
}

async fn refused(configuration: &Configuration) -> Error {
    let environment = Environment::system();
    let error = create_available_or_embedded_services(configuration, environment.clone())
        .await
        .err()
        .unwrap();
    let resolution = AddressResolution::NoAddressResolution;
    let other = create_high_availability_services(configuration, resolution, environment)
        .await
        .err()
        .unwrap();
    assert_eq!(
        (error.kind(), other.kind()),
        (ErrorKind::Invalid, ErrorKind::Invalid)
    );
    error
}

#[tokio::test]
async fn none_is_embedded_services() {
    let services = create_available_or_embedded_services(&Configuration::new(), Environment::system())
        .await
        .unwrap();
    let election = services.dispatcher_leader_election();
    let retrieval = services.dispatcher_leader_retriever();
    let (mut leadership, mut leader) = (election.subscribe(), retrieval.subscribe());
    retrieval.start(Arc::new(Member("follower"))).await.unwrap();
    election.start(Arc::new(Member("http://a:1"))).await.unwrap();
    let term = some(&mut leadership).await.leader_session_id;
    assert!(election.confirm_leadership(term, None).await.unwrap());
    assert_eq!(some(&mut leader).await.leader_address, "http://a:1");
    services.close().await.unwrap();
}

#[tokio::test]
async fn none_with_fixed_addresses_is_standalone_services() {
    let environment = Environment::system();
    let resolution = AddressResolution::TryAddressResolution;
    let none = Configuration::new();
    let missing = create_high_availability_services(&none, resolution, environment.clone()).await;
    assert_eq!(missing.err().unwrap().subject(), Some("jobmanager.rpc.address"));

    let nowhere = set_job_manager_address(Configuration::new(), "no-such-host.invalid", 7000);
    let unresolved = create_high_availability_services(&nowhere, resolution, environment.clone()).await;
    assert_eq!(unresolved.err().unwrap().kind(), ErrorKind::Unavailable);
    let unasked = AddressResolution::NoAddressResolution;
    assert!(
        create_high_availability_services(&nowhere, unasked, environment.clone())
            .await
            .is_ok()
    );

    let here = set_job_manager_address(Configuration::new().with("rest.port", "8082"), "127.0.0.1", 7000);
    let services = create_high_availability_services(&here, resolution, environment)
        .await
        .unwrap();
    for (retrieval, address) in [
        (
            services.resource_manager_leader_retriever(),
            "http://127.0.0.1:7000",
        ),
        (services.dispatcher_leader_retriever(), "http://127.0.0.1:7000"),
        (
            services.cluster_rest_endpoint_leader_retriever(),
            "http://127.0.0.1:8082",
        ),
    ] {
        let mut leader = retrieval.subscribe();
        retrieval.start(Arc::new(Member("follower"))).await.unwrap();
        let leader = some(&mut leader).await;
        assert_eq!(leader.leader_address, address);
        assert_eq!(leader.leader_session_id, LeaderSessionId::DEFAULT);
    }
    services.close().await.unwrap();
}

#[tokio::test]
async fn filesystem_is_a_factory_that_ships_and_keeps_a_second_process_out() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = Configuration::new()
        .with("high-availability", "FileSystem")
        .with("high-availability.storageDir", folder.path().to_str().unwrap());
    let environment = Environment::system();
    let services = create_available_or_embedded_services(&configuration, environment.clone())
        .await
        .unwrap();
    assert!(
        create_available_or_embedded_services(&configuration, environment.clone())
            .await
            .is_err()
    );
    services.close().await.unwrap();
    // The lock is held as long as anything of the services could still write.
    drop(services);
    let again = create_available_or_embedded_services(&configuration, environment)
        .await
        .unwrap();
    again.close().await.unwrap();
}

#[tokio::test]
async fn a_registered_factory_is_found_by_its_name() {
    struct Mine;
    #[async_trait]
    impl HighAvailabilityServicesFactory for Mine {
        async fn create_ha_services(
            &self,
            configuration: &Configuration,
            environment: Environment,
        ) -> Result<Arc<dyn HighAvailabilityServices>> {
            assert!(configuration.contains("mine.option"));
            let services = EmbeddedHaServices::new(environment)?;
            Ok(services)
        }
    }
    let configuration = Configuration::new()
        .with("high-availability.type", "mine")
        .with("mine.option", "1");
    assert!(refused(&configuration).await.to_string().contains("mine"));
    FactoryRegistry::global()
        .register("Mine", Arc::new(Mine))
        .unwrap();
    let services = create_available_or_embedded_services(&configuration, Environment::system())
        .await
        .unwrap();
    services.close().await.unwrap();
    let named = create_leader_election_service(&configuration, "x", Environment::system()).await;
    assert_eq!(named.err().unwrap().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn wrong_configurations_are_refused_before_anything_is_contacted() {
    let zookeeper = Configuration::new()
        .with("high-availability", "zookeeper")
        // Nobody listens there: contacting it would be another kind of error.
        .with("high-availability.zookeeper.quorum", "127.0.0.1:1")
        .with("high-availability.storageDir", "memory:///x");
    for (configuration, mention) in [
        (
            Configuration::new().with("high-availability", "KUBERNETES"),
            "not built",
        ),
        (
            Configuration::new().with("high-availability", "etcd"),
            "filesystem",
        ),
        (
            Configuration::new().with("high-availability.clusterid", "x"),
            "high-availability.cluster-id",
        ),
        (
            zookeeper.clone().with("high-availability.cluster-id", ".."),
            "high-availability.cluster-id",
        ),
    ] {
        let error = refused(&configuration).await.to_string();
        assert!(error.contains(mention), "{mention}: {error}");
    }
}

#[tokio::test]
async fn standalone_services_follow_the_configuration() {
    let configuration = Configuration::new()
        .with("jobmanager.rpc.address", "127.0.0.1")
        .with("job-result-store.delete-on-commit", "false");
    let resolution = AddressResolution::NoAddressResolution;
    let services = create_high_availability_services(&configuration, resolution, Environment::system())
        .await
        .unwrap();
    let results = services.job_result_store();
    let job_id = ha_services::ids::JobId::from_bytes([1; 16]);
    let result = ha_services::jobs::JobResult {
        job_id,
        name: "a".to_owned(),
        application_status: ha_services::jobs::ApplicationStatus::Succeeded,
        net_runtime: 1,
        end_time: 2,
        failure_cause: None,
    };
    let entry = ha_services::jobs::JobResultEntry {
        result,
        job_digest: None,
    };
    results.create_dirty_result(&entry).await.unwrap();
    results.mark_result_as_clean(job_id).await.unwrap();
    assert!(results.has_clean_job_result_entry(job_id).await.unwrap());
}

#[tokio::test]
async fn named_elections_and_retrievals_meet() {
    let configuration = Configuration::new();
    let environment = Environment::system();
    let elect = async |name| create_leader_election_service(&configuration, name, environment.clone()).await;
    let retrieval = create_leader_retrieval_service(&configuration, "scheduler", environment.clone())
        .await
        .unwrap();
    let mut leader = retrieval.subscribe();
    retrieval.start(Arc::new(Member("follower"))).await.unwrap();

    let (first, second) = (
        elect("scheduler").await.unwrap(),
        elect("scheduler").await.unwrap(),
    );
    for (election, address) in [(first, "http://a:1"), (second, "http://b:1")] {
        let mut leadership = election.subscribe();
        election.start(Arc::new(Member(address))).await.unwrap();
        let term = some(&mut leadership).await.leader_session_id;
        election.confirm_leadership(term, None).await.unwrap();
        let told = leader
            .wait_for(|leader| {
                leader
                    .as_ref()
                    .is_some_and(|leader| leader.leader_address == address)
            })
            .await;
        assert!(told.is_ok());
        drop(told);
        election.stop().await.unwrap();
    }
    retrieval.stop().await.unwrap();
    for name in ["", "latch", "latch-x", "job-x", "a/b"] {
        assert_eq!(
            elect(name).await.err().unwrap().kind(),
            ErrorKind::Invalid,
            "{name:?}"
        );
    }
    assert!(ComponentId::custom("scheduler").is_ok());
}
