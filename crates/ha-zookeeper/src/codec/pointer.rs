use bytes::Bytes;
use ha_core::Result;
use ha_core::jobs::{JobResult, JobResultEntry};
use ha_storage::{StateFile, StateKind};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::json;

/// Longest name that a pointer carries, in bytes of JSON; the whole name stands in the state file.
const MAX_NAME: usize = 256;
/// Longest reason of a failure in a recorded end, in bytes of JSON; the whole one stands in the job result file.
const MAX_CAUSE: usize = 2048;
/// Longest digest in a recorded end, in bytes of JSON; the whole one stands in the job result file.
const MAX_DIGEST: usize = 256;

/// A znode that names a state file: of a job graph, or of a completed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The state file.
    pub file: StateFile,
    /// Unique to the write that made this data; by it a lost reply is resolved.
    pub write_id: Uuid,
    /// The name of the job, for people; cut to a bound.
    pub name: Option<String>,
    /// How the job ended, once it has: it never runs again (I7). Its texts are cut to a bound.
    pub terminal: Option<JobResultEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    kind: StateKind,
    path: String,
    size: u64,
    crc32c: u32,
    write_id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<Terminal>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terminal {
    result: JobResult,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job_digest: Option<String>,
}

impl Pointer {
    /// The data of the znode `path`.
    ///
    /// # Errors
    /// `Invalid` when it is too long.
    pub fn encode(&self, path: &str) -> Result<Bytes> {
        let terminal = self.terminal.as_ref().map(bounded_end).map(|entry| Terminal {
            result: entry.result,
            job_digest: entry.job_digest,
        });
        json::encode(
            path,
            &Body {
                kind: self.file.kind,
                path: self.file.path.clone(),
                size: self.file.size,
                crc32c: self.file.crc32c,
                write_id: self.write_id,
                name: self.name.as_deref().map(|name| cut(name, MAX_NAME)),
                terminal,
            },
        )
    }

    /// Reads the data of the znode `path`, which must point to a file of `kind`. Where the file lies is checked
    /// when it is read.
    ///
    /// # Errors
    /// `Corrupt` when it is no such pointer, or of a newer format.
    pub fn decode(path: &str, kind: StateKind, data: &[u8]) -> Result<Self> {
        let body: Body = json::decode(path, data)?;
        if body.kind != kind {
            return Err(json::corrupt(
                path,
                &format!("it points to a {}, not to a {kind}", body.kind),
            ));
        }
        Ok(Self {
            file: StateFile {
                kind: body.kind,
                path: body.path,
                size: body.size,
                crc32c: body.crc32c,
            },
            write_id: body.write_id,
            name: body.name,
            terminal: body.terminal.map(|terminal| JobResultEntry {
                result: terminal.result,
                job_digest: terminal.job_digest,
            }),
        })
    }
}

/// An end as a pointer holds it: its texts cut to a bound, so that it has room in a znode whatever they hold.
pub(crate) fn bounded_end(entry: &JobResultEntry) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            name: cut(&entry.result.name, MAX_NAME),
            failure_cause: entry
                .result
                .failure_cause
                .as_deref()
                .map(|cause| cut(cause, MAX_CAUSE)),
            ..entry.result.clone()
        },
        job_digest: entry.job_digest.as_deref().map(|digest| cut(digest, MAX_DIGEST)),
    }
}

/// The beginning of a text that takes at most `limit` bytes of JSON. Control characters, of which JSON makes six
/// bytes, are replaced. Cutting twice is cutting once.
fn cut(text: &str, limit: usize) -> String {
    let mut length = 0;
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => c,
            _ if c.is_control() => char::REPLACEMENT_CHARACTER,
            _ => c,
        })
        .take_while(|c| {
            length += match c {
                '"' | '\\' | '\n' | '\r' | '\t' => 2,
                _ => c.len_utf8(),
            };
            length <= limit
        })
        .collect()
}

/// The write id in a pointer's data, whatever else is there. `None` when there is none.
pub(crate) fn write_id_of(data: &[u8]) -> Option<Uuid> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Probe {
        write_id: Uuid,
    }
    serde_json::from_slice::<Probe>(data)
        .ok()
        .map(|probe| probe.write_id)
}

