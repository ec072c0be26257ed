//! B18. Symptom: a process that restarts at once finds what its dead session left, and either refuses to start or
//! takes it for its own, until it vanishes with that session; or something stands where its own znode belongs.
//!
//! Provoked: the leader ends as by `kill -9` and starts again at once under the same name; and where the service
//! expects its own (a latch, the parent of the latches, leader information) stand a persistent znode, and one of
//! another session that lives.
//!
//! Right: what belongs to another session is waited for or replaced by deletion and creation, never set; a
//! persistent one that is in the way is an error that names it.
//!
//! Sources: KAFKA-7165 (kafka#5575), KAFKA-14845 (kafka#13558), KAFKA-1387 (kafka#178), STORM-1941
//! (apache/storm#5723), CURATOR-396 (curator#916), Alluxio/alluxio#1885, dCache/dcache#5526, ZOOKEEPER-4837
//! (zookeeper#2172), ZOOKEEPER-3144.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::election::{LeaderContender, LeaderElectionService};
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, ErrorKind};
use ha_testkit::fakes::{ContenderCall, Recorder, SimulatedProcess};
use ha_zookeeper::client::{ClientSource as _, CreateMode};
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::{
    AdminClient, Ensemble, NodeSnapshot, eventually, recovery_limit, scaled, unstalled_case,
};
use uuid::Uuid;
use zookeeper_client::Acls;

use crate::zookeeper::{AT_ONCE, Process, eventually_led, new_cluster, options, wait_until_leads};

const TICK: Duration = Duration::from_millis(500);
const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(40);
const REVOKE_TIMEOUT: Duration = Duration::from_secs(30);

/// A process that can be killed, leading.
async fn leading_process(
    name: &'static str,
    servers: &str,
    paths: &ClusterPaths,
    timeout: Duration,
) -> (SimulatedProcess, Process) {
    let killable = SimulatedProcess::new();
    let environment = killable.environment();
    let (paths, options) = (paths.clone(), options(servers, timeout));
    let process = killable
        .run(async move {
            let process = Process::connect_in(environment, REVOKE_TIMEOUT, name, &paths, options).await;
            process.contender.contend(&process.service).await;
            process
        })
        .await;
    wait_until_leads(&process, AT_ONCE).await;
    confirmed(&process).await;
    (killable, process)
}

/// Waits until the process has published its address.
async fn confirmed(process: &Process) {
    process
        .contender
        .wait_for_call("confirmed", |call| *call == ContenderCall::Confirmed(Some(true)))
        .await;
}

fn session_of(process: &Process) -> i64 {
    process.session.status().latest().session.unwrap().0
}

/// Creates an ephemeral znode of the session of `admin`, with its parents.
async fn create_ephemeral(admin: &AdminClient, path: &str) {
    let persistent = zookeeper_client::CreateMode::Persistent.with_acls(Acls::anyone_all());
    let (parent, _) = path.rsplit_once('/').unwrap();
    admin.client().mkdir(parent, &persistent).await.unwrap();
    let ephemeral = zookeeper_client::CreateMode::Ephemeral.with_acls(Acls::anyone_all());
    admin.client().create(path, b"foreign", &ephemeral).await.unwrap();
}

