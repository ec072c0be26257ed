use std::collections::BTreeMap;

use ha_core::Result;
use ha_core::ids::{CheckpointId, JobId};
use ha_zookeeper::client::{CreateMode, Operation};
use ha_zookeeper::codec::{encode_counter, encode_status};
use ha_zookeeper::paths::ClusterPaths;

use super::import_target::ImportTarget;
use crate::archive::{ArchivedFile, Contents, Znode};
use crate::writes::{Action, Change, size_of};

/// What an import makes, in this order: the identity with its mark, the files, the znodes, the identity without it.
pub(super) struct ImportPlan {
    pub(super) contents: Contents,
    /// One for each of the following, the two of the identity around them.
    pub(super) changes: Vec<Change>,
    pub(super) files: Vec<ArchivedFile>,
    /// Creations.
    pub(super) znodes: Vec<Operation>,
}

impl ImportPlan {
    pub(super) fn of(contents: Contents, target: &ImportTarget) -> Result<Self> {
        let mut identity = Change::new(
            Action::WriteFile,
            target.storage.display("identity.json"),
            0,
            None,
        );
        identity.size = None;
        let mut changes = vec![identity.clone()];
        let files: Vec<_> = contents.files.values().cloned().collect();
        changes.extend(files.iter().map(|archived| {
            let (place, owner) = (target.carrier.place(&archived.file), archived.file.owner());
            Change::new(Action::WriteFile, place, archived.size, Some(owner))
        }));
        let znodes = match &target.paths {
            Some(paths) => creations(paths, &contents.znodes)?,
            None => Vec::new(),
        };
        for (creation, znode) in znodes.iter().zip(&contents.znodes) {
            if let Operation::Create { path, data, .. } = creation {
                let (size, owner) = (size_of(data.len()), Some(znode.job_id()));
                changes.push(Change::new(Action::CreateZnode, path, size, owner));
            }
        }
        changes.push(identity);
        Ok(Self {
            contents,
            changes,
            files,
            znodes,
        })
    }
}

/// What makes the znodes, in their order.
pub(super) fn creations(paths: &ClusterPaths, znodes: &[Znode]) -> Result<Vec<Operation>> {
    let newest = newest_checkpoints(znodes);
    znodes
        .iter()
        .map(|znode| creation(paths, znode, &newest))
        .collect()
}

fn newest_checkpoints(znodes: &[Znode]) -> BTreeMap<JobId, CheckpointId> {
    let mut newest = BTreeMap::new();
    for znode in znodes {
        if let Znode::Checkpoint(job_id, id, _) = znode {
            let known = newest.entry(*job_id).or_insert(*id);
            *known = (*known).max(*id);
        }
    }
    newest
}

fn creation(
    paths: &ClusterPaths,
    znode: &Znode,
    newest: &BTreeMap<JobId, CheckpointId>,
) -> Result<Operation> {
    let (path, data) = match znode {
        Znode::JobGraph(job_id, pointer) => {
            let path = paths.job_graph(*job_id);
            let data = pointer.encode(&path)?;
            (path, data)
        }
        Znode::Checkpoint(job_id, id, pointer) => {
            let path = paths.checkpoint(*job_id, *id);
            let data = pointer.encode(&path)?;
            (path, data)
        }
        Znode::Counter(job_id, next) => {
            // Never behind a checkpoint, whatever the archive says: ids would be given twice (I6).
            let least = newest.get(job_id).map(|id| id.next()).transpose()?;
            let next = least.map_or(*next, |least| least.max(*next));
            (paths.checkpoint_id_counter(*job_id), encode_counter(next))
        }
        Znode::Status(job_id, status) => (paths.running_job(*job_id), encode_status(*status)),
    };
    Ok(Operation::Create {
        path,
        data,
        mode: CreateMode::Persistent,
    })
}
