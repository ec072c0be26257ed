//! B49: the chroot of the connection string. It is made where it is missing, however many levels it has, and every
//! path is below it: after a reconnect, on another server, in a new session, and when it was deleted meanwhile. The
//! servers are those of the connection string, and never those that a dynamic configuration advertises.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, ComponentId};
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::{checkpoint, job};
use ha_testkit::fakes::RecordingContender;
use ha_zookeeper::client::ClientSource as _;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::proxy::FaultProxy;
use integration_tests::{AdminClient, Ensemble, eventually, unique_name};
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(60);

/// A cluster below a chroot that nobody has made.
struct Below {
    ensemble: Ensemble,
    admin: AdminClient,
    /// The topmost level, of which this test is sure.
    top: String,
    chroot: String,
    paths: ClusterPaths,
    storage: TempDir,
    cluster_id: ClusterId,
}

impl Below {
    async fn new() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let top = format!("/{}", unique_name("chroot"));
        let chroot = format!("{top}/a/b/c");
        let cluster_id = ClusterId::new(&unique_name("c")).unwrap();
        Self {
            admin: AdminClient::connect(&ensemble.connect_string()).await.unwrap(),
            paths: ClusterPaths::new(&chroot, "/root", &cluster_id).unwrap(),
            ensemble,
            top,
            chroot,
            storage: tempfile::tempdir().unwrap(),
            cluster_id,
        }
    }

    /// The services of a process that leads, through these servers.
    async fn lead(&self, servers: &str) -> (Arc<ZooKeeperHaServices>, Arc<RecordingContender>) {
        let configuration = Configuration::new()
            .with("high-availability", "zookeeper")
            .with("high-availability.cluster-id", self.cluster_id.to_string())
            .with(
                "high-availability.storageDir",
                self.storage.path().display().to_string(),
            )
            .with(
                "high-availability.zookeeper.quorum",
                format!("{servers}{}", self.chroot),
            )
            .with("high-availability.zookeeper.path.root", "/root")
            .with("high-availability.zookeeper.client.session-timeout", "20 s");
        let services = ZooKeeperHaServices::connect(&configuration, Environment::system())
            .await
            .unwrap();
        let contender = RecordingContender::confirming("http://leader:1");
        contender
            .contend(&services.leader_election(ComponentId::dispatcher()))
            .await;
        contender.wait_for_grant().await;
        (services, contender)
    }

    async fn add_checkpoint(&self, services: &ZooKeeperHaServices, id: u64) -> ha_core::Result<()> {
        services
            .checkpoint_recovery_factory()
            .create_recovered_completed_checkpoint_store(job(1), 10)
            .await?
            .add_and_subsume(checkpoint(job(1), id))
            .await
    }

    /// Everything is below the chroot: nothing of this cluster stands where it would without.
    async fn expect_all_below(&self, checkpoints: usize) {
        let nodes = self
            .admin
            .children(&self.paths.checkpoints(job(1)))
            .await
            .unwrap();
        assert_eq!(nodes.len(), checkpoints, "{nodes:?}");
        assert!(
            self.paths
                .cluster()
                .starts_with(&format!("{}/root/", self.chroot))
        );
        for place in [
            "/root".to_owned(),
            format!("/{}", self.cluster_id),
            "/a".to_owned(),
        ] {
            assert_eq!(self.admin.get(&place).await.unwrap(), None, "{place}");
        }
        // Each level holds the next one, and nothing else.
        for level in [
            &self.top,
            &format!("{}/a", self.top),
            &format!("{}/a/b", self.top),
            &self.chroot,
        ] {
            assert_eq!(self.admin.children(level).await.unwrap().len(), 1, "{level}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_a_missing_chroot_of_several_levels_is_made() {
    let below = Below::new().await;
    assert_eq!(below.admin.get(&below.top).await.unwrap(), None);
    let (services, _) = below.lead(&below.ensemble.connect_string()).await;
    below.add_checkpoint(&services, 1).await.unwrap();
    below.expect_all_below(1).await;
    services.close_and_cleanup_all_data().await.unwrap();
    assert!(below.admin.walk(below.paths.cluster()).await.unwrap().is_empty());
    below.admin.delete_tree(&below.top).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_slashes_at_the_end_and_a_chroot_of_a_slash_mean_nothing() {
    let below = Below::new().await;
    let servers = below.ensemble.connect_string();
    let of = |quorum: String| {
        Configuration::new()
            .with("high-availability", "zookeeper")
            .with("high-availability.cluster-id", below.cluster_id.to_string())
            .with(
                "high-availability.storageDir",
                below.storage.path().display().to_string(),
            )
            .with("high-availability.zookeeper.quorum", quorum)
            .with("high-availability.zookeeper.path.root", below.top.clone())
    };
    for (chroot, expected) in [
        ("", String::new()),
        ("/", String::new()),
        (&*format!("{}/", below.chroot), below.chroot.clone()),
    ] {
        let services = ZooKeeperHaServices::connect(&of(format!("{servers}{chroot}")), Environment::system())
            .await
            .unwrap();
        let cluster = format!("{expected}{}/{}", below.top, below.cluster_id);
        assert_eq!(services.paths().cluster(), cluster, "{chroot:?}");
        services.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_the_chroot_is_kept_over_reconnects_other_servers_and_new_sessions() {
    let below = Below::new().await;
    let server = below.ensemble.connect_string();
    let [first, second] = [
        FaultProxy::start(&server).await.unwrap(),
        FaultProxy::start(&server).await.unwrap(),
    ];
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    for proxy in [&first, &second] {
        let asked = Arc::clone(&asked);
        proxy.observe(move |request| {
            let operations = request.operations.iter().map(|operation| &operation.path);
            asked
                .lock()
                .unwrap()
                .extend(request.path.iter().chain(operations).cloned());
        });
    }
    let servers = format!("{},{}", first.address(), second.address());
    let (services, _) = below.lead(&servers).await;
    below.add_checkpoint(&services, 1).await.unwrap();
    let session = services.session();

    // The connection is cut, and there is one server less: whichever it was, the other one serves now.
    for (number, gone) in [(2, &first), (3, &second)] {
        let connects = session.status().latest().connects;
        [&first, &second].iter().for_each(|proxy| proxy.refuse(false));
        gone.refuse(true);
        [&first, &second].iter().for_each(|proxy| proxy.cut());
        let mut status = session.status();
        let reconnected = status.wait_for(|status| status.connects > connects && status.is_connected());
        tokio::time::timeout(integration_tests::scaled(LONG), reconnected)
            .await
            .unwrap()
            .unwrap();
        eventually("the leader writes", LONG, async || {
            let done = below.add_checkpoint(&services, number).await;
            // One whose reply was lost is there.
            let nodes = below.admin.children(&below.paths.checkpoints(job(1))).await?;
            anyhow::ensure!(nodes.len() as u64 == number, "{done:?}");
            Ok(())
        })
        .await
        .unwrap();
        below.expect_all_below(usize::try_from(number).unwrap()).await;
    }

    // And in a new session.
    [&first, &second].iter().for_each(|proxy| proxy.refuse(false));
    let old = session.client().await.unwrap().session_id();
    services.close().await.unwrap();
    let (services, _) = below.lead(&servers).await;
    assert_ne!(services.session().client().await.unwrap().session_id(), old);
    below.add_checkpoint(&services, 4).await.unwrap();
    below.expect_all_below(4).await;
    services.close_and_cleanup_all_data().await.unwrap();
    // No request leaves the chroot, but a sync that is about no node. So nobody asks for the servers that the ensemble
    // itself advertises (/zookeeper/config), whose addresses may be no client's.
    let mut outside = asked.lock().unwrap().clone();
    assert!(outside.contains(&below.paths.checkpoints(job(1))), "{outside:?}");
    outside.retain(|path| !path.starts_with(&below.top) && path != "/");
    assert!(outside.is_empty(), "{outside:?}");
    below.admin.delete_tree(&below.top).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b49_a_chroot_that_is_deleted_while_a_process_leads_is_made_again() {
    let below = Below::new().await;
    let (services, contender) = below.lead(&below.ensemble.connect_string()).await;
    let grants = contender.sessions().len();
    eventually("the whole chroot is gone", LONG, async || {
        // The leader may be faster than the deletion, level by level.
        below.admin.delete_tree(&below.top).await
    })
    .await
    .unwrap();
    contender.wait_for_grants(grants + 1).await;
    // The deletion may have met what was made again, and then there is one more grant.
    eventually("the leader writes", LONG, async || {
        Ok(below.add_checkpoint(&services, 1).await?)
    })
    .await
    .unwrap();
    below.expect_all_below(1).await;
    services.close_and_cleanup_all_data().await.unwrap();
    below.admin.delete_tree(&below.top).await.unwrap();
}
