use ha_core::ids::{JobId, LeaderSessionId};
use serde::Serialize;

use crate::render;

/// A line of `hactl watch --output json`: one object a line, as it happens.
///
/// What is there when the watch begins is told first, as if it had just come, with `"present":true`. Of several changes
/// that happen faster than they are read, or while the connection is down, the last one is told.
///
/// ```json
/// {"time":1700000000000,"present":true,"event":"leaderChanged","component":"dispatcher","address":"http://10.0.0.1:8081","epoch":42,"sessionId":"11111111-2222-3333-4444-555555555555"}
/// {"time":1700000000100,"present":false,"event":"jobAdded","jobId":"00000000000000000000000000000001","name":"wordcount"}
/// {"time":1700000000300,"present":false,"event":"checkpointCompleted","jobId":"00000000000000000000000000000001","checkpointId":1}
/// {"time":1700000000400,"present":false,"event":"connectionLost"}
/// {"time":1700000001400,"present":false,"event":"connectionBack","newSession":false}
/// {"time":1700000001400,"present":false,"event":"leaderChanged","component":"dispatcher","address":null,"epoch":null,"sessionId":null}
/// {"time":1700000001500,"present":false,"event":"jobEnded","jobId":"00000000000000000000000000000001","name":"wordcount","status":"FINISHED"}
/// {"time":1700000001600,"present":false,"event":"unreadable","path":"/flink/one/jobgraphs/x","reason":"the name is foreign"}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchLine {
    /// When it was seen, in milliseconds since 1970 by the clock of this program.
    pub time: u64,
    /// Whether it was there already when the watch began.
    pub present: bool,
    /// What was seen.
    #[serde(flatten)]
    pub event: WatchEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum WatchEvent {
    /// Another leader, or the same one at another address or in another term; the address is `null` when nobody leads, and so are the others then.
    LeaderChanged {
        /// The component: `dispatcher`, `resource_manager`, `rest_server`, `job-<job-id>` or a user's. (Some releases of
        /// Flink name a job's by its bare id.)
        component: String,
        /// Where the leader is reached.
        address: Option<String>,
        /// The number of its grant. Flink has none.
        epoch: Option<u64>,
        /// The leader session id.
        session_id: Option<LeaderSessionId>,
    },
    /// A job has a job graph.
    JobAdded {
        /// The job.
        job_id: JobId,
        /// Its name, `null` where it is not recorded.
        name: Option<String>,
    },
    /// The end of a job is decided, or its job graph is gone.
    JobEnded {
        /// The job.
        job_id: JobId,
        /// Its name, `null` where it is not recorded.
        name: Option<String>,
        /// `FINISHED`, `FAILED`, `CANCELED`; `UNKNOWN` where no end is recorded (any more): Flink records none before
        /// 1.15, and deletes the record with the job's data unless it is told to keep it.
        status: String,
    },
    /// A job has a newer checkpoint. The one that is told is the newest.
    CheckpointCompleted {
        /// The job.
        job_id: JobId,
        /// The id of the checkpoint.
        checkpoint_id: u64,
    },
    /// Nothing is heard from ZooKeeper.
    ConnectionLost,
    /// All was read again; what changed meanwhile follows.
    ConnectionBack {
        /// Whether the session before it is over.
        new_session: bool,
    },
    /// Something is broken, foreign, or may not be read. It was left as it is; all else is followed nevertheless.
    Unreadable {
        /// The znode.
        path: String,
        /// Why.
        reason: String,
    },
}

impl WatchLine {
    /// For people.
    pub(super) fn text(&self) -> String {
        format!(
            "{}  {}",
            render::timestamp(self.time),
            self.event.text(self.present)
        )
    }
}

