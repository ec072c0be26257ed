use std::path::PathBuf;

use ha_core::{Error, Result};

use super::audit::Audit;
use super::grant::Grant;
use super::interruption::Interruption;
use super::{Change, Changes, Outcome, Plan, Progress, View, WritingCommand};
use crate::cluster::{Cluster, ClusterHeader};
use crate::report::Report;

/// Whether a writing command writes, and where it writes that down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Make the changes. Without it nothing is changed.
    pub apply: bool,
    /// The file that each change is appended to; stderr where there is none.
    pub audit: Option<PathBuf>,
}

/// What was planned or done, and what ended it early.
pub(crate) type Written = (Report<Changes>, Option<Error>);

/// Runs a command: shows its plan, or makes it anew under a grant and executes it.
///
/// # Errors
/// What keeps it from changing anything. What fails later stands beside the report.
pub(crate) async fn write(
    command: &WritingCommand,
    cluster: &Cluster,
    options: &WriteOptions,
) -> Result<Written> {
    cluster.refuse_flinks()?;
    let progress = Progress::new();
    if !options.apply {
        // What plans are made from is missing where nothing of the cluster is there.
        cluster.backend().nodes().await?;
        let view = View::reading(cluster).await?;
        let mut plan = command.plan(&view, &progress).await?;
        cluster.compare_identities(&mut plan.broken).await?;
        plan.notes.extend(would_be_refused(&view).await?);
        return Ok((report(command, cluster.header(), plan, false), None));
    }
    let location = cluster.header().location;
    let audit = options.audit.as_deref();
    let mut audit = Audit::open(audit, command.name(), location, cluster.environment())?;
    cluster.backend().nodes().await?;
    let interruption = Interruption::listen(cluster.environment())?;
    let (mut grant, view) = Grant::take(cluster, command).await?;
    let planned = tokio::select! {
        biased;
        () = interruption.requested() => Err(Interruption::error()),
        planned = command.plan(&view, &progress) => planned,
    };
    let written = match planned {
        Ok(mut plan) => {
            let ended = execute(&mut plan, &mut grant, &view, &mut audit, &interruption, &progress).await;
            Ok((report(command, cluster.header(), plan, true), ended))
        }
        Err(error) => Err(error),
    };
    grant.give_up().await;
    written
}

/// What whoever reads a dry run is told while processes of the cluster are there.
async fn would_be_refused(view: &View) -> Result<Option<String>> {
    let Some((nodes, paths)) = view.nodes().await? else {
        return Ok(None);
    };
    let latches = nodes.names(&paths.latches()).await?.unwrap_or_default();
    Ok((!latches.is_empty()).then(|| {
        "A process stands in the election of this cluster: as long as one does, --apply is refused. `hactl leaders` shows it."
            .to_owned()
    }))
}

/// Makes the changes, one step after the other, until one fails; gives why it did.
async fn execute(
    plan: &mut Plan,
    grant: &mut Grant,
    view: &View,
    audit: &mut Audit,
    interruption: &Interruption,
    progress: &Progress,
) -> Option<Error> {
    let length = u64::try_from(plan.steps.len()).unwrap_or(u64::MAX);
    let bar = progress.bar("changing", length);
    let mut ended = None;
    for (position, step) in (0..).zip(&mut plan.steps) {
        bar.at(position);
        if ended.is_none() && interruption.is_requested() {
            ended = Some(Interruption::error());
        }
        if ended.is_some() {
            set_all(&mut step.changes, Outcome::NotApplied);
            continue;
        }
        let done = grant.execute(view, step).await;
        let reason = done.error.as_ref().map(ToString::to_string);
        ended = done.error;
        for (change, outcome) in step.changes.iter_mut().zip(done.outcomes) {
            change.outcome = outcome;
            if let Err(error) = audit.record(change, reason.as_deref()) {
                ended.get_or_insert(error);
            }
        }
    }
    ended
}

fn set_all(changes: &mut [Change], outcome: Outcome) {
    for change in changes {
        change.outcome = outcome;
    }
}

/// The answer that a plan is, or what became of it.
pub(super) fn report(
    command: &WritingCommand,
    cluster: ClusterHeader,
    plan: Plan,
    applied: bool,
) -> Report<Changes> {
    let steps = plan.steps.into_iter();
    Report {
        cluster,
        body: Changes {
            command: command.name().to_owned(),
            applied,
            changes: steps.flat_map(|step| step.changes).collect(),
            notes: plan.notes,
        },
        broken: plan.broken,
    }
}
