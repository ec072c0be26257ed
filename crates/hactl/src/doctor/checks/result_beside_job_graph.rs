use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Graph, Snapshot};

const ID: &str = "result-beside-job-graph";

/// A job that has a result and is still to run.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let stored = snapshot.storage()?;
    let has_pointers = snapshot.tree.is_ok();
    Ok(snapshot
        .jobs
        .iter()
        .filter_map(|(job_id, job)| {
            let graph = job.graph.as_ref()?;
            let end = stored.results.get(job_id)?;
            let (result, found) = match (&end.clean, &end.dirty) {
                (Some(clean), _) => (clean, "the job's clean-up is recorded as complete, and its job graph is there"),
                (None, Some(dirty)) if has_pointers && !snapshot.is_flinks() && graph.what == Graph::Live => {
                    (dirty, "a result is recorded, and the job graph's pointer says nothing of an end")
                }
                _ => return None,
            };
            Some(
                snapshot
                    .at(Finding::new(ID, Severity::Warning, found), &graph.place)
                    .at_file(&result.place)
                    .because(snapshot.own_or_flinks(
                        "a job with a result does not run again; without an end in its pointer the result is a deposed process's, and is not acted on",
                        "Flink runs a job again that has a job graph and no dirty result: it begins anew when the leader changes",
                    ))
                    .advise("see with `hactl jobs` what is known of the job; where it runs, its own end replaces the result"),
            )
        })
        .collect())
}
