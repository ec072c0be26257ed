use std::collections::BTreeSet;
use std::sync::Arc;

use ha_core::{Effect, Error, ErrorKind, Result};
use ha_embedded::lock_cluster_folder;
use ha_storage::{CarriedFile, Carrier, HaStorage};
use ha_zookeeper::client::Operation;
use ha_zookeeper::fence::{Commit, Proof};
use ha_zookeeper::services::Maintenance;

use super::import::IMPORT;
use super::import_plan::ImportPlan;
use crate::archive::{ArchiveReader, ArchivedFile};
use crate::cluster::{Backend, Cluster, Nodes};
use crate::writes::{Audit, Interruption, Outcome};

/// How many znodes are made in one multi.
const ZNODES_AT_ONCE: usize = 100;

/// An import under way. Everything that it makes may be there already: made by the same import, which was cut off.
pub(super) struct Importing {
    right: Right,
    carrier: Carrier,
    reader: ArchiveReader,
    plan: ImportPlan,
    /// How many of the changes are decided.
    done: usize,
    audit: Audit,
    interruption: Interruption,
}

/// The right to make a cluster.
enum Right {
    /// Leadership of its tree.
    Leader(Box<Maintenance>),
    /// The lock of the folder, which the storage holds.
    Lock(Arc<HaStorage>),
}

impl Importing {
    /// Takes the right, and marks the place.
    ///
    /// # Errors
    /// `NotLeader`, or `Conflict` in the mode `filesystem`, when another process is there; `Conflict` when the place is not
    /// empty any more.
    pub(super) async fn begin(
        cluster: &Cluster,
        plan: ImportPlan,
        reader: ArchiveReader,
        audit: Audit,
        interruption: Interruption,
    ) -> Result<Self> {
        let archive = &plan.contents.sha256;
        let environment = cluster.environment();
        let (right, carrier) = match cluster.backend() {
            Backend::ZooKeeper { .. } => {
                let begun = Maintenance::begin_import(cluster.configuration(), IMPORT, archive, environment);
                let maintenance = Box::new(begun.await?);
                let (storage, results) = (maintenance.storage(), maintenance.results());
                let carrier = Carrier::new(Arc::clone(storage), Arc::clone(results));
                (Right::Leader(maintenance), carrier)
            }
            Backend::Files => {
                let storage = cluster.storage().await?;
                lock_cluster_folder(&storage, environment).await?;
                storage.begin_import(None, archive).await?;
                let results = cluster.results_of_this_program().await?;
                (Right::Lock(Arc::clone(&storage)), Carrier::new(storage, results))
            }
        };
        Ok(Self {
            right,
            carrier,
            reader,
            plan,
            done: 0,
            audit,
            interruption,
        })
    }

    /// Makes everything, until something fails.
    pub(super) async fn run(&mut self) -> Result<()> {
        self.decide(1, Outcome::Applied, None)?;
        self.make_files().await?;
        self.make_znodes().await?;
        self.check_interruption()?;
        let finished = self.right.finish().await;
        self.conclude(1, finished.map(|()| true))
    }

    /// Gives the right up; what was not come to was not made.
    pub(super) async fn end(mut self) -> ImportPlan {
        for change in self.plan.changes.iter_mut().skip(self.done) {
            change.outcome = Outcome::NotApplied;
        }
        if let Right::Leader(maintenance) = self.right
            && let Err(error) = maintenance.end().await
        {
            tracing::warn!(%error, "the latch of this command goes with its session");
        }
        self.plan
    }

    async fn make_files(&mut self) -> Result<()> {
        let files = std::mem::take(&mut self.plan.files);
        let mut swept = BTreeSet::new();
        for archived in &files {
            self.check_interruption()?;
            self.right.prove().await?;
            // What an import that was cut off left half-written.
            if swept.insert(folder_of(&archived.file)) {
                self.carrier.sweep_beside(&archived.file).await?;
            }
            let made = self.make_file(archived).await;
            self.conclude(1, made.map(|()| true))?;
        }
        Ok(())
    }

