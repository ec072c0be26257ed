use std::collections::{BTreeMap, BTreeSet};

use ha_core::health::BrokenEntry;
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::{JobResultEntry, JobResultStore as _};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{FileKind, StateKind};
use ha_zookeeper::codec::{IdentityData, Pointer, bounded_end};
use ha_zookeeper::paths::ClusterPaths;

use super::job_znodes::{self, size};
use super::{Action, Change, Plan, Step, View, Work};
use crate::cluster::Nodes;

/// The removal of the whole cluster: exactly the names of its layout, znodes before files, the identities last.
pub(super) async fn plan_all(view: &View) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut rest = Vec::new();
    if let Some((nodes, paths)) = view.nodes().await? {
        refuse_lost(&nodes, paths).await?;
        for job_id in jobs(&nodes, paths).await? {
            job_znodes::delete(&mut plan, &nodes, paths, job_id).await?;
        }
        delete_leaders(&mut plan, &nodes, paths).await?;
        rest = rest_of_tree(&nodes, paths).await?;
    }
    let survey = view.survey().await?;
    let mut is_shared = false;
    for file in survey.files() {
        if view.is_in_shared_results(file) {
            is_shared |= file.kind == FileKind::Result;
            continue;
        }
        plan.delete_file(file.clone());
    }
    if is_shared {
        plan.notes.push(
            "Results in a configured folder stay: no name there says which of the clusters that share it they belong to."
                .to_owned(),
        );
    }
    plan.broken
        .extend(survey.foreign().iter().map(|file| BrokenEntry {
            name: file.place.rsplit('/').next().unwrap_or_default().to_owned(),
            path: file.place.clone(),
            reason: file.reason.clone(),
            candidates: Vec::new(),
        }));
    let mut identity = Change::new(Action::DeleteFile, view.storage.display("identity.json"), 0, None);
    identity.size = None;
    rest.push(identity);
    plan.steps.push(Step {
        changes: rest,
        work: Work::RemoveRest,
    });
    Ok(plan)
}

/// Files of a tree that was lost may be all that is left of jobs, or a tree elsewhere names them.
async fn refuse_lost(nodes: &Nodes, paths: &ClusterPaths) -> Result<()> {
    let path = paths.identity();
    let identity = nodes.get(&path).await?;
    match identity
        .map(|node| IdentityData::decode(&path, &node.data))
        .transpose()?
    {
        Some(identity) if !identity.tree_lost => Ok(()),
        Some(_) => Err(Error::new(
            ErrorKind::Conflict,
            "the tree was found empty although state files were there, and nobody has accepted that",
        )
        .at(path)
        .not_applied()
        .advise("look at the files; `hactl doctor --accept-empty-tree --apply` accepts the loss")),
        None => Err(Error::new(
            ErrorKind::Conflict,
            "the tree has no identity: it is not known whose it is",
        )
        .at(path)
        .not_applied()
        .advise("check high-availability.zookeeper.path.root and cluster-id")),
    }
}

/// The end of the clean-up of every job whose end is recorded.
pub(super) async fn plan_ended_jobs(view: &View) -> Result<Plan> {
    let mut plan = Plan::default();
    let dirty = view.results.dirty_results().await?;
    plan.broken = dirty.broken;
    let entries = dirty.entries.iter();
    let mut ended: BTreeMap<_, _> = entries.map(|entry| (entry.job_id(), None)).collect();
    let nodes = view.nodes().await?;
    if let Some((nodes, paths)) = &nodes {
        for node in nodes.children(&paths.job_graphs(), &mut plan.broken).await? {
            let Some(job_id) = JobId::from_name(node.name()) else {
                continue;
            };
            match Pointer::decode(&node.path, StateKind::JobGraph, &node.data) {
                Ok(Pointer {
                    terminal: Some(end), ..
                }) => drop(ended.insert(job_id, Some(end))),
                // Its dirty file was left by a deposed process.
                Ok(_) => drop(ended.remove(&job_id)),
                Err(error) => {
                    plan.broken
                        .push(BrokenEntry::from_error(node.name(), node.path.clone(), &error));
                    ended.remove(&job_id);
                }
            }
        }
    }
    if ended.is_empty() {
        return Ok(plan);
    }
    let survey = view.survey().await?;
    if view.shares_results {
        // A result alone may be that of another cluster, whose job may still have to be cleaned up there.
        let own_files = survey
            .files()
            .iter()
            .filter(|file| !view.is_in_shared_results(file));
        let mut own: BTreeSet<_> = own_files.filter_map(|file| file.owner).collect();
        if let Some((nodes, paths)) = &nodes {
            own.extend(jobs(nodes, paths).await?);
        }
        let before = ended.len();
        ended.retain(|job_id, _| own.contains(job_id));
        if ended.len() < before {
            plan.notes.push(
                "Results of which this cluster has nothing else stay: they may be those of another cluster that keeps its results in the same folder."
                    .to_owned(),
            );
        }
    }
    for (job_id, end) in ended {
        // The pointer is about to go, and with it the end that it records.
        if let Some(end) = end
            && !is_filed(view, &end).await
        {
            let mut change = Change::new(
                Action::WriteFile,
                view.results.dirty_place(job_id),
                0,
                Some(job_id),
            );
            change.size = None;
            plan.steps.push(Step {
                changes: vec![change],
                work: Work::RecordEnd(job_id),
            });
        }
        if let Some((nodes, paths)) = &nodes {
            job_znodes::delete(&mut plan, nodes, paths, job_id).await?;
        }
        let files = survey.files().iter();
        let files = files.filter(|file| file.owner == Some(job_id) && file.kind != FileKind::Result);
        for file in files.filter(|file| !view.is_in_shared_results(file)) {
            plan.delete_file(file.clone());
        }
        let (action, path) = match view.results.deletes_on_commit() {
            true => (Action::DeleteFile, view.results.dirty_place(job_id)),
            false => (Action::WriteFile, view.results.clean_place(job_id)),
        };
        let mut change = Change::new(action, path, 0, Some(job_id));
        change.size = None;
        plan.steps.push(Step {
            changes: vec![change],
            work: Work::MarkClean(job_id),
        });
    }
    Ok(plan)
}

