use serde::{Deserialize, Serialize};

/// The format that is written, and the newest that is read.
pub(super) const FORMAT: u32 = 1;
/// What tells this archive from other tar files.
pub(super) const KIND: &str = "haExport";
/// The first entry.
pub(super) const HEAD: &str = "export.json";
/// The last but one, where there is one.
pub(super) const ZNODES: &str = "znodes.jsonl";
/// The last entry.
pub(super) const MANIFEST: &str = "manifest.jsonl";

/// The size of everything in a tar archive is a multiple of this.
pub(super) const BLOCK: u64 = 512;
/// The zeros at its end.
pub(super) const END: u64 = 2 * BLOCK;

/// Longest first entry.
pub(super) const MAX_HEAD: u64 = 64 << 10;
/// Longest line of JSON: a znode has 8 KiB at most, and JSON may write a character with six.
pub(super) const MAX_LINE: u64 = 64 << 10;

/// The first entry: what the archive is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head {
    /// The format of the archive.
    pub(super) format: u32,
    pub(super) kind: String,
    /// Who wrote it, for people.
    pub(crate) created_by: String,
    pub(crate) cluster_id: String,
    /// `zookeeper` or `filesystem`.
    pub(crate) mode: String,
    /// The servers and the cluster node, or the storage folder; for people.
    pub(crate) location: String,
    /// The storage directory; for people.
    pub(crate) storage_dir: String,
}

impl Head {
    pub(crate) fn new(cluster_id: String, mode: String, location: String, storage_dir: String) -> Self {
        Self {
            format: FORMAT,
            kind: KIND.to_owned(),
            created_by: format!("hactl {}", env!("CARGO_PKG_VERSION")),
            cluster_id,
            mode,
            location,
            storage_dir,
        }
    }

    /// Reads the first entry. The error is the reason, for people.
    pub(super) fn decode(data: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Probe {
            format: u32,
            kind: String,
        }
        let foreign = "it is no archive of `hactl export`";
        let probe: Probe = serde_json::from_slice(data).map_err(|error| format!("{foreign}: {error}"))?;
        if probe.kind != KIND {
            return Err(foreign.to_owned());
        }
        if probe.format > FORMAT {
            return Err(format!(
                "it has the newer format {}, this program reads up to {FORMAT}",
                probe.format
            ));
        }
        serde_json::from_slice(data).map_err(|error| format!("its {HEAD} is incomplete: {error}"))
    }
}

/// A line of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestLine {
    pub(super) name: String,
    pub(super) size: u64,
    /// In lower-case hexadecimal digits.
    pub(super) sha256: String,
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What content takes with the zeros behind it.
pub(super) const fn padded(size: u64) -> u64 {
    size.next_multiple_of(BLOCK)
}