    async fn make_file(&mut self, archived: &ArchivedFile) -> Result<()> {
        let mut content = self.reader.content(archived)?;
        let mut writer = self.carrier.create(&archived.file).await?;
        loop {
            match content.next() {
                Ok(Some(piece)) => writer.write(piece).await?,
                Ok(None) => break,
                Err(error) => {
                    writer.abandon().await;
                    return Err(error);
                }
            }
        }
        // The content may have taken long.
        self.right.prove().await?;
        writer.finish(&archived.sha256).await
    }

    async fn make_znodes(&mut self) -> Result<()> {
        let znodes = std::mem::take(&mut self.plan.znodes);
        for chunk in znodes.chunks(ZNODES_AT_ONCE) {
            self.check_interruption()?;
            let made = self.right.make(chunk).await;
            self.conclude(chunk.len(), made)?;
        }
        Ok(())
    }

    fn check_interruption(&self) -> Result<()> {
        match self.interruption.is_requested() {
            true => Err(Interruption::error()),
            false => Ok(()),
        }
    }

    /// What became of the next changes: made, or there already.
    fn conclude(&mut self, count: usize, made: Result<bool>) -> Result<()> {
        match made {
            Ok(true) => self.decide(count, Outcome::Applied, None),
            Ok(false) => self.decide(count, Outcome::NotApplied, None),
            Err(error) => {
                let outcome = match error.effect() {
                    Effect::NotApplied => Outcome::NotApplied,
                    Effect::Unknown => Outcome::Unknown,
                };
                self.decide(count, outcome, Some(&error.to_string()))?;
                Err(error)
            }
        }
    }

    fn decide(&mut self, count: usize, outcome: Outcome, reason: Option<&str>) -> Result<()> {
        let from = self.done;
        self.done += count;
        // Where one cannot be written down, the others are no less decided.
        let mut recorded = Ok(());
        for change in self.plan.changes.iter_mut().skip(from).take(count) {
            change.outcome = outcome;
            if recorded.is_ok() {
                recorded = self.audit.record(change, reason);
            }
        }
        recorded
    }
}

impl Right {
    /// To be asked right before a file is put.
    async fn prove(&self) -> Result<()> {
        match self {
            Self::Leader(maintenance) => maintenance.prove().await,
            // The lock is held.
            Self::Lock(_) => Ok(()),
        }
    }

    /// Everything is made.
    async fn finish(&self) -> Result<()> {
        match self {
            Self::Leader(maintenance) => maintenance.finish_import().await,
            Self::Lock(storage) => storage.finish_import().await,
        }
    }

    /// Makes znodes, all or none; `false` when all are there already.
    async fn make(&self, creations: &[Operation]) -> Result<bool> {
        let Self::Leader(maintenance) = self else {
            return Err(Error::new(
                ErrorKind::Internal,
                "there are no znodes in the mode filesystem",
            ));
        };
        let nodes = Nodes::new(maintenance.clients().client().await?);
        nodes.sync(maintenance.paths().cluster()).await?;
        let mut missing = Vec::new();
        for creation in creations {
            let Operation::Create { path, data, .. } = creation else {
                continue;
            };
            match nodes.get(path).await? {
                None => missing.push(creation.clone()),
                Some(node) if node.data == *data => {}
                Some(_) => {
                    return Err(
                        Error::new(ErrorKind::Conflict, "there is a znode with other data")
                            .at(path)
                            .not_applied(),
                    );
                }
            }
        }
        let proof = match missing.first() {
            Some(Operation::Create { path, data, .. }) => Proof::Content {
                path: path.clone(),
                data: data.clone(),
            },
            _ => return Ok(false),
        };
        match maintenance.commit(missing, &proof).await? {
            Commit::Applied(_) => Ok(true),
            Commit::Refused(refusal) => Err(refusal.into_error("the znode was made by somebody else")),
        }
    }
}

/// The folder that a file lies in, by its name.
fn folder_of(file: &CarriedFile) -> String {
    let name = file.to_string();
    name.rsplit_once('/')
        .map_or_else(String::new, |(folder, _)| folder.to_owned())
}
