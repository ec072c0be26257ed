use futures::future::join_all;
use ha_cli::ExitCode;
use ha_services::jobs::JobStatus;
use ha_services::{Error, ErrorKind, Result};

use super::job_arguments::OwnJob;
use super::progress::Progress;
use super::report::Report;
use crate::rest::ClusterClient;

/// Submits the caller's jobs to the leader, whichever process that is, and follows them to their ends. What the
/// leader refuses is told at once, and keeps no other job from its end. Gives the worst of the exit codes.
pub(super) async fn run_own_jobs(
    client: &ClusterClient,
    jobs: &[OwnJob],
    progress: &Progress,
    report: Report,
) -> ExitCode {
    let ends = jobs.iter().map(
        async |job| match run_own_job(client, job, progress, report).await {
            Ok(JobStatus::Finished) => ExitCode::Success,
            Ok(_) => ExitCode::Findings,
            Err(error) => {
                tracing::error!(jobId = %job.id, %error, "the job {} is not done: {error}", job.id);
                report.refused(job, &error);
                ExitCode::from_error(&error)
            }
        },
    );
    let codes = join_all(ends).await.into_iter();
    codes.max_by_key(|code| code.code()).unwrap_or(ExitCode::Success)
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
        return Ok(end.status);
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
