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
        let data = json::encode(
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
        )?;
        let data = sealed(&data);
        json::check_length(path, data.len())?;
        Ok(data)
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
        if let Some((expected, found)) = broken_seal(data) {
            return Err(json::corrupt(
                path,
                &format!(
                    "it was altered: its checksum is {found:08x}, it says {expected:08x}; it names the file {}",
                    body.path
                ),
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

/// The last field of a pointer, before its value: the CRC-32C of the same JSON without it. Where a bit of an end was
/// flipped the job would run again (I7), and nothing else would tell.
const SEAL: &str = ",\"check\":";

/// Puts the seal on a JSON object.
fn sealed(data: &Bytes) -> Bytes {
    let check = crc32c::crc32c(data);
    let open = data.strip_suffix(b"}").unwrap_or(data);
    [open, SEAL.as_bytes(), check.to_string().as_bytes(), b"}"]
        .concat()
        .into()
}

/// The checksum that the seal says and the one that there is, where they differ. What has no seal is not checked.
fn broken_seal(data: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(data).ok()?;
    let (body, seal) = text.trim_end().strip_suffix('}')?.rsplit_once(SEAL)?;
    let expected = seal.parse().ok()?;
    let found = crc32c::crc32c_append(crc32c::crc32c(body.as_bytes()), b"}");
    (expected != found).then_some((expected, found))
}

/// An end as a pointer holds it: its texts cut to a bound, so that it has room in a znode whatever they hold.
pub fn bounded_end(entry: &JobResultEntry) -> JobResultEntry {
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
        let text = r#"{"format":1,"kind":"jobGraph","path":"jobgraphs/x","size":12,"crc32c":7,"writeId":"00000000-0000-0000-0000-000000000001","check":2099498928}"#;
        assert_eq!(pointer.encode("/p").unwrap(), text);
        assert_eq!(
            Pointer::decode("/p", StateKind::JobGraph, text.as_bytes()).unwrap(),
            pointer
        );
        assert_eq!(write_id_of(text.as_bytes()), Some(pointer.write_id));
        pointer.name = Some("wordcount".to_owned());
        pointer.terminal = Some(ended("c"));
        let text = r#"{"format":1,"kind":"jobGraph","path":"jobgraphs/x","size":12,"crc32c":7,"writeId":"00000000-0000-0000-0000-000000000001","name":"wordcount","terminal":{"result":{"id":"00000000000000000000000000000001","name":"wordcount","application-status":"FAILED","net-runtime":5,"end-time":6,"failure-cause":"c"},"jobDigest":"d"},"check":1412653636}"#;
        assert_eq!(pointer.encode("/p").unwrap(), text);
        assert_eq!(
            Pointer::decode("/p", StateKind::JobGraph, text.as_bytes()).unwrap(),
            pointer
        );
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed() {
        let mut pointer = pointer();
        pointer.name = Some("wordcount".to_owned());
        pointer.terminal = Some(ended("cause"));
        let data = pointer.encode("/p").unwrap();
        for bit in 0..data.len() * 8 {
            let mut flipped = data.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match Pointer::decode("/p", StateKind::JobGraph, &flipped) {
                // Of the field of the checksum, by whose name it is known.
                Ok(read) => assert_eq!(read, pointer, "bit {bit}"),
                Err(error) => assert_eq!(error.kind(), ha_core::ErrorKind::Corrupt, "bit {bit}"),
            }
        }
    }

    #[test]
    fn a_pointer_without_a_checksum_is_read_and_one_that_was_altered_says_its_path() {
        let text = String::from_utf8(pointer().encode("/p").unwrap().to_vec()).unwrap();
        let (unsealed, _) = text.split_once(SEAL).unwrap();
        let unsealed = format!("{unsealed}}}");
        let read = Pointer::decode("/p", StateKind::JobGraph, unsealed.as_bytes()).unwrap();
        assert_eq!(read, pointer());
        let altered = text.replace("jobgraphs/x", "jobgraphs/y");
        let error = Pointer::decode("/p", StateKind::JobGraph, altered.as_bytes()).unwrap_err();
        assert!(error.message().contains("altered"), "{error}");
        assert!(error.message().contains("jobgraphs/y"), "{error}");
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
