//! The log lines that others read: each has a field `event` of fixed name, and camelCase fields beside it. In the
//! JSON log (`--log-format json`) they stand in `fields`; the text log shows the message alone, which says the same.
//!
//! | `event` | fields | when |
//! |---|---|---|
//! | `processStarted` | `process`, `pid`, `restAddress` | before anything is contacted |
//! | `leadershipGranted` | `component`, `sessionId` | this process leads |
//! | `leadershipConfirmed` | `component`, `sessionId`, `address` | others can find it |
//! | `leadershipRevoked` | `component` | it leads no more |
//! | `leaderChanged` | `component`, and `sessionId`, `epoch`, `address` where one is known | leader retrieval |
//! | `jobAccepted` | `jobId`, `name` | the job is durable |
//! | `jobStarted` | `jobId`, `sessionId` | it starts from nothing |
//! | `checkpointRestored` | `jobId`, `sessionId`, `checkpointId`, `offset` | it goes on from a checkpoint |
//! | `checkpointCompleted` | `jobId`, `sessionId`, `checkpointId`, `bytes` | a checkpoint is acknowledged |
//! | `checkpointFailed` | `jobId`, `error` | the job goes on from the last good one |
//! | `jobWaits` | `jobId`, `error` | something failed and is tried again |
//! | `jobSuspended` | `jobId`, `reason` | it stops here and has not ended |
//! | `jobEnded` | `jobId`, `status` | its end is recorded |
//! | `jobCleanedUp` | `jobId` | its result is clean |

use ha_services::ids::{CheckpointId, ComponentId, JobId, LeaderSessionId};
use ha_services::jobs::JobStatus;
use ha_services::{Error, LeaderInformation};

/// This process leads a component.
pub fn leadership_granted(component: &ComponentId, session: LeaderSessionId) {
    tracing::info!(
        event = "leadershipGranted",
        component = %component,
        sessionId = %session,
        "leadership of {component} granted"
    );
}

/// The leadership is published.
pub fn leadership_confirmed(component: &ComponentId, session: LeaderSessionId, address: &str) {
    tracing::info!(
        event = "leadershipConfirmed",
        component = %component,
        sessionId = %session,
        address,
        "leadership of {component} confirmed at {address}"
    );
}

/// This process leads a component no more.
pub fn leadership_revoked(component: &ComponentId) {
    tracing::info!(event = "leadershipRevoked", component = %component, "leadership of {component} revoked");
}

/// Another leader is known.
pub fn leader_changed(component: &ComponentId, leader: Option<&LeaderInformation>) {
    match leader {
        Some(leader) => tracing::info!(
            event = "leaderChanged",
            component = %component,
            sessionId = %leader.leader_session_id,
            epoch = leader.epoch.get(),
            address = leader.leader_address,
            "the leader of {component} is {}",
            leader.leader_address
        ),
        None => tracing::info!(
            event = "leaderChanged",
            component = %component,
            "no leader of {component} is known"
        ),
    }
}

/// A job was accepted.
pub fn job_accepted(job_id: JobId, name: &str) {
    tracing::info!(event = "jobAccepted", jobId = %job_id, name, "job {job_id}: accepted, {name}");
}

/// A job starts from nothing.
pub fn job_started(job_id: JobId, session: LeaderSessionId) {
    tracing::info!(
        event = "jobStarted",
        jobId = %job_id,
        sessionId = %session,
        "job {job_id}: starts from the beginning"
    );
}

/// A job goes on from a checkpoint.
pub fn restored(job_id: JobId, session: LeaderSessionId, checkpoint: CheckpointId, offset: u64) {
    tracing::info!(
        event = "checkpointRestored",
        jobId = %job_id,
        sessionId = %session,
        checkpointId = checkpoint.get(),
        offset,
        "job {job_id}: restored from checkpoint {checkpoint}"
    );
}

/// A checkpoint is acknowledged.
pub fn checkpoint_completed(job_id: JobId, session: LeaderSessionId, checkpoint: CheckpointId, bytes: usize) {
    tracing::info!(
        event = "checkpointCompleted",
        jobId = %job_id,
        sessionId = %session,
        checkpointId = checkpoint.get(),
        bytes,
        "job {job_id}: checkpoint {checkpoint} completed, {bytes} bytes"
    );
}

/// A checkpoint could not be taken; the job goes on from the last good one.
pub fn checkpoint_failed(job_id: JobId, error: &Error) {
    tracing::warn!(
        event = "checkpointFailed",
        jobId = %job_id,
        error = %error,
        "job {job_id}: a checkpoint failed; the job goes on, and the last good checkpoint stays: {error}{}",
        cause(error)
    );
}

/// Something that a job needs failed; it waits and tries again.
pub fn job_waits(job_id: JobId, what: &str, error: &Error) {
    tracing::warn!(
        event = "jobWaits",
        jobId = %job_id,
        error = %error,
        "job {job_id}: {what} failed, trying again: {error}{}",
        cause(error)
    );
}

/// A job stops here without having ended.
pub fn job_suspended(job_id: JobId, reason: &str) {
    tracing::info!(event = "jobSuspended", jobId = %job_id, reason, "job {job_id}: stops here, {reason}");
}

/// The end of a job is recorded.
pub fn job_ended(job_id: JobId, status: JobStatus) {
    tracing::info!(
        event = "jobEnded",
        jobId = %job_id,
        status = %status,
        "job {job_id} ended: {status}"
    );
}

/// A job is cleaned up, and its result marked clean.
pub fn job_cleaned(job_id: JobId) {
    tracing::info!(event = "jobCleanedUp", jobId = %job_id, "job {job_id}: cleaned up");
}

/// The causes of an error, which its text leaves out.
fn cause(error: &Error) -> String {
    let mut text = String::new();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!("; caused by: {next}"));
        cause = next.source();
    }
    text
}