async fn published(admin: &AdminClient, paths: &ClusterPaths, process: &Process) -> NodeSnapshot {
    let info = paths.connection_info(&ComponentId::dispatcher());
    eventually(
        "leader information of its session is there",
        AT_ONCE,
        async || {
            let node = admin
                .node(&info)
                .await?
                .ok_or_else(|| anyhow::anyhow!("nothing"))?;
            anyhow::ensure!(node.stat.ephemeral_owner == session_of(process), "{node:?}");
            Ok(node)
        },
    )
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_restart_under_the_same_name_waits_for_its_ghost() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(8));
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let paths = new_cluster();
        let (killable, old) = leading_process("a", &servers, &paths, timeout).await;
        let (ghost, term) = (old.latch(), old.term().await.unwrap());
        let ghost_before = admin.node(&ghost).await.unwrap().unwrap();
        killable.kill();

        let new = Process::start("a", &paths, options(&servers, timeout)).await;
        let mut stood_beside = false;
        let healed_in = recovery_limit(timeout + TICK * 2 + Duration::from_secs(1));
        eventually_led("the new one leads", &[&new], healed_in, async |leaders| {
            // Asked after who leads: once gone, it never comes back.
            if let Some(ghost) = admin.node(&ghost).await? {
                assert_eq!(leaders, [0; 0], "leading beside the ghost");
                assert_eq!(ghost, ghost_before, "the ghost was set");
                stood_beside |= admin.children(&paths.latches()).await?.len() == 2;
                anyhow::bail!("the ghost stands");
            }
            anyhow::ensure!(!leaders.is_empty());
            Ok(())
        })
        .await;
        assert!(stood_beside, "it did not wait for the ghost to contend");
        assert_ne!(new.term().await, Some(term));
        let info = published(&admin, &paths, &new).await;
        assert_eq!(info.stat.version, 0, "created, not set");
        new.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_leader_information_of_a_dying_session_is_replaced_and_does_not_die_with_it() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(8));
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let paths = new_cluster();
        let (killable, old) = leading_process("a", &servers, &paths, timeout).await;
        let marker = format!("{}/marker", paths.leader());
        let client = old.session.client().await.unwrap();
        client
            .create(&marker, "".into(), CreateMode::Ephemeral)
            .await
            .unwrap();
        drop(client);
        let ghost = old.latch();
        killable.kill();
        // The latch goes, and what it had published stays as long as its session.
        admin.delete(&ghost).await.unwrap();
        let new = Process::start("a", &paths, options(&servers, timeout)).await;
        wait_until_leads(&new, AT_ONCE).await;
        let replaced = published(&admin, &paths, &new).await;
        assert_eq!(replaced.stat.version, 0, "created, not set");
        let marker_stands = admin.node(&marker).await.unwrap().is_some();
        assert!(marker_stands, "the old session had expired before");
        eventually("the old session has expired", LONG, async || {
            anyhow::ensure!(admin.node(&marker).await?.is_none());
            Ok(())
        })
        .await
        .unwrap();
        assert_eq!(published(&admin, &paths, &new).await, replaced);
        new.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_what_stands_in_the_place_of_leader_information_is_replaced_by_ones_own() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    for persistent in [true, false] {
        let paths = new_cluster();
        let info = paths.connection_info(&ComponentId::dispatcher());
        match persistent {
            true => admin.create(&info, b"squatter").await.unwrap(),
            false => create_ephemeral(&admin, &info).await,
        }
        let squatter = admin.node(&info).await.unwrap().unwrap();
        let process = Process::start("a", &paths, options(&servers, TIMEOUT)).await;
        let own = published(&admin, &paths, &process).await;
        assert!(
            own.stat.czxid > squatter.stat.czxid,
            "deleted and created, not set"
        );
        assert_eq!(own.stat.version, 0);
        process.close().await;
    }
}

