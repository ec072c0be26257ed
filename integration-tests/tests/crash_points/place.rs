//! Where the processes of a test meet: a cluster, in ZooKeeper mode or in the mode of one process.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::lease::LeaseTerms;
use ha_core::services::HighAvailabilityServices as _;
use ha_storage::OrphanRules;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::{AdminClient, Ensemble, TestCluster, eventually};

use super::snapshot::Snapshot;

/// Longer than a busy machine stalls; nobody waits for it but where a test lets a session expire.
pub(crate) const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
/// Results are kept, as `ha-cluster` keeps them by default.
pub(crate) const DELETE_ON_COMMIT: &str = "job-result-store.delete-on-commit";
/// Older than the age from which a file may be an orphan.
const OLD: Duration = Duration::from_secs(3600);
const LOOK_TIMEOUT: Duration = Duration::from_secs(60);
const EXPIRY_TIMEOUT: Duration = Duration::from_secs(60);

/// A cluster, and the ZooKeeper that it uses.
pub(crate) struct Place {
    pub(crate) cluster: TestCluster,
    /// `None` in the mode of one process.
    zookeeper: Option<(Ensemble, AdminClient)>,
}

impl Place {
    /// A new cluster in ZooKeeper mode.
    pub(crate) async fn in_zookeeper_mode() -> Result<Self> {
        let ensemble = Ensemble::shared().await?;
        let admin = AdminClient::connect(&ensemble.connect_string()).await?;
        Ok(Self {
            cluster: TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?,
            zookeeper: Some((ensemble, admin)),
        }
        .with(DELETE_ON_COMMIT, "false"))
    }

    /// A new cluster of one process over files.
    pub(crate) fn in_filesystem_mode() -> Result<Self> {
        Ok(Self {
            cluster: TestCluster::new("127.0.0.1:1", SESSION_TIMEOUT)?
                .with("high-availability", "filesystem"),
            zookeeper: None,
        }
        .with(DELETE_ON_COMMIT, "false"))
    }

    /// The same with another value of an option.
    pub(crate) fn with(self, key: &str, value: &str) -> Self {
        Self {
            cluster: self.cluster.with(key, value),
            ..self
        }
    }

    /// ZooKeeper, past the product.
    pub(crate) fn admin(&self) -> Option<&AdminClient> {
        self.zookeeper.as_ref().map(|(_, admin)| admin)
    }

    /// What is there, while no process runs.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::read(&self.cluster, self.admin()).await
    }

    /// What the product calls an orphan once every file is old, by its path in the cluster's folder; `None` in the mode
    /// of one process, where no file needs a name.
    pub(crate) async fn orphans(&self) -> Result<Option<BTreeSet<String>>> {
        if self.zookeeper.is_none() {
            return Ok(None);
        }
        for file in self.cluster.files()? {
            let file = File::options()
                .append(true)
                .open(self.cluster.storage().join(file))?;
            let modified = file.metadata()?.modified()?;
            file.set_modified(modified.checked_sub(OLD).context("the beginning of time")?)?;
        }
        let mut configuration = Configuration::new();
        for argument in self.cluster.arguments() {
            let definition = argument.strip_prefix("-D").and_then(|text| text.split_once('='));
            let (key, value) = definition.context("a definition")?;
            configuration = configuration.with(key, value);
        }
        let terms = LeaseTerms::new(Duration::from_secs(1), Some(Duration::from_millis(100)))?;
        let rules = OrphanRules::new(Duration::ZERO, &terms).accepting_an_empty_tree();
        // On a machine that stalls a reading may come to nothing; then nothing is known, and it is made again.
        let report = eventually("orphans are looked for", LOOK_TIMEOUT, async || {
            let services = ZooKeeperHaServices::connect(&configuration, Environment::system()).await?;
            let report = services.orphan_detection_by(rules).find().await;
            // It has never led, so there is nothing to give up.
            let _ = services.close().await;
            Ok(report?)
        })
        .await?;
        ensure!(
            report.refusal.is_none() && report.foreign.is_empty() && report.unreadable.is_empty(),
            "{report:?}"
        );
        Ok(Some(
            report.orphans.into_iter().map(|orphan| orphan.path).collect(),
        ))
    }

    /// Completes when no process stands in the election that has died. `at_once`: its latch is taken away, as an
    /// operator does who does not want to wait for the end of its session.
    pub(crate) async fn end_session(&self, at_once: bool) -> Result<()> {
        let Some(admin) = self.admin() else {
            return Ok(());
        };
        let latches = self.cluster.znode("leader/latch");
        if at_once {
            for latch in admin.children(&latches).await? {
                // The session may expire in this moment.
                let _ = admin.delete(&format!("{latches}/{latch}")).await;
            }
        }
        eventually("the dead process leads no more", EXPIRY_TIMEOUT, async || {
            let left = admin.children(&latches).await?;
            ensure!(left.is_empty(), "{left:?}");
            Ok(())
        })
        .await
    }
}
