use ha_cli::{OutputFormat, timestamp, write_stdout};
use ha_services::Error;
use ha_services::jobs::JobStatus;
use serde_json::json;

use super::job_arguments::OwnJob;
use crate::job::JobOverview;
use crate::rest::Submission;

/// Writes what became of the caller's jobs to stdout: a line an event, as text or JSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    format: OutputFormat,
}

impl Report {
    pub(super) fn new(format: OutputFormat) -> Self {
        Self { format }
    }

    /// The leader took the job, or knew it.
    pub(super) fn submitted(&self, job: &OwnJob, submission: &Submission) {
        let name = &job.spec.name;
        match &submission.ended {
            None => self.write(
                || format!("job {} ({name}): accepted", job.id),
                || json!({"event": "accepted", "id": job.id, "name": name}),
            ),
            Some(end) => self.write(
                || {
                    let (status, time) = (end.status, timestamp(end.end_time));
                    format!(
                        "job {} ({name}): has ended already, {status} at {time}; it is not run again",
                        job.id
                    )
                },
                || {
                    json!({
                        "event": "endedBefore",
                        "id": job.id,
                        "name": name,
                        "status": end.status,
                        "endTime": timestamp(end.end_time),
                    })
                },
            ),
        }
    }

    /// The job has ended.
    pub(super) fn ended(&self, job: &OwnJob, end: &JobOverview) {
        let sink = job.spec.sink.display();
        self.write(
            || match (end.status, &end.reason) {
                (JobStatus::Finished, _) => {
                    format!("job {} ({}): FINISHED, counts in {sink}", job.id, job.spec.name)
                }
                (status, Some(reason)) => format!("job {} ({}): {status}: {reason}", job.id, job.spec.name),
                (status, None) => format!("job {} ({}): {status}", job.id, job.spec.name),
            },
            || {
                json!({
                    "event": "ended",
                    "id": job.id,
                    "name": job.spec.name,
                    "status": end.status,
                    "reason": end.reason,
                    "sink": sink.to_string(),
                })
            },
        );
    }

    /// The leader refused the job, or what became of it cannot be told.
    pub(super) fn refused(&self, job: &OwnJob, error: &Error) {
        let name = &job.spec.name;
        self.write(
            || format!("job {} ({name}): not done: {error}", job.id),
            || {
                json!({
                    "event": "refused",
                    "id": job.id,
                    "name": name,
                    "kind": error.kind().name(),
                    "reason": error.to_string(),
                })
            },
        );
    }

    fn write(&self, text: impl FnOnce() -> String, json: impl FnOnce() -> serde_json::Value) {
        let mut line = match self.format {
            OutputFormat::Table => text(),
            OutputFormat::Json => json().to_string(),
        };
        line.push('\n');
        if let Err(error) = write_stdout(&line) {
            tracing::warn!(%error, "stdout cannot be written");
        }
    }
}
