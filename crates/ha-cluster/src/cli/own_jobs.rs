use futures::future::join_all;
use ha_cli::ExitCode;
use ha_services::jobs::{ApplicationStatus, JobStatus};
use ha_services::{Error, ErrorKind, Result};

use super::job_arguments::OwnJob;
use super::progress::Progress;
use super::report::Report;
use crate::rest::ClusterClient;

/// Submits the caller's jobs to the leader, whichever process that is, and follows them to their ends.
///
/// # Errors
/// What the leader refused.
pub(super) async fn run_own_jobs(
    client: &ClusterClient,
    jobs: &[OwnJob],
    progress: &Progress,
    report: Report,
) -> Result<ExitCode> {
    let ends = join_all(jobs.iter().map(|job| run_own_job(client, job, progress, report))).await;
    let mut code = ExitCode::Success;
    for end in ends {
        if end? != JobStatus::Finished {
            code = ExitCode::Findings;
        }
    }
    Ok(code)
}

async fn run_own_job(
    client: &ClusterClient,
    job: &OwnJob,
    progress: &Progress,
    report: Report,
) -> Result<JobStatus> {
    let submission = client.submit(job.id, &job.spec).await?;
    report.submitted(job, &submission);
    if let Some(end) = submission.ended {
        return Ok(status_of(end.status));
    }
    wait_for_end(client, job, progress, report).await
}

/// Follows a job to its end.
///
/// # Errors
/// `Unavailable` when nothing is known of it any more.
pub(super) async fn wait_for_end(
    client: &ClusterClient,
    job: &OwnJob,
    progress: &Progress,
    report: Report,
) -> Result<JobStatus> {
    let bar = progress.job(&job.spec.name);
    let end = client.wait_for_end(job.id, |overview| bar.show(overview)).await?;
    drop(bar);
    match end {
        Some(end) => {
            report.ended(job, &end);
            Ok(end.status)
        }
        None => Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "nothing is known of job {} any more: whether it ended, and how, cannot be told",
                job.id
            ),
        )
        .advise("look at its sink; with job-result-store.delete-on-commit results are not kept")),
    }
}

/// An end of which only the fact is known is not a good one.
pub(super) fn status_of(end: ApplicationStatus) -> JobStatus {
    end.job_status().unwrap_or(JobStatus::Failed)
}