impl WatchEvent {
    fn text(&self, present: bool) -> String {
        match self {
            Self::LeaderChanged {
                component,
                address: Some(address),
                epoch,
                session_id,
            } => {
                let address = render::escaped(address);
                let epoch = epoch.map_or_else(String::new, |epoch| format!(", epoch {epoch}"));
                let session = session_id.map_or_else(String::new, |id| format!(", session {id}"));
                format!("{component} is led by {address}{epoch}{session}")
            }
            Self::LeaderChanged { component, .. } => format!("{component} is led by nobody"),
            Self::JobAdded { job_id, name } => {
                let happened = if present { "is there" } else { "added" };
                format!("job {job_id} {happened}{}", in_brackets(name.as_deref()))
            }
            Self::JobEnded { job_id, name, status } => {
                format!("job {job_id} ended: {status}{}", in_brackets(name.as_deref()))
            }
            Self::CheckpointCompleted {
                job_id,
                checkpoint_id,
            } => {
                let happened = if present { "has" } else { "completed" };
                format!("job {job_id} {happened} checkpoint {checkpoint_id}")
            }
            Self::ConnectionLost => "connection lost".to_owned(),
            Self::ConnectionBack { new_session: false } => "connection back".to_owned(),
            Self::ConnectionBack { new_session: true } => "connection back, in a new session".to_owned(),
            Self::Unreadable { path, reason } => {
                format!(
                    "unreadable: {}: {}",
                    render::escaped(path),
                    render::escaped(reason)
                )
            }
        }
    }
}

fn in_brackets(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" ({})", render::escaped(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId::from_bytes([1; 16]);

    fn shown(present: bool, event: WatchEvent) -> (String, String) {
        let line = WatchLine {
            time: 1000,
            present,
            event,
        };
        (line.text(), serde_json::to_string(&line).unwrap())
    }

    #[test]
    fn each_event_is_one_line_for_people_and_for_programs() {
        let session: LeaderSessionId = "11111111-2222-3333-4444-555555555555".parse().unwrap();
        let leader = |address: Option<&str>| WatchEvent::LeaderChanged {
            component: "dispatcher".to_owned(),
            address: address.map(str::to_owned),
            epoch: address.map(|_| 42),
            session_id: address.map(|_| session),
        };
        let name = || Some("a\nb".to_owned());
        let id = JOB.to_string();
        let cases = [
            (
                leader(Some("http://h:1")),
                "dispatcher is led by http://h:1, epoch 42, session 11111111-2222-3333-4444-555555555555".to_owned(),
                r#""event":"leaderChanged","component":"dispatcher","address":"http://h:1","epoch":42,"sessionId":"11111111-2222-3333-4444-555555555555"}"#.to_owned(),
            ),
            (
                leader(None),
                "dispatcher is led by nobody".to_owned(),
                r#""event":"leaderChanged","component":"dispatcher","address":null,"epoch":null,"sessionId":null}"#.to_owned(),
            ),
            (
                WatchEvent::JobAdded { job_id: JOB, name: name() },
                format!("job {id} added (a\\nb)"),
                format!(r#""event":"jobAdded","jobId":"{id}","name":"a\nb"}}"#),
            ),
            (
                WatchEvent::JobEnded { job_id: JOB, name: None, status: "FAILED".to_owned() },
                format!("job {id} ended: FAILED"),
                format!(r#""event":"jobEnded","jobId":"{id}","name":null,"status":"FAILED"}}"#),
            ),
            (
                WatchEvent::CheckpointCompleted { job_id: JOB, checkpoint_id: 7 },
                format!("job {id} completed checkpoint 7"),
                format!(r#""event":"checkpointCompleted","jobId":"{id}","checkpointId":7}}"#),
            ),
            (WatchEvent::ConnectionLost, "connection lost".to_owned(), r#""event":"connectionLost"}"#.to_owned()),
            (
                WatchEvent::ConnectionBack { new_session: true },
                "connection back, in a new session".to_owned(),
                r#""event":"connectionBack","newSession":true}"#.to_owned(),
            ),
            (
                WatchEvent::Unreadable { path: "/x".to_owned(), reason: "\u{1b}".to_owned() },
                "unreadable: /x: \\u{1b}".to_owned(),
                r#""event":"unreadable","path":"/x","reason":"\u001b"}"#.to_owned(),
            ),
        ];
        for (event, text, json) in cases {
            let (line, object) = shown(false, event);
            assert_eq!(line, format!("1970-01-01T00:00:01Z  {text}"));
            assert_eq!(object, format!(r#"{{"time":1000,"present":false,{json}"#));
        }
        let added = WatchEvent::JobAdded {
            job_id: JOB,
            name: None,
        };
        assert!(shown(true, added).0.ends_with(&format!("job {id} is there")));
    }
}
