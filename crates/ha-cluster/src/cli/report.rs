use std::time::{Duration, UNIX_EPOCH};

use ha_cli::{OutputFormat, write_stdout};
use ha_services::jobs::JobStatus;
use serde_json::json;

use super::job_arguments::OwnJob;
use crate::job::JobOverview;
use crate::rest::{RecordedEnd, Submission};

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
                    let (status, time) = (end_status(end), time_text(end.end_time));
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
                        "endTime": time_text(end.end_time),
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

fn end_status(end: &RecordedEnd) -> String {
    end.status
        .job_status()
        .map_or_else(|| end.status.to_string(), |status| status.to_string())
}

/// A time in UTC, to the second.
fn time_text(millis: u64) -> String {
    match UNIX_EPOCH.checked_add(Duration::from_millis(millis)) {
        // Years beyond 9999 have no such form.
        Some(time) if millis < 253_402_300_800_000 => humantime::format_rfc3339_seconds(time).to_string(),
        _ => format!("{millis} ms since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_utc() {
        assert_eq!(time_text(0), "1970-01-01T00:00:00Z");
        assert_eq!(time_text(1_796_000_000_000), "2026-11-30T00:53:20Z");
        assert_eq!(time_text(u64::MAX), format!("{} ms since 1970", u64::MAX));
    }
}