/// What cannot be replaced is an error that names it, and is replaced once it can be.
#[tokio::test(flavor = "multi_thread")]
async fn b18_a_squatter_with_children_is_named_until_they_are_gone() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let info = paths.connection_info(&ComponentId::dispatcher());
    let child = format!("{info}/child");
    admin.create(&child, b"").await.unwrap();
    let process = Process::connect("a", &paths, options(&servers, TIMEOUT)).await;
    let contender = ErrorLog::contend(&process.service).await;
    let term = contender
        .granted
        .wait_for("granted", |terms| terms.first().copied())
        .await;
    assert!(process.service.has_leadership(term).await);
    let confirming = process.service.confirm_leadership(term, None);
    let told = contender.told_about(&info);
    // Whichever way it tells.
    let error = tokio::select! {
        error = told => error,
        confirmed = confirming => confirmed.unwrap_err(),
    };
    assert_eq!(error.subject(), Some(info.as_str()));
    assert!(error.to_string().contains("children"), "{error}");
    assert!(
        admin.node(&child).await.unwrap().is_some(),
        "it is not ours to delete"
    );
    admin.delete(&child).await.unwrap();
    published(&admin, &paths, &process).await;
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_persistent_latch_is_named_and_nobody_leads_behind_it() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let squatter = paths.latch(&format!("{}-latch-{:010}", Uuid::from_u128(1), -5));
    admin.create(&squatter, b"squatter").await.unwrap();
    let before = admin.node(&squatter).await.unwrap();
    let process = Process::connect("a", &paths, options(&servers, TIMEOUT)).await;
    let contender = ErrorLog::contend(&process.service).await;
    let error = contender.told_about(&squatter).await;
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("persistent"), "{error}");
    assert_eq!(contender.granted.events(), []);
    assert_eq!(admin.node(&squatter).await.unwrap(), before, "it was touched");
    admin.delete(&squatter).await.unwrap();
    contender
        .granted
        .wait_for("granted", |terms| terms.first().copied())
        .await;
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_a_latch_of_a_foreign_session_is_waited_for() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let foreign = paths.latch(&format!("{}-latch-{:010}", Uuid::from_u128(1), -5));
    create_ephemeral(&admin, &foreign).await;
    let before = admin.node(&foreign).await.unwrap();
    let process = Process::start("a", &paths, options(&servers, TIMEOUT)).await;
    eventually("it stands behind", AT_ONCE, async || {
        anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
        Ok(())
    })
    .await
    .unwrap();
    // It has had time to do what it should not.
    process
        .session
        .client()
        .await
        .unwrap()
        .sync(&paths.latches())
        .await
        .unwrap();
    assert_eq!(process.contender.calls(), []);
    assert_eq!(admin.node(&foreign).await.unwrap(), before, "it was touched");
    admin.delete(&foreign).await.unwrap();
    wait_until_leads(&process, AT_ONCE).await;
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b18_an_ephemeral_parent_of_the_latches_is_named() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    create_ephemeral(&admin, &paths.latches()).await;
    let process = Process::connect("a", &paths, options(&servers, TIMEOUT)).await;
    let contender = ErrorLog::contend(&process.service).await;
    contender.told_about(&paths.latches()).await;
    assert_eq!(contender.granted.events(), []);
    admin.delete(&paths.latches()).await.unwrap();
    contender
        .granted
        .wait_for("granted", |terms| terms.first().copied())
        .await;
    process.close().await;
}

/// A contender that keeps whole errors.
struct ErrorLog {
    granted: Recorder<LeaderSessionId>,
    errors: Recorder<Error>,
}

impl ErrorLog {
    async fn contend(service: &Arc<dyn LeaderElectionService>) -> Arc<Self> {
        let contender = Arc::new(Self {
            granted: Recorder::new(),
            errors: Recorder::new(),
        });
        service
            .start(Arc::clone(&contender) as Arc<dyn LeaderContender>)
            .await
            .unwrap();
        contender
    }

    /// Waits for an error about `path` or what would stand below it.
    async fn told_about(&self, path: &str) -> Error {
        let about = |error: &&Error| error.subject().is_some_and(|subject| subject.starts_with(path));
        self.errors
            .wait_for("told an error", |errors| errors.iter().find(about).cloned())
            .await
    }
}

#[async_trait]
impl LeaderContender for ErrorLog {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        self.granted.record(session);
    }

    async fn revoke_leadership(&self) {}

    fn address(&self) -> String {
        "http://a:1".to_owned()
    }

    async fn handle_error(&self, error: Error) {
        self.errors.record(error);
    }
}
