use ha_core::health::BrokenEntry;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{OrphanReport, Refusal};

use super::{Plan, Progress, View};

/// The deletion of all orphans: files that nothing names any more.
///
/// # Errors
/// `Conflict`: what is there does not tell which files are needed; nothing is deleted then.
pub(super) async fn plan(view: &View, accepts_no_pointers: bool, progress: &Progress) -> Result<Plan> {
    let report = view.orphans(accepts_no_pointers, progress).await?;
    if let Some(refusal) = report.refusal {
        return Err(refused(&refusal));
    }
    let mut plan = Plan::default();
    for orphan in &report.orphans {
        plan.delete_file(orphan.file());
    }
    plan.broken = left(&report);
    if view.is_dated_by_this_host() && !plan.steps.is_empty() {
        plan.notes.push(
            "The ages were told by the clock of this host, so that nothing was written; --apply asks the storage's own."
                .to_owned(),
        );
    }
    Ok(plan)
}

fn refused(refusal: &Refusal) -> Error {
    let error = Error::new(ErrorKind::Conflict, refusal.to_string()).not_applied();
    match refusal {
        Refusal::TreeLost { .. } => {
            error.advise("look at the files; `hactl doctor --accept-empty-tree --apply` accepts the loss")
        }
        Refusal::NoPointers { .. } => {
            error.advise("if all jobs have ended, repeat it with --accept-no-pointers")
        }
        _ => error.advise("nothing was deleted"),
    }
}

/// What is kept although nothing names it.
fn left(report: &OrphanReport) -> Vec<BrokenEntry> {
    let foreign = report.foreign.iter().map(|file| BrokenEntry {
        name: file.place.rsplit('/').next().unwrap_or_default().to_owned(),
        path: file.place.clone(),
        reason: file.reason.clone(),
        candidates: Vec::new(),
    });
    let mut left: Vec<_> = report.unreadable.iter().cloned().chain(foreign).collect();
    left.sort_by(|a, b| a.path.cmp(&b.path));
    left
}
