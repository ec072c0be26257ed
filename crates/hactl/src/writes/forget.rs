use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::FileKind;

use super::{Plan, View, job_znodes};

/// The deletion of everything that is known of a job: znodes first, then files, its result last.
///
/// # Errors
/// `NotFound` when nothing is known of it.
pub(super) async fn plan(view: &View, job_id: JobId) -> Result<Plan> {
    let mut plan = Plan::default();
    if let Some((nodes, paths)) = view.nodes().await? {
        job_znodes::delete(&mut plan, &nodes, paths, job_id).await?;
    }
    let survey = view.survey().await?;
    let files = survey.files().iter().filter(|file| file.owner == Some(job_id));
    // As long as the result is there, the job does not run again.
    let (results, others): (Vec<_>, Vec<_>) = files.partition(|file| file.kind == FileKind::Result);
    // Where a file is state and pointer in one, the job graph is what a job is recovered by.
    let (graphs, others): (Vec<_>, Vec<_>) = others
        .into_iter()
        .filter(|file| !view.is_in_shared_results(file))
        .partition(|file| file.path.starts_with("jobgraphs/"));
    for file in graphs.into_iter().chain(others) {
        plan.delete_file(file.clone());
    }
    if let (true, true, Some(result)) = (view.shares_results, plan.steps.is_empty(), results.first()) {
        return Err(Error::new(
            ErrorKind::Conflict,
            "nothing is known of this job here but a result, in a folder that clusters share: it may be another one's",
        )
        .at(result.place.clone())
        .not_applied()
        .advise("forget it where it ran; if that was here, delete the file by hand"));
    }
    for file in results {
        plan.delete_file(file.clone());
    }
    if plan.steps.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "nothing is known of this job")
            .at(job_id.to_string())
            .not_applied()
            .advise("`hactl jobs` shows what is there"));
    }
    plan.notes.push(
        "What is forgotten can be submitted again under the same id, and runs from its beginning.".to_owned(),
    );
    Ok(plan)
}