/// Whether a file says the end that a pointer records.
async fn is_filed(view: &View, end: &JobResultEntry) -> bool {
    let filed = view.results.job_result_entry(end.job_id()).await;
    matches!(filed, Ok(Some(filed)) if bounded_end(&filed) == bounded_end(end))
}

/// Every job that the tree holds anything of.
async fn jobs(nodes: &Nodes, paths: &ClusterPaths) -> Result<BTreeSet<JobId>> {
    let mut jobs = BTreeSet::new();
    for folder in [paths.jobs(), paths.job_graphs(), paths.running_jobs()] {
        let names = nodes.names(&folder).await?.unwrap_or_default();
        jobs.extend(names.iter().filter_map(|name| JobId::from_name(name)));
    }
    Ok(jobs)
}

/// What elections left, but those of the job managers of `jobs`, which are planned.
async fn delete_leaders(plan: &mut Plan, nodes: &Nodes, paths: &ClusterPaths) -> Result<()> {
    let planned: BTreeSet<_> = plan
        .steps
        .iter()
        .flat_map(|step| &step.changes)
        .map(|change| change.path.clone())
        .collect();
    let mut changes = Vec::new();
    for name in nodes.names(&paths.leader()).await?.unwrap_or_default() {
        if let Ok(component) = ComponentId::parse(&name) {
            job_znodes::delete_component(&mut changes, nodes, paths, &component, None).await?;
        } else if let Some(election) = name
            .strip_prefix("latch-")
            .and_then(|name| ComponentId::custom(name).ok())
        {
            let folder = paths.for_named_election(&election).latches();
            push_if_empty(&mut changes, nodes, &folder).await?;
        }
    }
    changes.retain(|change| !planned.contains(&change.path));
    plan.delete_znodes(changes);
    let mut folders = Vec::new();
    for (folder, is_of_jobs) in [
        (paths.jobs(), true),
        (paths.job_graphs(), true),
        (paths.running_jobs(), true),
        (paths.configuration(), false),
    ] {
        // What is not of the layout stays, and the node above it.
        let names = nodes.names(&folder).await?;
        let holds_ours_only = |names: &Vec<String>| match is_of_jobs {
            true => names.iter().all(|name| JobId::from_name(name).is_some()),
            false => names.is_empty(),
        };
        if names.as_ref().is_some_and(holds_ours_only)
            && let Some(node) = nodes.get(&folder).await?
        {
            folders.push(Change::new(
                Action::DeleteZnode,
                folder,
                size(node.data.len()),
                None,
            ));
        }
    }
    plan.delete_znodes(folders);
    Ok(())
}

async fn push_if_empty(changes: &mut Vec<Change>, nodes: &Nodes, path: &str) -> Result<()> {
    if let Some(node) = nodes.get(path).await?
        && node.stat.num_children == 0
    {
        changes.push(Change::new(
            Action::DeleteZnode,
            path,
            size(node.data.len()),
            None,
        ));
    }
    Ok(())
}

/// What goes in the end, as far as it is there.
async fn rest_of_tree(nodes: &Nodes, paths: &ClusterPaths) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for path in [
        paths.latches(),
        paths.leader(),
        paths.identity(),
        paths.cluster().to_owned(),
    ] {
        if let Some(node) = nodes.get(&path).await? {
            changes.push(Change::new(
                Action::DeleteZnode,
                path,
                size(node.data.len()),
                None,
            ));
        }
    }
    Ok(changes)
}