#[cfg(test)]
mod tests {
    use ha_core::jobs::ApplicationStatus;

    use super::*;

    fn pointer() -> Pointer {
        Pointer {
            file: StateFile {
                kind: StateKind::JobGraph,
                path: "jobgraphs/x".to_owned(),
                size: 12,
                crc32c: 7,
            },
            write_id: Uuid::from_u128(1),
            name: None,
            terminal: None,
        }
    }

    fn ended(cause: &str) -> JobResultEntry {
        JobResultEntry {
            result: JobResult {
                job_id: "00000000000000000000000000000001".parse().unwrap(),
                name: "wordcount".to_owned(),
                application_status: ApplicationStatus::Failed,
                net_runtime: 5,
                end_time: 6,
                failure_cause: Some(cause.to_owned()),
            },
            job_digest: Some("d".to_owned()),
        }
    }

    #[test]
    fn golden() {
        let mut pointer = pointer();
        let text = r#"{"format":1,"kind":"jobGraph","path":"jobgraphs/x","size":12,"crc32c":7,"writeId":"00000000-0000-0000-0000-000000000001"}"#;
        assert_eq!(pointer.encode("/p").unwrap(), text);
        assert_eq!(
            Pointer::decode("/p", StateKind::JobGraph, text.as_bytes()).unwrap(),
            pointer
        );
        assert_eq!(write_id_of(text.as_bytes()), Some(pointer.write_id));
        pointer.name = Some("wordcount".to_owned());
        pointer.terminal = Some(ended("c"));
        let text = r#"{"format":1,"kind":"jobGraph","path":"jobgraphs/x","size":12,"crc32c":7,"writeId":"00000000-0000-0000-0000-000000000001","name":"wordcount","terminal":{"result":{"id":"00000000000000000000000000000001","name":"wordcount","application-status":"FAILED","net-runtime":5,"end-time":6,"failure-cause":"c"},"jobDigest":"d"}}"#;
        assert_eq!(pointer.encode("/p").unwrap(), text);
        assert_eq!(
            Pointer::decode("/p", StateKind::JobGraph, text.as_bytes()).unwrap(),
            pointer
        );
    }

    #[test]
    fn a_pointer_of_another_kind_is_corrupt() {
        let data = pointer().encode("/p").unwrap();
        let error = Pointer::decode("/p", StateKind::Checkpoint, &data).unwrap_err();
        assert!(error.message().contains("jobGraph"), "{error}");
    }

    #[test]
    fn an_end_is_cut_to_what_a_znode_holds() {
        let mut pointer = pointer();
        pointer.name = Some("ä".repeat(10_000));
        pointer.terminal = Some(ended(&"ö".repeat(10_000)));
        let data = pointer.encode("/p").unwrap();
        let read = Pointer::decode("/p", StateKind::JobGraph, &data).unwrap();
        let end = read.terminal.unwrap();
        assert_eq!(end.result.failure_cause.unwrap().len(), MAX_CAUSE);
        assert_eq!(end.result.application_status, ApplicationStatus::Failed);
    }

    #[test]
    fn an_end_has_room_whatever_its_texts_hold() {
        for text in ["\0", "\u{1b}", "\"", "\\", "\n", "\u{85}", "\u{1f600}"] {
            let mut end = ended(&text.repeat(20_000));
            end.result.name = text.repeat(20_000);
            end.job_digest = Some(text.repeat(20_000));
            let pointer = Pointer {
                name: Some(text.repeat(20_000)),
                terminal: Some(end.clone()),
                ..pointer()
            };
            let data = pointer.encode("/p").unwrap();
            assert!(data.len() <= 4096, "{text:?}: {} bytes", data.len());
            let read = Pointer::decode("/p", StateKind::JobGraph, &data).unwrap();
            assert_eq!(read.terminal, Some(bounded_end(&end)), "{text:?}");
            assert_eq!(bounded_end(&bounded_end(&end)), bounded_end(&end), "{text:?}");
        }
    }
}
