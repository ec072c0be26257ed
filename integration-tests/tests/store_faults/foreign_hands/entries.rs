//! The entries that are spoilt, and what is served of a place.

use std::collections::{BTreeMap, BTreeSet};

/// What is spoilt. All are of job 5, but where they say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    JobGraphPointer,
    JobGraphFile,
    NewestPointer,
    NewestFile,
    OlderPointer,
    OlderFile,
    Counter,
    Registry,
    /// Of job 6.
    DirtyResult,
    /// Of job 7.
    CleanResult,
    Blob,
    IdentityNode,
    IdentityFile,
}

/// What a process that has just started is served, and what is reported to it: path and reason.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) served: BTreeMap<String, String>,
    pub(super) reports: Vec<(String, String)>,
}

/// The last field of a pointer, before its value.
const SEAL: &str = ",\"check\":";

impl Entry {
    pub(super) const ALL: [Self; 13] = [
        Self::JobGraphPointer,
        Self::JobGraphFile,
        Self::NewestPointer,
        Self::NewestFile,
        Self::OlderPointer,
        Self::OlderFile,
        Self::Counter,
        Self::Registry,
        Self::DirtyResult,
        Self::CleanResult,
        Self::Blob,
        Self::IdentityNode,
        Self::IdentityFile,
    ];

    /// The keys that are not served when it is spoilt.
    pub(super) fn affects(self, whole: &View) -> BTreeSet<String> {
        let prefix = match self {
            Self::JobGraphPointer | Self::JobGraphFile => "graph 5",
            // The whole recovery of this job fails.
            Self::NewestPointer | Self::NewestFile => "checkpoint 5",
            Self::OlderPointer | Self::OlderFile => "checkpoint 5 1",
            Self::Counter => "counter 5",
            Self::Registry => "status 5",
            Self::DirtyResult => "result 6",
            Self::CleanResult => "result 7",
            Self::Blob => "blob 5",
            Self::IdentityNode | Self::IdentityFile => "identity",
        };
        let keys = whole.served.keys();
        keys.filter(|key| key.starts_with(prefix)).cloned().collect()
    }

    /// Whether a flip of this bit can be told from what somebody may have written in its place.
    pub(super) fn tells(self, original: &[u8], spoilt: &[u8]) -> bool {
        let at = original
            .iter()
            .zip(spoilt)
            .position(|(left, right)| left != right);
        let Some(at) = at else { return false };
        let is_number = |data: &[u8]| data.iter().all(u8::is_ascii_digit) && !data.starts_with(b"0");
        match self {
            // Another number: it is never followed down, and up only ids are skipped.
            Self::Counter => !is_number(spoilt),
            // JSON for people to edit: what is still JSON counts. Of the identity, the uuid decides.
            Self::DirtyResult | Self::CleanResult => {
                serde_json::from_slice::<serde_json::Value>(spoilt).is_err()
            }
            Self::IdentityNode | Self::IdentityFile => {
                let text = String::from_utf8_lossy(original).into_owned();
                let uuid = text
                    .find("clusterUuid\":\"")
                    .map(|found| found + "clusterUuid\":\"".len());
                let is_json = serde_json::from_slice::<serde_json::Value>(spoilt).is_ok();
                // In either case a letter is the same digit of a uuid.
                let is_another = !original.eq_ignore_ascii_case(spoilt);
                !is_json || is_another && uuid.is_some_and(|from| (from..from + 36).contains(&at))
            }
            // By the name of its checksum a pointer is known to have one; all else is whole then.
            _ => String::from_utf8_lossy(original)
                .find(SEAL)
                .is_none_or(|from| !(from..from + SEAL.len()).contains(&at)),
        }
    }
}
